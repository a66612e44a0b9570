//! The members of a project, and what each used.

use std::collections::{BTreeMap, BTreeSet};

use bank_api::text::{format_rfc3339, parse_rfc3339};
use bank_api::v1::{Limit, List, Member, QueryAnswer, QueryValue, UsageLine, UsageTable};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::super::jobs;
use super::Place;
use crate::failed::Failed;
use crate::parts::amount::{count, grouped, hours};
use crate::parts::table::{Table, link, name};
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
    let user = |member: &Member| {
        let jobs = visit.link(&["jobs"]).with("project", place.project);
        link(&jobs.with("user", &member.user), &member.user)
    };
    let mut table = Table::of("Members", &list.items)
        .words("User", user)
        .words("Role", |member| html! { (member.role) })
        .words(
            "State",
            |member| html! { @if member.active { "active" } @else { strong .flag { "inactive" } } },
        );
    if let Some(all) = &defaults {
        let is_default = |member: &Member| all.contains(&member.user);
        table = table.words(
            "Default project",
            |member| html! { @if is_default(member) { "yes" } @else { "–" } },
        );
    }
    if let Some(limits) = &limits {
        table = table.words("Transaction limit", |member| {
            limit(limits.get(&member.user))
        });
    }
    Ok(table
        .empty(html! {
            p { "No members yet. Only members may spend." }
            @if visit.may(Right::ChangeMembers) {
                p .small { a href=(visit.link(&["projects", place.project, "members"])) { "Add the first one" } "." }
            }
        })
        .data(route(Target::data))
        .next(place.next("members", list.next.as_deref()))
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
    let user = |line: &UsageLine| {
        let user = line.keys.get("user").cloned().flatten();
        user.filter(|user| !user.is_empty())
    };
    let jobs = |line: &UsageLine| {
        let jobs = user(line).map(|user| {
            let jobs = jobs::counted(visit, &line.bucket_from, &line.bucket_until);
            jobs.with("project", place.project).with("user", &user)
        });
        let number = count(&line.figures.jobs);
        html! { @match &jobs { Some(jobs) => a href=(jobs) { (number) }, None => (number) } }
    };
    let share = |share: &Option<String>| {
        let share = share.as_deref();
        html! { (share.map_or_else(|| "–".to_owned(), |share| format!("{share} %"))) }
    };
    let title = format!(
        "Used from {} to {}",
        zone.day(&found.from),
        zone.time(&found.until)
    );
    Ok(Table::of(&title, &found.rows)
        .words("User", |line| {
            user(line)
                .as_deref()
                .map_or_else(|| html! { "others" }, name)
        })
        .figures("Jobs", jobs)
        .figures("Core hours", |line| hours(&line.figures.core_hours))
        .figures("GPU hours", |line| hours(&line.figures.gpu_hours))
        .charges(&found.unit, Some(&found.total))
        .figures("Share", |line| share(&line.figures.share))
        .empty(html! { p { "Nothing was used in these 90 days." } })
        .data(route(Target::data))
        .show())
}
