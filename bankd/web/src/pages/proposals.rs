//! What waits for the approval of a second person, and the decision.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect};
use bank_api::v1::{Allocation, List, NewDecision, Proposal, Written};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{ask, money};
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, is_zero};
use crate::parts::form::{self, is_about, key, keyed, token};
use crate::parts::message::{message, message_at};
use crate::parts::sent;
use crate::parts::table::{Table, link, name};
use crate::target::Target;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/proposals", list)
            .right(Right::SeeProposals)
            .below(&["/today", "/requests"])
            .takes(["all", "after"]),
        Page::get("/proposals/{id}", show)
            .right(Right::SeeProposals)
            .below(&["/today", "/requests"])
            .takes(["done"]),
        Page::post("/proposals/{id}", decide)
            .right(Right::DecideProposals)
            .of_form("Decide a proposal or request", &[]),
    ]
}

async fn list(visit: Visit) -> Shown {
    let all = visit.parameter("all");
    let caption = all.map_or("Open", |_| "All, the newest first");
    let content = html! {
        (table(&visit, caption, all).await?)
        @if all.is_none() {
            p .ways { a href=(visit.link(&["proposals"]).with("all", "true")) { "Decided and expired ones too" } }
        }
    };
    Ok(visit.page("Proposals and requests", &[], &content))
}

/// The proposals in view, with buttons for the open ones.
pub(crate) async fn table(
    visit: &Visit,
    caption: &str,
    all: Option<&str>,
) -> Result<Markup, Failed> {
    let route = |root: fn(&[&str]) -> Target| {
        let target = root(&["proposals"]).maybe("all", all.map(|_| "true"));
        target.maybe("after", visit.parameter("after"))
    };
    let list: List<Proposal> = visit.get(route(Target::api)).await?;
    let unit = list.items.first().map_or("", |row| row.unit.as_str());
    let next = list.next.as_deref().map(|next| {
        let target = visit.link(&["proposals"]).with("after", next);
        target.maybe("all", all)
    });
    let number = |row: &Proposal| {
        let number = row.id.to_string();
        link(&visit.link(&["proposals", &number]), &number)
    };
    let subject = |row: &Proposal| {
        html! {
            div {
                (name(&row.subject()))
                @if let Some(asked) = &row.asked { div .small.prose { (asked) } }
            }
        }
    };
    Ok(Table::of(caption, &list.items)
        .words("Number", number)
        .words("Kind", |row| html! { (what(&row.kind)) })
        .words("For", subject)
        .amounts("Amount", unit, amount_of)
        .words("By", |row| name(&row.proposed_by))
        .words(
            "Waits until",
            |row| html! { (visit.zone().time(&row.until)) },
        )
        .words("State", |row| html! { (row.state) })
        .buttons(
            "Decision",
            |row| html! { @if may_decide(visit, row) { (decision(visit, row, false, None)) } },
        )
        .empty(html! { p { "No proposal or request waits for a decision." } })
        .data(route(Target::data))
        .next(next)
        .show())
}

/// Its amount; a dash if it moves no money.
pub(crate) fn amount_of(row: &Proposal) -> Markup {
    html! { @if is_zero(&row.amount) { span .none { "–" } } @else { (amount(&row.amount)) } }
}

/// What a proposal or a request is for, in words.
pub(crate) fn what(kind: &str) -> String {
    match kind {
        "member" => "membership".to_owned(),
        "project" => "new project".to_owned(),
        kind => kind.replace('_', " "),
    }
}

/// The right of what a proposal would do.
fn needed(kind: &str) -> Right {
    match kind {
        "deposit" => Right::Deposit,
        "withdraw" => Right::Withdraw,
        "transfer" => Right::Transfer,
        "refund" => Right::Refund,
        "adjust" => Right::Adjust,
        "credit_limit" | "extension" => Right::ChangeAllocations,
        "member" => Right::ChangeMembers,
        "project" => Right::ChangeReference,
        _ => Right::DecideProposals,
    }
}

/// Whether the person may be the one who decides: who could do it, and nobody about what they proposed. The rules
/// check the rest.
pub(crate) fn may_decide(visit: &Visit, row: &Proposal) -> bool {
    let by = row.proposed_by.strip_prefix("unix:");
    let is_own = by.unwrap_or(&row.proposed_by) == visit.session.name;
    row.state == "open" && !is_own && visit.may(needed(&row.kind))
}

async fn show(visit: Visit, Path(id): Path<String>) -> Shown {
    page(&visit, &id, None).await
}

async fn page(visit: &Visit, id: &str, failed: Option<&Failed>) -> Shown {
    let one: Proposal = visit.get(Target::api(&["proposals", id])).await?;
    let content = html! {
        @if visit.parameter("done") == Some("proposed") {
            div .message.good role="status" { p { "Proposed. It waits until another person approves it." } }
        }
        @if visit.parameter("done") == Some("decided") && one.state != "open" {
            div .message.good role="status" { p {
                (if one.asked.is_some() { "The request of " } else { "The proposal of " }) (one.proposed_by) " for "
                (one.subject()) " is " (one.state) "."
            } }
        }
        @if let Some(failed) = failed {
            @if is_about(failed, "reason") { (message_at(failed, &answer_field(&one), "Answer")) } @else { (message(failed)) }
        }
        (facts(visit, &one).await)
        @if may_decide(visit, &one) {
            (decision(visit, &one, true, failed))
            @if one.asked.is_some() && failed.is_some_and(|failed| failed.problem().code == "approval_needed") {
                (passing(visit, &one))
            }
        }
    };
    let word = if one.asked.is_some() {
        "Request"
    } else {
        "Proposal"
    };
    let title = format!("{word} {}", one.id);
    let trail = [("Proposals", visit.link(&["proposals"]))];
    Ok(sent::refused(visit.page(&title, &trail, &content), failed))
}

/// The allocation that a request is about, if the person sees it.
async fn allocation(visit: &Visit, one: &Proposal) -> Option<Allocation> {
    let number = one.request.path.strip_prefix("/api/v1/allocations/")?;
    visit.get(Target::api(&["allocations", number])).await.ok()
}

/// All about a proposal or a request.
pub(crate) async fn facts(visit: &Visit, one: &Proposal) -> Markup {
    let zone = visit.zone();
    let allocation = allocation(visit, one).await;
    let fields = if one.asked.is_some() {
        ask::fields(&one.kind)
    } else {
        money::fields(&one.kind)
    };
    html! {
        dl .facts {
            dt { "State" } dd { strong { (one.state) } }
            dt { "Kind" } dd { (what(&one.kind)) }
            dt { "For" } dd { (one.subject()) }
            @if let Some(own) = &allocation {
                dt { "Account" } dd { (own.account) }
                dt { "Left (" (own.unit) ")" }
                dd { (amount(&own.amount)) @if let Some(until) = &own.until { ", until " (zone.day(until)) } ", " (own.state) }
            }
            @if !is_zero(&one.amount) { dt { "Amount (" (one.unit) ")" } dd { (amount(&one.amount)) } }
            dt { @if one.asked.is_some() { "Asked by" } @else { "Proposed by" } }
            dd { (one.proposed_by) " on " (zone.time(&one.at)) }
            @if let Some(asked) = &one.asked { dt { "Reason" } dd { (asked) } }
            @if one.state == "open" { dt { "Waits until" } dd { (zone.time(&one.until)) } }
            @if let Some(by) = &one.decided_by {
                dt { @if one.state == "withdrawn" { "Withdrawn by" } @else { "Decided by" } }
                dd { (by) @if let Some(at) = &one.decided_at { " on " (zone.time(at)) } }
            }
            @if let Some(reason) = &one.reason { dt { "Answer" } dd { (reason) } }
            @if let Some(done) = one.done {
                dt { "Transaction" } dd { a href=(visit.link(&["transactions", &done.to_string()])) { (done) } }
            }
        }
        h2 { "Request" }
        @let request = entered(one);
        @if request.is_empty() { p { "It has no further entries." } }
        dl .facts {
            (form::facts(visit, fields, &request))
        }
    }
}

/// The entries of the form from which a request came. Those of a project have its first deposit beside it.
fn entered(one: &Proposal) -> Map<String, Value> {
    let mut all = one.request.body.as_object().cloned().unwrap_or_default();
    let start = one.request.start.as_ref();
    let first = start.and_then(|start| start.deposit.as_ref());
    let own = [
        ("pi", start.and_then(|start| start.pi.clone())),
        ("amount", first.map(|first| first.amount.clone())),
        ("start", first.and_then(|first| first.start.clone())),
        ("end", first.and_then(|first| first.end.clone())),
    ];
    let own = own
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    all.extend(own);
    all
}

/// A request above the amount that one person may approve: it becomes a proposal of the approver.
fn passing(visit: &Visit, row: &Proposal) -> Markup {
    let target = visit.link(&["proposals", &row.id.to_string()]);
    html! {
        form .entry method="post" action=(target) {
            (token(visit)) (keyed(&uuid::Uuid::new_v4().to_string()))
            @if let Some(reason) = visit.field("reason") { input type="hidden" name="reason" value=(reason); }
            button type="submit" name="decision" value="pass" { "Approve, and let another person approve it too" }
        }
    }
}

/// The name of the field with the answer: a table has one for each request.
fn answer_field(row: &Proposal) -> String {
    format!("reason-{}", row.id)
}

/// The form of the decision.
fn decision(visit: &Visit, row: &Proposal, is_long: bool, failed: Option<&Failed>) -> Markup {
    let number = row.id.to_string();
    let target = Target::page(&["proposals", &number]);
    let field = answer_field(row);
    let is_request = row.asked.is_some();
    let is_wrong = failed.is_some_and(|failed| is_about(failed, "reason"));
    let invalid = is_wrong.then_some("true");
    html! {
        form .entry method="post" action=(target) {
            (token(visit)) (keyed(&uuid::Uuid::new_v4().to_string()))
            @if is_long || is_request {
                div .field.wrong[is_wrong] {
                    label for=(field) {
                        "Answer"
                        span .small { @if is_request { " (needed to reject)" } @else { " (optional)" } }
                    }
                    input id=(field) name="reason" autocomplete="off" aria-invalid=[invalid] value=(visit.field("reason").unwrap_or_default());
                }
            }
            button type="submit" name="decision" value="approve" { "Approve" } " "
            button .plain type="submit" name="decision" value="reject" { "Reject" }
        }
    }
}

async fn decide(visit: Visit, Path(id): Path<String>) -> Shown {
    let decision = match visit.field("decision") {
        Some("approve" | "pass") => "approve",
        Some("reject") => "reject",
        _ => {
            return page(
                &visit,
                &id,
                Some(&Failed::new("missing_field", "decision: required")),
            )
            .await;
        }
    };
    let body = NewDecision {
        reason: visit.field("reason").map(str::to_owned),
    };
    let passes = (visit.field("decision") == Some("pass")).then_some("true");
    let target = Target::api(&["proposals", &id, decision]).maybe("propose", passes);
    let sent = visit.send("POST", target, &key(&visit), &body).await;
    let (_, done): (u16, Written<Proposal>) = match sent {
        Ok(done) => done,
        Err(failed) => return page(&visit, &id, Some(&failed)).await,
    };
    let target = match done.object.done {
        Some(done) => Target::page(&["transactions", &done.to_string()]).with("done", "money"),
        None => Target::page(&["proposals", &id]).with("done", "decided"),
    };
    Ok(Redirect::to(target.as_str()).into_response())
}
