//! Refusals of texts that are no amount or no name.

use super::{Refusal, short};
use crate::amount::AmountError;
use crate::ids::BadName;

impl Refusal {
    /// The refusal of a text that is no amount of the bank.
    pub fn of_amount(error: AmountError, text: &str) -> Refusal {
        let text = short(text);
        match error {
            AmountError::Syntax => Refusal::BadAmountSyntax(text),
            AmountError::TooManyDecimals { precision } => Refusal::TooManyDecimals(precision, text),
            AmountError::TooLarge => Refusal::AmountTooLarge(text),
            AmountError::Overflow => Refusal::AmountOverflow,
        }
    }
}

impl From<AmountError> for Refusal {
    fn from(error: AmountError) -> Refusal {
        Refusal::of_amount(error, "")
    }
}

impl From<BadName<'_>> for Refusal {
    fn from(bad: BadName<'_>) -> Refusal {
        Refusal::bad_name(bad.0, bad.1)
    }
}
