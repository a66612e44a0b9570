//! The burn-down of a project as a picture: its money over the last months, and what is to come.

use axum::extract::Path;
use axum::http::header;
use axum::response::IntoResponse as _;
use bank_api::text::{format_rfc3339, parse_rfc3339};
use bank_api::v1::{Balance, List, Statement, StatementLine};
use bank_picture::{self as picture, Burn, Chart, Number, Part, Report, Section};
use bankd_ledger::access::right::Right;

use crate::failed::Failed;
use crate::page::Page;
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// One day, µs.
const DAY: i64 = 86_400_000_000;
/// The period without one in the address.
const BACK: i64 = 90 * DAY;
/// No picture looks further ahead.
const AHEAD: i64 = 400 * DAY;
/// Pages of entries that are read; later entries of a busier project are left to the end of the line.
const PAGES_MAX: usize = 20;

pub(crate) fn rows() -> Vec<Page> {
    vec![Page::get("/projects/{name}/burn-down.svg", show).right(Right::SeeLedger)]
}

/// The address of the picture, with the period of a page.
pub(crate) fn address(visit: &Visit, project: &str) -> Target {
    let target = visit.link(&["projects", project, "burn-down.svg"]);
    let target = target.maybe("from", visit.parameter("from"));
    target.maybe("to", visit.parameter("to"))
}

async fn show(visit: Visit, Path(project): Path<String>) -> Shown {
    let burn = burn(&visit, &project).await?;
    let zone = picture::Zone::named(visit.zone().name()).ok_or_else(Failed::internal)?;
    let report = Report {
        title: format!("Burn-down of {project}"),
        period: None,
        zone,
        generated: burn.now,
        remarks: Vec::new(),
        parts: vec![Part {
            sections: vec![Section::chart("Burn-down", Chart::Burn(Box::new(burn)))],
            ..Part::default()
        }],
    };
    let media = [(header::CONTENT_TYPE, "image/svg+xml")];
    Ok((media, picture::drawing(&report)).into_response())
}

/// What there was follows from the opening of a statement and its entries; what is to come is the forecast of
/// the balance.
async fn burn(visit: &Visit, project: &str) -> Result<Burn, Failed> {
    let (from, until) = visit.period()?;
    let end = until.as_deref().or(visit.parameter("at"));
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
    let statement: Statement = visit.get(period(Target::api(&["statements"]))).await?;
    let mut left = Number::or_zero(statement.opening.as_deref().unwrap_or("0"));
    let mut burn = Burn {
        unit: statement.unit.clone(),
        from,
        to,
        amount: vec![(from, left)],
        now: to,
        ..Burn::default()
    };
    let mut after: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let target = period(Target::api(&["statements", "entries"])).with("limit", "1000");
        let target = target.with("transaction", &statement.transaction.to_string());
        let page: List<StatementLine> = visit.get(target.maybe("after", after.as_deref())).await?;
        for line in &page.items {
            left = left.plus(Number::or_zero(&line.amount));
            take(&mut burn, line, left);
        }
        burn.amount = picture::thinned(&burn.amount);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    if let Some(closing) = statement.closing.as_deref() {
        burn.amount.push((to, Number::or_zero(closing)));
    }
    if end.is_none() {
        coming(visit, project, &mut burn).await?;
    }
    Ok(burn)
}

fn take(burn: &mut Burn, line: &StatementLine, left: Number) {
    let latest = burn.amount.last().map_or(burn.from, |(us, _)| *us);
    let at = parse_rfc3339(&line.at).unwrap_or(latest);
    let at = at.clamp(latest, burn.to.max(latest));
    burn.amount.push((at, left));
    let amount = Number::or_zero(&line.amount);
    if line.kind == "deposit" && !amount.is_below_zero() {
        burn.deposits.push((at, amount));
    }
}

/// The forecast: at the rate of late, until nothing is left.
async fn coming(visit: &Visit, project: &str, burn: &mut Burn) -> Result<(), Failed> {
    let target = Target::api(&["balances"])
        .with("project", project)
        .with("burn", "true");
    let list: List<Balance> = visit.get(target).await?;
    let own = list
        .items
        .iter()
        .filter(|row| row.project.as_deref() == Some(project));
    let a_day = own.filter_map(|row| row.burn_per_day.as_deref());
    let a_day = a_day.fold(Number::ZERO, |sum, rate| sum.plus(Number::or_zero(rate)));
    let Some((_, left)) = burn.amount.last().copied() else {
        return Ok(());
    };
    if a_day.is_zero() || a_day.is_below_zero() || left.is_below_zero() {
        return Ok(());
    }
    // The first day on which nothing is left, or the end of the picture.
    let (left_minor, day_minor) = (left.minor(6), a_day.minor(6).max(1));
    let days = left_minor
        .checked_div(day_minor)
        .and_then(|days| i64::try_from(days).ok());
    let ahead = days
        .unwrap_or(i64::MAX)
        .saturating_mul(DAY)
        .clamp(DAY, AHEAD);
    let spent = a_day.part(ahead, DAY);
    let rest = left.minus(spent);
    let rest = if rest.is_below_zero() {
        Number::ZERO
    } else {
        rest
    };
    burn.to = burn.now.saturating_add(ahead);
    burn.forecast = vec![(burn.now, left), (burn.to, rest)];
    Ok(())
}
