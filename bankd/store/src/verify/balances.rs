//! Checks the current state: balances, windows, phases and liens against the journal; instances
//! against their usage.

use super::super::{Error, allocation};
use super::finding::Money;
use super::journal::Books;
use super::{Finding, Report};
use bank_core::amount::Amount;
use bank_core::ids::{AccountId, AllocationId, LienId};
use bank_core::invariant::{self, Portions};
use bank_core::model::{Allocation, Phase};
use bank_core::time::Timestamp;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// Compares the current state with the totals of the journal, in the snapshot of the walk's end.
pub(super) fn check(
    connection: &Connection,
    books: &Books,
    report: &mut Report,
) -> Result<(), Error> {
    let portions = portions(connection, books, report)?;
    let allocations = allocations(connection, books, report)?;
    report.allocations = i64::try_from(allocations.len()).unwrap_or(i64::MAX);
    for text in invariant::check(&allocations, &books.proof, &portions) {
        let row = text.split([' ', ':']).nth(1).unwrap_or_default().to_owned();
        report.find(Finding::new("allocation", row, text));
    }
    for text in accounts(connection, books)? {
        let row = text.split([' ', ':']).nth(1).unwrap_or_default().to_owned();
        report.find(Finding::new("account", row, text));
    }
    phases(connection, &allocations, report)?;
    whole(&allocations, books, Money::of(connection)?, report);
    report.notes = invariant::over_committed(&allocations);
    Ok(())
}

/// Holds of open liens on each allocation; each portion matches the journal of its lien.
fn portions(
    connection: &Connection,
    books: &Books,
    report: &mut Report,
) -> Result<Portions, Error> {
    let mut statement = connection.prepare(
        "SELECT p.lien, p.n, p.allocation, p.amount, l.shadow, l.state
         FROM lien_allocation p LEFT JOIN lien l ON l.id = p.lien ORDER BY p.lien, p.n",
    )?;
    let mut rows = statement.query([])?;
    let mut portions = Portions::default();
    let mut held: BTreeMap<(LienId, AllocationId), i128> = BTreeMap::new();
    let mut next = (0_i64, 0_i64);
    while let Some(row) = rows.next()? {
        let (lien, n): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (id, amount): (i64, i64) = (row.get(2)?, row.get(3)?);
        let (shadow, state): (Option<bool>, Option<String>) = (row.get(4)?, row.get(5)?);
        if state.as_deref() != Some("open") {
            let text = format!("lien {lien}: it holds money and is not open");
            report.find(Finding::new("lien_allocation", lien, text));
        }
        if next.0 != lien {
            next = (lien, 0);
        }
        if n != next.1 {
            let text = format!("lien {lien}: its portions are not numbered in their order");
            report.find(Finding::new("lien_allocation", lien, text).differs(next.1, n));
        }
        next.1 = n.saturating_add(1);
        portions.add(AllocationId(id), Amount(amount), shadow.unwrap_or(false));
        let key = (LienId(lien), AllocationId(id));
        if amount == 0 && books.unproven.contains(&key) {
            let text = format!("lien {lien}: it never held anything on allocation {id}");
            report.find(Finding::new("lien_allocation", lien, text));
        }
        let sum = held.entry(key).or_default();
        *sum = sum.saturating_add(amount.into());
    }
    held.retain(|_, sum| *sum != 0);
    let money = Money::of(connection)?;
    let all: BTreeSet<_> = held.keys().chain(books.holds.keys()).copied().collect();
    for key in all {
        let (is, expected) = (held.get(&key), books.holds.get(&key));
        if is != expected {
            let zero = |sum: Option<&i128>| sum.copied().unwrap_or(0);
            let (lien, allocation) = (key.0.0, key.1.0);
            let text = format!("lien {lien}: its hold on allocation {allocation} is wrong");
            let finding = Finding::new("lien_allocation", lien, text);
            let (expected, is) = (money.shown(zero(expected)), money.shown(zero(is)));
            report.find(finding.differs(expected, is));
        }
    }
    Ok(portions)
}

/// Accounts that are there and should not be, or the other way round.
fn accounts(connection: &Connection, books: &Books) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare("SELECT id, NOT deleted FROM account ORDER BY id")?;
    let rows = statement.query_map([], |row| Ok((AccountId(row.get(0)?), row.get(1)?)))?;
    let rows: Vec<(AccountId, bool)> = rows.collect::<Result<_, _>>()?;
    Ok(books.proof.check_accounts(rows.into_iter()))
}

fn allocations(
    connection: &Connection,
    books: &Books,
    report: &mut Report,
) -> Result<Vec<Allocation>, Error> {
    let sql = format!(
        "SELECT {} FROM allocation ORDER BY id",
        allocation::ALLOCATION
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    let mut missing: BTreeSet<AllocationId> = books.last.keys().copied().collect();
    while let Some(row) = rows.next()? {
        let allocation = allocation::read(row)?;
        let id = allocation.id.0;
        missing.remove(&allocation.id);
        if allocation.last_entry != books.last.get(&allocation.id).map(|(id, ..)| *id) {
            let text = format!("allocation {id}: its last entry differs from the journal");
            report.find(Finding::new("allocation", id, text));
        }
        // The bank's own allocation was there before the journal, and may have no entry.
        let owner = books.owners.get(&allocation.id);
        let own = bank_core::book::suspense_allocation();
        let is_born = allocation.id == own.id && allocation.account == own.account;
        if owner.map_or(!is_born, |owner| *owner != allocation.account) {
            let text = format!("allocation {id}: its account differs from the journal");
            let expected = owner.map_or_else(|| "none".to_owned(), |owner| owner.0.to_string());
            let finding = Finding::new("allocation", id, text);
            report.find(finding.differs(expected, allocation.account.0));
        }
        found.push(allocation);
    }
    for id in missing {
        let text = format!(
            "allocation {}: it is missing, but the journal has entries of it",
            id.0
        );
        report.find(Finding::new("allocation", id.0, text));
    }
    Ok(found)
}

/// Each allocation is in the phase of its window at the journal's present, because due boundaries
/// were journalled before. A cycle that was run early creates money that counts from then on, and
/// exists already.
fn phases(
    connection: &Connection,
    allocations: &[Allocation],
    report: &mut Report,
) -> Result<(), Error> {
    let sql = "SELECT at_recorded, (SELECT max(at_effective) FROM tx)
               FROM tx ORDER BY id DESC LIMIT 1";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else {
        return Ok(());
    };
    let (now, ahead) = (Timestamp(row.get(0)?), Timestamp(row.get(1)?));
    for allocation in allocations {
        let window = allocation.window;
        let phase = Phase::of(&window, now);
        let is_ahead = ahead > now && Phase::of(&window, ahead) == allocation.phase;
        if phase != allocation.phase && !is_ahead {
            let id = allocation.id.0;
            let text = format!("allocation {id}: it is in another phase than its window");
            let finding = Finding::new("allocation", id, text);
            report.find(finding.differs(phase.word(), allocation.phase.word()));
        }
    }
    Ok(())
}

/// Over the whole bank, the entries of all kinds add up to the current balances.
fn whole(allocations: &[Allocation], books: &Books, money: Money, report: &mut Report) {
    let mut expected = [0_i128; 5];
    for kind in books.kinds.values() {
        for (sum, part) in expected.iter_mut().zip(kind.sums) {
            *sum = sum.saturating_add(part);
        }
    }
    let mut is = [0_i128; 5];
    for a in allocations {
        let active = if a.phase == Phase::Active {
            a.amount.0
        } else {
            0
        };
        let own = [a.amount.0, a.held.0, active, a.shadow.0, a.shadow_held.0];
        for (sum, part) in is.iter_mut().zip(own) {
            *sum = sum.saturating_add(part.into());
        }
    }
    let names = ["amount", "held", "active", "shadow", "shadow held"];
    for ((name, expected), is) in names.into_iter().zip(expected).zip(is) {
        if expected != is {
            let text =
                format!("the bank: {name} of all allocations differs from that of all entries");
            let (expected, is) = (money.shown(expected), money.shown(is));
            report.find(Finding::new("allocation", "all", text).differs(expected, is));
        }
    }
}

/// Each instance's sums match its usage rows, and their chain ends with its last one.
pub(super) fn billed(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT i.id, i.billed, i.shadow_billed, i.charged_s,
             COALESCE(SUM(CASE WHEN u.billing NOT IN ('shadow', 'refund') THEN u.amount END), 0),
             COALESCE(SUM(CASE WHEN u.billing = 'shadow' THEN u.amount END), 0),
             COALESCE(SUM(u.charged_s), 0), i.last_usage IS max(u.id),
             (i.mode IS NULL) = (i.record IS NULL) AND (i.mode IS NULL OR (i.mode IN ('notional', 'track'))
                 = (SELECT f.billing = 'shadow' FROM usage f WHERE f.id = i.record))
         FROM instance i LEFT JOIN usage u ON u.instance = i.id GROUP BY i.id",
    )?;
    let money = Money::of(connection)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        for (what, column, sum) in [
            ("billed", 1, 4),
            ("billed in shadow", 2, 5),
            ("seconds charged", 3, 6),
        ] {
            let (is, expected): (i64, i64) = (row.get(column)?, row.get(sum)?);
            if is != expected {
                let shown = |value: i64| match what {
                    "seconds charged" => value.to_string(),
                    _ => money.shown(value.into()).to_string(),
                };
                let (is, expected) = (shown(is), shown(expected));
                let text = format!("instance {id}: {what} {is}, its usage records {expected}");
                report.find(Finding::new("instance", id, text).differs(expected, is));
            }
        }
        if !row.get::<_, bool>(7)? {
            let text = format!("instance {id}: its last usage row is not its newest one");
            report.find(Finding::new("instance", id, text));
        }
        if !row.get::<_, Option<bool>>(8)?.unwrap_or(true) {
            let text = format!("instance {id}: its mode differs from that of its first usage row");
            report.find(Finding::new("instance", id, text));
        }
    }
    orphans(connection, report)
}

/// Usage, entries and transactions of instances that are not there.
fn orphans(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT 'usage', u.id, u.instance FROM usage u
             LEFT JOIN instance i ON i.id = u.instance WHERE i.id IS NULL
         UNION ALL SELECT 'tx', t.id, t.instance FROM tx t
             LEFT JOIN instance i ON i.id = t.instance
             WHERE t.instance IS NOT NULL AND i.id IS NULL",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, id, instance): (String, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let text = format!("instance {instance}: it is missing, but {table} {id} refers to it");
        report.find(Finding::new("instance", instance, text));
    }
    Ok(())
}

/// At most one lien of an instance is open, and it is the one that the instance names; a lien that
/// ended holds nothing.
pub(super) fn liens(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT l.instance FROM lien l LEFT JOIN instance i ON i.id = l.instance
         WHERE i.id IS NULL OR (l.state = 'open') <> (i.lien IS l.id)
         UNION ALL SELECT i.id FROM instance i LEFT JOIN lien l ON l.id = i.lien
         WHERE i.lien IS NOT NULL AND (l.id IS NULL OR l.instance <> i.id)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let text =
            format!("instance {id}: an open lien that is not its own, or an ended one that is");
        report.find(Finding::new("lien", id, text));
    }
    Ok(())
}
