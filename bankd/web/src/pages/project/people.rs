//! The members of a project, and what each used.

use std::collections::{BTreeMap, BTreeSet};

use bank_api::text::{format_rfc3339, parse_rfc3339};
use bank_api::v1::{Limit, List, Member, QueryAnswer, QueryValue, UsageLine, UsageTable};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::super::jobs;
use super::Place;
use crate::failed::Failed;
use crate::parts::amount::{amount, count, grouped, hours};
use crate::parts::table::{Table, amounts, figures, link, name, words};
use crate::target::Target;

/// The period of the usage: 90 days, µs.
const BACK: i64 = 90 * 86_400_000_000;

/// The members with their roles; for those who see them, with limits of transactions.
pub(super) async fn members(place: &Place<'_>) -> Result<Markup, Failed> {
    let visit = place.visit;
    let route =
        |root: fn(&[&str]) -> Target| place.past(root(&["projects", place.project, "members"]));
    let route = |root| place.turned(route(root), "members");
    let list: List<Member> = visit.get(route(Target::api)).await?;
    let limits = limits(place).await?;
    let defaults = defaults(place).await?;
    let row = |member: &Member| {
        let jobs = visit.link(&["jobs"]).with("project", place.project);
        let mut cells = vec![
            link(&jobs.with("user", &member.user), &member.user),
            html! { (member.role) },
            html! { @if member.active { "active" } @else { strong .flag { "inactive" } } },
        ];
        if let Some(defaults) = &defaults {
            cells.push(html! { @if defaults.contains(&member.user) { "yes" } @else { "–" } });
        }
        if let Some(limits) = &limits {
            cells.push(limit(limits.get(&member.user)));
        }
        cells
    };
    let mut columns = vec![words("User"), words("Role"), words("State")];
    if defaults.is_some() {
        columns.push(words("Default project"));
    }
    if limits.is_some() {
        columns.push(words("Transaction limit"));
    }
    Ok(Table {
        caption: "Members",
        columns,
        rows: list.items.iter().map(row).collect(),
        empty: html! {
            p { "No members yet. Only members may spend." }
            @if visit.may(Right::ChangeMembers) {
                p .small { a href=(visit.link(&["projects", place.project, "members"])) { "Add the first one" } "." }
            }
        },
        data: Some(route(Target::data)),
        next: place.next("members", list.next.as_deref()),
    }
    .show())
}

/// The limits of people by name; none for a person who may not see them, and for the past.
async fn limits(place: &Place<'_>) -> Result<Option<BTreeMap<String, Limit>>, Failed> {
    if !place.visit.may(Right::SeeAccess) || place.at.is_some() {
        return Ok(None);
    }
    let list: List<Limit> = place.visit.get(Target::api(&["limits"])).await?;
    let named = list.items.into_iter().filter_map(|limit| {
        let name = limit.name.clone()?;
        let name = name.strip_prefix("unix:").map(str::to_owned);
        Some((name.or_else(|| limit.name.clone())?, limit))
    });
    Ok(Some(named.collect()))
}

fn limit(limit: Option<&Limit>) -> Markup {
    let Some(limit) = limit else {
        return html! { span .none { "–" } };
    };
    let of = |text: &Option<String>| text.as_deref().map(grouped);
    let (once, daily) = (of(&limit.per_operation), of(&limit.per_day));
    html! {
        a href="/limits" {
            @if let Some(once) = &once { (once) " at once" }
            @if once.is_some() && daily.is_some() { ", " }
            @if let Some(daily) = &daily { (daily) " a day" }
        }
    }
}

/// The users whose default project this is now. None for the past, and if the name cannot be part of a query: a value
/// there has no escapes.
pub(crate) async fn default_users(
    visit: &crate::visit::Visit,
    project: &str,
) -> Result<Option<BTreeSet<String>>, Failed> {
    let mark = if project.contains('\'') { '"' } else { '\'' };
    if project.contains(mark) {
        return Ok(None);
    }
    let text = format!("User Query DefaultProject=={mark}{project}{mark} Show:=Name Limit:=10000");
    let answer: QueryAnswer = visit
        .get(Target::api(&["query"]).with("text", &text))
        .await?;
    let names = answer
        .items
        .into_iter()
        .filter_map(|row| match row.get("Name") {
            Some(QueryValue::Text(name)) => Some(name.clone()),
            _ => None,
        });
    Ok(Some(names.collect()))
}

async fn defaults(place: &Place<'_>) -> Result<Option<BTreeSet<String>>, Failed> {
    if place.at.is_some() {
        return Ok(None);
    }
    default_users(place.visit, place.project).await
}

/// What everybody used for the project in the last 90 days, former members too.
pub(super) async fn usage(place: &Place<'_>) -> Result<Markup, Failed> {
    let visit = place.visit;
    let end = place.at.and_then(parse_rfc3339);
    let from = end.unwrap_or_else(|| visit.present()).saturating_sub(BACK);
    // Whole days, so that a link has the same rows a moment later.
    let from = visit.time_of("from", &visit.zone().day(&format_rfc3339(from)))?;
    let route = |root: fn(&[&str]) -> Target| {
        let target = root(&["report", "usage"]).with("project", place.project);
        let target = target.with("by", "user").with("sort", "charge");
        let target = target.with("from", &from);
        target.maybe("until", place.at)
    };
    let found: UsageTable = visit.get(route(Target::api)).await?;
    let zone = visit.zone();
    let row = |line: &UsageLine| {
        let user = line.keys.get("user").cloned().flatten();
        let user = user.filter(|user| !user.is_empty());
        let sums = &line.figures;
        let jobs = user.as_ref().map(|user| {
            let jobs = jobs::counted(visit, &line.bucket_from, &line.bucket_until);
            jobs.with("project", place.project).with("user", user)
        });
        vec![
            user.as_deref().map_or_else(|| html! { "others" }, name),
            html! { @match &jobs { Some(jobs) => a href=(jobs) { (count(&sums.jobs)) }, None => (count(&sums.jobs)) } },
            hours(&sums.core_hours),
            hours(&sums.gpu_hours),
            amount(&sums.charged),
            html! { (sums.share.as_deref().map_or_else(|| "–".to_owned(), |share| format!("{share} %"))) },
        ]
    };
    let title = format!(
        "Used from {} to {}",
        zone.day(&found.from),
        zone.time(&found.until)
    );
    Ok(Table {
        caption: &title,
        columns: vec![
            words("User"),
            figures("Jobs"),
            figures("Core hours"),
            figures("GPU hours"),
            amounts("Charged", &found.unit),
            figures("Share"),
        ],
        rows: found.rows.iter().map(row).collect(),
        empty: html! { p { "Nothing was used in these 90 days." } },
        data: Some(route(Target::data)),
        next: None,
    }
    .show())
}
