//! The ranges of the settings, one section after the other.

use bank_core::time::TEN_YEARS_S;

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
}
