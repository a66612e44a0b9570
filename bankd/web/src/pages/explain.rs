//! Why a job was charged as it was, and what a transaction did: as `bank explain`.

use axum::extract::Path;
use bank_api::text::format_clock;
use bank_api::v1::{
    Considered, Explained, Explanation, Job, JobUse, JournalEntry, QuoteLine, RefusedReserve,
    ReservationTime,
};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::undo;
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, change, grouped};
use crate::parts::project::Projects;
use crate::parts::sentence::sentence;
use crate::parts::table::{Table, job as job_link, link, name, or_none};
use crate::parts::{deed, hint};
use crate::target::Target;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/jobs/{id}", job)
            .right(Right::SeeLedger)
            .takes(["machine", "number"]),
        Page::get("/transactions/{id}", transaction)
            .right(Right::SeeLedger)
            .below(&["/journal"])
            .takes(["done"]),
    ]
}

async fn job(visit: Visit, Path(id): Path<String>) -> Shown {
    let route = |root: fn(&[&str]) -> Target| {
        root(&["explanations", &id])
            .maybe("machine", visit.parameter("machine"))
            .maybe("number", visit.parameter("number"))
    };
    let answer: Explanation = visit.get(route(Target::api)).await?;
    // A refused hold has no job.
    let own = Target::api(&["jobs", &id]).maybe("machine", visit.parameter("machine"));
    let own: Option<Job> = visit.get(own).await.ok();
    // It is about the newest use.
    let newest = answer.uses.first().map(|one| one.number);
    let own = own.filter(|_| newest.is_none() || newest == answer.number);
    let title = format!("Job {}", answer.job.as_deref().unwrap_or(&id));
    let content = html! {
        @match &own {
            Some(own) => (facts(&visit, own)),
            None => { @if let Some(machine) = &answer.machine { p .lead { "on " (machine) } } }
        }
        @if !answer.uses.is_empty() { (uses(&visit, &answer)) }
        @if let Some(refused) = &answer.refused { (refusal(&visit, refused)) }
        @if let Some(time) = &answer.reservation { (reserved(&visit, time)) }
        (explanation(&visit, &answer).await?)
        p .below { a href=(route(Target::data)) { "JSON" } }
    };
    Ok(visit.page(&title, &[], &content))
}

/// The uses of an id that was used again, each with its page.
fn uses(visit: &Visit, answer: &Explanation) -> Markup {
    let zone = visit.zone();
    let id = answer.job.as_deref().unwrap_or_default();
    let place = |one: &JobUse| {
        let number = one.number.to_string();
        let own = visit
            .link(&["jobs", id])
            .maybe("machine", answer.machine.as_deref())
            .with("number", &number);
        html! {
            @if answer.number == Some(one.number) { strong { (number) } } @else { (link(&own, &number)) }
        }
    };
    Table::of("Uses of this id", &answer.uses)
        .words("Use", place)
        .words("Start", |one| html! { (zone.time(&one.start)) })
        .words(
            "End",
            |one| html! { (zone.time_or(one.end.as_deref(), "–")) },
        )
        .words("Project", |one| or_none(one.project.as_deref()))
        .words("User", |one| or_none(one.user.as_deref()))
        .show()
}

/// The job and its sums.
fn facts(visit: &Visit, job: &Job) -> Markup {
    let state = job.outcome.as_deref().filter(|word| *word != "none");
    let state = state.map(|word| word.replace('_', " "));
    let state = state.map_or_else(
        || job.state.clone(),
        |word| format!("{}, {word}", job.state),
    );
    let refunded = job
        .refunded
        .as_deref()
        .filter(|_| job.net.as_ref() != Some(&job.charged));
    html! {
        dl .facts {
            dt { "Project" } dd { (or_none(job.project.as_deref())) }
            dt { "User" } dd { (or_none(job.user.as_deref())) }
            dt { "Machine" } dd { (name(&job.machine)) }
            @if let Some(processors) = job.processors { dt { "Processors" } dd { (grouped(&processors.to_string())) } }
            dt { "State" } dd { (state) }
            dt { "Time" } dd { (format_clock(job.charged_s)) }
            @if let Some(closed) = &job.closed { dt { "Closed" } dd { (visit.zone().time(closed)) } }
            dt { "Charged (" (job.unit) ")" } dd { strong { (amount(&job.charged)) } }
            @if let Some(refunded) = refunded {
                dt { "Refunded (" (job.unit) ")" } dd { (amount(refunded)) }
                dt { "Net (" (job.unit) ")" } dd { strong { (amount(job.net.as_deref().unwrap_or("–"))) } }
            }
        }
    }
}

async fn transaction(visit: Visit, Path(id): Path<String>) -> Shown {
    let route =
        |root: fn(&[&str]) -> Target| root(&["explanations", &id]).with("transaction", "true");
    let answer: Explanation = visit.get(route(Target::api)).await?;
    let content = html! {
        @if let Some(done) = visit.parameter("done") {
            div .message.good role="status" { p { (done_text(done)) } }
        }
        (explanation(&visit, &answer).await?)
        @if visit.may(Right::Reverse) {
            @let is_undo = answer.items.first().is_some_and(|one| one.op == "undo");
            @let reversed_by = answer.items.first().and_then(|one| one.reversed_by);
            (undo::way(&visit, &id, reversed_by, is_undo))
        }
        p .below { a href=(route(Target::data)) { "JSON" } }
    };
    let title = format!("Transaction {id}");
    Ok(visit.page(&title, &[], &content))
}

/// What was done a moment ago. Only words of ours: the address is not trusted.
fn done_text(done: &str) -> &'static str {
    match done {
        "money" => "Done. This is what was booked.",
        "undo" => "Undone: this transaction is the opposite of the one before.",
        _ => "Done.",
    }
}

async fn explanation(visit: &Visit, answer: &Explanation) -> Result<Markup, Failed> {
    let entries = answer.items.iter().flat_map(|one| &one.entries);
    let names = entries.filter_map(|entry| entry.project.as_deref());
    let projects = Projects::among(visit, names).await?;
    Ok(html! {
        @if answer.items.is_empty() { div .empty { p { "Nothing was booked." } } }
        @for one in &answer.items { (section(visit, &projects, one, &answer.unit)) }
        @if !answer.complete { p { strong { "There are more transactions than this page shows." } } }
    })
}

fn refusal(visit: &Visit, refused: &RefusedReserve) -> Markup {
    html! {
        div .message.bad {
            p { "Hold refused on " (visit.zone().time(&refused.at)) ": " (refused.detail) "." }
            @if let Some(hint) = refused.hint.as_deref().and_then(|hint| hint::show(&refused.code, hint)) {
                p .hint { "Hint: " (hint) "." }
            }
        }
    }
}

/// The time of a reservation that pays for its idle processors, and the jobs that used the rest.
fn reserved(visit: &Visit, time: &ReservationTime) -> Markup {
    html! {
        dl .facts {
            dt { "Reserved (processor-seconds)" } dd { (grouped(&time.reserved)) }
            dt { "Idle (processor-seconds)" } dd { (grouped(&time.idle)) }
            @for own in &time.jobs {
                @let job = own.job.as_deref().unwrap_or("jobs that you do not see");
                dt { @if own.job.is_some() { (link(&visit.link(&["jobs", job]), job)) } @else { (job) } }
                dd { (grouped(&own.used)) " used" }
            }
        }
    }
}

/// What a transaction did, and for whom.
fn title(one: &Explained) -> String {
    let entries = || one.entries.iter();
    let job = entries().find_map(|entry| entry.job.as_deref());
    let accounts = entries().filter_map(|entry| entry.account.as_deref());
    deed::title(&one.op, job, &accounts.collect::<Vec<_>>())
}

fn section(visit: &Visit, projects: &Projects, one: &Explained, unit: &str) -> Markup {
    let number = one.transaction.to_string();
    let data = |part: &str| {
        let target = Target::data(&["explanations", &number]);
        target.with("transaction", "true").with("part", part)
    };
    html! {
        section .card {
            h2 {
                (title(one)) " · transaction "
                a href=(visit.link(&["transactions", &number])) { (number) }
            }
            p .small { (visit.zone().time(&one.at_effective)) " · by " (one.actor)
                @if let Some(reason) = &one.reason { " · " (deed::reason(visit.zone(), reason)) } }
            @if let Some(reason) = one.reason.as_deref().filter(|reason| deed::reason(visit.zone(), reason) != *reason) {
                details .more { summary { "Entry of the journal" } p { code { (one.op) } " " code { (reason) } } }
            }
            @if !one.effects.is_empty() { ul { @for effect in &one.effects { li { (sentence(visit.zone(), effect)) } } } }
            @if !one.price.is_empty() { (price(&one.price, data("price"))) }
            @if let Some(charge) = &one.charge {
                @if let Some(text) = &charge.itemisation { pre { code { (text) } } }
            }
            @if !one.considered.is_empty() { (considered(&one.considered, unit, data("considered"))) }
            @if !one.entries.is_empty() { (entries(visit, projects, &one.entries, unit, data("entries"))) }
        }
    }
}

/// The price, line by line.
fn price(lines: &[QuoteLine], data: Target) -> Markup {
    Table::of("Price", lines)
        .words("Step", |line| html! { span .prose { (line.text) } })
        .figures("Amount", |line| html! { (grouped(&line.amount)) })
        .words("Unit", |line| html! { (line.unit) })
        .data(data)
        .show()
}

/// Which accounts were asked, in their order.
fn considered(items: &[Considered], unit: &str, data: Target) -> Markup {
    let number = |id: Option<i64>| id.map_or_else(|| "–".to_owned(), |id| id.to_string());
    Table::of("Who could pay", items)
        .figures("Place", |one| html! { (one.place) })
        .words("Account", |one| name(&one.account))
        .figures("Allocation", |one| html! { (number(one.allocation)) })
        .amounts("Free then", unit, |one| amount(&one.free))
        .amounts("Taken", unit, |one| amount(&one.taken))
        .words("Why", |one| html! { span .prose { (one.why) } })
        .data(data)
        .show()
}

fn entries(
    visit: &Visit,
    projects: &Projects,
    items: &[JournalEntry],
    unit: &str,
    data: Target,
) -> Markup {
    let of_job = |entry: &JournalEntry| {
        let machine = entry.machine.as_deref();
        html! { @if let Some(own) = &entry.job { (job_link(visit, own, machine)) } @else { "–" } }
    };
    Table::of("Entries", items)
        .words("Kind", |entry| deed::cell(&entry.kind))
        .words("Account", |entry| or_none(entry.account.as_deref()))
        .words("Project", |entry| {
            projects.show(visit, entry.project.as_deref())
        })
        .words("Job", of_job)
        .amounts("Amount", unit, |entry| change(&entry.amount))
        .amounts("Held", unit, |entry| change(&entry.held))
        .data(data)
        .show()
}
