//! Reads earlier journal rows: one transaction with its reversals, or the charges of an instance
//! and their reversals, found along `usage.prev`. Not used on the hot path.

use super::allocation::{add_allocation, of_account};
use super::instance::{self, INSTANCE, with_lien};
use super::recent::Recent;
use super::{Error, codec, entries, lien, load_work, numbers, partner, traces, version};
use bank_core::amount::Amount;
use bank_core::decimal::Decimal;
use bank_core::effects::{Billing, Entry, EntryKind, UsageRow};
use bank_core::history::{Changed, PastTx, Placed, UNDO_DEPTH_MAX};
use bank_core::ids::{AccountId, AllocationId, InstanceId, LienId, TxId, UsageId};
use bank_core::model::{Allocation, Instance, LienState};
use bank_core::need::Need;
use bank_core::time::{Seconds, Timestamp};
use bank_core::view::View;
use rusqlite::{Connection, OptionalExtension, Row};

/// Whether a need asks for anything of this room.
pub(super) fn wanted(need: &Need) -> bool {
    let after = need.object.is_some() || need.transaction.is_some() || need.removal_of.is_some();
    after || need.history || need.whole_account || need.holders || need.holders_on.is_some()
}

/// Adds the rows that a later correction needs.
pub(super) fn add(
    connection: &Connection,
    recent: &mut Recent,
    need: &Need,
    view: &mut View,
) -> Result<(), Error> {
    if let (Some(id), true) = (need.allocation, need.whole_account) {
        let account = view.allocation(id).map(|a| a.account);
        if let Some(account) = account {
            rest_of_account(connection, recent, account, &mut view.allocations)?;
        }
    }
    if let Some(query) = &need.object {
        view.instances = query.pick(uses_of(connection, &query.object_id)?);
    }
    let mut transaction = need.transaction;
    if let Some(account) = need.removal_of {
        transaction = removal(connection, account)?;
    }
    if let Some(id) = transaction {
        add_transaction(connection, id, view)?;
        if need.windows {
            load_work::windows(connection, view)?;
        }
    }
    if need.object.is_some() || need.history || !view.past.is_empty() {
        add_history(connection, need.history_of, view)?;
    }
    let on: Vec<AllocationId> = view
        .allocations
        .iter()
        .filter(|a| {
            Some(a.account) == need.holders_on || (need.holders && Some(a.id) == need.allocation)
        })
        .map(|a| a.id)
        .collect();
    let mut liens = Vec::new();
    for allocation in on {
        lien::on(connection, allocation, &mut liens)?;
    }
    for lien in liens {
        add_holder(connection, lien.instance, view)?;
    }
    view.holders.sort_by_key(|holder| holder.id);
    Ok(())
}

/// All uses of an object's id on all machines, newest first, 1,000 at most.
fn uses_of(connection: &Connection, object_id: &str) -> Result<Vec<Instance>, Error> {
    let sql =
        format!("SELECT {INSTANCE} FROM instance WHERE object_id = ?1 ORDER BY id DESC LIMIT 1000");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([object_id])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(with_lien(connection, row)?);
    }
    Ok(found)
}

/// The allocations of an account that are not there yet.
fn rest_of_account(
    connection: &Connection,
    recent: &mut Recent,
    account: AccountId,
    found: &mut Vec<Allocation>,
) -> Result<(), Error> {
    let mut own = Vec::new();
    of_account(connection, recent, account, None, &mut own)?;
    own.retain(|a| found.iter().all(|known| known.id != a.id));
    found.extend(own);
    Ok(())
}

fn removal(connection: &Connection, account: AccountId) -> Result<Option<TxId>, Error> {
    let sql = "SELECT tx FROM removal WHERE account = ?1";
    let found = connection.query_row(sql, [account.0], |r| r.get(0));
    Ok(found.optional()?.map(TxId))
}

fn add_holder(connection: &Connection, id: InstanceId, view: &mut View) -> Result<(), Error> {
    if view.holders.iter().any(|i| i.id == id) {
        return Ok(());
    }
    let Some(instance) = instance::by_id(connection, id)? else {
        return Ok(());
    };
    let portions = instance.lien.iter().flat_map(|l| &l.portions);
    for portion in portions {
        add_allocation(connection, portion.allocation, &mut view.allocations)?;
    }
    view.holders.push(instance);
    Ok(())
}

/// A transaction, those that it reverses, and the rows that they are about.
fn add_transaction(connection: &Connection, id: TxId, view: &mut View) -> Result<(), Error> {
    let mut next = Some(id);
    while let Some(id) = next.filter(|_| view.past.len() < UNDO_DEPTH_MAX) {
        let Some(past) = past(connection, id)? else {
            break;
        };
        next = past.reverses;
        view.past.push(past);
    }
    if let Some(root) = view.past.last() {
        view.is_delivered = partner::is_delivered(connection, root.id.0)?;
    }
    let records = view
        .past
        .first()
        .into_iter()
        .flat_map(|past| &past.changed.records);
    let mut records = records.filter(|past| past.after.kind == "partner");
    if let Some(past) = records.next() {
        view.has_messages = partner::is_used(connection, past.after.name())?;
    }
    let sql = "SELECT account FROM removal WHERE tx = ?1";
    let removed = connection.query_row(sql, [id.0], |r| r.get(0)).optional()?;
    view.removed = removed.map(AccountId);
    let Some(target) = view.past.first().cloned() else {
        return Ok(());
    };
    if let Some(id) = target.instance {
        view.instances.extend(instance::by_id(connection, id)?);
        view.delivered = partner::delivered(connection, id.0)?;
    }
    for allocation in target.entries.iter().filter_map(|e| e.allocation) {
        add_allocation(connection, allocation, &mut view.allocations)?;
    }
    if target.op.ends_with("_rm") {
        let held = target.entries.iter().filter(|e| e.kind == EntryKind::Lien);
        let mut liens: Vec<LienId> = held.filter_map(|e| e.lien).collect();
        liens.dedup();
        for id in liens {
            let lien = lien::one(connection, id)?;
            if let Some(lien) = lien.filter(|l| l.state == LienState::Open) {
                add_holder(connection, lien.instance, view)?;
            }
        }
    }
    Ok(())
}

fn past(connection: &Connection, id: TxId) -> Result<Option<PastTx>, Error> {
    let sql = "SELECT t.op, t.at_effective, t.instance, t.reverses, t.reason, r.by
               FROM tx t LEFT JOIN reversal r ON r.tx = t.id WHERE t.id = ?1";
    let found = connection.query_row(sql, [id.0], |r| {
        Ok(PastTx {
            id,
            op: r.get(0)?,
            at_effective: Timestamp(r.get(1)?),
            instance: r.get::<_, Option<i64>>(2)?.map(InstanceId),
            reverses: r.get::<_, Option<i64>>(3)?.map(TxId),
            reason: r.get(4)?,
            reversed_by: r.get::<_, Option<i64>>(5)?.map(TxId),
            entries: Vec::new(),
            reshaped: Vec::new(),
            changed: Changed::default(),
        })
    });
    let Some(mut past) = found.optional()? else {
        return Ok(None);
    };
    past.entries = entries_of(connection, id, numbers::last_entry(connection)?)?;
    past.reshaped = traces::reshaped(connection, id, &past.entries)?;
    past.changed = version::changed_by(connection, id.0)?;
    Ok(Some(past))
}

fn entries_of(connection: &Connection, tx: TxId, last: i64) -> Result<Vec<Entry>, Error> {
    let start = numbers::first_entry_of(connection, tx.0, last)?;
    let mut statement = connection.prepare_cached(entries::ENTRIES)?;
    let mut rows = statement.query([start])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(0)? != tx.0 {
            break;
        }
        found.push(entries::entry(row)?);
    }
    Ok(found)
}

/// The charges of the named instance, or of the one that is in view, and their reversals.
fn add_history(
    connection: &Connection,
    named: Option<InstanceId>,
    view: &mut View,
) -> Result<(), Error> {
    let Some(own) = view.requested_instance(named) else {
        return Ok(());
    };
    let own: Instance = own.clone();
    let mut next = own.last_usage;
    while let Some(id) = next {
        let Some(row) = usage(connection, id)? else {
            break;
        };
        next = row.prev;
        view.usages.push(row);
    }
    view.usages.reverse();
    let last = numbers::last_entry(connection)?;
    let mut history: Vec<Placed> = Vec::new();
    for row in &view.usages {
        let entries = entries_of(connection, row.tx, last)?;
        let entries = entries.into_iter().filter(|e| e.usage == Some(row.id));
        history.extend(entries.map(|e| (row.tx, e)));
    }
    for allocation in history.iter().filter_map(|(_, e)| e.allocation) {
        add_allocation(connection, allocation, &mut view.allocations)?;
    }
    view.history = history;
    Ok(())
}

fn usage(connection: &Connection, id: UsageId) -> Result<Option<UsageRow>, Error> {
    let sql = "SELECT prev, instance, tx, at, charged_s, processors, amount, billing, late,
                   facts, rates_at FROM usage WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.0])?;
    rows.next()?.map(|row| usage_row(id, row)).transpose()
}

fn usage_row(id: UsageId, row: &Row<'_>) -> Result<UsageRow, Error> {
    let (processors, billing): (String, String) = (row.get(5)?, row.get(7)?);
    Ok(UsageRow {
        id,
        prev: row.get::<_, Option<i64>>(0)?.map(UsageId),
        instance: InstanceId(row.get(1)?),
        tx: TxId(row.get(2)?),
        at: Timestamp(row.get(3)?),
        charged: Seconds(row.get(4)?),
        processors: codec::word("usage.processors", &processors, Decimal::read)?,
        amount: Amount(row.get(6)?),
        billing: codec::word("usage.billing", &billing, Billing::parse)?,
        late: row.get(8)?,
        facts: row.get(9)?,
        rates_at: row.get::<_, Option<i64>>(10)?.map(Timestamp),
    })
}
