//! Signing in with a one-time link or by a trusted proxy, and signing out. `oidc` is the third way.
//!
//! A link has a code, not a session. Opening it shows who would sign in; the button uses the code up, so a
//! program that only looks at links does not. Every sign-in makes a new session and ends the one of the cookie.

use std::sync::Arc;

use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use bankd_services::sessions::SignIn;
use maud::html;

use super::failed::{Failed, with_code};
use super::request::{fields, peer};
use super::target::{Target, local};
use super::visit::Fields;
use super::{Web, cookie, layout, people};

pub(crate) fn routes() -> Router<Arc<Web>> {
    Router::new()
        .route("/login", get(show))
        .route("/login/link", get(ask).post(redeem))
}

pub(super) fn field<'f>(fields: &'f Fields, name: &str) -> &'f str {
    let found = fields.iter().find(|(own, _)| own == name);
    found.map_or("", |(_, value)| value.as_str())
}

/// `GET /login?next=`: signs in a person whom the proxy has identified; else shows the ways to sign in.
async fn show(
    State(web): State<Arc<Web>>,
    Query(query): Query<Fields>,
    request: Request,
) -> Result<Response, Failed> {
    let (parts, _) = request.into_parts();
    let next = local(field(&query, "next"));
    if let Some(name) = people::of_header(&web.services, peer(&parts), &parts.headers) {
        let who = SignIn {
            name,
            way: "header",
            ..SignIn::default()
        };
        return begin(&web, &parts, who, next).await;
    }
    let content = html! {
        @if let Some(oidc) = &web.oidc {
            @let target = Target::page(&["login", "oidc"]).with("next", next);
            p { a .button href=(target) { "Sign in with " (oidc.host()) } }
            h2 { "Without " (oidc.host()) }
        }
        p { "Run this command on a host where you use the bank, and open the link that it prints:" }
        pre { code { "bank web login" } }
        p .small { "The link can be used once, within two minutes." }
    };
    Ok(layout::bare("Sign in", &content).into_response())
}

/// `GET /login/link?code=`: who would sign in.
async fn ask(State(web): State<Arc<Web>>, Query(query): Query<Fields>) -> Response {
    let code = field(&query, "code");
    let Some(name) = web.services.sessions.name_of_code(code) else {
        return used_up();
    };
    let content = html! {
        p { "Sign in to the bank as " strong { (name) } "?" }
        form method="post" action="/login/link" {
            input type="hidden" name="code" value=(code);
            button type="submit" { "Sign in" }
        }
    };
    layout::bare("Sign in", &content).into_response()
}

/// `POST /login/link`: uses the code up.
async fn redeem(State(web): State<Arc<Web>>, request: Request) -> Result<Response, Failed> {
    let (parts, body) = request.into_parts();
    attempt(&web, &parts)?;
    let body: Bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let form = fields(&String::from_utf8_lossy(&body)).unwrap_or_default();
    let Some((name, uid)) = web.services.sessions.redeem(field(&form, "code")) else {
        return Ok(used_up());
    };
    let who = SignIn {
        name,
        uid,
        way: "link",
        ..SignIn::default()
    };
    begin(&web, &parts, who, "/").await
}

/// Unknown, used and late codes have the same page.
fn used_up() -> Response {
    let content = html! {
        div .message.bad role="alert" {
            p { "This link is not valid: it can be used once, and only for a short time." }
            p .hint { "Hint: " code { "bank web login" } " prints a new one." }
        }
        p .ways { a href=(Target::page(&["login"])) { "Other ways to sign in" } }
    };
    let page = layout::bare("Sign in", &content);
    with_code("not_allowed", page.into_response())
}

/// Counts an attempt to sign in.
pub(super) fn attempt(web: &Web, parts: &Parts) -> Result<(), Failed> {
    let address = people::address(&web.services, peer(parts), &parts.headers);
    web.attempts.admit(address).map_err(|seconds| {
        tracing::warn!(%address, "too many attempts to sign in");
        let detail = format!("too many attempts to sign in; try again in {seconds} s");
        Failed::new("rate_limited", detail)
    })
}

/// Begins a session in place of the one of the cookie.
pub(super) async fn begin(
    web: &Web,
    parts: &Parts,
    who: SignIn,
    next: &str,
) -> Result<Response, Failed> {
    let (sessions, writer) = (&web.services.sessions, &web.services.writer);
    let is_secure = web.services.web.is_secure();
    if let Some(before) = cookie::of(&parts.headers, is_secure)
        && let Some(session) = sessions.find(before)
    {
        sessions.end(writer, &[session.id]).await;
    }
    let agent = parts.headers.get(header::USER_AGENT);
    let agent = agent
        .and_then(|agent| agent.to_str().ok())
        .unwrap_or_default();
    let who = SignIn {
        agent: agent.to_owned(),
        ..who
    };
    let (name, way) = (who.name.clone(), who.way);
    let text = sessions.begin(writer, who).await.map_err(|error| {
        tracing::warn!(?error, "a session could not begin");
        Failed::new("busy", "the session could not be written")
    })?;
    tracing::info!(name, way, "signed in to the web pages");
    Ok(with_cookie(web, &text, next))
}

/// Redirects with the cookie; an empty text removes it.
pub(crate) fn with_cookie(web: &Web, text: &str, next: &str) -> Response {
    let settings = &web.services.web;
    let mut response = Redirect::to(next).into_response();
    let cookie = cookie::set(text, settings.is_secure(), settings.session_s);
    let none = HeaderValue::from_static("");
    let fields = response.headers_mut();
    fields.insert(header::SET_COOKIE, cookie.unwrap_or(none));
    response
}
