//! Recorded usage beside charges: pure comparison of one use (decisions.md 19).
//!
//! A machine has one source that charges. Reports of the same work from other sources are kept, and compared
//! here with the charge. Nothing is decided: people handle the differences.

use crate::decimal::Decimal;
use crate::time::{MICROS, Timestamp};

/// The longest distance between the starts of a record and of a charge for one use, in microseconds. Object
/// ids are used again, and each scheduler reports its own times.
const APART_MAX: i64 = 86_400 * MICROS;

/// One use, as one side reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// When it began.
    pub start: Option<Timestamp>,
    /// When it ended.
    pub end: Option<Timestamp>,
    /// Wall time, in microseconds.
    pub wall_us: Option<i64>,
    /// Processors.
    pub processors: Option<Decimal>,
    /// Project; empty if not reported.
    pub project: String,
    /// User; empty if not reported.
    pub user: String,
}

/// In what a record and a charge differ, and by how much: recorded less charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Wall time, in microseconds.
    Wall(i128),
    /// Processors, in billionths.
    Processors(i128),
    /// Another project.
    Project,
    /// Another user.
    User,
}

/// The result of the comparison of one use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Both sides are equal.
    Matched,
    /// They do not.
    Differs,
    /// Recorded, and never charged.
    NotCharged,
    /// Charged, and in no record.
    NotRecorded,
    /// Charged by two sources.
    ChargedTwice,
    /// It ends before it starts, or lasts for less than nothing: no charge can be right.
    Negative,
}

/// Every kind, in the order of a report.
pub const KINDS: [Kind; 6] = [
    Kind::Matched,
    Kind::Differs,
    Kind::NotCharged,
    Kind::NotRecorded,
    Kind::ChargedTwice,
    Kind::Negative,
];

impl Kind {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Matched => "matched",
            Kind::Differs => "differs",
            Kind::NotCharged => "not_charged",
            Kind::NotRecorded => "not_recorded",
            Kind::ChargedTwice => "charged_twice",
            Kind::Negative => "negative",
        }
    }
}

impl Side {
    /// Whether its times are such that nothing can have been used.
    pub fn is_negative(&self) -> bool {
        let ends_before = self.start.zip(self.end).is_some_and(|(s, e)| e < s);
        ends_before || self.wall_us.is_some_and(|wall| wall < 0)
    }

    /// Whether two have time in common.
    pub fn meets(&self, other: &Side) -> bool {
        let ends_before = |one: &Side, other: &Side| match (one.end, other.start) {
            (Some(end), Some(start)) => end <= start,
            _ => false,
        };
        self.start.is_some() && !ends_before(self, other) && !ends_before(other, self)
    }

    /// Processors × wall time, in billionths of processor-seconds × microseconds; none where one of
    /// them is not known.
    pub fn work(&self) -> Option<i128> {
        let wall = i128::from(self.wall_us?.max(0));
        self.processors?.billionths().checked_mul(wall)
    }
}

/// The relation of a record to a charge, with the differences. Wall times within `tolerance_us` are equal; a
/// value that one side lacks is no difference.
pub fn compare(record: &Side, charge: Option<&Side>, tolerance_us: i64) -> (Kind, Vec<Difference>) {
    if record.is_negative() {
        return (Kind::Negative, Vec::new());
    }
    let Some(charge) = charge else {
        return (Kind::NotCharged, Vec::new());
    };
    let found = differences(record, charge, tolerance_us);
    let kind = if found.is_empty() {
        Kind::Matched
    } else {
        Kind::Differs
    };
    (kind, found)
}

/// A use that two sources have charged, with the differences between them.
pub fn compare_twice(
    record: &Side,
    charge: Option<&Side>,
    tolerance_us: i64,
) -> (Kind, Vec<Difference>) {
    let none = Side::default();
    let found = differences(record, charge.unwrap_or(&none), tolerance_us);
    (Kind::ChargedTwice, found)
}

fn differences(record: &Side, charge: &Side, tolerance_us: i64) -> Vec<Difference> {
    let mut found = Vec::new();
    if let (Some(recorded), Some(charged)) = (record.wall_us, charge.wall_us) {
        let more = i128::from(recorded).saturating_sub(charged.into());
        if more.unsigned_abs() > tolerance_us.unsigned_abs().into() {
            found.push(Difference::Wall(more));
        }
    }
    if let (Some(recorded), Some(charged)) = (record.processors, charge.processors) {
        let more = recorded.billionths().saturating_sub(charged.billionths());
        if more != 0 {
            found.push(Difference::Processors(more));
        }
    }
    let differ = |one: &str, other: &str| !one.is_empty() && !other.is_empty() && one != other;
    if differ(&record.project, &charge.project) {
        found.push(Difference::Project);
    }
    if differ(&record.user, &charge.user) {
        found.push(Difference::User);
    }
    found
}

/// The charge of a record, among several of one object id: the one with the nearest start, within a day; one
/// without a start only if there is no other.
pub fn nearest<T>(
    start: Option<Timestamp>,
    charges: &[T],
    begun: impl Fn(&T) -> Option<Timestamp>,
) -> Option<&T> {
    let Some(start) = start else {
        return charges.last();
    };
    let apart = |charge: &&T| begun(charge).map(|at| at.0.abs_diff(start.0));
    let near = charges
        .iter()
        .filter_map(|charge| Some((apart(&charge)?, charge)))
        .filter(|(apart, _)| *apart <= APART_MAX.unsigned_abs())
        .min_by_key(|(apart, _)| *apart);
    match near {
        Some((_, charge)) => Some(charge),
        None => charges.iter().rev().find(|charge| begun(charge).is_none()),
    }
}

/// The id without a scheduler's suffix, such as the server of PBS: `123.server` is `123`. Steps, whose last
/// part is a number, stay whole.
pub fn short_id(id: &str) -> &str {
    match id.split_once('.') {
        Some((short, rest))
            if !short.is_empty() && rest.chars().any(|c| c.is_ascii_alphabetic()) =>
        {
            short
        }
        _ => id,
    }
}

/// Whether two ids are those of one object: equal, but for the name of a server behind one of them.
pub fn is_same_id(one: &str, other: &str) -> bool {
    one == other || short_id(one) == other || short_id(other) == one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(wall_s: i64, processors: i64) -> Side {
        Side {
            start: Some(Timestamp(0)),
            end: Some(Timestamp(wall_s * MICROS)),
            wall_us: Some(wall_s * MICROS),
            processors: Some(Decimal::whole(processors)),
            project: "chem".to_owned(),
            user: "amy".to_owned(),
        }
    }

    #[test]
    fn equal_sides_match_and_others_say_by_how_much() {
        let charge = side(3600, 4);
        let kind = |record: &Side| compare(record, Some(&charge), MICROS);
        assert_eq!(kind(&side(3600, 4)), (Kind::Matched, vec![]));
        assert_eq!(kind(&side(3601, 4)), (Kind::Matched, vec![]));
        let more = Difference::Wall(2 * i128::from(MICROS));
        assert_eq!(kind(&side(3602, 4)), (Kind::Differs, vec![more]));
        let less = [
            Difference::Wall(-600 * i128::from(MICROS)),
            Difference::Processors(12_000_000_000),
        ];
        assert_eq!(kind(&side(3000, 16)), (Kind::Differs, less.to_vec()));
        let other = Side {
            project: "bio".to_owned(),
            user: "bob".to_owned(),
            ..side(3600, 4)
        };
        let names = vec![Difference::Project, Difference::User];
        assert_eq!(kind(&other), (Kind::Differs, names));
    }

    #[test]
    fn missing_values_do_not_differ() {
        let silent = Side::default();
        let charge = side(3600, 4);
        assert_eq!(compare(&silent, Some(&charge), 0), (Kind::Matched, vec![]));
        assert_eq!(compare(&charge, Some(&silent), 0), (Kind::Matched, vec![]));
        assert_eq!(compare(&charge, None, 0), (Kind::NotCharged, vec![]));
    }

    #[test]
    fn negative_times_are_neither_equal_nor_missing() {
        let mut record = side(3600, 4);
        record.end = Some(Timestamp(-1));
        assert_eq!(compare(&record, Some(&record.clone()), 0).0, Kind::Negative);
        record.end = None;
        record.wall_us = Some(-1);
        assert_eq!(compare(&record, None, 0).0, Kind::Negative);
        assert_eq!(record.work(), Some(0));
    }

    #[test]
    fn a_record_finds_its_own_incarnation() {
        let day = 86_400;
        let at = |seconds: i64| Some(Timestamp::from_seconds(seconds));
        let charges = [at(0), at(1000), None, at(10 * day)];
        let near = |start| nearest(start, &charges, |at| *at).copied();
        assert_eq!(near(at(10)), Some(at(0)));
        assert_eq!(near(at(900)), Some(at(1000)));
        assert_eq!(near(at(10 * day - 5)), Some(at(10 * day)));
        assert_eq!(
            near(at(5 * day)),
            Some(None),
            "only what says nothing is left"
        );
        let known = [at(0), at(10 * day)];
        assert_eq!(nearest(at(5 * day), &known, |at| *at), None);
        assert_eq!(nearest(None, &known, |at| *at), Some(&at(10 * day)));
        assert_eq!(nearest(at(0), &[], |at: &Option<Timestamp>| *at), None);
    }

    #[test]
    fn ids_lose_their_server_only() {
        for (id, short) in [
            ("123.server", "123"),
            ("123[7].pbs01.site", "123[7]"),
            ("123", "123"),
            ("123.0", "123.0"),
            (".x", ".x"),
            ("Moab.123", "Moab.123"),
            ("", ""),
        ] {
            assert_eq!(short_id(id), short, "{id}");
        }
    }

    #[test]
    fn one_name_of_a_server_makes_no_other_object() {
        for (one, other, is_same) in [
            ("412", "412.head", true),
            ("412", "412", true),
            ("412.head", "412.head", true),
            ("412.head", "412.srv1", false),
            ("412", "412.0", false),
            ("41", "412", false),
        ] {
            assert_eq!(is_same_id(one, other), is_same, "{one} {other}");
            assert_eq!(is_same_id(other, one), is_same, "{other} {one}");
        }
    }
}
