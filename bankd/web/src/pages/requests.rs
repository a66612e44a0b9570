//! Requests of people who may not do it themselves: what became of them. The forms are in `ask`.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect};
use bank_api::v1::{List, NewDecision, Proposal};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use super::ask;
use super::proposals::{self, facts, may_decide};
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::form::{key, keyed, token};
use crate::parts::message::message;
use crate::parts::sent;
use crate::parts::table::{Table, link, name, or_none};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Requests on the first screen of a person.
const RECENT: &str = "5";

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/requests", list)
            .right(Right::Ask)
            .takes(["state", "after"])
            .nav("Requests"),
        Page::get("/requests/{id}", show)
            .right(Right::Ask)
            .takes(["done"]),
        Page::post("/requests/{id}/withdraw", withdraw)
            .right(Right::Ask)
            .of_form("Withdraw a request", &[]),
    ]
}

/// On the first screen: the newest requests of the person, and the form for a project.
pub(crate) async fn card(visit: &Visit) -> Result<Markup, Failed> {
    if !visit.may(Right::Ask) {
        return Ok(html! {});
    }
    let target = Target::api(&["requests"]).with("mine", "true");
    let list: List<Proposal> = visit.get(target.with("limit", RECENT)).await?;
    Ok(html! {
        @if !list.items.is_empty() { (table(visit, &list.items, "Your requests", None, None)) }
        p .actions {
            a .button href="/ask/project" { "Ask for a project" } " "
            @if !list.items.is_empty() { a href=(visit.link(&["requests"])) { "All requests" } }
        }
    })
}

async fn list(visit: Visit) -> Shown {
    let route = |root: fn(&[&str]) -> Target| {
        let target = root(&["requests"]).with("mine", "true");
        let target = target.maybe("state", visit.parameter("state"));
        target.maybe("after", visit.parameter("after"))
    };
    let list: List<Proposal> = visit.get(route(Target::api)).await?;
    let next = list.next.as_deref().map(|next| {
        let target = visit.link(&["requests"]).with("after", next);
        target.maybe("state", visit.parameter("state"))
    });
    let content = html! {
        p .actions {
            (ask::buttons())
        }
        (table(&visit, &list.items, "Yours, the newest first", Some(route(Target::data)), next))
        @if visit.may(Right::DecideProposals) {
            p .ways { a href=(visit.link(&["proposals"])) { "Requests of others, and proposals" } }
        }
    };
    Ok(visit.page("Requests", &[], &content))
}

fn table(
    visit: &Visit,
    items: &[Proposal],
    caption: &str,
    data: Option<Target>,
    next: Option<Target>,
) -> Markup {
    let number = |row: &Proposal| {
        let number = row.id.to_string();
        link(&visit.link(&["requests", &number]), &number)
    };
    Table::of(caption, items)
        .words("Number", number)
        .words("Kind", |row| html! { (proposals::what(&row.kind)) })
        .words("For", |row| name(&row.subject()))
        .amounts("Amount", &visit.unit(), proposals::amount_of)
        .words("Asked on", |row| html! { (visit.zone().day(&row.at)) })
        .words("State", |row| html! { strong .flag[row.state == "rejected"] { (row.state) } })
        .words("Answer", |row| or_none(row.reason.as_deref()))
        .empty(html! {
            p { "You have asked for nothing yet." }
            p .small { "A request goes to the people who may do what it asks for. Their answer appears here." }
        })
        .data(data)
        .next(next)
        .show()
}

async fn show(visit: Visit, Path(id): Path<String>) -> Shown {
    page(&visit, &id, None).await
}

async fn page(visit: &Visit, id: &str, failed: Option<&Failed>) -> Shown {
    let one: Proposal = visit.get(Target::api(&["requests", id])).await?;
    let content = html! {
        @if visit.parameter("done") == Some("asked") {
            div .message.good role="status" { p { "Sent. It waits for an answer." } }
        }
        @if visit.parameter("done") == Some("withdrawn") && one.state != "open" {
            div .message.good role="status" { p { "Your request for " (one.subject()) " is " (one.state) "." } }
        }
        @if let Some(failed) = failed { (message(failed)) }
        (facts(visit, &one).await)
        @if one.state == "open" && one.proposed_by == visit.session.name {
            form .entry method="post" action=(Target::page(&["requests", id, "withdraw"])) {
                (token(visit)) (keyed(&uuid::Uuid::new_v4().to_string()))
                button .plain type="submit" { "Withdraw the request" }
            }
        }
        @if may_decide(visit, &one) {
            p .actions { a .button href=(visit.link(&["proposals", id])) { "Answer it" } }
        }
    };
    let trail = [("Requests", visit.link(&["requests"]))];
    let page = visit.page(&format!("Request {}", one.id), &trail, &content);
    Ok(sent::refused(page, failed))
}

async fn withdraw(visit: Visit, Path(id): Path<String>) -> Shown {
    let target = Target::api(&["requests", &id, "withdraw"]);
    let body = NewDecision::default();
    let sent: Result<(u16, Value), Failed> = visit.send("POST", target, &key(&visit), &body).await;
    match sent {
        Ok(_) => {
            let target = Target::page(&["requests", &id]).with("done", "withdrawn");
            Ok(Redirect::to(target.as_str()).into_response())
        }
        Err(failed) => page(&visit, &id, Some(&failed)).await,
    }
}
