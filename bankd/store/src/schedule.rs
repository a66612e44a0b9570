//! Scheduled reports: the progress of each definition, the stored report of each period, and its
//! notices, written in one transaction (decision note 0081).

use super::attention::seal_targets;
use super::idempotency::{Known, StoredAnswer};
use super::sqlite::SqliteStore;
use super::{Error, seal};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

/// Number of listed runs of each definition.
const RUNS_SHOWN: i64 = 10;

/// A definition of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRow {
    /// Its name.
    pub name: String,
    /// The word of its periods.
    pub every: String,
    /// Their zone.
    pub tz: String,
    /// When the period begins that is under way: the first one that a new definition is made for.
    pub from: Timestamp,
}

/// A period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanRow {
    /// Its name.
    pub name: String,
    /// When it begins, µs since 1970.
    pub from: i64,
    /// When it is over, exclusive.
    pub until: i64,
}

/// State of a definition, with its last report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Its name.
    pub name: String,
    /// Whether it is in the settings.
    pub active: bool,
    /// Up to when its periods are made or passed over.
    pub done_to: Timestamp,
    /// Periods that were passed over, ever.
    pub skipped: i64,
    /// The last of them; empty for none.
    pub skipped_last: String,
    /// Failures since it went well.
    pub failures: i64,
    /// When it was tried last.
    pub tried_at: Option<Timestamp>,
    /// Why that failed; empty where it did not.
    pub error: String,
    /// Last made and requested runs, the newest first; without their texts.
    pub runs: Vec<ReportRun>,
}

/// The report of a definition for a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportRun {
    /// Its number.
    pub id: i64,
    /// The name of its definition.
    pub schedule: String,
    /// The period.
    pub period: SpanRow,
    /// Whether it exists; else it was requested.
    pub made: bool,
    /// The person who requested it; empty for the timer.
    pub requested_by: String,
    /// When it was made.
    pub made_at: Option<Timestamp>,
    /// The name of its file.
    pub file: String,
    /// `html`, `csv`, `json` or `text`.
    pub form: String,
    /// Mail recipients, separated by commas.
    pub recipients: String,
    /// The last line of the output, if nothing is delivered.
    pub message: String,
    /// Bytes of the text.
    pub size: i64,
    /// The text, where it was asked for and is kept.
    pub body: Option<Vec<u8>>,
    /// Its notices: the target, its state, and why the last attempt failed.
    pub notices: Vec<(String, String, String)>,
}

/// Something that was made, on its way into the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeReport {
    /// The name of its definition.
    pub schedule: String,
    /// The period.
    pub period: SpanRow,
    /// The row of whoever asked for it; none for the timer.
    pub wanted: Option<i64>,
    /// The name of its file.
    pub file: String,
    /// Its form.
    pub form: String,
    /// Mail recipients.
    pub recipients: String,
    /// A line about it.
    pub message: String,
    /// The text; none where nothing is delivered.
    pub body: Option<Vec<u8>>,
    /// Targets.
    pub targets: Vec<String>,
}

/// A change of the stored state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleChange {
    /// It is made: the mark of its period and the notices, or nothing where the mark is there.
    Made(Box<MadeReport>),
    /// The report of this definition failed, with the reason; a number cancels the request with it.
    Failed(String, String, Option<i64>),
    /// So many periods are passed over, to the end of this one.
    PassedOver(String, i64, SpanRow),
    /// A definition is done up to an instant: the report of its period exists by request.
    Done(String, Timestamp),
    /// A person requests a period of a definition.
    Wanted(Box<WantedReport>),
}

/// A request and its answer: both are stored, or neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedReport {
    /// The name of the definition.
    pub schedule: String,
    /// The period.
    pub period: SpanRow,
    /// The requesting person.
    pub requested_by: String,
    /// The client that owns the key.
    pub client: String,
    /// Their key: it is for nothing else, and a repeat gets the answer.
    pub key: String,
    /// The answer.
    pub answer: StoredAnswer,
}

impl SqliteStore {
    /// Takes over the definitions of the settings. A new or re-added definition, and one with other
    /// periods, begins with the current period.
    pub fn meet_schedules(&mut self, all: &[ScheduleRow]) -> Result<(), Error> {
        let tx = self.connection.transaction()?;
        let mut changed: Vec<String> = {
            let names: Vec<&str> = all.iter().map(|row| row.name.as_str()).collect();
            let names = serde_json::Value::from(names).to_string();
            let sql = "UPDATE schedule SET active = 0, error = '', failures = 0 WHERE active = 1
                           AND name NOT IN (SELECT value FROM json_each(?1)) RETURNING name";
            let mut statement = tx.prepare(sql)?;
            let gone = statement.query_map([names], |r| r.get(0))?;
            gone.collect::<Result<_, _>>()?
        };
        for row in all {
            let rows = tx.execute(
                "INSERT INTO schedule (name, active, every, tz, done_to) VALUES (?1, 1, ?2, ?3, ?4)
                 ON CONFLICT (name) DO UPDATE SET active = 1, every = ?2, tz = ?3,
                     done_to = CASE WHEN active = 1 AND every = ?2 THEN done_to ELSE ?4 END
                 WHERE active <> 1 OR every <> ?2 OR tz <> ?3",
                (&row.name, &row.every, &row.tz, row.from.0),
            )?;
            if rows > 0 {
                changed.push(row.name.clone());
            }
        }
        // Unchanged rows keep their seals, so that earlier tampering is still detected.
        for name in &changed {
            seal::renew(&tx, "schedule", &[name])?;
        }
        tx.commit()?;
        Ok(())
    }

    /// Changes the stored state; returns the number of affected rows.
    pub fn change_schedule(
        &mut self,
        change: &ScheduleChange,
        now: Timestamp,
    ) -> Result<u64, Error> {
        if let ScheduleChange::Wanted(wanted) = change {
            return self.report_wanted(wanted, now);
        }
        let connection = &self.connection;
        let name = match change {
            ScheduleChange::Made(made) => return self.report_made(made, now),
            ScheduleChange::Wanted(wanted) => &wanted.schedule,
            ScheduleChange::Failed(name, why, wanted) => {
                if let Some(id) = wanted {
                    let sql = "DELETE FROM report_run WHERE id = ?1 AND state = 'wanted'";
                    connection.execute(sql, [id])?;
                }
                connection.execute(
                    "UPDATE schedule SET failures = failures + 1, tried_at = ?2, error = ?3
                     WHERE name = ?1",
                    (name, now.0, why),
                )?;
                name
            }
            ScheduleChange::Done(name, until) => {
                let sql = "UPDATE schedule SET done_to = max(done_to, ?2) WHERE name = ?1";
                connection.execute(sql, (name, until.0))?;
                name
            }
            ScheduleChange::PassedOver(name, count, last) => {
                connection.execute(
                    "UPDATE schedule SET skipped = skipped + ?2, skipped_last = ?3, done_to = ?4
                     WHERE name = ?1 AND done_to < ?4",
                    (name, count, &last.name, last.until),
                )?;
                name
            }
        };
        seal::renew(connection, "schedule", &[name])?;
        Ok(1)
    }

    /// Adds a row for a request, unless one is pending, and the answer with its key. Does nothing
    /// if the key was used before: the call was repeated.
    fn report_wanted(&mut self, wanted: &WantedReport, now: Timestamp) -> Result<u64, Error> {
        let WantedReport {
            schedule,
            period,
            requested_by,
            client,
            key,
            answer,
        } = wanted;
        let known = self.known(client, key, &answer.fingerprint, &answer.nonce)?;
        if !matches!(known, Known::New) {
            return Ok(0);
        }
        let rows = self.connection.execute(
            "INSERT INTO report_run (schedule, period, from_at, until_at, turn, state, asked_by,
                 file, form, told, says, size)
             SELECT ?1, ?2, ?3, ?4, coalesce(max(turn), -1) + 1, 'wanted', ?5, '', '', '', '', 0
             FROM report_run WHERE schedule = ?1 AND period = ?2
             HAVING coalesce(sum(state = 'wanted'), 0) = 0",
            (
                schedule,
                &period.name,
                period.from,
                period.until,
                requested_by,
            ),
        )?;
        if rows > 0 {
            let id = self.connection.last_insert_rowid();
            seal::renew(&self.connection, "report_run", &[&id])?;
        }
        self.keep_answer(client, key, answer, false, now)?;
        Ok(1)
    }

    /// The mark, and a notice for each target. Where the mark is there already, only how far it is.
    fn report_made(&self, made: &MadeReport, now: Timestamp) -> Result<u64, Error> {
        let connection = &self.connection;
        let size = made.body.as_ref().map_or(0, Vec::len);
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let MadeReport {
            file,
            form,
            recipients,
            message,
            body,
            period,
            ..
        } = made;
        let id = if let Some(id) = made.wanted {
            let rows = connection.execute(
                "UPDATE report_run SET state = 'made', made_at = ?2, file = ?3, form = ?4, told = ?5,
                     says = ?6, body = ?7, size = ?8 WHERE id = ?1 AND state = 'wanted'",
                (id, now.0, file, form, recipients, message, body, size),
            )?;
            (rows > 0).then_some(id)
        } else {
            let rows = connection.execute(
                "INSERT INTO report_run (schedule, period, from_at, until_at, turn, state, asked_by,
                     made_at, file, form, told, says, body, size)
                 VALUES (?1, ?2, ?3, ?4, 0, 'made', '', ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                 ON CONFLICT DO NOTHING",
                rusqlite::params![
                    made.schedule,
                    period.name,
                    period.from,
                    period.until,
                    now.0,
                    file,
                    form,
                    recipients,
                    message,
                    body,
                    size
                ],
            )?;
            (rows > 0).then(|| connection.last_insert_rowid())
        };
        let done_to = made.wanted.map_or(made.period.until, |_| i64::MIN);
        connection.execute(
            "UPDATE schedule SET failures = 0, error = '', tried_at = ?2,
                 done_to = max(done_to, ?3) WHERE name = ?1",
            (&made.schedule, now.0, done_to),
        )?;
        seal::renew(connection, "schedule", &[&made.schedule])?;
        let Some(id) = id else {
            return Ok(0);
        };
        seal::renew(connection, "report_run", &[&id])?;
        for target in &made.targets {
            connection.execute(
                "INSERT INTO notice (target, made_at, event, recipient, events, state, attempts,
                     error, report) VALUES (?1, ?2, NULL, '', '', 'waiting', 0, '', ?3)",
                (target, now.0, id),
            )?;
            let notice = connection.last_insert_rowid();
            seal::renew(connection, "notice", &[&notice])?;
            let sql = "UPDATE target SET made = made + 1 WHERE name = ?1";
            connection.execute(sql, [target])?;
        }
        seal_targets(connection, &made.targets)?;
        Ok(1)
    }

    /// Texts go with the last notice that brought them.
    pub(super) fn forget_texts(&self) -> Result<(), Error> {
        let mut statement = self.connection.prepare_cached(
            "UPDATE report_run SET body = NULL WHERE body IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM notice n WHERE n.report = report_run.id)
             RETURNING id",
        )?;
        let gone = statement.query_map([], |r| r.get::<_, i64>(0))?;
        for id in gone.collect::<Result<Vec<_>, _>>()? {
            seal::renew(&self.connection, "report_run", &[&id])?;
        }
        Ok(())
    }
}

/// Columns of a run, in the order that [`run`] reads.
const RUN: &str = "r.id, r.schedule, r.period, r.from_at, r.until_at, r.state = 'made', r.asked_by,
    r.made_at, r.file, r.form, r.told, r.says, r.size";

fn run(row: &Row<'_>) -> rusqlite::Result<ReportRun> {
    Ok(ReportRun {
        id: row.get(0)?,
        schedule: row.get(1)?,
        period: SpanRow {
            name: row.get(2)?,
            from: row.get(3)?,
            until: row.get(4)?,
        },
        made: row.get(5)?,
        requested_by: row.get(6)?,
        made_at: row.get::<_, Option<i64>>(7)?.map(Timestamp),
        file: row.get(8)?,
        form: row.get(9)?,
        recipients: row.get(10)?,
        message: row.get(11)?,
        size: row.get(12)?,
        body: None,
        notices: Vec::new(),
    })
}

/// Every definition that there ever was, by name, with the last that was made of it.
pub fn schedules(connection: &Connection) -> Result<Vec<Schedule>, Error> {
    let sql = "SELECT name, active, done_to, skipped, skipped_last, failures, tried_at, error
               FROM schedule ORDER BY name";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |r| {
        Ok(Schedule {
            name: r.get(0)?,
            active: r.get(1)?,
            done_to: Timestamp(r.get(2)?),
            skipped: r.get(3)?,
            skipped_last: r.get(4)?,
            failures: r.get(5)?,
            tried_at: r.get::<_, Option<i64>>(6)?.map(Timestamp),
            error: r.get(7)?,
            runs: Vec::new(),
        })
    })?;
    let mut found: Vec<Schedule> = rows.collect::<Result<_, _>>()?;
    let sql =
        format!("SELECT {RUN} FROM report_run r WHERE r.schedule = ?1 ORDER BY r.id DESC LIMIT ?2");
    let mut runs = connection.prepare_cached(&sql)?;
    let sql = "SELECT target, state, error FROM notice WHERE report = ?1 ORDER BY id";
    let mut notices = connection.prepare_cached(sql)?;
    for schedule in &mut found {
        let rows = runs.query_map((&schedule.name, RUNS_SHOWN), run)?;
        schedule.runs = rows.collect::<Result<_, _>>()?;
        for one in &mut schedule.runs {
            let rows = notices.query_map([one.id], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
            one.notices = rows.collect::<Result<_, _>>()?;
        }
    }
    Ok(found)
}

/// How often a definition was made, and brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleCount {
    /// Its name.
    pub name: String,
    /// Up to when its periods are made or passed over.
    pub done_to: Timestamp,
    /// Total number of its reports.
    pub made: i64,
    /// When the last of it was made.
    pub made_at: Option<Timestamp>,
    /// Failures since it went well.
    pub failures: i64,
    /// Periods that were passed over, ever.
    pub skipped: i64,
    /// Notices that wait for their target.
    pub waiting: i64,
    /// Notices that were given up, as long as they are kept.
    pub dead: i64,
}

/// Those of the settings, by name.
pub fn schedule_counts(connection: &Connection) -> Result<Vec<ScheduleCount>, Error> {
    let sql = "SELECT s.name, s.done_to, count(r.id), max(r.made_at), s.failures, s.skipped,
                   (SELECT count(*) FROM notice n JOIN report_run w ON w.id = n.report
                       WHERE n.state = 'waiting' AND w.schedule = s.name),
                   (SELECT count(*) FROM notice n JOIN report_run w ON w.id = n.report
                       WHERE n.state = 'dead' AND w.schedule = s.name)
               FROM schedule s LEFT JOIN report_run r ON r.schedule = s.name AND r.state = 'made'
               WHERE s.active = 1 GROUP BY s.name ORDER BY s.name";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |r| {
        Ok(ScheduleCount {
            name: r.get(0)?,
            done_to: Timestamp(r.get(1)?),
            made: r.get(2)?,
            made_at: r.get::<_, Option<i64>>(3)?.map(Timestamp),
            failures: r.get(4)?,
            skipped: r.get(5)?,
            waiting: r.get(6)?,
            dead: r.get(7)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A report with its text.
pub fn report_run(connection: &Connection, id: i64) -> Result<Option<ReportRun>, Error> {
    let sql = format!("SELECT {RUN}, r.body FROM report_run r WHERE r.id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row([id], |row| {
        Ok(ReportRun {
            body: row.get(13)?,
            ..run(row)?
        })
    });
    Ok(found.optional()?)
}

/// Reports of a period, made or requested; without texts.
pub fn runs_of(
    connection: &Connection,
    schedule: &str,
    period: &str,
) -> Result<Vec<ReportRun>, Error> {
    let sql = format!(
        "SELECT {RUN} FROM report_run r WHERE r.schedule = ?1 AND r.period = ?2 ORDER BY r.id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([schedule, period], run)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The oldest request without a report.
pub fn wanted_run(connection: &Connection) -> Result<Option<ReportRun>, Error> {
    let sql =
        format!("SELECT {RUN} FROM report_run r WHERE r.state = 'wanted' ORDER BY r.id LIMIT 1");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([], run).optional()?)
}
