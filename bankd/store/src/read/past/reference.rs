//! Past reference data: users, projects and machines, and the existence of accounts.

use super::super::super::{Error, bank, choice, traces, version};
use super::cut::{AsOf, Cut};
use bank_core::directory::{Directory, Policy};
use bank_core::ids::AccountId;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The past reference data, with the past settings that decide the payer. Other settings, and those
/// from before they were recorded, have today's values.
///
/// It counts from its recording. Data from before the journal recorded changes has its first known
/// state. The existence of accounts is known from the first day.
///
/// # Errors
/// If the store fails.
pub fn directory(
    connection: &Connection,
    as_of: impl Into<AsOf>,
    policy: Policy,
) -> Result<Directory, Error> {
    let cut = Cut::new(connection, as_of.into())?;
    let there = traces::presences_at(connection, cut.at, cut.known)?;
    let recorded = choice::settings_at(connection, cut.whole)?;
    let policy = recorded.map_or(policy, |settings| settings.within(policy));
    let mut directory = Directory::new(bank::read(connection)?.bank, policy);
    version::decoded(
        connection,
        cut.whole,
        &mut directory,
        |account, is_recorded| {
            if let Some(there) = there.get(&account.id).filter(|_| !is_recorded) {
                account.deleted = !there;
            }
        },
    )?;
    Ok(directory)
}

/// Whether accounts existed, for those with a recorded creation or removal; accounts that are not
/// listed always existed.
///
/// # Errors
/// If the store fails.
pub fn accounts(
    connection: &Connection,
    as_of: impl Into<AsOf>,
) -> Result<BTreeMap<AccountId, bool>, Error> {
    let cut = Cut::new(connection, as_of.into())?;
    traces::presences_at(connection, cut.at, cut.known)
}
