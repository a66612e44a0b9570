//! Finished uses into their table: millions of them, so that one statement is kept for all rows of a
//! command, and a column is bound only where it says something else than in the row before.

use super::rollup::Rollups;
use super::sqlite::SqliteStore;
use super::uses::digest;
use super::{Error, export, seal, sources};
use bank_core::decimal::Decimal;
use bank_core::effects::UseRow;
use bank_core::rollup::Sign;
use bank_core::time::Timestamp;
use bank_core::usage::Usage;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};

/// Columns of a row but its digest, which is the last.
const COLUMNS: usize = 39;

/// What is bound for a row: the columns, the digest and the seal.
const BOUND: usize = COLUMNS + 2;

/// New rows of one statement. Each statement finds its places in three indexes from their roots, which
/// costs more than the rows themselves; within one the places are kept.
const TOGETHER: usize = 32;

/// The columns, as [`cells`] has them.
macro_rules! columns {
    () => {
        "INSERT INTO usage_identity (source, object_id, start_at, end_at, submit_at, machine,
             object_type, account, login, project, user, group_name, queue, qos, state, exit_code,
             flags, millis, nodes, gpus, memory_bytes, wall_us, cpu_us, requested_s, revision,
             became, policy, counted, instance, amount, allocation, refusal, tx, block, place,
             available, host, disk_bytes, more, digest, seal)"
    };
}

/// One row of them.
macro_rules! insert {
    () => {
        concat!(columns!(), " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
             ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35,
             ?36, ?37, ?38, ?39, ?40, ?41)")
    };
}

/// A row of an identity that has none.
const NEW: &str = insert!();

/// A row in place of the one before it. The database keeps what it changes in a second journal for each of
/// them, which costs as much again.
const AMENDED: &str = concat!(
    insert!(),
    " ON CONFLICT (source, object_id, start_at) DO UPDATE SET end_at = ?4, submit_at = ?5,
        machine = ?6, object_type = ?7, account = ?8, login = ?9, project = ?10, user = ?11,
        group_name = ?12, queue = ?13, qos = ?14, state = ?15, exit_code = ?16, flags = ?17,
        millis = ?18, nodes = ?19, gpus = ?20, memory_bytes = ?21, wall_us = ?22, cpu_us = ?23,
        requested_s = ?24, revision = ?25, became = ?26, policy = ?27, counted = ?28,
        instance = ?29, amount = ?30, allocation = ?31, refusal = ?32, tx = ?33, block = ?34,
        place = ?35, available = coalesce(?36, available), host = ?37, disk_bytes = ?38,
        more = ?39, digest = ?40"
);

/// Writes finished uses; the record before each of the same identity is replaced. `tx` is the
/// transaction that took them in, where there was one. Gives the numbers of the rows that are new, in
/// the order of the uses.
pub(super) fn write_uses(
    store: &mut SqliteStore,
    rows: &[UseRow],
    tx: Option<i64>,
) -> Result<Vec<Option<i64>>, Error> {
    let (connection, rollups) = (&store.connection, &mut store.rollups);
    let at = (store.block, store.place);
    let mut sources = Sources::default();
    let mut numbers = Vec::with_capacity(rows.len());
    let (mut many, mut one, mut amended) = (None, None, None);
    // The rules have looked whether the identity is known: the first revision has no row yet.
    for alike in rows.chunk_by(|a, b| (a.revision == 0) == (b.revision == 0)) {
        let is_new = alike.first().is_some_and(|row| row.revision == 0);
        let (full, rest) = alike.as_chunks::<TOGETHER>();
        let (full, rest) = if is_new {
            (full, rest)
        } else {
            (Default::default(), alike)
        };
        for rows in full {
            let writing = ready(&mut many, connection, &several)?;
            for (n, row) in rows.iter().enumerate() {
                let source = sources.of(connection, row)?;
                writing.bind(n, &cells(at, row, source, tx), row)?;
            }
            numbers.extend(writing.run(connection)?.map(Some));
            writing.count(connection, rollups)?;
        }
        for row in rest {
            let source = sources.of(connection, row)?;
            let writing = if is_new {
                ready(&mut one, connection, &|| NEW.to_owned())?
            } else {
                rollups.stored_use(connection, key_of(row), Sign::Minus)?;
                ready(&mut amended, connection, &|| AMENDED.to_owned())?
            };
            writing.bind(0, &cells(at, row, source, tx), row)?;
            let number = writing.run(connection)?.next();
            numbers.push(number.filter(|_| is_new));
            writing.count(connection, rollups)?;
            if !is_new {
                seal_amended(connection, row, source)?;
            }
        }
    }
    Ok(numbers)
}

/// What tells a use from others: source, id and start.
fn key_of(row: &UseRow) -> (&str, &str, i64) {
    let report = &row.report;
    let id = report.request.object_id.as_str();
    (report.source.as_str(), id, report.incarnation().0)
}

/// The numbers of sources; rows of one mostly follow each other.
#[derive(Default)]
struct Sources<'r>(Option<(&'r str, i64)>);

impl<'r> Sources<'r> {
    fn of(&mut self, connection: &Connection, row: &'r UseRow) -> Result<i64, Error> {
        let name = row.report.source.as_str();
        let id = match self.0 {
            Some((known, id)) if known == name => id,
            _ => sources::id_of(connection, name)?,
        };
        self.0 = Some((name, id));
        Ok(id)
    }
}

/// The statement for [`TOGETHER`] new rows. If it fails, the transaction is undone as a whole: the
/// database need not keep what was before each statement.
fn several() -> String {
    let mut sql = columns!().replacen("INSERT", "INSERT OR FAIL", 1);
    for row in 0..TOGETHER {
        sql.push_str(if row == 0 { " VALUES (?" } else { ", (?" });
        sql.push_str(&", ?".repeat(BOUND.saturating_sub(1)));
        sql.push(')');
    }
    sql
}

/// A statement that is made when it is needed first.
fn ready<'w, 'c, 'r>(
    writing: &'w mut Option<Writing<'c, 'r>>,
    connection: &'c Connection,
    sql: &impl Fn() -> String,
) -> Result<&'w mut Writing<'c, 'r>, Error> {
    Ok(match writing {
        Some(writing) => writing,
        none => none.insert(Writing::new(connection, &sql())?),
    })
}

/// Seals a row that took the place of another, of which some may have stayed.
fn seal_amended(connection: &Connection, row: &UseRow, source: i64) -> Result<(), Error> {
    let sql =
        "SELECT id FROM usage_identity WHERE source = ?1 AND object_id = ?2 AND start_at = ?3";
    let report = &row.report;
    let key = (source, &report.request.object_id, report.incarnation().0);
    let id: i64 = connection
        .prepare_cached(sql)?
        .query_row(key, |r| r.get(0))?;
    seal::renew(connection, "usage_identity", &[&id])?;
    export::changed(connection, id)
}

/// A statement with what is bound to it.
struct Writing<'c, 'r> {
    statement: CachedStatement<'c>,
    bound: Vec<[ValueRef<'r>; COLUMNS]>,
}

impl<'c, 'r> Writing<'c, 'r> {
    fn new(connection: &'c Connection, sql: &str) -> Result<Self, Error> {
        // Nothing is bound to a statement out of the cache, and what is not bound is NULL.
        let statement = connection.prepare_cached(sql)?;
        let rows = statement.parameter_count().div_euclid(BOUND);
        Ok(Writing {
            statement,
            bound: vec![[ValueRef::Null; COLUMNS]; rows],
        })
    }

    /// Binds a row as the statement's `n`th, from 0.
    fn bind(
        &mut self,
        n: usize,
        cells: &[ValueRef<'r>; COLUMNS],
        row: &UseRow,
    ) -> Result<(), Error> {
        let first = n.saturating_mul(BOUND).saturating_add(1);
        let Some(bound) = self.bound.get_mut(n) else {
            return Ok(());
        };
        for (place, (bound, cell)) in (first..).zip(bound.iter_mut().zip(cells)) {
            if bound != cell {
                let value = ToSqlOutput::Borrowed(*cell);
                self.statement.raw_bind_parameter(place, value)?;
                *bound = *cell;
            }
        }
        let said = row.said.unwrap_or_else(|| digest(&row.report.canonical()));
        let all = cells.iter().copied().chain([ValueRef::Blob(&said)]);
        let seal = seal::of_refs(all);
        let last = first.saturating_add(COLUMNS);
        self.statement.raw_bind_parameter(last, said.as_slice())?;
        self.statement
            .raw_bind_parameter(last.saturating_add(1), seal)?;
        Ok(())
    }

    /// Writes the rows. Gives the numbers of new ones: each got that behind the one before it. Ask for
    /// them before anything else is written.
    fn run(&mut self, connection: &Connection) -> Result<impl Iterator<Item = i64> + use<>, Error> {
        self.statement.raw_execute()?;
        let last = connection.last_insert_rowid();
        let before = i64::try_from(self.bound.len()).unwrap_or_default();
        Ok(last.saturating_sub(before).saturating_add(1)..=last)
    }

    /// Adds what was written to the rollups.
    fn count(&self, connection: &Connection, rollups: &mut Rollups) -> Result<(), Error> {
        for cells in &self.bound {
            rollups.count_use(connection, cells)?;
        }
        Ok(())
    }
}

/// The columns of a row, in the order of the statement.
fn cells(
    (block, own): (Option<i64>, Option<u32>),
    row: &UseRow,
    source: i64,
    tx: Option<i64>,
) -> [ValueRef<'_>; COLUMNS] {
    let report = &row.report;
    let (request, figures) = (&report.request, &report.figures);
    let (facts, usage) = (&request.facts, &request.facts.usage);
    let whole =
        |number: Option<Decimal>, unit: i64| or_null(number.and_then(|n| in_units(n, unit)));
    let place = row.place.or(own).filter(|_| block.is_some());
    [
        ValueRef::Integer(source),
        text(&request.object_id),
        ValueRef::Integer(report.incarnation().0),
        or_null(facts.end.map(|t| t.0)),
        or_null(facts.submit.map(|t| t.0)),
        text(&request.whose.machine),
        text(request.object_type.word()),
        text(report.account()),
        text(report.login()),
        text(row.project()),
        text(request.whose.user.as_deref().unwrap_or_default()),
        text(&facts.group),
        text(usage.class.as_deref().unwrap_or_default()),
        text(usage.qos.as_deref().unwrap_or_default()),
        text(&facts.state),
        or_null(facts.exit_code),
        text(&report.flags),
        whole(usage.processors, 1_000),
        whole(usage.nodes, 1),
        whole(gpus(usage), 1),
        whole(usage.memory_mb, 1 << 20),
        or_null(figures.wall_us.or_else(|| between(facts.start, facts.end))),
        whole(figures.cpu_s, 1_000_000),
        or_null(facts.wall.map(|s| s.0)),
        ValueRef::Integer(row.revision),
        text(row.became.word()),
        text(row.policy),
        text(&row.counted),
        or_null(row.instance.map(|i| i.0)),
        or_null(row.amount.map(|a| a.0)),
        or_null(row.on.map(|a| a.0)),
        row.refusal.as_deref().map_or(ValueRef::Null, text),
        or_null(tx),
        or_null(block.filter(|_| place.is_some())),
        or_null(place.map(i64::from)),
        or_null(row.available.map(|a| a.0)),
        report.host.as_deref().map_or(ValueRef::Null, text),
        whole(usage.disk_mb, 1 << 20),
        report.more.as_deref().map_or(ValueRef::Null, text),
    ]
}

fn text(value: &str) -> ValueRef<'_> {
    ValueRef::Text(value.as_bytes())
}

fn or_null<'r>(value: Option<i64>) -> ValueRef<'r> {
    value.map_or(ValueRef::Null, ValueRef::Integer)
}

fn gpus(usage: &Usage) -> Option<Decimal> {
    usage
        .gres
        .iter()
        .find(|(name, _)| name == "gpu")
        .map(|(_, n)| *n)
}

fn between(start: Option<Timestamp>, end: Option<Timestamp>) -> Option<i64> {
    Some(end?.0.saturating_sub(start?.0))
}

/// A quantity in a smaller unit, cut; none where it is beyond what a column holds.
fn in_units(number: Decimal, unit: i64) -> Option<i64> {
    let billionths = number.billionths();
    // Where it is short, 64 bits do, and are many times faster.
    let short = i64::try_from(billionths).ok();
    if let Some(units) = short.and_then(|short| short.checked_mul(unit)) {
        return units.checked_div(1_000_000_000);
    }
    let units = billionths.checked_mul(unit.into())?;
    i64::try_from(units.checked_div(1_000_000_000)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_cut_to_their_units() {
        for (number, unit, units) in [
            ("0.0019", 1_000, Some(1)),
            ("-0.0019", 1_000, Some(-1)),
            ("9007199254740993", 1, Some(9_007_199_254_740_993)),
            ("20000000000", 1, Some(20_000_000_000)),
            ("8000000000000", 1 << 20, Some(8_388_608_000_000_000_000)),
            ("9000000000000", 1 << 20, None),
        ] {
            let number = Decimal::parse(number).unwrap();
            assert_eq!(in_units(number, unit), units, "{number} {unit}");
        }
    }
}
