//! The journal: every entry, the newest first, by person, kind, object and period; and who did what.

use std::collections::BTreeMap;

use bank_api::v1::{JournalEntry, JournalPage, QueryAnswer, QueryValue};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::amount::{grouped, is_zero};
use crate::parts::project::Projects;
use crate::parts::table::{Table, job, link, name, or_none, prose};
use crate::parts::{deed, filter, period};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The filters of the address.
const FILTERS: [(&str, &str); 7] = [
    ("actor", "Person or key"),
    ("kind", "Kind, such as deposit"),
    ("project", "Project"),
    ("account", "Account"),
    ("user", "User"),
    ("machine", "Machine"),
    ("job", "Job"),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/journal", show)
            .right(Right::SeeLedger)
            .takes(FILTERS.iter().map(|(name, _)| *name))
            .takes_period()
            .takes(["before"])
            .nav("Journal"),
        Page::get("/actors", actors)
            .right(Right::Verify)
            .below(&["/journal"])
            .takes_period(),
    ]
}

async fn show(visit: Visit) -> Shown {
    let (from, to) = visit.period()?;
    let route = |root: fn(&[&str]) -> Target| {
        filter::kept(&visit, &FILTERS, root(&["journal"]))
            .maybe("since", from.as_deref())
            .maybe("until", to.as_deref())
            .with("newest", "true")
            .maybe("before", visit.parameter("before"))
    };
    let page: JournalPage = visit.get(route(Target::api)).await?;
    let own = filter::kept(&visit, &FILTERS, visit.link(&["journal"]))
        .maybe("from", visit.parameter("from"))
        .maybe("to", visit.parameter("to"));
    let next = page.next.as_deref().map(|next| own.with("before", next));
    let names = page.items.iter().filter_map(|row| row.project.as_deref());
    let projects = Projects::among(&visit, names).await?;
    let content = html! {
        (filter::form(&visit, &FILTERS, &["from", "to", "zone"], &html! {}))
        (entries(&visit, &projects, &page.items, route(Target::data), next))
        @if visit.may(Right::Verify) {
            p .ways { a href=(visit.link(&["actors"])) { "Who did what" } " · " a href=(visit.link(&["proof"])) { "Proof" } }
        }
    };
    Ok(visit.page("Journal", &[], &content))
}

/// The API gives a page oldest first.
fn entries(
    visit: &Visit,
    projects: &Projects,
    items: &[JournalEntry],
    data: Target,
    next: Option<Target>,
) -> Markup {
    let change = format!("change, {}", visit.unit());
    let transaction = |row: &JournalEntry| {
        let number = row.transaction.to_string();
        link(&visit.link(&["transactions", &number]), &number)
    };
    let deed = |row: &JournalEntry| {
        let is_other = deed::words(&row.op) != deed::words(&row.kind);
        html! { (deed::cell(&row.kind)) @if is_other { " " span .small { (deed::cell(&row.op)) } } }
    };
    let of_job = |row: &JournalEntry| match row.job.as_deref() {
        Some(own) => job(visit, own, row.machine.as_deref()),
        None => or_none(None),
    };
    let moved = |text: &str| {
        let is_none = is_zero(text);
        html! { @if is_none { span .none { "–" } } @else { (grouped(text)) } }
    };
    let reason = |row: &JournalEntry| {
        let reason = row.reason.as_deref();
        prose(
            reason
                .map(|reason| deed::reason(visit.zone(), reason))
                .as_deref(),
        )
    };
    Table::of(
        "Entries by transaction, the newest first",
        items.iter().rev(),
    )
    .words("Transaction", transaction)
    .words(
        "Time",
        |row| html! { (visit.zone().time(&row.at_effective)) },
    )
    .words("Kind", deed)
    .words(
        "By",
        |row| html! { (name(&row.actor)) " " span .small { (row.origin) } },
    )
    .words("Account", |row| account(visit, projects, row))
    .words("Job", of_job)
    .amounts("Amount", &change, |row| moved(&row.amount))
    .amounts("Held", &change, |row| moved(&row.held))
    .words("Reason", reason)
    .empty(html! {
        p { "No entry matches." }
        p .small { "Remove a filter, or choose a longer period." }
    })
    .data(data)
    .next(next)
    .show()
}

/// The project, and the account if it has another name.
fn account(visit: &Visit, projects: &Projects, row: &JournalEntry) -> Markup {
    let other = row
        .account
        .as_deref()
        .filter(|own| Some(*own) != row.project.as_deref());
    html! {
        @match (&row.project, other) {
            (Some(project), Some(account)) => {
                (projects.show(visit, Some(project))) " " span .small { (name(account)) }
            },
            (Some(project), None) => (projects.show(visit, Some(project))),
            (None, account) => (or_none(account)),
        }
    }
}

/// Transactions by person and operation.
async fn actors(visit: Visit) -> Shown {
    let (from, to) = visit.period_of(1)?;
    let until = to.as_deref();
    let until = until.map_or_else(String::new, |to| format!("Time<'{to}' "));
    let text = format!(
        "Transaction Query Time>='{from}' {until}Show:=GroupBy(Actor),GroupBy(Origin),GroupBy(Op),Tros(Count(Id)),\
         Max(Time)"
    );
    let route = |root: fn(&[&str]) -> Target| root(&["query"]).with("text", &text);
    let answer: QueryAnswer = visit.get(route(Target::api)).await?;
    let shown = period::words(&visit, Some(&from), to.as_deref());
    let actor = |row: &BTreeMap<String, QueryValue>| {
        let who = text_of(row, "Actor");
        let own = visit.link(&["journal"]).with("actor", who);
        let own = own.with("from", &from).maybe("to", visit.parameter("to"));
        link(&own, who)
    };
    let caption = format!("Transactions by person or key, {shown}");
    let table = Table::of(&caption, &answer.items)
        .words("By", actor)
        .words("Through", |row| html! { (text_of(row, "Origin")) })
        .words("Operation", |row| deed::cell(text_of(row, "Op")))
        .figures("Transactions", |row| html! { (text_of(row, "Count(Id)")) })
        .words(
            "Last",
            |row| html! { (visit.zone().time(text_of(row, "Max(Time)"))) },
        )
        .empty(html! { p { "Nobody did anything in this period." } })
        .data(route(Target::data));
    let content = html! { (period::picker(&visit)) (table.show()) };
    Ok(visit.page("Who did what", &[], &content))
}

/// A text of a row.
fn text_of<'r>(row: &'r BTreeMap<String, QueryValue>, column: &str) -> &'r str {
    match row.get(column) {
        Some(QueryValue::Text(text)) => text,
        _ => "–",
    }
}
