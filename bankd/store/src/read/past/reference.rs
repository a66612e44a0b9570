//! Reference data as it was: who and what there was, and whether an account was there.

use super::super::super::{Error, bank, choice, traces, version};
use super::cut::{AsOf, Cut};
use bank_core::directory::{Directory, Policy};
use bank_core::ids::AccountId;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The reference data as it was, with the settings that decide who pays as they were; others, and those of before
/// they were written down, are of today.
///
/// It counts from when it was recorded. What there was before the journal told of it is as it was
/// found then; of accounts it is known from the first day whether they were there.
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
    let told = choice::settings_at(connection, cut.whole)?;
    let policy = told.map_or(policy, |settings| settings.within(policy));
    let mut directory = Directory::new(bank::read(connection)?.bank, policy);
    version::decoded(connection, cut.whole, &mut directory, |account, is_told| {
        if let Some(there) = there.get(&account.id).filter(|_| !is_told) {
            account.deleted = !there;
        }
    })?;
    Ok(directory)
}

/// Of the accounts that came or went since the journal tells of that, whether they were there; those
/// that are not named always were.
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
