//! Addresses that need no session, and what other web sites may show: a drawing, or a page with it for a frame.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bank_picture::{self as picture, Part, Report, Section};
use bankd_services::links::DAYS;
use maud::{Markup, html};

use super::layout;
use super::parts::picture as parts;
use super::target::Target;
use super::visit::{Shown, Visit};

/// Where pages with pictures are, for other sites.
pub(crate) const EMBED: &str = "/embed";
/// Where the feed is.
pub(crate) const FEED: &str = "/feed";
/// How long browsers and proxies may keep a picture.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// An answer that the sites of `web.embed_sites` may show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embeddable;

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
