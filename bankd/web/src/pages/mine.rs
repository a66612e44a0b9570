//! What the person used, by week and project.

use bank_api::v1::{UsageLine, UsageTable};
use bankd_ledger::access::right::Right;
use maud::html;

use super::jobs;
use crate::page::Page;
use crate::parts::amount::{amount, count, hours};
use crate::parts::period;
use crate::parts::project::Projects;
use crate::parts::table::{Table, has_shadow};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The usual period: twelve weeks.
const DAYS: i64 = 84;

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/my-usage", show)
            .right(Right::SeeLedger)
            .takes_period()
            .nav("My usage"),
    ]
}

async fn show(visit: Visit) -> Shown {
    let (from, to) = visit.period_of(DAYS)?;
    let user = &visit.session.name;
    let route = |root: fn(&[&str]) -> Target| {
        root(&["report", "usage"])
            .with("user", user)
            .with("every", "week")
            .with("by", "project")
            .with("tz", visit.zone().name())
            .with("from", &from)
            .maybe("until", to.as_deref())
    };
    let found: Option<UsageTable> = match visit.get(route(Target::api)).await {
        Ok(found) => Some(found),
        // Somebody whom the bank does not know as a user has used nothing.
        Err(failed) if failed.problem().code == "not_found" => None,
        Err(failed) => return Err(failed),
    };
    let lines = found.as_ref().map_or(&[][..], |found| &found.rows);
    let unit = found.as_ref().map_or("", |found| found.unit.as_str());
    let names = lines.iter().filter_map(|line| line.keys.get("project"));
    let names = names.filter_map(|name| name.as_deref());
    let projects = Projects::among(&visit, names).await?;
    let caption = period::words(&visit, Some(&from), to.as_deref());
    let caption = format!("By week, {caption}");
    let project = |line: &UsageLine| {
        let project = line.keys.get("project").cloned().flatten();
        project.filter(|name| !name.is_empty())
    };
    let jobs = |line: &UsageLine| {
        let jobs = jobs::counted(&visit, &line.bucket_from, &line.bucket_until).with("user", user);
        let jobs = jobs.maybe("project", project(line).as_deref());
        html! { a href=(jobs) { (count(&line.figures.jobs)) } }
    };
    let table = Table::of(&caption, lines)
        .words("Week", |line| html! { (line.bucket.as_deref().unwrap_or("–")) })
        .words("Project", |line| projects.show(&visit, project(line).as_deref()))
        .figures("Jobs", jobs)
        .figures("Core hours", |line| hours(&line.figures.core_hours))
        .figures("GPU hours", |line| hours(&line.figures.gpu_hours))
        .charges(unit, found.as_ref().map(|found| &found.total))
        .empty(html! {
            p { "You used nothing in this period." }
            p .small { "Jobs appear here when they end. " a href="/quote" { "What would a job cost?" } }
        })
        .data(found.as_ref().map(|_| route(Target::data)))
        .show();
    let content = html! {
        (period::picker(&visit))
        (table)
        @if let Some(found) = &found { @if !lines.is_empty() {
            dl .facts {
                dt { "All jobs" } dd { (count(&found.total.jobs)) }
                dt { "All core hours" } dd { (hours(&found.total.core_hours)) }
                dt { "Charged (" (unit) ")" } dd { strong { (amount(&found.total.charged)) } }
                @if has_shadow(&found.total) {
                    dt { "Shadow (" (unit) ")" } dd { strong { (amount(&found.total.shadow_charged)) } }
                }
            }
        } }
    };
    Ok(visit.page("My usage", &[], &content))
}
