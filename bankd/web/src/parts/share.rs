//! Signed addresses of a person, and the lines with which another site shows a picture.

use bankd_services::links::DAYS;
use maud::{Markup, html};

use crate::target::Target;
use crate::visit::Visit;

/// Where pages with pictures are, for other sites.
pub(crate) const EMBED: &str = "/embed";
/// Where the feed is.
pub(crate) const FEED: &str = "/feed";

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
