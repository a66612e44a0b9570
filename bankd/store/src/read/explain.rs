//! Why a transaction is as it is: the bank as it was before it, and which accounts were looked at in
//! which order.
//!
//! The state at the decision of a transaction is the journal up to the previous one ([`past`]). The
//! choosing rules run again over the lists, windows, settings and money of then, and the entries
//! show the amounts taken (decision note 0062). Inputs that the entries lack are recorded beside
//! them (decision note 0082). For older transactions, an amended class or quality of service has
//! its latest value, and the account of a job is inferred.

mod chosen;
mod inputs;
mod moved;

use self::inputs::{Inputs, billing};
pub use self::moved::MOVED_MAX;
use super::super::partner::{self, PartnerRow};
use super::super::{Error, numbers, times};
use super::charges::{self, Charge};
use super::jobs::{self, JobRow};
use super::journal::{self, Entry, Transaction};
use super::past::{self, AsOf};
use bank_core::directory::{Directory, Policy};
use bank_core::ids::{AccountId, AllocationId, InstanceId, TxId};
use bank_core::model::{Dimension, ObjectType};
use bank_core::select::Candidate;
use bank_core_figures::reserved::{Shares, shares};
use rusqlite::{Connection, OptionalExtension as _};
use std::collections::BTreeMap;

/// Maximum number of transactions shown for one job.
pub const JOB_MAX: usize = 200;
/// Rows of the journal that are looked at for them.
const JOB_SCAN: i64 = 1_000_000;
/// The reason of a transaction that only reverses, before the use is charged to its assigned
/// project.
pub const ASSIGNED: &str = "assigned";
/// A part of the reason of that charge.
const ASSIGNED_FROM: &str = "assigned source=";

/// A transaction, and the bank before it.
#[derive(Debug)]
pub struct Explained {
    /// The transaction.
    pub tx: Transaction,
    /// The one that it takes back.
    pub reverses: Option<i64>,
    /// The one that it corrects.
    pub corrects: Option<i64>,
    /// The one that took it back.
    pub reversed_by: Option<i64>,
    /// Its entries, in order.
    pub entries: Vec<Entry>,
    /// The charge that it made.
    pub charge: Option<Charge>,
    /// The job that it is about, as it is now.
    pub job: Option<JobRow>,
    /// Where it moved liens, the jobs of these by lien; of the first [`MOVED_MAX`].
    pub jobs: BTreeMap<i64, JobRow>,
    /// Which accounts were looked at, where it chose among them; lien by lien where it moved some.
    pub choice: Vec<Step>,
    /// Number of moved liens that are not shown.
    pub more_liens: usize,
    /// Its messages to and from partners.
    pub partners: Vec<PartnerRow>,
    /// Reference data as it was before it.
    pub then: Directory,
}

/// One allocation or account that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The lien that looked, where it was moved.
    pub lien: Option<i64>,
    /// The account.
    pub account: AccountId,
    /// The allocation; none where the account was not entered.
    pub allocation: Option<AllocationId>,
    /// Priority and distance, where the account's lists fit.
    pub candidate: Option<Candidate>,
    /// The available amount, minor units.
    pub free: i128,
    /// The amount taken, minor units; for a lien the amount held.
    pub taken: i128,
    /// The part that the job's own lien held.
    pub from_lien: i128,
    /// Why so much, or nothing.
    pub why: Why,
}

/// Why an account paid, or did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Covered by the job's lien.
    Lien,
    /// It was its turn.
    Turn,
    /// It is the account that steps in.
    Fallback,
    /// Nothing was left anywhere, and it is the first.
    Debt,
    /// No funds left; the amount is on the suspense account.
    Suspense,
    /// It is removed, and its liens move to other allocations.
    Removed,
    /// Those before it covered all.
    NotNeeded,
    /// There was nothing free on it.
    NoMoney,
    /// Its free money arrived after the usage.
    CameAfter,
    /// A charge blocked it.
    Blocked,
    /// It could not cover all that was left, and the account that steps in took the whole.
    TooLittle,
    /// Money of it is not divided, and it could not cover all that was left.
    Indivisible,
    /// It ends before the lien does.
    EndsBefore,
    /// No allocation of it has a window with the instant.
    NoWindow,
    /// This list of its does not let the request spend.
    List(Dimension),
    /// The request named another account.
    NotNamed,
    /// Unknown.
    Unrecorded,
}

/// One transaction; none where there is none of this number.
///
/// # Errors
/// If the store fails.
pub fn transaction(
    connection: &Connection,
    id: i64,
    policy: Policy,
) -> Result<Option<Explained>, Error> {
    let Some((tx, reverses, corrects)) = row(connection, id)? else {
        return Ok(None);
    };
    let sql = "SELECT by FROM reversal WHERE tx = ?1";
    let by = connection.query_row(sql, [id], |row| row.get(0));
    let reversed_by = by.optional()?;
    let last = numbers::last_entry(connection)?;
    let entries = journal::entries_of(connection, id, last)?;
    let instance = tx
        .instance
        .or_else(|| entries.iter().find_map(|e| e.instance));
    let job = match instance {
        Some(instance) => jobs::one(connection, instance)?,
        None => None,
    };
    let charge = match billing(&entries) {
        Some(usage) => charges::with_reason(connection, usage)?,
        None => None,
    };
    let charge = charge.filter(|charge| charge.tx == id).map(|charge| {
        let own = |kind: &str| entries.iter().any(|e| e.kind == kind);
        let correction = match tx.op.as_str() {
            "settle" => Some("settle"),
            "undo" => Some("reverse"),
            _ => charge.correction,
        };
        Charge {
            debt: own("charge_debt"),
            fallback: own("charge_fallback"),
            correction,
            ..charge
        }
    });
    let before = AsOf::after(TxId(id.saturating_sub(1)));
    let then = past::directory(connection, before, policy)?;
    let mut explained = Explained {
        tx,
        reverses,
        corrects,
        reversed_by,
        entries,
        charge,
        job,
        jobs: BTreeMap::new(),
        choice: Vec::new(),
        more_liens: 0,
        partners: partner::of_transaction(connection, id)?,
        then,
    };
    choose(connection, &mut explained, before)?;
    Ok(Some(explained))
}

/// Finds the allocations that a transaction considered, for each lien if it moved several.
fn choose(connection: &Connection, of: &mut Explained, before: AsOf) -> Result<(), Error> {
    if !moved::OPS.contains(&of.tx.op.as_str()) {
        if let Some(inputs) = Inputs::of(of, connection)? {
            of.choice = inputs.steps(connection, before)?;
        }
        return Ok(());
    }
    of.jobs = moved::jobs(connection, &of.entries)?;
    let liens = moved::liens(of);
    of.more_liens = liens.len().saturating_sub(MOVED_MAX);
    let mut choice = Vec::new();
    for lien in liens.into_iter().take(MOVED_MAX) {
        let Some(inputs) = moved::inputs(of, lien) else {
            continue;
        };
        let steps = inputs.steps(connection, before)?.into_iter();
        choice.extend(steps.map(|step| Step {
            lien: Some(lien),
            ..step
        }));
    }
    of.choice = choice;
    Ok(())
}

/// The transactions about a job, oldest first, and whether these are all.
///
/// # Errors
/// If the store fails.
pub fn of_job(connection: &Connection, job: &JobRow) -> Result<(Vec<i64>, bool), Error> {
    let first = numbers::first_recorded_from(connection, job.opened)?;
    let end = first.saturating_add(JOB_SCAN);
    // A transaction that moves liens has no single job.
    let sql = "SELECT id, instance IS NULL FROM tx WHERE id >= ?1 AND id < ?2 AND (instance = ?3
        OR instance IS NULL AND op IN ('account_rm', 'allocation_rm', 'undo')) ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((first, end, job.id))?;
    let mut found: Vec<i64> = Vec::new();
    let last = numbers::last_entry(connection)?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let is_own = !row.get::<_, bool>(1)? || {
            let entries = journal::entries_of(connection, id, last)?;
            moved::is_of(connection, &entries, job)?
        };
        if is_own {
            found.push(id);
        }
    }
    // Charges are linked from the latest backwards, at any distance in the journal.
    let mut next = job.last_usage;
    let mut steps = 0;
    while let Some(charge) = match next.filter(|_| steps < JOB_MAX) {
        Some(id) => charges::one(connection, id)?,
        None => None,
    } {
        found.push(charge.tx);
        next = charge.prev;
        steps += 1;
    }
    found.sort_unstable();
    found.dedup();
    let newest = numbers::last_transaction(connection)?;
    let whole = found.len() <= JOB_MAX && newest < end;
    found.truncate(JOB_MAX);
    Ok((found, whole))
}

/// The time of a reservation, and the jobs that used parts of it; none for other objects.
///
/// # Errors
/// If the store fails.
pub fn reservation(
    connection: &Connection,
    job: &JobRow,
) -> Result<Option<(Shares, Vec<JobRow>)>, Error> {
    if job.object_type != ObjectType::Reservation {
        return Ok(None);
    }
    let times = times::of(connection, &job.machine, &job.object_id)?;
    let shares = shares(&times, InstanceId(job.id));
    if shares.reserved == 0 {
        return Ok(None);
    }
    let mut jobs = Vec::new();
    for (id, _) in &shares.jobs {
        jobs.extend(jobs::one(connection, id.0)?);
    }
    Ok(Some((shares, jobs)))
}

type TxRow = (Transaction, Option<i64>, Option<i64>);

fn row(connection: &Connection, id: i64) -> Result<Option<TxRow>, Error> {
    let sql = "SELECT id, at_effective, at_recorded, actor, client, origin, op, instance, reason,
        reverses, corrects FROM tx WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some((
        journal::read_transaction(row)?,
        row.get(9)?,
        row.get(10)?,
    )))
}

#[cfg(test)]
mod tests;
