//! Spending rates: recent charges of each account, from the end of the journal.

use super::super::Error;
use super::{SCAN_MAX, costs, past};
use crate::numbers::{first_entry_of, first_recorded_from, last_entry};
use bank_core::ids::AccountId;
use bank_core::time::Timestamp;
use bank_core_figures::forecast::Speed;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// How far back it looks, in days.
const DAYS: i64 = 30;
/// An account costs as much as so many of its entries.
const ENTRIES_MIN: usize = 4;
const DAY_US: i64 = 86_400_000_000;

/// Recent charges, less their refunds.
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

/// When `available` is used up at a rate a day above zero, counted from an instant; none if nothing is there.
pub fn used_up(per_day: i128, available: i128, now: Timestamp) -> Option<Timestamp> {
    let available = Some(available).filter(|available| *available > 0)?;
    let left = available.checked_mul(i128::from(DAY_US))?;
    let left = i64::try_from(left.checked_div(per_day)?).ok()?;
    now.0.checked_add(left).map(Timestamp)
}

/// The charges of the last 30 days, or of as much of them as the newest 50,000 entries cover: of some accounts, or of
/// all.
pub fn burn(
    connection: &Connection,
    accounts: Option<&BTreeSet<AccountId>>,
    now: Timestamp,
) -> Result<Burn, Error> {
    of(connection, accounts, now, last_entry(connection)?)
}

/// The same for the 30 days before an instant, as recorded then: later entries do not change it.
pub fn before(
    connection: &Connection,
    accounts: &BTreeSet<AccountId>,
    end: Timestamp,
) -> Result<Burn, Error> {
    let last = last_entry(connection)?;
    let tx = first_recorded_from(connection, end)?;
    let last = first_entry_of(connection, tx, last)?.saturating_sub(1);
    of(connection, Some(accounts), end, last)
}

/// Of the entries up to one.
fn of(
    connection: &Connection,
    accounts: Option<&BTreeSet<AccountId>>,
    now: Timestamp,
    last: i64,
) -> Result<Burn, Error> {
    let since = Timestamp(now.0.saturating_sub(DAYS * DAY_US));
    let first_tx = first_recorded_from(connection, since)?;
    let first = first_entry_of(connection, first_tx, last)?;
    let bounded = last.saturating_sub(i64::try_from(SCAN_MAX).unwrap_or(i64::MAX));
    let is_whole = first > bounded;
    let known = if is_whole {
        opened(connection)?
    } else {
        recorded(connection, bounded)?
    };
    let mut found = Found {
        is_young: is_whole && known > since,
        known,
        from: if is_whole { since } else { since.max(known) },
        accounts,
        charged: BTreeMap::new(),
    };
    let (first, most) = (first.max(bounded), past::worth_it(first.max(bounded), last));
    let is_few = |accounts: &&BTreeSet<_>| accounts.len() <= most / ENTRIES_MIN;
    let few = match accounts.filter(is_few).filter(|_| !found.is_young) {
        Some(accounts) => past::entries_of(connection, accounts, (first, last), most)?,
        None => None,
    };
    match few {
        Some(numbers) => numbers
            .iter()
            .try_for_each(|number| found.read(connection, *number, *number))?,
        None => found.read(connection, first, last)?,
    }
    Ok(Burn {
        span_us: now.0.saturating_sub(found.known.max(found.from).0),
        charged: found.charged,
    })
}

/// What was charged, while it is read.
struct Found<'a> {
    /// The journal began within the 30 days: a late entry extends the known time to before its start.
    is_young: bool,
    /// When what is known begins.
    known: Timestamp,
    /// Earlier charges do not count.
    from: Timestamp,
    /// None for all.
    accounts: Option<&'a BTreeSet<AccountId>>,
    charged: BTreeMap<AccountId, i128>,
}

impl Found<'_> {
    /// Adds the entries from one to another.
    fn read(&mut self, connection: &Connection, first: i64, last: i64) -> Result<(), Error> {
        // By time of use, as in statements: late charges count at their own time.
        let sql =
            "SELECT t.at_effective, e.kind, e.account, e.delta_amount, e.instance IS NOT NULL, e.id
                   FROM entry e JOIN tx t ON t.id = e.tx
                   WHERE e.id >= ?1 AND e.id <= ?2 AND e.account IS NOT NULL";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query((first, last))?;
        while let Some(row) = rows.next()? {
            let at = Timestamp(row.get(0)?);
            if self.is_young {
                self.known = self.known.min(at);
            }
            let account = AccountId(row.get(2)?);
            if at < self.from || self.accounts.is_some_and(|own| !own.contains(&account)) {
                continue;
            }
            let kind = row.get_ref(1)?.as_str().unwrap_or_default();
            // Reversals of a charge or a refund are usage too; a reversal of a deposit is not.
            let is_back = kind == "refund" || (kind == "reverse" && row.get(4)?);
            let is_of_time = || Ok::<_, Error>(booked(connection, row.get(5)?, kind)? >= self.from);
            if charges(kind) || (is_back && is_of_time()?) {
                let change: i64 = row.get(3)?;
                let sum = self.charged.entry(account).or_default();
                *sum = sum.saturating_sub(i128::from(change));
            }
        }
        Ok(())
    }
}

/// Whether entries of a kind charge.
fn charges(kind: &str) -> bool {
    kind.starts_with("charge") || kind == "late_charge"
}

/// When the charge counts that an entry takes back.
fn booked(connection: &Connection, entry: i64, kind: &str) -> Result<Timestamp, Error> {
    let sql = "SELECT t.at_effective FROM entry e JOIN tx t ON t.id = e.tx WHERE e.id = ?1";
    let of = costs::root(connection, entry, kind, None)?.id;
    let mut statement = connection.prepare_cached(sql)?;
    Ok(Timestamp(statement.query_row([of], |row| row.get(0))?))
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
