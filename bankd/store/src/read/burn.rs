//! Spending rates: recent charges of each account, from the end of the journal.

use super::super::Error;
use super::SCAN_MAX;
use crate::numbers::{first_entry_of, first_recorded_from, last_entry};
use bank_core::ids::AccountId;
use bank_core::time::Timestamp;
use bank_core_figures::forecast::Speed;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// How far back it looks, in days.
const DAYS: i64 = 30;
const DAY_US: i64 = 86_400_000_000;

/// Recent charges, less refunds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Burn {
    /// How long the time is that was looked at, µs.
    pub span_us: i64,
    /// Charged to each account in it, minor units.
    pub charged: BTreeMap<AccountId, i128>,
}

impl Burn {
    /// How fast an account was spent.
    pub fn speed(&self, account: AccountId) -> Speed {
        Speed {
            charged: self.charged.get(&account).copied().unwrap_or(0),
            span_us: self.span_us,
        }
    }

    /// Daily charges of an account, minor units, rounded down; none without charges or with less
    /// than a day of data.
    pub fn per_day(&self, account: AccountId) -> Option<i128> {
        let charged = self.charged.get(&account).copied()?;
        if self.span_us < DAY_US || charged <= 0 {
            return None;
        }
        let a_day = charged.checked_mul(i128::from(DAY_US))?;
        a_day.checked_div(i128::from(self.span_us))
    }
}

/// When `available` is used up at a rate a day above zero, counted from an instant.
pub fn used_up(per_day: i128, available: i128, now: Timestamp) -> Option<Timestamp> {
    let left = available.max(0).checked_mul(i128::from(DAY_US))?;
    let left = i64::try_from(left.checked_div(per_day)?).ok()?;
    now.0.checked_add(left).map(Timestamp)
}

/// The charges of the last 30 days, or of as much of them as the newest 50,000 entries cover.
pub fn burn(connection: &Connection, now: Timestamp) -> Result<Burn, Error> {
    of(connection, now, last_entry(connection)?)
}

/// The same for the 30 days before an instant, as recorded then: later entries do not change it.
pub fn before(connection: &Connection, end: Timestamp) -> Result<Burn, Error> {
    let last = last_entry(connection)?;
    let tx = first_recorded_from(connection, end)?;
    let last = first_entry_of(connection, tx, last)?.saturating_sub(1);
    of(connection, end, last)
}

/// Of the entries up to one.
fn of(connection: &Connection, now: Timestamp, last: i64) -> Result<Burn, Error> {
    let since = Timestamp(now.0.saturating_sub(DAYS * DAY_US));
    let first_tx = first_recorded_from(connection, since)?;
    let first = first_entry_of(connection, first_tx, last)?;
    let bounded = last.saturating_sub(i64::try_from(SCAN_MAX).unwrap_or(i64::MAX));
    let is_whole = first > bounded;
    // By time of use, as in statements: late charges count at their own time.
    let sql = "SELECT t.at_effective, e.kind, e.account, e.delta_amount, e.instance IS NOT NULL
               FROM entry e JOIN tx t ON t.id = e.tx
               WHERE e.id >= ?1 AND e.id <= ?2 AND e.account IS NOT NULL";
    let mut known = if is_whole {
        opened(connection)?
    } else {
        recorded(connection, bounded)?
    };
    let from = if is_whole { since } else { since.max(known) };
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((first.max(bounded), last))?;
    let mut charged: BTreeMap<AccountId, i128> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let at = Timestamp(row.get(0)?);
        if is_whole {
            // A late entry extends the known time to before the start of the journal.
            known = known.min(at);
        }
        if at < from {
            continue;
        }
        let kind = row.get_ref(1)?.as_str().unwrap_or_default();
        // Reversals of a charge or a refund are usage too; a reversal of a deposit is not.
        if counts(kind) || (kind == "reverse" && row.get(4)?) {
            let change: i64 = row.get(3)?;
            let sum = charged.entry(AccountId(row.get(2)?)).or_default();
            *sum = sum.saturating_sub(i128::from(change));
        }
    }
    Ok(Burn {
        span_us: now.0.saturating_sub(known.max(from).0),
        charged,
    })
}

/// Whether entries of a kind are of use.
fn counts(kind: &str) -> bool {
    kind.starts_with("charge") || kind == "late_charge" || kind == "refund"
}

/// When the journal began; far in the future where there is none.
fn opened(connection: &Connection) -> Result<Timestamp, Error> {
    let sql = "SELECT coalesce((SELECT at_recorded FROM tx ORDER BY id LIMIT 1), ?1)";
    Ok(Timestamp(
        connection.query_row(sql, [i64::MAX], |row| row.get(0))?,
    ))
}

/// When an entry was recorded.
fn recorded(connection: &Connection, entry: i64) -> Result<Timestamp, Error> {
    let sql = "SELECT at_recorded FROM tx WHERE id = (SELECT tx FROM entry WHERE id = max(?1, 1))";
    Ok(Timestamp(
        connection.query_row(sql, [entry], |row| row.get(0))?,
    ))
}
