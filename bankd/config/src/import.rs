//! `[import]`: limits of usage files sent to the daemon.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Config;

/// How long a request waits for the reader of an import.
const PATIENCE: Duration = Duration::from_secs(10);

/// Jobs in one transaction while others are served: some ten milliseconds, which whoever asks for
/// something else waits at most before it is their turn.
pub const CHUNK_ONLINE: usize = 1_000;

/// `[import]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Import {
    /// Imports at once, 1 to 256.
    pub sessions: usize,
    /// Imports of one client at once, 1 to 256.
    pub sessions_per_client: usize,
    /// Seconds without a piece after which an import is given up, 10 to 86,400.
    pub idle_s: i64,
    /// The longest file, in GiB without its compression: 1 to 65,536.
    pub file_limit_gib: u64,
    /// Jobs in one transaction, 1 to 50,000 (`limits.md` 6.8).
    pub chunk: usize,
}

impl Default for Import {
    fn default() -> Self {
        Self {
            sessions: 16,
            sessions_per_client: 4,
            idle_s: 600,
            file_limit_gib: 256,
            chunk: CHUNK_ONLINE,
        }
    }
}

impl Import {
    pub(super) fn check(&self) -> Result<(), String> {
        let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let gib = i64::try_from(self.file_limit_gib).unwrap_or(i64::MAX);
        for (key, value, least, most) in [
            ("sessions", count(self.sessions), 1, 256),
            (
                "sessions_per_client",
                count(self.sessions_per_client),
                1,
                256,
            ),
            ("idle_s", self.idle_s, 10, 86_400),
            ("file_limit_gib", gib, 1, 65_536),
            ("chunk", count(self.chunk), 1, 50_000),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!("import.{key}: {value} is not in {least} to {most}"));
            }
        }
        Ok(())
    }
}

/// Limits of imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportLimits {
    /// Running imports.
    pub sessions: usize,
    /// Running imports of one client.
    pub per_client: usize,
    /// Seconds until an idle import is abandoned, and that the result of an ended one is kept.
    pub idle_s: i64,
    /// The longest file, in bytes without its compression.
    pub file_bytes: u64,
    /// Records of a chunk.
    pub chunk: usize,
    /// How long a request waits for the reader before it is refused.
    pub patience: Duration,
}

impl Config {
    /// Limits of imports.
    pub fn uploads(&self) -> ImportLimits {
        // A request that waits for a reader is answered before its own time is over.
        let third = Duration::from_secs(self.http.timeout_s) / 3;
        ImportLimits {
            sessions: self.import.sessions,
            per_client: self.import.sessions_per_client,
            idle_s: self.import.idle_s,
            file_bytes: self.import.file_limit_gib.saturating_mul(1 << 30),
            chunk: self.import.chunk,
            patience: third.min(PATIENCE),
        }
    }
}
