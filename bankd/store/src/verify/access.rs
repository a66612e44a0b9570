//! Checks proposals: each matches its transaction, and its decision matches its row.

use super::super::Error;
use super::{Finding, Report};
use rusqlite::Connection;

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    proposed(connection, report)?;
    decided(connection, report)?;
    undecided(connection, report)
}

/// The row of a proposal matches the transaction with its number, and each such transaction has a
/// row.
fn proposed(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT p.id FROM proposal p LEFT JOIN tx t ON t.id = p.id
         WHERE t.op IS NOT 'propose' OR t.reason IS NOT p.request OR t.actor IS NOT p.proposer
            OR t.client IS NOT p.client OR t.at_effective IS NOT p.at OR p.until_at <= p.at
            OR (CASE WHEN json_valid(p.request) THEN json_extract(p.request, '$.asked') END IS NOT p.asked
               AND NOT (p.asked IS NULL AND EXISTS (
                  SELECT 1 FROM tx q WHERE q.id = p.id - 1 AND q.op = 'request_pass')))
         UNION ALL
         SELECT t.id FROM tx t WHERE t.op = 'propose'
            AND NOT EXISTS (SELECT 1 FROM proposal p WHERE p.id = t.id)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let text = format!("proposal {id}: its row differs from transaction {id}");
        report.find(Finding::new("proposal", id, text));
    }
    Ok(())
}

/// An approved proposal names its transaction, which has the decider as actor and the number in its
/// reason. A rejected or withdrawn one has its transaction too.
fn decided(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT p.id, p.state FROM proposal p LEFT JOIN tx t ON t.id = p.done
         WHERE p.state = 'approved' AND (t.id IS NULL OR t.id <= p.id OR t.actor IS NOT p.decider
            OR instr(t.reason, 'proposal=' || p.id || ' proposed_by=' || p.proposer) = 0
            OR instr(t.reason, coalesce(p.asked, '')) = 0 OR instr(t.reason, p.reason) = 0)
         UNION ALL
         SELECT p.id, p.state FROM proposal p
         WHERE p.state IN ('rejected', 'withdrawn') AND NOT EXISTS (
            SELECT 1 FROM tx t WHERE t.id > p.id AND t.id = coalesce(p.done, t.id)
               AND t.op = 'reject' AND t.actor = p.decider AND t.reason = rtrim('proposal=' || p.id || ' ' || p.reason))",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, state): (i64, String) = (row.get(0)?, row.get(1)?);
        let text = format!("proposal {id}: it is {state}, but no transaction records it");
        report.find(Finding::new("proposal", id, text));
    }
    Ok(())
}

/// An open proposal has no decision.
fn undecided(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT p.id FROM proposal p WHERE p.state = 'open' AND (p.decider <> ''
            OR p.reason <> '' OR p.done IS NOT NULL OR EXISTS (
            SELECT 1 FROM tx t WHERE t.id > p.id AND (
               instr(t.reason, 'proposal=' || p.id || ' proposed_by=') > 0
               OR (t.op = 'reject' AND (t.reason = 'proposal=' || p.id
                  OR instr(t.reason, 'proposal=' || p.id || ' ') = 1)))))",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let text = format!("proposal {id}: it is open, but a decision is recorded");
        report.find(Finding::new("proposal", id, text));
    }
    Ok(())
}
