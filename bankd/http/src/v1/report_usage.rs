//! Usage reports (reports.md 3 and 7): query, visibility, and the source of the figures.
//!
//! Leaders of a project or the bank see the owners of usage. A plain member sees their own usage, and that
//! of other members in rows without a name.

mod shaped;

use bank_api::text;
use bank_api::v1::UsageQuery;
use bank_core::ids::AccountId;
use bank_core::months::{Date, date, midnight};
use bank_core::refusal::{Refusal, short};
use bank_core::time::Timestamp;
use bank_core_figures::rollup::grid::{Every, Grid, begins};
use bank_core_figures::rollup::{DAY, HOUR, Measure, WORDS};
use bankd_config::zones;
use bankd_store::read::report::{
    self, About, Dimension, Owner, Place, ReportRequest, Top, size_bin, wall_bin,
};

use self::shaped::Context;
use super::call::{Call, Handled, ok};
use super::json;
use super::named::{self, Names};
use super::owner::{HIDDEN, holds, leader, sees};
use super::view::Lookup as _;
use super::view::View;
use crate::error::Failure;

/// Buckets of one answer.
pub(super) const BUCKETS_MAX: usize = 10_000;
/// What is expected of longer periods: `bank usage` names the buckets with `--by`.
pub(super) const BUCKETS: &str =
    "at most 10,000 buckets from --from to --until (--by of bank usage)";
/// Rows of one answer.
pub(super) const ROWS_MAX: usize = 100_000;
/// Maximum number of separate rows.
const TOP_MAX: u32 = 10_000;
/// `GET /api/v1/report/usage`
pub(super) async fn show(call: Call) -> Handled {
    let query: UsageQuery = call.query()?;
    let wanted = Wanted::read(&call, &query)?;
    check_names(&call, &query).await?;
    let from = match wanted.from {
        Some(from) => from,
        None => earliest(&call, wanted.until).await?,
    };
    let (every, until) = (wanted.every, wanted.until);
    if from >= until {
        return Err(call.refused(&Refusal::BadWindow));
    }
    let grid = Grid::new(from, until, every, &wanted.zone, BUCKETS_MAX);
    let grid = grid.ok_or_else(|| too_many(&call, "every", BUCKETS))?;
    let of_records = query.records || wanted.by.iter().any(|dimension| !dimension.is_rolled_up());
    let place = place(call.view.clone(), &query, wanted.by.clone());
    let (at_end, users) = (wanted.at_end, query.users);
    let top = query.top.map(|most| Top {
        measure: wanted.sort,
        most: usize::try_from(most).unwrap_or(usize::MAX),
    });
    let query_grid = grid.clone();
    let question = move |connection: &_| {
        let request = ReportRequest {
            grid: query_grid,
            place,
            at_end,
            users,
            top,
            weighed: Measure::Core,
        };
        if of_records {
            return report::from_records(connection, &request);
        }
        request.answer(connection)
    };
    let answer = call.ask(question).await?;
    if answer.rows.len() > ROWS_MAX {
        return Err(too_many(&call, "by", "less: more than 100,000 rows"));
    }
    let context = Context {
        query: &query,
        by: &wanted.by,
        sort: wanted.sort,
        grid: &grid,
        every,
        zone: &wanted.zone,
    };
    ok(&shaped::table(&call, &context, answer))
}

/// The first instant at which anything counts.
async fn earliest(call: &Call, until: Timestamp) -> Result<Timestamp, Failure> {
    let day = call.ask(report::first_day).await?;
    let hour_before = Timestamp(until.0.saturating_sub(HOUR));
    let first = day.map_or(hour_before, |day| Timestamp(day.saturating_mul(DAY)));
    Ok(first.min(hour_before))
}

pub(super) fn too_many(call: &Call, field: &'static str, expected: &'static str) -> Failure {
    call.refused(&Refusal::BadValue { field, expected })
        .hint("ask for a shorter period, longer buckets or fewer words")
}

/// A question that was read.
struct Wanted {
    from: Option<Timestamp>,
    until: Timestamp,
    every: Every,
    zone: bank_core::calendar::Zone,
    by: Vec<Dimension>,
    sort: Measure,
    at_end: bool,
}

impl Wanted {
    fn read(call: &Call, query: &UsageQuery) -> Result<Wanted, Failure> {
        let read = || {
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
                zone: zone.clone(),
                by: dimensions(query.by.as_deref())?,
                sort: sort(query.sort.as_deref())?,
                at_end: at_end(query.credit.as_deref())?,
            })
        };
        let bad = query
            .top
            .is_some_and(|top| !(1..=TOP_MAX).contains(&top))
            .then_some(Refusal::bad_value("top", "a number from 1 to 10,000"));
        match bad {
            Some(refusal) => Err(call.refused(&refusal)),
            None => read().map_err(|refusal: Refusal| call.refused(&refusal)),
        }
    }
}

/// A time with an offset or in a zone, or a date, which begins at midnight there.
pub(super) fn moment(
    text: &str,
    field: &'static str,
    zone: &bank_core::calendar::Zone,
) -> Result<Timestamp, Refusal> {
    let mut parts = text.splitn(3, '-');
    let mut part = |width: usize| {
        let part = parts.next().filter(|part| part.len() == width)?;
        part.parse::<i64>().ok().filter(|number| *number >= 0)
    };
    match (part(4), part(2), part(2)) {
        (Some(year), Some(month), Some(day)) => {
            let named = Date { year, month, day };
            let is_real = date(midnight(named)) == named;
            is_real
                .then(|| begins(named, zone))
                .ok_or(Refusal::BadValue {
                    field,
                    expected: "a date that there is",
                })
        }
        _ => match text::parse_rfc3339(&format!("{text}Z")) {
            Some(local) => on_clock(Timestamp(local), zone).ok_or(Refusal::BadValue {
                field,
                expected: "a time that there is in the zone: its clocks skip this one",
            }),
            None => json::read_time(text, field),
        },
    }
}

/// The same of reports that have no zone: dates are those of UTC.
pub(super) fn utc_moment(text: &str, field: &'static str) -> Result<Timestamp, Refusal> {
    moment(text, field, &zone(None)?)
}

/// The first instant at which the clocks of a zone show a time, which is given as if it were UTC; `None` if
/// they skip it.
fn on_clock(local: Timestamp, zone: &bank_core::calendar::Zone) -> Option<Timestamp> {
    let second = local.seconds();
    let day = DAY.div_euclid(1_000_000);
    let around = [second.saturating_sub(day), second.saturating_add(day)];
    let offsets = around.map(|second| zone.offset(second));
    let shows = |offset: i64| {
        let at = Timestamp(local.0.saturating_sub(offset.saturating_mul(1_000_000)));
        (zone.offset(at.seconds()) == offset).then_some(at)
    };
    offsets.into_iter().filter_map(shows).min()
}

/// Checks for names that neither the registry nor visible usage contains.
pub(super) async fn check_names(call: &Call, query: &UsageQuery) -> Result<(), Failure> {
    if query.tree {
        named::tree(call, query.project.as_deref())?;
    }
    if let Some(name) = &query.account {
        call.view.account_ever(name)?;
    }
    let names = Names {
        project: query.project.as_deref(),
        user: query.user.as_deref(),
        machine: query.machine.as_deref(),
        queue: query.queue.as_deref().filter(|name| !name.is_empty()),
        qos: query.qos.as_deref().filter(|name| !name.is_empty()),
    };
    names.check(call).await?;
    // An empty answer would suggest that the user has no usage.
    let hidden = query.user.as_deref();
    match hidden.filter(|name| !call.view.may_see_work_of(name)) {
        Some(_) => Err(call.refused(&Refusal::NotAllowed {
            what: "usage of others is for those who lead a project".to_owned(),
        })),
        None => Ok(()),
    }
}

pub(super) fn every(word: Option<&str>) -> Result<Every, Refusal> {
    let word = word.unwrap_or(Every::All.word());
    Every::parse(word).ok_or(Refusal::BadValue {
        field: "every",
        expected: "hour, day, week, month, quarter, half-year, year or all",
    })
}

pub(super) fn zone(name: Option<&str>) -> Result<bank_core::calendar::Zone, Refusal> {
    let name = name.unwrap_or("UTC");
    zones::zone(name)
        .ok_or_else(|| other("tz", "the name of a time zone, such as Europe/Berlin", name))
}

/// The words of `by`, each once.
fn dimensions(words: Option<&str>) -> Result<Vec<Dimension>, Refusal> {
    let mut found = Vec::new();
    let words = words.unwrap_or_default().split(',');
    for word in words.map(str::trim).filter(|word| !word.is_empty()) {
        let dimension = Dimension::parse(word).filter(|dimension| !found.contains(dimension));
        let words = "words of project, account, user, machine, queue, qos, pi, group, state, \
                     size and wall, each once, and one of hour, day, week, month, quarter and year";
        found.push(dimension.ok_or_else(|| other("by", words, word))?);
    }
    Ok(found)
}

/// The refusal of a value, with what is expected instead of it.
fn other(field: &str, expected: &str, given: &str) -> Refusal {
    Refusal::BadField {
        field: field.to_owned(),
        expected: format!("{expected}, not {:?}", short(given)),
    }
}

fn sort(word: Option<&str>) -> Result<Measure, Refusal> {
    let word = word.unwrap_or("core");
    // Of the others, rows contain shares and means, never the value.
    let hidden = [
        Measure::Measured,
        Measure::Waited,
        Measure::Wait,
        Measure::Expanded,
        Measure::Expansion,
    ];
    let mut shown = WORDS
        .iter()
        .filter(|(measure, _)| !hidden.contains(measure));
    let found = shown.find(|(_, known)| *known == word);
    found.map(|(measure, _)| *measure).ok_or(Refusal::BadValue {
        field: "sort",
        expected: "core, gpu, node, wall, cpu, memory, disk, factored, charge, shadow, started, ended, \
                   running or submitted",
    })
}

fn at_end(word: Option<&str>) -> Result<bool, Refusal> {
    match word {
        None | Some("time" | "spread") => Ok(false),
        Some("end") => Ok(true),
        Some(_) => Err(Refusal::bad_value("credit", "time or end")),
    }
}

/// Under which values a figure counts for this caller.
fn place(view: View, query: &UsageQuery, by: Vec<Dimension>) -> Box<Place<'static>> {
    let query = query.clone();
    Box::new(move |owner, about| {
        let is_named = sees(&view, owner)?;
        if !holds(&view, &query, owner, is_named) {
            return None;
        }
        let value = |dimension: &Dimension| value(&view, *dimension, owner, about, is_named);
        Some((by.iter().map(value).collect(), owner.user.to_owned()))
    })
}

fn value(
    view: &View,
    dimension: Dimension,
    owner: &Owner<'_>,
    about: Option<&About<'_>>,
    is_named: bool,
) -> String {
    let directory = view.directory();
    match dimension {
        Dimension::Project => owner.project.to_owned(),
        Dimension::User | Dimension::Group if !is_named => HIDDEN.to_owned(),
        Dimension::User => owner.user.to_owned(),
        Dimension::Machine => owner.machine.to_owned(),
        Dimension::Queue => owner.queue.to_owned(),
        Dimension::Qos => owner.qos.to_owned(),
        Dimension::Account => {
            let account = directory.account(AccountId(owner.account));
            match account {
                Some(account) if view.saw_account(account) => account.name.clone(),
                Some(_) => HIDDEN.to_owned(),
                None => String::new(),
            }
        }
        // A PI of the usage itself is as private as its user.
        Dimension::Pi if !owner.pi.is_empty() && !is_named => HIDDEN.to_owned(),
        Dimension::Pi if !owner.pi.is_empty() => owner.pi.to_owned(),
        Dimension::Pi => leader(view, owner.project),
        Dimension::Group => about.map_or("", |about| about.group).to_owned(),
        Dimension::State => about.map_or("", |about| about.state).to_owned(),
        Dimension::Size => about.map_or_else(String::new, |about| size_bin(about.millis)),
        Dimension::Wall => about.map_or("", |about| wall_bin(about.wall)).to_owned(),
    }
}
