//! What the person used, by week and project.

use bank_api::v1::{UsageLine, UsageTable};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::jobs;
use crate::page::Page;
use crate::parts::amount::{amount, count, hours};
use crate::parts::period;
use crate::parts::project::Projects;
use crate::parts::table::{Table, amounts, figures, words};
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
    let content = html! {
        (period::picker(&visit))
        (Table {
            caption: &caption,
            columns: vec![
                words("Week"),
                words("Project"),
                figures("Jobs"),
                figures("Core hours"),
                figures("GPU hours"),
                amounts("Charged", unit),
            ],
            rows: lines.iter().map(|line| cells(&visit, &projects, line)).collect(),
            empty: html! {
                p { "You used nothing in this period." }
                p .small { "Jobs appear here when they end. " a href="/quote" { "What would a job cost?" } }
            },
            data: found.as_ref().map(|_| route(Target::data)),
            next: None,
        }.show())
        @if let Some(found) = &found { @if !lines.is_empty() {
            dl .facts {
                dt { "All jobs" } dd { (count(&found.total.jobs)) }
                dt { "All core hours" } dd { (hours(&found.total.core_hours)) }
                dt { "Charged (" (unit) ")" } dd { strong { (amount(&found.total.charged)) } }
            }
        } }
    };
    Ok(visit.page("My usage", &[], &content))
}

fn cells(visit: &Visit, projects: &Projects, line: &UsageLine) -> Vec<Markup> {
    let project = line.keys.get("project").cloned().flatten();
    let project = project.filter(|name| !name.is_empty());
    let jobs = jobs::counted(visit, &line.bucket_from, &line.bucket_until)
        .with("user", &visit.session.name)
        .maybe("project", project.as_deref());
    let figures = &line.figures;
    vec![
        html! { (line.bucket.as_deref().unwrap_or("–")) },
        projects.show(visit, project.as_deref()),
        html! { a href=(jobs) { (count(&figures.jobs)) } },
        hours(&figures.core_hours),
        hours(&figures.gpu_hours),
        amount(&figures.charged),
    ]
}
