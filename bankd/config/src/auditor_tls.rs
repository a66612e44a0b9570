//! `[auditor.tls]` and `[auditor.access]`: AUDITOR's routes with certificates, and the permissions
//! of each certificate (`auditor-api.md` 8).

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// List entry that matches every certificate of the CA.
pub const EVERYBODY: &str = "*";
/// Most names in a list, and most values of a key.
const NAMES_MAX: usize = 1000;
/// Maximum number of restricted readers: each has its own figures in the metrics.
const READERS_MAX: usize = 64;
/// Maximum number of keys that restrict a reader.
const KEYS_MAX: usize = 16;
/// Longest name, key or value in bytes.
const WORD_MAX: usize = 1024;

/// `[auditor.tls]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditorTls {
    /// Address and port for callers with a certificate; empty for none; port 0 picks a free one.
    pub listen: String,
    /// The certificate of the daemon in PEM, those of the CAs between after it.
    pub cert: String,
    /// Its key in PEM: PKCS#8, PKCS#1 or SEC1, not encrypted.
    pub key: String,
    /// The certificates of the CAs that sign callers, in PEM.
    pub ca: String,
    /// Seconds that a handshake may take, 1 to 60.
    pub handshake_s: u64,
}

impl Default for AuditorTls {
    fn default() -> Self {
        Self {
            listen: String::new(),
            cert: String::new(),
            key: String::new(),
            ca: String::new(),
            handshake_s: 10,
        }
    }
}

impl AuditorTls {
    /// Addresses, ranges, and files for a listener.
    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=60).contains(&self.handshake_s) {
            let seconds = self.handshake_s;
            return Err(format!(
                "auditor.tls.handshake_s: {seconds} is not in 1 to 60"
            ));
        }
        if self.listen.is_empty() {
            return Ok(());
        }
        if self.listen.parse::<SocketAddr>().is_err() {
            let listen = &self.listen;
            return Err(format!(
                "auditor.tls.listen: {listen:?} is not ADDRESS:PORT"
            ));
        }
        let files = [("cert", &self.cert), ("key", &self.key), ("ca", &self.ca)];
        match files.iter().find(|(_, path)| path.is_empty()) {
            Some((key, _)) => Err(format!(
                "auditor.tls.{key}: empty, and auditor.tls.listen needs it"
            )),
            None => Ok(()),
        }
    }
}

/// `[auditor.access]`: common names of certificates, or `*` for every one of the CA.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditorAccess {
    /// Certificates with read access to records.
    pub read: Vec<String>,
    /// Certificates that may add and close records.
    pub write: Vec<String>,
    /// Certificates with access to the metrics.
    pub metrics: Vec<String>,
    /// Records visible to a restricted reader: meta keys with their values, by reader.
    pub data: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

impl AuditorAccess {
    /// Checks that names are valid, that restricted readers have read access, and that a listener
    /// has a caller.
    pub(super) fn check(&self, tls: &AuditorTls) -> Result<(), String> {
        for (key, names) in [
            ("read", &self.read),
            ("write", &self.write),
            ("metrics", &self.metrics),
        ] {
            check_words(&format!("auditor.access.{key}"), names)?;
        }
        if self.data.len() > READERS_MAX {
            return Err(format!(
                "auditor.access.data: more than {READERS_MAX} readers"
            ));
        }
        for (name, keys) in &self.data {
            self.check_reader(name, keys)?;
        }
        let somebody = [&self.read, &self.write, &self.metrics];
        if !tls.listen.is_empty() && somebody.iter().all(|names| names.is_empty()) {
            return Err(format!(
                "auditor.access: no certificate has access to auditor.tls.listen: name the \
                 certificates in read, write and metrics, or {EVERYBODY:?} for all of the CA"
            ));
        }
        Ok(())
    }

    fn check_reader(&self, name: &str, keys: &BTreeMap<String, Vec<String>>) -> Result<(), String> {
        let place = format!("auditor.access.data.{name:?}");
        if name == EVERYBODY {
            return Err(format!("{place}: a reader's name, not all of them"));
        }
        let mut listed = self.read.iter().chain(&self.metrics);
        if !listed.any(|n| n == name || n == EVERYBODY) {
            return Err(format!(
                "{place}: {name} is neither in auditor.access.read nor in auditor.access.metrics"
            ));
        }
        if keys.is_empty() || keys.len() > KEYS_MAX {
            return Err(format!("{place}: 1 to {KEYS_MAX} keys"));
        }
        for (key, values) in keys {
            let place = format!("{place}.{key:?}");
            if values.is_empty() {
                return Err(format!("{place}: at least one value"));
            }
            check_words(&place, std::slice::from_ref(key))?;
            check_words(&place, values)?;
        }
        Ok(())
    }
}

/// `[auditor.metrics]`: the meta keys with separate figures per value; empty for none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditorMetrics {
    /// The key of sites.
    pub site: String,
    /// The key of groups.
    pub group: String,
    /// The key of users.
    pub user: String,
}

impl Default for AuditorMetrics {
    fn default() -> Self {
        Self {
            site: "site_id".to_owned(),
            group: "group_id".to_owned(),
            user: "user_id".to_owned(),
        }
    }
}

fn check_words(place: &str, words: &[String]) -> Result<(), String> {
    if words.len() > NAMES_MAX {
        return Err(format!("{place}: more than {NAMES_MAX}"));
    }
    let fits = |word: &&String| (1..=WORD_MAX).contains(&word.len()) && !word.trim().is_empty();
    match words.iter().find(|word| !fits(word)) {
        Some(word) => Err(format!(
            "{place}: {word:?} is not 1 to {WORD_MAX} bytes with something in them"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tls() -> AuditorTls {
        AuditorTls {
            listen: "0.0.0.0:8443".to_owned(),
            cert: "cert.pem".to_owned(),
            key: "key.pem".to_owned(),
            ca: "ca.pem".to_owned(),
            ..AuditorTls::default()
        }
    }

    #[test]
    fn a_listener_needs_its_files() {
        tls().check().unwrap();
        AuditorTls::default().check().unwrap();
        for (change, mistake) in [
            (
                (|t: &mut AuditorTls| t.listen = "8443".to_owned()) as fn(&mut AuditorTls),
                "auditor.tls.listen: \"8443\" is not ADDRESS:PORT",
            ),
            (|t| t.cert.clear(), "auditor.tls.cert: empty"),
            (|t| t.key.clear(), "auditor.tls.key: empty"),
            (|t| t.ca.clear(), "auditor.tls.ca: empty"),
            (|t| t.handshake_s = 0, "auditor.tls.handshake_s: 0 is not"),
            (|t| t.handshake_s = 61, "auditor.tls.handshake_s: 61 is not"),
        ] {
            let mut tls = tls();
            change(&mut tls);
            let found = tls.check().unwrap_err();
            assert!(found.starts_with(mistake), "{found}");
        }
    }

    fn access(text: &str) -> AuditorAccess {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn rules_that_cannot_be_meant_are_refused() {
        for (text, mistake) in [
            ("", "auditor.access: no certificate has access"),
            ("read = [\"\"]", "auditor.access.read: \"\" is not"),
            ("write = [\" \"]", "auditor.access.write: \" \" is not"),
            (
                "write = [\"a\"]\n[data.a]\nk = [\"v\"]",
                "auditor.access.data.\"a\": a is neither in",
            ),
            (
                "read = [\"*\"]\n[data.\"*\"]\nk = [\"v\"]",
                "auditor.access.data.\"*\": a reader's name",
            ),
            (
                "read = [\"a\"]\n[data.a]",
                "auditor.access.data.\"a\": 1 to 16 keys",
            ),
            (
                "read = [\"a\"]\n[data.a]\nk = []",
                "auditor.access.data.\"a\".\"k\": at least one value",
            ),
            (
                "read = [\"a\"]\n[data.a]\nk = [\"\"]",
                "auditor.access.data.\"a\".\"k\": \"\" is not",
            ),
        ] {
            let found = access(text).check(&tls()).unwrap_err();
            assert!(found.starts_with(mistake), "{text}: {found}");
        }
        for text in [
            "",
            "read = [\"apel\"]\nwrite = [\"*\"]\n[data.apel]\nsite_id = [\"hpc\", \"htc\"]",
        ] {
            access(text).check(&AuditorTls::default()).unwrap();
        }
    }
}
