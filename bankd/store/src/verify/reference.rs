//! Proof of reference data by its versions, and of the places that are marked in the journal.

use super::super::{Error, version, waypoint};
use super::{Finding, Report};
use rusqlite::Connection;

/// Tables of reference data, and of its history.
pub(super) const TABLES: &[&str] = &[
    "project",
    "project_machine",
    "user",
    "user_alias",
    "machine",
    "member",
    "account",
    "account_constraint",
    "rate",
    "attribute",
    "auth_key",
    "cycle",
    "mapping",
    "hardware",
    "downtime",
    "contributor",
    "contribution",
    "partner",
    "kind_record",
    "role_grant",
    "amount_limit",
    "attention_off",
    "version",
    "origin",
];

/// Places in the journal.
pub(super) const PLACES: &[&str] = &["waypoint", "waypoint_sum", "waypoint_late"];

/// Reference data is as the journal left it.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    for text in version::check(connection)? {
        let row = text.split_once(':').map_or("", |(row, _)| row).to_owned();
        report.find(Finding::new("version", row, text));
    }
    let sql = "SELECT account FROM account_constraint GROUP BY account
               HAVING min(n) <> 0 OR max(n) <> count(*) - 1";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let account: i64 = row.get(0)?;
        let text = format!("account {account}: its lists are not numbered in their order");
        report.find(Finding::new("account_constraint", account, text));
    }
    Ok(())
}

/// Waypoints match the journal.
pub(super) fn places(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    for text in waypoint::check(connection)? {
        report.find(Finding::new("waypoint", "", text));
    }
    Ok(())
}
