//! Rebuilds rollups from their source rows, and compares them with the stored ones.

use super::super::Error;
use super::super::numbers::{first_entry_of, first_recorded_from, first_usage_of, last_entry};
use super::super::uses::machines;
use super::charge::{Charge, Class};
use super::charged::{self, Part, Source, Subject};
use super::factors::Factors;
use super::finished::{COLUMNS, Finished, Owners};
use super::pending::{Key, Pending};
use super::taken::{self, Taken};
use bank_core::time::{MICROS, Timestamp};
use bank_core_figures::rollup::{DAY, Measure, Presence, Sign, Use};
use rusqlite::{Connection, Rows};
use std::collections::BTreeSet;

/// A contribution.
#[expect(
    clippy::large_enum_variant,
    reason = "given to a visitor at once and never kept: a box for each use would cost more"
)]
pub(crate) enum Counted {
    /// Figures over a time.
    Sums(Use, Sign),
    /// A job.
    Job(Presence),
}

/// Receives contributions.
pub(crate) type Visit<'v> = dyn FnMut(&Key<'_>, &Source<'_>, Counted) -> Result<(), Error> + 'v;

/// A superset of the rows that touch a period, with few extra ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within {
    /// Its first instant.
    pub(crate) since: Timestamp,
    /// The first instant after it.
    pub(crate) until: Timestamp,
}

/// How far the time that a charge counts may reach behind its record: the rules take 300 seconds.
const AHEAD: i64 = DAY;

/// Finished uses by end time, and those without a reported end.
const ENDED: &str = "machine = ?1 AND end_at >= ?2 AND start_at < ?3";
const ENDLESS: &str = "machine = ?1 AND end_at IS NULL AND start_at < ?3 AND ?2 IS NOT NULL";

/// Gives everything that counts in a stretch of time, and may give more: finished uses by their index
/// of ends, charges by when they were recorded. As many ids of instances are kept as were charged since.
pub(crate) fn each_within(
    connection: &Connection,
    within: Within,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    let mut factors = Factors::read(connection, Measure::Core)?;
    let mut charged = BTreeSet::new();
    let (since, until) = (within.since.0, within.until.0);
    for machine in machines(connection)? {
        for when in [ENDED, ENDLESS] {
            let sql = format!("SELECT {COLUMNS} FROM usage_identity WHERE {when}");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query((&machine, since, until))?;
            charged.extend(uses_of(connection, &mut factors, rows, visit)?);
        }
    }
    let last = last_entry(connection)?;
    let before = Timestamp(since.saturating_sub(AHEAD));
    let first = first_recorded_from(connection, before)?;
    // A reversal of a charge counts where the charge did: with a row of its own, or earlier.
    let sql = "SELECT u.instance FROM usage u JOIN instance i ON i.id = u.instance
               LEFT JOIN usage f ON f.id = i.record
               WHERE u.id >= ?1 AND (u.at - abs(u.charged_s) * 1000000 < ?2
                   OR f.at - abs(f.charged_s) * 1000000 < ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((first_usage_of(connection, first)?, until))?;
    while let Some(row) = rows.next()? {
        charged.insert(row.get(0)?);
    }
    for id in charged {
        instance(connection, &mut factors, id, visit)?;
    }
    let first = first_entry_of(connection, first, last)?;
    charges(connection, first, Some(within), visit)
}

/// Gives everything that counts in a bank. Constant memory, and as much time as there are rows.
pub(crate) fn each(connection: &Connection, visit: &mut Visit<'_>) -> Result<(), Error> {
    each_weighed(connection, Measure::Core, visit)
}

/// As [`each`], where the factor of hardware weighs something else than the time of processors.
pub(crate) fn each_weighed(
    connection: &Connection,
    weighed: Measure,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    let mut factors = Factors::read(connection, weighed)?;
    finished_uses(connection, &mut factors, visit)?;
    instances(connection, &mut factors, visit)?;
    charges(connection, 0, None, visit)
}

fn finished_uses(
    connection: &Connection,
    factors: &mut Factors,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    let sql = format!("SELECT {COLUMNS} FROM usage_identity WHERE instance IS NULL");
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query([])?;
    uses_of(connection, factors, rows, visit)?;
    Ok(())
}

/// Visits finished uses without an instance, and collects the instances of the others.
fn uses_of(
    connection: &Connection,
    factors: &mut Factors,
    mut rows: Rows<'_>,
    visit: &mut Visit<'_>,
) -> Result<BTreeSet<i64>, Error> {
    let mut owners = Owners::default();
    let mut others = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let finished = Finished::of_row(row)?;
        if let Some(instance) = finished.instance {
            others.insert(instance);
            continue;
        }
        let key = finished.key(owners.of(connection, finished.allocation)?);
        let source = Source::Finished(&finished);
        let counts = finished.counts();
        if let Some(all) = finished.all(counts, factors) {
            visit(&key, &source, Counted::Sums(all, Sign::Plus))?;
        }
        if counts {
            visit(&key, &source, Counted::Job(finished.job()))?;
        }
    }
    Ok(others)
}

fn instances(
    connection: &Connection,
    factors: &mut Factors,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    let mut statement =
        connection.prepare("SELECT id FROM instance WHERE record IS NOT NULL ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        instance(connection, factors, row.get(0)?, visit)?;
    }
    Ok(())
}

fn instance(
    connection: &Connection,
    factors: &mut Factors,
    id: i64,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    charged::each_part(connection, factors, id, &mut |key, source, part| {
        let counted = match part {
            Part::Used(used, sign) => Counted::Sums(used, sign),
            Part::Job(job) => Counted::Job(job),
        };
        visit(key, source, counted)
    })
}

/// The amount of an entry for a usage row, and whether it touches the requested time.
struct Entry {
    usage: i64,
    touches: bool,
    taken: Taken,
}

/// Amounts of charges: entries in order from one on, those of a transaction together.
fn charges(
    connection: &Connection,
    from: i64,
    within: Option<Within>,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    let sql = "SELECT e.tx, e.usage, e.account, e.project, e.user, e.machine, e.delta_amount,
                   e.delta_shadow, c.of, u.at, u.charged_s
               FROM entry e LEFT JOIN correction c ON c.entry = e.id
               LEFT JOIN usage u ON u.id = e.usage
               WHERE e.id >= ?1 AND e.usage IS NOT NULL ORDER BY e.id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([from])?;
    let mut own: Vec<Entry> = Vec::new();
    let named = charged::last_named(connection)?;
    let mut of = 0_i64;
    while let Some(row) = rows.next()? {
        let tx: i64 = row.get(0)?;
        if tx != of {
            charges_of(connection, named, &mut own, visit)?;
            of = tx;
        }
        let taken = Taken::read(row, 2)?;
        let touches = match within {
            Some(within) if taken.of.is_none() => {
                let (at, seconds): (Option<i64>, Option<i64>) = (row.get(9)?, row.get(10)?);
                let at = at.unwrap_or(i64::MIN);
                let length = seconds.unwrap_or(0).saturating_abs().saturating_mul(MICROS);
                within.since.0 <= at && at.saturating_sub(length) < within.until.0
            }
            _ => true,
        };
        own.push(Entry {
            usage: row.get(1)?,
            touches,
            taken,
        });
    }
    charges_of(connection, named, &mut own, visit)
}

/// Amounts of the charges of one transaction; no finished use names an instance with a number above
/// `named`. If a finished use defines an instance's usage, its amount counts with that use.
fn charges_of(
    connection: &Connection,
    named: i64,
    own: &mut Vec<Entry>,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    own.sort_by_key(|entry| entry.usage);
    for same in own.chunk_by(|a, b| a.usage == b.usage) {
        let mut touching = same.iter().filter(|entry| entry.touches);
        let Some(Entry { usage, .. }) = touching.next() else {
            continue;
        };
        // `verify` reports entries with a missing usage row.
        let Some(charge) = Charge::find(connection, *usage)? else {
            continue;
        };
        let mut parts: Vec<Taken> = same.iter().map(|entry| entry.taken.clone()).collect();
        taken::complete(&mut parts, charge.worth);
        let sql = "SELECT instance FROM usage WHERE id = ?1";
        let instance: i64 = connection
            .prepare_cached(sql)?
            .query_row([*usage], |r| r.get(0))?;
        if instance <= named && charged::is_finished(connection, instance)? {
            continue;
        }
        let subject = Subject::read(connection, instance)?;
        let first = match &subject {
            Some(subject) => charged::first(connection, subject)?,
            None => None,
        };
        let none = Class::default();
        let class = first.as_ref().map_or(&none, |first| &first.class);
        let source = match (&subject, &first) {
            (Some(subject), Some(first)) => Source::Instance(subject, &first.charge),
            _ => Source::Unknown,
        };
        for part in &parts {
            let worth = part.worth(connection, &charge)?;
            visit(&part.key(class), &source, Counted::Sums(worth, Sign::Plus))?;
        }
    }
    own.clear();
    Ok(())
}

/// Rebuilds all rollups, in the connection's current database transaction.
///
/// # Errors
/// If the store cannot be read or written.
pub fn rebuild(connection: &Connection) -> Result<(), Error> {
    connection
        .execute_batch("DELETE FROM rollup_block; DELETE FROM rollup; DELETE FROM rollup_key;")?;
    fill(connection, connection)?.count_written(connection)
}

/// Adds the rollups of one bank to the tables of another connection. The written rows are not
/// counted yet.
fn fill(from: &Connection, into: &Connection) -> Result<Pending, Error> {
    let mut pending = Pending::default();
    each(from, &mut |key, _, counted| match counted {
        Counted::Sums(used, sign) => pending.spread(into, key, &used, sign),
        Counted::Job(job) => pending.count(into, key, &job, Sign::Plus),
    })?;
    pending.write(into)?;
    Ok(pending)
}

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Existing rows, one for each day and key.
    pub rows: u64,
    /// Days and keys whose rows differ from the usage, are missing, or have no usage.
    pub differing: u64,
    /// The first of them, in words.
    pub examples: Vec<String>,
}

/// Differences that are named.
const EXAMPLES: usize = 20;

/// Compares every stored row with the usage. Sums are built in a temporary database, in memory and
/// beyond a limit in a temporary file.
///
/// # Errors
/// If the store cannot be read.
pub fn compare(connection: &Connection) -> Result<Compared, Error> {
    // One snapshot, even during concurrent writes.
    let snapshot = connection.unchecked_transaction()?;
    let connection: &Connection = &snapshot;
    let anew = Connection::open("")?;
    copy_tables(connection, &anew)?;
    anew.execute_batch("BEGIN")?;
    fill(connection, &anew)?;
    let sql =
        "SELECT r.day, k.project, k.account, k.user, k.machine, k.queue, k.qos, k.pi, r.running,
                   r.hours
               FROM rollup r JOIN rollup_key k ON k.id = r.key
               ORDER BY r.day, k.project, k.account, k.user, k.machine, k.queue, k.qos, k.pi";
    let (mut stored, mut should) = (connection.prepare(sql)?, anew.prepare(sql)?);
    let (mut stored, mut should) = (stored.query([])?, should.query([])?);
    let mut found = Compared::default();
    let (mut is, mut ought) = (line(&mut stored)?, line(&mut should)?);
    loop {
        let order = match (&is, &ought) {
            (None, None) => return Ok(found),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(is), Some(ought)) => is.place.cmp(&ought.place),
        };
        let named = if order.is_gt() { &ought } else { &is };
        let what = match order {
            std::cmp::Ordering::Less => Some("no usage matches it"),
            std::cmp::Ordering::Greater => Some("it is missing"),
            std::cmp::Ordering::Equal if is != ought => Some("it differs from the usage"),
            std::cmp::Ordering::Equal => None,
        };
        if let (Some(what), Some(line)) = (what, named) {
            found.differing = found.differing.saturating_add(1);
            if found.examples.len() < EXAMPLES {
                found.examples.push(format!("{}: {what}", line.name()));
            }
        }
        if order.is_le() {
            found.rows = found.rows.saturating_add(1);
            is = line(&mut stored)?;
        }
        if order.is_ge() {
            ought = line(&mut should)?;
        }
    }
}

/// Creates the tables of rollups of one bank, without rows, on another connection.
fn copy_tables(from: &Connection, into: &Connection) -> Result<(), Error> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table'
                   AND name IN ('rollup_key', 'rollup', 'rollup_block')";
    let mut statement = from.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        into.execute_batch(&row.get::<_, String>(0)?)?;
    }
    Ok(())
}

/// A row with its key.
#[derive(PartialEq, Eq)]
struct Line {
    /// Day, project, account, user, machine, queue, quality of service, principal investigator; in the order
    /// of the question.
    place: (i64, String, i64, [String; 5]),
    running: i64,
    hours: Vec<u8>,
}

impl Line {
    fn name(&self) -> String {
        let (day, project, account, rest) = &self.place;
        let date = bank_core::months::text(Timestamp(day.saturating_mul(DAY)));
        let date = date.split('T').next().unwrap_or_default().to_owned();
        format!("{date} project {project:?} account {account} {rest:?}")
    }
}

fn line(rows: &mut Rows<'_>) -> Result<Option<Line>, Error> {
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some(Line {
        place: (
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            [
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
                row.get(6)?,
                row.get(7)?,
            ],
        ),
        running: row.get(8)?,
        hours: row.get(9)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::super::migrate;
    use super::*;

    /// Usage at an edge of a report is found by its end.
    #[test]
    fn pieces_of_hours_read_the_index_of_ends() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate::migrate(&mut connection).unwrap();
        for when in [ENDED, ENDLESS] {
            let sql =
                format!("EXPLAIN QUERY PLAN SELECT {COLUMNS} FROM usage_identity WHERE {when}");
            let mut statement = connection.prepare(&sql).unwrap();
            let plan = statement.query_row(("m", 1, 2), |r| r.get::<_, String>(3));
            let plan = plan.unwrap();
            assert!(
                plan.contains("usage_identity_end (machine=? AND end_at"),
                "{plan}"
            );
        }
    }
}
