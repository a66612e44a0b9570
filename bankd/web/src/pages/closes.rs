//! Closed periods of the books, and the forms that close one and open the last one again.

use bank_api::v1::{Close, List, UndoClose, Written};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use crate::failed::Failed;
use crate::order::Order;
use crate::page::Page;
use crate::parts::amount::{amount, count};
use crate::parts::form::{Field, Kind, key, keyed, token};
use crate::parts::message::message;
use crate::parts::sent::{self, next_key};
use crate::parts::table::{Table, link, or_none, prose};
use crate::target::Target;
use crate::visit::{Shown, Visit};

const FIELDS: &[Field<'static>] = &[
    Field::optional(
        "from",
        "From",
        Kind::Time,
        "If empty, the end of the last closed period.",
    ),
    Field::needed(
        "until",
        "Until (exclusive)",
        Kind::Time,
        "Such as 2026-11-01, to close October.",
    ),
    Field::optional("note", "Reason", Kind::Words, "Kept in the journal."),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/closes", list)
            .right(Right::SeeLedger)
            .below(&["/today", "/proof", "/"])
            .takes(["after", "done"]),
        Page::get("/closes/new", show)
            .right(Right::ClosePeriods)
            .below(&["/today", "/proof", "/"])
            .takes_fields(FIELDS),
        Page::post("/closes/new", send)
            .right(Right::ClosePeriods)
            .of_form("Close a period", FIELDS),
        Page::post("/closes/undo", undo)
            .right(Right::ClosePeriods)
            .of_form("Open the last closed period again", &[]),
    ]
}

async fn list(visit: Visit) -> Shown {
    page(&visit, None).await
}

async fn page(visit: &Visit, failed: Option<&Failed>) -> Shown {
    let after = visit.parameter("after");
    let route = |root: fn(&[&str]) -> Target| root(&["closes"]).maybe("after", after);
    let list: List<Close> = visit.get(route(Target::api)).await?;
    let next = list.next.as_deref();
    let next = next.map(|next| visit.link(&["closes"]).with("after", next));
    let is_closed = |row: &Close| row.reopened_by.is_none();
    let may = visit.may(Right::ClosePeriods);
    let content = html! {
        @if let Some(failed) = failed { (message(failed)) }
        @if let Some(done) = visit.parameter("done") {
            div .message.good role="status" { p {
                (done_text(visit, done, &list.items))
            } }
        }
        @if may { p .actions { a .button href=(visit.link(&["closes", "new"])) { "Close a period" } } }
        (table(visit, &list.items, route(Target::data), next))
        @if may && list.items.iter().any(is_closed) {
            form .entry method="post" action="/closes/undo" {
                (token(visit)) (keyed(&next_key(visit, failed)))
                button .plain type="submit" { "Open the last closed period again" }
            }
        }
    };
    Ok(visit.page("Closed periods", &[], &content))
}

/// What was done a moment ago, as the list has it now.
fn done_text(visit: &Visit, done: &str, items: &[Close]) -> Markup {
    let zone = visit.zone();
    let is_undone = done == "undo";
    let found = items
        .iter()
        .find(|row| row.reopened_by.is_some() == is_undone);
    html! {
        @match found {
            Some(row) if is_undone => { "The period until " (zone.time(&row.until)) " is open again." },
            Some(row) => { "The books are closed until " (zone.time(&row.until)) "." },
            None => "Done.",
        }
    }
}

/// The reason that a person gave. The journal has the bounds of the period before it.
fn note(reason: &str) -> Option<&str> {
    let is_bound = |word: &str| word.starts_with("from=") || word.starts_with("until=");
    let mut rest = reason;
    while is_bound(rest) {
        rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
    }
    Some(rest).filter(|rest| !rest.is_empty())
}

fn table(visit: &Visit, items: &[Close], data: Target, next: Option<Target>) -> Markup {
    let zone = visit.zone();
    let number = |transaction: Option<i64>| {
        let text = transaction.map(|number| number.to_string());
        html! { @if let Some(text) = text { (link(&visit.link(&["transactions", &text]), &text)) } @else { "–" } }
    };
    let state = |row: &Close| {
        html! { @if row.reopened_by.is_some() { strong .flag { "opened again" } } @else { "closed" } }
    };
    Table::of("The newest first", items)
        .words("Until (exclusive)", |row| html! { (zone.time(&row.until)) })
        .words("State", state)
        .words("From", |row| html! { (zone.time_or(row.from.as_deref(), "the beginning")) })
        .words("Closed at", |row| html! { (zone.time_or(row.at.as_deref(), "")) })
        .words("By", |row| or_none(row.actor.as_deref()))
        .words("Reason", |row| prose(row.reason.as_deref().and_then(note)))
        .words("Transaction", |row| number(row.closed_by))
        .words("Opened again by", |row| number(row.reopened_by))
        .empty(html! {
            p { "No period is closed yet." }
            p .small {
                @if visit.may(Right::ClosePeriods) {
                    a href=(visit.link(&["closes", "new"])) { "Close the first one" } " when its figures have been checked."
                } @else { "An administrator closes one when its figures have been checked." }
            }
        })
        .data(data)
        .next(next)
        .show()
}

fn order<'a>(trail: &'a [(&'static str, Target)]) -> Order<'a> {
    Order {
        title: "Close a period",
        what: "the close",
        lead: "Nothing can be booked into a closed period. What comes late counts in the open one.",
        fields: FIELDS,
        about: html! {},
        fixed: serde_json::Map::new(),
        action: Target::page(&["closes", "new"]),
        route: Target::api(&["closes"]),
        trail,
        is_proposed: false,
        more: totals,
        after: |_| Target::page(&["closes"]).with("done", "close"),
    }
}

fn trail() -> [(&'static str, Target); 1] {
    [("Closed periods", Target::page(&["closes"]))]
}

async fn show(visit: Visit) -> Shown {
    Ok(order(&trail()).show(&visit))
}

async fn send(visit: Visit) -> Shown {
    order(&trail()).take(&visit).await
}

/// What would be closed.
fn totals(visit: &Visit, answer: &Value) -> Markup {
    let Ok(close) = serde_json::from_value::<Written<Close>>(answer.clone()) else {
        return html! {};
    };
    let zone = visit.zone();
    let close = close.object;
    html! {
        dl .facts {
            @if visit.field("from").is_none() {
                dt { "From" }
                dd { (zone.time_or(close.from.as_deref(), "the beginning")) }
            }
            @if let Some(accounts) = close.accounts { dt { "Accounts with money" } dd { (count(accounts)) } }
            @if let Some(total) = &close.amount { dt { "Total (" (close.unit) ")" } dd { (amount(total)) } }
        }
    }
}

async fn undo(visit: Visit) -> Shown {
    let target = Target::api(&["closes", "undo"]);
    let body = UndoClose::default();
    let sent: Result<(u16, Value), Failed> = visit.send("POST", target, &key(&visit), &body).await;
    match sent {
        Ok(_) => Ok(sent::to("closes", "undo")),
        Err(failed) => sent::again(page(&visit.on("/closes"), Some(&failed)).await, failed),
    }
}
