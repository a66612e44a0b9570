//! The ranges of the settings, one section after the other.

use std::net::SocketAddr;

use bank_core::time::TEN_YEARS_S;

use super::sink::own;
use super::{Config, check_label, in_range};

impl Config {
    /// Checks the limits' ranges, and required values.
    pub(super) fn check(&self) -> Result<(), String> {
        let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        for (key, value, least, most) in [
            ("ledger.lien_grace_s", self.ledger.lien_grace_s, 0, 86_400),
            (
                "ledger.record_wait_s",
                self.ledger.record_wait_s,
                0,
                2_678_400,
            ),
            ("ledger.batch_max", count(self.ledger.batch_max), 1, 256),
            ("ledger.max_jump_s", self.ledger.max_jump_s, 60, TEN_YEARS_S),
            (
                "ledger.max_downtime_s",
                self.ledger.max_downtime_s,
                0,
                TEN_YEARS_S,
            ),
            ("auth.window_s", self.auth.window_s, 10, 3600),
            (
                "auth.nonces_per_key",
                count(self.auth.nonces_per_key),
                1000,
                5_000_000,
            ),
        ] {
            in_range(key, value, least, most)?;
        }
        for (key, value) in [
            ("nami.tid_variable", &self.nami.tid_variable),
            ("file.blank_account", &self.file.blank_account),
            ("file.blank_user", &self.file.blank_user),
        ] {
            check_label(key, value)?;
        }
        self.check_places()?;
        self.check_listeners()?;
        self.http.check()?;
        self.check_sinks()?;
        self.check_follows()?;
        self.attention.check()?;
        self.check_delivers()?;
        self.check_schedules()?;
        self.approval.check()?;
        self.sources.check()?;
        self.import.check()?;
        self.checkpoint.check()?;
        self.export.check()?;
        self.backup.check()?;
        self.limits.check()?;
        self.auditor.check()?;
        self.gold.check()?;
        self.partners.check()?;
        self.cluster.check()?;
        self.web.check()
    }

    /// No folder that the daemon fills is one of the bank's own files.
    fn check_places(&self) -> Result<(), String> {
        let folders = [
            ("backup.folder", &self.backup.folder),
            ("checkpoint.folder", &self.checkpoint.folder),
        ];
        for (key, folder) in folders {
            if let Some(own) = own(folder) {
                let own = own.display();
                return Err(format!(
                    "{key}: {own} is the bank's own: name another folder"
                ));
            }
        }
        Ok(())
    }

    /// No two listeners have one address. One that cannot be read is refused by its section.
    fn check_listeners(&self) -> Result<(), String> {
        let all = [
            ("http.listen", &self.http.listen),
            ("gold.listen", &self.gold.listen),
            ("auditor.listen", &self.auditor.listen),
            ("web.listen", &self.web.listen),
        ];
        let mut known: Vec<(&str, SocketAddr)> = Vec::new();
        for (key, listen) in all {
            let Ok(own) = listen.parse::<SocketAddr>() else {
                continue;
            };
            if let Some((other, _)) = known.iter().find(|(_, at)| is_common(*at, own)) {
                return Err(format!(
                    "{key}: {listen} is the address of {other}: choose another port"
                ));
            }
            known.push((key, own));
        }
        Ok(())
    }
}

/// Whether two listeners cannot have these addresses together. With port 0 each gets a free one.
fn is_common(one: SocketAddr, other: SocketAddr) -> bool {
    let covers = |all: SocketAddr, own: SocketAddr| {
        all.ip().is_unspecified() && (all.is_ipv6() || own.is_ipv4())
    };
    let meet = one.ip() == other.ip() || covers(one, other) || covers(other, one);
    meet && one.port() == other.port() && one.port() != 0
}
