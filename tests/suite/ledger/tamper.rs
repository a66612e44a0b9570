//! Whoever changes a bank behind the daemon's back is found: random changes of a copied database, each
//! on its own, past the triggers and checks of the schema (ledger.md 7, 10); single bytes of its file;
//! and with a checkpoint what is sound in itself and still not the bank.
//!
//! `BANK_TAMPER_ROUNDS=20000` makes more of them, `BANK_TAMPER_SEED` others.

mod columns;
mod fill;
mod flip;
mod strike;
mod world;

use super::bench::Bench;
use super::fixture::T0;
use super::ground::Ground;
use super::sqlite::Sqlite;
use super::wild::{Dice, Wild, furnish};
use bank_core::directory::Policy;
use bank_core::time::{Seconds, Timestamp};
use bankd_store::{checkpoint, verify};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use strike::Map;

const SEED: u64 = 1;

/// The journal: rows that are never changed once they are written.
const JOURNAL: [&str; 8] = [
    "tx",
    "entry",
    "usage",
    "correction",
    "reversal",
    "shape",
    "presence",
    "record",
];

/// What says how much there is.
const BALANCES: [(&str, &str); 9] = [
    ("allocation", "amount"),
    ("allocation", "held"),
    ("allocation", "deposited"),
    ("allocation", "used"),
    ("allocation", "shadow"),
    ("allocation", "shadow_held"),
    ("allocation", "credit_limit"),
    ("instance", "billed"),
    ("lien_allocation", "amount"),
];

/// How one change is made, and what it is counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    FlipOfTheJournal,
    NewestRowGone,
    RowAdded,
    Balance,
    AnyColumn,
    AnyRow,
}

const KINDS: [(Kind, u64); 6] = [
    (Kind::FlipOfTheJournal, 30),
    (Kind::NewestRowGone, 6),
    (Kind::RowAdded, 8),
    (Kind::Balance, 12),
    (Kind::AnyColumn, 34),
    (Kind::AnyRow, 10),
];

fn kind(dice: &mut Dice) -> Kind {
    let mut thrown = dice.below(100);
    for (kind, weight) in KINDS {
        if thrown < weight {
            return kind;
        }
        thrown -= weight;
    }
    Kind::AnyColumn
}

fn of<'a, T>(dice: &mut Dice, all: &'a [T]) -> &'a T {
    let n = dice.below(all.len().try_into().unwrap());
    &all[usize::try_from(n).unwrap()]
}

/// One change; nothing where the throw was none.
fn strike(bank: &Connection, map: &Map, kind: Kind, dice: &mut Dice) -> Option<String> {
    let journal = |dice: &mut Dice| map.table(of::<&str>(dice, &JOURNAL));
    match kind {
        Kind::FlipOfTheJournal => {
            let table = journal(dice);
            table.flip(bank, of::<String>(dice, &table.columns), dice)
        }
        Kind::NewestRowGone => journal(dice).remove(bank, true, dice),
        Kind::RowAdded => journal(dice).copy(bank, dice),
        Kind::Balance => {
            let (table, column) = of(dice, &BALANCES);
            let table = map.table(table);
            if table.is_empty() {
                return None;
            }
            table.flip(bank, column, dice)
        }
        Kind::AnyColumn => {
            let table = of(dice, &map.tables);
            if table.is_empty() {
                return None;
            }
            table.flip(bank, of::<String>(dice, &table.columns), dice)
        }
        Kind::AnyRow => {
            let table = of(dice, &map.tables);
            if table.is_empty() {
                return None;
            }
            if dice.below(2) == 0 {
                table.remove(bank, false, dice)
            } else {
                table.copy(bank, dice)
            }
        }
    }
}

fn rounds() -> usize {
    let setting = std::env::var_os("BANK_TAMPER_ROUNDS");
    let setting = setting.and_then(|text| text.to_str()?.parse().ok());
    setting.unwrap_or(600)
}

fn seed() -> u64 {
    let setting = std::env::var_os("BANK_TAMPER_SEED");
    let setting = setting.and_then(|text| text.to_str()?.parse().ok());
    setting.unwrap_or(SEED)
}

/// Does something to a copy of a bank, as somebody who has the file.
fn struck<T>(bank: &Path, copy: &Path, act: impl FnOnce(&Connection) -> T) -> T {
    std::fs::copy(bank, copy).unwrap();
    let open = Connection::open(copy).unwrap();
    open.pragma_update(None, "synchronous", "OFF").unwrap();
    let triggers = strike::unguarded(&open);
    let done = act(&open);
    strike::guard(&open, &triggers);
    drop(open);
    done
}

#[test]
fn every_change_behind_the_daemons_back_is_found() {
    let seed = seed();
    println!("seed {seed}");
    let (_ground, path) = world::bank(seed);
    let sound = verify::run(&path).unwrap();
    assert_eq!(sound.lines(), Vec::<String>::new());
    let map = Map::of(&Connection::open(&path).unwrap());
    let empty: Vec<&str> = map
        .tables
        .iter()
        .filter(|t| t.is_empty())
        .map(|t| t.name.as_str())
        .collect();
    println!("empty: {empty:?}");
    let copy = path.with_file_name("struck.db");
    let mut dice = Dice(seed);
    let mut done: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut missed = Vec::new();
    while done.values().sum::<usize>() < rounds() {
        let kind = kind(&mut dice);
        let what = struck(&path, &copy, |bank| strike(bank, &map, kind, &mut dice));
        let Some(what) = what else { continue };
        *done.entry(kind).or_default() += 1;
        if verify::run(&copy).is_ok_and(|report| report.findings.is_empty()) {
            missed.push(format!("{kind:?}: {what}"));
        }
    }
    println!("{done:?}");
    assert!(
        missed.is_empty(),
        "seed {seed}: {} missed\n{}",
        missed.len(),
        missed.join("\n")
    );
}

/// One byte of the file, wherever that stands in a row of the journal.
#[test]
fn every_flipped_byte_of_the_journal_in_the_file_is_found() {
    let seed = seed();
    println!("seed {seed}");
    let (_ground, path) = world::bank(seed);
    let pages = flip::pages(&Connection::open(&path).unwrap(), &JOURNAL);
    let sound = flip::contents(&path).unwrap();
    let copy = path.with_file_name("flipped.db");
    let mut dice = Dice(seed);
    let (mut done, mut missed) = (0, Vec::new());
    while done < 150 {
        let what = flip::one(&path, &copy, &pages, &mut dice);
        // A byte that no row has is none of the journal's.
        if flip::contents(&copy).is_some_and(|rows| rows == sound) {
            continue;
        }
        done += 1;
        if verify::run(&copy).is_ok_and(|report| report.is_sound()) {
            missed.push(what);
        }
    }
    assert!(missed.is_empty(), "seed {seed}: {missed:#?}");
}

/// Wild operations on a bank; gives the clock afterwards.
fn go_on(bank: &mut Sqlite, mut clock: Timestamp, count: usize, dice: &mut Dice) -> Timestamp {
    for _ in 0..count {
        let wild = Wild(dice.next());
        clock = clock.plus(Seconds(wild.seconds()));
        if wild.seconds() == 0 {
            let command = wild.command(world::known(bank), clock);
            bank.submit(&command, None, clock);
        }
    }
    clock
}

/// An older day of a bank is sound in itself, and so is what was made of it since: only a checkpoint
/// tells that its end was cut off, or that other things happened.
#[test]
fn a_checkpoint_detects_every_older_day_and_every_other_history() {
    let seed = seed();
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let mut bank = Sqlite::new(Policy::default(), 16);
    furnish(&mut Bench::new(&mut bank));
    let (mut clock, mut older) = (T0, Vec::new());
    for _ in 0..8 {
        let count = 1 + usize::try_from(dice.below(40)).unwrap();
        clock = go_on(&mut bank, clock, count, &mut dice);
        older.push((bank.copy(16), clock));
    }
    // Whatever comes last is in the journal.
    bank.submit(&super::ask::deposit("F", "1").command.unwrap(), None, clock);
    let facts = checkpoint::facts(bank.reader().unwrap()).unwrap();
    assert_eq!(
        checkpoint::against(bank.reader().unwrap(), &facts).unwrap(),
        []
    );
    go_on(&mut bank, clock, 30, &mut dice);
    assert_eq!(
        checkpoint::against(bank.reader().unwrap(), &facts).unwrap(),
        []
    );
    for (mut old, then) in older {
        assert_eq!(old.proof(), Vec::<String>::new());
        let found = checkpoint::against(old.reader().unwrap(), &facts).unwrap();
        assert!(found[0].text.contains("cut off"), "{found:?}");
        while world::known(&mut old).transactions <= facts.transactions {
            go_on(&mut old, then, 10, &mut dice);
        }
        assert_eq!(old.proof(), Vec::<String>::new());
        let found = checkpoint::against(old.reader().unwrap(), &facts).unwrap();
        assert!(found[0].text.contains("was rewritten"), "{found:?}");
    }
}
