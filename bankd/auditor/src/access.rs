//! Rights at AUDITOR's routes, and the records that a reader sees (`auditor-api.md` 8).
//!
//! The certificate of the connection identifies a caller, never a header. Pure functions: names and
//! settings in, a decision out.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use bankd_config::{AuditorAccess, EVERYBODY};

/// The identity of a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// A caller without TLS: no identity.
    Anyone,
    /// The common name of a certificate that the CA signed.
    Named(String),
    /// A certificate of the CA whose subject has no common name, or several.
    Unnamed,
}

impl Identity {
    /// The name that is stored with records of this caller.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Anyone | Self::Unnamed => None,
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anyone => write!(f, "a caller without a certificate"),
            Self::Named(name) => write!(f, "{name}"),
            Self::Unnamed => write!(f, "a certificate without exactly one common name"),
        }
    }
}

/// The right that a route requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// Look at records.
    Read,
    /// Add and close records.
    Write,
    /// Look at the metrics.
    Metrics,
}

impl Right {
    /// The setting that grants it.
    fn setting(self) -> &'static str {
        match self {
            Self::Read => "auditor.access.read",
            Self::Write => "auditor.access.write",
            Self::Metrics => "auditor.access.metrics",
        }
    }
}

/// Rights in the settings, by common name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Names that may read records.
    pub read: Vec<String>,
    /// Names that may add and close them.
    pub write: Vec<String>,
    /// Names that may read the metrics.
    pub metrics: Vec<String>,
    /// The records that a reader sees, if not all.
    pub data: BTreeMap<String, Reach>,
}

/// The present lists. A reload of the settings replaces them.
#[derive(Debug)]
pub struct Lists(RwLock<Arc<Access>>);

impl Lists {
    /// With these to begin with.
    pub fn new(access: Access) -> Lists {
        Lists(RwLock::new(Arc::new(access)))
    }

    /// Those of now.
    pub fn now(&self) -> Arc<Access> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Others from now on.
    pub fn set(&self, access: Access) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(access);
    }
}

/// The records that a reader sees: for every key one of its values (OR within a key, AND between
/// keys).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reach(pub BTreeMap<String, Vec<String>>);

/// The reason of a refusal, as the caller gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied(String);

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl From<&AuditorAccess> for Access {
    fn from(settings: &AuditorAccess) -> Self {
        let data = settings.data.iter();
        Self {
            read: settings.read.clone(),
            write: settings.write.clone(),
            metrics: settings.metrics.clone(),
            data: data
                .map(|(name, keys)| (name.clone(), Reach(keys.clone())))
                .collect(),
        }
    }
}

impl Access {
    /// Checks a right of a caller. Without TLS there is no identity, and everybody who can reach the
    /// listener has all rights.
    ///
    /// # Errors
    /// The caller and the setting that would have to name it.
    pub fn allowed(&self, caller: &Identity, right: Right) -> Result<(), Denied> {
        let named = match right {
            Right::Read => &self.read,
            Right::Write => &self.write,
            Right::Metrics => &self.metrics,
        };
        let has = match caller {
            Identity::Anyone => true,
            Identity::Named(name) => named.iter().any(|n| n == EVERYBODY || n == name),
            Identity::Unnamed => false,
        };
        if has {
            return Ok(());
        }
        Err(Denied(format!(
            "Insufficient permissions: {caller} is not in {}",
            right.setting()
        )))
    }

    /// Checks that a caller may change a record: only its creator may. A record without a creator arrived
    /// without a certificate, and every writer may change it.
    ///
    /// # Errors
    /// If the record has another creator.
    pub fn may_change(caller: &Identity, creator: Option<&str>) -> Result<(), Denied> {
        if creator.is_none_or(|creator| caller.name() == Some(creator)) {
            return Ok(());
        }
        Err(Denied(format!(
            "Insufficient permissions: the record was not created by {caller}"
        )))
    }

    /// The restriction of a caller; `None` for no restriction.
    pub fn reach(&self, caller: &Identity) -> Option<&Reach> {
        self.data.get(caller.name()?)
    }
}

impl Reach {
    /// Whether a record with these meta values is visible.
    pub fn holds(&self, meta: &BTreeMap<String, Vec<String>>) -> bool {
        self.0.iter().all(|(key, values)| {
            let of_record = meta.get(key).map(Vec::as_slice).unwrap_or_default();
            of_record.iter().any(|value| values.contains(value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Identity {
        Identity::Named(name.to_owned())
    }

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    fn meta(pairs: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        let pairs = pairs.iter();
        pairs.map(|(k, v)| ((*k).to_owned(), words(v))).collect()
    }

    fn access() -> Access {
        Access {
            read: words(&["apel", "hpc-reader"]),
            write: words(&["collector"]),
            metrics: words(&["prometheus"]),
            data: BTreeMap::from([(
                "hpc-reader".to_owned(),
                Reach(meta(&[("site_id", &["hpc", "htc"]), ("group_id", &["g"])])),
            )]),
        }
    }

    #[test]
    fn every_right_is_given_by_its_own_list() {
        let access = access();
        for (name, has) in [
            ("apel", [true, false, false]),
            ("hpc-reader", [true, false, false]),
            ("collector", [false, true, false]),
            ("prometheus", [false, false, true]),
            ("Apel", [false; 3]),
            ("apel ", [false; 3]),
            ("ape", [false; 3]),
            ("", [false; 3]),
            ("*", [false; 3]),
        ] {
            let rights = [Right::Read, Right::Write, Right::Metrics];
            let found = rights.map(|right| access.allowed(&named(name), right).is_ok());
            assert_eq!(found, has, "{name}");
        }
    }

    #[test]
    fn the_star_is_every_certificate_with_a_name() {
        let access = Access {
            read: words(&["*"]),
            ..Access::default()
        };
        assert!(access.allowed(&named("whoever"), Right::Read).is_ok());
        assert!(access.allowed(&Identity::Unnamed, Right::Read).is_err());
        assert!(access.allowed(&named("whoever"), Right::Write).is_err());
    }

    #[test]
    fn without_tls_there_is_nothing_to_refuse_by() {
        let nobody = Access::default();
        for right in [Right::Read, Right::Write, Right::Metrics] {
            assert!(nobody.allowed(&Identity::Anyone, right).is_ok());
            assert!(nobody.allowed(&named("a"), right).is_err());
        }
    }

    #[test]
    fn a_refusal_names_the_caller_and_the_setting() {
        let refusal = access().allowed(&named("apel"), Right::Write).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "Insufficient permissions: apel is not in auditor.access.write"
        );
    }

    #[test]
    fn a_record_is_changed_by_who_created_it() {
        for (caller, creator, may) in [
            (named("a"), Some("a"), true),
            (named("b"), Some("a"), false),
            (Identity::Anyone, Some("a"), false),
            (Identity::Unnamed, Some("a"), false),
            (named("a"), None, true),
            (Identity::Anyone, None, true),
        ] {
            let allowed = Access::may_change(&caller, creator).is_ok();
            assert_eq!(allowed, may, "{caller:?} {creator:?}");
        }
    }

    #[test]
    fn a_reader_sees_one_value_of_every_key() {
        let access = access();
        assert_eq!(access.reach(&named("apel")), None);
        assert_eq!(access.reach(&Identity::Anyone), None);
        let reach = access.reach(&named("hpc-reader")).unwrap();
        for (record, seen) in [
            (meta(&[("site_id", &["hpc"]), ("group_id", &["g"])]), true),
            (
                meta(&[("site_id", &["x", "htc"]), ("group_id", &["h", "g"])]),
                true,
            ),
            (meta(&[("site_id", &["hpc"]), ("group_id", &["h"])]), false),
            (meta(&[("site_id", &["HPC"]), ("group_id", &["g"])]), false),
            (meta(&[("site_id", &["hpc"])]), false),
            (meta(&[("site_id", &[]), ("group_id", &["g"])]), false),
            (meta(&[]), false),
        ] {
            assert_eq!(reach.holds(&record), seen, "{record:?}");
        }
    }
}
