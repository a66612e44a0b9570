//! The journal: every entry, the newest first, by person, kind, object and period; and who did what.

use std::collections::BTreeMap;

use bank_api::v1::{JournalEntry, JournalPage, QueryAnswer, QueryValue};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::amount::{grouped, is_zero};
use crate::parts::project::Projects;
use crate::parts::table::{Table, amounts, figures, link, name, or_none, prose, words};
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
    Table {
        caption: "Entries by transaction, the newest first",
        columns: vec![
            words("Transaction"),
            words("Time"),
            words("Kind"),
            words("By"),
            words("Account"),
            words("Job"),
            amounts("Amount", &change),
            amounts("Held", &change),
            words("Reason"),
        ],
        rows: items
            .iter()
            .rev()
            .map(|row| cells(visit, projects, row))
            .collect(),
        empty: html! {
            p { "No entry matches." }
            p .small { "Remove a filter, or choose a longer period." }
        },
        data: Some(data),
        next,
    }
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

fn cells(visit: &Visit, projects: &Projects, row: &JournalEntry) -> Vec<Markup> {
    let number = row.transaction.to_string();
    let reason = row.reason.as_deref();
    let reason = reason.map(|reason| deed::reason(visit.zone(), reason));
    let is_other = deed::words(&row.op) != deed::words(&row.kind);
    let change = |text: &str| {
        let is_none = is_zero(text);
        html! { @if is_none { span .none { "–" } } @else { (grouped(text)) } }
    };
    let job = row.job.as_deref().map(|job| {
        let target = visit.link(&["jobs", job]);
        link(&target.maybe("machine", row.machine.as_deref()), job)
    });
    vec![
        link(&visit.link(&["transactions", &number]), &number),
        html! { (visit.zone().time(&row.at_effective)) },
        html! { (deed::cell(&row.kind)) @if is_other { " " span .small { (deed::cell(&row.op)) } } },
        html! { (name(&row.actor)) " " span .small { (row.origin) } },
        account(visit, projects, row),
        job.unwrap_or_else(|| or_none(None)),
        change(&row.amount),
        change(&row.held),
        prose(reason.as_deref()),
    ]
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
    let table = Table {
        caption: &format!("Transactions by person or key, {shown}"),
        columns: vec![
            words("By"),
            words("Through"),
            words("Operation"),
            figures("Transactions"),
            words("Last"),
        ],
        rows: answer
            .items
            .iter()
            .map(|row| actor(&visit, &from, row))
            .collect(),
        empty: html! { p { "Nobody did anything in this period." } },
        data: Some(route(Target::data)),
        next: None,
    };
    let content = html! { (period::picker(&visit)) (table.show()) };
    Ok(visit.page("Who did what", &[], &content))
}

fn actor(visit: &Visit, from: &str, row: &BTreeMap<String, QueryValue>) -> Vec<Markup> {
    let text = |column: &str| match row.get(column) {
        Some(QueryValue::Text(text)) => text.as_str(),
        _ => "–",
    };
    let who = text("Actor");
    let own = visit.link(&["journal"]).with("actor", who);
    let own = own.with("from", from).maybe("to", visit.parameter("to"));
    vec![
        link(&own, who),
        html! { (text("Origin")) },
        deed::cell(text("Op")),
        html! { (text("Count(Id)")) },
        html! { (visit.zone().time(text("Max(Time)"))) },
    ]
}
