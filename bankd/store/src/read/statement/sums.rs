//! Totals of movements: by heading, by person, and by account for the check. Memory grows with
//! accounts, people and a bit for each job, never with entries.

use super::{Frame, Movement, Reading, Readings};
use bank_core::effects::EntryKind;
use bank_core::history::is_charge;
use bank_core::ids::{AccountId, InstanceId};
use std::collections::BTreeMap;

/// Maximum number of listed people or projects; the rest are combined.
const PARTS_MAX: usize = 10_000;
/// Their name.
const OTHERS: &str = "(all others)";
/// The name of people whom the caller may not see.
const HIDDEN: &str = "(not shown)";

/// The side of the statement of a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Increases.
    Credit,
    /// Decreases.
    Debit,
}

/// Under which heading movements are added up, in the order of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heading {
    /// Money that was put in.
    Deposits,
    /// From other accounts.
    TransfersIn,
    /// Given back of charges.
    Refunds,
    /// Windows that began.
    Activations,
    /// Windows of negative allocations that ended: their debt is cancelled.
    DebtsEnded,
    /// Billed.
    Charges,
    /// Money that was taken out.
    Withdrawals,
    /// To other accounts.
    TransfersOut,
    /// Windows that ended, less later charges or refunds to them.
    Expiries,
    /// Gone with an allocation.
    Deletions,
    /// From one period of a cycle into the next.
    CarriedOver,
    /// By `adjust`.
    PutRight,
    /// Opposites of transactions.
    Reversals,
}

impl Heading {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Heading::Deposits => "deposits",
            Heading::TransfersIn => "transfers_in",
            Heading::Refunds => "refunds",
            Heading::Activations => "activations",
            Heading::DebtsEnded => "debts_ended",
            Heading::Charges => "charges",
            Heading::Withdrawals => "withdrawals",
            Heading::TransfersOut => "transfers_out",
            Heading::Expiries => "expiries",
            Heading::Deletions => "deletions",
            Heading::CarriedOver => "carried_over",
            Heading::PutRight => "put_right",
            Heading::Reversals => "reversals",
        }
    }

    /// The heading of an entry; kinds without active money use the one that cannot differ. Only the
    /// end of a window can end a debt: a correction of one that is past belongs to the expiries.
    fn of(kind: EntryKind, amount: i64, is_end: bool) -> Heading {
        match kind {
            EntryKind::Expire if amount > 0 && is_end => Heading::DebtsEnded,
            EntryKind::Deposit => Heading::Deposits,
            EntryKind::TransferIn => Heading::TransfersIn,
            EntryKind::Refund => Heading::Refunds,
            EntryKind::Activate => Heading::Activations,
            EntryKind::Charge
            | EntryKind::ChargeDebt
            | EntryKind::ChargeFallback
            | EntryKind::LateCharge => Heading::Charges,
            EntryKind::Withdraw => Heading::Withdrawals,
            EntryKind::TransferOut => Heading::TransfersOut,
            EntryKind::Expire => Heading::Expiries,
            EntryKind::Delete => Heading::Deletions,
            EntryKind::CycleReset => Heading::CarriedOver,
            EntryKind::Reverse => Heading::Reversals,
            _ => Heading::PutRight,
        }
    }

    /// Its side: fixed, or by the sign of the amount if both are possible.
    fn side(self, amount: i64) -> Side {
        match self {
            Heading::Deposits
            | Heading::TransfersIn
            | Heading::Refunds
            | Heading::Activations
            | Heading::DebtsEnded => Side::Credit,
            Heading::CarriedOver | Heading::PutRight | Heading::Reversals if amount > 0 => {
                Side::Credit
            }
            _ => Side::Debit,
        }
    }
}

/// Totals of one heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The sum, signed.
    pub amount: i128,
    /// How many entries.
    pub entries: i64,
    /// How many jobs and reservations they are about.
    pub jobs: i64,
    seen: Bits,
}

/// Charges of one person, or of one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Jobs and reservations that were charged, each counted once: where it was met first, or where the last record,
    /// settlement or assignment moved it.
    pub jobs: i64,
    /// Charged, less charges that were undone: below zero where one of an earlier period was.
    pub charged: i128,
    /// Refunds and reductions by amended records, less their reversals.
    pub refunded: i128,
}

/// Movements of one account, for the check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Active money in the period.
    pub active: i128,
    /// Entries effective before the start and booked after it: the balances of the start contain
    /// them.
    pub late_opening: i128,
    /// Likewise for the end.
    pub late_closing: i128,
    /// The same for the amount held at the end.
    pub late_held: i128,
}

/// All sums of a statement.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// By side, heading, and whether it adjusts a closed period.
    pub groups: BTreeMap<(Side, bool, Heading), Group>,
    /// By user, or by project for users and machines.
    pub parts: BTreeMap<String, Part>,
    /// By account.
    pub accounts: BTreeMap<AccountId, Moved>,
    /// Entries that moved something.
    pub entries: i64,
    charged: Bits,
    /// The use that the last transactions gave something back of, and for whom.
    returned: Option<Returned>,
}

/// What was given back of a use, before it may be charged to another owner.
#[derive(Clone, Debug)]
struct Returned {
    tx: i64,
    instance: InstanceId,
    name: String,
}

impl Sums {
    /// Adds a movement of accounts; returns whether it is in the period.
    pub fn take(&mut self, frame: &Frame, movement: &Movement, is_seen: bool) -> bool {
        let own = self.accounts.entry(movement.account).or_default();
        let active = i128::from(movement.active);
        let (start, end) = (frame.period.start, frame.period.end);
        if start.is_some_and(|s| movement.at < s && movement.booked >= s) {
            own.late_opening = own.late_opening.saturating_add(active);
        }
        if end.is_some_and(|e| movement.at < e && movement.booked >= e) {
            own.late_closing = own.late_closing.saturating_add(active);
            own.late_held = own.late_held.saturating_add(movement.held.into());
        }
        if !frame.period.contains(movement.booked) {
            return false;
        }
        own.active = own.active.saturating_add(active);
        if movement.active != 0 {
            self.count(movement, movement.active);
            let user = if is_seen { &movement.user } else { HIDDEN };
            self.part(user, movement, movement.active);
        }
        true
    }

    /// Adds a use, for a statement of a user or a machine; returns whether it is in the period and
    /// moved money.
    pub fn take_use(&mut self, frame: &Frame, movement: &Movement) -> bool {
        if !frame.period.contains(movement.booked) || movement.amount == 0 {
            return false;
        }
        self.count(movement, movement.amount);
        self.part(&movement.project, movement, movement.amount);
        true
    }

    fn count(&mut self, movement: &Movement, amount: i64) {
        let heading = Heading::of(movement.kind, amount, movement.is_end);
        let key = (heading.side(amount), movement.is_adjustment(), heading);
        let group = self.groups.entry(key).or_default();
        group.amount = group.amount.saturating_add(amount.into());
        group.entries = group.entries.saturating_add(1);
        if movement.is_use && movement.instance.is_some_and(|id| group.seen.add(id)) {
            group.jobs = group.jobs.saturating_add(1);
        }
        self.entries = self.entries.saturating_add(1);
    }

    fn part(&mut self, name: &str, movement: &Movement, amount: i64) {
        let is_refund = movement.root == EntryKind::Refund;
        if !movement.is_use || !(is_refund || is_charge(movement.root)) {
            return;
        }
        let is_known = self.parts.contains_key(name);
        let name = if is_known || self.parts.len() < PARTS_MAX {
            name
        } else {
            OTHERS
        };
        self.count_job(name, movement, amount);
        let part = self.parts.entry(name.to_owned()).or_default();
        if is_refund {
            part.refunded = part.refunded.saturating_add(amount.into());
        } else {
            part.charged = part.charged.saturating_sub(amount.into());
        }
    }

    /// Counts a job with its first charge. A job that goes back from one owner and is charged to another one, in the same
    /// transaction or, as an assignment does, in the next one, leaves the former.
    fn count_job(&mut self, name: &str, movement: &Movement, amount: i64) {
        let (Some(instance), tx) = (movement.instance, movement.tx) else {
            return;
        };
        if amount > 0 {
            let name = name.to_owned();
            self.returned = Some(Returned { tx, instance, name });
        } else if amount < 0 {
            let is_of = |own: &Returned| {
                own.instance == instance && (own.tx..=own.tx.saturating_add(1)).contains(&tx)
            };
            let from = self.returned.take_if(|own| is_of(own) && own.name != name);
            let is_new = is_charge(movement.root) && self.charged.add(instance);
            if let Some(from) = from.filter(|_| !is_new) {
                self.add_jobs(&from.name, -1);
                self.add_jobs(name, 1);
            } else if is_new {
                self.add_jobs(name, 1);
            }
        }
    }

    fn add_jobs(&mut self, name: &str, more: i64) {
        let part = self.parts.entry(name.to_owned()).or_default();
        part.jobs = part.jobs.saturating_add(more).max(0);
    }

    /// The sum of one side.
    pub fn side(&self, side: Side) -> i128 {
        let own = self.groups.iter().filter(|((of, ..), _)| *of == side);
        own.map(|(_, group)| group.amount).sum()
    }

    /// An account's reading at the start, without later entries.
    pub fn opening(&self, frame: &Frame, account: AccountId) -> i128 {
        let late = self.moved(account).late_opening;
        reading(&frame.opening, account).amount - if frame.opening.is_kept { 0 } else { late }
    }

    /// An account's reading at the end, without later entries.
    pub fn closing(&self, frame: &Frame, account: AccountId) -> Reading {
        let mut reading = reading(&frame.closing, account);
        if !frame.closing.is_kept {
            let moved = self.moved(account);
            reading.amount -= moved.late_closing;
            reading.held -= moved.late_held;
        }
        reading
    }

    /// The accounts whose movements do not lead from one end to the other, with the result of the
    /// movements.
    pub fn differing<'a>(
        &'a self,
        frame: &'a Frame,
        accounts: impl IntoIterator<Item = &'a AccountId> + 'a,
    ) -> impl Iterator<Item = (AccountId, i128)> + 'a {
        let led = |id: &AccountId| {
            let led = self.opening(frame, *id) + self.moved(*id).active;
            (led != self.closing(frame, *id).amount).then_some((*id, led))
        };
        accounts.into_iter().filter_map(led)
    }

    /// Movements of an account.
    pub fn moved(&self, account: AccountId) -> Moved {
        self.accounts.get(&account).copied().unwrap_or_default()
    }
}

fn reading(readings: &Readings, account: AccountId) -> Reading {
    readings.of.get(&account).copied().unwrap_or_default()
}

/// Numbers that were met: one bit for each, from the lowest on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bits {
    first: usize,
    words: Vec<u64>,
}

impl Bits {
    /// Adds a number; returns whether it is new.
    fn add(&mut self, id: InstanceId) -> bool {
        let number = usize::try_from(id.0).unwrap_or_default();
        let (word, bit) = (number / 64, 1_u64 << (number % 64));
        if self.words.is_empty() {
            self.first = word;
        }
        if word < self.first {
            let more = self.first - word;
            self.words.splice(0..0, std::iter::repeat_n(0, more));
            self.first = word;
        }
        let at = word - self.first;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        match self.words.get_mut(at) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_once() {
        let mut bits = Bits::default();
        for (number, new) in [
            (1_000, true),
            (1_000, false),
            (3, true),
            (70_000, true),
            (3, false),
            (1_001, true),
            (64, true),
            (70_000, false),
        ] {
            assert_eq!(bits.add(InstanceId(number)), new, "{number}");
        }
    }

    #[test]
    fn headings_are_on_their_side() {
        for (kind, amount, side, word) in [
            (EntryKind::Deposit, 5, Side::Credit, "deposits"),
            (EntryKind::LateCharge, -5, Side::Debit, "charges"),
            (EntryKind::Expire, 5, Side::Debit, "expiries"),
            (EntryKind::Reverse, 5, Side::Credit, "reversals"),
            (EntryKind::Reverse, -5, Side::Debit, "reversals"),
            (EntryKind::CycleReset, -5, Side::Debit, "carried_over"),
            (EntryKind::Adjust, 5, Side::Credit, "put_right"),
        ] {
            let heading = Heading::of(kind, amount, false);
            assert_eq!((heading.side(amount), heading.word()), (side, word));
        }
        // A window ends by itself: with money, or with a debt.
        for (amount, side, word) in [
            (-5, Side::Debit, "expiries"),
            (5, Side::Credit, "debts_ended"),
        ] {
            let heading = Heading::of(EntryKind::Expire, amount, true);
            assert_eq!((heading.side(amount), heading.word()), (side, word));
        }
    }
}
