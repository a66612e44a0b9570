//! Liens that move because their allocations are removed: each chooses other money of its project,
//! one after the other in one transaction (ledger.md 2.11).
//!
//! The properties of a job have their latest values: a transaction records the inputs of one
//! choice, and here every lien makes a choice.

use std::collections::{BTreeMap, BTreeSet};

use bank_core::command::Whose;
use bank_core::effects::EntryKind;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::ObjectType;
use bank_core::select;
use rusqlite::{Connection, OptionalExtension as _};

use super::super::jobs::{self, JobRow};
use super::super::journal::Entry;
use super::inputs::{Inputs, Leaving};
use super::{Error, Explained};

/// Maximum number of liens shown for one transaction.
pub const MOVED_MAX: usize = 100;

/// The operations that move liens away.
pub(super) const OPS: [&str; 2] = ["account_rm", "allocation_rm"];

/// The jobs of the liens that entries name, by lien: only the shown ones.
pub(super) fn jobs(
    connection: &Connection,
    entries: &[Entry],
) -> Result<BTreeMap<i64, JobRow>, Error> {
    let mut found = BTreeMap::new();
    // Each lien is given back right before the one in its place.
    let most = MOVED_MAX.saturating_mul(2);
    let mut statement = connection.prepare_cached("SELECT instance FROM lien WHERE id = ?1")?;
    for lien in entries.iter().filter_map(|e| e.lien) {
        if found.contains_key(&lien) {
            continue;
        }
        if found.len() >= most {
            break;
        }
        let instance: Option<i64> = statement.query_row([lien], |r| r.get(0)).optional()?;
        if let Some(job) = instance.map(|id| jobs::one(connection, id)).transpose()? {
            found.extend(job.map(|job| (lien, job)));
        }
    }
    Ok(found)
}

impl Explained {
    /// Leaves of the liens that were moved those of one job.
    pub fn narrow(&mut self, job: i64) {
        let jobs = &self.jobs;
        let is_own = |lien: Option<i64>| {
            let of = lien.and_then(|lien| jobs.get(&lien));
            of.is_none_or(|of| of.id == job)
        };
        self.choice.retain(|step| is_own(step.lien));
        self.entries.retain(|entry| is_own(entry.lien));
    }
}

/// Whether a transaction ended or placed a lien of a job.
pub(super) fn is_of(
    connection: &Connection,
    entries: &[Entry],
    job: &JobRow,
) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM lien WHERE id = ?1 AND instance = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for lien in entries.iter().filter_map(|e| e.lien) {
        if statement.exists((lien, job.id))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The liens that a transaction placed in place of others, in its order.
pub(super) fn liens(of: &Explained) -> Vec<i64> {
    let mut known = BTreeSet::new();
    let placed = of.entries.iter().filter(|e| is(e, EntryKind::Lien));
    let placed = placed.filter_map(|e| e.lien);
    placed.filter(|lien| known.insert(*lien)).collect()
}

/// The inputs of a moved lien's choice, from its job.
pub(super) fn inputs(of: &Explained, lien: i64) -> Option<Inputs<'_>> {
    let own = |e: &&Entry| is(e, EntryKind::Lien) && e.lien == Some(lien);
    let first = of.entries.iter().position(|e| own(&e))?;
    let (earlier, rest) = of.entries.split_at_checked(first)?;
    let entries: Vec<&Entry> = rest.iter().filter(own).collect();
    let entry = entries.first()?;
    let job = of.jobs.get(&lien)?;
    let some = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
    let whose = Whose {
        project: some(&entry.project),
        user: some(&entry.user),
        machine: entry.machine.clone(),
        for_reservation: job.object_type == ObjectType::Reservation,
    };
    let then = &of.then;
    let payer = select::find(then, &whose).knowing(then, &job.usage, &job.group);
    let shadow = entries.iter().any(|e| e.delta_shadow_held != 0);
    let leaving = leaving(of, job, earlier, &entries);
    Some(Inputs {
        then,
        tx: of.tx.id,
        entries,
        earlier: earlier.iter().collect(),
        payer,
        own: None,
        is_guessed: false,
        billed: true,
        shadow,
        assigned: false,
        at: of.tx.at_effective,
        until: None,
        leaving: Some(leaving),
    })
}

/// The previous lien's holds are released right before. A part that is held again stays; the rest
/// moves.
fn leaving(of: &Explained, job: &JobRow, earlier: &[Entry], entries: &[&Entry]) -> Leaving {
    let own = |e: &&Entry| {
        let known = e.lien.and_then(|lien| of.jobs.get(&lien));
        known.is_some_and(|known| known.id == job.id)
    };
    let released = earlier.iter().rev().take_while(own);
    let mut leaving = Leaving {
        whole: of.tx.op == "account_rm",
        ..Leaving::default()
    };
    for entry in released.filter(|e| is(e, EntryKind::LienRelease)) {
        let (Some(allocation), Some(account)) = (entry.allocation, entry.account) else {
            continue;
        };
        let back = -(i128::from(entry.delta_held) + i128::from(entry.delta_shadow_held));
        let stays = entries.iter().any(|e| e.allocation == entry.allocation);
        let id = AllocationId(allocation);
        if stays {
            leaving.kept.insert(id, back);
        } else {
            leaving.going.push((id, AccountId(account)));
        }
    }
    leaving.going.sort_unstable();
    leaving
}

fn is(entry: &Entry, kind: EntryKind) -> bool {
    entry.kind == kind.word()
}
