//! `[checkpoint]`: signed checkpoints that the daemon makes by itself.

use serde::{Deserialize, Serialize};

/// `[checkpoint]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoint {
    /// Seconds from one to the next, 60 to 31,536,000; 0 for none.
    pub every_s: i64,
    /// The folder that they go to, in the data directory unless it is absolute.
    pub folder: String,
    /// The secret half of the key that signs them, likewise.
    pub key: String,
}

impl Default for Checkpoint {
    fn default() -> Self {
        Self {
            every_s: 0,
            folder: "checkpoints".to_owned(),
            key: "keys/checkpoint.key".to_owned(),
        }
    }
}

impl Checkpoint {
    pub(super) fn check(&self) -> Result<(), String> {
        let every = self.every_s;
        if every != 0 && !(60..=31_536_000).contains(&every) {
            return Err(format!(
                "checkpoint.every_s: {every} is neither 0 nor in 60 to 31536000"
            ));
        }
        for (key, value) in [("folder", &self.folder), ("key", &self.key)] {
            if value.is_empty() {
                return Err(format!("checkpoint.{key}: it is empty"));
            }
        }
        Ok(())
    }
}
