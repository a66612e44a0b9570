//! The layers around the pages: hosts, origins, bodies and headers for every request, and the session for
//! every page.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Redirect, Response};
use bankd_config::is_loopback;
use bankd_services::position::Seen;
use bankd_services::sessions::WebSession;
use tower_http::catch_panic::CatchPanicLayer;

use super::failed::{Failed, has};
use super::layout::dressed;
use super::page::Page;
use super::parts::form::Late;
use super::request::{Sender, fields, peer, sender};
use super::target::{Target, fits};
use super::visit::{Fields, Visit};
use super::zone::Zone;
use super::{
    Web, assets, cookie, data, embedded, layout, oidc, page, pages, people, sign_in, signed,
};

/// Maximum time for the arrival of a form.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Nothing from elsewhere, and no style or script inside a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The router of everything under the origin of the pages.
pub(crate) fn router(web: Arc<Web>) -> Router {
    let pages = page::mount(pages::rows())
        .merge(data::routes())
        .fallback(page::unknown)
        .layer(from_fn_with_state(Arc::clone(&web), session));
    let open = assets::routes()
        .merge(sign_in::routes())
        .merge(oidc::routes())
        .merge(signed::routes(&web));
    let panicked = |_| Failed::internal().into_response();
    pages
        .merge(open)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(&web), frame))
        .with_state(web)
}

/// The layer around every request.
async fn frame(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let before = Seen::now(&web.services.writer);
    if let Some(seen) = before {
        parts.extensions.insert(seen);
    }
    let is_read = [Method::GET, Method::HEAD].contains(&parts.method);
    let before = before.filter(|_| is_read);
    let failed = match admitted(&web, &parts) {
        Ok(()) => whole(body, web.services.web.body_limit).await,
        Err(failed) => Err(failed),
    };
    let response = match failed {
        Ok(body) => next.run(Request::from_parts(parts, Body::from(body))).await,
        // Within its session, the refusal of a form is a page with the navigation.
        Err(failed) if is_of_page(&parts) => {
            let mut request = Request::from_parts(parts, Body::empty());
            request.extensions_mut().insert(failed);
            next.run(request).await
        }
        Err(failed) => failed.into_response(),
    };
    let mut response = secured(dressed(response, None), &web.services.web.embed_sites);
    if let Some(seen) = before.or_else(|| Seen::now(&web.services.writer)) {
        seen.show(response.headers_mut());
    }
    response
}

/// Whether a request is for this site, and a form from it.
fn admitted(web: &Web, parts: &Parts) -> Result<(), Failed> {
    let mut hosts = parts.headers.get_all(header::HOST).into_iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    let host = host.filter(|_| hosts.next().is_none());
    let origin = web.services.sessions.url().unwrap_or_default();
    let own = origin.split_once("://").map_or("", |(_, host)| host);
    if !host.is_some_and(|host| host.eq_ignore_ascii_case(own) || is_loopback(host)) {
        let detail = format!("this site is {origin}");
        return Err(Failed::new("bad_request", detail));
    }
    let is_form = ![Method::GET, Method::HEAD].contains(&parts.method);
    if is_form && sender(origin, &parts.headers) == Sender::Other {
        let detail = "the form was sent by another site";
        return Err(Failed::new("not_allowed", detail));
    }
    Ok(())
}

/// Whether a request is for a page, which refuses it in its own frame.
fn is_of_page(parts: &Parts) -> bool {
    let path = parts.uri.path();
    let mut rows = pages::rows().into_iter();
    rows.any(|row| row.method == parts.method && fits(row.path, path))
}

/// The whole body within its limit.
async fn whole(body: Body, limit: usize) -> Result<Bytes, Failed> {
    match tokio::time::timeout(BODY_TIME, to_bytes(body, limit)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(_)) => {
            let detail = format!(
                "a form has at most {limit} bytes (web.body_limit). Go back and shorten its entries"
            );
            Err(Failed::new("too_large", detail))
        }
        Err(_) => Err(Failed::new(
            "body_incomplete",
            "the form took too long to arrive",
        )),
    }
}

/// The layer around every page: its session, its form, and the page of a refusal.
async fn session(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let refused = parts.extensions.remove::<Failed>();
    let is_secure = web.services.web.is_secure();
    let own = cookie::of(&parts.headers, is_secure).map(str::to_owned);
    let found = found(&web, own.as_deref(), &parts).await;
    if let Some(failed) = refused {
        let own = found.zip(own);
        let visit =
            own.map(|((session, person), own)| Visit::new(&web, session, person, &own, &parts));
        return dressed(failed.into_response(), visit.as_ref());
    }
    let is_form = parts.method == Method::POST;
    let form = match body_of(is_form, &parts, body).await {
        Ok(form) => form,
        Err(failed) => return failed.into_response(),
    };
    let (Some((session, person)), Some(own)) = (found, own) else {
        return if is_form {
            let path = parts.uri.path();
            late(&web, path, &form, Zone::default(), |late| {
                layout::ended(path, late)
            })
        } else {
            to_sign_in(&parts)
        };
    };
    let mut visit = Visit::new(&web, session, person, &own, &parts);
    visit.form = form;
    if is_form {
        let sent = visit.field("form_token").unwrap_or_default();
        if !cookie::is_form_token(sent, &visit.form_token) {
            let origin = web.services.sessions.url().unwrap_or_default();
            return match sender(origin, &parts.headers) {
                Sender::Own => late(&web, &visit.path, &visit.form, visit.zone(), |late| {
                    layout::of_another_session(&visit, late)
                }),
                _ => dressed(
                    Failed::new("not_allowed", "the form is not of this session").into_response(),
                    Some(&visit),
                ),
            };
        }
    }
    parts.extensions.insert(visit.clone());
    let response = next.run(Request::from_parts(parts, Body::empty())).await;
    let response = if is_unread_path(&response) {
        Failed::new("not_found", "there is no such page").into_response()
    } else {
        response
    };
    let mut response = dressed(response, Some(&visit));
    if !is_form && has(&response, "busy") {
        // The page comes back by itself.
        let name = HeaderName::from_static("refresh");
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static("3"));
    }
    response
}

/// The page of a form that belongs to no session of now.
fn late(
    web: &Web,
    path: &str,
    entries: &Fields,
    zone: Zone,
    page: impl FnOnce(&Late<'_>) -> Response,
) -> Response {
    let own = |row: &Page| row.method == Method::POST && fits(row.path, path);
    let form = pages::rows().into_iter().find(own).and_then(Page::form);
    let (title, fields) = form.unwrap_or(("Your entries", Vec::new()));
    // The form is on the page of its address, or on the one above.
    let has_page = |path: &str| {
        let mut rows = pages::rows().into_iter();
        rows.any(|row| row.method == Method::GET && fits(row.path, path))
    };
    let above = path.rsplit_once('/').map_or("/", |(above, _)| above);
    let from = [path, above].into_iter().find(|path| has_page(path));
    let directory = web.services.writer.directory();
    page(&Late {
        title,
        fields: &fields,
        page: from.unwrap_or("/"),
        unit: &directory.bank.unit,
        zone,
        entries,
    })
}

/// Whether the router refused a path with a part that cannot be read, such as a word in place of a number. It has no
/// page for it.
fn is_unread_path(response: &Response) -> bool {
    let media = response.headers().get(header::CONTENT_TYPE);
    let is_plain = media.is_some_and(|media| media.as_bytes().starts_with(b"text/plain"));
    is_plain && has(response, "bad_request")
}

/// The session of a request with its person.
async fn found(
    web: &Web,
    own: Option<&str>,
    parts: &Parts,
) -> Option<(WebSession, bankd_ledger::access::Person)> {
    let services = &web.services;
    let session = services.sessions.find(own?)?;
    if session.way == "header" {
        // The proxy vouches for each request: behind it, another person may have signed in since.
        let named = people::of_header(services, peer(parts), &parts.headers);
        if named.as_deref() != Some(&session.name) {
            return None;
        }
    }
    let person = people::of_session(services, &web.known, &session).await;
    if person.is_none() {
        services.sessions.end(&services.writer, &[session.id]).await;
    }
    person.map(|person| (session, person))
}

/// The fields of a form.
async fn body_of(is_form: bool, parts: &Parts, body: Body) -> Result<Fields, Failed> {
    if !is_form {
        return Ok(Fields::new());
    }
    let media = parts.headers.get(header::CONTENT_TYPE);
    let media = media
        .and_then(|media| media.to_str().ok())
        .unwrap_or_default();
    let bad = || Failed::new("bad_request", "the form cannot be read");
    if !media.starts_with("application/x-www-form-urlencoded") {
        return Err(bad());
    }
    let body = to_bytes(body, usize::MAX).await.map_err(|_| bad())?;
    let body = String::from_utf8(body.to_vec()).map_err(|_| bad())?;
    fields(&body).ok_or_else(bad)
}

/// To the page for signing in, and back.
fn to_sign_in(parts: &Parts) -> Response {
    let target = parts
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let next = Some(target).filter(|target| *target != "/");
    let login = Target::page(&["login"]).maybe("next", next);
    Redirect::to(login.as_str()).into_response()
}

/// The headers of every answer. `sites` may show those that are made for them.
fn secured(mut response: Response, sites: &[String]) -> Response {
    let embeddable = response.extensions_mut().remove::<embedded::Embeddable>();
    let is_missing = has(&response, "method_not_allowed");
    if is_missing {
        let failed = Failed::new(
            "method_not_allowed",
            "the address does not take this method",
        );
        let allow = response.headers().get(header::ALLOW).cloned();
        response = dressed(failed.into_response(), None);
        if let Some(allow) = allow {
            response.headers_mut().insert(header::ALLOW, allow);
        }
    }
    let fields = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        // Without the origin, browsers send `Origin: null` with forms.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=()",
        ),
    ] {
        fields.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    let unless_asset = fields.entry(header::CACHE_CONTROL);
    unless_asset.or_insert(HeaderValue::from_static("no-store"));
    if embeddable.is_some() {
        embedded::allow(&mut response, POLICY, sites);
    }
    response
}
