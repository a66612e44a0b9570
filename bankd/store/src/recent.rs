//! Allocations that were read or written last, so that the next command about their account need
//! not ask the database for them (decision note 0102).
//!
//! There is one writer, and all writes go through `append`: the cached values are those of the
//! database inside the open transaction. A rollback clears the cache.

use bank_core::ids::AccountId;
use bank_core::model::Allocation;
use std::collections::HashMap;

/// Allocations remembered at most, some 10 MB; beyond that everything is forgotten once.
const ALLOCATIONS_MAX: usize = 65_536;

/// An account with more allocations than this is read again each time, without its old ones.
const OF_ACCOUNT_MAX: usize = 64;

/// The cached state of an account.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Account<'a> {
    /// Nothing yet.
    Unknown,
    /// It has too many allocations to be remembered.
    Large,
    /// All its allocations, by number.
    All(&'a [Allocation]),
}

/// The cache.
#[derive(Default)]
pub(super) struct Recent {
    /// Every allocation of an account by number, or nothing where there are too many.
    accounts: HashMap<AccountId, Option<Vec<Allocation>>>,
    rows: usize,
}

impl Recent {
    /// The cached state of an account.
    pub(super) fn account(&self, account: AccountId) -> Account<'_> {
        match self.accounts.get(&account) {
            None => Account::Unknown,
            Some(None) => Account::Large,
            Some(Some(all)) => Account::All(all),
        }
    }

    /// Remembers all allocations of an account, or that they are too many.
    pub(super) fn keep(&mut self, account: AccountId, all: &[Allocation]) {
        if self.rows.saturating_add(all.len()) > ALLOCATIONS_MAX {
            self.forget();
        }
        let small = all.len() <= OF_ACCOUNT_MAX;
        // An account without any takes a place too.
        let rows = if small { all.len().max(1) } else { 1 };
        self.rows = self.rows.saturating_add(rows);
        self.accounts.insert(account, small.then(|| all.to_vec()));
    }

    /// Takes over an allocation that was written; new ones have the greatest number.
    pub(super) fn wrote(&mut self, allocation: &Allocation) {
        let Some(known) = self.accounts.get_mut(&allocation.account) else {
            return;
        };
        let Some(all) = known else { return };
        if let Some(own) = all.iter_mut().find(|a| a.id == allocation.id) {
            *own = *allocation;
            return;
        }
        all.push(*allocation);
        self.rows = self.rows.saturating_add(1);
        if all.len() > OF_ACCOUNT_MAX {
            *known = None;
        }
    }

    /// Clears the cache: the transaction was rolled back, or the cache is full.
    pub(super) fn forget(&mut self) {
        self.accounts.clear();
        self.rows = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core::amount::Amount;
    use bank_core::ids::AllocationId;
    use bank_core::model::Phase;
    use bank_core::time::{Timestamp, Window};

    fn allocation(id: i64, amount: i64) -> Allocation {
        Allocation {
            id: AllocationId(id),
            account: AccountId(1),
            window: Window::ALWAYS,
            opened: Timestamp(0),
            since: Timestamp(0),
            phase: Phase::Active,
            amount: Amount(amount),
            held: Amount::ZERO,
            credit_limit: Amount::ZERO,
            deposited: Amount::ZERO,
            used: Amount::ZERO,
            shadow: Amount::ZERO,
            shadow_held: Amount::ZERO,
            last_entry: None,
        }
    }

    #[test]
    fn what_was_written_is_what_is_remembered() {
        let mut recent = Recent::default();
        recent.wrote(&allocation(1, 5));
        assert_eq!(recent.account(AccountId(1)), Account::Unknown);
        recent.keep(AccountId(1), &[allocation(1, 5)]);
        recent.wrote(&allocation(1, 6));
        recent.wrote(&allocation(2, 7));
        let expected = [allocation(1, 6), allocation(2, 7)];
        assert_eq!(recent.account(AccountId(1)), Account::All(&expected));
        recent.forget();
        assert_eq!(recent.account(AccountId(1)), Account::Unknown);
    }

    #[test]
    fn an_account_that_grows_large_is_read_from_the_database() {
        let mut recent = Recent::default();
        recent.keep(AccountId(1), &[]);
        assert_eq!(recent.account(AccountId(1)), Account::All(&[]));
        for id in 1..=65 {
            recent.wrote(&allocation(id, 1));
        }
        assert_eq!(recent.account(AccountId(1)), Account::Large);
        let many: Vec<_> = (1..=65).map(|id| allocation(id, 1)).collect();
        recent.keep(AccountId(2), &many);
        assert_eq!(recent.account(AccountId(2)), Account::Large);
    }
}
