//! Collectors with their figures.

use super::super::Error;
use bank_core::time::{Seconds, Timestamp};
use rusqlite::Connection;

/// Collectors that one answer takes.
pub const SOURCES_MAX: i64 = 10_000;

/// A collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRow {
    /// Its name.
    pub name: String,
    /// The format of its data; empty for the API.
    pub format: String,
    /// The machine of records that name none; empty for none.
    pub machine: String,
    /// First and last contact; none if unknown.
    pub contacts: [Option<Timestamp>; 2],
    /// The latest end of a use.
    pub last_event: Option<Timestamp>,
    /// Records, jobs, skipped and rejected ones.
    pub counts: [i64; 4],
    /// Number of records in the quarantine.
    pub quarantined: i64,
    /// Silence limit, 0 for ever; none: the value of the settings.
    pub silent_after: Option<Seconds>,
    /// It is hidden until its next contact.
    pub removed: bool,
}

/// All of them, by name; with a name that one.
pub fn list(connection: &Connection, name: Option<&str>) -> Result<Vec<SourceRow>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT name, format, machine, first_contact, last_contact, last_event, records, jobs,
             skipped, rejected, (SELECT count(*) FROM quarantine q WHERE q.source = s.name),
             silent_after_s, removed
         FROM source s WHERE ?1 IS NULL OR name = ?1 ORDER BY name LIMIT ?2",
    )?;
    let mut rows = statement.query((name, SOURCES_MAX))?;
    let known = |at: i64| (at != 0).then_some(Timestamp(at));
    let mut found = Vec::new();
    while let Some(r) = rows.next()? {
        found.push(SourceRow {
            name: r.get(0)?,
            format: r.get(1)?,
            machine: r.get(2)?,
            contacts: [known(r.get(3)?), known(r.get(4)?)],
            last_event: r.get::<_, Option<i64>>(5)?.map(Timestamp),
            counts: [r.get(6)?, r.get(7)?, r.get(8)?, r.get(9)?],
            quarantined: r.get(10)?,
            silent_after: r.get::<_, Option<i64>>(11)?.map(Seconds),
            removed: r.get(12)?,
        });
    }
    Ok(found)
}

impl SourceRow {
    /// How long it may be silent; 0 for ever.
    pub fn patience(&self, usual: Seconds) -> Seconds {
        self.silent_after.unwrap_or(usual)
    }

    /// Whether it has been silent for too long.
    pub fn is_silent(&self, usual: Seconds, now: Timestamp) -> bool {
        let patience = self.patience(usual);
        let [_, last] = self.contacts;
        let heard = last.is_some_and(|last| last >= now.minus(patience));
        !self.removed && patience.0 > 0 && !heard
    }
}
