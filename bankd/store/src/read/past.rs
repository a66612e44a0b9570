//! The bank as it was: allocations, figures, accounts, liens and reference data at an instant
//! (ledger.md 7, "as of T"; decision notes 0056 and 0057).
//!
//! Start at [`AsOf`]. Money counts from its effective time: entries recorded later with an earlier
//! effective time are included, unless the caller asks for the state known then. Reference data
//! counts from its recording. No entry takes effect after its recording. So everything recorded by
//! an instant counts, and of later entries only the few late ones. `one` follows an allocation's
//! chain between two waypoints. `whole` reads the journal between two of them once for all
//! allocations. Both add late entries. Without waypoints both are correct, and slow.

mod cut;
mod liens;
mod one;
mod period;
mod reference;
mod steps;
mod sums;
mod whole;

pub use cut::AsOf;
pub use liens::{lien, liens};
pub use period::movements;
pub use reference::{accounts, directory};
pub use steps::Step;
pub use sums::Sums;
pub use whole::whole;

pub(crate) use one::before;
pub(super) use steps::walk;
pub(crate) use whole::counted;

use self::cut::Cut;
use super::super::{Error, traces};
use super::money::{self, Figures};
use bank_core::amount::Amount;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::{Allocation, Phase};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// More accounts than this are answered by one reading of the journal for all of them.
const ONE_BY_ONE_MAX: usize = 8;
/// One entry found along its allocation costs as much as this many that are read one after the other.
const WORTH_IT: i64 = 16;
/// More entries than this are never looked for along their allocations.
const OWN_MAX: usize = 10_000;

/// The allocations of an account in their past state, by number.
///
/// # Errors
/// If the store fails.
pub fn allocations(
    connection: &Connection,
    account: AccountId,
    as_of: impl Into<AsOf>,
) -> Result<Vec<(Allocation, Phase)>, Error> {
    let cut = Cut::new(connection, as_of.into())?;
    let today = money::allocations_of(connection, account)?;
    let then = today.iter().map(|a| standing(connection, a, &cut));
    let then: Vec<Option<(Allocation, Phase)>> = then.collect::<Result<_, Error>>()?;
    Ok(then.into_iter().flatten().collect())
}

/// One allocation in its past state; none if it did not exist.
///
/// # Errors
/// If the store fails.
pub fn allocation(
    connection: &Connection,
    id: AllocationId,
    as_of: impl Into<AsOf>,
) -> Result<Option<(Allocation, Phase)>, Error> {
    let Some(today) = money::allocation(connection, id)? else {
        return Ok(None);
    };
    let cut = Cut::new(connection, as_of.into())?;
    standing(connection, &today, &cut)
}

/// The numbers of the entries of accounts from one to another, in order; none if there are more than `most`, which is
/// sooner read by going through the journal. Every entry that moves money of an account is of one of its allocations.
pub(super) fn entries_of(
    connection: &Connection,
    accounts: &BTreeSet<AccountId>,
    (first, last): (i64, i64),
    most: usize,
) -> Result<Option<Vec<i64>>, Error> {
    let mut numbers = Vec::new();
    if first > last {
        return Ok(Some(numbers));
    }
    let sql = "SELECT tx FROM entry WHERE id = ?1";
    let place = one::place(connection, connection.query_row(sql, [last], |r| r.get(0))?)?;
    for account in accounts {
        for today in money::allocations_of(connection, *account)? {
            let stretch = one::Stretch::new(connection, &today, place)?;
            if !stretch.between(connection, (first, last), most, &mut numbers)? {
                return Ok(None);
            }
        }
    }
    numbers.sort_unstable();
    Ok(Some(numbers))
}

/// How many of the entries from one to another [`entries_of`] finds sooner than a reading of all of them.
pub(super) fn worth_it(first: i64, last: i64) -> usize {
    let all = last.saturating_sub(first).div_euclid(WORTH_IT);
    usize::try_from(all).unwrap_or(0).min(OWN_MAX)
}

/// The past figures of each account, in the given order: sums over the allocations active then.
///
/// # Errors
/// If the store fails.
pub fn figures(
    connection: &Connection,
    accounts: &[AccountId],
    as_of: impl Into<AsOf>,
) -> Result<Vec<Figures>, Error> {
    let as_of = as_of.into();
    if accounts.len() <= ONE_BY_ONE_MAX {
        let of = |id: &AccountId| Ok(Figures::standing(&allocations(connection, *id, as_of)?));
        return accounts.iter().map(of).collect();
    }
    let mut by_account: BTreeMap<AccountId, Vec<(Allocation, Phase)>> = BTreeMap::new();
    for (allocation, phase) in whole(connection, as_of)? {
        let own = by_account.entry(allocation.account).or_default();
        own.push((allocation, phase));
    }
    let of = |id| Figures::standing(by_account.get(id).map_or(&[], Vec::as_slice));
    Ok(accounts.iter().map(of).collect())
}

fn standing(
    connection: &Connection,
    today: &Allocation,
    cut: &Cut,
) -> Result<Option<(Allocation, Phase)>, Error> {
    let sums = one::stood(connection, today, cut)?;
    sums.map(|sums| shaped(connection, today, sums, cut))
        .transpose()
}

/// An allocation with the sums, the window and the limit of then.
fn shaped(
    connection: &Connection,
    today: &Allocation,
    sums: Sums,
    cut: &Cut,
) -> Result<(Allocation, Phase), Error> {
    let mut then = Allocation {
        amount: Amount(sums.amount),
        held: Amount(sums.held),
        deposited: Amount(sums.deposited),
        used: Amount(sums.used),
        shadow: Amount(sums.shadow),
        shadow_held: Amount(sums.shadow_held),
        ..*today
    };
    if let Some(shape) = traces::shape_at(connection, today.id, cut.at, cut.known)? {
        then.window = shape.window;
        then.credit_limit = shape.credit_limit;
    }
    let phase = Phase::of(&then.window, cut.at);
    then.phase = phase;
    Ok((then, phase))
}
