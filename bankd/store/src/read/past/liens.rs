//! Past liens: found on the chains of the allocations that they used.
//!
//! An allocation's sums contain the amount held on it. Its chain is walked back from the instant
//! until the found liens hold as much: as far as the oldest lien with a hold at that time.

use super::super::super::{Error, numbers, version};
use super::super::journal;
use super::super::liens::{self, LienRow};
use super::super::money;
use super::cut::{AsOf, Cut};
use super::one::{self, Stretch};
use super::steps::{Step, walk};
use super::whole::whole;
use bank_core::amount::Amount;
use bank_core::effects::EntryKind;
use bank_core::ids::{AccountId, AllocationId, EntryId};
use bank_core::model::{Allocation, LienState, Portion};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, BTreeSet};

/// The hold of a lien on one allocation, and its last entry there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Part {
    /// In real money.
    held: i64,
    /// In shadow money.
    shadow_held: i64,
    /// The first and the last of its entries that were seen.
    first: i64,
    last: i64,
    kind: Option<EntryKind>,
    /// Whether an entry was seen that placed it, or held it again.
    is_placed: bool,
}

impl Part {
    fn add(&mut self, step: &Step) {
        self.held = self.held.saturating_add(step.delta.held);
        self.shadow_held = self.shadow_held.saturating_add(step.delta.shadow_held);
        // A lien that was extended is as it was placed last.
        if self.first == 0 || (step.entry < self.first && !self.is_placed) {
            self.first = step.entry;
        }
        if step.entry > self.last {
            (self.last, self.kind) = (step.entry, Some(step.kind));
        }
        self.is_placed = self.is_placed || step.kind == EntryKind::Lien;
    }

    fn sum(&self) -> i64 {
        self.held.saturating_add(self.shadow_held)
    }
}

/// The liens with holds on allocations of these accounts, or on any; by number, the newest first.
/// Their project, user and end of use have their latest values; their end and holds have the past
/// values.
///
/// # Errors
/// If the store fails.
pub fn liens(
    connection: &Connection,
    accounts: Option<&[AccountId]>,
    as_of: impl Into<AsOf>,
) -> Result<Vec<LienRow>, Error> {
    let as_of = as_of.into();
    let cut = Cut::new(connection, as_of)?;
    let standing: Vec<Allocation> = match accounts {
        None => whole(connection, as_of)?
            .into_iter()
            .map(|(a, _)| a)
            .collect(),
        Some(accounts) => {
            let mut all = Vec::new();
            for account in accounts {
                let own = super::allocations(connection, *account, as_of)?;
                all.extend(own.into_iter().map(|(a, _)| a));
            }
            all
        }
    };
    let mut found: BTreeMap<i64, Vec<(AllocationId, Part)>> = BTreeMap::new();
    for then in &standing {
        if then.held.is_zero() && then.shadow_held.is_zero() {
            continue;
        }
        for (lien, part) in holding(connection, then, &cut)? {
            if part.sum() > 0 {
                found.entry(lien).or_default().push((then.id, part));
            }
        }
    }
    let mut rows = Vec::new();
    for (lien, parts) in found.into_iter().rev() {
        if let Some(row) = liens::lien(connection, lien)? {
            rows.push(with_parts(connection, row, parts, &cut)?);
        }
    }
    Ok(rows)
}

/// One lien as it was; none where it was not there yet.
///
/// # Errors
/// If the store fails.
pub fn lien(
    connection: &Connection,
    id: i64,
    as_of: impl Into<AsOf>,
) -> Result<Option<LienRow>, Error> {
    let Some(row) = liens::lien(connection, id)? else {
        return Ok(None);
    };
    let cut = Cut::new(connection, as_of.into())?;
    let mut parts = Vec::new();
    for (allocation, first) in placed(connection, &row)? {
        let Some(today) = money::allocation(connection, allocation)? else {
            continue;
        };
        let mut own = Part::default();
        back(connection, &today, &cut, |step| {
            if step.lien == Some(id) {
                own.add(step);
            }
            step.entry > first
        })?;
        if own.last > 0 {
            parts.push((allocation, own));
        }
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let today = row.lien.state;
    let last = parts.iter().max_by_key(|(_, part)| part.last);
    let last = last.and_then(|(_, part)| part.kind);
    let holds = parts.iter().any(|(_, part)| part.sum() > 0);
    if holds {
        parts.retain(|(_, part)| part.sum() > 0);
    }
    let mut row = with_parts(connection, row, parts, &cut)?;
    row.lien.state = match last {
        _ if holds => LienState::Open,
        Some(EntryKind::LienExpire) => LienState::Expired,
        Some(EntryKind::LienReplace) => LienState::Replaced,
        Some(EntryKind::LienRelease) => LienState::Released,
        // The charge that takes the last of it settles it, unless more charges follow.
        _ if today == LienState::Settled => LienState::Settled,
        _ => LienState::Open,
    };
    Ok(Some(row))
}

/// The hold of each lien on an allocation with these sums.
fn holding(
    connection: &Connection,
    then: &Allocation,
    cut: &Cut,
) -> Result<BTreeMap<i64, Part>, Error> {
    let mut parts: BTreeMap<i64, Part> = BTreeMap::new();
    // The known total of liens whose placement was seen; it never exceeds the held amount.
    let (wanted, mut known) = ((then.held.0, then.shadow_held.0), (0_i64, 0_i64));
    let Some(today) = money::allocation(connection, then.id)? else {
        return Ok(parts);
    };
    back(connection, &today, cut, |step| {
        let Some(lien) = step.lien else { return true };
        let part = parts.entry(lien).or_default();
        let was = if part.is_placed {
            (part.held, part.shadow_held)
        } else {
            (0, 0)
        };
        part.add(step);
        if part.is_placed {
            known.0 = known.0.saturating_add(part.held.saturating_sub(was.0));
            let shadow = part.shadow_held.saturating_sub(was.1);
            known.1 = known.1.saturating_add(shadow);
        }
        known != wanted
    })?;
    Ok(parts)
}

/// Visits the entries of an allocation's chain that count: first all after the waypoint before the
/// instant, then backwards while `visit` returns true.
fn back(
    connection: &Connection,
    today: &Allocation,
    cut: &Cut,
    mut visit: impl FnMut(&Step) -> bool,
) -> Result<(), Error> {
    let place = one::place(connection, cut.whole)?;
    let base = one::before(connection, today.id, place)?;
    let floor = base.map_or(0, |(entry, _)| entry);
    let mut goes_on = true;
    Stretch::new(connection, today, place)?.visit(connection, floor, cut, |step| {
        if cut.counts(step.tx, step.effective) {
            goes_on = visit(step);
        }
    })?;
    if goes_on && floor > 0 {
        walk(connection, Some(EntryId(floor)), visit)?;
    }
    Ok(())
}

/// The allocations that a lien was placed on, each with its first entry there. A lien is placed by
/// its reserve, and by extensions after it expired, which hold money that is free then.
fn placed(connection: &Connection, row: &LienRow) -> Result<Vec<(AllocationId, i64)>, Error> {
    let last = numbers::last_entry(connection)?;
    let mut transactions = version::lien_changes(connection, row.lien.id.0)?;
    transactions.extend(first_placed(connection, row, &transactions, last)?);
    transactions.sort_unstable();
    transactions.dedup();
    let mut placed: BTreeMap<AllocationId, i64> = BTreeMap::new();
    for tx in transactions {
        for (allocation, entry) in placed_by(connection, tx, last, row.lien.id.0)? {
            placed.entry(allocation).or_insert(entry);
        }
    }
    Ok(placed.into_iter().collect())
}

/// The transaction that placed a lien first; `later` are those that may have placed it again.
fn first_placed(
    connection: &Connection,
    row: &LienRow,
    later: &[i64],
    last: i64,
) -> Result<Option<i64>, Error> {
    let sql = "SELECT opened_at FROM instance WHERE id = ?1";
    let opened = connection.query_row(sql, [row.lien.instance.0], |r| r.get(0));
    let opened = Timestamp(opened.optional()?.unwrap_or(i64::MIN));
    // A placement is recorded at the start of the lien or later, unless the lien is for later use.
    for from in [row.lien.start, opened] {
        let tx = numbers::first_recorded_from(connection, from)?;
        let first = numbers::first_entry_of(connection, tx, last)?;
        let sql = "SELECT tx FROM entry WHERE id >= ?1 AND lien = ?2 AND kind = 'lien' LIMIT 1";
        let mut statement = connection.prepare_cached(sql)?;
        let found = statement.query_row((first, row.lien.id.0), |r| r.get(0));
        if let Some(tx) = found.optional()?.filter(|tx| !later.contains(tx)) {
            return Ok(Some(tx));
        }
    }
    Ok(None)
}

fn placed_by(
    connection: &Connection,
    tx: i64,
    last: i64,
    lien: i64,
) -> Result<Vec<(AllocationId, i64)>, Error> {
    let own = journal::entries_of(connection, tx, last)?.into_iter();
    let own = own.filter(|e| e.lien == Some(lien) && e.kind == EntryKind::Lien.word());
    let mut seen = BTreeSet::new();
    let on = own.filter_map(|e| Some((AllocationId(e.allocation?), e.id)));
    Ok(on.filter(|(id, _)| seen.insert(*id)).collect())
}

/// A lien with its holds in payment order, and its end at that time.
fn with_parts(
    connection: &Connection,
    mut row: LienRow,
    mut parts: Vec<(AllocationId, Part)>,
    cut: &Cut,
) -> Result<LienRow, Error> {
    parts.sort_by_key(|(_, part)| part.first);
    row.lien.state = LienState::Open;
    row.lien.lapsed = Amount::ZERO;
    row.accounts.clear();
    let portions = parts.iter().map(|(allocation, part)| Portion {
        allocation: *allocation,
        amount: Amount(part.sum()),
    });
    row.lien.portions = portions.collect();
    for (id, _) in &parts {
        let owner = money::allocation(connection, *id)?.map(|a| a.account);
        let new = owner.filter(|id| !row.accounts.contains(id));
        row.accounts.extend(new);
    }
    if let Some(end) = version::lien_end(connection, row.lien.id.0, cut.whole)? {
        row.lien.end = Timestamp(end);
    }
    Ok(row)
}
