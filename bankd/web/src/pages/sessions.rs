//! The person's own sessions, those of all people for administrators, and the end of them.

use axum::response::{IntoResponse as _, Redirect};
use bankd_ledger::access::right::Right;
use bankd_services::sessions::WebSession;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::form::token;
use crate::parts::sent;
use crate::parts::table::{Table, buttons, name, or_none, words};
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
        caption: "Signed in, the newest first",
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
        let roles = Some(session.roles.as_str()).filter(|roles| !roles.is_empty());
        cells.push(or_none(roles));
        cells
    });
    let table = Table {
        caption: "Signed-in people, the newest first",
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
    vec![
        html! {
            (zone.of_seconds(session.created_s))
            @if is_own { " " span .small { "this session" } }
        },
        html! { (zone.of_seconds(session.used_s)) },
        html! { (session.way) },
        html! { span title=(session.agent) { (browser(&session.agent)) } },
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

/// Programs and systems as browsers name them, the ones that others name too last.
const PROGRAMS: [(&str, &str); 5] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
const SYSTEMS: [(&str, &str); 6] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// A browser by its name and its system. Other programs keep what they sent.
fn browser(agent: &str) -> String {
    let known = |names: &[(&str, &'static str)]| {
        let found = names.iter().find(|(sent, _)| agent.contains(sent));
        found.map(|(_, name)| *name)
    };
    match (known(&PROGRAMS), known(&SYSTEMS)) {
        (Some(program), Some(system)) => format!("{program} on {system}"),
        (Some(program), None) => program.to_owned(),
        (None, _) if agent.is_empty() => "–".to_owned(),
        (None, _) => agent.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::browser;

    #[test]
    fn browsers_have_their_names() {
        for (agent, expected) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36 Edg/126.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1",
                "Safari on iPhone",
            ),
            ("curl/8.14.1", "curl/8.14.1"),
            ("", "–"),
        ] {
            assert_eq!(browser(agent), expected);
        }
    }
}
