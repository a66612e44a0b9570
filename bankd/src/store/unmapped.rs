//! Usage whose names are no project's: which rows of `usage_identity` wait for one, in and out.

use super::{Error, seal};
use bank_core::command::Whose;
use bank_core::directory::Directory;
use bank_core::effects::{AssignedUse, Became, UseRow};
use bank_core::need::Identity;
use bank_core::select;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;

/// The row of an identity.
macro_rules! one {
    () => {
        "(SELECT u.id FROM source s JOIN usage_identity u ON u.source = s.id
          WHERE s.name = ?1 AND u.object_id = ?2 AND u.start_at = ?3)"
    };
}

/// Notes those of the finished uses that were just written that wait for a project, and that amended
/// ones do not any more; `numbers` are those of the rows that are new. What names a project costs
/// nothing here.
pub(super) fn note(
    connection: &Connection,
    directory: &Directory,
    rows: &[UseRow],
    numbers: &[Option<i64>],
) -> Result<(), Error> {
    let mut known: HashMap<&Whose, bool> = HashMap::new();
    let mut new = connection.prepare_cached("INSERT OR IGNORE INTO unmapped VALUES (?1)")?;
    for (row, number) in rows.iter().zip(numbers) {
        let whose = &row.report.request.whose;
        let waits = if let Some(waits) = known.get(whose) {
            *waits
        } else {
            let waits = select::find(directory, whose).project.is_none();
            known.insert(whose, waits);
            waits
        };
        let sql = match (waits && row.became != Became::Unused, number) {
            (true, Some(number)) => {
                new.execute([number])?;
                continue;
            }
            (false, Some(_)) => continue,
            (true, None) => concat!("INSERT OR IGNORE INTO unmapped VALUES (", one!(), ")"),
            (false, None) => concat!("DELETE FROM unmapped WHERE identity = ", one!()),
        };
        let start = row.report.incarnation().0;
        let key = (&row.report.source, &row.report.request.object_id, start);
        connection.prepare_cached(sql)?.execute(key)?;
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
    let sql = concat!(
        "UPDATE usage_identity SET project = ?4, user = coalesce(?5, user),
             amount = coalesce(?6, amount), allocation = coalesce(?7, allocation),
             tx = coalesce(?8, tx)
         WHERE id = ",
        one!()
    );
    connection.prepare_cached(sql)?.execute(params![
        source,
        id,
        start.0,
        row.project,
        row.user,
        row.amount.map(|a| a.0),
        row.on.map(|a| a.0),
        tx,
    ])?;
    let sql = "SELECT u.id FROM source s JOIN usage_identity u ON u.source = s.id
               WHERE s.name = ?1 AND u.object_id = ?2 AND u.start_at = ?3";
    let mut number = connection.prepare_cached(sql)?;
    let number: Option<i64> = number
        .query_row(params![source, id, start.0], |r| r.get(0))
        .optional()?;
    if let Some(number) = number {
        seal::renew(connection, "usage_identity", &[&number])?;
    }
    let sql = concat!("DELETE FROM unmapped WHERE identity = ", one!());
    let gone = params![source, id, start.0];
    connection.prepare_cached(sql)?.execute(gone)?;
    Ok(())
}
