//! Scheduled reports: the progress of each definition, the stored report of each period, and its
//! notices, written in one transaction (decision note 0081).

use super::answer::{Known, StoredAnswer};
use super::attention::seal_targets;
use super::sqlite::SqliteStore;
use super::{Error, seal};
use bank_core::time::Timestamp;

mod read;

pub use read::{
    ScheduleCount, pages_of, report_run, runs_of, schedule_counts, schedules, wanted_runs,
};

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

/// State of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunState {
    /// It was requested.
    #[default]
    Wanted,
    /// It exists.
    Made,
    /// The page of a person could not be made.
    Failed,
}

impl RunState {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            RunState::Wanted => "wanted",
            RunState::Made => "made",
            RunState::Failed => "failed",
        }
    }
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
    /// The number of times that the period was requested before.
    pub turn: i64,
    /// The person whose page it is; empty for a report or a summary of pages.
    pub person: String,
    /// Whether it exists.
    pub state: RunState,
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
    /// The last line of the output if nothing is delivered; of a page why it is not sent.
    pub message: String,
    /// Bytes of the text.
    pub size: i64,
    /// The text, where it was asked for and is kept.
    pub body: Option<Vec<u8>>,
    /// The text of a mail; none if the report is an attachment.
    pub plain: Option<Vec<u8>>,
    /// Of a summary: its pages, and those that somebody did not get.
    pub pages: Pages,
    /// Its notices: the target, its state, and why the last attempt failed.
    pub notices: Vec<(String, String, String)>,
}

/// The pages of a definition for a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// Number of people.
    pub people: i64,
    /// People who did not get their page by every way, and why, by name.
    pub problems: Vec<(String, String)>,
}

/// Something that was made, on its way into the outbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeReport {
    /// The name of its definition.
    pub schedule: String,
    /// The period.
    pub period: SpanRow,
    /// The number of times that the period was requested before.
    pub turn: i64,
    /// The person whose page it is; empty for a report or a summary of pages.
    pub person: String,
    /// The person who requested it; empty for the timer.
    pub requested_by: String,
    /// Whether the page could not be made; `message` has the reason.
    pub failed: bool,
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
    /// The text of a mail; none if the report is an attachment.
    pub plain: Option<Vec<u8>>,
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
    /// The person whose page is requested; empty for the whole.
    pub person: String,
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
    pub fn meet_schedules(&self, all: &[ScheduleRow]) -> Result<(), Error> {
        let tx = &self.connection;
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
            seal::renew(tx, "schedule", &[name])?;
        }
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

    /// Adds a row for a request, unless one is pending, and the answer with its key. The first request
    /// of a whole period shares turn 0 with the timer, so that pages that are there are not made again. Does nothing
    /// if the key was used before: the call was repeated.
    fn report_wanted(&mut self, wanted: &WantedReport, now: Timestamp) -> Result<u64, Error> {
        let WantedReport {
            schedule,
            period,
            person,
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
                 file, form, told, says, size, person)
             SELECT ?1, ?2, ?3, ?4,
                 CASE WHEN ?6 = '' AND coalesce(sum(person = ''), 0) = 0 THEN 0
                     ELSE coalesce(max(turn), -1) + 1 END,
                 'wanted', ?5, '', '', '', '', 0, ?6
             FROM report_run WHERE schedule = ?1 AND period = ?2
             HAVING coalesce(sum(state = 'wanted' AND person = ?6), 0) = 0",
            (
                schedule,
                &period.name,
                period.from,
                period.until,
                requested_by,
                person,
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
        let id = match made.wanted {
            Some(id) => {
                let rows = connection.execute(
                    "UPDATE report_run SET state = 'made', made_at = ?2, file = ?3, form = ?4,
                         told = ?5, says = ?6, body = ?7, size = ?8, plain = ?9
                     WHERE id = ?1 AND state = 'wanted'",
                    rusqlite::params![
                        id,
                        now.0,
                        made.file,
                        made.form,
                        made.recipients,
                        made.message,
                        made.body,
                        size,
                        made.plain
                    ],
                )?;
                (rows > 0).then_some(id)
            }
            None => self.insert_made(made, size, now)?,
        };
        // A page is one of many: only the summary after the last of them completes the period.
        let is_page = !made.person.is_empty() && made.wanted.is_none();
        if !is_page {
            let done_to = made.wanted.map_or(made.period.until, |_| i64::MIN);
            connection.execute(
                "UPDATE schedule SET failures = 0, error = '', tried_at = ?2,
                     done_to = max(done_to, ?3) WHERE name = ?1",
                (&made.schedule, now.0, done_to),
            )?;
            seal::renew(connection, "schedule", &[&made.schedule])?;
        }
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

    /// The row of a report of the timer, or of a page; none if it is there already.
    fn insert_made(
        &self,
        made: &MadeReport,
        size: i64,
        now: Timestamp,
    ) -> Result<Option<i64>, Error> {
        let state = if made.failed {
            RunState::Failed
        } else {
            RunState::Made
        };
        let rows = self.connection.execute(
            "INSERT INTO report_run (schedule, period, from_at, until_at, turn, state, asked_by,
                 made_at, file, form, told, says, body, size, person, plain)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT DO NOTHING",
            rusqlite::params![
                made.schedule,
                made.period.name,
                made.period.from,
                made.period.until,
                made.turn,
                state.word(),
                made.requested_by,
                now.0,
                made.file,
                made.form,
                made.recipients,
                made.message,
                made.body,
                size,
                made.person,
                made.plain
            ],
        )?;
        Ok((rows > 0).then(|| self.connection.last_insert_rowid()))
    }

    /// Texts go with the last notice that brought them; pages of people when they are there.
    pub(super) fn forget_texts(&self) -> Result<(), Error> {
        let mut statement = self.connection.prepare_cached(
            "UPDATE report_run SET body = NULL, plain = NULL WHERE body IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM notice n WHERE n.report = report_run.id
                     AND (report_run.person = '' OR n.state <> 'sent'))
             RETURNING id",
        )?;
        let gone = statement.query_map([], |r| r.get::<_, i64>(0))?;
        for id in gone.collect::<Result<Vec<_>, _>>()? {
            seal::renew(&self.connection, "report_run", &[&id])?;
        }
        Ok(())
    }
}
