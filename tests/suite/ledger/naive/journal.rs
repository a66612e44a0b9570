//! The journal of the naive reference, and everything that is added up from it.

use super::history::{Owner, Place};
use super::registered::{Change, Membership};
use super::{Allocation, Facts, Naive};
use bank_core::model::Phase;
use bank_core::time::{Timestamp, Window};

/// One entry: what changes an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: &'static str,
    pub(crate) allocation: usize,
    pub(crate) amount: i64,
    pub(crate) held: i64,
    pub(crate) active: i64,
    pub(crate) shadow: i64,
    pub(crate) shadow_held: i64,
    /// The entry that it takes back: transaction and place.
    pub(super) takes_back: Option<(usize, usize)>,
    pub(super) lien: Option<usize>,
    /// Of a charge or what takes it back: the project that it is for.
    pub(super) project: String,
    /// And its user.
    pub(super) user: String,
}

/// The window and limit of an allocation.
pub(super) type Shape = (Window, i64);

/// One transaction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tx {
    pub(crate) op: &'static str,
    pub(crate) at: Timestamp,
    pub(crate) entries: Vec<Entry>,
    pub(super) instance: Option<usize>,
    pub(super) reverses: Option<usize>,
    /// An allocation whose window or limit changed: what they were, and what they became.
    pub(super) was: Option<(usize, Shape, Shape)>,
    /// The credit limits that a deposit or its undo changed: allocation, before and after.
    pub(super) limits: Vec<(usize, i64, i64)>,
    /// What a charge added to the exact sum, and the fee in that, where a bound made of it another amount or where it has
    /// a fee.
    pub(super) exact: Option<(i128, i128)>,
    /// It charged a total or a finished use: all of it, less what was billed before.
    pub(super) is_whole: bool,
    /// The seconds of a charge beyond what can have been used.
    pub(super) disputed: i64,
    /// What an amended record took back of another project or user, real and shadow, and the owners that
    /// had the use before and afterwards.
    pub(super) went_back: Option<(i64, i64, Owner, Owner)>,
    /// The refunds that had taken a part of what a total fell by.
    pub(super) fell_into: Vec<Place>,
    /// The seconds of billed windows.
    pub(super) seconds: Vec<i64>,
    /// The quantities that a charge was priced with.
    pub(super) priced: Option<Facts>,
    /// What its usage row says: amount, seconds, in shadow.
    pub(super) usage: Option<(i64, i64, bool)>,
    /// What it changed of what is registered, the memberships that it ended, and whether it added or changed
    /// some.
    pub(super) changed: Vec<Change>,
    pub(super) ended_members: Vec<Membership>,
    pub(super) changed_members: bool,
    /// Whether it blocked an account, or cleared that.
    pub(super) changed_block: bool,
    /// The account that it removes.
    pub(super) removes: Option<usize>,
    /// Liens that it moved: what each held before, and the lien in its place.
    pub(super) moved: Vec<(Vec<(usize, i64)>, usize)>,
}

impl Naive {
    pub(super) fn begin(&mut self, op: &'static str, at: Timestamp) -> usize {
        self.journal.push(Tx {
            op,
            at,
            ..Tx::default()
        });
        self.journal.len() - 1
    }

    pub(super) fn tx(&mut self) -> &mut Tx {
        self.journal.last_mut().unwrap()
    }

    pub(super) fn enter(&mut self, entry: Entry) {
        self.tx().entries.push(entry);
    }

    /// An entry that changes an amount, with its active part: all of it, but nothing before the
    /// allocation's window (ledger.md 7).
    pub(super) fn move_amount(&mut self, kind: &'static str, allocation: usize, amount: i64) {
        let is_future = self.allocations[allocation].phase == Phase::Future;
        self.enter(Entry {
            kind,
            allocation,
            amount,
            active: if is_future { 0 } else { amount },
            ..Entry::default()
        });
    }

    /// The same where nothing may become active that is not: what goes to an expired allocation
    /// expires at once (ledger.md 2.4).
    pub(super) fn move_and_expire(&mut self, kind: &'static str, allocation: usize, amount: i64) {
        self.move_amount(kind, allocation, amount);
        self.expire_beside(allocation, amount);
    }

    pub(super) fn expire_beside(&mut self, allocation: usize, amount: i64) {
        if self.allocations[allocation].phase == Phase::Expired && amount != 0 {
            self.enter(Entry {
                kind: "expire",
                allocation,
                active: -amount,
                ..Entry::default()
            });
        }
    }

    /// Amount, held, shadow, shadow held of an allocation.
    pub(super) fn sums(&self, allocation: usize) -> [i64; 4] {
        let mut sums = [0; 4];
        let entries = self.journal.iter().flat_map(|tx| &tx.entries);
        for e in entries.filter(|e| e.allocation == allocation) {
            let deltas = [e.amount, e.held, e.shadow, e.shadow_held];
            sums.iter_mut().zip(deltas).for_each(|(s, d)| *s += d);
        }
        sums
    }

    /// Charges less refunds (ledger.md 2.5): what transactions about usage moved.
    pub(super) fn used(&self, allocation: usize) -> i64 {
        let about_usage = self.journal.iter().filter(|tx| tx.usage.is_some());
        let own = about_usage.flat_map(|tx| &tx.entries);
        let own = own.filter(|e| e.allocation == allocation && !self.is_reissued(e));
        -own.map(|e| e.amount).sum::<i64>()
    }

    /// Whether an entry gives back, or takes again, what another allocation paid.
    pub(super) fn is_reissued(&self, entry: &Entry) -> bool {
        let of = entry
            .takes_back
            .map(|(tx, at)| &self.journal[tx].entries[at]);
        of.is_some_and(|of| of.allocation != entry.allocation || self.is_reissued(of))
    }

    pub(super) fn amount(&self, allocation: usize) -> i64 {
        self.sums(allocation)[0]
    }

    /// What may still be taken: amount and credit less what liens hold.
    pub(super) fn free(&self, allocation: usize, in_shadow: bool) -> i64 {
        let [amount, held, shadow, shadow_held] = self.sums(allocation);
        let real = amount + self.allocations[allocation].limit - held;
        if in_shadow {
            real + shadow - shadow_held
        } else {
            real
        }
    }

    /// What there is without credit.
    pub(super) fn own_money(&self, allocation: usize) -> i64 {
        let [amount, held, ..] = self.sums(allocation);
        (amount - held).max(0)
    }

    /// The allocations of an account, by number.
    pub(super) fn of_account(&self, account: usize) -> Vec<usize> {
        let all = self.allocations.iter().enumerate();
        all.filter(|(_, a)| a.account == account)
            .map(|(id, _)| id)
            .collect()
    }

    /// Those that are usable now, the earliest end first.
    pub(super) fn active_of(&self, account: usize) -> Vec<usize> {
        let mut own = self.of_account(account);
        own.retain(|id| self.allocations[*id].window.contains(self.now));
        own.sort_by_key(|id| (end_of(&self.allocations[*id]), *id));
        own
    }

    /// Amount, held and credit limit of an account, over what is active now (ledger.md 2.5).
    pub(super) fn figures(&self, account: usize) -> [i64; 3] {
        let mut figures = [0; 3];
        for id in self.active_of(account) {
            let [amount, held, ..] = self.sums(id);
            let own = [amount, held, self.allocations[id].limit];
            figures.iter_mut().zip(own).for_each(|(f, o)| *f += o);
        }
        figures
    }

    pub(super) fn balance(&self, account: usize) -> i64 {
        let [amount, held, _] = self.figures(account);
        amount - held
    }

    pub(super) fn open_allocation(&mut self, account: usize, window: Window, limit: i64) -> usize {
        self.allocations.push(Allocation {
            account,
            window,
            limit,
            deposited: 0,
            phase: Phase::of(&window, self.now),
            opened: self.now,
            since: self.now,
        });
        self.allocations.len() - 1
    }

    /// The account's first allocation of this window and limit.
    pub(super) fn equal(&self, account: usize, window: Window, limit: i64) -> Option<usize> {
        let equal = |a: &Allocation| (a.account, a.window, a.limit) == (account, window, limit);
        self.allocations.iter().position(equal)
    }

    /// What came into an allocation without a start after an instant.
    pub(super) fn came_after(&self, id: usize, at: Timestamp) -> i64 {
        if self.policy.later_credits_pay || self.allocations[id].window.start.is_some() {
            return 0;
        }
        let all = self.journal.iter().enumerate();
        let later = all.filter(|(_, tx)| tx.at > at && tx.usage.is_none());
        let own = later.flat_map(|(number, tx)| {
            let entries = tx.entries.iter().enumerate();
            entries.map(move |(at, e)| ((number, at), e))
        });
        let own: Vec<(Place, &Entry)> = own
            .filter(|(_, e)| e.allocation == id && e.amount != 0)
            .collect();
        // The amount as it was after each of them, where nobody had used anything.
        let mut levels = vec![0];
        for (place, entry) in &own {
            if !is_taken_back(*place, &own) && !takes_back(*place, &own) {
                levels.push(levels[levels.len() - 1] + entry.amount);
            }
        }
        levels[levels.len() - 1] - levels.iter().min().unwrap()
    }

    /// When a charge is booked that counts from an instant: not before the allocations whose amount it
    /// changed became what they are.
    pub(super) fn booking(&self, tx: usize, at: Timestamp) -> Timestamp {
        let moved = self.journal[tx].entries.iter().filter(|e| e.amount != 0);
        let since = moved.map(|e| self.allocations[e.allocation].since);
        since.fold(at, Timestamp::max)
    }
}

/// Whether one of these entries takes another back, and is not taken back itself.
fn takes_back(place: Place, among: &[(Place, &Entry)]) -> bool {
    let own = among.iter().find(|(other, _)| *other == place);
    let of = own.and_then(|(_, e)| e.takes_back);
    let is_among = of.is_some_and(|of| among.iter().any(|(other, _)| *other == of));
    is_among && !is_taken_back(place, among)
}

/// Whether one of these entries that is not taken back itself takes this one back.
fn is_taken_back(place: Place, among: &[(Place, &Entry)]) -> bool {
    let by = among.iter().filter(|(_, e)| e.takes_back == Some(place));
    by.into_iter().any(|(by, _)| takes_back(*by, among))
}

/// When an allocation ends, as a number that sorts.
pub(super) fn end_of(allocation: &Allocation) -> i64 {
    allocation.window.end.map_or(i64::MAX, |end| end.0)
}
