//! Exports add up: over random lives of a bank, hours and charges summed over the lines of an export are those
//! of rollups and of the journal, whatever was settled, assigned, refunded, undone, amended or late.

use super::fixture::T0;
use super::ground::Ground;
use super::history::history_of;
use super::rolled::{finished, operation};
use super::sqlite::Sqlite;
use super::wild::{Dice, Known};
use bank_core::calendar::Zone;
use bank_core::command::{Assign, Command, Identity};
use bank_core::directory::{Bank, Directory, Policy};
use bank_core::time::{MICROS, Seconds, Timestamp};
use bank_core_figures::rollup::Measure;
use bank_core_figures::rollup::grid::{Every, Grid};
use bankd_config as config;
use bankd_emit::export::{Site, Written};
use bankd_records::export::{Format, record, site};
use bankd_store::open_reader;
use bankd_store::read::feed::{Place, page};
use bankd_store::read::report::{ReportRequest, from_rollups};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Lives of 60 commands, and how many of them.
const LIVES: u64 = 40;
const COMMANDS: i64 = 60;

/// Processor time in microseconds by machine and user; by machine alone charges and shadow charges.
type Totals = BTreeMap<(String, String), [i128; 3]>;

fn assign(dice: &mut Dice, now: Timestamp) -> Command {
    let report = finished(dice, now);
    let project = ["P", "R", "N"][usize::try_from(dice.below(3)).unwrap()];
    Command::Assign(Box::new(Assign {
        identity: Identity {
            source: report.source.clone(),
            id: report.request.object_id.clone(),
            start: report.incarnation(),
            record: String::new(),
            reservation: String::new(),
            is_present: false,
        },
        project: project.to_owned(),
        user: None,
        pi: None,
        ended: report.request.facts.end,
        note: String::new(),
    }))
}

fn life(seed: u64) -> (Sqlite, Timestamp) {
    let policy = Policy {
        records: true,
        ..Policy::default()
    };
    let next = |dice: &mut Dice, known: Known, now| match dice.below(12) {
        0 | 1 => Some(assign(dice, now)),
        2 | 3 => Some(Command::Usage(Box::new(finished(dice, now)))),
        _ => operation(dice, known, now),
    };
    let (mut store, clock) = history_of(policy, COMMANDS, (seed, 4_000), next);
    // What is still open closes when nothing comes for long.
    let clock = clock.plus(Seconds(60 * 86_400));
    store.settle(clock);
    assert_eq!(store.proof(), Vec::<String>::new());
    (store, clock)
}

/// The lines of JSON of everything, read in pages of any size.
fn lines(reader: &Connection, directory: &Directory, limit: i64) -> Vec<serde_json::Value> {
    let site: Site = site(&directory.bank, &config::Export::default());
    let (mut place, mut found) = (Place::default(), Vec::new());
    loop {
        let portion = page(reader, place, limit, Format::Jsonl.charge_form()).unwrap();
        for item in &portion.items {
            let Some(record) = record(item, directory).unwrap() else {
                continue;
            };
            if let Written::Text(line) = Format::Jsonl.write(&record, &site, 0) {
                found.push(serde_json::from_str(&line).unwrap());
            }
        }
        place = portion.place;
        if !portion.more {
            return found;
        }
    }
}

/// A decimal text in so many decimal places.
fn number(text: &serde_json::Value, places: u32) -> i128 {
    let Some(text) = text.as_str() else { return 0 };
    let number = bank_core::decimal::Decimal::parse(text)
        .unwrap()
        .billionths();
    let unit = 10_i128.pow(9 - places);
    assert_eq!(number % unit, 0, "{text}");
    number / unit
}

fn of_lines(lines: &[serde_json::Value], bank: &Bank) -> Totals {
    let places = u32::from(bank.precision.places());
    let mut totals = Totals::new();
    for line in lines {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let own = totals.entry((text("machine"), text("user"))).or_default();
        own[0] += number(&line["processor_s"], 6);
        // The user of a job may be another one when a later charge of it comes.
        let own = totals.entry((text("machine"), String::new())).or_default();
        own[1] += number(&line["charge"], places);
        own[2] += number(&line["shadow_charge"], places);
    }
    totals
}

/// The same of rollups, and of the rows of the journal.
fn of_bank(reader: &Connection, clock: Timestamp) -> Totals {
    let until = Timestamp(clock.0.max(T0.0) / 3_600_000_000 * 3_600_000_000 + 3_600_000_000);
    let grid = Grid::new(Timestamp(0), until, Every::All, &Zone::default(), 1).unwrap();
    let request = ReportRequest {
        grid,
        place: Box::new(|owner, _| {
            let values = vec![owner.machine.to_owned(), owner.user.to_owned()];
            Some((values, String::new()))
        }),
        at_end: false,
        users: false,
        top: None,
        weighed: Measure::Core,
    };
    let mut totals = Totals::new();
    for ((_, values), figures) in from_rollups(reader, &request).unwrap().rows {
        let [machine, user] = values.try_into().unwrap();
        let own = totals.entry((machine, user)).or_default();
        own[0] += figures.sums.get(Measure::Core);
    }
    let sql = "SELECT i.machine, '', sum(CASE WHEN u.billing = 'shadow' THEN 0 ELSE u.amount END),
             sum(CASE WHEN u.billing = 'shadow' THEN u.amount ELSE 0 END)
         FROM usage u JOIN instance i ON i.id = u.instance GROUP BY 1, 2
         UNION ALL SELECT machine, '', 0, coalesce(sum(amount), 0) FROM usage_identity
         WHERE instance IS NULL GROUP BY 1, 2";
    let mut statement = reader.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let key = (row.get(0).unwrap(), row.get(1).unwrap());
        let own = totals.entry(key).or_default();
        own[1] += i128::from(row.get::<_, i64>(2).unwrap());
        own[2] += i128::from(row.get::<_, i64>(3).unwrap());
    }
    totals
}

fn without_nothing(mut totals: Totals) -> Totals {
    totals.retain(|_, own| *own != [0; 3]);
    totals
}

#[test]
fn an_export_adds_up_to_usage_and_the_journal() {
    let (mut changes, mut hours) = (BTreeMap::<String, usize>::new(), 0);
    let mut differ = Vec::new();
    for seed in 0..LIVES {
        let (store, clock) = life(seed);
        let directory = store.directory();
        let reader = open_reader(store.path()).unwrap();
        let all = lines(&reader, &directory, 1_000);
        assert_eq!(lines(&reader, &directory, 7), all, "other pages");
        for line in &all {
            let why = line["why"].as_str().unwrap_or("close").to_owned();
            *changes.entry(why).or_default() += 1;
        }
        let rows = without_nothing(of_lines(&all, &directory.bank));
        let known = without_nothing(of_bank(&reader, clock));
        hours += known
            .values()
            .map(|own| own[0] / i128::from(MICROS))
            .sum::<i128>();
        if rows != known {
            differ.push(format!("seed {seed}: export {rows:?}\n  bank {known:?}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    println!("{changes:?} {hours} processor seconds");
    for why in ["close", "late_charge", "refund", "adjust", "reverse"] {
        assert!(changes.get(why).is_some_and(|n| *n > 3), "{changes:?}");
    }
}
