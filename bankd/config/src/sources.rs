//! `[sources]`: expectations for collectors.

use bank_core::time::TEN_YEARS_S;
use serde::{Deserialize, Serialize};

/// `[sources]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sources {
    /// Seconds without a word after which a collector counts as silent, 0 to ten years; 0 for never.
    pub silent_after_s: i64,
    /// KiB that the quarantine keeps of one body, 64 to 65,536.
    pub quarantine_body_kib: u32,
    /// MiB that it keeps in all, 1 to 4,096, and no less than of one body; the oldest go first.
    pub quarantine_mib: u32,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            // Whoever reports once a day has two hours to be late.
            silent_after_s: 93_600,
            quarantine_body_kib: 16_384,
            quarantine_mib: 256,
        }
    }
}

impl Sources {
    pub(super) fn check(&self) -> Result<(), String> {
        let ranges = [
            ("silent_after_s", self.silent_after_s, 0, TEN_YEARS_S),
            (
                "quarantine_body_kib",
                self.quarantine_body_kib.into(),
                64,
                65_536,
            ),
            ("quarantine_mib", self.quarantine_mib.into(), 1, 4096),
        ];
        for (name, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                return Err(format!(
                    "sources.{name}: {value} is not in {least} to {most}"
                ));
            }
        }
        // A body is a row of its own, and the newest row is always kept.
        let (body_kib, mib) = (self.quarantine_body_kib, self.quarantine_mib);
        let least = body_kib.div_ceil(1024);
        if mib < least {
            return Err(format!(
                "sources.quarantine_mib: {mib} MiB is less than one body may have \
                 (sources.quarantine_body_kib = {body_kib}): set it to {least} or more, or \
                 sources.quarantine_body_kib to {} or less",
                mib.saturating_mul(1024)
            ));
        }
        Ok(())
    }

    /// Bytes that the quarantine keeps of one body.
    pub fn quarantine_body_bytes(&self) -> usize {
        usize::try_from(self.quarantine_body_kib).unwrap_or(usize::MAX) << 10
    }

    /// Bytes that the quarantine keeps in all.
    pub fn quarantine_bytes(&self) -> u64 {
        u64::from(self.quarantine_mib) << 20
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quarantine_has_room_for_one_body() {
        assert_eq!(Sources::default().check(), Ok(()));
        let small = |quarantine_body_kib| Sources {
            quarantine_body_kib,
            quarantine_mib: 1,
            ..Sources::default()
        };
        assert_eq!(small(1024).check(), Ok(()));
        let why = small(1025).check().unwrap_err();
        assert!(why.contains("sources.quarantine_mib"), "{why}");
        assert!(why.contains("sources.quarantine_body_kib"), "{why}");
    }
}
