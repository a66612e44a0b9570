//! Every use, once: reports of collectors, and charges of schedulers. For data that usage sums
//! lack: priorities by components and windows of starts, and requested compared with used time.
//! `report` gives the shares.

use super::super::rollup::{self, Owned};
use super::super::{Error, codec, uses};
use bank_core::decimal::Decimal;
use bank_core::time::{MICROS, Timestamp};
use bank_core::usage::Usage;
use rusqlite::{Connection, Row};

/// A use as counted in reports, or a part of one whose charges have several owners or quantities. All parts have the
/// times of the whole use. Unknown values are none, or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Machine as named.
    pub machine: String,
    /// The project that it is of.
    pub project: String,
    /// The account as its source names it.
    pub account: String,
    /// User.
    pub user: String,
    /// Group of the user.
    pub group: String,
    /// The first of its hosts.
    pub host: Option<String>,
    /// When it began.
    pub start: Timestamp,
    /// End; for a running use, the time until which it is known.
    pub end: Timestamp,
    /// Whether it is over.
    pub ended: bool,
    /// Thousandths of processors.
    pub millis: Option<u64>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// GPUs.
    pub gpus: Option<u64>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Run time without suspensions: µs.
    pub wall_us: u64,
    /// How long it was to run at most, as it was asked for: µs.
    pub requested_us: Option<u64>,
    /// How long its processors were busy: µs.
    pub cpu_us: Option<u64>,
    /// Whether it counts as a use: of several parts, the last one.
    pub counts: bool,
}

/// The request: uses that ended at or after the first instant or still run, and began before the
/// second.
#[derive(Clone, Debug)]
pub struct UseFilter {
    /// The first instant.
    pub from: Timestamp,
    /// The second.
    pub to: Timestamp,
    /// Only on this machine.
    pub machine: Option<String>,
}

/// Visits all requested uses. A use from a collector is left out if another source charges its
/// machine, so that none is counted twice.
pub fn each(
    connection: &Connection,
    filter: &UseFilter,
    mut take: impl FnMut(&Used),
) -> Result<(), Error> {
    let machines = match &filter.machine {
        Some(machine) => vec![machine.clone()],
        None => uses::machines(connection)?,
    };
    for machine in machines {
        reported(connection, &machine, filter, &mut take)?;
    }
    charged(connection, filter, &mut take)
}

fn reported(
    connection: &Connection,
    machine: &str,
    filter: &UseFilter,
    take: &mut impl FnMut(&Used),
) -> Result<(), Error> {
    // A use that was charged is that of the owner of its charge, also after a settlement or an undo.
    let sql = "SELECT u.machine, coalesce(i.project, u.project), u.account, coalesce(i.user, u.user), u.group_name,
            u.host, u.start_at, u.end_at, u.millis, u.nodes, u.gpus, u.memory_bytes, u.wall_us, u.cpu_us,
            u.requested_s
        FROM usage_identity u LEFT JOIN instance i ON i.id = u.instance
        WHERE u.machine = ?1 AND u.end_at >= ?2 AND u.start_at < ?3 AND u.start_at > 0
            AND u.became NOT IN ('kept', 'unused')";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((machine, filter.from.0, filter.to.0))?;
    while let Some(r) = rows.next()? {
        take(&read(r)?);
    }
    Ok(())
}

fn read(r: &Row<'_>) -> Result<Used, Error> {
    let size = |place: usize| -> Result<Option<u64>, Error> {
        let number: Option<i64> = r.get(place)?;
        Ok(number.and_then(|number| u64::try_from(number).ok()))
    };
    let (start, end): (i64, i64) = (r.get(6)?, r.get(7)?);
    Ok(Used {
        machine: r.get(0)?,
        project: r.get(1)?,
        account: r.get(2)?,
        user: r.get(3)?,
        group: r.get(4)?,
        host: r.get(5)?,
        start: Timestamp(start),
        end: Timestamp(end.max(start)),
        ended: true,
        millis: size(8)?,
        nodes: size(9)?,
        gpus: size(10)?,
        memory: size(11)?,
        wall_us: size(12)?.unwrap_or(end.saturating_sub(start).try_into().unwrap_or(0)),
        requested_us: size(14)?.and_then(|s| s.checked_mul(1_000_000)),
        cpu_us: size(13)?,
        counts: true,
    })
}

/// Instances that were charged and that no collector reported.
fn charged(
    connection: &Connection,
    filter: &UseFilter,
    take: &mut impl FnMut(&Used),
) -> Result<(), Error> {
    let sql = "SELECT i.machine, i.project, i.user, i.group_name,
            coalesce(i.start_at, i.began_at, min(i.opened_at,
                coalesce(i.end_at, i.used_until, i.opened_at) - i.charged_s * 1000000)) AS began,
            coalesce(i.end_at, i.used_until, i.closed_at, ?1) AS ended, i.closed_at IS NOT NULL,
            i.processors, i.nodes, i.memory_mb, i.gres, i.charged_s, i.wall_s,
            i.id, i.record IS i.last_usage AND i.closed_by = 'end'
        FROM instance i
        WHERE i.charged_s > 0 AND i.object_type = 'job' AND began < ?2 AND ended >= ?1
            AND (?3 IS NULL OR i.machine = ?3)
            AND NOT EXISTS (SELECT 1 FROM usage_identity u WHERE u.instance = i.id)";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((filter.from.0, filter.to.0, &filter.machine))?;
    while let Some(r) = rows.next()? {
        let whole = read_charged(r)?;
        // The charge that closed it: no document came later, so the row has its owner and its quantities.
        if r.get::<_, Option<bool>>(14)?.unwrap_or(false) {
            take(&whole);
            continue;
        }
        for part in parts(&whole, &rollup::owned(connection, r.get(13)?)?) {
            take(&part);
        }
    }
    Ok(())
}

fn read_charged(r: &Row<'_>) -> Result<Used, Error> {
    let (start, end, seconds): (i64, i64, i64) = (r.get(4)?, r.get(5)?, r.get(11)?);
    let decimal = |place: usize, what| codec::decimal(what, r.get(place)?);
    let requested: Option<i64> = r.get(12)?;
    let gres: String = r.get(10)?;
    let usage = Usage {
        processors: decimal(7, "instance.processors")?,
        nodes: decimal(8, "instance.nodes")?,
        memory_mb: decimal(9, "instance.memory_mb")?,
        gres: codec::read_quantities("instance.gres", &gres)?,
        ..Usage::default()
    };
    let wall = seconds.saturating_mul(MICROS);
    // Without a reported start, the charged time is before the end; a use that still has no length
    // gets its own.
    let end = end.max(start);
    let end = if end == start {
        start.saturating_add(wall)
    } else {
        end
    };
    let whole = Used {
        machine: r.get(0)?,
        project: r.get(1)?,
        account: r.get(1)?,
        user: r.get(2)?,
        group: r.get(3)?,
        start: Timestamp(start),
        end: Timestamp(end),
        ended: r.get(6)?,
        wall_us: u64::try_from(wall).unwrap_or(0),
        requested_us: requested.and_then(|s| u64::try_from(s).ok()?.checked_mul(1_000_000)),
        counts: true,
        ..Used::default()
    };
    Ok(whole.with(&usage))
}

/// The parts of a use by owner and quantities, of its charges. Each has its part of the requested time.
fn parts(whole: &Used, charges: &[Owned]) -> Vec<Used> {
    let mut found: Vec<Used> = Vec::new();
    for (own, seconds) in lasting(charges) {
        let mut part = Used {
            project: own.project.clone(),
            account: own.project.clone(),
            user: own.user.clone(),
            wall_us: 0,
            counts: false,
            ..whole.clone()
        }
        .with(&own.charge.usage);
        if let Some(same) = found.iter().position(|known| {
            *known
                == Used {
                    wall_us: known.wall_us,
                    ..part.clone()
                }
        }) {
            part = found.remove(same);
        }
        let wall = seconds.saturating_mul(MICROS);
        part.wall_us = part
            .wall_us
            .saturating_add(u64::try_from(wall).unwrap_or(0));
        found.push(part);
    }
    let all: u128 = found.iter().map(|part| u128::from(part.wall_us)).sum();
    let (mut ran, mut before) = (0_u128, 0_u64);
    for part in &mut found {
        ran = ran.saturating_add(part.wall_us.into());
        // Cut at the end of each part, so that the parts add up to the whole.
        part.requested_us = whole.requested_us.map(|requested| {
            let upto = u128::from(requested).saturating_mul(ran).checked_div(all);
            let upto = upto.and_then(|upto| u64::try_from(upto).ok()).unwrap_or(0);
            upto.saturating_sub(std::mem::replace(&mut before, upto))
        });
    }
    // The last part is of the present owner, if that one has any.
    let own = |part: &Used| (&part.project, &part.user) == (&whole.project, &whole.user);
    let last = found.iter().rposition(own);
    let last = last.unwrap_or(found.len().saturating_sub(1));
    if let Some(last) = found.get_mut(last) {
        last.counts = true;
    }
    found
}

/// The charges with the seconds that remain of them: a total that falls takes back the last time of its owner.
fn lasting(charges: &[Owned]) -> Vec<(&Owned, i64)> {
    let mut found: Vec<(&Owned, i64)> = Vec::new();
    for own in charges {
        let mut back = own.charge.seconds.saturating_neg();
        let is_same = |known: &Owned| (&known.project, &known.user) == (&own.project, &own.user);
        let earlier = found.iter_mut().rev();
        for (_, seconds) in earlier.filter(|(known, _)| is_same(known)) {
            let part = back.clamp(0, *seconds);
            *seconds = seconds.saturating_sub(part);
            back = back.saturating_sub(part);
        }
        found.push((own, own.charge.seconds.max(0)));
    }
    found.retain(|(_, seconds)| *seconds > 0);
    found
}

impl Used {
    /// With the quantities of a charge.
    fn with(self, usage: &Usage) -> Used {
        Used {
            millis: usage.processors.and_then(|n| units(n, 1_000)),
            nodes: usage.nodes.and_then(|n| units(n, 1)),
            gpus: usage.gpus().and_then(|n| units(n, 1)),
            memory: usage.memory_mb.and_then(bytes),
            ..self
        }
    }
}

/// Bytes in a number of megabytes. Its nine places were cut, so the nearest whole number is the stated one.
fn bytes(megabytes: Decimal) -> Option<u64> {
    let scaled = megabytes.billionths().checked_mul(1 << 20)?;
    let scaled = scaled.checked_add(500_000_000)?;
    u64::try_from(scaled.checked_div(1_000_000_000)?).ok()
}

/// A quantity in whole units, cut.
fn units(number: Decimal, unit: i128) -> Option<u64> {
    let billionths = number.billionths().checked_mul(unit)?;
    u64::try_from(billionths.checked_div(1_000_000_000)?).ok()
}
