//! Proof of the house: the pages of the file, the tables, triggers and indexes that there are, and the
//! migrations that made them.

use super::super::{Error, migrate};
use super::{Finding, Report};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Every page is valid, and every index matches its table.
pub(super) fn pages(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let check: String = connection.query_row("PRAGMA integrity_check(1)", [], |r| r.get(0))?;
    if check != "ok" {
        let last = check.lines().last().unwrap_or_default();
        report.find(Finding::new("", "", format!("corrupt: {last}")));
    }
    Ok(())
}

/// Tables, indexes and triggers are those of a bank that was made now: whoever took a trigger away to
/// change the journal has left that open.
pub(super) fn schema(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let (is, should) = (objects(connection)?, made()?);
    for (name, sql) in should.iter() {
        match is.get(name) {
            None => {
                let text = format!("{name}: it is missing from the schema");
                report.find(Finding::new("schema", name, text));
            }
            Some(other) if other != sql => {
                let text = format!("{name}: it differs from the schema of the migrations");
                report.find(Finding::new("schema", name, text));
            }
            Some(_) => {}
        }
    }
    for name in is.keys().filter(|name| !should.contains_key(*name)) {
        let text = format!("{name}: no migration makes it");
        report.find(Finding::new("schema", name, text));
    }
    migrations(connection, report)
}

/// Statements of a schema by type and name.
type Objects = BTreeMap<String, String>;

/// The schema of a bank that is made now. Each version is made once in a process: it takes longer than a small bank.
pub(super) fn made() -> Result<Arc<Objects>, Error> {
    static MADE: Mutex<BTreeMap<i64, Arc<Objects>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let version = migrate::current_version();
    if let Some(known) = made.get(&version) {
        return Ok(Arc::clone(known));
    }
    let mut fresh = Connection::open_in_memory()?;
    migrate::migrate(&mut fresh)?;
    let all = Arc::new(objects(&fresh)?);
    made.insert(version, Arc::clone(&all));
    Ok(all)
}

/// Everything in the schema with the words that made it.
fn objects(connection: &Connection) -> Result<Objects, Error> {
    // The warm-up table of the service start may exist.
    let mut statement = connection.prepare(
        "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema
         WHERE name NOT IN ('warm_up', 'sqlite_stat1', 'sqlite_stat4')",
    )?;
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn migrations(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare("SELECT number, checksum FROM migration")?;
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
    let is: BTreeMap<i64, String> = rows.collect::<Result<_, _>>()?;
    let should: BTreeMap<i64, String> = migrate::expected().collect();
    for number in should
        .keys()
        .chain(is.keys().filter(|n| !should.contains_key(*n)))
    {
        let word = |known: Option<&String>| known.map_or("none", String::as_str).to_owned();
        let (expected, found) = (word(should.get(number)), word(is.get(number)));
        if expected != found {
            let text = format!("migration {number}: it differs from the migration in this program");
            let finding = Finding::new("migration", number, text);
            report.find(finding.differs(expected, found));
        }
    }
    Ok(())
}
