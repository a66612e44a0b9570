//! Charges of a job, each with its journal data other than entries.

use super::super::{Error, codec};
use bank_core::amount::Amount;
use bank_core::effects::Billing;
use bank_core::terms;
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::Usage;
use rusqlite::{Connection, OptionalExtension};

/// Charges of one job that are looked at, newest first.
const JOB_MAX: usize = 10_000;

/// One usage row: a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Row id.
    pub id: i64,
    /// The charge before it.
    pub prev: Option<i64>,
    /// Journal transaction.
    pub tx: i64,
    /// End of the use.
    pub at: Timestamp,
    /// Seconds that it bills.
    pub seconds: Seconds,
    /// The billed amount.
    pub amount: Amount,
    /// Its state.
    pub billing: Billing,
    /// It arrived after the close.
    pub late: bool,
    /// A part was covered by nothing.
    pub debt: bool,
    /// Part of it was covered by the fallback account.
    pub fallback: bool,
    /// It is no charge, but takes one back or moves it: `refund`, `reverse` or `settle`.
    pub correction: Option<&'static str>,
    /// The priced usage.
    pub usage: Usage,
    /// The instant of the rates, if a quote was bound.
    pub rates_at: Option<Timestamp>,
    /// It billed a fixed amount: the given reason, which may be empty.
    pub given: Option<String>,
    /// For a reservation that pays for idle time only: the idle part that was billed, in words.
    pub idle: Option<String>,
    /// It reported a total, as an amended record does: all seconds billed with it. Its price is for
    /// the total, less the amount billed before.
    pub total: Option<Seconds>,
}

impl Charge {
    /// Whether it takes an earlier record of the use back, before the record that amends it is charged.
    pub fn is_taken_back(&self) -> bool {
        self.correction == Some("refund") && self.billing != Billing::Refund
    }

    /// The seconds that its price is of.
    pub fn priced(&self) -> Seconds {
        self.total.unwrap_or(self.seconds)
    }
}

/// The charges of a job, oldest first, back from its latest one; of more than 10,000 the newest.
///
/// # Errors
/// If the store fails.
pub fn of_job(connection: &Connection, latest: Option<i64>) -> Result<Vec<Charge>, Error> {
    let mut found = Vec::new();
    let mut next = latest;
    while let Some(id) = next.filter(|_| found.len() < JOB_MAX) {
        let Some(charge) = one(connection, id)? else {
            break;
        };
        next = charge.prev;
        found.push(charge);
    }
    found.reverse();
    note_taken_back(&mut found);
    let mut so_far = Seconds(0);
    for charge in &mut found {
        so_far = so_far.plus(charge.seconds);
        let charge_reason = charge_reason(connection, charge.tx)?;
        charge.given = charge_reason.given;
        charge.idle = charge_reason.idle.filter(|_| charge.correction.is_none());
        if charge_reason.is_settlement {
            charge.correction = Some("settle");
        }
        let is_of_total = charge_reason.is_of_total && charge.correction.is_none();
        charge.total = is_of_total.then_some(so_far);
    }
    Ok(found)
}

/// The last charge of a job that is no refund, and the sum of its refunds without those that were undone, minor units.
///
/// # Errors
/// If the store fails.
pub fn last_use(
    connection: &Connection,
    latest: Option<i64>,
) -> Result<(Option<Charge>, i128), Error> {
    let sql = "WITH RECURSIVE chain (id, prev, amount, billing) AS (
            SELECT id, prev, amount, billing FROM usage WHERE id = ?1
            UNION ALL
            SELECT u.id, u.prev, u.amount, u.billing FROM chain c JOIN usage u ON u.id = c.prev
            LIMIT 10000)
        SELECT max(id) FILTER (WHERE billing <> 'refund'),
            coalesce(-sum(amount) FILTER (WHERE billing = 'refund'), 0) FROM chain";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([latest], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)));
    let (last, refunded): (Option<i64>, i64) = found?;
    let last = last.map(|id| one(connection, id)).transpose()?.flatten();
    Ok((last, refunded.into()))
}

/// One charge by number, with the reason if its amount was given.
///
/// # Errors
/// If the store fails.
pub fn with_reason(connection: &Connection, id: i64) -> Result<Option<Charge>, Error> {
    let Some(mut charge) = one(connection, id)? else {
        return Ok(None);
    };
    let charge_reason = charge_reason(connection, charge.tx)?;
    charge.given = charge_reason.given;
    charge.idle = charge_reason.idle;
    if charge_reason.is_settlement {
        charge.correction = Some("settle");
    }
    if charge_reason.is_of_total {
        charge.total = Some(so_far(connection, &charge)?);
    }
    Ok(Some(charge))
}

/// One charge by number.
///
/// # Errors
/// If the store fails.
pub fn one(connection: &Connection, id: i64) -> Result<Option<Charge>, Error> {
    let sql = "SELECT prev, tx, at, charged_s, amount, billing, late, processors, facts, rates_at
        FROM usage WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id], |row| {
        let charge = Charge {
            id,
            prev: row.get(0)?,
            tx: row.get(1)?,
            at: Timestamp(row.get(2)?),
            seconds: Seconds(row.get(3)?),
            amount: Amount(row.get(4)?),
            billing: Billing::Billed,
            late: row.get(6)?,
            debt: false,
            fallback: false,
            correction: None,
            usage: Usage::default(),
            rates_at: row.get::<_, Option<i64>>(9)?.map(Timestamp),
            given: None,
            idle: None,
            total: None,
        };
        let texts: [String; 3] = [row.get(5)?, row.get(7)?, row.get(8)?];
        Ok((charge, texts))
    });
    let Some((mut charge, [word, processors, facts])) = found.optional()? else {
        return Ok(None);
    };
    charge.billing = codec::word("usage.billing", &word, Billing::parse)?;
    if charge.billing == Billing::Refund {
        charge.correction = Some("refund");
    }
    charge.usage = codec::usage(&processors, &facts)?;
    Ok(Some(charge))
}

/// Of two charges of one transaction the first takes an earlier record of the use back.
fn note_taken_back(charges: &mut [Charge]) {
    let mut next = None;
    for charge in charges.iter_mut().rev() {
        if next == Some(charge.tx) {
            charge.correction = Some("refund");
        }
        next = Some(charge.tx);
    }
}

/// Journal data of a charge other than its entries.
#[derive(Default)]
struct ChargeReason {
    /// The reason of a fixed amount.
    given: Option<String>,
    /// The idle part of a reservation's time.
    idle: Option<String>,
    /// It reported a total.
    is_of_total: bool,
    /// It moved the price from `#unbilled` to a project.
    is_settlement: bool,
}

/// The idle part that a charge of a reservation billed, or the cause of its correction, in words.
fn idle_part(op: &str, reason: &str) -> Option<String> {
    if terms::is_of_idle_time(op, reason) {
        return Some("the time that jobs in the reservation used has changed".to_owned());
    }
    let (idle, of) = terms::read_idle(reason)?;
    Some(format!("{idle} of {of} processor-seconds were idle"))
}

fn charge_reason(connection: &Connection, tx: i64) -> Result<ChargeReason, Error> {
    // Other reasons are notes with free text.
    let sql = "SELECT op, reason FROM tx
               WHERE id = ?1 AND (op = 'charge' OR op = 'settle' OR op = 'adjust' AND instance IS NOT NULL)";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([tx], |row| Ok((row.get(0)?, row.get(1)?)));
    let found: Option<(String, String)> = found.optional()?;
    Ok(found.map_or_else(ChargeReason::default, |(op, reason)| {
        let idle = idle_part(&op, &reason);
        let is_total = op == "adjust" || terms::is_of_total(&reason);
        ChargeReason {
            given: terms::read_given(&reason).map(str::to_owned),
            is_of_total: terms::read_given(&reason).is_none() && is_total && idle.is_none(),
            idle,
            is_settlement: op == "settle",
        }
    }))
}

/// The seconds that were billed with a charge and those before it.
fn so_far(connection: &Connection, charge: &Charge) -> Result<Seconds, Error> {
    let sql = "WITH RECURSIVE earlier (prev, seconds) AS (
            SELECT prev, charged_s FROM usage WHERE id = ?1
            UNION ALL
            SELECT u.prev, u.charged_s FROM earlier e JOIN usage u ON u.id = e.prev)
        SELECT sum(seconds) FROM earlier";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(Seconds(statement.query_row([charge.id], |row| row.get(0))?))
}
