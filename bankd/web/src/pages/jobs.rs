//! Jobs with their cost, the newest first.

use bank_api::v1::{Job, List};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::amount::amount;
use crate::parts::period;
use crate::parts::table::{Table, amounts, figures, link, name, or_none, words};
use crate::parts::turn::{self, ONLY};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Rows of one page.
const SHOWN: &str = "50";

/// The filters of the address that are names.
const NAMES: [(&str, &str); 3] = [
    ("project", "Project"),
    ("user", "User"),
    ("machine", "Machine"),
];

/// The filters that are one of some words. The first is the usual one.
const CHOICES: [Choice; 2] = [
    (
        "state",
        "State",
        &[("", "any"), ("open", "open"), ("closed", "closed")],
    ),
    (
        "period",
        "Jobs of the period",
        &[
            ("", "ended in it"),
            ("started", "started in it"),
            ("running", "ran in it"),
        ],
    ),
];

/// A filter, its label, and its words with their labels.
type Choice = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

pub(crate) fn rows() -> Vec<Page> {
    let names = NAMES.iter().map(|(name, _)| *name);
    let choices = CHOICES.iter().map(|(name, ..)| *name);
    vec![
        Page::get("/jobs", show)
            .right(Right::SeeLedger)
            .takes(names.chain(choices))
            .takes_period()
            .takes(["after"])
            .nav("Jobs"),
    ]
}

/// The jobs that ran in the period of a figure of a usage report: the ones that it counts.
pub(crate) fn counted(visit: &Visit, from: &str, to: &str) -> Target {
    let target = visit.link(&["jobs"]).with("from", from).with("to", to);
    target.with("period", "running")
}

/// A target with the filters of the address, but not its period.
fn kept(visit: &Visit, target: Target) -> Target {
    let names = NAMES.iter().map(|(name, _)| *name);
    let names = names.chain(CHOICES.iter().map(|(name, ..)| *name));
    names.fold(target, |target, name| {
        target.maybe(name, visit.parameter(name))
    })
}

async fn show(visit: Visit) -> Shown {
    let (from, to) = visit.period()?;
    let is_of_period = from.is_some() || to.is_some();
    let route = |root: fn(&[&str]) -> Target| {
        let target = kept(&visit, root(&["jobs"]));
        let target = target.maybe("from", from.as_deref());
        turn::asked(&visit, target.maybe("until", to.as_deref()), ONLY, SHOWN)
    };
    let list: List<Job> = visit.get(route(Target::api)).await?;
    let own = ["from", "to"]
        .iter()
        .fold(kept(&visit, visit.link(&["jobs"])), |target, name| {
            target.maybe(name, visit.parameter(name))
        });
    let next = list.next.as_deref().map(|next| own.with("after", next));
    let content = html! {
        form .period method="get" action="/jobs" {
            @for (name, word) in NAMES {
                label { span { (word) } input name=(name) value=(visit.parameter(name).unwrap_or_default())
                    autocomplete="off" spellcheck="false"; }
            }
            (period::inputs(&visit, &["from", "to", "zone"], None))
            @for choice in CHOICES { (chosen(&visit, choice)) }
            button type="submit" { "Show" }
        }
        @if is_of_period || visit.parameter("period").is_some() {
            p .small { "A usage report counts the same jobs. A job without a charge is in no period." }
        }
        (table(&visit, &list.items, route(Target::data), next))
    };
    Ok(visit.page("Jobs", &[], &content))
}

fn chosen(visit: &Visit, (name, label, words): Choice) -> Markup {
    let now = visit.parameter(name).unwrap_or_default();
    html! {
        label { span { (label) }
            select name=(name) {
                @for (word, text) in words { option value=(word) selected[*word == now] { (text) } }
            }
        }
    }
}

fn table(visit: &Visit, items: &[Job], data: Target, next: Option<Target>) -> Markup {
    let unit = items.first().map_or("", |job| job.unit.as_str());
    let row = |job: &Job| {
        let target = visit
            .link(&["jobs", &job.job])
            .with("machine", &job.machine);
        let outcome = job.outcome.as_deref().filter(|outcome| *outcome != "none");
        vec![
            link(&target, &job.job),
            name(&job.machine),
            or_none(job.project.as_deref()),
            or_none(job.user.as_deref()),
            html! { (outcome.unwrap_or(&job.state)) },
            or_none(
                job.closed
                    .as_deref()
                    .map(|time| visit.zone().day(time))
                    .as_deref(),
            ),
            or_none(job.processors.map(|count| count.to_string()).as_deref()),
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
            words("Closed"),
            figures("Processors"),
            figures("Time"),
            amounts("Charged", unit),
        ],
        rows: items.iter().map(row).collect(),
        empty: html! {
            p { "No job matches." }
            p .small { "A job appears when the scheduler asks for a quote or a hold, or when its usage is charged. Use that is
                only recorded, without a charge, is in " a href=(visit.link(&["usage"])) { "the usage" } "." }
        },
        data: Some(data),
        next,
    }
    .show()
}
