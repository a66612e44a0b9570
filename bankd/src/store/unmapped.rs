//! Usage whose names are no project's: which rows of `usage_identity` wait for one, in and out.

use super::Error;
use bank_core::command::Whose;
use bank_core::directory::Directory;
use bank_core::effects::{AssignedUse, Became, UseRow};
use bank_core::need::Identity;
use bank_core::select;
use rusqlite::{Connection, params};

const ONE: &str = "(SELECT u.id FROM source s JOIN usage_identity u ON u.source = s.id
    WHERE s.name = ?1 AND u.object_id = ?2 AND u.start_at = ?3)";

/// Notes those of the finished uses that were just written that wait for a project, and that amended
/// ones do not any more. What names a project costs nothing here.
pub(super) fn note(
    connection: &Connection,
    directory: &Directory,
    rows: &[UseRow],
) -> Result<(), Error> {
    // Those who follow one another are often for the same.
    let mut last: Option<(&Whose, bool)> = None;
    for row in rows {
        let whose = &row.report.request.whose;
        let known = last
            .filter(|(known, _)| *known == whose)
            .map(|(_, waits)| waits);
        let nobody = || select::find(directory, whose).project.is_none();
        let waits = known.unwrap_or_else(nobody);
        last = Some((whose, waits));
        let sql = match (waits && row.became != Became::Unused, row.revision) {
            (true, _) => format!("INSERT OR IGNORE INTO unmapped VALUES ({ONE})"),
            (false, 0) => continue,
            (false, _) => format!("DELETE FROM unmapped WHERE identity = {ONE}"),
        };
        let start = row.report.incarnation().0;
        let key = (&row.report.source, &row.report.request.object_id, start);
        connection.prepare_cached(&sql)?.execute(key)?;
    }
    Ok(())
}

/// Says whom a finished use is for: it does not wait any more, and its row is that of the transaction
/// which says so.
pub(super) fn give(
    connection: &Connection,
    row: &AssignedUse,
    tx: Option<i64>,
) -> Result<(), Error> {
    let Identity {
        source, id, start, ..
    } = &row.identity;
    let sql = format!(
        "UPDATE usage_identity SET project = ?4, user = coalesce(?5, user),
             amount = coalesce(?6, amount), allocation = coalesce(?7, allocation),
             tx = coalesce(?8, tx)
         WHERE id = {ONE}"
    );
    connection.prepare_cached(&sql)?.execute(params![
        source,
        id,
        start.0,
        row.project,
        row.user,
        row.amount.map(|a| a.0),
        row.on.map(|a| a.0),
        tx,
    ])?;
    let sql = format!("DELETE FROM unmapped WHERE identity = {ONE}");
    let gone = params![source, id, start.0];
    connection.prepare_cached(&sql)?.execute(gone)?;
    Ok(())
}
