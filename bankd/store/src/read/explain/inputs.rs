//! Inputs of a choice among accounts, and the amounts that its entries took: the choice is run
//! again.

use super::super::super::{Error, choice, version};
use super::super::jobs::JobRow;
use super::super::journal::Entry;
use super::super::liens;
use super::{ASSIGNED, ASSIGNED_FROM, Explained};
use bank_core::command::Whose;
use bank_core::directory::Directory;
use bank_core::effects::EntryKind;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::{Lien, ObjectType};
use bank_core::select::{self, Candidate};
use bank_core::time::Timestamp;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// A choice among accounts, as it was asked for.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about what was asked"
)]
pub(super) struct Inputs<'a> {
    pub(super) then: &'a Directory,
    /// The transaction that chose.
    pub(super) tx: i64,
    pub(super) entries: Vec<&'a Entry>,
    /// The transaction's entries before the choice, such as the release of the replaced lien.
    pub(super) earlier: Vec<&'a Entry>,
    pub(super) payer: select::Payer,
    /// The account that pays first, regardless of the lists.
    pub(super) own: Option<Candidate>,
    /// Whether that is a guess: it was not written down.
    pub(super) is_guessed: bool,
    /// Whether the billed accounts are candidates, not those with permission to spend.
    pub(super) billed: bool,
    pub(super) shadow: bool,
    /// Whether a person assigned the usage to a project then, so that later money pays too.
    pub(super) assigned: bool,
    pub(super) at: Timestamp,
    /// Until when it must last.
    pub(super) until: Option<Timestamp>,
    /// The removed objects, if a lien is moved.
    pub(super) leaving: Option<Leaving>,
}

/// Removals of the transaction, and the parts of a lien that stay.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    /// Allocations that go, each with its account.
    pub(super) going: Vec<(AllocationId, AccountId)>,
    /// Whether all of their account goes.
    pub(super) whole: bool,
    /// The lien's holds on allocations that stay, minor units.
    pub(super) kept: BTreeMap<AllocationId, i128>,
}

impl Leaving {
    /// Whether an allocation is not considered because it is being removed.
    pub(super) fn takes(&self, id: AllocationId, account: AccountId) -> bool {
        let goes =
            |(own, of): &(AllocationId, AccountId)| *own == id || (self.whole && *of == account);
        self.going.iter().any(goes)
    }

    /// Whether an account is not considered at all.
    pub(super) fn takes_all_of(&self, account: AccountId) -> bool {
        self.whole && self.going.iter().any(|(_, of)| *of == account)
    }
}

/// The amount that entries took from one allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) allocation: AllocationId,
    pub(super) account: AccountId,
    pub(super) whole: i128,
    pub(super) from_lien: i128,
    pub(super) kind: EntryKind,
    /// The job had a lien then.
    pub(super) by_lien: bool,
}

/// The use that a transaction bills: the last one, where it takes an earlier record back first.
pub(super) fn billing(entries: &[Entry]) -> Option<i64> {
    entries.iter().filter_map(|e| e.usage).max()
}

/// Whether an entry of this kind is of a choice among accounts, and whether it bills.
pub(super) fn chooses(kind: EntryKind) -> Option<bool> {
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
        // Amounts of an earlier record of the use are reversed first, as another use.
        let usage = billing(&explained.entries);
        let is = |e: &&Entry| {
            let kind = EntryKind::parse(&e.kind).and_then(chooses);
            kind.filter(|_| e.usage == usage)
        };
        let all = || explained.entries.iter();
        let entries: Vec<&Entry> = all().filter(|e| is(e).is_some()).collect();
        // A decreasing shadow total returns to its allocation.
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

impl<'a> Inputs<'a> {
    /// The inputs of a transaction's choice; none if it made no choice, or several.
    pub(super) fn of(
        explained: &'a Explained,
        connection: &Connection,
    ) -> Result<Option<Inputs<'a>>, Error> {
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
        let recorded = choice::read(connection, explained.tx.id)?;
        let since = choice::known_since(connection)?;
        let is_guessed = recorded.is_none() && since.is_none_or(|since| explained.tx.id <= since);
        let own = match &recorded {
            _ if is_guessed && billed && was_known(connection, explained, job)? => job.account,
            Some(recorded) => recorded.own,
            None => None,
        };
        let own = own.and_then(|id| then.account(id));
        let own = own.filter(|a| !a.deleted).map(Candidate::only);
        let payer = match recorded {
            Some(recorded) => recorded.payer(),
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
        // A lien uses money available at its start, which may be in the future. A charge uses the
        // money at its effective time, whenever it is booked.
        let charge = explained.charge.as_ref().filter(|_| billed);
        let counts = charge.map_or(explained.tx.at_effective, |charge| charge.at);
        let at = lien.as_ref().map_or(counts, |l| l.start);
        let shadow = entries
            .iter()
            .any(|e| e.delta_shadow != 0 || e.delta_shadow_held != 0);
        let until = lien.map(|l| l.end).filter(|_| then.policy.require_cover);
        Ok(Some(Inputs {
            then,
            tx: explained.tx.id,
            entries,
            earlier,
            payer,
            own,
            is_guessed,
            billed,
            shadow,
            assigned: explained.tx.op == "settle" || explained.tx.reason.contains(ASSIGNED_FROM),
            at,
            until,
            leaving: None,
        }))
    }

    /// Whether the amount is held, not paid.
    pub(super) fn holds(&self) -> bool {
        !self.billed || self.leaving.is_some()
    }

    /// Whether only money from before the usage pays for it.
    pub(super) fn is_in_time(&self) -> bool {
        let may_pay_later = self.assigned || self.then.policy.later_credits_pay;
        self.billed && !self.holds() && !self.shadow && !may_pay_later
    }

    /// The amounts taken, in the order of the entries.
    pub(super) fn taken(&self) -> Vec<Taken> {
        let mut taken: Vec<Taken> = Vec::new();
        for entry in &self.entries {
            let (Some(allocation), Some(account)) = (entry.allocation, entry.account) else {
                continue;
            };
            let held = i128::from(entry.delta_held) + i128::from(entry.delta_shadow_held);
            let moved = i128::from(entry.delta_amount) + i128::from(entry.delta_shadow);
            let (whole, from_lien) = if self.holds() {
                (held, 0)
            } else {
                (-moved, -held)
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
                    by_lien: !self.holds() && entry.lien.is_some(),
                }),
            }
        }
        let kept = self.leaving.iter().flat_map(|leaving| &leaving.kept);
        for (id, kept) in kept {
            let stays = taken.iter_mut().find(|t| t.allocation == *id);
            if let Some(taken) = stays {
                taken.from_lien = (*kept).min(taken.whole);
            }
        }
        taken
    }
}

/// A lien with the end that it had when a transaction had been written.
fn lien_then(connection: &Connection, id: i64, tx: i64) -> Result<Option<Lien>, Error> {
    let lien = liens::lien(connection, id)?.map(|row| row.lien);
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
