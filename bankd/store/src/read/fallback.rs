//! Reserves with insufficient funds, and their uses; charges with insufficient funds that a
//! fallback account covered.

use super::super::rollup::{Payment, payments};
use super::super::{Error, numbers};
use bank_core::amount::Amount;
use bank_core::ids::{AccountId, UNBILLED};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;

/// Shortages, and covered charges, that one answer looks at.
const LOOK_MAX: usize = 10_000;

/// A shortage, and the use of its object's id that followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortJob {
    /// Machine as named.
    pub machine: String,
    /// The scheduler's object id.
    pub object_id: String,
    /// The project that was named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// When money was short.
    pub at: Timestamp,
    /// The needed hold of the lien, or the total of the charges.
    pub needed: Amount,
    /// The available amount.
    pub available: Amount,
    /// The account that pays.
    pub account: Option<AccountId>,
    /// The account that was short, where the bank stepped in.
    pub fallback_from: Option<AccountId>,
    /// The project of the use, as its documents name it last.
    pub ran_as: String,
    /// The amount held by its lien at placement.
    pub held: Amount,
    /// Charges so far, real and shadow together; for covered charges the part that the fallback
    /// account paid.
    pub charged: i128,
    /// Money was short at a charge, and the policy `fallback` covered it.
    pub covered: bool,
}

struct Use {
    id: i64,
    account: Option<AccountId>,
    fallback_from: Option<AccountId>,
    billed: i128,
    project: String,
    user: String,
}

/// The jobs that money was short for from an instant on and before another, the first first, and
/// whether these are all. Only those that ran afterwards are there.
///
/// # Errors
/// If the store fails.
pub fn short(
    connection: &Connection,
    period: (Timestamp, Timestamp),
    keep: impl Fn(&ShortJob) -> bool,
) -> Result<(Vec<ShortJob>, bool), Error> {
    let (mut found, all_reserves) = at_reserves(connection, period, &keep)?;
    let (covered, all_charges) = at_charges(connection, period)?;
    found.extend(covered.into_iter().filter(keep));
    found.sort_by(|a, b| (a.at, &a.object_id, &a.project).cmp(&(b.at, &b.object_id, &b.project)));
    Ok((found, all_reserves && all_charges))
}

/// Jobs with insufficient funds at the reserve.
fn at_reserves(
    connection: &Connection,
    (from, until): (Timestamp, Timestamp),
    keep: impl Fn(&ShortJob) -> bool,
) -> Result<(Vec<ShortJob>, bool), Error> {
    let sql = "SELECT machine, object_type, object_id, project, user, at, needed, available
               FROM shortage WHERE at >= ?1 AND at < ?2 ORDER BY at, object_id, project";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([from.0, until.0])?;
    let (mut found, mut looked) = (Vec::new(), 0);
    let suspense = account_named(connection, UNBILLED)?;
    while let Some(row) = rows.next()? {
        if looked >= LOOK_MAX {
            return Ok((found, false));
        }
        looked += 1;
        let kind: String = row.get(1)?;
        let mut job = ShortJob {
            machine: row.get(0)?,
            object_id: row.get(2)?,
            project: row.get(3)?,
            user: row.get(4)?,
            at: Timestamp(row.get(5)?),
            needed: Amount(row.get(6)?),
            available: Amount(row.get(7)?),
            account: None,
            fallback_from: None,
            ran_as: String::new(),
            held: Amount::ZERO,
            charged: 0,
            covered: false,
        };
        let Some(of) = following(connection, &job, &kind)? else {
            continue;
        };
        let payments = payments(connection, of.id)?;
        // What nobody could be billed for is on no account of a project.
        let is_paid = |paid: &&Payment| paid.account.0 != 0 && Some(paid.account) != suspense;
        let first = payments
            .iter()
            .filter(is_paid)
            .find(|paid| paid.at >= job.at);
        let from = first.map(|first| fallback_from(connection, first.tx));
        job.account = first.map(|first| first.account).or(of.account);
        job.fallback_from = from.transpose()?.flatten().or(of.fallback_from);
        job.charged = job
            .account
            .map_or(of.billed, |account| paid(&payments, account));
        job.held = held(connection, of.id, job.at)?;
        job.ran_as = of.project;
        if keep(&job) {
            found.push(job);
        }
    }
    Ok((found, true))
}

/// Jobs with charges that a fallback account covered (ledger.md 2.8 step 3): one for each job and
/// covering account, at the first such charge of the period.
fn at_charges(
    connection: &Connection,
    (from, until): (Timestamp, Timestamp),
) -> Result<(Vec<ShortJob>, bool), Error> {
    // Nothing takes effect after it was recorded.
    let first = numbers::first_recorded_from(connection, from)?;
    let sql = "SELECT e.instance, e.account, e.usage, t.at_effective, e.project, e.user,
                      -(e.delta_amount + e.delta_shadow), u.amount, e.tx
               FROM entry e JOIN tx t ON t.id = e.tx JOIN usage u ON u.id = e.usage
               WHERE e.kind = 'charge_fallback' AND e.tx >= ?1 AND e.instance IS NOT NULL
                   AND t.at_effective >= ?2 AND t.at_effective < ?3
               ORDER BY e.tx, e.n LIMIT ?4";
    let mut statement = connection.prepare_cached(sql)?;
    let most = i64::try_from(LOOK_MAX).unwrap_or(i64::MAX);
    let parameters = (first, from.0, until.0, most.saturating_add(1));
    let mut rows = statement.query(parameters)?;
    let (mut by_job, mut looked, mut whole) = (BTreeMap::new(), 0, true);
    while let Some(row) = rows.next()? {
        if looked >= LOOK_MAX {
            whole = false;
            break;
        }
        looked += 1;
        let account: Option<i64> = row.get(1)?;
        let covered = by_job.entry((row.get(0)?, account)).or_insert(Covered {
            first: row.get(8)?,
            at: Timestamp(row.get(3)?),
            project: row.get(4)?,
            user: row.get(5)?,
            usage: None,
            needed: 0,
            paid: 0,
        });
        covered.at = covered.at.min(Timestamp(row.get(3)?));
        covered.paid += i128::from(row.get::<_, i64>(6)?);
        // Several allocations of the account may have paid for one charge.
        let usage = row.get(2)?;
        if covered.usage.replace(usage) != Some(usage) {
            covered.needed += i128::from(row.get::<_, i64>(7)?);
        }
    }
    let jobs = by_job
        .into_iter()
        .map(|((instance, account), covered)| covered.of(connection, instance, account));
    let jobs = jobs
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    Ok((jobs, whole))
}

/// The part of a job's charges that a fallback account covered.
struct Covered {
    /// The transaction of its first charge.
    first: i64,
    at: Timestamp,
    project: String,
    user: String,
    /// The charge that was counted last.
    usage: Option<i64>,
    needed: i128,
    paid: i128,
}

impl Covered {
    /// None where all of it went back since.
    fn of(
        self,
        connection: &Connection,
        instance: i64,
        account: Option<i64>,
    ) -> Result<Option<ShortJob>, Error> {
        let payments = payments(connection, instance)?;
        let left = account.map_or(self.paid, |account| paid(&payments, AccountId(account)));
        // The account that was short paid the other part of the first charge, unless it had nothing.
        let others = payments.iter().filter(|paid| paid.tx == self.first);
        let mut others = others.filter(|paid| Some(paid.account.0) != account);
        let short = others.next().map(|paid| paid.account);
        let sql = "SELECT machine, object_id, account, project FROM instance WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let job = statement.query_row([instance], |r| {
            Ok(ShortJob {
                machine: r.get(0)?,
                object_id: r.get(1)?,
                project: self.project,
                user: self.user,
                at: self.at,
                needed: Amount::clamped(self.needed),
                available: Amount::clamped(self.needed.saturating_sub(self.paid).max(0)),
                account: account.map(AccountId),
                fallback_from: match short {
                    Some(short) => Some(short),
                    None => r.get::<_, Option<i64>>(2)?.map(AccountId),
                },
                ran_as: r.get(3)?,
                held: Amount::ZERO,
                charged: self.paid.min(left),
                covered: true,
            })
        });
        Ok(Some(job?).filter(|job| job.charged > 0))
    }
}

/// The use of the id that was open at the shortage, else the first one after it: by the same user.
fn following(connection: &Connection, job: &ShortJob, kind: &str) -> Result<Option<Use>, Error> {
    let sql = "SELECT id, account, fallback_from, billed, shadow_billed, project, user
               FROM instance WHERE object_id = ?1 AND machine = ?2 AND object_type = ?3
                   AND (closed_at IS NULL OR closed_at > ?4) ORDER BY number LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let key = (&job.object_id, &job.machine, kind, job.at.0);
    let found = statement.query_row(key, |r| {
        let (real, shadow): (i64, i64) = (r.get(3)?, r.get(4)?);
        Ok(Use {
            id: r.get(0)?,
            account: r.get::<_, Option<i64>>(1)?.map(AccountId),
            fallback_from: r.get::<_, Option<i64>>(2)?.map(AccountId),
            billed: i128::from(real) + i128::from(shadow),
            project: r.get(5)?,
            user: r.get(6)?,
        })
    });
    let same = |of: &Use| of.user == job.user || of.user.is_empty() || job.user.is_empty();
    Ok(found.optional()?.filter(same))
}

/// What an account has paid, less what went back to it.
fn paid(payments: &[Payment], account: AccountId) -> i128 {
    let own = payments.iter().filter(|paid| paid.account == account);
    own.map(|paid| paid.amount).sum()
}

/// The account that was short where a charge went to a fallback account. Its name may have blanks, and words of the bank
/// follow it: the longest name of an account counts.
fn fallback_from(connection: &Connection, tx: i64) -> Result<Option<AccountId>, Error> {
    let mut statement = connection.prepare_cached("SELECT reason FROM tx WHERE id = ?1")?;
    let reason: String = statement.query_row([tx], |r| r.get(0))?;
    let reason = format!(" {reason}");
    let Some((_, mut name)) = reason.split_once(" fallback_from=") else {
        return Ok(None);
    };
    loop {
        let found = account_named(connection, name)?;
        match name.rsplit_once(' ') {
            Some((shorter, _)) if found.is_none() => name = shorter,
            _ => return Ok(found),
        }
    }
}

fn account_named(connection: &Connection, name: &str) -> Result<Option<AccountId>, Error> {
    let sql = "SELECT id FROM account WHERE name = ?1 ORDER BY id DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let id = statement.query_row([name], |r| r.get(0)).optional()?;
    Ok(id.map(AccountId))
}

/// The hold of the first lien at or after an instant; zero if there was none.
fn held(connection: &Connection, instance: i64, at: Timestamp) -> Result<Amount, Error> {
    let sql = "SELECT placed FROM lien WHERE instance = ?1 AND start_at >= ?2 ORDER BY id LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let placed = statement.query_row([instance, at.0], |r| r.get(0));
    Ok(Amount(placed.optional()?.unwrap_or(0)))
}
