//! The undo button of a transaction: its reversal.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect};
use bank_api::v1::NewReversal;
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use crate::order::{proposed, transaction};
use crate::page::Page;
use crate::parts::form::{key, keyed, token};
use crate::target::Target;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![Page::post("/transactions/{id}/undo", undo).right(Right::Reverse)]
}

/// The button on the page of a transaction; the undo of an undo does it again.
pub(crate) fn button(visit: &Visit, transaction: &str, is_undo: bool) -> Markup {
    let target = Target::page(&["transactions", transaction, "undo"]);
    html! {
        form .entry method="post" action=(target) {
            (token(visit)) (keyed(&key(visit)))
            button .plain type="submit" {
                @if is_undo { "Undo the undo: book it again" } @else { "Undo this transaction" }
            }
        }
    }
}

async fn undo(visit: Visit, Path(id): Path<i64>) -> Shown {
    let body = NewReversal {
        transaction: id,
        ..NewReversal::default()
    };
    let target = Target::api(&["reversals"]);
    let key = key(&visit);
    let sent = visit.send("POST", target.clone(), &key, &body).await;
    let target = match sent {
        Ok((_, answer)) => transaction(&answer, "undo"),
        // The key is used up, and the one of the proposal follows from it: sent twice, it is proposed once.
        Err(failed) if failed.problem().code == "approval_needed" => {
            let (target, key) = (target.with("propose", "true"), format!("{key}-propose"));
            let (_, answer): (u16, Value) = visit.send("POST", target, &key, &body).await?;
            proposed(answer)?
        }
        Err(failed) => return Err(failed),
    };
    Ok(Redirect::to(target.as_str()).into_response())
}
