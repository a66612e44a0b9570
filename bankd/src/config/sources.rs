//! What is expected of collectors: `[sources]`.

use bank_core::time::TEN_YEARS_S;
use serde::{Deserialize, Serialize};

/// `[sources]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sources {
    /// Seconds without a word after which a collector counts as silent, 0 to ten years; 0 for never.
    pub silent_after_s: i64,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            // Whoever reports once a day has two hours to be late.
            silent_after_s: 93_600,
        }
    }
}

impl Sources {
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { silent_after_s } = self;
        if (0..=TEN_YEARS_S).contains(silent_after_s) {
            return Ok(());
        }
        Err(format!(
            "sources.silent_after_s: {silent_after_s} is not in 0 to {TEN_YEARS_S}"
        ))
    }
}
