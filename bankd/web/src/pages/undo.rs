//! The undo of a transaction: its reversal, with a preview of the balances.

use axum::extract::Path;
use bank_api::v1::Explanation;
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::failed::Failed;
use crate::order::{Order, nothing, transaction};
use crate::page::Page;
use crate::parts::amount::{change, is_zero};
use crate::parts::deed;
use crate::parts::form::{Field, Kind};
use crate::parts::table::name;
use crate::target::Target;
use crate::visit::{Shown, Visit};

const FIELDS: &[Field<'static>] = &[Field::optional(
    "note",
    "Reason",
    Kind::Words,
    "Kept in the journal.",
)];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/transactions/{id}/undo", show)
            .right(Right::Reverse)
            .below(&["/journal"])
            .takes_fields(FIELDS),
        Page::post("/transactions/{id}/undo", send)
            .right(Right::Reverse)
            .of_form("Undo a transaction", FIELDS),
    ]
}

/// The way to the undo on the page of a transaction. One that was undone leads to the undo, which can be undone.
pub(crate) fn way(visit: &Visit, number: &str, reversed_by: Option<i64>, is_undo: bool) -> Markup {
    let transaction = ["transactions", number, "undo"];
    html! {
        p .actions {
            @if let Some(by) = reversed_by {
                @let by = by.to_string();
                "Undone by transaction " a href=(visit.link(&["transactions", &by])) { (by) } "."
            } @else {
                a .button href=(visit.link(&transaction)) {
                    @if is_undo { "Undo the undo: book it again" } @else { "Undo this transaction" }
                }
            }
        }
    }
}

async fn show(visit: Visit, Path(id): Path<i64>) -> Shown {
    let number = id.to_string();
    // Without the transaction there is no form.
    let about = about(&visit, &number).await?;
    Ok(order(id, &title(id), about, &trail(&visit, &number)).show(&visit))
}

async fn send(visit: Visit, Path(id): Path<i64>) -> Shown {
    let number = id.to_string();
    let (title, trail) = (title(id), trail(&visit, &number));
    let about = about(&visit, &number).await?;
    order(id, &title, about, &trail).take(&visit).await
}

/// The transaction that is undone.
async fn about(visit: &Visit, number: &str) -> Result<Markup, Failed> {
    let route = Target::api(&["explanations", number]).with("transaction", "true");
    let answer: Explanation = visit.get(route).await?;
    let Some(one) = answer.items.first() else {
        return Ok(html! {});
    };
    let booked = one.entries.iter().filter(|entry| !is_zero(&entry.amount));
    let booked: Vec<_> = booked.collect();
    Ok(html! {
        dl .facts {
            dt { "Kind" } dd { (deed::words(&one.op)) }
            dt { "Date" } dd { (visit.zone().time(&one.at_effective)) }
            dt { "By" } dd { (name(&one.actor)) }
            @if !booked.is_empty() {
                dt { "Booked (" (answer.unit) ")" }
                @for entry in booked {
                    dd { (change(&entry.amount)) @if let Some(account) = &entry.account { " on " (name(account)) } }
                }
            }
        }
    })
}

fn title(id: i64) -> String {
    format!("Undo transaction {id}")
}

fn trail(visit: &Visit, number: &str) -> [(&'static str, Target); 1] {
    [("The transaction", visit.link(&["transactions", number]))]
}

fn order<'a>(id: i64, title: &'a str, about: Markup, trail: &'a [(&'a str, Target)]) -> Order<'a> {
    Order {
        title,
        what: "the undo",
        lead: "Books the opposite of the transaction. Both stay in the journal, and the undo can be undone.",
        fields: FIELDS,
        about,
        fixed: Map::from_iter([("transaction".to_owned(), Value::from(id))]),
        action: Target::page(&["transactions", &id.to_string(), "undo"]),
        route: Target::api(&["reversals"]),
        trail,
        is_proposed: true,
        more: nothing,
        after: |answer| transaction(answer, "undo"),
    }
}
