//! Addresses that need no session: the feed of a person's notices, and pictures for other web sites.
//!
//! The signature covers the whole address with the name of the person who made it, so nothing in it can be changed.
//! The person's present rights count: whoever may not see a project any more shows none of it. Pages are served
//! below `/embed` as frames and drawings, and only if `web.embed_sites` has a site.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bank_picture::{self as picture, Part, Report, Section};
use bankd_services::links::{Bad, DAYS};
use bankd_services::sessions::WebSession;
use maud::{Markup, html};

use super::failed::Failed;
use super::parts::picture as parts;
use super::target::Target;
use super::visit::{Shown, Visit};
use super::{Web, guard, layout, page, pages, people, sign_in};

/// Where pages with pictures are, for other sites.
const EMBED: &str = "/embed";
/// Where the feed is.
pub(crate) const FEED: &str = "/feed";
/// How long browsers and proxies may keep a picture.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// An answer that the sites of `web.embed_sites` may show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embeddable;

pub(crate) fn routes(web: &Arc<Web>) -> Router<Arc<Web>> {
    page::mount_pictures(pages::rows(), EMBED)
        .route(FEED, get(pages::notices::feed))
        .layer(from_fn_with_state(Arc::clone(web), signed))
}

/// The pages that can be signed.
pub(crate) fn pages() -> Vec<String> {
    let rows = pages::rows();
    let pictures = rows.iter().filter(|row| row.has_picture());
    let paths = pictures.map(|row| row.path.to_owned());
    paths.chain([FEED.to_owned()]).collect()
}

/// An address of this person, valid for some days; none if no pages are served.
pub(crate) fn address(visit: &Visit, page: &str, days: u32) -> Option<String> {
    let services = &visit.web.services;
    let signed = services.links.as_ref()?;
    let origin = services.sessions.url()?;
    Some(format!(
        "{origin}{}",
        signed.signed(page, &visit.session.name, days)
    ))
}

/// The lines with which another site shows the picture of a page, if there may be one.
pub(crate) fn codes(visit: &Visit) -> Markup {
    let is_off = visit.web.services.web.embed_sites.is_empty();
    let page = visit.query.iter().filter(|(name, _)| name != "after");
    let page = page.fold(
        Target::raw(&format!("{EMBED}{}", visit.path)),
        |page, (name, value)| page.with(name, value),
    );
    let image = page.clone().with("as", "image");
    let of = |page: &Target| address(visit, page.as_str(), DAYS).unwrap_or_default();
    html! {
        @if !is_off {
            details .more {
                summary { "Show this picture on another web site" }
                p { "Copy one of these lines into a page of " (visit.web.services.web.embed_sites.join(", "))
                    ". Whoever opens that page sees the picture, in your view, for " (DAYS) " days." }
                pre tabindex="0" { code { "<img src=\"" (attribute(&of(&image))) "\" alt=\"\">" } }
                pre tabindex="0" { code { "<iframe src=\"" (attribute(&of(&page))) "\"></iframe>" } }
            }
        }
    }
}

/// An address as a page of HTML has it, to be copied.
fn attribute(address: &str) -> String {
    address.replace('&', "&amp;")
}

/// The layer around signed addresses: the person in whose view they are.
async fn signed(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match visit(&web, &parts).await {
        Ok(visit) => {
            parts.extensions.insert(visit);
            let response = next.run(Request::from_parts(parts, body)).await;
            guard::dressed(response, None)
        }
        Err(failed) => guard::dressed(failed.into_response(), None),
    }
}

async fn visit(web: &Arc<Web>, parts: &axum::http::request::Parts) -> Result<Visit, Failed> {
    let is_embed = parts.uri.path().starts_with(EMBED);
    if is_embed && web.services.web.embed_sites.is_empty() {
        return Err(Failed::new("not_found", "there is no such page"));
    }
    let address = parts.uri.path_and_query();
    let address = address.map_or("", |address| address.as_str());
    let links = web.services.links.as_ref().ok_or_else(Failed::internal)?;
    let bad = |detail: &str| Failed::new("not_allowed", detail.to_owned());
    match links.check(address) {
        Ok(()) => {}
        Err(Bad::Expired) => return Err(bad("the time of this address is over; make a new one")),
        Err(Bad::Signature) => {
            sign_in::attempt(web, parts)?;
            return Err(bad(
                "this address was not made by this bank, or was changed",
            ));
        }
    }
    let query = super::request::fields(parts.uri.query().unwrap_or_default());
    let query = query.unwrap_or_default();
    let person = query.iter().rev().find(|(name, _)| name == "person");
    let session = WebSession {
        name: person.map(|(_, name)| name.clone()).unwrap_or_default(),
        way: "signed".to_owned(),
        ..WebSession::default()
    };
    let person = people::of_session(&web.services, &web.known, &session).await;
    let person = person
        .ok_or_else(|| bad("the person who made this address may not use the bank any more"))?;
    Ok(Visit::new(web, session, person, "", parts))
}

/// A section for other sites: the drawing alone with `as=image`, else a page for a frame.
pub(crate) fn embedded(visit: &Visit, title: &str, section: Option<&Section>) -> Shown {
    let zone = parts::zone(visit)?;
    let mut response = if visit.parameter("as") == Some("image") {
        let report = Report {
            title: title.to_owned(),
            period: None,
            zone,
            generated: visit.present(),
            remarks: Vec::new(),
            parts: vec![Part {
                sections: section.into_iter().cloned().collect(),
                ..Part::default()
            }],
        };
        let media = [(header::CONTENT_TYPE, "image/svg+xml")];
        (media, picture::drawing(&report)).into_response()
    } else {
        layout::framed(title, &parts::framed(section, zone)).into_response()
    };
    response.headers_mut().insert(header::CACHE_CONTROL, KEPT);
    response.extensions_mut().insert(Embeddable);
    Ok(response)
}

/// The policy for an answer that other sites may show.
pub(crate) fn allow(response: &mut Response, policy: &str, sites: &[String]) {
    let policy = policy.replace(
        "frame-ancestors 'none'",
        &format!("frame-ancestors {}", sites.join(" ")),
    );
    let fields = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        fields.insert(HeaderName::from_static("content-security-policy"), policy);
    }
    fields.remove("x-frame-options");
    let cross = HeaderValue::from_static("cross-origin");
    fields.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        cross,
    );
}
