//! The first screen of an account manager: what must be done today.

use bank_api::text::format_rfc3339;
use bank_api::v1::{
    ExpiringRow, ForecastRow, List, NegativeRow, Quarantined, Unmapped, UnmappedRow,
};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::{money, proposals};
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, hours, maybe};
use crate::parts::left;
use crate::parts::table::{Table, amounts, figures, link, name, or_none, words};
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
    let row = |row: &ExpiringRow| {
        // Whole days, as of accounts.
        let left = days(&now, &row.until).unwrap_or(row.days_left);
        vec![
            project(visit, row.project.as_ref(), &row.account),
            html! { (row.allocation) },
            html! { (visit.zone().day(&row.until)) },
            html! { span .flag[left < 8] { (left) } },
            amount(&row.amount),
            amount(&row.unused),
        ]
    };
    Ok(Table {
        caption: "Ends within 30 days",
        columns: vec![
            words("Project"),
            words("Allocation"),
            words("Until (exclusive)"),
            figures("Days left"),
            amounts("Left", unit),
            amounts("Expires unused", unit),
        ],
        rows: list.items.iter().map(row).collect(),
        empty: html! { p { "No allocation ends within 30 days." } },
        data: Some(route(Target::data)),
        next: turn::next(visit.link(&["today"]), "expiring", list.next.as_deref()),
    }
    .show())
}

async fn negative(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["report", "negative"]);
    let route = |root| turn::asked(visit, route(root), "overdrawn", SHOWN);
    let list: List<NegativeRow> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    let row = |row: &NegativeRow| {
        vec![
            project(visit, row.project.as_ref(), &row.account),
            amount(&row.amount),
            amount(&row.held),
            amount(&row.available),
            html! { @if row.blocked { strong .flag { "blocked" } } @else { "works on" } },
        ]
    };
    Ok(Table {
        caption: "Overdrawn",
        columns: vec![
            words("Project"),
            amounts("Settled", unit),
            amounts("Held", unit),
            amounts("Free", unit),
            words("State"),
        ],
        rows: list.items.iter().map(row).collect(),
        empty: html! { p { "No account is below zero." } },
        data: Some(route(Target::data)),
        next: turn::next(visit.link(&["today"]), "overdrawn", list.next.as_deref()),
    }
    .show())
}

async fn empty(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["report", "forecast"]).with("days", WEEK);
    let route = |root| turn::asked(visit, route(root), "empty", SHOWN);
    let list: List<ForecastRow> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    let row = |row: &ForecastRow| {
        vec![
            project(visit, row.project.as_ref(), &row.account),
            amount(&row.available),
            maybe(row.burn_per_day.as_deref()),
            left::show(row.days_to_spend),
        ]
    };
    let table = Table {
        caption: "Empty, or empty within a week",
        columns: vec![
            words("Project"),
            amounts("Free", unit),
            amounts("Used a day", unit),
            figures("Days left"),
        ],
        rows: list.items.iter().map(row).collect(),
        empty: html! { p { "No account is empty." } },
        data: Some(route(Target::data)),
        next: turn::next(visit.link(&["today"]), "empty", list.next.as_deref()),
    }
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
    let row = |row: &UnmappedRow| {
        let text = |text: &Option<String>| or_none(text.as_deref());
        vec![
            text(&row.account),
            text(&row.user),
            text(&row.source),
            html! { (row.records) },
            hours(&row.core_hours),
            amount(&row.unbilled),
        ]
    };
    let table = Table {
        caption: "Usage without a project",
        columns: vec![
            words("Account at the source"),
            words("User"),
            words("Source"),
            figures("Uses"),
            figures("Core hours"),
            amounts("Unbilled", &found.unit),
        ],
        rows: found.items.iter().map(row).collect(),
        empty: html! { p { "All usage has a project." } },
        data: Some(route(Target::data)),
        next: turn::next(visit.link(&["today"]), "unmapped", found.next.as_deref()),
    };
    Ok(html! { div #unmapped { (table.show()) } })
}

async fn quarantine(visit: &Visit) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| root(&["quarantine"]);
    let route = |root| turn::asked(visit, route(root), "quarantine", SHOWN);
    let list: List<Quarantined> = visit.get(route(Target::api)).await?;
    let row = |row: &Quarantined| {
        vec![
            html! { (row.id) },
            name(&row.source),
            html! { (visit.zone().time(&row.at)) },
            name(&row.place),
            name(&row.reason),
        ]
    };
    Ok(Table {
        caption: "Records that cannot be read",
        columns: vec![
            words("Number"),
            words("Source"),
            words("Since"),
            words("Place"),
            words("Reason"),
        ],
        rows: list.items.iter().map(row).collect(),
        empty: html! { p { "The quarantine is empty." } },
        data: Some(route(Target::data)),
        next: turn::next(visit.link(&["today"]), "quarantine", list.next.as_deref()),
    }
    .show())
}
