//! The statement of a project over a period.

use axum::extract::Path;
use bank_api::v1::{List, Statement, StatementGroup, StatementLine, StatementPart};
use bank_picture::{HIDDEN, OTHERS};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::amount::{amount, change, maybe, sum};
use crate::parts::sentence::capital;
use crate::parts::table::{Table, job, link, name, or_none};
use crate::parts::{deed, period};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The kinds of entries that charge a job or give back a charge.
const CHARGES: &str = "charge,charge_debt,charge_fallback,late_charge,refund,reverse";

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/projects/{name}/statement", show)
            .right(Right::SeeLedger)
            .below(&["/projects", "/"])
            .takes_period()
            .takes(["at", "after"]),
    ]
}

async fn show(visit: Visit, Path(project): Path<String>) -> Shown {
    let (from, until) = visit.period()?;
    let at = visit.at()?;
    let route = |root: fn(&[&str]) -> Target, segments: &[&str]| {
        let target = root(segments).with("project", &project);
        let target = target.maybe("from", from.as_deref());
        target
            .maybe("until", until.as_deref())
            .maybe("at", at.as_deref())
    };
    let statement: Statement = visit.get(route(Target::api, &["statements"])).await?;
    let number = statement.transaction.to_string();
    let lines = |root: fn(&[&str]) -> Target| {
        route(root, &["statements", "entries"])
            .with("transaction", &number)
            .maybe("after", visit.parameter("after"))
    };
    let list: List<StatementLine> = visit.get(lines(Target::api)).await?;
    let own = visit.link(&["projects", &project, "statement"]);
    let own = own
        .maybe("from", visit.parameter("from"))
        .maybe("to", visit.parameter("to"));
    let next = list.next.as_deref().map(|next| own.with("after", next));
    let start = statement.from.as_deref().unwrap_or("the beginning");
    let sums_of = |part: &str| {
        let data = route(Target::data, &["statements"]);
        data.with("part", part)
    };
    let content = html! {
        p .lead {
            (capital(&period::words(&visit, Some(start), Some(&statement.until))))
            @if statement.closed { ", closed" }
        }
        (period::picker(&visit))
        (sums(&statement, sums_of("credits,debits")))
        (parts(&visit, &project, &statement, sums_of("parts")))
        (entries(&visit, &list.items, &statement, lines(Target::data), next))
    };
    let above = [(project.as_str(), visit.link(&["projects", &project]))];
    Ok(visit.page(&format!("Statement of {project}"), &above, &content))
}

/// Opening + credits + debits = closing.
fn sums(statement: &Statement, data: Target) -> Markup {
    let heading = |group: &StatementGroup| {
        html! { (group.label()) @if group.adjustment { " (correction of a closed period)" } }
    };
    let groups = statement.credits.iter().chain(&statement.debits);
    let table = Table::of("Credits and debits", groups)
        .words("Heading", heading)
        .figures("Entries", |group| html! { (group.entries) })
        .amounts("Amount", &statement.unit, |group| change(&group.amount))
        .empty(html! { p { "No movements in this period." } })
        .data(data);
    let end = |word: &str, value: &Option<String>| {
        html! { dt { (word) " (" (statement.unit) ")" } dd { strong { (maybe(value.as_deref())) } } }
    };
    html! {
        dl .facts { (end("Opening", &statement.opening)) }
        (table.show())
        dl .facts {
            (end("Closing", &statement.closing))
            (end("Held", &statement.held))
            (end("Free", &statement.available))
        }
    }
}

/// The number of jobs leads to the entries of the journal that it counts.
fn parts(visit: &Visit, project: &str, statement: &Statement, data: Target) -> Markup {
    let entries = |user: &str| {
        let target = visit.link(&["journal"]).with("project", project);
        let target = target.with("user", user).with("kind", CHARGES);
        let target = target.maybe("from", statement.from.as_deref());
        target.with("to", &statement.until)
    };
    // A member sees the charges of others as one row, which has no name of a user.
    let is_user = |name: &String| ![HIDDEN, OTHERS].contains(&name.as_str());
    let user = |part: &StatementPart| part.name.clone().filter(is_user);
    let name = |part: &StatementPart| match user(part) {
        Some(user) => {
            let jobs = visit.link(&["jobs"]).with("project", project);
            link(&jobs.with("user", &user), &user)
        }
        None => or_none(part.name.as_deref()),
    };
    let jobs = |part: &StatementPart| {
        html! { @match user(part) {
            Some(user) => a href=(entries(&user)) { (part.jobs) },
            None => (part.jobs),
        } }
    };
    Table::of("Charges by user", &statement.parts)
        .words("User", name)
        .figures("Jobs", jobs)
        .amounts("Charged", &statement.unit, |part| amount(&part.charged))
        .amounts("Refunded", &statement.unit, |part| amount(&part.refunded))
        .empty(html! { p { "Nothing was charged in this period." } })
        .data(data)
        .show()
}

fn entries(
    visit: &Visit,
    items: &[StatementLine],
    statement: &Statement,
    data: Target,
    next: Option<Target>,
) -> Markup {
    let unit = &statement.unit;
    let balance = |line: &StatementLine| {
        let running = line.running.as_deref();
        let balance = statement.opening.as_deref().zip(running);
        balance.and_then(|(opening, running)| sum(opening, running))
    };
    let of_job = |line: &StatementLine| {
        let machine = line.machine.as_deref();
        html! { @if let Some(own) = &line.job { (job(visit, own, machine)) } @else { "–" } }
    };
    // A member does not see the transactions of jobs of others, only their amounts.
    let is_hidden = |line: &StatementLine| line.job_type.is_some() && line.job.is_none();
    let transaction = |line: &StatementLine| {
        let number = line.transaction.to_string();
        html! {
            @if is_hidden(line) { (number) }
            @else { a href=(visit.link(&["transactions", &number])) { (number) } }
        }
    };
    Table::of("Entries", items)
        .words("Time", |line| html! { (visit.zone().time(&line.at)) })
        .words("Kind", |line| deed::cell(&line.kind))
        .words("Account", |line| name(&line.account))
        .words("Job", of_job)
        .words("User", |line| or_none(line.user.as_deref()))
        .figures("Transaction", transaction)
        .amounts("Amount", unit, |line| change(&line.amount))
        .amounts("Balance", unit, |line| maybe(balance(line).as_deref()))
        .empty(html! { p { "No entries in this period." } })
        .data(data)
        .next(next)
        .show()
}
