//! A bank with a long journal: a block of finished jobs is written by the ledger itself, and its rows are copied with new
//! numbers and new job ids until the journal has as many rows as asked for. Sums and hashes of the copies are those of the
//! block, which no command looks at.

use crate::document::{JOB_PREFIX, Spread, Step};
use crate::seed;
use anyhow::{Context, Result, bail};
use bankd_nami::Event;
use rusqlite::{Connection, OpenFlags};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// Jobs of the block.
const BLOCK: u64 = 10_000;

/// The first job of the block: every copy's ids have as many digits, so that they are in the order of their numbers.
const FIRST: u64 = 1_000_001_001;

/// Jobs of the ledger at the end of the journal.
const TAIL: u64 = 1_000;

/// Entries that the survey may leave to its next round.
const LEFT: i64 = 200_000;

/// Tables with rows of the jobs, each with the columns that number rows of a table.
const TABLES: [(&str, &[(&str, &str)]); 6] = [
    ("tx", &[("id", "tx"), ("instance", "instance")]),
    (
        "entry",
        &[
            ("id", "entry"),
            ("tx", "tx"),
            ("prev", "entry"),
            ("lien", "lien"),
            ("usage", "usage"),
            ("instance", "instance"),
        ],
    ),
    (
        "instance",
        &[
            ("id", "instance"),
            ("record", "usage"),
            ("last_usage", "usage"),
            ("lien", "lien"),
        ],
    ),
    ("lien", &[("id", "lien"), ("instance", "instance")]),
    ("lien_allocation", &[("lien", "lien")]),
    (
        "usage",
        &[
            ("id", "usage"),
            ("prev", "usage"),
            ("instance", "instance"),
            ("tx", "tx"),
        ],
    ),
];

/// Makes the journal of a data directory so long: transactions and entries together.
pub(crate) fn lengthen(data: &Path, rows: u64) -> Result<()> {
    let database = data.join("bank.db");
    let before = ends(&Connection::open(&database)?)?;
    seed::execute(data, finished(FIRST..FIRST + BLOCK), Spread::Many)?;
    let connection = Connection::open(&database)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
         PRAGMA cache_size = -1048576; BEGIN;",
    )?;
    let after = ends(&connection)?;
    let size = |table: &str| Ok::<_, anyhow::Error>(end(&after, table)? - end(&before, table)?);
    let block = size("tx")? + size("entry")?;
    let copies = i64::try_from(rows)? / block.max(1) - 1;
    for (table, numbers) in TABLES {
        copy(&connection, (table, numbers), (&before, &after), copies)?;
    }
    let reached = ["tx", "entry", "instance", "lien", "usage"];
    for table in reached {
        let sql = format!("UPDATE extent SET {table} = (SELECT max(id) FROM {table})");
        connection.execute(&sql, [])?;
    }
    connection.execute_batch("COMMIT; PRAGMA journal_mode = WAL;")?;
    drop(connection);
    // The daemon proves the last transactions when it starts.
    seed::execute(data, finished(FIRST - TAIL..FIRST), Spread::Many)
}

/// The steps of jobs that are reserved, and then charged.
fn finished(jobs: Range<u64>) -> impl Iterator<Item = Step> {
    let steps = |event| jobs.clone().map(move |job| Step { event, job });
    steps(Event::Reserve).chain(steps(Event::Charge))
}

/// Waits until the daemon's survey of a bank has read its journal, so that it does not run beside what is measured.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing announces a waypoint: it is looked for in a pace"
)]
pub(crate) fn wait_for_survey(data: &Path) -> Result<()> {
    let reader =
        Connection::open_with_flags(data.join("bank.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    reader.busy_timeout(Duration::from_secs(10))?;
    let missing =
        "SELECT (SELECT max(id) FROM entry) - (SELECT coalesce(max(entry), 0) FROM waypoint)";
    for _ in 0..3600 {
        let missing: i64 = reader.query_row(missing, [], |row| row.get(0))?;
        if missing < LEFT {
            return Ok(());
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    bail!("the survey of the journal did not end within an hour")
}

/// The newest number of each table.
type Ends = HashMap<&'static str, i64>;

fn ends(connection: &Connection) -> Result<Ends> {
    let tables = TABLES
        .iter()
        .filter(|(table, _)| *table != "lien_allocation");
    let ends = tables.map(|(table, _)| {
        let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
        Ok((*table, connection.query_row(&sql, [], |row| row.get(0))?))
    });
    ends.collect()
}

fn end(ends: &Ends, table: &str) -> Result<i64> {
    ends.get(table).copied().context("a table of the bench")
}

/// Copies the block's rows of a table, in the order of their numbers.
fn copy(
    connection: &Connection,
    (table, numbers): (&str, &[(&str, &str)]),
    (before, after): (&Ends, &Ends),
    copies: i64,
) -> Result<()> {
    let mut columns = Vec::new();
    let mut found =
        connection.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
    for name in found.query_map([], |row| row.get::<_, String>(0))? {
        let name = name?;
        let counted = numbers.iter().find(|(column, _)| *column == name);
        columns.push(match counted {
            Some((_, of)) => {
                let (from, to) = (end(before, of)?, end(after, of)?);
                let size = to - from;
                format!("t.{name} + iif(t.{name} > {from}, copy.n * {size}, 0)")
            }
            None if name == "object_id" => format!(
                "'{JOB_PREFIX}' || (substr(t.object_id, {}) + copy.n * {BLOCK})",
                JOB_PREFIX.len() + 1
            ),
            None => format!("t.{name}"),
        });
    }
    let (key, of) = numbers.first().context("a table without numbers")?;
    let sql = format!(
        "WITH RECURSIVE copy (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < ?1)
         INSERT INTO {table} SELECT {} FROM copy CROSS JOIN {table} t WHERE t.{key} > ?2 AND t.{key} <= ?3",
        columns.join(", ")
    );
    connection.execute(&sql, (copies, end(before, of)?, end(after, of)?))?;
    Ok(())
}
