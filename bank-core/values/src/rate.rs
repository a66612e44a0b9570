//! Charge rates: what usage costs (ledger.md 3).

pub mod fit;

use crate::calendar::Calendar;
use crate::exact::Fraction;
use crate::ids::{MachineId, RateId};
use crate::refusal::Refusal;
use crate::time::{Timestamp, Window};
use std::sync::Arc;

/// The nine families of ledger.md 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RateKind {
    /// Value-based resource: value × rate × duration.
    Vbr,
    /// Name-based resource: rate × duration, where the property has the instance's value.
    Nbr,
    /// Value-based resource of an instance: value of `name` × rate × duration, where the property
    /// named by the instance's left side has its right side (`Machine=blue`).
    Mvbr,
    /// Value-based usage: value × rate, once per instance, billed by its growth.
    Vbu,
    /// Name-based usage: rate, once per instance.
    Nbu,
    /// Value-based multiplier: value × rate.
    Vbm,
    /// Name-based multiplier: rate.
    Nbm,
    /// Value-based fee: value × rate after the multipliers, once per instance.
    Vbf,
    /// Name-based fee: rate after the multipliers, once per instance.
    Nbf,
    /// The least that an instance costs that costs anything; applied last (ledger.md 3.3).
    Min,
    /// The most that an instance costs; applied last (ledger.md 3.3).
    Max,
}

/// The name of a minimum or maximum charge, if a name is required.
pub const LIMIT_NAME: &str = "Charge";

/// Every family with its code.
pub const RATE_KINDS: [(RateKind, &str); 11] = [
    (RateKind::Vbr, "VBR"),
    (RateKind::Nbr, "NBR"),
    (RateKind::Mvbr, "MVBR"),
    (RateKind::Vbu, "VBU"),
    (RateKind::Nbu, "NBU"),
    (RateKind::Vbm, "VBM"),
    (RateKind::Nbm, "NBM"),
    (RateKind::Vbf, "VBF"),
    (RateKind::Nbf, "NBF"),
    (RateKind::Min, "MIN"),
    (RateKind::Max, "MAX"),
];

impl RateKind {
    /// The code, such as `VBR`.
    pub fn code(self) -> &'static str {
        RATE_KINDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("VBR", |(_, code)| code)
    }

    /// The family of a code, upper or lower case.
    pub fn parse(code: &str) -> Option<RateKind> {
        RATE_KINDS
            .iter()
            .find(|(_, c)| c.eq_ignore_ascii_case(code))
            .map(|(kind, _)| *kind)
    }

    /// Whether it matches a property's value by name, so that it needs an instance.
    pub fn is_name_based(self) -> bool {
        matches!(
            self,
            RateKind::Nbr | RateKind::Nbu | RateKind::Nbm | RateKind::Nbf
        )
    }

    /// Whether it bounds the price instead of adding to it.
    pub fn is_limit(self) -> bool {
        matches!(self, RateKind::Min | RateKind::Max)
    }

    /// Whether the duration counts, so that the rate is per second, minute, hour or day.
    pub fn is_metered(self) -> bool {
        matches!(self, RateKind::Vbr | RateKind::Nbr | RateKind::Mvbr)
    }
}

/// The time that a metered rate is for: 1, 60, 3600 or 86400 seconds (decisions.md 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// Per second.
    #[default]
    Second,
    /// Per minute.
    Minute,
    /// Per hour.
    Hour,
    /// Per day of 86,400 seconds.
    Day,
}

/// Every unit of time with its word.
pub const PERS: [(Per, &str, i64); 4] = [
    (Per::Second, "second", 1),
    (Per::Minute, "minute", 60),
    (Per::Hour, "hour", 3600),
    (Per::Day, "day", 86400),
];

impl Per {
    /// Its length in seconds.
    pub fn seconds(self) -> i64 {
        PERS.iter()
            .find(|(per, ..)| *per == self)
            .map_or(1, |(.., s)| *s)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        PERS.iter()
            .find(|(per, ..)| *per == self)
            .map_or("second", |(_, word, _)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Per> {
        PERS.iter()
            .find(|(_, w, _)| *w == word)
            .map(|(per, ..)| *per)
    }

    /// From its length in seconds.
    pub fn from_seconds(seconds: i64) -> Option<Per> {
        PERS.iter()
            .find(|(.., s)| *s == seconds)
            .map(|(per, ..)| *per)
    }
}

/// The object that a text property names, if the request names it beside its usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The machine.
    Machine,
    /// The user.
    User,
    /// The project.
    Project,
    /// The group.
    Group,
}

impl Owner {
    /// Of a property, under every name that Gold's messages have for it (ledger.md 2.14, D18).
    pub fn of(property: &str) -> Option<Owner> {
        let is = |names: &[&str]| names.iter().any(|own| property.eq_ignore_ascii_case(own));
        if is(&["Machine", "MachineName"]) {
            Some(Owner::Machine)
        } else if is(&["User", "UserId", "UserName"]) {
            Some(Owner::User)
        } else if is(&["Project", "ProjectId", "Account", "AccountId"]) {
            Some(Owner::Project)
        } else if is(&["Group", "GroupId", "GroupName"]) {
            Some(Owner::Group)
        } else {
            None
        }
    }
}

/// A rate's number: a decimal with at most nine places, zero or above, in billionths (decisions.md 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RateValue(pub i64);

impl RateValue {
    /// Reads a decimal number; `bad_rate` for what is negative, longer, or too large for `i64`.
    ///
    /// ```
    /// use bank_core_values::rate::RateValue;
    /// assert_eq!(RateValue::parse("0.04").unwrap().to_string(), "0.04");
    /// ```
    pub fn parse(text: &str) -> Result<RateValue, Refusal> {
        let value = crate::decimal::Decimal::parse(text).filter(|d| !d.is_negative());
        let billionths = value.and_then(|d| i64::try_from(d.billionths()).ok());
        billionths.map(RateValue).ok_or(Refusal::BadRate)
    }

    /// The number as a fraction over a unit of time.
    pub fn over(self, per: Per) -> Option<Fraction> {
        let per = i128::from(per.seconds()).checked_mul(1_000_000_000)?;
        Fraction::new(i128::from(self.0), per)
    }
}

impl std::fmt::Display for RateValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}",
            crate::decimal::Decimal::from_billionths(i128::from(self.0))
        )
    }
}

/// One rate. A change ends the old row and adds a new one, so that past charges can be priced
/// again (ledger.md 3.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Its number.
    pub id: RateId,
    /// Its family.
    pub kind: RateKind,
    /// The property it looks at, such as `Processors` or `QualityOfService`.
    pub name: String,
    /// For name-based kinds the value that must be there or several with commas, for value-based
    /// ones a value, ranges or a bound, for [`RateKind::Mvbr`] `PROPERTY=VALUE`; empty for the
    /// default.
    pub instance: String,
    /// The number.
    pub value: RateValue,
    /// The unit of time of metered kinds.
    pub per: Per,
    /// The machine it is for; none for all. A machine's own rate replaces the general one.
    pub machine: Option<MachineId>,
    /// When it is in force.
    pub window: Window,
    /// In which hours it holds; always without.
    pub when: Option<Arc<Calendar>>,
    /// Free text.
    pub description: String,
}

impl Rate {
    /// Whether it is in force at an instant on a machine.
    pub fn applies(&self, at: Timestamp, machine: Option<MachineId>) -> bool {
        self.window.contains(at) && (self.machine.is_none() || self.machine == machine)
    }

    /// Whether both rates have the same subject, so that one replaces the other.
    pub fn same_subject(&self, other: &Rate) -> bool {
        self.kind == other.kind
            && self.name.eq_ignore_ascii_case(&other.name)
            && self.instance == other.instance
            && self.machine == other.machine
            && self.hours() == other.hours()
    }

    /// The text of its calendar; empty without one.
    pub fn hours(&self) -> &str {
        self.when.as_ref().map_or("", |calendar| &calendar.text)
    }

    /// The names of its instance, such as projects; none of a default, or of a rate by value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = match self.kind {
            RateKind::Mvbr => self.instance.split_once('=').map_or("", |(_, names)| names),
            kind if kind.is_name_based() => &self.instance,
            _ => "",
        };
        let names = names.split(',').map(str::trim);
        names.filter(|name| !name.is_empty())
    }

    /// The property that decides whether it counts: for [`RateKind::Mvbr`] the one of its
    /// instance, else its name.
    pub fn property(&self) -> &str {
        match self.kind {
            RateKind::Mvbr => self.instance.split_once('=').map_or("", |(name, _)| name),
            _ => &self.name,
        }
    }
}
