//! Closed periods of the books, and the forms that close one and open the last one again.

use bank_api::v1::{Close, List, UndoClose, Written};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use crate::failed::Failed;
use crate::layout::message;
use crate::order::Order;
use crate::page::Page;
use crate::parts::amount::amount;
use crate::parts::form::{Field, Kind, key, keyed, token};
use crate::parts::sent::{self, next_key};
use crate::parts::table::{Table, link, or_none, words};
use crate::target::Target;
use crate::visit::{Shown, Visit};

const FIELDS: &[Field<'static>] = &[
    Field::optional(
        "from",
        "From",
        Kind::Time,
        "Empty: the end of the last closed period.",
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
            .takes(["after", "done"]),
        Page::get("/closes/new", show)
            .right(Right::ClosePeriods)
            .takes_fields(FIELDS),
        Page::post("/closes/new", send).right(Right::ClosePeriods),
        Page::post("/closes/undo", undo).right(Right::ClosePeriods),
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
                @if done == "undo" { "The period is open again." } @else { "The period is closed." }
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

fn table(visit: &Visit, items: &[Close], data: Target, next: Option<Target>) -> Markup {
    let zone = visit.zone();
    let number = |transaction: &Option<i64>| {
        let text = transaction.map(|number| number.to_string());
        if let Some(text) = text {
            link(&visit.link(&["transactions", &text]), &text)
        } else {
            html! { "–" }
        }
    };
    let row = |row: &Close| {
        vec![
            html! { (zone.time(&row.until)) },
            html! { (row.from.as_deref().map_or_else(|| "the beginning".to_owned(), |time| zone.time(time))) },
            html! { (row.at.as_deref().map_or_else(String::new, |time| zone.time(time))) },
            or_none(row.actor.as_deref()),
            or_none(row.reason.as_deref()),
            number(&row.closed_by),
            number(&row.reopened_by),
        ]
    };
    Table {
        caption: "Periods",
        columns: vec![
            words("Until (exclusive)"),
            words("From"),
            words("Closed at"),
            words("By"),
            words("Reason"),
            words("Transaction"),
            words("Opened again by"),
        ],
        rows: items.iter().map(row).collect(),
        empty: html! {
            p { "No period is closed yet." }
            p .small {
                @if visit.may(Right::ClosePeriods) {
                    a href=(visit.link(&["closes", "new"])) { "Close the first one" } " when its figures have been checked."
                } @else { "An administrator closes one when its figures have been checked." }
            }
        },
        data: Some(data),
        next,
    }
    .show()
}

fn order<'a>(trail: &'a [(&'static str, Target)]) -> Order<'a> {
    Order {
        title: "Close a period",
        what: "the close",
        lead: "Nothing can be booked into a closed period. What comes late counts in the open one.",
        fields: FIELDS,
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
            dt { "Closes from" }
            dd { (close.from.as_deref().map_or_else(|| "the beginning".to_owned(), |time| zone.time(time))) }
            dt { "until" } dd { (zone.time(&close.until)) }
            @if let Some(accounts) = close.accounts { dt { "Accounts with money" } dd { (accounts) } }
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
        Err(failed) => sent::again(page(&visit, Some(&failed)).await, failed),
    }
}
