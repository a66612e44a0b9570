//! Why a transaction is as it is: the bank as it was before it, and which accounts were looked at in
//! which order.
//!
//! What was known when a transaction was decided is what the journal says up to the one before it
//! ([`past`]), and the rules that chose are asked again, over lists, windows, settings and money of
//! then; what was taken is what the entries say (decision note 0062). What was asked and the entries
//! do not say is written down beside them (decision note 0082). Of transactions from before that an
//! amended class or quality of service is as last said, and which account a job had is inferred.

mod chosen;

use self::chosen::Chosen;
use super::super::{Error, choice, version};
use super::jobs::{self, Charge, JobRow};
use super::journal::{self, Entry, Transaction};
use super::past::{self, AsOf};
use bank_core::command::Whose;
use bank_core::directory::{Directory, Policy};
use bank_core::effects::EntryKind;
use bank_core::ids::{AccountId, AllocationId, TxId};
use bank_core::model::{Allocation, Dimension, Lien, ObjectType};
use bank_core::select::{self, Candidate};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

/// Transactions of one job that are told.
pub const JOB_MAX: usize = 200;
/// Rows of the journal that are looked at for them.
const JOB_SCAN: i64 = 1_000_000;
/// The reason of what only takes back, before the use is charged to the project that it got.
pub const ASSIGNED: &str = "assigned";

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
    /// Which accounts were looked at, where it chose among them.
    pub choice: Vec<Step>,
    /// Reference data as it was before it.
    pub then: Directory,
}

/// One allocation or account that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The account.
    pub account: AccountId,
    /// The allocation; none where the account was not entered.
    pub allocation: Option<AllocationId>,
    /// Priority and distance, where the account's lists fit.
    pub candidate: Option<Candidate>,
    /// What could be taken of it, minor units.
    pub free: i128,
    /// What was taken of it, minor units; for a lien what it holds.
    pub taken: i128,
    /// What of that the job's own lien held.
    pub from_lien: i128,
    /// Why so much, or nothing.
    pub why: Why,
}

/// Why an account paid, or did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The job's lien lay there.
    Lien,
    /// It was its turn.
    Turn,
    /// It is the account that steps in.
    Fallback,
    /// Nothing was left anywhere, and it is the first.
    Debt,
    /// Those before it covered all.
    NotNeeded,
    /// There was nothing free on it.
    NoMoney,
    /// A charge blocked it.
    Blocked,
    /// It could not cover all that was left, and the account that steps in took the whole.
    TooLittle,
    /// Money of it is not divided, and it could not cover all that was left.
    Indivisible,
    /// It ends before the lien does.
    EndsBefore,
    /// It has no allocation whose window holds the instant.
    NoWindow,
    /// This list of its does not let the request spend.
    List(Dimension),
    /// The request named another account.
    NotNamed,
    /// Nothing tells.
    Untold,
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
    let last = journal::last_entry(connection)?;
    let entries = journal::entries_of(connection, id, last)?;
    let instance = tx
        .instance
        .or_else(|| entries.iter().find_map(|e| e.instance));
    let job = match instance {
        Some(instance) => jobs::one(connection, instance)?,
        None => None,
    };
    let charge = match billing(&entries) {
        Some(usage) => jobs::charge_told(connection, usage)?,
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
        choice: Vec::new(),
        then,
    };
    if let Some(asked) = Asked::of(&explained, connection)? {
        explained.choice = asked.steps(connection, before)?;
    }
    Ok(Some(explained))
}

/// The transactions about a job, oldest first, and whether these are all.
///
/// # Errors
/// If the store fails.
pub fn of_job(connection: &Connection, job: &JobRow) -> Result<(Vec<i64>, bool), Error> {
    let first = journal::first_recorded_from(connection, job.opened)?;
    let end = first.saturating_add(JOB_SCAN);
    let sql = "SELECT id FROM tx WHERE id >= ?1 AND id < ?2 AND instance = ?3 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((first, end, job.id))?;
    let mut found: Vec<i64> = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(row.get(0)?);
    }
    // Charges lead back from the latest, wherever in the journal they are.
    let mut next = job.last_usage;
    let mut steps = 0;
    while let Some(charge) = match next.filter(|_| steps < JOB_MAX) {
        Some(id) => jobs::charge(connection, id)?,
        None => None,
    } {
        found.push(charge.tx);
        next = charge.prev;
        steps += 1;
    }
    found.sort_unstable();
    found.dedup();
    let newest = journal::last_transaction(connection)?;
    let whole = found.len() <= JOB_MAX && newest < end;
    found.truncate(JOB_MAX);
    Ok((found, whole))
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

/// A choice among accounts, as it was asked for.
struct Asked<'a> {
    then: &'a Directory,
    entries: Vec<&'a Entry>,
    /// What the transaction did before it chose, such as to give back the lien that is replaced.
    earlier: Vec<&'a Entry>,
    payer: select::Payer,
    /// The account that pays first, whatever the lists say.
    own: Option<Candidate>,
    /// Whether that is a guess: it was not written down.
    is_guessed: bool,
    billed: bool,
    shadow: bool,
    at: Timestamp,
    /// Until when it must last.
    until: Option<Timestamp>,
}

/// What entries took from one allocation.
#[derive(Clone, Copy, Debug)]
struct Taken {
    allocation: AllocationId,
    account: AccountId,
    whole: i128,
    from_lien: i128,
    kind: EntryKind,
    /// The job had a lien then.
    by_lien: bool,
}

/// The use that a transaction bills: the last one, where it takes an earlier record back first.
fn billing(entries: &[Entry]) -> Option<i64> {
    entries.iter().filter_map(|e| e.usage).max()
}

/// Whether an entry of this kind is of a choice among accounts, and whether it bills.
fn chooses(kind: EntryKind) -> Option<bool> {
    match kind {
        EntryKind::Lien => Some(false),
        EntryKind::Charge
        | EntryKind::ChargeDebt
        | EntryKind::ChargeFallback
        | EntryKind::ChargeNotional
        | EntryKind::LateCharge => Some(true),
        _ => None,
    }
}

/// The entries of a transaction that chose among accounts.
struct Chose<'a> {
    entries: Vec<&'a Entry>,
    earlier: Vec<&'a Entry>,
    billed: bool,
}

impl<'a> Chose<'a> {
    fn of(explained: &'a Explained) -> Option<Chose<'a>> {
        // A lien that is held again and an undone charge chose nothing, and a chunk of an import is
        // many uses.
        let ops = [
            "reserve", "create", "charge", "delete", "usage", "adjust", "settle",
        ];
        let tx = &explained.tx;
        if !ops.contains(&tx.op.as_str()) || (tx.op == "adjust" && tx.reason == ASSIGNED) {
            return None;
        }
        // What an earlier record of the use came to goes back first, as another use.
        let usage = billing(&explained.entries);
        let is = |e: &&Entry| {
            let kind = EntryKind::parse(&e.kind).and_then(chooses);
            kind.filter(|_| e.usage == usage)
        };
        let all = || explained.entries.iter();
        let entries: Vec<&Entry> = all().filter(|e| is(e).is_some()).collect();
        // A shadow total that falls goes back to where it lay.
        let shadow = entries.iter().map(|e| i128::from(e.delta_shadow));
        if shadow.sum::<i128>() > 0 {
            return None;
        }
        let billed = entries.first().and_then(is)?;
        Some(Chose {
            entries,
            earlier: all().take_while(|e| is(e).is_none()).collect(),
            billed,
        })
    }
}

impl<'a> Asked<'a> {
    fn of(explained: &'a Explained, connection: &Connection) -> Result<Option<Asked<'a>>, Error> {
        let Some(Chose {
            entries,
            earlier,
            billed,
        }) = Chose::of(explained)
        else {
            return Ok(None);
        };
        let (Some(first), Some(job)) = (entries.first(), &explained.job) else {
            return Ok(None);
        };
        let some = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
        let whose = Whose {
            project: some(&first.project),
            user: some(&first.user),
            machine: first.machine.clone(),
            for_reservation: job.object_type == ObjectType::Reservation,
        };
        let then = &explained.then;
        let told = choice::read(connection, explained.tx.id)?;
        let since = choice::known_since(connection)?;
        let is_guessed = told.is_none() && since.is_none_or(|since| explained.tx.id <= since);
        let own = match &told {
            _ if is_guessed && billed && was_known(connection, explained, job)? => job.account,
            Some(told) => told.own,
            None => None,
        };
        let own = own.and_then(|id| then.account(id));
        let own = own.filter(|a| !a.deleted).map(Candidate::only);
        let payer = match told {
            Some(told) => told.payer(),
            None if is_guessed => {
                let usage = explained.charge.as_ref().map_or(&job.usage, |c| &c.usage);
                select::find(then, &whose).knowing(then, usage, &job.group)
            }
            None => select::find(then, &whose),
        };
        let lien = match first.lien.filter(|_| !billed) {
            Some(lien) => lien_then(connection, lien, explained.tx.id)?,
            None => None,
        };
        // A lien lies on what can be spent at its start, which may be still to come.
        let at = lien.as_ref().map_or(explained.tx.at_effective, |l| l.start);
        let shadow = entries
            .iter()
            .any(|e| e.delta_shadow != 0 || e.delta_shadow_held != 0);
        let until = lien.map(|l| l.end).filter(|_| then.policy.require_cover);
        Ok(Some(Asked {
            then,
            entries,
            earlier,
            payer,
            own,
            is_guessed,
            billed,
            shadow,
            at,
            until,
        }))
    }

    fn steps(&self, connection: &Connection, before: AsOf) -> Result<Vec<Step>, Error> {
        let candidates: Vec<Candidate> = if self.billed {
            select::billable(self.then, &self.payer)
        } else {
            let user = self.payer.user.and_then(|id| self.then.user(id));
            let user = user.map_or("", |u| u.name.as_str());
            select::candidates(self.then, &self.payer, user).unwrap_or_default()
        };
        let taken = self.taken();
        let mut accounts: Vec<AccountId> = candidates.iter().map(|c| c.account).collect();
        accounts.extend(self.own.map(|c| c.account));
        accounts.extend(taken.iter().map(|t| t.account));
        accounts.sort_unstable();
        accounts.dedup();
        let mut standing: Vec<Allocation> = Vec::new();
        for account in &accounts {
            let then = past::allocations(connection, *account, before)?;
            standing.extend(then.into_iter().map(|(allocation, _)| allocation));
        }
        // Where the account that the job had then is not written down: of those that it can have been,
        // the first that leaves the least untold.
        let mut owns: Vec<Option<Candidate>> = vec![self.own];
        if self.is_guessed && self.own.is_some() {
            let paid = taken.iter().filter_map(|t| self.then.account(t.account));
            owns.extend(paid.map(|account| Some(Candidate::only(account))));
            owns.push(None);
        }
        let told = owns
            .into_iter()
            .map(|own| self.steps_with(own, &candidates, &standing, &taken));
        let untold = |steps: &Vec<Step>| steps.iter().filter(|s| s.why == Why::Untold).count();
        Ok(told.min_by_key(untold).unwrap_or_default())
    }

    /// What was looked at, where an account of the job's own pays before all others.
    fn steps_with(
        &self,
        own: Option<Candidate>,
        candidates: &[Candidate],
        standing: &[Allocation],
        taken: &[Taken],
    ) -> Vec<Step> {
        let mut candidates = candidates.to_vec();
        let own: Vec<Candidate> = own.into_iter().collect();
        let mut order = select::paying_order(&own, standing, self.at);
        let mut rest = select::paying_order(&candidates, standing, self.at);
        if self.billed && rest.is_empty() {
            candidates = select::anybody(self.then, &self.payer);
            rest = select::paying_order(&candidates, standing, self.at);
        }
        rest.retain(|id| !order.contains(id));
        order.extend(rest);
        for one in own {
            candidates.retain(|c| c.account != one.account);
            candidates.push(one);
        }
        let chosen = Chosen {
            asked: self,
            candidates,
            standing: standing.to_vec(),
            taken: taken.to_vec(),
        };
        chosen.steps(&order)
    }

    /// What was taken, in the order of the entries.
    fn taken(&self) -> Vec<Taken> {
        let mut taken: Vec<Taken> = Vec::new();
        for entry in &self.entries {
            let (Some(allocation), Some(account)) = (entry.allocation, entry.account) else {
                continue;
            };
            let held = i128::from(entry.delta_held) + i128::from(entry.delta_shadow_held);
            let moved = i128::from(entry.delta_amount) + i128::from(entry.delta_shadow);
            let (whole, from_lien) = if self.billed {
                (-moved, -held)
            } else {
                (held, 0)
            };
            let kind = EntryKind::parse(&entry.kind).unwrap_or(EntryKind::Charge);
            let allocation = AllocationId(allocation);
            let same = |t: &&mut Taken| t.allocation == allocation && t.kind == kind;
            match taken.iter_mut().find(same) {
                Some(known) => {
                    known.whole += whole;
                    known.from_lien += from_lien;
                }
                None => taken.push(Taken {
                    allocation,
                    account: AccountId(account),
                    whole,
                    from_lien,
                    kind,
                    by_lien: self.billed && entry.lien.is_some(),
                }),
            }
        }
        taken
    }
}

/// A lien with the end that it had when a transaction had been written.
fn lien_then(connection: &Connection, id: i64, tx: i64) -> Result<Option<Lien>, Error> {
    let lien = super::liens::lien(connection, id)?.map(|row| row.lien);
    let end = version::lien_end(connection, id, tx)?;
    Ok(lien.map(|lien| Lien {
        end: end.map_or(lien.end, Timestamp),
        ..lien
    }))
}

/// Whether the job had an account before the transaction: by an earlier charge, or by a lien.
fn was_known(connection: &Connection, of: &Explained, job: &JobRow) -> Result<bool, Error> {
    if of.charge.as_ref().is_some_and(|c| c.prev.is_some()) {
        return Ok(true);
    }
    let sql = "SELECT 1 FROM lien WHERE instance = ?1 AND start_at <= ?2";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.exists((job.id, of.tx.at_effective.0))?)
}

#[cfg(test)]
mod tests;
