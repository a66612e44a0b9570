//! Checks messages between this bank and its partners: their numbers have no gaps, and each has the amount of
//! its transaction.

use super::super::read::journal::entries_of;
use super::super::{Error, numbers};
use super::finding::Money;
use super::links::each;
use super::{Finding, Report};
use bank_core::ids::UNBILLED;
use rusqlite::Connection;

/// Messages, and questions without a reserve.
pub(super) const TABLES: &[&str] = &["partner_entry", "partner_question"];

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let gaps = "SELECT partner || ' ' || sent FROM partner_entry GROUP BY partner, sent
                HAVING min(number) <> 1 OR max(number) <> count(*)";
    each(connection, report, "partner_entry", gaps, |key| {
        format!("messages {key}: their numbers have gaps")
    })?;
    sums(connection, report)?;
    let received = "SELECT e.partner || ' ' || e.number FROM partner_entry e
        LEFT JOIN tx t ON t.id = e.tx
        WHERE e.sent = 0 AND (t.op IS NOT 'charge' OR t.instance IS NOT e.instance
            OR instr(t.reason, 'counterpart=' || e.partner || '/' || e.counterpart) = 0)";
    each(connection, report, "partner_entry", received, |key| {
        format!("message {key}: its transaction does not name the counterpart")
    })
}

/// The amounts of the messages of a transaction, one for each user, are what it took for the project of the partner, from
/// any account but the suspense account.
fn sums(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let last = numbers::last_entry(connection)?;
    let money = Money::of(connection)?;
    let sql =
        "SELECT partner, min(number), tx, project, sum(amount), (SELECT id FROM account WHERE name = ?1)
         FROM partner_entry WHERE sent = 1 GROUP BY partner, tx, project";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([UNBILLED])?;
    while let Some(row) = rows.next()? {
        let (partner, number): (String, i64) = (row.get(0)?, row.get(1)?);
        let (project, suspense): (String, Option<i64>) = (row.get(3)?, row.get(5)?);
        let project = format!("{project}@{partner}");
        let entries = entries_of(connection, row.get(2)?, last)?;
        let own = entries
            .iter()
            .filter(|e| e.account.is_some() && e.account != suspense && e.project == project);
        let taken = own.fold(0_i128, |sum, e| sum.saturating_sub(e.delta_amount.into()));
        let amount: i64 = row.get(4)?;
        if taken != i128::from(amount) {
            let key = format!("{partner} {number}");
            let text = format!("message {key}: its amount is not that of its transaction");
            let (amount, taken) = (money.shown(amount.into()), money.shown(taken));
            report.find(Finding::new("partner_entry", &key, text).differs(amount, taken));
        }
    }
    Ok(())
}
