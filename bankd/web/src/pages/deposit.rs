//! A deposit: the form, a preview of both balances by a dry run, and the confirmation.
//!
//! The pattern of every form that changes something: the first form has the idempotency key, the preview carries
//! it and the entries, the confirmation sends them to the API. So a form that is sent twice is done once.

use axum::response::{IntoResponse as _, Redirect};
use bank_api::v1::{Balance, List, NewDeposit, Receipt};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use crate::failed::Failed;
use crate::layout::message;
use crate::page::Page;
use crate::parts::amount::amount;
use crate::parts::form::{Field, carried, key, keyed, token};
use crate::parts::table::{Table, amounts, name, words};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The entries.
const FIELDS: [Field<'static>; 5] = [
    Field {
        name: "name",
        label: "Account or project",
        help: "A project stands for its only account.",
        is_required: true,
        is_figure: false,
    },
    Field {
        name: "amount",
        label: "Amount",
        help: "Digits and at most one point, such as 250000 or 12.5.",
        is_required: true,
        is_figure: true,
    },
    Field {
        name: "start",
        label: "Usable from",
        help: "Such as 2026-10-01. Empty: at once.",
        is_required: false,
        is_figure: false,
    },
    Field {
        name: "end",
        label: "Usable until (exclusive)",
        help: "Such as 2027-04-01. Empty: without end.",
        is_required: false,
        is_figure: false,
    },
    Field {
        name: "note",
        label: "Reason",
        help: "Kept in the journal.",
        is_required: false,
        is_figure: false,
    },
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/deposit", show)
            .right(Right::Deposit)
            .nav("Deposit"),
        Page::post("/deposit", send).right(Right::Deposit),
    ]
}

async fn show(visit: Visit) -> Shown {
    Ok(visit.page("Deposit", &[], &form(&visit, None)))
}

async fn send(visit: Visit) -> Shown {
    let done = match visit.field("step") {
        Some("confirm") => confirm(&visit).await,
        Some("change") => Ok(visit.page("Deposit", &[], &form(&visit, None))),
        _ => preview(&visit).await,
    };
    done.or_else(|failed| {
        let mut page = visit.page("Deposit", &[], &form(&visit, Some(&failed)));
        *page.status_mut() = failed.into_response().status();
        Ok(page)
    })
}

/// The form, with what was typed and what was wrong with it.
fn form(visit: &Visit, failed: Option<&Failed>) -> Markup {
    let value = |name: &str| {
        visit
            .field(name)
            .or_else(|| visit.parameter(name))
            .unwrap_or_default()
    };
    // A refused request used up its key.
    let key = match failed {
        None => key(visit),
        Some(_) => uuid::Uuid::new_v4().to_string(),
    };
    html! {
        @if let Some(failed) = failed { (message(failed)) }
        form .entry method="post" action="/deposit" {
            (token(visit)) (keyed(&key))
            @for field in &FIELDS { (field.show(value(field.name), failed)) }
            button type="submit" { "Preview" }
        }
    }
}

/// The entries as the body of the request.
fn entered(visit: &Visit) -> Result<NewDeposit, Failed> {
    let text = |name: &str| visit.field(name).map(|text| text.trim().to_owned());
    let needed = |name: &str, label: &str| {
        text(name)
            .ok_or_else(|| Failed::new("missing_field", format!("{label}: required")).field(name))
    };
    let time = |name: &str| {
        text(name)
            .map(|text| visit.time_of(name, &text))
            .transpose()
    };
    Ok(NewDeposit {
        name: needed("name", "account or project")?,
        amount: needed("amount", "amount")?,
        start: time("start")?,
        end: time("end")?,
        note: text("note"),
        ..NewDeposit::default()
    })
}

/// Decides the deposit without doing it: the balances before and after.
async fn preview(visit: &Visit) -> Shown {
    let body = entered(visit)?;
    let key = key(visit);
    let target = Target::api(&["deposits"]).with("dry_run", "true");
    let (status, answer): (u16, Value) = visit.send("POST", target, &key, &body).await?;
    let content = html! {
        @if status == 202 {
            div .message { p { "This deposit needs the approval of a second person. Confirm to propose it." } }
        } @else {
            (both(visit, &receipt(answer)?).await?)
        }
        form .entry method="post" action="/deposit" {
            (token(visit)) (keyed(&key))
            (carried(visit, &["name", "amount", "note"]))
            // As instants: the confirmation is the same request whenever it is sent.
            @for (name, time) in [("start", &body.start), ("end", &body.end)] {
                @if let Some(time) = time { input type="hidden" name=(name) value=(time); }
            }
            p .actions {
                button type="submit" name="step" value="confirm" { "Confirm the deposit" } " "
                button .plain type="submit" name="step" value="change" { "Change" }
            }
        }
    };
    Ok(visit.page("Deposit: preview", &[], &content))
}

fn receipt(answer: Value) -> Result<Receipt, Failed> {
    serde_json::from_value(answer).map_err(|_| Failed::internal())
}

/// Both balances of the account.
async fn both(visit: &Visit, receipt: &Receipt) -> Result<Markup, Failed> {
    let target = Target::api(&["balances"]).with("account", &receipt.account);
    let list: List<Balance> = visit.get(target).await?;
    let before = list.items.first();
    let row = |word: &str, before: Option<&String>, after: Option<&String>| {
        let figure =
            |text: Option<&String>| text.map_or_else(|| html! { "–" }, |text| amount(text));
        vec![html! { (word) }, figure(before), figure(after)]
    };
    let zone = visit.zone();
    let day = |time: &Option<String>| {
        time.as_deref()
            .map_or_else(|| "–".to_owned(), |time| zone.day(time))
    };
    Ok(html! {
        dl .facts {
            dt { "Account" } dd { (name(&receipt.account)) }
            dt { "Deposit (" (receipt.unit) ")" } dd { strong { (amount(&receipt.amount)) } }
            dt { "Usable from" } dd { (day(&receipt.start)) }
            dt { "Until (exclusive)" } dd { (day(&receipt.until)) }
        }
        @if !receipt.active { div .message { p { "It cannot be spent now: its window has not begun." } } }
        @for warning in &receipt.warnings { div .message { p { (warning) } } }
        (Table {
            caption: "Balance",
            columns: vec![
                words(""),
                amounts("Before", &receipt.unit),
                amounts("After", &receipt.unit),
            ],
            rows: vec![
                row("Settled", before.map(|row| &row.amount), receipt.amount_after.as_ref()),
                row("Free", before.map(|row| &row.available), receipt.available_after.as_ref()),
            ],
            empty: html! {},
            data: None,
            next: None,
        }.show())
    })
}

/// Does it, once for each key.
async fn confirm(visit: &Visit) -> Shown {
    let body = entered(visit)?;
    let target = Target::api(&["deposits"]);
    let (status, answer): (u16, Value) = visit.send("POST", target, &key(visit), &body).await?;
    if status == 202 {
        let id = answer.get("id").and_then(Value::as_i64).unwrap_or_default();
        let content = html! {
            div .message.good role="status" { p { "Proposal " (id) " waits for the approval of a second person." } }
            p { code { "bank proposal show " (id) } }
        };
        return Ok(visit.page("Deposit: proposed", &[], &content));
    }
    let number = receipt(answer)?.transaction.unwrap_or_default().to_string();
    let target = Target::page(&["transactions", &number]).with("done", "deposit");
    Ok(Redirect::to(target.as_str()).into_response())
}
