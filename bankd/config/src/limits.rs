//! `[limits]`: limits of one client's requests (decision 0065).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Tables of single clients.
const CLIENTS_MAX: usize = 1000;

/// `[limits]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Requests a second in the long run, 0 to 1,000,000; 0 for any number.
    pub rate: u32,
    /// Requests at once after a silence, 1 to 1,000,000.
    pub burst: u32,
    /// Requests under way at once, 0 to 65,536; 0 for any number.
    pub concurrent: u32,
    /// Largest body in bytes, 0 to 1 MiB; 0 for `http.body_limit`.
    pub body: usize,
    /// Those that differ, by the client's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub client: BTreeMap<String, ClientLimits>,
}

/// `[limits.client.NAME]`: an absent value is the general one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientLimits {
    /// As [`Limits::rate`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// As [`Limits::burst`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// As [`Limits::concurrent`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrent: Option<u32>,
    /// As [`Limits::body`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rate: 1000,
            burst: 5000,
            concurrent: 256,
            body: 0,
            client: BTreeMap::new(),
        }
    }
}

impl Limits {
    /// Limits of a client: by the id of its key, else by its name, else the general ones.
    pub fn of(&self, key: &str, client: &str) -> Bounds {
        let own = self.client.get(key).or_else(|| self.client.get(client));
        let own = own.copied().unwrap_or_default();
        Bounds {
            rate: own.rate.unwrap_or(self.rate),
            burst: own.burst.unwrap_or(self.burst),
            concurrent: own.concurrent.unwrap_or(self.concurrent),
            body: own.body.unwrap_or(self.body),
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.of("", "").check("limits")?;
        if self.client.len() > CLIENTS_MAX {
            return Err(format!("limits.client: more than {CLIENTS_MAX} tables"));
        }
        for name in self.client.keys() {
            self.of(name, name)
                .check(&format!("limits.client.{name}"))?;
        }
        Ok(())
    }
}

/// The limits of one client; 0 for none, as in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Requests a second.
    pub rate: u32,
    /// Requests at once after a silence.
    pub burst: u32,
    /// Requests under way.
    pub concurrent: u32,
    /// Bytes of a body.
    pub body: usize,
}

impl Bounds {
    fn check(&self, place: &str) -> Result<(), String> {
        let body = u32::try_from(self.body).unwrap_or(u32::MAX);
        for (key, value, least, most) in [
            ("rate", self.rate, 0, 1_000_000),
            ("burst", self.burst, 1, 1_000_000),
            ("concurrent", self.concurrent, 0, 65_536),
            ("body", body, 0, 1 << 20),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!(
                    "{place}.{key}: {value} is not in {least} to {most}"
                ));
            }
        }
        Ok(())
    }
}
