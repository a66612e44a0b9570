//! Checks scheduled reports: reports of the timer are within the finished time of their definition,
//! and a stored text has its recorded length.

use super::super::Error;
use super::{Finding, Report};
use rusqlite::Connection;

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT r.id, r.schedule, r.period,
             r.from_at < r.until_at AND (r.state = 'wanted') = (r.made_at IS NULL)
                 AND (r.state <> 'failed' OR r.person <> '')
                 AND (r.turn = 0 OR r.asked_by <> ''),
             (r.body IS NULL OR length(r.body) = r.size)
                 AND (r.plain IS NULL OR r.body IS NOT NULL),
             r.body IS NULL OR EXISTS (SELECT 1 FROM notice n WHERE n.report = r.id)
         FROM report_run r ORDER BY r.id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, name, period): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let of = format!("report {id}, {name} {period}");
        for (column, wrong) in [
            (3, "its period, order or creation time is impossible"),
            (4, "its text has another length"),
            (5, "its text is stored, but it has no recipient"),
        ] {
            if !row.get::<_, bool>(column)? {
                report.find(Finding::new("report_run", id, format!("{of}: {wrong}")));
            }
        }
    }
    Ok(())
}
