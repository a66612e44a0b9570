//! Rows that a command requests by name or flag: a lien by its number, billed windows, payers of a
//! job, quotes, alerts and proposals. No statement of a scheduler's commands is here.

use super::allocation::{add_allocation, came_into};
use super::read::{charges, journal};
use super::{Error, access, attention, codec, instance, lien, load_quote, numbers, partner};
use bank_core::amount::Amount;
use bank_core::effects::Delta;
use bank_core::history::Paid;
use bank_core::ids::{AllocationId, InstanceId, LienId};
use bank_core::need::Need;
use bank_core::terms::Span;
use bank_core::time::Timestamp;
use bank_core::view::View;
use rusqlite::Connection;

/// A lien, ended or not, and its instance.
pub(super) fn lien(connection: &Connection, id: LienId, view: &mut View) -> Result<(), Error> {
    let Some(found) = lien::one(connection, id)? else {
        return Ok(());
    };
    let own = instance::by_id(connection, found.instance)?;
    view.instances.extend(own);
    view.liens.push(found);
    Ok(())
}

/// The billed windows of the instances in view.
pub(super) fn windows(connection: &Connection, view: &mut View) -> Result<(), Error> {
    let sql = "SELECT start_at, end_at FROM billed_window WHERE instance = ?1 ORDER BY start_at";
    let mut statement = connection.prepare_cached(sql)?;
    for instance in &view.instances {
        let mut spans = Vec::new();
        let mut rows = statement.query([instance.id.0])?;
        while let Some(row) = rows.next()? {
            spans.push(Span {
                start: Timestamp(row.get(0)?),
                end: Timestamp(row.get(1)?),
            });
        }
        view.windows.push((instance.id, spans));
    }
    Ok(())
}

/// Adds payments of allocations, and money that they received after the usage, if a command
/// requests either.
pub(super) fn money(connection: &Connection, need: &Need, view: &mut View) -> Result<(), Error> {
    if need.paid {
        paid(connection, view)?;
    }
    match need.came_after {
        Some(at) => came_after(connection, at, view),
        None => Ok(()),
    }
}

/// Money received after an instant by the allocations in view that have no start.
fn came_after(connection: &Connection, at: Timestamp, view: &mut View) -> Result<(), Error> {
    for allocation in &view.allocations {
        if allocation.window.start.is_none() {
            let came = came_into(connection, allocation.id, at, i64::MAX)?;
            let is_later = came > Amount::ZERO;
            view.came_after
                .extend(is_later.then_some((allocation.id, came)));
        }
    }
    Ok(())
}

/// Payments of allocations for the instances in view, and those allocations: the entries of each
/// instance's usage rows, from the latest back.
fn paid(connection: &Connection, view: &mut View) -> Result<(), Error> {
    let last = numbers::last_entry(connection)?;
    let mut paid: Vec<Paid> = Vec::new();
    for instance in &view.instances {
        let mut next = instance.last_usage.map(|usage| usage.0);
        while let Some(id) = next {
            let charge = charges::one(connection, id)?.ok_or_else(|| missing(instance.id))?;
            next = charge.prev;
            let entries = journal::entries_of(connection, charge.tx, last)?;
            for entry in entries.iter().filter(|e| e.usage == Some(id)) {
                let delta = Delta {
                    amount: entry.delta_amount,
                    shadow: entry.delta_shadow,
                    ..Delta::default()
                };
                let allocation = entry.allocation.map(AllocationId);
                Paid::count(&mut paid, instance.id, allocation, &delta);
            }
        }
    }
    // By number, like every ledger: refunds are journalled in this order.
    paid.sort_by_key(|row| (row.instance, row.allocation));
    for row in &paid {
        add_allocation(connection, row.allocation, &mut view.allocations)?;
    }
    view.paid = paid;
    Ok(())
}

fn missing(instance: InstanceId) -> Error {
    codec::broken("usage.prev", instance.0)
}

/// Rows that a command asks for by a name or a flag, beside those of its use.
pub(super) fn named(connection: &Connection, need: &Need, view: &mut View) -> Result<(), Error> {
    if let Some(id) = need.allocation {
        add_allocation(connection, id, &mut view.allocations)?;
    }
    if let Some(tid) = &need.tid {
        view.quote = load_quote::by_tid(connection, tid)?;
    }
    if need.newest_quote {
        view.newest_quote = load_quote::newest_at(connection)?;
    }
    if let Some(id) = need.quote {
        view.quote = load_quote::by_id(connection, id)?;
    }
    if need.liens {
        for allocation in &view.allocations {
            lien::on(connection, allocation.id, &mut view.liens)?;
        }
    }
    if !need.topics.is_empty() || need.raised_by.is_some() {
        view.attention = attention::open_of(connection, need)?;
    }
    if let Some(id) = need.proposal {
        view.proposal = access::proposal(connection, id)?;
    }
    if let Some((person, now)) = &need.asked_by {
        view.open_requests = access::open_requests(connection, person, *now)?;
    }
    if let Some(name) = &need.partner {
        view.last_of_partner = partner::last(connection, name, false)?;
        view.has_messages = partner::is_used(connection, name)?;
    }
    if let Some(by) = &need.moved {
        view.moved = access::moved_before(connection, by)?;
    }
    if let Some(by) = &need.moved_by_proposer {
        view.moved_by_proposer = access::moved_before(connection, by)?;
    }
    Ok(())
}
