//! Jobs with their cost, the newest first.

use bank_api::v1::{Job, List};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::amount::amount;
use crate::parts::table::{Table, amounts, figures, link, name, words};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The filters of the address.
const FILTERS: [(&str, &str); 4] = [
    ("project", "Project"),
    ("user", "User"),
    ("machine", "Machine"),
    ("state", "State (open, closed)"),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![Page::get("/jobs", show).right(Right::SeeLedger).nav("Jobs")]
}

async fn show(visit: Visit) -> Shown {
    let route = |root: fn(&[&str]) -> Target| {
        let names = FILTERS.iter().map(|(name, _)| *name);
        names.fold(root(&["jobs"]), |target, name| {
            target.maybe(name, visit.parameter(name))
        })
    };
    let target = route(Target::api).maybe("after", visit.parameter("after"));
    let list: List<Job> = visit.get(target).await?;
    let own = |_: &[&str]| visit.link(&["jobs"]);
    let next = list.next.as_deref().map(|next| {
        let names = FILTERS.iter().map(|(name, _)| *name);
        let target = names.fold(own(&[]), |target, name| {
            target.maybe(name, visit.parameter(name))
        });
        target.with("after", next)
    });
    let content = html! {
        form .period method="get" action="/jobs" {
            @for (name, word) in FILTERS {
                label { span { (word) } input name=(name) value=(visit.parameter(name).unwrap_or_default())
                    autocomplete="off" spellcheck="false"; }
            }
            button type="submit" { "Show" }
        }
        (table(&visit, &list.items, route(Target::data), next))
    };
    Ok(visit.page("Jobs", &[], &content))
}

fn table(visit: &Visit, items: &[Job], data: Target, next: Option<Target>) -> Markup {
    let unit = items.first().map_or("", |job| job.unit.as_str());
    let or_none = |text: &Option<String>| name(text.as_deref().unwrap_or("–"));
    let row = |job: &Job| {
        let target = visit
            .link(&["jobs", &job.job])
            .with("machine", &job.machine);
        let outcome = job.outcome.as_deref().filter(|outcome| *outcome != "none");
        vec![
            link(&target, &job.job),
            name(&job.machine),
            or_none(&job.project),
            or_none(&job.user),
            html! { (outcome.unwrap_or(&job.state)) },
            html! { (job.processors.map_or_else(|| "–".to_owned(), |count| count.to_string())) },
            html! { (bank_api::text::format_clock(job.charged_s)) },
            html! { a href=(target) { (amount(&job.charged)) } },
        ]
    };
    Table {
        caption: "The newest first",
        columns: vec![
            words("Job"),
            words("Machine"),
            words("Project"),
            words("User"),
            words("State"),
            figures("Processors"),
            figures("Charged time"),
            amounts("Charged", unit),
        ],
        rows: items.iter().map(row).collect(),
        empty: html! {
            p { "No job matches." }
            p .small { "A job appears when the scheduler asks for a quote or a hold, or when its usage arrives." }
        },
        data: Some(data),
        next,
    }
    .show()
}
