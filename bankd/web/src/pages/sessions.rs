//! The person's own sessions, those of all people for administrators, and the end of them.

use axum::response::{IntoResponse as _, Redirect};
use bankd_ledger::access::right::Right;
use bankd_services::sessions::WebSession;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::form::token;
use crate::parts::sent;
use crate::parts::table::{Table, buttons, name, words};
use crate::sign_in::with_cookie;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/sessions", show).right(Right::SeeStatus),
        Page::post("/sessions/end", end)
            .right(Right::SeeStatus)
            .of_form("End a session", &[]),
        Page::get("/sessions/all", show_all)
            .right(Right::ChangeAccess)
            .takes(["done"]),
        Page::post("/sessions/all/end", end_any)
            .right(Right::ChangeAccess)
            .of_form("End a session", &[]),
        Page::post("/sign-out", sign_out).right(Right::SeeStatus),
    ]
}

async fn show(visit: Visit) -> Shown {
    let sessions = visit.web.services.sessions.of(&visit.session.name);
    let rows = sessions
        .iter()
        .map(|session| row(&visit, session, "/sessions/end"));
    let table = Table {
        caption: "Sessions",
        columns: vec![
            words("Began"),
            words("Last used"),
            words("Signed in with"),
            words("Browser"),
            buttons("Change"),
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
        @if visit.may(Right::ChangeAccess) { p .ways { a href=(visit.link(&["sessions", "all"])) { "All sessions" } } }
    };
    Ok(visit.page("Your sessions", &[], &content))
}

/// The sessions of all people.
async fn show_all(visit: Visit) -> Shown {
    let sessions = visit.web.services.sessions.all();
    let rows = sessions.iter().map(|session| {
        let mut cells = vec![name(&session.name)];
        cells.extend(row(&visit, session, "/sessions/all/end"));
        cells.push(name(if session.roles.is_empty() {
            "–"
        } else {
            &session.roles
        }));
        cells
    });
    let table = Table {
        caption: "Sessions of all people, the newest first",
        columns: vec![
            words("Person"),
            words("Began"),
            words("Last used"),
            words("Signed in with"),
            words("Browser"),
            buttons("Change"),
            words("Roles by groups"),
        ],
        rows: rows.collect(),
        empty: html! {},
        data: None,
        next: None,
    };
    let content = html! {
        (sent::done(&visit, &[("end", "The session has ended.")]))
        (table.show())
    };
    let above = [("Your sessions", visit.link(&["sessions"]))];
    Ok(visit.page("All sessions", &above, &content))
}

async fn end_any(visit: Visit) -> Shown {
    let services = &visit.web.services;
    let wanted = visit.needed("session")?;
    let all = services.sessions.all();
    let found = all.iter().find(|session| session.id.to_string() == wanted);
    if let Some(session) = found {
        let (by, whose) = (&visit.session.name, &session.name);
        tracing::info!(
            by,
            whose,
            id = session.id,
            "ended a session of the web pages"
        );
        services.sessions.end(&services.writer, &[session.id]).await;
    }
    let target = visit.link(&["sessions", "all"]).with("done", "end");
    Ok(Redirect::to(target.as_str()).into_response())
}

fn row(visit: &Visit, session: &WebSession, action: &str) -> Vec<Markup> {
    let zone = visit.zone();
    let is_own = session.id == visit.session.id;
    let agent = if session.agent.is_empty() {
        "–"
    } else {
        &session.agent
    };
    vec![
        html! {
            (zone.of_seconds(session.created_s))
            @if is_own { " " span .small { "this session" } }
        },
        html! { (zone.of_seconds(session.used_s)) },
        html! { (session.way) },
        html! { span .prose { (agent) } },
        html! {
            @if !is_own {
                form method="post" action=(action) {
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
