//! Time travel: the bank as of random instants of a random history is what a fresh book says into which
//! the journal was replayed, and what the rows were at the time (ledger.md 7, "as of T").
//!
//! Ten thousand operations of every kind, changes of reference data among them, with waypoints set
//! down now and then at random distances. Two oracles, neither of which is the code under test:
//! a replay of the journal's lines, and copies of the tables and of the directory taken on the way.

use super::bench::Bench;
use super::fixture::T0;
use super::ground::Ground;
use super::replay::{Fresh, Journal};
use super::sqlite::Sqlite;
use super::wild::{Dice, Known, Wild, furnish};
use bank_core::command::{Command, SetAccount, SetMember};
use bank_core::directory::{Directory, Policy};
use bank_core::ids::{AccountId, AllocationId, RateId, TxId};
use bank_core::model::{Allocation, Constraint, Dimension, Phase};
use bank_core::time::{Seconds, Timestamp, Window};
use bankd_store::Spacing;
use bankd_store::read::money::Figures;
use bankd_store::read::past::{self, AsOf};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const SEED: u64 = 20_261_122;
const OPERATIONS: usize = 10_000;
/// Copies taken on the way, and instants that are looked at.
const COPIES: u64 = 150;
const INSTANTS: usize = 150;

fn sums(a: &Allocation) -> [i64; 6] {
    [
        a.amount,
        a.held,
        a.deposited,
        a.used,
        a.shadow,
        a.shadow_held,
    ]
    .map(|sum| sum.0)
}

/// What the bank says of an instant is what the replay says.
#[track_caller]
fn compare(reader: &Connection, as_of: AsOf, fresh: &Fresh, accounts: &[AccountId], what: &str) {
    let whole = past::whole(reader, as_of).unwrap();
    let mut reported = BTreeSet::new();
    for (allocation, phase) in &whole {
        let id = allocation.id.0;
        reported.insert(id);
        let expected = fresh.allocations.get(&id).copied().unwrap_or_default();
        assert_eq!(sums(allocation), expected, "allocation {id} {what}");
        if let Some((window, limit, then)) = fresh.shapes.get(&id) {
            assert_eq!(allocation.window, *window, "window of {id} {what}");
            assert_eq!(allocation.credit_limit.0, *limit, "limit of {id} {what}");
            assert_eq!(phase, then, "phase of {id} {what}");
        }
    }
    let missing: Vec<&i64> = fresh
        .allocations
        .keys()
        .filter(|id| !reported.contains(id))
        .collect();
    assert_eq!(missing, Vec::<&i64>::new(), "{what}");
    for account in accounts {
        let one = past::allocations(reader, *account, as_of).unwrap();
        let own = whole.iter().filter(|(a, _)| a.account == *account);
        let own: Vec<(Allocation, Phase)> = own.copied().collect();
        assert_eq!(one, own, "{account:?} {what}");
        let figures = past::figures(reader, &[*account], as_of).unwrap();
        assert_eq!(figures, [Figures::standing(&own)], "{account:?} {what}");
    }
    let all: Vec<Figures> = past::figures(reader, accounts, as_of).unwrap();
    let each = accounts.iter().map(|account| {
        let own = whole.iter().filter(|(a, _)| a.account == *account);
        Figures::standing(&own.copied().collect::<Vec<_>>())
    });
    assert_eq!(all, each.collect::<Vec<_>>(), "{what}");
    let mut liens = BTreeMap::new();
    for row in past::liens(reader, None, as_of).unwrap() {
        let id = row.lien.id.0;
        let alone = past::lien(reader, id, as_of).unwrap().unwrap();
        assert_eq!(alone, row, "lien {id} {what}");
        for portion in &row.lien.portions {
            liens.insert((id, portion.allocation.0), portion.amount.0);
        }
    }
    assert_eq!(liens, fresh.liens, "liens {what}");
}

/// Every row of the reference data as text, in one order.
fn reference(directory: &Directory) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    all.extend(directory.projects().map(|p| format!("{p:?}")));
    all.extend(directory.users().map(|u| format!("{u:?}")));
    all.extend(directory.machines().map(|m| format!("{m:?}")));
    all.extend(directory.all_accounts().map(|a| format!("{a:?}")));
    all.extend(directory.rates.iter().map(|r| format!("{r:?}")));
    all.extend(directory.keys().map(|k| format!("{k:?}")));
    all.extend(directory.attributes.iter().map(|a| format!("{a:?}")));
    for project in directory.projects() {
        let members = directory.members_of(project.id);
        all.extend(members.iter().map(|m| format!("{m:?}")));
    }
    all.sort_unstable();
    all
}

/// What there was at a moment of the history.
struct Copy {
    tx: i64,
    now: Timestamp,
    allocations: Vec<(i64, [i64; 6], Window, i64)>,
    /// Lien, end, allocation and what it held there.
    liens: Vec<(i64, i64, i64, i64)>,
    directory: Arc<Directory>,
}

fn copy(store: &mut Sqlite, now: Timestamp) -> Copy {
    let allocations = store.allocations();
    let directory = store.directory();
    let reader = store.reader().unwrap();
    let tx = reader
        .query_row("SELECT max(id) FROM tx", [], |r| r.get(0))
        .unwrap();
    let sql = "SELECT p.lien, l.end_at, p.allocation, p.amount FROM lien_allocation p
               JOIN lien l ON l.id = p.lien WHERE p.amount > 0 ORDER BY 1, 3";
    let mut statement = reader.prepare(sql).unwrap();
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)));
    let liens = rows.unwrap().map(Result::unwrap).collect();
    let row = |a: &Allocation| (a.id.0, sums(a), a.window, a.credit_limit.0);
    Copy {
        tx,
        now,
        allocations: allocations.iter().map(row).collect(),
        liens,
        directory,
    }
}

/// The bank as the last transaction of a copy left it is the copy.
fn compare_copy(reader: &Connection, journal: &Journal, copy: &Copy) {
    let what = format!("after transaction {}", copy.tx);
    let mut ways = vec![AsOf::after(TxId(copy.tx))];
    // The clock may show the same for the next transaction.
    let next = journal.times.get(&(copy.tx + 1));
    let is_last_of_instant = next.is_none_or(|(_, recorded)| *recorded > copy.now.0);
    ways.extend(is_last_of_instant.then(|| AsOf::recorded(copy.now)));
    for as_of in ways {
        let whole = past::whole(reader, as_of).unwrap();
        let row = |(a, _): &(Allocation, Phase)| (a.id.0, sums(a), a.window, a.credit_limit.0);
        let reported: Vec<_> = whole.iter().map(row).collect();
        assert_eq!(reported, copy.allocations, "{what}");
        let mut liens = Vec::new();
        for row in past::liens(reader, None, as_of).unwrap() {
            let (id, end) = (row.lien.id.0, row.lien.end.0);
            let parts = row.lien.portions.iter();
            liens.extend(parts.map(|p| (id, end, p.allocation.0, p.amount.0)));
        }
        liens.sort_unstable();
        assert_eq!(liens, copy.liens, "{what}");
        let then = past::directory(reader, as_of, Policy::default()).unwrap();
        assert_eq!(reference(&then), reference(&copy.directory), "{what}");
    }
    if !is_last_of_instant {
        return;
    }
    // Reference data counts from when it was recorded, whatever money does.
    let then = past::directory(reader, copy.now, Policy::default()).unwrap();
    assert_eq!(reference(&then), reference(&copy.directory), "{what}");
}

/// A change of reference data.
fn registered(dice: &mut Dice, rates: i64) -> Command {
    let n = dice.below(3);
    let user = ["amy", "bob", "eve"][usize::try_from(n).unwrap()].to_owned();
    let project = ["P", "R", "N"][usize::try_from(dice.below(3)).unwrap()].to_owned();
    let account = ["Q", "A", "D"][usize::try_from(dice.below(3)).unwrap()].to_owned();
    let text = format!("note \"{}\"\u{1}é", dice.below(9));
    match dice.below(12) {
        0 | 1 => Command::SetMember(SetMember {
            project,
            user,
            active: Some(dice.below(3) > 0),
            role: None,
        }),
        2 => Command::RemoveMember(project, "bob".to_owned()),
        3 => {
            let machines = ["colony".to_owned()].into_iter().take(any_of(dice, 2));
            let machines: Vec<String> = machines.collect();
            let values = [
                ("active", (dice.below(4) > 0).into()),
                ("description", text.into()),
                ("machines", machines.into()),
            ];
            Command::set_record("project", &project, &values)
        }
        4 => {
            let parent = Some("P").filter(|_| dice.below(2) > 0);
            Command::set_record("project", "R", &[("parent", parent.into())])
        }
        5 => Command::add_record("user", "eve", &[]),
        6 => Command::set_record(
            "user",
            &user,
            &[
                ("description", text.into()),
                ("aliases", vec![format!("x{n}@y")].into()),
                ("default_project", project.as_str().into()),
            ],
        ),
        7 => Command::set_record(
            "machine",
            "blue",
            &[
                ("active", (dice.below(5) > 0).into()),
                ("fallback", Some("F").filter(|_| dice.below(2) > 0).into()),
            ],
        ),
        8 | 9 => Command::SetAccount(SetAccount {
            name: account,
            priority: Some(i64::try_from(dice.below(3)).unwrap()),
            description: Some(text),
            lists: vec![(Dimension::User, vec![listed(&user, dice.below(4) > 0)])],
            ..SetAccount::default()
        }),
        10 => Command::RemoveRate(RateId(
            1 + i64::try_from(dice.below(20)).unwrap() % rates.max(1),
        )),
        _ => Command::remove_record("user", "eve"),
    }
}

fn listed(user: &str, allow: bool) -> Constraint {
    Constraint {
        dimension: Dimension::User,
        value: if allow { "ANY" } else { user }.to_owned(),
        allow,
        subtree: false,
    }
}

/// A place among so many.
fn any_of(dice: &mut Dice, many: usize) -> usize {
    usize::try_from(dice.below(u64::try_from(many).unwrap())).unwrap()
}

fn count(reader: &Connection, sql: &str) -> i64 {
    reader.query_row(sql, [], |r| r.get(0)).unwrap()
}

fn last_known(reader: &Connection) -> Known {
    Known {
        transactions: count(reader, "SELECT coalesce(max(id), 0) FROM tx"),
        liens: count(reader, "SELECT coalesce(max(id), 0) FROM lien"),
        allocations: count(reader, "SELECT coalesce(max(id), 0) FROM allocation"),
    }
}

/// Plays the history; gives its last instant and the copies.
fn play(store: &mut Sqlite, dice: &mut Dice) -> (Timestamp, Vec<Copy>) {
    furnish(&mut Bench::new(store));
    let (mut clock, mut copies) = (T0, Vec::new());
    for n in 0..OPERATIONS {
        let wild = Wild(dice.next());
        if wild.seconds() > 0 {
            clock = clock.plus(Seconds(wild.seconds()));
        } else if dice.below(10) == 0 {
            let rates = count(store.reader().unwrap(), "SELECT count(*) FROM rate");
            store.submit(&registered(dice, rates), Some(&format!("r{n}")), clock);
        } else {
            let known = last_known(store.reader().unwrap());
            store.submit(&wild.command(known, clock), Some(&format!("w{n}")), clock);
        }
        if dice.below(OPERATIONS as u64) < COPIES {
            store.settle(clock);
            let now = store.ledger_now(clock);
            copies.push(copy(store, now));
        }
        if dice.below(600) == 0 {
            let spacing = Spacing {
                stretch: 1 + usize::try_from(dice.below(60)).unwrap(),
                sum: 1 + usize::try_from(dice.below(6)).unwrap(),
                whole: 1 + i64::try_from(dice.below(5)).unwrap(),
            };
            store.reader().unwrap();
            store.store().survey(spacing).unwrap();
        }
    }
    (clock, copies)
}

#[test]
fn the_past_equals_a_replay_of_the_journal() {
    println!("seed {SEED}");
    let mut dice = Dice(SEED);
    let mut store = Sqlite::new(Policy::default(), 1);
    let (last, copies) = play(&mut store, &mut dice);
    assert_eq!(store.proof(), Vec::<String>::new());
    let accounts: Vec<AccountId> = store.directory().all_accounts().map(|a| a.id).collect();
    let reader = store.reader().unwrap();
    let places = count(reader, "SELECT count(*) FROM waypoint");
    let late = count(reader, "SELECT count(*) FROM waypoint_late");
    let kinds = count(
        reader,
        "SELECT count(DISTINCT kind) FROM version WHERE tx > 0",
    );
    println!(
        "{places} waypoints, {late} late entries, {} copies",
        copies.len()
    );
    assert!(
        places > 50 && late > 20 && copies.len() > 50,
        "too little happened"
    );
    assert!(kinds >= 7, "{kinds} kinds of reference data changed");
    let journal = Journal::read(reader);
    for copy in &copies {
        compare_copy(reader, &journal, copy);
    }
    let times: Vec<(i64, (i64, i64))> = journal.times.iter().map(|(tx, t)| (*tx, *t)).collect();
    let width = u64::try_from(last.0 - T0.0).unwrap() + 2_000_000;
    for n in 0..INSTANTS {
        let (tx, (effective, recorded)) = times[any_of(&mut dice, times.len())];
        // On, right before and right after something that happened, or anywhere.
        let at = Timestamp(match dice.below(5) {
            0 => effective,
            1 => effective - 1,
            2 => recorded,
            3 => recorded + 1,
            _ => T0.0 - 1_000_000 + i64::try_from(dice.below(width)).unwrap(),
        });
        let what = format!("at {at:?}, instant {n}");
        let effective = journal.replay(at, |_, effective, _| effective <= at.0);
        compare(reader, AsOf::effective(at), &effective, &accounts, &what);
        let recorded = journal.replay(at, |_, _, recorded| recorded <= at.0);
        compare(
            reader,
            AsOf::recorded(at),
            &recorded,
            &accounts,
            &format!("recorded {what}"),
        );
        let known = journal.replay(at, |own, effective, _| effective <= at.0 && own <= tx);
        let what = format!("{what}, known by transaction {tx}");
        compare(
            reader,
            AsOf::known_by(at, TxId(tx)),
            &known,
            &accounts,
            &what,
        );
        period(reader, &journal, &mut dice, at);
    }
}

/// What took effect on an allocation in a period.
fn period(reader: &Connection, journal: &Journal, dice: &mut Dice, at: Timestamp) {
    let longest = 1 + dice.below(200_000);
    let end = at.plus(Seconds(i64::try_from(dice.below(longest)).unwrap()));
    let window = Window {
        start: Some(at).filter(|_| dice.below(5) > 0),
        end: Some(end).filter(|_| dice.below(5) > 0),
    };
    let known = (dice.below(3) == 0).then(|| {
        let last = *journal.times.last_key_value().unwrap().0;
        TxId(1 + i64::try_from(dice.below(u64::try_from(last).unwrap())).unwrap())
    });
    let all = journal.allocations();
    let id = all[any_of(dice, all.len())];
    let own = journal.lines.iter().filter(|line| {
        let known = known.is_none_or(|tx| line.tx <= tx.0);
        line.allocation == id && window.contains(Timestamp(line.effective)) && known
    });
    let expected: Vec<i64> = own.map(|line| line.entry).collect();
    let mut reported = Vec::new();
    past::movements(reader, AllocationId(id), &window, known, |step| {
        reported.push(step.entry);
    })
    .unwrap();
    reported.sort_unstable();
    assert_eq!(
        reported, expected,
        "allocation {id} in {window:?}, known by {known:?}"
    );
}

/// The law of ledger.md 7, at any instant: what is active adds up to what the active allocations have.
#[test]
fn active_money_is_what_active_allocations_had_at_any_instant() {
    println!("seed {SEED}");
    let mut dice = Dice(SEED ^ 0xac7);
    let mut store = Sqlite::new(Policy::default(), 1);
    furnish(&mut Bench::new(&mut store));
    let mut clock = T0;
    for n in 0..1_500 {
        let wild = Wild(dice.next());
        clock = clock.plus(Seconds(wild.seconds()));
        if wild.seconds() == 0 {
            let known = last_known(store.reader().unwrap());
            store.submit(&wild.command(known, clock), Some(&format!("w{n}")), clock);
        }
    }
    store.settle(clock);
    let reader = store.reader().unwrap();
    let journal = Journal::read(reader);
    for (effective, recorded) in journal.times.values().step_by(7) {
        for at in [*effective, *recorded, *effective - 1] {
            let at = Timestamp(at);
            let fresh = journal.replay(at, |_, effective, _| effective <= at.0);
            for (allocation, phase) in past::whole(reader, at).unwrap() {
                let id = allocation.id.0;
                let active = fresh.active.get(&id).copied().unwrap_or_default();
                let is_active = phase == Phase::Active;
                let had = if is_active { allocation.amount.0 } else { 0 };
                assert_eq!(had, active, "allocation {id} at {at:?}");
            }
        }
    }
}
