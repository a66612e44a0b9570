//! The burn-down of a project: its money over the last months, and what is to come. On its page, and as a file.

use axum::extract::Path;
use axum::http::header;
use axum::response::IntoResponse as _;
use bank_api::text::{format_rfc3339, parse_rfc3339};
use bank_api::v1::{Allocation, ForecastRow, List, Statement, StatementLine};
use bank_picture::reports::money::{self, Beside, Ends, Track};
use bank_picture::{self as picture, Burn, Chart, Part, Report, Section};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::embedded::embedded;
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::picture::{show as drawn, zone};
use crate::parts::share::codes;
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// One day, µs.
const DAY: i64 = 86_400_000_000;
/// The period without one in the address.
const BACK: i64 = 90 * DAY;
/// Entries of which the line is made; that of a busier project is made of the samples.
const ENTRIES_MAX: i64 = 5000;
/// Instants at which the amount and what of it was held are asked for.
const SAMPLES: &str = "60";
/// Steps of the line: a page stays small.
const STEPS: usize = 200;
/// Accounts whose allocations are read.
const ACCOUNTS: usize = 16;

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/projects/{name}/burn-down.svg", show)
            .right(Right::SeeLedger)
            .takes_period()
            .takes(["at"]),
    ]
}

/// The picture of the page of a project for other sites.
pub(crate) async fn picture_alone(visit: Visit, Path(project): Path<String>) -> Shown {
    let burn = burn(&visit, &project).await?;
    let section = burn.map(section);
    embedded(&visit, &format!("Burn-down of {project}"), section.as_ref())
}

async fn show(visit: Visit, Path(project): Path<String>) -> Shown {
    let burn = burn(&visit, &project).await?;
    let report = Report {
        title: format!("Burn-down of {project}"),
        period: None,
        zone: zone(&visit)?,
        generated: visit.present(),
        remarks: Vec::new(),
        parts: vec![Part {
            sections: burn.map(section).into_iter().collect(),
            ..Part::default()
        }],
    };
    let media = [(header::CONTENT_TYPE, "image/svg+xml")];
    Ok((media, picture::drawing(&report)).into_response())
}

fn section(burn: Burn) -> Section {
    let is_ahead = burn.forecast.len() > 1;
    let section = Section::chart("Burn-down", Chart::Burn(Box::new(burn)));
    let section = section.zoomed("from", "to").note(money::EXPLAINED);
    if is_ahead {
        section.note(money::COMING)
    } else {
        section
    }
}

/// The drawing with its table for the page of the project.
pub(crate) async fn figure(visit: &Visit, project: &str) -> Result<Markup, Failed> {
    let Some(burn) = burn(visit, project).await? else {
        return Ok(html! {
            section .table {
                h2 { "Burn-down" }
                div .empty { p { "No money came in or went out in this period." } }
            }
        });
    };
    let entries = Target::data(&["statements", "entries"])
        .with("project", project)
        .with("from", &format_rfc3339(burn.from))
        .with("until", &format_rfc3339(burn.now));
    let own = visit.link(&["projects", project]);
    let usage = Target::page(&["usage"]).maybe("zone", visit.parameter("zone"));
    let usage = usage.with("project", project).with("by", "user");
    let is_part = ["from", "to"]
        .iter()
        .any(|name| visit.parameter(name).is_some());
    let file = visit.link(&["projects", project, "burn-down.svg"]);
    let file = file.maybe("from", visit.parameter("from"));
    let file = file.maybe("to", visit.parameter("to"));
    Ok(html! {
        (drawn(&section(burn), "burn", zone(visit)?, entries))
        p .below {
            @if is_part { a href=(own) { "Show the last 90 days and the forecast" } " · " }
            a href=(file) { "SVG" } " · " a href=(usage) { "Usage by user" }
        }
        (codes(visit))
    })
}

/// What there was follows from the opening of a statement and its entries, what was held from samples; what is to
/// come is the forecast of the accounts. None if there never was any money.
async fn burn(visit: &Visit, project: &str) -> Result<Option<Burn>, Failed> {
    let (from, until) = visit.period()?;
    let at = visit.at()?;
    let end = until.as_deref().or(at.as_deref());
    let now = visit.present();
    let to = end.and_then(parse_rfc3339).unwrap_or(now).min(now);
    let from = from.as_deref().and_then(parse_rfc3339);
    let from = from
        .unwrap_or_else(|| to.saturating_sub(BACK))
        .min(to.saturating_sub(1));
    let period = |target: Target| {
        let target = target.with("project", project);
        let target = target.with("from", &format_rfc3339(from));
        target.with("until", &format_rfc3339(to))
    };
    let asked = period(Target::api(&["statements"])).with("samples", SAMPLES);
    let forecast = Target::api(&["report", "forecast"]).with("project", project);
    let forecast = async {
        match end {
            None => visit.get(forecast).await.map(Some),
            Some(_) => Ok(None),
        }
    };
    let (statement, forecasts) = tokio::join!(visit.get(asked), forecast);
    let statement: Statement = match statement {
        Ok(statement) => statement,
        // A group of projects has no account of its own.
        Err(failed) if failed.problem().code == "no_usable_account" => return Ok(None),
        Err(failed) => return Err(failed),
    };
    let (track, end_of_money) = tokio::try_join!(
        track(visit, &statement, period),
        last_end(visit, &statement, to)
    )?;
    let beside = Beside {
        held: money::sampled(&statement),
        end: end_of_money,
    };
    let forecasts: Option<List<ForecastRow>> = forecasts?;
    let burn = match forecasts {
        Some(rows) => {
            let is_own = |row: &ForecastRow| statement.accounts.contains(&row.account);
            let rows: Vec<ForecastRow> = rows.items.into_iter().filter(is_own).collect();
            let burn = money::ahead(&statement, &track, beside, &rows);
            Some(burn.map_err(|_| Failed::internal())?)
        }
        None => money::past(&statement, &track, beside),
    };
    let had_money = |burn: &Burn| burn.amount.iter().any(|(_, amount)| !amount.is_zero());
    Ok(burn.filter(had_money).map(|mut burn| {
        burn.amount = picture::thinned_to(&burn.amount, STEPS);
        burn
    }))
}

async fn track(
    visit: &Visit,
    statement: &Statement,
    period: impl Fn(Target) -> Target,
) -> Result<Track, Failed> {
    let mut track = Track::new(statement, zone(visit)?, visit.present());
    if statement.entries > ENTRIES_MAX {
        track.follow(statement);
        return Ok(track);
    }
    let mut after: Option<String> = None;
    loop {
        let target = period(Target::api(&["statements", "entries"])).with("limit", "1000");
        let target = target.with("transaction", &statement.transaction.to_string());
        let page: List<StatementLine> = visit.get(target.maybe("after", after.as_deref())).await?;
        for line in &page.items {
            track.take(line);
        }
        after = page.next;
        if after.is_none() {
            return Ok(track);
        }
    }
}

/// The end of the last allocation that is active at the end of the period.
async fn last_end(visit: &Visit, statement: &Statement, to: i64) -> Result<Option<i64>, Failed> {
    let at = visit.at()?;
    let mut ends = Ends::default();
    for account in statement.accounts.iter().take(ACCOUNTS) {
        let target = Target::api(&["allocations"]).with("account", account);
        let list: List<Allocation> = visit.get(target.maybe("at", at.as_deref())).await?;
        for allocation in &list.items {
            ends.take(allocation, to);
        }
    }
    Ok(ends.last())
}
