//! The person's own sessions, those of all people for administrators, and the end of them.

use axum::response::{IntoResponse as _, Redirect};
use bankd_ledger::access::right::Right;
use bankd_services::sessions::WebSession;
use maud::html;

use crate::page::Page;
use crate::parts::form::token;
use crate::parts::sent;
use crate::parts::table::{Listing, Table, name, or_none};
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
    let table = Table::of("Signed in, the newest first", &sessions);
    let table = described(table, &visit, "/sessions/end");
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
    let table = Table::of("Signed-in people, the newest first", &sessions)
        .words("Person", |session| name(&session.name));
    let roles = |session: &WebSession| {
        let roles = Some(session.roles.as_str()).filter(|roles| !roles.is_empty());
        or_none(roles)
    };
    let table = described(table, &visit, "/sessions/all/end").words("Roles by groups", roles);
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

/// The columns that both tables have.
fn described<'t, 's>(
    table: Listing<'t, &'s WebSession>,
    visit: &Visit,
    action: &str,
) -> Listing<'t, &'s WebSession> {
    let zone = visit.zone();
    let is_own = |session: &WebSession| session.id == visit.session.id;
    let began = |session: &WebSession| {
        html! {
            (zone.of_seconds(session.created_s))
            @if is_own(session) { " " span .small { "this session" } }
        }
    };
    let end = |session: &WebSession| {
        html! {
            @if !is_own(session) {
                form method="post" action=(action) {
                    (token(visit))
                    input type="hidden" name="session" value=(session.id);
                    button .plain type="submit" { "End" }
                }
            }
        }
    };
    table
        .words("Began", began)
        .words(
            "Last used",
            |session| html! { (zone.of_seconds(session.used_s)) },
        )
        .words("Signed in with", |session| html! { (session.way) })
        .words(
            "Browser",
            |session| html! { span title=(session.agent) { (browser(&session.agent)) } },
        )
        .buttons("Change", end)
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
