//! The person's own sessions, and the end of them.

use axum::response::{IntoResponse as _, Redirect};
use bankd_ledger::access::right::Right;
use bankd_services::sessions::WebSession;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::form::token;
use crate::parts::table::{Table, words};
use crate::sign_in::with_cookie;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/sessions", show).right(Right::SeeStatus),
        Page::post("/sessions/end", end).right(Right::SeeStatus),
        Page::post("/sign-out", sign_out).right(Right::SeeStatus),
    ]
}

async fn show(visit: Visit) -> Shown {
    let sessions = visit.web.services.sessions.of(&visit.session.name);
    let rows = sessions.iter().map(|session| row(&visit, session));
    let table = Table {
        caption: "Sessions",
        columns: vec![
            words("Began"),
            words("Last used"),
            words("Signed in with"),
            words("Browser"),
            words(""),
        ],
        rows: rows.collect(),
        empty: html! {},
        data: None,
        next: None,
    };
    let content = html! {
        p .lead { "You are signed in as " strong { (visit.session.name) } ", with the roles "
            (visit.roles.words().replace(',', ", ")) "." }
        (table.show())
    };
    Ok(visit.page("Your sessions", &[], &content))
}

fn row(visit: &Visit, session: &WebSession) -> Vec<Markup> {
    let zone = visit.zone();
    let agent = if session.agent.is_empty() {
        "–"
    } else {
        &session.agent
    };
    vec![
        html! { (zone.of_seconds(session.created_s)) },
        html! { (zone.of_seconds(session.used_s)) },
        html! { (session.way) },
        html! { span .name title=(agent) { (agent) } },
        html! {
            @if session.id == visit.session.id { "this session" } @else {
                form method="post" action="/sessions/end" {
                    (token(visit))
                    input type="hidden" name="session" value=(session.id);
                    button .plain type="submit" { "End" }
                }
            }
        },
    ]
}

async fn end(visit: Visit) -> Shown {
    let sessions = &visit.web.services.sessions;
    let wanted: Option<i64> = visit.field("session").and_then(|id| id.parse().ok());
    // Sessions of others are like unknown ones: there is nothing to end.
    let own = sessions.of(&visit.session.name);
    let ids: Vec<i64> = own
        .iter()
        .map(|session| session.id)
        .filter(|id| Some(*id) == wanted)
        .collect();
    if !ids.is_empty() {
        sessions.end(&visit.web.services.writer, &ids).await;
    }
    Ok(Redirect::to("/sessions").into_response())
}

async fn sign_out(visit: Visit) -> Shown {
    let services = &visit.web.services;
    services
        .sessions
        .end(&services.writer, &[visit.session.id])
        .await;
    Ok(with_cookie(&visit.web, "", "/login"))
}
