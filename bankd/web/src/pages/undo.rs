//! The undo button of a transaction: its reversal.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect};
use bank_api::v1::{Correction, NewReversal};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::form::{key, keyed, token};
use crate::target::Target;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![Page::post("/transactions/{id}/undo", undo).right(Right::Reverse)]
}

/// The button on the page of a transaction.
pub(crate) fn button(visit: &Visit, transaction: &str) -> Markup {
    let target = Target::page(&["transactions", transaction, "undo"]);
    html! {
        form .entry method="post" action=(target) {
            (token(visit)) (keyed(&key(visit)))
            button .plain type="submit" { "Undo this transaction" }
        }
    }
}

async fn undo(visit: Visit, Path(id): Path<i64>) -> Shown {
    let body = NewReversal {
        transaction: id,
        ..NewReversal::default()
    };
    let target = Target::api(&["reversals"]);
    let (status, answer): (u16, Value) = visit.send("POST", target, &key(&visit), &body).await?;
    if status == 202 {
        let content = html! {
            div .message.good role="status" { p { "The reversal waits for the approval of a second person." } }
        };
        return Ok(visit.page("Undo: proposed", &[], &content));
    }
    let done: Correction = serde_json::from_value(answer).map_err(|_| Failed::internal())?;
    let number = done.transaction.unwrap_or_default().to_string();
    let target = Target::page(&["transactions", &number]).with("done", "undo");
    Ok(Redirect::to(target.as_str()).into_response())
}
