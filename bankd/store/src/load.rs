//! Rows in: exactly those that a command needs, by integer keys and unique indexes.

use super::allocation::{self, ALLOCATION, add_allocation, of_account};
use super::instance::{self, INSTANCE, with_lien};
use super::live::Live;
use super::recent::Recent;
use super::{Error, hash, load_past, load_period, load_work, refused, times, uses};
use bank_core::directory::{Bank, Directory};
use bank_core::ids::{AllocationId, Next};
use bank_core::model::{Cycle, Instance, InstanceKey};
use bank_core::need::Need;
use bank_core::time::Timestamp;
use bank_core::view::View;
use rusqlite::{Connection, OptionalExtension};

/// Boundaries journalled in one go.
const DUE_MAX: usize = 200;

/// The end of the journal.
pub(super) struct Tail {
    pub(super) hash: Vec<u8>,
    pub(super) recorded: Timestamp,
}

/// The newest transaction's hash and time; those of the bank itself before the first.
pub(super) fn tail(connection: &Connection, bank: &Bank) -> Result<Tail, Error> {
    let sql = "SELECT hash, at_recorded FROM tx ORDER BY id DESC LIMIT 1";
    let last = connection
        .query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()?;
    Ok(match last {
        Some((hash, recorded)) => Tail {
            hash,
            recorded: Timestamp(recorded),
        },
        None => Tail {
            hash: hash::first(bank),
            recorded: Timestamp(i64::MIN),
        },
    })
}

/// The numbers that new rows get.
pub(super) fn next(connection: &Connection) -> Result<Next, Error> {
    let after = |table: &str| -> Result<i64, Error> {
        let sql = format!("SELECT COALESCE(MAX(id), 0) + 1 FROM {table}");
        Ok(connection.query_row(&sql, [], |r| r.get(0))?)
    };
    Ok(Next {
        tx: after("tx")?,
        entry: after("entry")?,
        allocation: after("allocation")?,
        instance: after("instance")?,
        lien: after("lien")?,
        quote: after("quote")?,
        usage: after("usage")?,
    })
}

/// The earliest boundary there is, of rows and of cycles.
pub(super) fn next_due(
    connection: &Connection,
    directory: &Directory,
) -> Result<Option<Timestamp>, Error> {
    let first = |table: &str| -> Result<Option<i64>, Error> {
        let sql = format!("SELECT MIN(due_at) FROM {table} WHERE due_at IS NOT NULL");
        Ok(connection
            .prepare_cached(&sql)?
            .query_row([], |r| r.get(0))?)
    };
    let both = [first("instance")?, first("allocation")?];
    let of_rows = both.into_iter().flatten().map(Timestamp);
    let of_cycles = directory.next_cycle().map(|(at, _)| at);
    Ok(of_rows.chain(of_cycles).min())
}

/// The rows that a command needs.
pub(super) fn view(
    connection: &Connection,
    (recent, live): (&mut Recent, &mut Live),
    need: &Need,
    next: Next,
) -> Result<View, Error> {
    let mut view = View {
        next,
        ..View::default()
    };
    if let Some(key) = &need.instance {
        view.instances = of_key(connection, live, key)?;
        view.refused = refused::wanted(connection, need, &view)?;
    }
    uses::add(connection, need, &mut view)?;
    if let Some(id) = need.lien {
        load_work::lien(connection, id, &mut view)?;
    }
    if let Some(id) = need.use_of {
        view.instances.extend(instance::by_id(connection, id)?);
    }
    let mut accounts = need.accounts.clone();
    accounts.extend(view.instances.iter().filter_map(|i| i.account));
    accounts.sort_unstable();
    accounts.dedup();
    for account in accounts {
        let found = &mut view.allocations;
        of_account(connection, recent, account, need.ending_after, found)?;
    }
    add_portions(connection, &mut view)?;
    if need.windows {
        load_work::windows(connection, &mut view)?;
    }
    load_work::money(connection, need, &mut view)?;
    load_work::named(connection, need, &mut view)?;
    if load_past::wanted(need) {
        load_past::add(connection, recent, need, &mut view)?;
    }
    times::add(connection, need, &mut view)?;
    if need.closed {
        load_period::add(connection, need, &mut view)?;
    }
    Ok(view)
}

/// The instances of a key, the newest first.
fn of_key(
    connection: &Connection,
    live: &mut Live,
    key: &InstanceKey,
) -> Result<Vec<Instance>, Error> {
    let Some(only) = live.take(key) else {
        return instance::of_key(connection, key);
    };
    let found = vec![only];
    debug_assert_eq!(found, instance::of_key(connection, key)?, "remembered");
    Ok(found)
}

/// Objects with a boundary at or before an instant, the earliest first.
pub(super) fn due(
    connection: &Connection,
    recent: &mut Recent,
    now: Timestamp,
    next: Next,
    cycles: Vec<Cycle>,
) -> Result<Option<View>, Error> {
    let mut view = View {
        next,
        cycles,
        ..View::default()
    };
    let sql = format!(
        "SELECT {INSTANCE} FROM instance WHERE due_at IS NOT NULL AND due_at <= ?1
         ORDER BY due_at LIMIT {DUE_MAX}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([now.0])?;
    while let Some(row) = rows.next()? {
        view.instances.push(with_lien(connection, row)?);
    }
    let sql = format!(
        "SELECT {ALLOCATION} FROM allocation WHERE due_at IS NOT NULL AND due_at <= ?1
         ORDER BY due_at LIMIT {DUE_MAX}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([now.0])?;
    while let Some(row) = rows.next()? {
        view.allocations.push(allocation::read(row)?);
    }
    if view.instances.is_empty() && view.allocations.is_empty() && view.cycles.is_empty() {
        return Ok(None);
    }
    add_portions(connection, &mut view)?;
    for account in Directory::accounts_of_cycles(&view.cycles) {
        let mut own = Vec::new();
        of_account(connection, recent, account, None, &mut own)?;
        own.retain(|a| view.allocation(a.id).is_none());
        view.allocations.append(&mut own);
    }
    Ok(Some(view))
}

/// The allocations on which the liens in view hold money.
fn add_portions(connection: &Connection, view: &mut View) -> Result<(), Error> {
    let liens = view.instances.iter().filter_map(|i| i.lien.as_ref());
    let on: Vec<AllocationId> = liens
        .flat_map(|l| &l.portions)
        .map(|p| p.allocation)
        .collect();
    for id in on {
        add_allocation(connection, id, &mut view.allocations)?;
    }
    Ok(())
}
