//! The first screen of an account manager: what must be done today.

use bank_api::text::format_rfc3339;
use bank_api::v1::{ExpiringRow, ForecastRow, List, NegativeRow, Quarantined, Unmapped};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::{money, proposals};
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, hours, maybe};
use crate::parts::left;
use crate::parts::table::{Table, link, name, or_none};
use crate::parts::turn;
use crate::target::Target;
use crate::visit::{Shown, Visit};
use crate::zone::days;

/// Rows of each table; further rows are one click away, and the CSV has all.
const SHOWN: &str = "50";
/// Days in which an account that will be empty is shown.
const WEEK: &str = "7";

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/today", show)
            .right(Right::DecideProposals)
            .takes(["expiring-after", "overdrawn-after", "empty-after"])
            .takes(["unmapped-after", "quarantine-after"])
            .nav("Today"),
    ]
}

async fn show(visit: Visit) -> Shown {
    // Questions that do not depend on each other are asked at once.
    let (proposals, expiring, negative, empty, unmapped, quarantine) = tokio::try_join!(
        proposals::table(&visit, "Proposals and requests", None),
        expiring(&visit),
        negative(&visit),
        empty(&visit),
        of_intake(&visit, unmapped),
        of_intake(&visit, quarantine),
    )?;
    let content = html! {
        p .lead { "What must I do today?" }
        p .actions { (money::links(&visit, None)) a .button href=(visit.link(&["closes"])) { "Closed periods" } }
        (proposals) (expiring) (negative) (empty) (unmapped) (quarantine)
    };
    Ok(visit.page("Today", &[], &content))
}

/// A section for those who may see the intake; empty for others.
async fn of_intake(
    visit: &Visit,
    section: impl AsyncFnOnce(&Visit) -> Result<Markup, Failed>,
) -> Result<Markup, Failed> {
    if visit.may(Right::SeeIntake) {
        section(visit).await
    } else {
        Ok(html! {})
    }
}

/// The project of an account, as a link.
fn project(visit: &Visit, project: Option<&String>, account: &str) -> Markup {
    match project {
        Some(project) => link(&visit.link(&["projects", project]), project),
        None => name(account),
    }
}

async fn expiring(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["report", "expiring"]);
    let route = |root| turn::asked(visit, route(root), "expiring", SHOWN);
    let list: List<ExpiringRow> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    let now = format_rfc3339(visit.present());
    let left = |row: &ExpiringRow| {
        // Whole days, as of accounts.
        let left = days(&now, &row.until).unwrap_or(row.days_left);
        html! { span .flag[left < 8] { (left) } }
    };
    Ok(Table::of("Ends within 30 days", &list.items)
        .words("Project", |row| {
            project(visit, row.project.as_ref(), &row.account)
        })
        .words("Allocation", |row| html! { (row.allocation) })
        .words(
            "Until (exclusive)",
            |row| html! { (visit.zone().day(&row.until)) },
        )
        .figures("Days to end", left)
        .amounts("Left", unit, |row| amount(&row.amount))
        .amounts("Expires unused", unit, |row| amount(&row.unused))
        .empty(html! { p { "No allocation ends within 30 days." } })
        .data(route(Target::data))
        .next(turn::next(
            visit.link(&["today"]),
            "expiring",
            list.next.as_deref(),
        ))
        .show())
}

async fn negative(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["report", "negative"]);
    let route = |root| turn::asked(visit, route(root), "overdrawn", SHOWN);
    let list: List<NegativeRow> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    Ok(Table::of("Overdrawn", &list.items)
        .words("Project", |row| {
            project(visit, row.project.as_ref(), &row.account)
        })
        .amounts("Settled", unit, |row| amount(&row.amount))
        .amounts("Held", unit, |row| amount(&row.held))
        .amounts("Free", unit, |row| amount(&row.available))
        .words(
            "State",
            |row| html! { @if row.blocked { strong .flag { "blocked" } } @else { "still runs jobs" } },
        )
        .empty(html! { p { "No account is below zero." } })
        .data(route(Target::data))
        .next(turn::next(
            visit.link(&["today"]),
            "overdrawn",
            list.next.as_deref(),
        ))
        .show())
}

async fn empty(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["report", "forecast"]).with("days", WEEK);
    let route = |root| turn::asked(visit, route(root), "empty", SHOWN);
    let list: List<ForecastRow> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    let table = Table::of("Empty, or empty within a week", &list.items)
        .words("Project", |row| {
            project(visit, row.project.as_ref(), &row.account)
        })
        .amounts("Free", unit, |row| amount(&row.available))
        .amounts("Used a day", unit, |row| maybe(row.burn_per_day.as_deref()))
        .figures("Days left", |row| left::show(row.days_to_spend))
        .empty(html! { p { "No account is empty." } })
        .data(route(Target::data))
        .next(turn::next(
            visit.link(&["today"]),
            "empty",
            list.next.as_deref(),
        ))
        .show();
    Ok(html! {
        (table)
        @if !list.items.is_empty() { p .small { (left::explained()) } }
    })
}

async fn unmapped(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["unmapped"]);
    let route = |root| turn::asked(visit, route(root), "unmapped", SHOWN);
    let found: Unmapped = visit.get(route(Target::api)).await?;
    let table = Table::of("Usage without a project", &found.items)
        .words("Account at the source", |row| {
            or_none(row.account.as_deref())
        })
        .words("User", |row| or_none(row.user.as_deref()))
        .words("Source", |row| or_none(row.source.as_deref()))
        .figures("Uses", |row| html! { (row.records) })
        .figures("Core hours", |row| hours(&row.core_hours))
        .amounts("Unbilled", &found.unit, |row| amount(&row.unbilled))
        .empty(html! { p { "All usage has a project." } })
        .data(route(Target::data))
        .next(turn::next(
            visit.link(&["today"]),
            "unmapped",
            found.next.as_deref(),
        ));
    Ok(html! { div #unmapped { (table.show()) } })
}

async fn quarantine(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["quarantine"]);
    let route = |root| turn::asked(visit, route(root), "quarantine", SHOWN);
    let list: List<Quarantined> = visit.get(route(Target::api)).await?;
    Ok(Table::of("Records that cannot be read", &list.items)
        .words("Number", |row| html! { (row.id) })
        .words("Source", |row| name(&row.source))
        .words("Since", |row| html! { (visit.zone().time(&row.at)) })
        .words("Place", |row| name(&row.place))
        .words("Reason", |row| name(&row.reason))
        .empty(html! { p { "The quarantine is empty." } })
        .data(route(Target::data))
        .next(turn::next(
            visit.link(&["today"]),
            "quarantine",
            list.next.as_deref(),
        ))
        .show())
}
