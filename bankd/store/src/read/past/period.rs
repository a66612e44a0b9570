//! Entries that took effect on an allocation in a period.

use super::super::super::Error;
use super::super::money;
use super::cut::{AsOf, Cut};
use super::one::{self, Stretch};
use super::steps::Step;
use bank_core::ids::{AllocationId, TxId};
use bank_core::time::{Timestamp, Window};
use rusqlite::Connection;

/// Visits the entries of an allocation that take effect in a period `[start, end)`, as known after
/// a transaction; all of them without one. The order is undefined. The cost depends on the entries
/// of the period, not on its age.
///
/// # Errors
/// If the store fails.
pub fn movements(
    connection: &Connection,
    allocation: AllocationId,
    period: &Window,
    known_by: Option<TxId>,
    mut visit: impl FnMut(&Step),
) -> Result<(), Error> {
    let Some(today) = money::allocation(connection, allocation)? else {
        return Ok(());
    };
    let last = period
        .end
        .map_or(Timestamp::MAX, |end| Timestamp(end.0.saturating_sub(1)));
    let as_of = known_by.map_or(AsOf::effective(last), |tx| AsOf::known_by(last, tx));
    let cut = Cut::new(connection, as_of)?;
    // Entries recorded before the period took effect before it.
    let floor = match period.start {
        None => 0,
        Some(start) => {
            let before = Timestamp(start.0.saturating_sub(1));
            let place = Cut::new(connection, AsOf::recorded(before))?.whole;
            let place = one::place(connection, place)?;
            one::before(connection, allocation, place)?.map_or(0, |(entry, _)| entry)
        }
    };
    let place = one::place(connection, cut.whole)?;
    let stretch = Stretch::new(connection, &today, place)?;
    stretch.visit(connection, floor, &cut, |step| {
        if step.tx <= cut.known && period.contains(step.effective) {
            visit(step);
        }
    })
}
