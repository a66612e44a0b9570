//! Refusals by their frequent members.

use std::borrow::Cow;

use super::{Refusal, short};
use crate::amount::Amount;

impl Refusal {
    /// The rule of an allocation that a deposit names: it has its window and its credit limit.
    pub const ALONE: &str = "no start, end, credit limit or new with it";

    /// The refusal `bad_amount` of an amount that must be above zero.
    pub const NOT_ABOVE_ZERO: Refusal = Refusal::BadAmount("the amount must be above zero");

    /// The refusal `bad_amount` of a limit below zero.
    pub const LIMIT_BELOW_ZERO: Refusal = Refusal::BadAmount("a limit must not be below zero");

    /// The refusal `not_found` for a name as given.
    pub fn not_found(kind: impl Into<Cow<'static, str>>, name: &str) -> Refusal {
        Refusal::NotFound {
            kind: kind.into(),
            name: short(name),
        }
    }

    /// The refusal `not_found` of a job, or of the use of its id with a number.
    pub fn no_use(job: &str, number: Option<i64>) -> Refusal {
        let name = number.map(|number| format!("{job}, use {number}"));
        Refusal::not_found("job", name.as_deref().unwrap_or(job))
    }

    /// The refusal `bad_value` of a setting, with what is expected instead.
    pub const fn bad_value(field: &'static str, expected: &'static str) -> Refusal {
        Refusal::BadValue { field, expected }
    }

    /// The refusal `not_found` of a part of an object of a kind, both named as given.
    pub fn no_part(kind: &str, name: &str, part: impl Into<String>) -> Refusal {
        Refusal::NoPart {
            holder: format!("{kind} {:?}", short(name)),
            part: part.into(),
        }
    }

    /// The refusal `already_exists`.
    pub fn already_exists(kind: impl Into<Cow<'static, str>>, name: impl Into<String>) -> Refusal {
        Refusal::AlreadyExists {
            kind: kind.into(),
            name: name.into(),
        }
    }

    /// The refusal `in_use` of an object that another one uses.
    pub fn in_use(name: impl Into<String>, by: impl Into<String>) -> Refusal {
        Refusal::InUse {
            name: name.into(),
            by: by.into(),
            field: None,
        }
    }

    /// The refusal `insufficient_funds`; `available` is in minor units, of any size.
    pub fn insufficient_funds(
        needed: Amount,
        available: i128,
        whose: impl Into<String>,
    ) -> Refusal {
        Refusal::InsufficientFunds {
            needed,
            available: Amount::clamped(available),
            whose: whose.into(),
        }
    }

    /// The refusal of an object out of the caller's scope, for a name as given.
    pub fn out_of_scope(kind: &'static str, name: &str) -> Refusal {
        Refusal::OutOfScope {
            kind,
            name: short(name),
        }
    }

    /// The refusal `bad_name` of a name, with what such a name must be.
    pub fn bad_name(name: &str, rule: &'static str) -> Refusal {
        Refusal::BadName {
            name: short(name),
            rule,
        }
    }

    /// The refusal `bad_value` for a field of a declared kind, with what is expected instead.
    pub fn bad_field(field: &str, expected: impl Into<String>) -> Refusal {
        Refusal::BadField {
            field: field.to_owned(),
            expected: expected.into(),
        }
    }
}
