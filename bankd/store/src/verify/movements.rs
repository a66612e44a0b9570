//! Checks the basis of statements and balance sheets: at any time the movements of an allocation
//! lead to its balance. The balance is its amount inside its window and zero outside it.

use super::super::{Error, start};
use super::finding::Money;
use super::{Finding, Report};
use bank_core::book::suspense_allocation;
use bank_core::model::Phase;
use bank_core::time::{Timestamp, Window};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// An allocation with its windows over time.
#[derive(Default)]
struct Own {
    /// Since when each window held, in the order of their transactions.
    windows: Vec<(Timestamp, Window)>,
    /// Times at which its balance may change by time alone, with the movements until the next one:
    /// amount and active money.
    moved: BTreeMap<i64, (i128, i128)>,
    /// Its first entry: its transaction, and when it counts.
    first: Option<(i64, Timestamp)>,
}

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let booked_after = start::read(connection)?.map_or(0, |start| start.booked_after);
    let mut all = windows(connection)?;
    read(connection, booked_after, &mut all)?;
    let sql = "SELECT coalesce(max(at_recorded), 0) FROM tx";
    let now = Timestamp(connection.query_row(sql, [], |r| r.get(0))?);
    let money = Money::of(connection)?;
    for (id, own) in &all {
        if let Some((at, balance, led)) = own.differs(now) {
            let at = bank_core::months::text(at);
            let text = format!("allocation {id}: its movements do not lead to its balance at {at}");
            let finding = Finding::new("allocation", id, text);
            report.find(finding.differs(money.shown(led), money.shown(balance)));
        }
    }
    times(connection, booked_after, now, &all, report)
}

/// The windows of all allocations. That of the bank itself has always been the same.
fn windows(connection: &Connection) -> Result<BTreeMap<i64, Own>, Error> {
    let sql = "SELECT s.allocation, s.start_at, s.end_at, t.at_effective
               FROM shape s LEFT JOIN tx t ON t.id = s.tx
               WHERE s.allocation <> ?1 ORDER BY s.allocation, s.tx";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([suspense_allocation().id.0])?;
    let mut all: BTreeMap<i64, Own> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let time = |column| row.get::<_, Option<i64>>(column).map(|t| t.map(Timestamp));
        let (start, end) = (time(1)?, time(2)?);
        let since = time(3)?.unwrap_or(Timestamp(i64::MIN));
        let own = all.entry(row.get(0)?).or_default();
        own.windows.push((since, Window { start, end }));
        for at in [Some(since), start, end].into_iter().flatten() {
            own.moved.insert(at.0, (0, 0));
        }
    }
    Ok(all)
}

/// Adds the entries up. Those of transactions up to a number count as one at its end.
fn read(
    connection: &Connection,
    booked_after: i64,
    all: &mut BTreeMap<i64, Own>,
) -> Result<(), Error> {
    let sql = "SELECT coalesce(max(at_recorded), 0) FROM tx WHERE id <= ?1";
    let before: i64 = connection.query_row(sql, [booked_after], |r| r.get(0))?;
    // A correction of an expiry for a later charge belongs to the charge.
    let sql =
        "SELECT e.allocation, e.tx, max(t.at_effective, coalesce(c.at_effective, t.at_effective)),
                   e.delta_amount, e.delta_active
               FROM entry e JOIN tx t ON t.id = e.tx LEFT JOIN tx c ON c.id = t.corrects
               WHERE e.allocation IS NOT NULL ORDER BY e.id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Some(own) = all.get_mut(&row.get(0)?) else {
            continue;
        };
        let (tx, at): (i64, i64) = (row.get(1)?, row.get(2)?);
        own.first = own.first.or(Some((tx, Timestamp(at))));
        let at = if tx <= booked_after { before } else { at };
        let (amount, active): (i64, i64) = (row.get(3)?, row.get(4)?);
        let from = own.moved.range(..=at).next_back().map(|(from, _)| *from);
        let from = from.or_else(|| own.moved.keys().next().copied());
        if let Some(sums) = from.and_then(|from| own.moved.get_mut(&from)) {
            sums.0 = sums.0.saturating_add(amount.into());
            sums.1 = sums.1.saturating_add(active.into());
        }
    }
    Ok(())
}

impl Own {
    /// The first time at which the sum of the movements is not the balance: that time, the balance and the
    /// sum.
    fn differs(&self, now: Timestamp) -> Option<(Timestamp, i128, i128)> {
        let (mut amount, mut active) = (0_i128, 0_i128);
        for (from, (more, more_active)) in self.moved.range(..=now.0) {
            amount = amount.saturating_add(*more);
            active = active.saturating_add(*more_active);
            let at = Timestamp(*from);
            let held = self.windows.iter().rev().find(|(since, _)| *since <= at);
            let is_inside = held.is_some_and(|(_, window)| window.contains(at));
            let balance = if is_inside { amount } else { 0 };
            if active != balance {
                return Some((at, balance, active));
            }
        }
        None
    }

    /// When it was created, and when it entered its present phase; for an expired one the phase before.
    fn times(&self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let (opened, first) = self.windows.first().copied()?;
        let (mut window, mut since) = (first, opened);
        let mut phase = Phase::of(&window, opened);
        let changes = self.windows.iter().skip(1);
        let changes = changes.map(|(at, next)| (*at, Some(*next)));
        for (at, next) in changes.chain([(now, None)]) {
            // First the changes that time alone caused by then.
            if let (Phase::Future, Some(start)) = (phase, window.start.filter(|s| *s <= at)) {
                (phase, since) = (Phase::Active, start);
            }
            if phase == Phase::Active && window.is_over(at) {
                phase = Phase::Expired;
            }
            let Some(next) = next else { break };
            window = next;
            let then = Phase::of(&window, at);
            if then != phase && (phase, then) != (Phase::Active, Phase::Expired) {
                since = at;
            }
            phase = then;
        }
        Some((opened, since))
    }
}

/// The times that allocations keep are those of their windows in the journal.
fn times(
    connection: &Connection,
    booked_after: i64,
    now: Timestamp,
    all: &BTreeMap<i64, Own>,
    report: &mut Report,
) -> Result<(), Error> {
    let mut statement =
        connection.prepare("SELECT id, opened_at, since_at FROM allocation ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let is = (Timestamp(row.get(1)?), Timestamp(row.get(2)?));
        let own = all.get(&id);
        let bank = suspense_allocation();
        // Those of earlier versions were found by the entries.
        let is_new = |own: &&Own| own.first.is_some_and(|(tx, _)| tx > booked_after);
        let journal = own.filter(is_new).and_then(|own| own.times(now));
        let expected = match (journal, own.and_then(|own| own.first)) {
            // That of the bank itself was there before the journal.
            _ if id == bank.id.0 => (bank.opened, bank.since),
            (Some(expected), _) => expected,
            (None, Some((_, first))) => (first, is.1),
            (None, None) => continue,
        };
        // A cycle that was run ahead of its time begins with it.
        if is != expected && expected.0 <= now {
            let text = format!("allocation {id}: it was opened or began at another time");
            let shown =
                |(opened, since): (Timestamp, Timestamp)| format!("{} {}", opened.0, since.0);
            report.find(Finding::new("allocation", id, text).differs(shown(expected), shown(is)));
        }
    }
    Ok(())
}
