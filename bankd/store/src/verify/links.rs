//! Checks references: foreign keys, record files, the quarantine, AUDITOR's
//! values, billed windows, and the start of the proof.

use super::super::auditor::pair;
use super::super::{Error, start};
use super::{Finding, Report, hex};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Tables of the quarantine.
pub(super) const QUARANTINE: &[&str] = &["quarantine", "quarantine_total"];
/// Tables of exports.
pub(super) const EXPORTS: &[&str] = &["use_change", "swf_id"];
/// Tables of AUDITOR's API.
pub(super) const AUDITOR: &[&str] = &["auditor_record", "auditor_value"];

/// Runs a query whose rows are findings: the row id, and values for the text.
pub(super) fn each(
    connection: &Connection,
    report: &mut Report,
    table: &'static str,
    sql: &str,
    text: impl Fn(&str) -> String,
) -> Result<(), Error> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        report.find(Finding::new(table, &key, text(&key)));
    }
    Ok(())
}

/// Every reference leads to a row.
pub(super) fn references(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, id): (String, Option<i64>) = (row.get(0)?, row.get(1)?);
        let of: String = row.get(2)?;
        let id = id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        let text = format!("{table} {id}: it refers to a missing row of {of}");
        report.find(Finding::new("", "", text));
    }
    Ok(())
}

/// Each row that waits for a project is a finished use.
pub(super) fn unmapped(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT CAST(w.identity AS TEXT) FROM unmapped w
               WHERE NOT EXISTS (SELECT 1 FROM usage_identity u WHERE u.id = w.identity)";
    each(connection, report, "unmapped", sql, |id| {
        format!("finished use {id}: it waits for a project, but its row is missing")
    })
}

/// Record files are no further than there are records, and a record is about usage that there is.
pub(super) fn records(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT name FROM sink WHERE upto < 0 OR length < 0
                   OR upto > (SELECT coalesce(max(id), 0) FROM record)";
    each(connection, report, "sink", sql, |name| {
        format!("record file {name}: it is confirmed beyond the last record")
    })?;
    let sql = "SELECT CAST(r.id AS TEXT) FROM record r LEFT JOIN usage u ON u.id = r.number
               WHERE u.id IS NULL";
    each(connection, report, "record", sql, |id| {
        format!("record {id}: its usage is missing")
    })
}

/// An amended use has its change, and the numbers of names have no gaps.
pub(super) fn exports(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT CAST(u.id AS TEXT) FROM usage_identity u
               WHERE u.revision > 0 AND NOT EXISTS (SELECT 1 FROM use_change c WHERE c.identity = u.id)";
    each(connection, report, "use_change", sql, |id| {
        format!("finished use {id}: it was amended, but exports do not list it")
    })?;
    let sql = "SELECT kind FROM swf_id GROUP BY kind
               HAVING min(number) <> 1 OR max(number) <> count(*)";
    each(connection, report, "swf_id", sql, |kind| {
        format!("numbers of each {kind}: they have gaps")
    })
}

/// The transaction recorded for the removal of an account is a removal.
pub(super) fn removals(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT CAST(r.account AS TEXT) FROM removal r LEFT JOIN tx t ON t.id = r.tx
        WHERE t.id IS NULL OR EXISTS (SELECT 1 FROM presence p
            WHERE p.account = r.account AND p.tx = r.tx AND p.there = 1)
        OR EXISTS (SELECT 1 FROM presence p
            WHERE p.account = r.account AND p.tx > r.tx AND p.there = 0)";
    each(connection, report, "removal", sql, |account| {
        format!("account {account}: its removal is recorded with another transaction")
    })
}

/// The quarantine matches its totals.
pub(super) fn quarantine(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT t.held, t.bytes, (SELECT count(*) FROM quarantine),
                   (SELECT coalesce(sum(length(body)), 0) FROM quarantine),
                   (SELECT coalesce(sum(bytes), 0) FROM quarantine)
               FROM quarantine_total t WHERE t.id = 1";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else {
        let text = "quarantine: its totals are missing".to_owned();
        report.find(Finding::new("quarantine_total", 1, text));
        return Ok(());
    };
    let expected: (i64, i64) = (row.get(0)?, row.get(1)?);
    let is: (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
    if (is.0, is.1) != expected || is.1 != is.2 {
        let text = "quarantine: its totals differ from its contents".to_owned();
        let show = |rows: i64, bytes: i64| format!("{rows} lines of {bytes} bytes");
        let finding = Finding::new("quarantine_total", 1, text);
        report.find(finding.differs(show(is.0, is.1), show(expected.0, expected.1)));
    }
    Ok(())
}

/// Values of AUDITOR's records lead to records with their end.
pub(super) fn auditor(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT CAST(v.record AS TEXT) FROM auditor_value v
        LEFT JOIN auditor_record r ON r.id = v.record WHERE r.end_at IS NOT v.end_at";
    each(connection, report, "auditor_value", sql, |record| {
        format!("record {record} of AUDITOR: its values have another end")
    })?;
    let mut values = connection
        .prepare("SELECT 1 FROM auditor_value WHERE pair = ?1 AND end_at = ?2 AND record = ?3")?;
    let mut statement = connection.prepare("SELECT id, end_at, head FROM auditor_record")?;
    let mut rows = statement.query([])?;
    let mut expected = 0_i64;
    while let Some(row) = rows.next()? {
        let (id, end): (i64, i64) = (row.get(0)?, row.get(1)?);
        for pair in pairs(row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?) {
            expected = expected.saturating_add(1);
            if !values.exists((pair, end, id))? {
                let text = format!("record {id} of AUDITOR: one of its values is missing");
                report.find(Finding::new("auditor_value", id, text));
            }
        }
    }
    let sql = "SELECT count(*) FROM auditor_value";
    let found: i64 = connection.query_row(sql, [], |r| r.get(0))?;
    if found != expected {
        let text = "records of AUDITOR: some values have no record".to_owned();
        report.find(Finding::new("auditor_value", "all", text).differs(expected, found));
    }
    Ok(())
}

/// The numbers of the values in a record's text, each once; none where it cannot be read, which its
/// seal finds.
fn pairs(head: &str) -> BTreeSet<i64> {
    let whole = serde_json::from_str(&format!("{head}}}"));
    let whole: serde_json::Value = whole.unwrap_or_default();
    let meta = whole.get("meta").and_then(serde_json::Value::as_object);
    let values = meta.into_iter().flatten().flat_map(|(key, values)| {
        let values = values.as_array().into_iter().flatten();
        values.filter_map(move |value| Some(pair(key, value.as_str()?)))
    });
    values.collect()
}

/// No stretch of time is billed twice for one instance.
pub(super) fn windows(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT DISTINCT CAST(instance AS TEXT) FROM (
            SELECT instance, start_at, end_at, lag(end_at) OVER
                (PARTITION BY instance ORDER BY start_at) AS before FROM billed_window)
        WHERE end_at <= start_at OR before > start_at";
    each(connection, report, "billed_window", sql, |instance| {
        format!("instance {instance}: a stretch of time is billed twice")
    })
}

/// Time of reservations belongs to charges of its objects, and a row that takes time back has an equal one.
pub(super) fn reservation_times(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT CAST(r.tx AS TEXT) FROM reservation_time r LEFT JOIN tx t ON t.id = r.tx
        WHERE t.instance IS NOT r.instance";
    each(connection, report, "reservation_time", sql, |tx| {
        format!("transaction {tx}: it has time of a reservation, and is about another object")
    })?;
    let sql = "SELECT CAST(instance AS TEXT) FROM reservation_time
        GROUP BY instance, machine, reservation, start_at, end_at, processors, facts
        HAVING sum(CASE back WHEN 0 THEN 1 ELSE -1 END) < 0";
    each(connection, report, "reservation_time", sql, |instance| {
        format!("instance {instance}: time of a reservation is taken back that was not there")
    })
}

/// Usage from before hashes covered it is unchanged.
pub(super) fn start(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let Some(start) = start::read(connection)? else {
        let text = "start of proof: it is missing".to_owned();
        report.find(Finding::new("proof_start", 1, text));
        return Ok(());
    };
    let is = start::digest(connection, start.tx, start.booked_after)?;
    if is != start.digest {
        let text = format!(
            "start of proof: usage up to transaction {} was changed",
            start.tx
        );
        let finding = Finding::new("proof_start", 1, text);
        report.find(finding.differs(hex(&start.digest), hex(&is)));
    }
    Ok(())
}
