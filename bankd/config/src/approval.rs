//! `[approval]`: amounts above which a second person must approve.

use bank_core::amount::{Amount, Precision};
use bank_core::directory;
use bank_core::time::Seconds;
use serde::{Deserialize, Serialize};

/// `[approval]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Approval {
    /// For deposits, and for the credit of each cycle; a decimal, empty for never.
    pub deposit: String,
    /// Of withdrawals.
    pub withdraw: String,
    /// Of transfers.
    pub transfer: String,
    /// Of refunds.
    pub refund: String,
    /// Of adjustments, up or down.
    pub adjust: String,
    /// For new credit limits, and for increases of one.
    pub credit_limit: String,
    /// Seconds in which a proposal can be approved, 60 to 31,536,000.
    pub keep_s: i64,
}

impl Default for Approval {
    fn default() -> Self {
        Self {
            deposit: String::new(),
            withdraw: String::new(),
            transfer: String::new(),
            refund: String::new(),
            adjust: String::new(),
            credit_limit: String::new(),
            keep_s: 14 * 86_400,
        }
    }
}

impl Approval {
    /// How long a proposal can be approved.
    pub fn keep(&self) -> Seconds {
        Seconds(self.keep_s)
    }

    /// The thresholds for the rules, in millionths of a credit.
    pub(super) fn thresholds(&self) -> directory::Approval {
        let read = |text: &str| read(text).ok().flatten();
        directory::Approval {
            deposit: read(&self.deposit),
            withdraw: read(&self.withdraw),
            transfer: read(&self.transfer),
            refund: read(&self.refund),
            adjust: read(&self.adjust),
            credit_limit: read(&self.credit_limit),
        }
    }

    /// Rejects invalid amounts.
    pub(super) fn check(&self) -> Result<(), String> {
        for (key, text) in [
            ("deposit", &self.deposit),
            ("withdraw", &self.withdraw),
            ("transfer", &self.transfer),
            ("refund", &self.refund),
            ("adjust", &self.adjust),
            ("credit_limit", &self.credit_limit),
        ] {
            read(text).map_err(|()| {
                format!(
                    "approval.{key}: {text:?} is not an amount such as \"10000\" or \"0.5\", with at most \
                     6 decimals; empty for never"
                )
            })?;
        }
        if !(60..=31_536_000).contains(&self.keep_s) {
            let keep_s = self.keep_s;
            return Err(format!(
                "approval.keep_s: {keep_s} is not in 60 to 31536000"
            ));
        }
        Ok(())
    }
}

/// An amount in millionths; none for never.
fn read(text: &str) -> Result<Option<Amount>, ()> {
    if text.is_empty() {
        return Ok(None);
    }
    let precision = Precision::new(6).ok_or(())?;
    let amount = Amount::parse(text, precision).map_err(|_| ())?;
    if amount < Amount::ZERO {
        return Err(());
    }
    Ok(Some(amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_exact_decimals_of_any_bank() {
        let of = |deposit: &str| Approval {
            deposit: deposit.to_owned(),
            ..Approval::default()
        };
        for (text, millionths) in [
            ("", None),
            ("0", Some(0)),
            ("10000", Some(10_000_000_000)),
            ("0.5", Some(500_000)),
        ] {
            assert!(of(text).check().is_ok(), "{text}");
            assert_eq!(
                of(text).thresholds().deposit,
                millionths.map(Amount),
                "{text}"
            );
        }
        for text in ["-1", "x", "0.1234567", "99999999999999999999"] {
            assert!(
                of(text).check().unwrap_err().contains("approval.deposit"),
                "{text}"
            );
        }
    }
}
