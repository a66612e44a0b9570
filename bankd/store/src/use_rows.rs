//! Writes finished uses by the million: one prepared statement serves all rows of a command, and a
//! column is bound only if its value differs from the previous row.

use super::rollup::Rollups;
use super::sqlite::SqliteStore;
use super::uses::digest;
use super::{Error, export, seal, sources, unmapped};
use crate::background;
use bank_core::effects::UseRow;
use bank_core::usage::kept;
use bank_core_figures::rollup::Sign;
use bank_core_figures::sizes::Sizes;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use std::thread;

/// Columns of a row but its digest, which is the last.
const COLUMNS: usize = 42;

/// Number of bound values of a row: the columns, the digest and the seal.
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
             available, host, disk_bytes, more, pi, given, refused_tx, digest, seal)"
    };
}

/// One row of them.
macro_rules! insert {
    () => {
        concat!(columns!(), " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
             ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35,
             ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?44)")
    };
}

/// A row of an identity that has none.
const NEW: &str = insert!();

/// Replaces a row. For each such row the database keeps changes in a second journal, which doubles
/// the cost.
const AMENDED: &str = concat!(
    insert!(),
    " ON CONFLICT (source, object_id, start_at) DO UPDATE SET end_at = ?4, submit_at = ?5,
        machine = ?6, object_type = ?7, account = ?8, login = ?9, project = ?10, user = ?11,
        group_name = ?12, queue = ?13, qos = ?14, state = ?15, exit_code = ?16, flags = ?17,
        millis = ?18, nodes = ?19, gpus = ?20, memory_bytes = ?21, wall_us = ?22, cpu_us = ?23,
        requested_s = ?24, revision = ?25, became = ?26, policy = ?27, counted = ?28,
        instance = ?29, amount = ?30, allocation = ?31, refusal = ?32, tx = ?33, block = ?34,
        place = ?35, available = coalesce(?36, available), host = ?37, disk_bytes = ?38,
        more = ?39, pi = ?40, given = ?41, digest = ?43,
        refused_tx = CASE WHEN ?29 IS NULL AND ?32 IS NOT NULL THEN coalesce(refused_tx, ?42) END"
);

/// Writes finished uses, adds them to rollups, and notes those that wait for a project; the record
/// before each of the same identity is replaced. `tx` is the transaction that took them in, where
/// there was one.
pub(super) fn write_uses(
    store: &mut SqliteStore,
    rows: &[UseRow],
    tx: Option<i64>,
) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let (connection, directory) = (&store.connection, &store.directory);
    let rollups = &mut store.rollups;
    let at = (store.block, store.place);
    let are_new = rows.iter().all(|row| row.revision == 0);
    let (numbers, waits) = if store.bulk.is_some() && are_new && rows.len() > TOGETHER {
        // The other processor is idle: rollup contributions are computed during the writes.
        let (written, counted) = thread::scope(|scope| {
            let counting = scope.spawn(|| {
                background::give_way();
                (
                    rollups.count_known(rows),
                    unmapped::waiting(directory, rows),
                )
            });
            let written = write_rows(connection, None, rows, (at, tx));
            (written, counting.join())
        });
        let (left, waits) = counted.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let left = left.into_iter().filter_map(|place| rows.get(place));
        rollups.count_uses(connection, left)?;
        (written?, waits)
    } else {
        let numbers = write_rows(connection, Some(rollups), rows, (at, tx))?;
        (numbers, unmapped::waiting(directory, rows))
    };
    unmapped::note(connection, rows, &numbers, &waits)
}

/// Writes the rows, and adds them to rollups where these are given. Gives the numbers of the rows that
/// are new, in the order of the uses.
fn write_rows(
    connection: &Connection,
    mut rollups: Option<&mut Rollups>,
    rows: &[UseRow],
    (at, tx): (Place, Option<i64>),
) -> Result<Vec<Option<i64>>, Error> {
    let mut sources = Sources::default();
    let mut numbers = Vec::with_capacity(rows.len());
    let (mut many, mut one, mut amended) = (None, None, None);
    // The rules have checked whether the identity exists: the first revision has no row yet.
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
        }
        for row in rest {
            let source = sources.of(connection, row)?;
            let writing = if is_new {
                ready(&mut one, connection, &|| NEW.to_owned())?
            } else {
                if let Some(rollups) = &mut rollups {
                    rollups.stored_use(connection, key_of(row), Sign::Minus)?;
                }
                ready(&mut amended, connection, &|| AMENDED.to_owned())?
            };
            let amends = if is_new {
                None
            } else {
                Some(amended_by(connection, row, source)?)
            };
            writing.bind(0, &cells(at, row, source, tx), row)?;
            let number = writing.run(connection)?.next();
            numbers.push(number.filter(|_| is_new));
            if let Some((id, before)) = amends {
                seal::renew(connection, "usage_identity", &[&id])?;
                export::changed(connection, id, before)?;
            }
        }
        if let Some(rollups) = &mut rollups {
            rollups.count_uses(connection, alike)?;
        }
    }
    Ok(numbers)
}

/// The block of lines that rows are of, and the line of it where all are of one.
type Place = (Option<i64>, Option<u32>);

/// The identity of a use: source, id and start.
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

/// The statement for [`TOGETHER`] new rows. If it fails, the whole transaction is rolled back: the
/// database need not keep the state before each statement.
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

/// The stored end of a run of samples that a row only prolongs; none for any other change.
fn prolonged(connection: &Connection, row: &UseRow, source: i64) -> Result<Option<i64>, Error> {
    let report = &row.report;
    let more = report.more.as_deref().unwrap_or_default();
    if kept::value(more, kept::POD).is_none() {
        return Ok(None);
    }
    let sql = "SELECT end_at FROM usage_identity
               WHERE source = ?1 AND object_id = ?2 AND start_at = ?3 AND end_at < ?4 AND more = ?5
                   AND pi = ?6 AND project = ?7 AND user = ?8 AND machine = ?9 AND account = ?10
                   AND became NOT IN ('kept', 'unused', 'duplicate')";
    let request = &report.request;
    let found = connection.prepare_cached(sql)?.query_row(
        params![
            source,
            request.object_id,
            report.incarnation().0,
            request.facts.end.map(|end| end.0),
            more,
            report.pi,
            row.project(),
            row.user(),
            request.whose.machine,
            report.account(),
        ],
        |r| r.get(0),
    );
    Ok(found.optional()?)
}

/// The row that a record replaces: its number, and what exports have of it.
fn amended_by(
    connection: &Connection,
    row: &UseRow,
    source: i64,
) -> Result<(i64, export::Before), Error> {
    let sql = "SELECT id, digest FROM usage_identity
               WHERE source = ?1 AND object_id = ?2 AND start_at = ?3";
    let report = &row.report;
    let key = (source, &report.request.object_id, report.incarnation().0);
    let mut statement = connection.prepare_cached(sql)?;
    let (id, digest): (i64, Vec<u8>) = statement.query_row(key, |r| Ok((r.get(0)?, r.get(1)?)))?;
    let before = export::Before {
        ended: prolonged(connection, row, source)?,
        // Runs of samples are amended all the time, and are compared by their times.
        digest: Some(digest).filter(|_| !report.is_of_samples()),
        ..export::Before::of(connection, id)?
    };
    Ok((id, before))
}

/// A statement with its bound values.
struct Writing<'c, 'r> {
    statement: CachedStatement<'c>,
    bound: Vec<[ValueRef<'r>; COLUMNS]>,
}

impl<'c, 'r> Writing<'c, 'r> {
    fn new(connection: &'c Connection, sql: &str) -> Result<Self, Error> {
        // A cached statement has no bound values, and unbound parameters are NULL.
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
        let checksum = row
            .digest
            .unwrap_or_else(|| digest(&row.report.canonical()));
        let all = cells.iter().copied().chain([ValueRef::Blob(&checksum)]);
        let seal = seal::of_refs(all);
        let last = first.saturating_add(COLUMNS);
        self.statement
            .raw_bind_parameter(last, checksum.as_slice())?;
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
}

/// The columns of a row, in the order of the statement.
fn cells(
    (block, own): Place,
    row: &UseRow,
    source: i64,
    tx: Option<i64>,
) -> [ValueRef<'_>; COLUMNS] {
    let report = &row.report;
    let request = &report.request;
    let (facts, usage) = (&request.facts, &request.facts.usage);
    let sizes = Sizes::of(report);
    let place = row.place.or(own).filter(|_| block.is_some());
    // The refusal of a use with an instance is read from the entry.
    let is_refused = row.refusal.is_some() && row.instance.is_none();
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
        or_null(sizes.millis),
        or_null(sizes.nodes),
        or_null(sizes.gpus),
        or_null(sizes.memory),
        or_null(sizes.wall),
        or_null(sizes.cpu),
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
        or_null(sizes.disk),
        report.more.as_deref().map_or(ValueRef::Null, text),
        text(&report.pi),
        ValueRef::Integer(row.given.into()),
        or_null(tx.filter(|_| is_refused)),
    ]
}

fn text(value: &str) -> ValueRef<'_> {
    ValueRef::Text(value.as_bytes())
}

fn or_null<'r>(value: Option<i64>) -> ValueRef<'r> {
    value.map_or(ValueRef::Null, ValueRef::Integer)
}
