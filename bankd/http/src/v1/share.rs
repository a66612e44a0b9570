//! Usage of the clusters compared with contributions, and utilisation of capacity (reports.md 1.7).

mod count;
mod efficiency;
mod group;
mod priority;

pub(super) use efficiency::show as efficiency;
pub(super) use priority::show as priorities;

use std::collections::BTreeSet;
use std::sync::Arc;

use bank_api::v1::{ContributionPeriod, ContributionQuery, ContributionReport, ContributionTotal};
use bank_core::calendar::Zone;
use bank_core::directory::Directory;
use bank_core::refusal::Refusal;
use bank_core::time::{Seconds, Timestamp};
use bank_core_figures::contribution::{Credit, SECOND_UNITS, Span, USAGE_UNITS};
use bank_core_figures::rollup::{HOUR, hour_of};
use bankd_config::zones::{self, Cut};
use bankd_ledger::access::right::Right;

use self::count::Count;
use super::call::{Call, Handled, ok};
use super::named::Names;
use super::report_usage::{moment, utc_moment};
use super::view::Lookup as _;
use crate::error::Failure;

/// Default period of a query without a start.
const USUAL: Seconds = Seconds(30 * 86_400);
/// Default number of parts of a period with more days than that.
const PARTS: u32 = 50;
/// Most parts.
const PARTS_MAX: u32 = 1_000;
const DAY_US: u64 = 86_400_000_000;
/// No month is longer.
const LONGEST: Seconds = Seconds(32 * 86_400);
const ZONE: &str = "a time zone such as Europe/Berlin or UTC";

/// Measure of usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    Slots,
    Cpu,
    Gpu,
    Su,
}

const BASES: [(Basis, &str); 4] = [
    (Basis::Slots, "slots"),
    (Basis::Cpu, "cpu"),
    (Basis::Gpu, "gpu"),
    (Basis::Su, "su"),
];

/// Grouping of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Contributor,
    Project,
    User,
}

const BYS: [(By, &str); 3] = [
    (By::Contributor, "contributor"),
    (By::Project, "project"),
    (By::User, "user"),
];

/// Unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Units {
    Hours,
    Seconds,
}

impl Units {
    /// Units of usage in one.
    fn each(self) -> u128 {
        match self {
            Units::Hours => USAGE_UNITS,
            Units::Seconds => SECOND_UNITS,
        }
    }
}

const UNITS: [(Units, &str); 2] = [(Units::Hours, "hours"), (Units::Seconds, "seconds")];

const CREDITS: [(Credit, &str); 2] = [(Credit::Spread, "spread"), (Credit::End, "end")];

/// The query of a report.
struct Question {
    directory: Arc<Directory>,
    basis: Basis,
    by: By,
    credit: Credit,
    units: Units,
    /// Only usage of this project with those below it.
    project: Option<String>,
    /// Only usage of this user.
    user: Option<String>,
    /// Only this machine.
    machine: Option<String>,
    /// The zone of its dates and parts.
    zone: Zone,
    /// The start of the day, week or month that is not over; none of equal parts.
    running: Option<Timestamp>,
}

/// `GET /api/v1/report/contribution`
pub(super) async fn contribution(call: Call) -> Handled {
    let query: ContributionQuery = call.query()?;
    let own = contributors(&call, &query)?;
    if own.as_ref().is_some_and(BTreeSet::is_empty) {
        return ok(&ContributionReport::default());
    }
    if let Some(name) = &query.project {
        call.view.project_ever(name)?;
    }
    let names = Names {
        user: query.user.as_deref(),
        machine: query.machine.as_deref(),
        ..Names::default()
    };
    names.check(&call).await?;
    let zone = query.tz.clone().unwrap_or_else(|| "UTC".to_owned());
    let now = call.now();
    let parsed = question(&call, &query, &zone).and_then(|mut question| {
        let cuts = cuts(&query, (&zone, &question.zone), now)?;
        question.running = running(query.buckets.as_deref(), &zone, now);
        Ok((question, cuts))
    });
    let (question, cuts) = parsed.map_err(|refusal| call.refused(&refusal))?;
    let (basis, by, credit) = (question.basis, question.by, question.credit);
    let units = question.units;
    let counted = call.ask(move |connection| {
        let mut counted = Vec::with_capacity(cuts.len());
        for (span, edges) in cuts {
            let count = Count::of(connection, &question, (span, edges), now)?;
            let period = count.and_then(Count::shaped);
            counted.push(period.map(|period| limited(period, own.as_ref())));
        }
        Ok(counted)
    });
    let periods: Option<Vec<ContributionPeriod>> = counted.await?.into_iter().collect();
    let too_much = || call.refused(&Refusal::AmountOverflow);
    let unit = match (basis, units) {
        (Basis::Slots, Units::Hours) => "factored processor-hours",
        (Basis::Slots, Units::Seconds) => "factored processor-seconds",
        (Basis::Cpu, Units::Hours) => "factored hours of busy processors",
        (Basis::Cpu, Units::Seconds) => "factored seconds of busy processors",
        (Basis::Gpu, Units::Hours) => "factored GPU-hours",
        (Basis::Gpu, Units::Seconds) => "factored GPU-seconds",
        (Basis::Su, _) => call.directory().bank.unit.as_str(),
    };
    ok(&ContributionReport {
        basis: word(&BASES, basis),
        by: word(&BYS, by),
        credit: word(&CREDITS, credit),
        zone,
        unit: unit.to_owned(),
        periods: periods.ok_or_else(too_much)?,
    })
}

/// Shares are of the whole bank: a key for single projects or machines sees none of it.
pub(super) fn whole(call: &Call) -> Result<(), Failure> {
    whole_bank(call)?;
    call.demand(Right::SeeShares)
}

/// Refuses a caller who is limited to some projects or machines, for figures of all of them together.
pub(super) fn whole_bank(call: &Call) -> Result<(), Failure> {
    if call.view.is_unlimited() {
        return Ok(());
    }
    let what = "this covers the whole bank; it needs a role for all projects and machines, such as auditor".to_owned();
    Err(call.refused(&Refusal::NotAllowed { what }))
}

/// The contributors whose rows a caller sees; none for all of them. A person sees the shares of the
/// contributors that have their login name.
fn contributors(
    call: &Call,
    query: &ContributionQuery,
) -> Result<Option<BTreeSet<String>>, Failure> {
    let by = query.by.as_deref().unwrap_or("contributor");
    let is_of_whole = query.project.is_none() && query.user.is_none() && by == "contributor";
    let user = call.view.own_user().filter(|_| is_of_whole);
    let is_own = query.own == Some(true);
    let user = user.filter(|_| is_own || !call.view.is_unlimited());
    let own: BTreeSet<String> = user.map_or_else(BTreeSet::new, |user| {
        let all = call.directory().records.all("contributor");
        let own = all.filter(|record| record.text("user") == user.name);
        own.map(|record| record.name().to_owned()).collect()
    });
    if own.is_empty() && !is_own {
        return whole(call).map(|()| None);
    }
    Ok(Some(own))
}

/// A period with the rows of these contributors alone, and nothing of the whole bank but their shares of it.
fn limited(period: ContributionPeriod, own: Option<&BTreeSet<String>>) -> ContributionPeriod {
    let Some(own) = own else { return period };
    let rows = period.rows.into_iter();
    ContributionPeriod {
        rows: rows.filter(|row| own.contains(&row.group)).collect(),
        counted: ContributionTotal::default(),
        all: ContributionTotal::default(),
        utilisation: Vec::new(),
        uses: 0,
        unmeasured: None,
        ..period
    }
}

/// A machine that the bank has, or on which something was used.
async fn on_machine(call: &Call, machine: Option<&str>) -> Result<(), Failure> {
    let names = Names {
        machine,
        ..Names::default()
    };
    names.check(call).await
}

fn question(call: &Call, query: &ContributionQuery, zone: &str) -> Result<Question, Refusal> {
    let basis = query.basis.as_deref();
    let basis = read(
        &BASES,
        basis,
        Basis::Slots,
        "basis",
        "slots, cpu, gpu or su",
    )?;
    let units = query.units.as_deref();
    let units = read(&UNITS, units, Units::Hours, "units", "hours or seconds")?;
    if basis == Basis::Su && units == Units::Seconds {
        return Err(Refusal::BadValue {
            field: "units",
            expected: "hours: charges (basis su) have the unit of the bank",
        });
    }
    Ok(Question {
        directory: Arc::clone(call.directory()),
        basis,
        units,
        by: read(
            &BYS,
            query.by.as_deref(),
            By::Contributor,
            "by",
            "contributor, project or user",
        )?,
        credit: read(
            &CREDITS,
            query.credit.as_deref(),
            Credit::Spread,
            "credit",
            "spread or end",
        )?,
        project: query.project.clone(),
        user: query.user.clone(),
        machine: query.machine.clone(),
        zone: zones::zone(zone).ok_or(Refusal::bad_value("tz", ZONE))?,
        running: None,
    })
}

/// The start of the day, week or month of a zone that is not over.
fn running(buckets: Option<&str>, zone: &str, now: Timestamp) -> Option<Timestamp> {
    let cut = cut(buckets?)?;
    let span = (now.minus(LONGEST), now.plus(Seconds(1)));
    let edges = zones::edges(zone, span, cut, 100)?;
    edges.iter().rev().find(|edge| **edge <= now).copied()
}

/// A bucket of the calendar by its word.
fn cut(buckets: &str) -> Option<Cut> {
    match buckets {
        "day" => Some(Cut::Day),
        "week" => Some(Cut::Week),
        "month" => Some(Cut::Month),
        _ => None,
    }
}

fn read<T: Copy>(
    words: &[(T, &str)],
    text: Option<&str>,
    usual: T,
    field: &'static str,
    expected: &'static str,
) -> Result<T, Refusal> {
    let Some(text) = text else {
        return Ok(usual);
    };
    let found = words.iter().find(|(_, word)| *word == text);
    found
        .map(|(own, _)| *own)
        .ok_or(Refusal::BadValue { field, expected })
}

fn word<T: Copy + PartialEq>(words: &[(T, &str)], own: T) -> String {
    let found = words.iter().find(|(known, _)| *known == own);
    found.map_or_else(String::new, |(_, word)| (*word).to_owned())
}

/// The periods with the edges of their buckets, in a zone by its name.
fn cuts(
    query: &ContributionQuery,
    (zone, known): (&str, &Zone),
    now: Timestamp,
) -> Result<Vec<(Span, Vec<Timestamp>)>, Refusal> {
    let period = |from: &Option<String>, to: &Option<String>| {
        let time = |text: &Option<String>, field| {
            let text = text.as_deref();
            text.map(|text| moment(text, field, known)).transpose()
        };
        span(time(from, "from")?, time(to, "to")?, now)
    };
    let mut spans = vec![period(&query.from, &query.to)?];
    if query.from2.is_some() || query.to2.is_some() {
        spans.push(period(&query.from2, &query.to2)?);
    }
    let edges = |span| Ok((span, edges(span, query.buckets.as_deref(), zone)?));
    spans.into_iter().map(edges).collect()
}

fn period(from: Option<&str>, to: Option<&str>, now: Timestamp) -> Result<Span, Refusal> {
    let time = |text: Option<&str>, field| text.map(|text| utc_moment(text, field)).transpose();
    span(time(from, "from")?, time(to, "to")?, now)
}

/// The period, with defaults for missing ends.
fn span(from: Option<Timestamp>, to: Option<Timestamp>, now: Timestamp) -> Result<Span, Refusal> {
    let to = to.unwrap_or(now);
    let from = from.unwrap_or(to.minus(USUAL));
    Span::new(from, to).ok_or(Refusal::BadWindow)
}

fn edges(span: Span, buckets: Option<&str>, zone: &str) -> Result<Vec<Timestamp>, Refusal> {
    let bad = Refusal::bad_value;
    let few = || {
        bad(
            "buckets",
            "day, week, month, or 1 to 1000 parts; at most 1000 come of it",
        )
    };
    let known = || bad("tz", ZONE);
    let cut = match (buckets.and_then(cut), buckets) {
        (Some(cut), _) => cut,
        (None, Some(text)) => {
            let parts = text.parse().ok().filter(|n| (1..=PARTS_MAX).contains(n));
            return Ok(equal(span, parts.ok_or_else(few)?));
        }
        (None, None) => {
            let days = span.micros().div_ceil(DAY_US);
            let parts = u32::try_from(days).unwrap_or(PARTS).min(PARTS);
            return Ok(equal(span, parts));
        }
    };
    let most = usize::try_from(PARTS_MAX).unwrap_or(usize::MAX);
    let edges = zones::edges(zone, (span.from(), span.to()), cut, most).ok_or_else(known)?;
    if edges.len() > most {
        return Err(few());
    }
    Ok(edges)
}

/// Equal parts, with each end moved back to a full hour: rollups contain figures between full hours.
fn equal(span: Span, parts: u32) -> Vec<Timestamp> {
    let mut edges = span.cut(parts);
    let each = span.micros().checked_div(parts.max(1).into()).unwrap_or(0);
    if each >= HOUR.unsigned_abs().saturating_mul(2) {
        let inner = edges.len().saturating_sub(2);
        for edge in edges.iter_mut().skip(1).take(inner) {
            *edge = Timestamp(hour_of(edge.0).saturating_mul(HOUR));
        }
    }
    edges
}
