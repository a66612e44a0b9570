//! Recorded usage beside charges: pure comparison of one use (decisions.md 19).
//!
//! A machine has one source that charges. Reports of the same work from other sources are kept, and compared
//! here with the charge. Nothing is decided: people handle the differences.

use crate::decimal::Decimal;
use crate::time::{MICROS, Timestamp};

/// The longest distance between the starts of a record and of a charge for one use whose times do not overlap, in
/// microseconds: clocks differ.
const APART_MAX: u64 = 60 * MICROS.unsigned_abs();

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

    /// The whole of a use that was recorded in parts, in the order of their starts: with the mean of their processors
    /// over their time.
    pub fn whole(parts: &[&Side]) -> Option<Side> {
        let (first, last) = parts.first().zip(parts.last())?;
        if parts.len() == 1 {
            return Some((*last).clone());
        }
        let sum = |of: fn(&Side) -> Option<i128>| {
            parts
                .iter()
                .try_fold(0_i128, |sum, part| sum.checked_add(of(part)?))
        };
        let wall = sum(|part| part.wall_us.map(i128::from));
        let mean = sum(Side::work)
            .zip(wall)
            .and_then(|(work, wall)| work.checked_div(wall));
        Some(Side {
            start: first.start,
            wall_us: wall.and_then(|wall| i64::try_from(wall).ok()),
            processors: mean.map(Decimal::from_billionths).or(last.processors),
            ..(*last).clone()
        })
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

/// The charge of each record of one object, by its place. Object ids are used again, so a charge belongs to the record
/// whose times overlap its own, the one with the nearest start first, and each to one record only. A charge without a
/// start belongs to a record that no other has. A record that begins when another one ends, inside the time of that
/// one's charge, is a part of the same use: the job was resized.
pub fn paired(records: &[(&str, &Side)], charges: &[(&str, &Side)]) -> Vec<Option<usize>> {
    let mut near = Vec::new();
    for (r, (id, record)) in records.iter().enumerate() {
        for (c, (other, charge)) in charges.iter().enumerate() {
            if is_same_id(id, other)
                && let Some(order) = order(record, charge)
            {
                near.push((order, r, c));
            }
        }
    }
    near.sort_unstable();
    let mut found = vec![None; records.len()];
    let mut taken = vec![false; charges.len()];
    for (_, r, c) in near {
        if let (Some(place @ None), Some(is_taken @ false)) = (found.get_mut(r), taken.get_mut(c)) {
            (*place, *is_taken) = (Some(c), true);
        }
    }
    let mut by_start: Vec<usize> = (0..records.len()).collect();
    by_start.sort_by_key(|r| records.get(*r).map(|(_, side)| side.start));
    for r in by_start {
        if found.get(r).is_some_and(Option::is_none) {
            let whole = continued(r, records, charges, &found);
            if let Some(place) = found.get_mut(r) {
                *place = whole;
            }
        }
    }
    found
}

/// How well a charge fits a record, the least is best; none if they are of two uses.
fn order(record: &Side, charge: &Side) -> Option<(u8, u64)> {
    let Some((one, other)) = record.start.zip(charge.start) else {
        return Some((2, 0));
    };
    let apart = one.0.abs_diff(other.0);
    if record.meets(charge) {
        return Some((0, apart));
    }
    (apart <= APART_MAX).then_some((1, apart))
}

/// The charge of the record that this one continues.
fn continued(
    part: usize,
    records: &[(&str, &Side)],
    charges: &[(&str, &Side)],
    found: &[Option<usize>],
) -> Option<usize> {
    let (id, side) = records.get(part)?;
    let before = records.iter().zip(found).filter(|((other, before), _)| {
        other == id && before.end.is_some() && before.end == side.start && before.start < side.start
    });
    let mut of_them = before.filter_map(|(_, charge)| *charge);
    of_them.find(|c| {
        charges
            .get(*c)
            .is_some_and(|(_, charge)| charge.meets(side))
    })
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

    /// A use of so many seconds from one to another.
    fn span(start: i64, end: i64) -> Side {
        Side {
            start: Some(Timestamp::from_seconds(start)),
            end: Some(Timestamp::from_seconds(end)),
            ..side(end - start, 4)
        }
    }

    #[test]
    fn each_charge_belongs_to_one_record() {
        let without_start = Side {
            start: None,
            ..side(10, 4)
        };
        let day = 86_400;
        let (one, two) = (span(0, 3600), span(7200, 9000));
        for (records, charges, expected) in [
            // Two runs of a job, in any order.
            (vec![&one, &two], vec![&two, &one], vec![Some(1), Some(0)]),
            // The charge of one of them is lost.
            (vec![&one, &two], vec![&one], vec![Some(0), None]),
            (vec![&two], vec![&one], vec![None]),
            (vec![&two], vec![&one, &two], vec![Some(1)]),
            // Clocks differ, also for short uses.
            (vec![&span(30, 40)], vec![&span(0, 10)], vec![Some(0)]),
            (vec![&span(90, 100)], vec![&span(0, 10)], vec![None]),
            (vec![&span(5, 5)], vec![&span(5, 5)], vec![Some(0)]),
            (vec![&span(10 * day, 11 * day)], vec![&one], vec![None]),
            // A charge that has no start is that of the record that no other has.
            (
                vec![&one, &two],
                vec![&without_start, &two],
                vec![Some(0), Some(1)],
            ),
            (vec![], vec![&one], vec![]),
        ] {
            let named = |sides: &[_]| sides.iter().map(|side| ("7", *side)).collect::<Vec<_>>();
            let (records, charges) = (named(&records), named(&charges));
            assert_eq!(
                paired(&records, &charges),
                expected,
                "{records:?} {charges:?}"
            );
        }
    }

    #[test]
    fn parts_of_a_resized_job_are_one_use() {
        let (first, next, last) = (span(0, 300), span(300, 400), span(400, 600));
        let other = span(700, 800);
        let parts = [("7", &first), ("7", &next), ("7", &last), ("7", &other)];
        let charge = span(0, 600);
        let found = paired(&parts, &[("7", &charge)]);
        assert_eq!(found, [Some(0), Some(0), Some(0), None]);
        // Each part has a charge of its own.
        let found = paired(&parts[..2], &[("7", &next), ("7", &first)]);
        assert_eq!(found, [Some(1), Some(0)]);
        // The charge ends with the first part.
        assert_eq!(paired(&parts[..2], &[("7", &first)]), [Some(0), None]);
        let small = Side {
            processors: Some(Decimal::whole(2)),
            ..last.clone()
        };
        let whole = Side::whole(&[&first, &next, &small]).unwrap();
        assert_eq!((whole.start, whole.end), (charge.start, charge.end));
        assert_eq!(whole.wall_us, charge.wall_us);
        // 4 × 400 s and 2 × 200 s.
        let mean = Decimal::from_billionths(3_333_333_333);
        assert_eq!(whole.processors, Some(mean));
        assert_eq!(Side::whole(&[&small]), Some(small));
        assert_eq!(Side::whole(&[]), None);
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
