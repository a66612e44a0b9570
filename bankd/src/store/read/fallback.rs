//! Reserves that money was short for, and the uses that came of them.

use super::super::Error;
use bank_core::amount::Amount;
use bank_core::ids::AccountId;
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

/// Shortages that one answer looks at.
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
    /// What the lien would have held.
    pub needed: Amount,
    /// What there was.
    pub available: Amount,
    /// The account that pays.
    pub account: Option<AccountId>,
    /// The account that was short, where the bank stepped in.
    pub fallback_from: Option<AccountId>,
    /// The project of the use, as its documents name it last.
    pub ran_as: String,
    /// What its lien held when it was placed.
    pub held: Amount,
    /// What it was charged so far, real and shadow together.
    pub charged: i128,
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
pub fn short(
    connection: &Connection,
    (from, until): (Timestamp, Timestamp),
    keep: impl Fn(&ShortJob) -> bool,
) -> Result<(Vec<ShortJob>, bool), Error> {
    let sql = "SELECT machine, object_type, object_id, project, user, at, needed, available
               FROM shortage WHERE at >= ?1 AND at < ?2 ORDER BY at, object_id, project";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([from.0, until.0])?;
    let (mut found, mut looked) = (Vec::new(), 0);
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
        };
        let Some(of) = following(connection, &job, &kind)? else {
            continue;
        };
        job.held = held(connection, of.id, job.at)?;
        job.account = of.account;
        job.fallback_from = of.fallback_from;
        job.charged = of.billed;
        job.ran_as = of.project;
        if keep(&job) {
            found.push(job);
        }
    }
    Ok((found, true))
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

/// What the first lien at or after an instant held; nothing where there was none.
fn held(connection: &Connection, instance: i64, at: Timestamp) -> Result<Amount, Error> {
    let sql = "SELECT placed FROM lien WHERE instance = ?1 AND start_at >= ?2 ORDER BY id LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let placed = statement.query_row([instance, at.0], |r| r.get(0));
    Ok(Amount(placed.optional()?.unwrap_or(0)))
}
