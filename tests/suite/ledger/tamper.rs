//! Whoever changes a bank behind the daemon's back is found: random changes of a copied database, each
//! on its own, past the triggers and checks of the schema (ledger.md 7, 10).

mod strike;
mod world;

use super::wild::Dice;
use bankd::store::verify;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use strike::Map;

const SEED: u64 = 20_261_122;

/// The journal: rows that are never changed once they are written.
const JOURNAL: [&str; 8] = [
    "tx", "entry", "usage", "correction", "reversal", "shape", "presence", "record",
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
            map.table(table).flip(bank, column, dice)
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
    let asked = std::env::var("BANK_TAMPER_ROUNDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(600)
}

fn seed() -> u64 {
    let asked = std::env::var("BANK_TAMPER_SEED").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(SEED)
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
    let empty: Vec<&str> = map.tables.iter().filter(|t| t.is_empty()).map(|t| t.name.as_str()).collect();
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
    assert!(missed.is_empty(), "seed {seed}: {} missed\n{}", missed.len(), missed.join("\n"));
}
