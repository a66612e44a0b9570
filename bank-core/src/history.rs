//! The later fate of entries: which are still in force, and how much of a charge can still be refunded.

use crate::amount::Amount;
use crate::effects::{Delta, Entry, EntryKind, Reshaped};
use crate::ids::{AccountId, AllocationId, EntryId, InstanceId, TxId};
use crate::kind::Record;
use crate::model::Member;
use crate::time::Timestamp;
use std::collections::BTreeSet;

/// The limit on the chain of undo, redo, and so on.
pub const UNDO_DEPTH_MAX: usize = 100;

/// A transaction that was written before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTx {
    /// Its number.
    pub id: TxId,
    /// The operation.
    pub op: String,
    /// When it counts.
    pub at_effective: Timestamp,
    /// The instance of the transaction.
    pub instance: Option<InstanceId>,
    /// The transaction that this one reverses.
    pub reverses: Option<TxId>,
    /// The transaction that is its opposite.
    pub reversed_by: Option<TxId>,
    /// Why, or what was special.
    pub reason: String,
    /// Its entries, in order.
    pub entries: Vec<Entry>,
    /// The windows and limits that it changed.
    pub reshaped: Vec<Reshaped>,
    /// What it changed of the reference data.
    pub changed: Changed,
}

/// What a transaction changed of the reference data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The records that it added, changed or removed, by kind and key.
    pub records: Vec<PastRecord>,
    /// The memberships that it ended, as they were.
    pub ended: Vec<Member>,
    /// Whether it changed other reference data that is no record: accounts, members.
    pub others: bool,
}

/// A record that a transaction changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRecord {
    /// Before it; none where the transaction added the record.
    pub before: Option<Record>,
    /// After it.
    pub after: Record,
}

/// An entry with its transaction.
pub type Placed = (TxId, Entry);

/// Whether a kind of entry bills an instance in real money.
pub fn is_charge(kind: EntryKind) -> bool {
    matches!(
        kind.word(),
        "charge" | "charge_debt" | "charge_fallback" | "late_charge"
    )
}

/// Whether a kind of entry bills an instance, in real money or as a price without money.
pub(crate) fn bills(kind: EntryKind) -> bool {
    is_charge(kind) || kind == EntryKind::ChargeNotional
}

/// The entries that no reversal in force takes back, from entries in the order of their numbers.
pub fn standing(entries: &[Placed]) -> Vec<&Placed> {
    let mut undone: BTreeSet<EntryId> = BTreeSet::new();
    let mut kept: Vec<&Placed> = Vec::new();
    for placed in entries.iter().rev() {
        let (_, entry) = placed;
        if undone.contains(&entry.id) {
            continue;
        }
        if let (EntryKind::Reverse, Some(of)) = (entry.kind, entry.takes_back) {
            undone.insert(of);
        }
        kept.push(placed);
    }
    kept.reverse();
    kept
}

/// Whether an entry gives back what was charged to another allocation, or takes such a refund back: it is new money of its
/// allocation, not less use.
pub(crate) fn is_reissued<'a>(entry: &Entry, find: impl Fn(EntryId) -> Option<&'a Entry>) -> bool {
    let mut of = entry.takes_back.and_then(&find);
    while let Some(earlier) = of {
        if earlier.allocation != entry.allocation {
            return true;
        }
        of = earlier
            .takes_back
            .filter(|id| *id < earlier.id)
            .and_then(&find);
    }
    false
}

/// The charge that a refund names. A total that falls names none, and reissued credits that a moved use leaves where they
/// are name the reversal of their refund.
pub(crate) fn refunded<'a>(
    refund: &Entry,
    entries: impl IntoIterator<Item = &'a Placed>,
) -> Option<EntryId> {
    let of = refund.takes_back?;
    let mut entries = entries.into_iter();
    let is_reversal = |(_, e): &Placed| e.id == of && e.kind == EntryKind::Reverse;
    (!entries.any(is_reversal)).then_some(of)
}

/// The transaction that took an entry back, if that reversal is in force.
pub fn taken_back_by(entries: &[Placed], id: EntryId) -> Option<TxId> {
    let kept = standing(entries);
    let by = |(_, e): &&&Placed| e.kind == EntryKind::Reverse && e.takes_back == Some(id);
    kept.iter().find(by).map(|(tx, _)| *tx)
}

/// The transactions with refunds in force of these entries, in order. Falling totals, and returns to a
/// project that a use leaves, name no charge. They are included if they gave back amounts that one of these
/// entries took.
pub fn refunds_of(entries: &[Placed], ids: &[EntryId]) -> Vec<TxId> {
    let kept = standing(entries);
    let (_, given) = given_back(&kept);
    let gave_of = |e: &Entry| {
        let of = |(refund, charge): &(EntryId, EntryId)| *refund == e.id && ids.contains(charge);
        given.iter().any(of)
    };
    let is_shadow_of = |e: &Entry| {
        let before = |r: &Entry| {
            let is_shadow = r.kind == EntryKind::ChargeNotional && ids.contains(&r.id);
            is_shadow && r.id < e.id && r.allocation == e.allocation
        };
        e.delta.shadow > 0 && kept.iter().any(|(_, r)| before(r))
    };
    let is_refund = |e: &Entry| match e.kind {
        EntryKind::Refund => match refunded(e, entries) {
            Some(of) => ids.contains(&of),
            None => !ids.contains(&e.id) && gave_of(e),
        },
        EntryKind::ChargeNotional if e.takes_back.is_none() => {
            !ids.contains(&e.id) && is_shadow_of(e)
        }
        _ => false,
    };
    let refunds = kept.iter().filter(|(_, e)| is_refund(e));
    let mut found: Vec<TxId> = refunds.map(|(tx, _)| *tx).collect();
    found.dedup();
    found
}

/// A change of an allocation's amount beside all usage.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The entry.
    pub id: EntryId,
    /// The entry that this one reverses.
    pub takes_back: Option<EntryId>,
    /// The change in minor units; below zero for a decrease.
    pub amount: i64,
}

/// The part of an allocation's amount that arrived after an instant, from all changes since then in the order
/// of their numbers: the rise of their sum from its lowest point. A change and its reversal, both later,
/// count as none (decision 0139).
pub fn came_in(changes: &[Change]) -> i128 {
    let mut later: BTreeSet<EntryId> = changes.iter().map(|c| c.id).collect();
    for change in changes.iter().rev() {
        let taken_back = change.takes_back.filter(|of| later.contains(of));
        if let Some(of) = taken_back.filter(|_| later.contains(&change.id)) {
            later.remove(&of);
            later.remove(&change.id);
        }
    }
    let (mut sum, mut lowest) = (0_i128, 0_i128);
    for change in changes.iter().filter(|c| later.contains(&c.id)) {
        sum = sum.saturating_add(change.amount.into());
        lowest = lowest.min(sum);
    }
    sum.saturating_sub(lowest)
}

/// A charge entry in force, and the part of it that was not refunded yet, in minor units.
#[derive(Clone, Copy, Debug)]
pub struct Rest<'a> {
    /// The charge.
    pub entry: &'a Entry,
    /// Zero or above.
    pub left: i64,
}

/// The rest of each charge, in the order of their numbers. A refund that names no charge, such as a falling
/// total, counts for the latest charge of its allocation.
pub fn rests(entries: &[Placed]) -> Vec<Rest<'_>> {
    given_back(&standing(entries)).0
}

/// The rests of charges that an assignment to a project takes back: all that have something left, and those of
/// `#unbilled`, which may have cost nothing. An earlier owner that got everything back has no part in it.
pub fn waiting(entries: &[Placed], suspense: Option<AccountId>) -> Vec<Rest<'_>> {
    let mut rests = rests(entries);
    rests.retain(|rest| rest.left > 0 || rest.entry.account == suspense);
    rests
}

/// [`rests`] of entries that were not taken back, with each pair of a refund and the charge that it reduced.
fn given_back<'a>(kept: &[&'a Placed]) -> (Vec<Rest<'a>>, Vec<(EntryId, EntryId)>) {
    let mut rests: Vec<Rest<'a>> = Vec::new();
    let mut given: Vec<(EntryId, EntryId)> = Vec::new();
    for (_, entry) in kept {
        if is_charge(entry.kind) {
            let left = entry.delta.amount.saturating_neg().max(0);
            rests.push(Rest { entry, left });
            continue;
        }
        if entry.kind != EntryKind::Refund {
            continue;
        }
        let mut back = entry.delta.amount;
        let of = refunded(entry, kept.iter().copied());
        let named = |r: &&mut Rest<'_>| match of {
            Some(of) => r.entry.id == of,
            None => r.entry.allocation == entry.allocation,
        };
        let mut reduce = |rest: &mut Rest<'_>| {
            let part = back.min(rest.left);
            rest.left = rest.left.saturating_sub(part);
            back = back.saturating_sub(part);
            given.extend((part > 0).then_some((entry.id, rest.entry.id)));
        };
        rests.iter_mut().rev().filter(named).for_each(&mut reduce);
        // A reissued refund that was granted again has no charge on its allocation.
        if of.is_none() {
            rests.iter_mut().rev().for_each(reduce);
        }
    }
    (rests, given)
}

/// The billed amount of entries: charges less their reversals, and less falling totals. A refund of a charge
/// does not count, or the next report of totals would bill it again (ledger.md 7).
pub fn billed(entries: &[Placed]) -> i128 {
    let mut refunds: BTreeSet<EntryId> = BTreeSet::new();
    let mut sum = 0_i128;
    for (_, entry) in entries {
        let of_refund = match entry.kind {
            EntryKind::Refund => refunded(entry, entries).is_some(),
            EntryKind::Reverse => entry.takes_back.is_some_and(|of| refunds.contains(&of)),
            _ => false,
        };
        if of_refund {
            refunds.insert(entry.id);
        } else if is_charge(entry.kind)
            || matches!(entry.kind, EntryKind::Refund | EntryKind::Reverse)
        {
            sum = sum.saturating_sub(i128::from(entry.delta.amount));
        }
    }
    sum
}

/// The payments of an allocation for an instance, less refunds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paid {
    /// For which instance.
    pub instance: InstanceId,
    /// The allocation.
    pub allocation: AllocationId,
    /// In real money.
    pub amount: Amount,
    /// In the shadow total.
    pub shadow: Amount,
}

impl Paid {
    /// Counts an entry of a charge: what it takes is paid, what it gives is given back.
    pub fn count(
        all: &mut Vec<Paid>,
        instance: InstanceId,
        allocation: Option<AllocationId>,
        delta: &Delta,
    ) {
        let Some(allocation) = allocation else { return };
        let known = all
            .iter()
            .position(|p| p.instance == instance && p.allocation == allocation);
        let mut new = Paid {
            instance,
            allocation,
            amount: Amount::ZERO,
            shadow: Amount::ZERO,
        };
        let paid = known.and_then(|at| all.get_mut(at)).unwrap_or(&mut new);
        paid.amount = Amount(paid.amount.0.saturating_sub(delta.amount));
        paid.shadow = Amount(paid.shadow.0.saturating_sub(delta.shadow));
        if known.is_none() {
            all.push(new);
        }
    }
}
