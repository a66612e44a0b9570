//! What other web sites may show: a drawing, or a page with it for a frame.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bank_picture::{self as picture, Part, Report, Section};

use super::layout;
use super::parts::picture as parts;
use super::visit::{Shown, Visit};

/// How long browsers and proxies may keep a picture.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// An answer that the sites of `web.embed_sites` may show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embeddable;

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
