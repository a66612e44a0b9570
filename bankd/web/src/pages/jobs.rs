//! Jobs with their cost, the newest first.

use bank_api::text::format_clock;
use bank_api::v1::{Job, List, RecordedUse};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::amount;
use crate::parts::table::{Table, job, name, or_none};
use crate::parts::turn::{self, ONLY};
use crate::parts::{filter, period};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Rows of one page.
const SHOWN: &str = "50";

/// The list of recorded uses in the address.
const USES: &str = "uses";

/// The filters of the address that are names.
const NAMES: [(&str, &str); 3] = [
    ("project", "Project"),
    ("user", "User"),
    ("machine", "Machine"),
];

/// The filters that are one of some words. The first is the usual one.
const CHOICES: [Choice; 3] = [
    (
        "state",
        "State",
        &[("", "any"), ("open", "open"), ("closed", "closed")],
    ),
    (
        "outcome",
        "Outcome",
        &[
            ("", "any"),
            ("charged", "charged"),
            ("partly_refunded", "partly refunded"),
            ("refunded", "refunded"),
            ("unbilled", "on #unbilled"),
            ("notional", "shadow charge"),
            ("reversed", "undone"),
            ("none", "none"),
        ],
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
            .takes(["after", "uses-after"])
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
    let next = turn::next(own.clone(), ONLY, list.next.as_deref());
    let uses = recorded(&visit, own, [from.as_deref(), to.as_deref()]).await?;
    let caption = period::words(&visit, from.as_deref(), to.as_deref());
    let caption = format!("Jobs as they arrived, the newest first, {caption}");
    let content = html! {
        (filter::form(&visit, &NAMES, &["from", "to", "zone"], &html! {
            @for choice in CHOICES { (chosen(&visit, choice)) }
        }))
        @if is_of_period || visit.parameter("period").is_some() {
            p .small { "A usage report counts the same jobs and recorded uses. A job without a charge is in no period." }
        }
        (table(&visit, &caption, &list.items, route(Target::data), next))
        @if list.items.iter().any(is_unbilled) {
            p .small { strong { "To #unbilled: " } "no project has paid. The price is on the account #unbilled until the usage
                is assigned to a project, and usage reports count it." }
        }
        (uses)
    };
    Ok(visit.page("Jobs", &[], &content))
}

/// Whether the address asks for some of the jobs.
fn is_filtered(visit: &Visit) -> bool {
    visit
        .query
        .iter()
        .any(|(name, value)| name != "zone" && !value.is_empty())
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

/// Whether its charge is on the account `#unbilled`: no project has paid.
fn is_unbilled(job: &Job) -> bool {
    job.outcome.as_deref() == Some("unbilled")
}

fn has_refunds(job: &Job) -> bool {
    job.refunded.is_some() && job.net.as_ref() != Some(&job.charged)
}

fn or_amount(text: Option<&str>) -> Markup {
    text.map_or_else(|| or_none(None), amount)
}

fn table(
    visit: &Visit,
    caption: &str,
    items: &[Job],
    data: Target,
    next: Option<Target>,
) -> Markup {
    let unit = items.first().map_or("", |job| job.unit.as_str());
    let outcome = |job: &Job| {
        let outcome = job.outcome.as_deref().filter(|outcome| *outcome != "none");
        html! { (outcome.unwrap_or(&job.state).replace('_', " ")) }
    };
    let charged = |job: &Job| {
        let target = visit.link(&["jobs", &job.job]);
        html! {
            a href=(target.with("machine", &job.machine)) { (amount(&job.charged)) }
            @if is_unbilled(job) { " " span .small { "to #unbilled" } }
        }
    };
    let day = |time: &str| visit.zone().day(time);
    let table = Table::of(caption, items)
        .words("Job", |one| job(visit, &one.job, Some(&one.machine)))
        .words("Machine", |one| name(&one.machine))
        .words("Project", |one| or_none(one.project.as_deref()))
        .words("User", |one| or_none(one.user.as_deref()))
        .words("State", outcome)
        .words("Closed", |one| {
            or_none(one.closed.as_deref().map(day).as_deref())
        })
        .figures("Processors", |one| {
            or_none(one.processors.map(|count| count.to_string()).as_deref())
        })
        .figures("Time", |one| html! { (format_clock(one.charged_s)) })
        .amounts("Charged", unit, charged);
    let table = if items.iter().any(has_refunds) {
        table.amounts("Net", unit, |one| or_amount(one.net.as_deref()))
    } else {
        table
    };
    table
        .empty(html! {
            @if is_filtered(visit) { p { "No job matches." } } @else { p { "There is no job yet." } }
            p .small { "A job appears when the scheduler asks for a quote or a hold, or when its usage is charged. Use that is
                only recorded, without a charge, is in a table of its own." }
        })
        .data(data)
        .next(next)
        .show()
}

/// The uses of the same filters and period that no job is charged for. Nothing if there are none, and beside open jobs.
async fn recorded(
    visit: &Visit,
    own: Target,
    [from, to]: [Option<&str>; 2],
) -> Result<Markup, Failed> {
    if visit.parameter("state") == Some("open")
        || visit
            .parameter("outcome")
            .is_some_and(|word| !word.is_empty())
    {
        return Ok(html! {});
    }
    let route = |root: fn(&[&str]) -> Target| {
        let filters = NAMES.iter().map(|(name, _)| *name).chain(["period"]);
        let target = filters.fold(root(&["uses"]), |target, name| {
            target.maybe(name, visit.parameter(name))
        });
        let target = target.maybe("from", from).maybe("until", to);
        turn::asked(visit, target, USES, SHOWN)
    };
    let list: List<RecordedUse> = visit.get(route(Target::api)).await?;
    if list.items.is_empty() && list.next.is_none() {
        return Ok(html! {});
    }
    let unit = list.items.first().map_or("", |one| one.unit.as_str());
    let charge = |one: &RecordedUse| or_amount(one.shadow_charged.as_deref());
    let table = Table::of("Recorded uses", &list.items)
        .words("Job", |one| name(&one.id))
        .words("Machine", |one| name(&one.machine))
        .words("Project", |one| or_none(one.project.as_deref()))
        .words("User", |one| or_none(one.user.as_deref()))
        .words("State", |one| or_none(one.state.as_deref()))
        .words("Ended", |one| html! { (visit.zone().day(&one.end)) })
        .figures("Processors", |one| or_none(one.processors.as_deref()))
        .figures("Time", |one| html! { (clock(&one.wall_s)) })
        .amounts("Shadow charge", unit, charge)
        .empty(html! { p { "None of the latest uses matches. " b { "Next rows" } " reads on." } })
        .data(route(Target::data))
        .next(turn::next(own, USES, list.next.as_deref()));
    Ok(html! {
        p .small { "A recorded use has no charge. A collector reported it, and usage reports count it." }
        (table.show())
    })
}

/// Whole seconds as hours, minutes and seconds; anything else as it is.
fn clock(seconds: &str) -> String {
    let whole = seconds.parse().ok();
    whole.map_or_else(|| format!("{seconds} s"), format_clock)
}
