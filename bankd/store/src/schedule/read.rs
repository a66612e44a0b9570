//! Questions about scheduled reports: definitions, requests, and what was made.

use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use super::super::Error;
use super::{Pages, ReportRun, RunState, Schedule, SpanRow};

/// Number of listed runs of each definition.
const RUNS_SHOWN: i64 = 10;

/// Columns of a run, in the order that [`run`] reads.
const RUN: &str = "r.id, r.schedule, r.period, r.from_at, r.until_at, r.state, r.asked_by,
    r.made_at, r.file, r.form, r.told, r.says, r.size, r.turn, r.person";

fn run(row: &Row<'_>) -> rusqlite::Result<ReportRun> {
    Ok(ReportRun {
        id: row.get(0)?,
        schedule: row.get(1)?,
        period: SpanRow {
            name: row.get(2)?,
            from: row.get(3)?,
            until: row.get(4)?,
        },
        state: match row.get::<_, String>(5)?.as_str() {
            "made" => RunState::Made,
            "failed" => RunState::Failed,
            _ => RunState::Wanted,
        },
        requested_by: row.get(6)?,
        made_at: row.get::<_, Option<i64>>(7)?.map(Timestamp),
        file: row.get(8)?,
        form: row.get(9)?,
        recipients: row.get(10)?,
        message: row.get(11)?,
        size: row.get(12)?,
        turn: row.get(13)?,
        person: row.get(14)?,
        body: None,
        plain: None,
        pages: Pages::default(),
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
    let sql = format!(
        "SELECT {RUN} FROM report_run r WHERE r.schedule = ?1 AND r.person = ''
         ORDER BY r.id DESC LIMIT ?2"
    );
    let mut runs = connection.prepare_cached(&sql)?;
    let sql = "SELECT target, state, error FROM notice WHERE report = ?1 ORDER BY id";
    let mut notices = connection.prepare_cached(sql)?;
    for schedule in &mut found {
        let rows = runs.query_map((&schedule.name, RUNS_SHOWN), run)?;
        schedule.runs = rows.collect::<Result<_, _>>()?;
        for one in &mut schedule.runs {
            let rows = notices.query_map([one.id], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
            one.notices = rows.collect::<Result<_, _>>()?;
            if one.state == RunState::Made {
                one.pages = pages(connection, one)?;
            }
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
               FROM schedule s LEFT JOIN report_run r
                   ON r.schedule = s.name AND r.state = 'made' AND r.person = ''
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
    let sql = format!("SELECT {RUN}, r.body, r.plain FROM report_run r WHERE r.id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row([id], |row| {
        Ok(ReportRun {
            body: row.get(15)?,
            plain: row.get(16)?,
            ..run(row)?
        })
    });
    Ok(found.optional()?)
}

/// Reports of a period and a person (empty for reports and summaries), made or requested; without texts.
pub fn runs_of(
    connection: &Connection,
    schedule: &str,
    period: &str,
    person: &str,
) -> Result<Vec<ReportRun>, Error> {
    let sql = format!(
        "SELECT {RUN} FROM report_run r WHERE r.schedule = ?1 AND r.period = ?2 AND r.person = ?3
         ORDER BY r.id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([schedule, period, person], run)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The pages of a turn of a period that are made or have failed, by person; without texts.
pub fn pages_of(
    connection: &Connection,
    schedule: &str,
    period: &str,
    turn: i64,
) -> Result<Vec<ReportRun>, Error> {
    let sql = format!(
        "SELECT {RUN} FROM report_run r WHERE r.schedule = ?1 AND r.period = ?2 AND r.turn = ?3
             AND r.person <> '' AND r.state <> 'wanted' ORDER BY r.person"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map((schedule, period, turn), run)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The pages of a summary.
fn pages(connection: &Connection, summary: &ReportRun) -> Result<Pages, Error> {
    let rows = pages_of(
        connection,
        &summary.schedule,
        &summary.period.name,
        summary.turn,
    )?;
    let people = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let problems = rows.into_iter().filter(|row| !row.message.is_empty());
    Ok(Pages {
        people,
        problems: problems.map(|row| (row.person, row.message)).collect(),
    })
}

/// Requests without a report, the oldest first.
pub fn wanted_runs(connection: &Connection) -> Result<Vec<ReportRun>, Error> {
    let sql = format!("SELECT {RUN} FROM report_run r WHERE r.state = 'wanted' ORDER BY r.id");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], run)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
