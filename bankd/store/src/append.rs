//! Effects out: the one function of the program that writes a balance, in the same database
//! transaction as the journal entries that explain it.

use super::append_correction::{write_correction, write_removal, write_reversal};
use super::append_instance::{relay_lien, write_instance, write_lien, write_windows};
use super::append_reference::write_reference;
use super::sqlite::SqliteStore;
use super::use_rows::write_uses;
use super::uses::write_shortage;
use super::version::{self, Version};
use super::{Error, access, codec, hash, partner, seal, times, traces, unmapped, uses, uuid};
use bank_core::effects::{DirectoryRow, Effects, Entry, Transaction, UsageRow};
use bank_core::ids::Next;
use bank_core::model::{Allocation, Quote};
use bank_core::time::Timestamp;
use rusqlite::{Connection, params};
use std::sync::Arc;

/// The column `prev_hash`: the hash of the row before, which need not be stored twice. Transactions of earlier versions
/// have a copy of it.
const NO_PREVIOUS: &[u8] = &[];

/// Writes the effects of a command.
pub(super) fn append(store: &mut SqliteStore, effects: &Effects) -> Result<(), Error> {
    let before = store.next;
    let was = store
        .rollups
        .before(&store.connection, before.instance, effects)?;
    // The liens before they are written.
    let mut versions = version::of_liens(&store.connection, &effects.relaid)?;
    for row in &effects.directory {
        write_reference(&store.connection, row)?;
        if let DirectoryRow::Cycle(cycle) = row {
            consider(&mut store.next_due, cycle.due());
        }
    }
    write_rows(store, effects)?;
    let liens = effects.liens.iter().chain(&effects.relaid);
    store.live.wrote(&effects.instances, liens, before.instance);
    versions.extend(version::of(&store.connection, &effects.directory)?);
    for transaction in &effects.transactions {
        let versions = std::mem::take(&mut versions);
        write_transaction(store, transaction, &versions, &effects.usages)?;
    }
    times::write(&store.connection, &effects.times)?;
    if let Some(version) = versions.first() {
        return Err(codec::unexplained(&version.kind, &version.key));
    }
    for (account, tx) in &effects.removals {
        write_removal(&store.connection, account.0, tx.0)?;
    }
    let tx = effects.transactions.first().map(|tx| tx.id.0);
    write_uses(store, &effects.uses, tx)?;
    for row in &effects.assigned {
        unmapped::give(store, row, tx)?;
    }
    if let Some(row) = &effects.returned {
        unmapped::give_back(&store.connection, row)?;
    }
    if let Some(instance) = effects.given {
        uses::give(&store.connection, instance)?;
    }
    store.rollups.after(&store.connection, effects, was)?;
    access::write(&store.connection, effects)?;
    partner::write(store, effects)?;
    for row in &effects.shortages {
        write_shortage(&store.connection, row)?;
    }
    if !effects.directory.is_empty() {
        let directory = Arc::make_mut(&mut store.directory);
        for row in &effects.directory {
            directory.put(row);
        }
    }
    store.next = effects.next;
    Ok(())
}

/// Writes the rows of allocations, instances, liens, quotes and usage.
fn write_rows(store: &mut SqliteStore, effects: &Effects) -> Result<(), Error> {
    let before = store.next;
    for allocation in &effects.allocations {
        write_allocation(&store.connection, allocation, before)?;
        if effects.reshaped.contains(&allocation.id) {
            write_shape(&store.connection, allocation)?;
        }
        store.recent.wrote(allocation);
        consider(&mut store.next_due, allocation.next_boundary());
    }
    for change in &effects.instances {
        write_instance(&store.connection, change, before)?;
        consider(&mut store.next_due, change.instance.due);
    }
    for lien in &effects.liens {
        write_lien(&store.connection, lien, before)?;
    }
    for lien in &effects.relaid {
        relay_lien(&store.connection, lien)?;
    }
    for (instance, windows) in &effects.windows {
        write_windows(&store.connection, *instance, windows)?;
    }
    for quote in &effects.quotes {
        write_quote(&store.connection, quote)?;
    }
    for usage in &effects.usages {
        write_usage(&store.connection, usage)?;
    }
    Ok(())
}

fn consider(next_due: &mut Option<Timestamp>, due: Option<Timestamp>) {
    if let Some(due) = due {
        *next_due = Some(next_due.map_or(due, |known| known.min(due)));
    }
}

/// Writes a transaction with the reference data that it changed; its hash covers its usage too.
fn write_transaction(
    store: &mut SqliteStore,
    tx: &Transaction,
    versions: &[Version],
    usages: &[UsageRow],
) -> Result<(), Error> {
    let stamp = &store.stamp;
    let hash = hash::transaction(tx, versions, usages, stamp, &store.last_hash);
    let request = uuid::bytes(&stamp.request_id);
    let key = stamp.key.as_deref().and_then(uuid::bytes);
    store
        .connection
        .prepare_cached(
            "INSERT INTO tx (id, req_id, at_effective, at_recorded, actor, client, origin, op,
                 idem_key, instance, reverses, corrects, reason, prev_hash, hash, req_uuid, key_uuid)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        )?
        .execute(params![
            tx.id.0,
            request.map_or(stamp.request_id.as_str(), |_| ""),
            tx.at_effective.0,
            stamp.now.0,
            stamp.actor,
            stamp.client,
            stamp.origin,
            tx.op,
            stamp.key.as_deref().filter(|_| key.is_none()),
            tx.instance.map(|i| i.0),
            tx.reverses.map(|t| t.0),
            tx.corrects.map(|t| t.0),
            tx.reason,
            NO_PREVIOUS,
            hash.as_slice(),
            request,
            key,
        ])?;
    for (n, entry) in (0_i64..).zip(&tx.entries) {
        write_entry(&store.connection, tx, n, entry)?;
        if let Some(of) = entry.takes_back {
            write_correction(&store.connection, entry.id.0, of.0)?;
        }
    }
    traces::write(&store.connection, tx.id, &tx.traces)?;
    version::write(&store.connection, tx.id.0, versions)?;
    if let Some(of) = tx.reverses {
        write_reversal(&store.connection, of.0, tx.id.0)?;
    }
    let place = key.as_ref().and_then(uuid::place);
    store.keyed_tx = place.map(|place| (tx.id.0, place));
    store.last_hash.clear();
    store.last_hash.extend_from_slice(&hash);
    store.last_recorded = store.stamp.now;
    Ok(())
}

fn write_entry(
    connection: &Connection,
    tx: &Transaction,
    n: i64,
    entry: &Entry,
) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO entry (id, tx, n, prev, kind, account, allocation, lien, usage,
                 delta_amount, delta_held, delta_active, delta_shadow, delta_shadow_held,
                 amount_after, held_after, project, user, machine, instance)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 ?18, ?19, ?20)",
        )?
        .execute(params![
            entry.id.0,
            tx.id.0,
            n,
            entry.prev.map(|e| e.0),
            entry.kind.word(),
            entry.account.map(|a| a.0),
            entry.allocation.map(|a| a.0),
            entry.lien.map(|l| l.0),
            entry.usage.map(|u| u.0),
            entry.delta.amount,
            entry.delta.held,
            entry.delta.active,
            entry.delta.shadow,
            entry.delta.shadow_held,
            entry.amount_after.0,
            entry.held_after.0,
            entry.project,
            entry.user,
            entry.machine,
            tx.instance.map(|i| i.0),
        ])?;
    Ok(())
}

fn write_allocation(connection: &Connection, a: &Allocation, before: Next) -> Result<(), Error> {
    let (start, end) = (a.window.start.map(|t| t.0), a.window.end.map(|t| t.0));
    let last_entry = a.last_entry.map(|e| e.0);
    if a.id.0 >= before.allocation {
        connection
            .prepare_cached(
                "INSERT INTO allocation (account, start_at, end_at, phase, amount, held,
                     credit_limit, deposited, used, shadow, shadow_held, last_entry, id,
                     opened_at, since_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                a.account.0,
                start,
                end,
                a.phase.word(),
                a.amount.0,
                a.held.0,
                a.credit_limit.0,
                a.deposited.0,
                a.used.0,
                a.shadow.0,
                a.shadow_held.0,
                last_entry,
                a.id.0,
                a.opened.0,
                a.since.0
            ])?;
        return Ok(());
    }
    // The money only: no index looks at these columns.
    connection
        .prepare_cached(
            "UPDATE allocation SET amount = ?1, held = ?2, deposited = ?3, used = ?4,
                 shadow = ?5, shadow_held = ?6, last_entry = ?7 WHERE id = ?8",
        )?
        .execute(params![
            a.amount.0,
            a.held.0,
            a.deposited.0,
            a.used.0,
            a.shadow.0,
            a.shadow_held.0,
            last_entry,
            a.id.0
        ])?;
    Ok(())
}

/// The rest of an allocation, which two indexes look at.
fn write_shape(connection: &Connection, a: &Allocation) -> Result<(), Error> {
    let (start, end) = (a.window.start.map(|t| t.0), a.window.end.map(|t| t.0));
    connection
        .prepare_cached(
            "UPDATE allocation SET start_at = ?1, end_at = ?2, phase = ?3, credit_limit = ?4,
                 since_at = ?6
             WHERE id = ?5 AND (phase <> ?3 OR credit_limit <> ?4 OR since_at <> ?6
                 OR start_at IS NOT ?1 OR end_at IS NOT ?2)",
        )?
        .execute(params![
            start,
            end,
            a.phase.word(),
            a.credit_limit.0,
            a.id.0,
            a.since.0
        ])?;
    Ok(())
}

fn write_quote(connection: &Connection, quote: &Quote) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO quote (id, tid, project, user, machine, amount, duration_s, from_at,
                 until_at, instance, uses) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (id) DO UPDATE SET instance = excluded.instance,
                 until_at = excluded.until_at, uses = excluded.uses",
        )?
        .execute(params![
            quote.id.0,
            quote.tid,
            quote.project.0,
            quote.user.map(|u| u.0),
            quote.machine.map(|m| m.0),
            quote.amount.0,
            quote.duration.0,
            quote.window.start.map(|t| t.0),
            quote.window.end.map(|t| t.0),
            quote.instance.map(|i| i.0),
            quote.uses,
        ])?;
    seal::renew(connection, "quote", &[&quote.id.0])
}

fn write_usage(connection: &Connection, usage: &UsageRow) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO usage (id, prev, instance, tx, at, charged_s, processors, amount,
                 billing, late, facts, rates_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            usage.id.0,
            usage.prev.map(|u| u.0),
            usage.instance.0,
            usage.tx.0,
            usage.at.0,
            usage.charged.0,
            usage.processors.to_string(),
            usage.amount.0,
            usage.billing.word(),
            usage.late,
            usage.facts,
            usage.rates_at.map(|t| t.0),
        ])?;
    Ok(())
}
