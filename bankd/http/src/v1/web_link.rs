//! Signed addresses of the web pages, for people on the socket: the feed of notices, and pictures for other sites.

use bank_api::text::format_rfc3339;
use bank_api::v1::{NewWebLink, WebLink};
use bankd_ledger::clock;
use bankd_services::links::{DAYS, DAYS_MAX};

use super::call::{Call, Handled, ok};
use crate::error::Failure;

/// One day, s.
const DAY: i64 = 86_400;
/// The page that is no picture.
const FEED: &str = "/feed";

/// `POST /api/v1/web/links`
pub(super) async fn add(call: Call) -> Handled {
    let NewWebLink { page, days } = call.json()?;
    if call.auth.uid.is_none() {
        let detail = "a signed address is for people on the Unix socket";
        return Err(Failure::new("not_allowed", detail));
    }
    let days = days.unwrap_or(DAYS);
    if !(1..=DAYS_MAX).contains(&days) {
        let detail = format!("days: {days} is not 1 to {DAYS_MAX}");
        return Err(Failure::new("bad_value", detail).field("days"));
    }
    let services = &call.services;
    let (Some(links), Some(origin)) = (&services.links, services.sessions.url()) else {
        let detail = "this daemon serves no web pages";
        return Err(Failure::new("not_found", detail)
            .hint("set web.listen in bankd.toml and restart bankd"));
    };
    if !links.has(&page) {
        let detail = format!("page: {page:?} is neither /feed nor a page with a picture");
        return Err(Failure::new("bad_value", detail)
            .field("page")
            .hint("take the path of the page from your browser, such as /usage?by=project"));
    }
    let is_feed = page.split('?').next() == Some(FEED);
    if !is_feed && services.web.embed_sites.is_empty() {
        let detail = "no other site may show pictures of this bank";
        return Err(Failure::new("not_found", detail)
            .hint("set web.embed_sites in bankd.toml and restart bankd"));
    }
    let name = &call.auth.caller.actor;
    if !is_feed {
        // A picture that nobody would see is not worth an address.
        let probed = links.probe(&page, name).await;
        probed.map_err(|problem| Failure::of(*problem))?;
    }
    let signed = |page: &str| format!("{origin}{}", links.signed(page, name, days));
    let (url, image) = if is_feed {
        (signed(&page), None)
    } else {
        let page = format!("/embed{page}");
        let sign = if page.contains('?') { '&' } else { '?' };
        (
            signed(&page),
            Some(signed(&format!("{page}{sign}as=image"))),
        )
    };
    let until = clock::auth_now_s().saturating_add(i64::from(days).saturating_mul(DAY));
    ok(&WebLink {
        url,
        image,
        name: name.clone(),
        until: format_rfc3339(until.saturating_mul(1_000_000)),
    })
}
