//! Instances with their charges: lists, and one job with its charges, payers and lien.

use super::super::{Error, codec, numbers, rollup, uses};
use super::charges::{self, Charge};
use super::{Page, SCAN_MAX, journal, liens, scan};
use bank_core::amount::Amount;
use bank_core::decimal::Decimal;
use bank_core::effects::KnownUse;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::InstanceKey;
use bank_core::model::{CLOSINGS, Closing, ObjectType};
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::Usage;
use bank_core_figures::rollup::{Measure, Presence};
use rusqlite::{Connection, Row};
use std::collections::HashSet;

/// Transactions behind a close that are searched for the lien which it released.
const CLOSE_SCAN: i64 = 1_000;

/// An instance, as far as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// Row id.
    pub id: i64,
    /// Machine as named.
    pub machine: String,
    /// Job or reservation.
    pub object_type: ObjectType,
    /// The scheduler's object id.
    pub object_id: String,
    /// Which use of the id, from 1.
    pub number: i64,
    /// First document.
    pub opened: Timestamp,
    /// Time and kind of the close.
    pub closed: Option<(Timestamp, Closing)>,
    /// The account that pays.
    pub account: Option<AccountId>,
    /// The account that was short.
    pub fallback_from: Option<AccountId>,
    /// Billed so far.
    pub billed: Amount,
    /// Billed so far in the shadow totals.
    pub shadow_billed: Amount,
    /// Seconds billed so far.
    pub charged: Seconds,
    /// Seconds beyond the possible usage.
    pub disputed: Seconds,
    /// The latest usage row.
    pub last_usage: Option<i64>,
    /// The instant of the rates, if a quote is bound.
    pub rates_at: Option<Timestamp>,
    /// Its live lien.
    pub lien: Option<i64>,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// Group as named.
    pub group: String,
    /// The latest size from the scheduler.
    pub usage: Usage,
    /// Wall duration asked for.
    pub wall: Option<Seconds>,
    /// Start time from the scheduler.
    pub start: Option<Timestamp>,
    /// When it ended, likewise.
    pub end: Option<Timestamp>,
}

/// An allocation's share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The allocation.
    pub allocation: AllocationId,
    /// Its account.
    pub account: Option<AccountId>,
    /// Its share, minor units, real or shadow.
    pub amount: i128,
    /// Its end.
    pub until: Option<Timestamp>,
}

/// Data of one job beside its row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// Its charges, oldest first, with their reversals.
    pub charges: Vec<Charge>,
    /// The payers, in the order of the first payment.
    pub shares: Vec<Share>,
    /// Its latest lien, as far as the journal beside its charges and its close names it.
    pub lien: Option<liens::LienRow>,
    /// The part of its charges taken from that lien, minor units.
    pub taken_from_lien: i128,
    /// The finished use that it was charged for, where no scheduler charged it.
    pub finished: Option<KnownUse>,
}

macro_rules! job_columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, machine, object_type, object_id, number, opened_at, closed_at, closed_by, \
             account, fallback_from, billed, shadow_billed, charged_s, last_usage, rates_at, lien, \
             project, user, qos, class, processors, nodes, memory_mb, disk_mb, gres, attributes, \
             wall_s, group_name, start_at, end_at, disputed_s FROM instance WHERE ",
            $rest
        )
    };
}

/// Jobs of a period, as usage reports count them.
#[derive(Clone, Copy, Debug)]
pub struct Period {
    /// Its start.
    pub from: Timestamp,
    /// Its end, exclusive.
    pub until: Timestamp,
    /// Which of the counts: `Started`, `Ended` or `Running`.
    pub count: Measure,
}

impl Period {
    /// Whether a report counts the instance in this period. One without a charge is in none.
    fn holds(&self, connection: &Connection, instance: i64) -> Result<bool, Error> {
        let jobs = rollup::jobs_of(connection, instance)?;
        Ok(jobs.iter().any(|job| self.counts(job)))
    }

    /// Whether a report counts a job in this period.
    pub(super) fn counts(&self, job: &Presence) -> bool {
        job.between(self.from, self.until).get(self.count) != 0
    }
}

/// Up to `limit` jobs below an id that `keep` accepts, newest first; of a period, if there is one.
pub fn list(
    connection: &Connection,
    below: Option<i64>,
    limit: usize,
    period: Option<Period>,
    keep: impl Fn(&JobRow) -> Result<bool, Error>,
) -> Result<Page<JobRow>, Error> {
    let sql = job_columns!("id < ?1 ORDER BY id DESC");
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([below.unwrap_or(i64::MAX)])?;
    scan(&mut rows, limit, |row| {
        let job = read(row)?;
        let is_in = keep(&job)?
            && match period {
                Some(period) => job.last_usage.is_some() && period.holds(connection, job.id)?,
                None => true,
            };
        Ok((job.id, is_in.then_some(job)))
    })
}

/// The newest use of a scheduler's object id on each machine, of those that `keep` accepts.
pub fn newest(
    connection: &Connection,
    object_id: &str,
    keep: impl Fn(&JobRow) -> bool,
) -> Result<Vec<JobRow>, Error> {
    let mut newest: Vec<JobRow> = Vec::new();
    for row in uses(connection, object_id)?.into_iter().filter(keep) {
        if newest.iter().all(|known| known.machine != row.machine) {
            newest.push(row);
        }
    }
    Ok(newest)
}

/// The uses of a scheduler's object id on all machines, newest first, 1,000 at most.
pub fn uses(connection: &Connection, object_id: &str) -> Result<Vec<JobRow>, Error> {
    let sql = job_columns!("object_id = ?1 ORDER BY id DESC LIMIT 1000");
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([object_id])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Users with the latest work, the latest first: a limited number of users, from a limited number
/// of the newest instances.
pub fn latest_users(connection: &Connection, most: usize) -> Result<Vec<String>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT user FROM instance ORDER BY id DESC LIMIT ?1")?;
    let mut rows = statement.query([i64::try_from(SCAN_MAX).unwrap_or(i64::MAX)])?;
    let (mut seen, mut users) = (HashSet::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let user: String = row.get(0)?;
        if users.len() < most && !user.is_empty() && seen.insert(user.clone()) {
            users.push(user);
        }
    }
    Ok(users)
}

/// Whether an object's id was ever used.
pub fn is_known(connection: &Connection, key: &InstanceKey) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM instance WHERE object_id = ?1 AND machine = ?2 AND object_type = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.exists((&key.object_id, &key.machine, key.object_type.word()))?)
}

/// The TID of a quote that is named by its TID or its number.
pub fn quote_named(connection: &Connection, name: &str) -> Result<Option<String>, Error> {
    let number: Option<i64> = name.parse().ok();
    let sql = "SELECT tid FROM quote WHERE tid = ?1
               UNION ALL SELECT tid FROM quote WHERE id = ?2 LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((name, number))?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
}

/// One use by number.
pub fn one(connection: &Connection, id: i64) -> Result<Option<JobRow>, Error> {
    let sql = job_columns!("id = ?1");
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    rows.next()?.map(read).transpose()
}

/// Charges, payers and lien of a job.
pub fn detail(connection: &Connection, job: &JobRow) -> Result<Detail, Error> {
    let mut detail = Detail {
        finished: uses::of_instance(connection, job.id)?,
        charges: charges::of_job(connection, job.last_usage)?,
        ..Detail::default()
    };
    let last = numbers::last_entry(connection)?;
    let mut from_liens: Vec<(i64, i128)> = Vec::new();
    for charge in &mut detail.charges {
        let entries = journal::entries_of(connection, charge.tx, last)?;
        let own = || entries.iter().filter(|e| e.usage == Some(charge.id));
        if charge.correction != Some("settle") && own().any(|e| e.kind == "reverse") {
            let charges = own().any(|e| e.kind.starts_with("charge"));
            charge.correction = Some(if charges { "settle" } else { "reverse" });
        }
        charge.debt = own().any(|e| e.kind == "charge_debt");
        charge.fallback = own().any(|e| e.kind == "charge_fallback");
        for entry in own() {
            count_share(&mut detail.shares, entry);
            if let Some(lien) = entry.lien {
                let taken = entry.delta_held.saturating_add(entry.delta_shadow_held);
                from_liens.push((lien, i128::from(taken).saturating_neg()));
            }
        }
    }
    for share in &mut detail.shares {
        let allocation = super::money::allocation(connection, share.allocation)?;
        share.until = allocation.and_then(|a| a.window.end);
    }
    let newest = from_liens.iter().map(|(lien, _)| *lien).max();
    let lien = match job.lien {
        Some(live) => Some(live),
        None => closing_lien(connection, job, last)?.max(newest),
    };
    if let Some(id) = lien {
        detail.lien = liens::lien(connection, id)?;
        let own = from_liens.iter().filter(|(lien, _)| *lien == id);
        detail.taken_from_lien = own.map(|(_, taken)| *taken).sum();
    }
    Ok(detail)
}

fn count_share(shares: &mut Vec<Share>, entry: &journal::Entry) {
    let Some(allocation) = entry.allocation.map(AllocationId) else {
        return;
    };
    let moved = i128::from(entry.delta_amount) + i128::from(entry.delta_shadow);
    match shares.iter_mut().find(|s| s.allocation == allocation) {
        Some(share) => share.amount -= moved,
        None => shares.push(Share {
            allocation,
            account: entry.account.map(AccountId),
            amount: -moved,
            until: None,
        }),
    }
}

/// The lien that the close of a job released: the journal names it in the transaction of the
/// close, which was recorded at the close or soon after it.
fn closing_lien(connection: &Connection, job: &JobRow, last: i64) -> Result<Option<i64>, Error> {
    let Some((closed, _)) = job.closed else {
        return Ok(None);
    };
    let first = numbers::first_recorded_from(connection, closed)?;
    let sql = "SELECT id FROM tx WHERE id >= ?1 AND id < ?2 AND instance = ?3 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((first, first.saturating_add(CLOSE_SCAN), job.id))?;
    while let Some(row) = rows.next()? {
        let entries = journal::entries_of(connection, row.get(0)?, last)?;
        let released = entries
            .iter()
            .filter(|e| e.kind == "lien_release" || e.kind == "lien_expire");
        if let Some(lien) = released.filter_map(|e| e.lien).max() {
            return Ok(Some(lien));
        }
    }
    Ok(None)
}

fn read(row: &Row<'_>) -> Result<JobRow, Error> {
    let kind: String = row.get(2)?;
    let closed_at = row.get::<_, Option<i64>>(6)?.map(Timestamp);
    let closed_by: Option<String> = row.get(7)?;
    let closing = |word: &str| {
        let found = CLOSINGS.iter().find(|(_, w)| *w == word);
        found.map(|(closing, _)| *closing)
    };
    let by = closed_by
        .map(|w| codec::word("instance.closed_by", &w, closing))
        .transpose()?;
    Ok(JobRow {
        id: row.get(0)?,
        machine: row.get(1)?,
        object_type: codec::word("instance.object_type", &kind, ObjectType::parse)?,
        object_id: row.get(3)?,
        number: row.get(4)?,
        opened: Timestamp(row.get(5)?),
        closed: closed_at.zip(by),
        account: row.get::<_, Option<i64>>(8)?.map(AccountId),
        fallback_from: row.get::<_, Option<i64>>(9)?.map(AccountId),
        billed: Amount(row.get(10)?),
        shadow_billed: Amount(row.get(11)?),
        charged: Seconds(row.get(12)?),
        last_usage: row.get(13)?,
        rates_at: row.get::<_, Option<i64>>(14)?.map(Timestamp),
        lien: row.get(15)?,
        project: row.get(16)?,
        user: row.get(17)?,
        usage: usage(row)?,
        wall: row.get::<_, Option<i64>>(26)?.map(Seconds),
        group: row.get(27)?,
        start: row.get::<_, Option<i64>>(28)?.map(Timestamp),
        end: row.get::<_, Option<i64>>(29)?.map(Timestamp),
        disputed: Seconds(row.get(30)?),
    })
}

fn usage(row: &Row<'_>) -> Result<Usage, Error> {
    let number = |column: usize, what: &'static str| -> Result<Option<Decimal>, Error> {
        codec::decimal(what, row.get(column)?)
    };
    let gres: String = row.get(24)?;
    let attributes: String = row.get(25)?;
    Ok(Usage {
        qos: row.get(18)?,
        class: row.get(19)?,
        processors: number(20, "instance.processors")?,
        nodes: number(21, "instance.nodes")?,
        memory_mb: number(22, "instance.memory_mb")?,
        disk_mb: number(23, "instance.disk_mb")?,
        gres: codec::read_quantities("instance.gres", &gres)?,
        attributes: codec::read_pairs("instance.attributes", &attributes)?,
        counted: None,
        idle: None,
    })
}
