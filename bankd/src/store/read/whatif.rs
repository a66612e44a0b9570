//! What strict enforcement would have refused: the `would_refuse` entries of a time, with what
//! their jobs used since.

use super::super::Error;
use super::journal::{self, JournalRow, Span};
use super::{Page, SCAN_MAX};
use bank_core::time::{Seconds, Timestamp};
use rusqlite::{Connection, OptionalExtension};

/// A job that would have been refused at one moment. Amounts are minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The transaction.
    pub tx: i64,
    /// When.
    pub at: Timestamp,
    /// The instance; none for what never became one.
    pub instance: Option<i64>,
    /// The scheduler's id, and the machine.
    pub object: (String, String),
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// The refusal's code.
    pub code: String,
    /// What was needed, and what was available, as the journal says it.
    pub figures: Option<(String, String)>,
    /// Seconds that the instance was charged for.
    pub used: Seconds,
    /// What it was charged, real and shadow together.
    pub billed: i128,
}

/// Those after a transaction that count from an instant on; the cursor goes on where this question
/// had to end.
pub fn refused(
    connection: &Connection,
    since: Timestamp,
    after: i64,
    keep: impl Fn(&JournalRow) -> bool,
) -> Result<Page<Refused>, Error> {
    let span = Span {
        after,
        since: Some(since),
        limit: SCAN_MAX,
        ..Span::default()
    };
    let is_refusal = |row: &JournalRow| {
        let entry = row.entry.as_ref();
        entry.is_some_and(|(_, e)| e.kind == "would_refuse") && keep(row)
    };
    let page = journal::page(connection, &span, is_refusal)?;
    let rows = page.rows.iter().map(|row| read(connection, row));
    Ok(Page {
        rows: rows.collect::<Result<_, _>>()?,
        next: page.next,
    })
}

fn read(connection: &Connection, row: &JournalRow) -> Result<Refused, Error> {
    let instance = row.tx.instance;
    let (used, billed) = match instance {
        Some(id) => used(connection, id)?,
        None => (0, 0),
    };
    let entry = row.entry.as_ref().map(|(_, entry)| entry);
    let machine = entry.map(|e| e.machine.clone()).unwrap_or_default();
    let value = |name: &str| {
        let mut words = row.tx.reason.split(' ');
        let found = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        found.map(str::to_owned)
    };
    Ok(Refused {
        tx: row.tx.id,
        at: row.tx.at_effective,
        instance,
        object: row
            .object
            .as_ref()
            .map_or((String::new(), machine), |(job, machine, _)| {
                (job.clone(), machine.clone())
            }),
        project: entry.map(|e| e.project.clone()).unwrap_or_default(),
        user: entry.map(|e| e.user.clone()).unwrap_or_default(),
        code: value("would_refuse").unwrap_or_default(),
        figures: value("needed").zip(value("available")),
        used: Seconds(used),
        billed,
    })
}

/// What an instance was charged: seconds and minor units.
fn used(connection: &Connection, instance: i64) -> Result<(i64, i128), Error> {
    let sql = "SELECT charged_s, billed, shadow_billed FROM instance WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let row = statement.query_row([instance], |r| {
        let (real, shadow): (i64, i64) = (r.get(1)?, r.get(2)?);
        Ok((r.get(0)?, i128::from(real) + i128::from(shadow)))
    });
    Ok(row.optional()?.unwrap_or((0, 0)))
}
