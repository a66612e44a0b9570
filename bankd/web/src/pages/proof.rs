//! Can I prove it? The last verification, checkpoints, closed periods, and the ways into the past.

use axum::response::{IntoResponse as _, Redirect};
use bank_api::v1::{KeptCheckpoint, List, Status, Verification};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::json;

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::grouped;
use crate::parts::form::{key, keyed, token};
use crate::parts::message::message;
use crate::parts::sent::{self, next_key};
use crate::parts::table::{Table, name, or_none};
use crate::target::Target;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/proof", show).right(Right::Verify).nav("Proof"),
        Page::post("/proof/verify", verify)
            .right(Right::Verify)
            .of_form("Verify the bank", &[]),
    ]
}

async fn show(visit: Visit) -> Shown {
    page(&visit, None).await
}

async fn page(visit: &Visit, failed: Option<&Failed>) -> Shown {
    let last = last(visit).await?;
    let status: Status = visit.get(Target::api(&["status"])).await?;
    let newest = Target::api(&["checkpoints"]).with("limit", "1");
    let newest: List<KeptCheckpoint> = visit.get(newest).await?;
    let content = html! {
        p .lead { "Can I prove it?" }
        @if let Some(failed) = failed { (message(failed)) }
        (summary(visit, &last))
        @if last.state != "running" {
            form .entry method="post" action="/proof/verify" {
                (token(visit)) (keyed(&next_key(visit, failed)))
                button type="submit" { "Verify the bank now" }
                p .help { "It reads the whole journal while the bank runs, and changes nothing." }
            }
        }
        @if !last.findings.is_empty() { (findings(&last)) }
        @for advice in &last.advice { p { (advice) } }
        @for note in &last.notes { p .small { (note) } }
        h2 { "Checkpoints" }
        @match &status.checkpoint_error {
            Some(error) => div .message.bad { p { "The last checkpoint failed: " (error) } },
            None => p { (made(visit, newest.items.first())) },
        }
        p .ways { a href=(visit.link(&["checkpoints"])) { "The checkpoints of the daemon, and whether they hold" } }
        @if status.signs_checkpoints {
            p {
                a href=(Target::data(&["checkpoint"])) { "Fetch a signed checkpoint" }
                " of the present state. Keep it elsewhere, and compare the bank with it later: "
                code { "bankd verify --checkpoint FILE" }
            }
        } @else {
            p { "This bank has no key to sign checkpoints with. Somebody with access to the machine of bankd makes one with "
                code { "bankd checkpoint-key new" } "; then this page offers signed checkpoints." }
        }
        section .change {
            h2 { "At any moment" }
            p .ways { a href=(visit.link(&["journal"])) { "Journal" } " · "
            a href=(visit.link(&["actors"])) { "Who did what" } " · "
            a href=(visit.link(&["closes"])) { "Closed periods" } " · "
            a href=(visit.link(&["statements"])) { "Statement of a project" } }
            (moment(visit))
        }
        p .below { a href=(Target::data(&["verifications"])) { "JSON" } }
    };
    let mut page = visit.page("Proof", &[], &content);
    if last.state == "running" {
        // Progress without a script.
        let name = axum::http::HeaderName::from_static("refresh");
        let value = axum::http::HeaderValue::from_static("3");
        page.headers_mut().insert(name, value);
    }
    Ok(page)
}

async fn last(visit: &Visit) -> Result<Verification, Failed> {
    visit.get(Target::api(&["verifications"])).await
}

/// What is known of the last checkpoint that the daemon made.
fn made(visit: &Visit, newest: Option<&KeptCheckpoint>) -> Markup {
    let at = newest.and_then(|newest| newest.made.as_deref());
    html! {
        @if let Some(at) = at {
            "The last checkpoint of the daemon is of " (visit.zone().time(at)) "."
        } @else {
            "The daemon has made no checkpoint yet."
        }
    }
}

/// The same in short, for the first screen of an auditor.
pub(crate) async fn card(visit: &Visit) -> Result<Markup, Failed> {
    let last = last(visit).await?;
    Ok(html! {
        section .card {
            h2 { a href=(visit.link(&["proof"])) { "Can I prove it?" } }
            (summary(visit, &last))
        }
    })
}

/// The state of the last verification in one message.
fn summary(visit: &Visit, last: &Verification) -> Markup {
    let zone = visit.zone();
    let time = |time: &Option<String>| {
        time.as_deref()
            .map_or_else(String::new, |time| zone.time(time))
    };
    let count = |count: i64| grouped(&count.to_string());
    html! {
        @match (last.state.as_str(), last.sound) {
            ("running", _) => div .message role="status" {
                p { "Verification runs since " (time(&last.started)) ": " (count(last.transactions)) " of "
                    (count(last.of_transactions)) " transactions, " (last.checks) " of " (last.of_checks) " checks." }
                p .small { (last.doing) }
            },
            ("done", Some(true)) => div .message.good role="status" {
                p { strong { "Sound." } " Verified " (time(&last.ended)) ": " (count(last.transactions)) " transactions, "
                    (count(last.entries)) " entries, " (count(last.allocations)) " allocations, " (count(last.sealed))
                    " sealed rows." }
            },
            ("done", _) => div .message.bad role="alert" {
                p { strong { "Not sound." } " Verified " (time(&last.ended)) ": "
                    (findings_count(last)) " errors." }
            },
            ("none", _) => div .message { p { "No verification has run since the daemon started." } },
            (state, _) => div .message.bad role="alert" {
                p { "The verification of " (time(&last.started)) " did not end (" (state) ")." }
                @if let Some(error) = &last.error { p { (error) } }
            },
        }
    }
}

fn findings_count(last: &Verification) -> i64 {
    let listed = i64::try_from(last.findings.len()).unwrap_or(i64::MAX);
    last.more.saturating_add(listed)
}

fn findings(last: &Verification) -> Markup {
    Table::of("Errors", &last.findings)
        .words("Table", |one| name(&one.table))
        .words("Row", |one| name(&one.row))
        .words("Error", |one| html! { (one.text) })
        .words("Expected", |one| or_none(one.expected.as_deref()))
        .words("Stored", |one| or_none(one.found.as_deref()))
        .data(Target::data(&["verifications"]).with("part", "findings"))
        .show()
}

/// The balances of the bank at an instant.
fn moment(visit: &Visit) -> Markup {
    html! {
        form .period method="get" action="/" {
            label { span { "Balances at" } input name="at" placeholder="2026-10-01" autocomplete="off" required; }
            label { span { "Zone" } input name="zone" value=(visit.parameter("zone").unwrap_or_default())
                placeholder="UTC" autocomplete="off"; }
            button type="submit" { "Show" }
        }
    }
}

async fn verify(visit: Visit) -> Shown {
    let target = Target::api(&["verifications"]);
    let sent: Result<(u16, Verification), Failed> =
        visit.send("POST", target, &key(&visit), &json!({})).await;
    match sent {
        Ok(_) => Ok(Redirect::to("/proof").into_response()),
        Err(failed) => sent::again(page(&visit, Some(&failed)).await, failed),
    }
}
