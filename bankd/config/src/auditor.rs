//! `[auditor]`: AUDITOR's REST API on a listener of its own (`auditor-api.md`).

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{AuditorAccess, AuditorMetrics, AuditorTls};

/// `[auditor]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Auditor {
    /// Address and port without TLS; empty for none; port 0 picks a free one. Requests that do not
    /// arrive on loopback move no money (decisions.md 30).
    pub listen: String,
    /// The collector name of its records, 1 to 256 bytes.
    pub source: String,
    /// The machine of all records; empty: as each record's site names it, else the only one.
    pub machine: String,
    /// Largest body in bytes, 1 KiB to 256 MiB.
    pub body_limit: usize,
    /// Seconds that a request waits for its commit before the connection is dropped, 1 to 300.
    pub patience_s: u64,
    /// A record that is there already is answered with a warning.
    pub ignore_record_exists_error: bool,
    /// Seconds for which an open record holds money, 0 to 31,536,000; 0 for never.
    pub open_horizon: i64,
    /// Seconds after which an open record holds nothing any more, 60 to 315,360,000.
    pub open_max: i64,
    /// Meta keys that name the project, the first that a record has.
    pub project_keys: Vec<String>,
    /// Meta keys that name the user.
    pub user_keys: Vec<String>,
    /// The listener for callers with a certificate.
    pub tls: AuditorTls,
    /// Permissions of clients.
    pub access: AuditorAccess,
    /// Labels with separate metrics.
    pub metrics: AuditorMetrics,
}

impl Default for Auditor {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            listen: String::new(),
            source: "auditor".to_owned(),
            machine: String::new(),
            body_limit: 64 << 20,
            patience_s: 8,
            ignore_record_exists_error: false,
            open_horizon: 0,
            open_max: 2_592_000,
            project_keys: words(&["group_id", "group", "namespace"]),
            user_keys: words(&["user_id", "user"]),
            tls: AuditorTls::default(),
            access: AuditorAccess::default(),
            metrics: AuditorMetrics::default(),
        }
    }
}

impl Auditor {
    /// How long a request waits for its commit.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.patience_s)
    }

    /// Addresses and ranges.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.listen.is_empty() && self.listen.parse::<SocketAddr>().is_err() {
            return Err(format!(
                "auditor.listen: {:?} is not ADDRESS:PORT",
                self.listen
            ));
        }
        let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let patience = i64::try_from(self.patience_s).unwrap_or(i64::MAX);
        for (key, value, least, most) in [
            ("body_limit", count(self.body_limit), 1024, 256 << 20),
            ("patience_s", patience, 1, 300),
            ("open_horizon", self.open_horizon, 0, 31_536_000),
            ("open_max", self.open_max, 60, 315_360_000),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!(
                    "auditor.{key}: {value} is not in {least} to {most}"
                ));
            }
        }
        for (key, value, least) in [("source", &self.source, 1), ("machine", &self.machine, 0)] {
            if !(least..=256).contains(&value.len()) || value.contains(char::is_control) {
                return Err(format!(
                    "auditor.{key}: {least} to 256 bytes without control characters"
                ));
            }
        }
        for (key, words) in [
            ("project_keys", &self.project_keys),
            ("user_keys", &self.user_keys),
        ] {
            if words.len() > 16 || words.iter().any(|word| word.trim().is_empty()) {
                return Err(format!(
                    "auditor.{key}: at most 16 names, none of them empty"
                ));
            }
        }
        self.tls.check()?;
        self.access.check(&self.tls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_reported() {
        Auditor::default().check().unwrap();
        for (change, mistake) in [
            (
                (|a: &mut Auditor| a.listen = "8000".to_owned()) as fn(&mut Auditor),
                "auditor.listen: \"8000\" is not ADDRESS:PORT",
            ),
            (
                |a| a.source = String::new(),
                "auditor.source: 1 to 256 bytes without control characters",
            ),
            (
                |a| a.machine = "a\nb".to_owned(),
                "auditor.machine: 0 to 256 bytes without control characters",
            ),
            (
                |a| a.body_limit = 1023,
                "auditor.body_limit: 1023 is not in 1024 to 268435456",
            ),
            (
                |a| a.patience_s = 0,
                "auditor.patience_s: 0 is not in 1 to 300",
            ),
            (
                |a| a.open_horizon = -1,
                "auditor.open_horizon: -1 is not in 0 to 31536000",
            ),
            (
                |a| a.open_max = 59,
                "auditor.open_max: 59 is not in 60 to 315360000",
            ),
            (
                |a| a.user_keys = vec![" ".to_owned()],
                "auditor.user_keys: at most 16 names, none of them empty",
            ),
        ] {
            let mut settings = Auditor::default();
            change(&mut settings);
            assert_eq!(settings.check().unwrap_err(), mistake);
        }
    }
}
