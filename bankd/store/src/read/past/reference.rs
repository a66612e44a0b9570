//! Past reference data: users, projects and machines, and the existence of accounts.

use super::super::super::{Error, bank, choice, traces, version};
use super::cut::{AsOf, Cut};
use bank_core::directory::{Directory, Policy};
use bank_core::ids::AccountId;
use bank_core::kind::{Key, Record};
use bank_core::model::Account;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The past reference data, with the past settings that decide the payer. Other settings, and those
/// from before they were recorded, have today's values.
///
/// It counts from its recording. Data from before the journal recorded changes has its first known
/// state. The existence of accounts is known from the first day. An account that was recorded later, with
/// money that counts by then, has the state in which it is known.
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
    add_opened_later(connection, &cut, &mut directory)?;
    Ok(directory)
}

/// Adds the accounts that were recorded later than an instant, with an allocation that counts from before it,
/// and their projects.
fn add_opened_later(
    connection: &Connection,
    cut: &Cut,
    directory: &mut Directory,
) -> Result<(), Error> {
    if cut.known <= cut.whole {
        return Ok(());
    }
    // Money comes with an entry beside usage, which an index has.
    let sql = "SELECT DISTINCT a.account FROM allocation a WHERE a.opened_at <= ?1 AND EXISTS
        (SELECT 1 FROM entry e INDEXED BY entry_money WHERE e.allocation = a.id AND e.tx > ?2 AND e.tx <= ?3
             AND e.usage IS NULL AND e.delta_amount <> 0)";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((cut.at.0, cut.whole, cut.known), |row| row.get(0))?;
    let accounts: Vec<AccountId> = rows.map(|id| id.map(AccountId)).collect::<Result<_, _>>()?;
    let missing = |id: &AccountId| directory.account(*id).is_none();
    let accounts: Vec<AccountId> = accounts.into_iter().filter(missing).collect();
    if accounts.is_empty() {
        return Ok(());
    }
    let mut later = Directory::new(directory.bank.clone(), directory.policy);
    version::decoded(connection, cut.known, &mut later, |_, _| ())?;
    for account in accounts.into_iter().filter_map(|id| later.account(id)) {
        let project = account
            .only_project()
            .and_then(|name| later.any_project_named(name));
        for project in project
            .map(|own| later.lineage(own.id))
            .into_iter()
            .flatten()
        {
            let key = Key::Name(project.name.clone());
            let record = later.records.ever("project", &key);
            let is_new = directory.project(project.id).is_none();
            directory.put_records(record.filter(|_| is_new).map(|record| Record {
                deleted: false,
                ..record.clone()
            }));
        }
        // A later removal does not count at the instant.
        directory.put_account(Account {
            deleted: false,
            ..account.clone()
        });
    }
    Ok(())
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
