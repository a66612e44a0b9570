//! Blocks of days and months: whichever of them stand, an answer from rollups is the one from records, in any zone
//! and for any period; what changes a day takes its blocks away, and what was made of other rows is not
//! written.

use super::bench::Bench;
use super::fixture::T0;
use super::ground::Ground;
use super::rolled::{finished, rows};
use super::sqlite::Sqlite;
use super::wild::{Dice, furnish};
use bank_core::calendar::Zone;
use bank_core::command::{Command, UsageReport};
use bank_core::directory::Policy;
use bank_core::time::{MICROS, Seconds, Timestamp};
use bank_core_figures::rollup::grid::{Every, Grid};
use bank_core_figures::rollup::{DAY, HOUR, Measure, Sums, month};
use bankd_store::open_reader;
use bankd_store::read::report::{ReportRequest, Top, from_records, from_rollups};
use bankd_store::rollup::{self, Unit};
use rusqlite::Connection;

const SEEDS: [u64; 3] = [7_113, 31, 2_026];
/// What happened lies in so many days before [`T0`].
const DAYS: u64 = 150;

fn some(dice: &mut Dice, most: i64) -> i64 {
    i64::try_from(dice.below(u64::try_from(most).unwrap())).unwrap()
}

/// A finished use within the days before; some of them run for weeks.
fn some_use(dice: &mut Dice) -> UsageReport {
    let before = Seconds(some(dice, i64::try_from(DAYS).unwrap() * 86_400));
    let mut report = finished(dice, Timestamp(T0.0 - before.0 * MICROS));
    if dice.below(8) == 0 {
        let facts = &mut report.request.facts;
        let earlier = facts.start.unwrap().0 - some(dice, 50) * DAY;
        (facts.start, facts.submit) = (Some(Timestamp(earlier)), None);
    }
    report
}

fn used(store: &mut Sqlite, dice: &mut Dice, count: usize, key: &str) {
    for n in 0..count {
        let command = Command::Usage(Box::new(some_use(dice)));
        store.submit(&command, Some(&format!("{key} {n}")), T0);
    }
    // Whatever waits is committed.
    assert_eq!(store.proof(), Vec::<String>::new());
}

fn furnished() -> Sqlite {
    let mut store = Sqlite::new(Policy::default(), 5);
    furnish(&mut Bench::new(&mut store));
    store
}

/// The months from the first use on that stand, and the others that are over.
fn standing(reader: &Connection) -> (Vec<i64>, Vec<i64>) {
    let this = month::of_day(T0.0.div_euclid(DAY));
    let months = this - 7..this;
    months.partition(|month| rollup::is_stored(reader, Unit::Month, *month).unwrap())
}

/// Compares both ways to an answer for periods and zones by chance. Says how many rows there were.
fn agree(reader: &Connection, dice: &mut Dice) -> usize {
    let zones = [-39_600, -18_000, -3_600, 0, 0, 3_600, 19_800, 46_800];
    let everies = [
        Every::Day,
        Every::Week,
        Every::Month,
        Every::Quarter,
        Every::All,
    ];
    let mut compared = 0;
    for _ in 0..25 {
        let first = zones[usize::try_from(some(dice, 8)).unwrap()];
        let change = T0.0.div_euclid(MICROS) - 86_400 * some(dice, 150);
        let zone = Zone {
            first,
            changes: vec![(change.div_euclid(3_600) * 3_600, first + 3_600)],
        };
        let every = everies[usize::try_from(some(dice, 5)).unwrap()];
        let from = T0.0.div_euclid(HOUR) * HOUR - some(dice, 24 * 200) * HOUR;
        let length = HOUR * (1 + some(dice, 24 * 200));
        // Now and then an end lies within an hour.
        let within = if dice.below(5) == 0 { 1_234_567_891 } else { 0 };
        let (from, until) = (Timestamp(from), Timestamp(from + length + within));
        let grid = Grid::new(from, until, every, &zone, 10_000).unwrap();
        let ranks = [Measure::Core, Measure::Running, Measure::Gpu];
        let top = (dice.below(2) == 0).then(|| Top {
            measure: ranks[usize::try_from(some(dice, 3)).unwrap()],
            most: usize::try_from(1 + some(dice, 3)).unwrap(),
        });
        let request = || ReportRequest {
            grid: grid.clone(),
            place: Box::new(|owner, _| {
                Some((vec![owner.project.to_owned()], owner.user.to_owned()))
            }),
            at_end: false,
            users: true,
            top,
            weighed: Measure::Core,
        };
        let rolled = rows(from_rollups(reader, &request()).unwrap());
        let looked = rows(from_records(reader, &request()).unwrap());
        assert_eq!(
            rolled, looked,
            "{every:?} {from:?} {until:?} {zone:?} {top:?}"
        );
        compared += rolled.len();
    }
    compared
}

#[test]
fn answers_are_the_same_whichever_months_are_rolled_up() {
    for seed in SEEDS {
        println!("seed {seed}");
        let (mut store, mut dice) = (furnished(), Dice(seed));
        let (mut mixed, mut compared) = (0, 0);
        for round in 0..6 {
            used(&mut store, &mut dice, 25, &format!("many {round}"));
            store.store().add_up_blocks(T0).unwrap();
            let reader = open_reader(store.path()).unwrap();
            let (stored, _) = standing(&reader);
            assert!(stored.len() >= 4, "{stored:?}");
            compared += agree(&reader, &mut dice);
            used(&mut store, &mut dice, 1, &format!("one {round}"));
            let (stored, missing) = standing(&reader);
            mixed += usize::from(!stored.is_empty() && !missing.is_empty());
            compared += agree(&reader, &mut dice);
        }
        assert!(mixed > 2, "{mixed} times some stood and some did not");
        assert!(compared > 500, "{compared} rows");
        store.store().rebuild_rollups().unwrap();
        let reader = open_reader(store.path()).unwrap();
        assert_eq!(standing(&reader).0, Vec::<i64>::new(), "made anew by days");
    }
}

#[test]
fn a_block_of_other_rows_is_not_written() {
    let (mut store, mut dice) = (furnished(), Dice(5));
    used(&mut store, &mut dice, 60, "first");
    let reader = open_reader(store.path()).unwrap();
    let made = |unit: Unit, number: i64| rollup::add_up(&reader, unit, number).unwrap();
    let next = |unit, from: i64, now| rollup::next_missing(&reader, unit, from, now).unwrap();
    let april = month::of_day(T0.0.div_euclid(DAY)) - 2;
    // A month of the time before, which is over at any time, and one that is not.
    assert_eq!(next(Unit::Month, april, T0), Some(april));
    let early = Timestamp(T0.0 - 45 * DAY);
    assert_eq!(next(Unit::Month, april, early), None);
    assert_eq!(made(Unit::Month, april), None, "its days have no blocks");

    let first = month::first_day(april);
    let day = next(Unit::Day, first, T0).unwrap();
    assert_eq!(next(Unit::Day, day, Timestamp(day * DAY + HOUR)), None);
    let before = made(Unit::Day, day).unwrap();
    for round in 0..300 {
        used(&mut store, &mut dice, 4, &format!("more {round}"));
        if made(Unit::Day, day).unwrap() != before {
            break;
        }
    }
    assert!(!store.store().place_block(&before).unwrap(), "other rows");
    let now = made(Unit::Day, day).unwrap();
    assert!(store.store().place_block(&now).unwrap());
    assert!(!store.store().place_block(&now).unwrap(), "it stands");
    assert!(next(Unit::Day, day, T0).unwrap() > day);
    assert_eq!(made(Unit::Month, april), None, "other days have no blocks");

    store.store().add_up_blocks(T0).unwrap();
    assert_eq!(next(Unit::Month, april, T0), None);
    let of_all = made(Unit::Month, april).unwrap();
    assert!(!store.store().place_block(&of_all).unwrap(), "it stands");
    for round in 0..300 {
        used(&mut store, &mut dice, 4, &format!("again {round}"));
        if !rollup::is_stored(&reader, Unit::Month, april).unwrap() {
            break;
        }
    }
    assert!(
        !store.store().place_block(&of_all).unwrap(),
        "a day has no block"
    );
}

#[test]
fn a_block_that_was_changed_by_hand_is_found() {
    let (mut store, mut dice) = (furnished(), Dice(6));
    used(&mut store, &mut dice, 60, "first");
    assert!(store.store().add_up_blocks(T0).unwrap() > 3);
    assert_eq!(store.proof(), Vec::<String>::new());
    for change in [
        "UPDATE rollup_block SET figures = x'010002' WHERE THIS",
        "UPDATE rollup_block SET figures = x'01' WHERE THIS",
        "UPDATE rollup_block SET number = number - 700 WHERE THIS",
        "UPDATE rollup_block SET figures = (SELECT figures FROM rollup_block
             ORDER BY unit, number DESC LIMIT 1) WHERE THIS",
        "INSERT INTO rollup_block SELECT unit, number - 700, figures FROM rollup_block WHERE THIS",
    ] {
        for unit in [1, 2] {
            let mut copy = store.copy(1);
            let first = format!(
                "(unit, number) = (SELECT unit, number FROM rollup_block WHERE unit = {unit}
                     ORDER BY number LIMIT 1)"
            );
            let hand = Connection::open(copy.path()).unwrap();
            let sql = change.replace("THIS", &first);
            assert_eq!(hand.execute(&sql, []).unwrap(), 1, "{sql}");
            drop(hand);
            let found = copy.proof();
            assert!(!found.is_empty(), "{sql}");
        }
    }
}

/// A month has no more in it than its days: nothing that is used lies outside of them.
#[test]
fn months_come_to_what_days_come_to() {
    let (mut store, mut dice) = (furnished(), Dice(8));
    used(&mut store, &mut dice, 80, "first");
    store.store().add_up_blocks(T0).unwrap();
    let reader = open_reader(store.path()).unwrap();
    let (stored, missing) = standing(&reader);
    assert!(stored.len() >= 4, "{stored:?} {missing:?}");
    let all = |every: Every| {
        let from = Timestamp(month::first_day(stored[0]) * DAY);
        let grid = Grid::new(from, T0, every, &Zone::default(), 1_000).unwrap();
        let request = ReportRequest {
            grid,
            place: Box::new(|_, _| Some((Vec::new(), String::new()))),
            at_end: false,
            users: false,
            top: None,
            weighed: Measure::Core,
        };
        let mut total = Sums::default();
        for figures in from_rollups(&reader, &request).unwrap().rows.values() {
            let own = figures.sums.with(Measure::Running, 0);
            total.add(&own, bank_core_figures::rollup::Sign::Plus);
        }
        total
    };
    assert_eq!(all(Every::All), all(Every::Day));
    assert!(!all(Every::All).is_zero());
}
