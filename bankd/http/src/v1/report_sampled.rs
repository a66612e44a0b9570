//! Numbers of running and waiting jobs in snapshots (reports.md 2, decision note 0071): query and
//! visibility.
//!
//! As with usage, leaders of a project or the bank see the owners. A plain member sees their own jobs, and
//! those of other members in rows without a name.

mod shaped;

use bank_api::v1::{SampledQuery, UsageQuery};
use bank_core::calendar::Zone;
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bank_core_figures::rollup::HOUR;
use bank_core_figures::rollup::grid::{Every, Grid};
use bankd_store::read::report::{self, Sampling};

use super::call::{Call, Handled, ok};
use super::owner::{CurrentNames, HIDDEN, holds, leader, sees};
use super::report_usage::{
    BUCKETS, BUCKETS_MAX, ROWS_MAX, check_names, every, moment, too_many, zone,
};
use super::view::View;
use crate::error::Failure;

/// Row keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Project,
    User,
    Machine,
    Queue,
    Pi,
    Source,
}

/// Each with its word.
const WORDS: [(Word, &str); 6] = [
    (Word::Project, "project"),
    (Word::User, "user"),
    (Word::Machine, "machine"),
    (Word::Queue, "queue"),
    (Word::Pi, "pi"),
    (Word::Source, "source"),
];

impl Word {
    fn text(self) -> &'static str {
        let found = WORDS.iter().find(|(word, _)| *word == self);
        found.map_or("project", |(_, text)| text)
    }
}

/// `GET /api/v1/report/sampled`
pub(super) async fn show(call: Call) -> Handled {
    let query: SampledQuery = call.query()?;
    let wanted = Wanted::read(&call, &query).map_err(|refusal| call.refused(&refusal))?;
    let of = of(&query);
    check_names(&call, &of).await?;
    let from = match wanted.from {
        Some(from) => from,
        None => earliest(&call, wanted.until).await?,
    };
    if from >= wanted.until {
        return Err(call.refused(&Refusal::BadWindow));
    }
    let grid = Grid::new(from, wanted.until, wanted.every, &wanted.zone, BUCKETS_MAX);
    let grid = grid.ok_or_else(|| too_many(&call, "every", BUCKETS))?;
    let sampling = Sampling {
        grid: grid.clone(),
        place: place(call.view.clone(), of.clone(), wanted.by.clone()),
        every_source: call.view.is_unlimited() && of == UsageQuery::default(),
        most: ROWS_MAX,
    };
    let found = call.ask(move |connection| report::sampled(connection, &sampling));
    let found = found.await?;
    if found.rows.len() > ROWS_MAX {
        return Err(too_many(&call, "by", "less: more than 100,000 rows"));
    }
    ok(&shaped::table(&query, &wanted, &grid, found))
}

/// The time of the first snapshot.
async fn earliest(call: &Call, until: Timestamp) -> Result<Timestamp, Failure> {
    let first = call.ask(report::first_snapshot).await?;
    let hour_before = Timestamp(until.0.saturating_sub(HOUR));
    Ok(first.map_or(hour_before, |first| first.min(hour_before)))
}

/// A question that was read.
struct Wanted {
    from: Option<Timestamp>,
    until: Timestamp,
    every: Every,
    zone: Zone,
    by: Vec<Word>,
}

impl Wanted {
    fn read(call: &Call, query: &SampledQuery) -> Result<Wanted, Refusal> {
        let zone = zone(query.tz.as_deref())?;
        let time = |text: &Option<String>, field| {
            let text = text.as_deref();
            text.map(|text| moment(text, field, &zone)).transpose()
        };
        let hour = call.now().0.div_euclid(HOUR).saturating_add(1);
        let until = time(&query.until, "until")?;
        Ok(Wanted {
            from: time(&query.from, "from")?,
            until: until.unwrap_or(Timestamp(hour.saturating_mul(HOUR))),
            every: every(query.every.as_deref())?,
            by: words(query.by.as_deref())?,
            zone: zone.clone(),
        })
    }
}

/// The words of `by`, each once.
fn words(text: Option<&str>) -> Result<Vec<Word>, Refusal> {
    let mut found = Vec::new();
    let text = text.unwrap_or_default().split(',').map(str::trim);
    for own in text.filter(|own| !own.is_empty()) {
        let word = WORDS.iter().find(|(_, known)| *known == own);
        let word = word
            .map(|(word, _)| *word)
            .filter(|word| !found.contains(word));
        found.push(word.ok_or(Refusal::BadValue {
            field: "by",
            expected: "words of project, user, machine, queue, pi and source, each once: snapshots know \
                       nothing else",
        })?);
    }
    Ok(found)
}

/// The filter by owner, as a query of usage.
fn of(query: &SampledQuery) -> UsageQuery {
    UsageQuery {
        project: query.project.clone(),
        tree: query.tree,
        user: query.user.clone(),
        machine: query.machine.clone(),
        queue: query.queue.clone(),
        ..UsageQuery::default()
    }
}

/// Under which values jobs count for this caller.
fn place(view: View, query: UsageQuery, by: Vec<Word>) -> Box<report::Placed<'static>> {
    Box::new(move |whose| {
        let names = CurrentNames::of(&view, whose);
        let owner = names.owner(whose);
        let is_named = sees(&view, &owner)?;
        if !holds(&view, &query, &owner, is_named) {
            return None;
        }
        let value = |word: &Word| match word {
            Word::Project => owner.project.to_owned(),
            Word::User if !is_named => HIDDEN.to_owned(),
            Word::User => owner.user.to_owned(),
            Word::Machine => owner.machine.to_owned(),
            Word::Queue => owner.queue.to_owned(),
            Word::Pi => leader(&view, owner.project),
            Word::Source => whose.source.to_owned(),
        };
        Some(by.iter().map(value).collect())
    })
}
