//! `[backup]`: where copies of the bank go, and when the daemon makes them by itself.

use serde::{Deserialize, Serialize};

/// `[backup]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Backup {
    /// Hours between backups that the daemon makes, 0 to 8,760; 0 for none.
    pub every_h: i64,
    /// The folder of backups; a relative path starts at the data directory.
    pub folder: String,
    /// The newest backups that are kept, 0 to 10,000; 0 for all.
    pub keep: usize,
    /// Days after which a backup is removed, 0 to 36,500; 0 for never. The newest one remains.
    pub keep_days: i64,
    /// Copy the secrets too.
    pub with_keys: bool,
    /// Make one before the schema of the database changes.
    pub before_migration: bool,
}

impl Default for Backup {
    fn default() -> Self {
        Self {
            every_h: 0,
            folder: "backups".to_owned(),
            keep: 14,
            keep_days: 0,
            with_keys: false,
            before_migration: true,
        }
    }
}

impl Backup {
    pub(super) fn check(&self) -> Result<(), String> {
        let keep = i64::try_from(self.keep).unwrap_or(i64::MAX);
        for (key, value, most) in [
            ("every_h", self.every_h, 8760),
            ("keep", keep, 10_000),
            ("keep_days", self.keep_days, 36_500),
        ] {
            if !(0..=most).contains(&value) {
                return Err(format!("backup.{key}: {value} is not in 0 to {most}"));
            }
        }
        if self.folder.is_empty() {
            return Err("backup.folder: empty".to_owned());
        }
        Ok(())
    }
}
