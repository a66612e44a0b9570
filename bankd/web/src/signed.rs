//! The routes with a signed address: the feed of a person's notices, and pictures for other web sites.
//!
//! The signature covers the whole address with the name of the person who made it, so nothing in it can be changed.
//! The person's present rights count: whoever may not see a project any more shows none of it. Pages are served
//! below `/embed`, and only if `web.embed_sites` has a site.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bank_api::error::Problem;
use bankd_services::links::{Bad, Probe};
use bankd_services::sessions::WebSession;

use super::failed::Failed;
use super::layout::dressed;
use super::parts::share::{EMBED, FEED};
use super::visit::Visit;
use super::{Web, page, pages, people, request, sign_in};

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

/// The layer around signed addresses: the person in whose view they are.
async fn signed(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match visit(&web, &parts).await {
        Ok(visit) => {
            parts.extensions.insert(visit);
            let response = next.run(Request::from_parts(parts, body)).await;
            // Everybody reads it, and a hint is for the person who made the address.
            let failed = response.extensions().get::<Failed>().cloned();
            let response = failed.map_or(response, |failed| failed.unhinted().into_response());
            dressed(response, None)
        }
        Err(failed) => dressed(failed.into_response(), None),
    }
}

async fn visit(web: &Arc<Web>, parts: &Parts) -> Result<Visit, Failed> {
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
    let query = request::fields(parts.uri.query().unwrap_or_default());
    let query = query.unwrap_or_default();
    let person = query.iter().rev().find(|(name, _)| name == "person");
    let person = person.map(|(_, name)| name.clone()).unwrap_or_default();
    let visit = visit_of(web, person, parts).await;
    visit.ok_or_else(|| bad("the person who made this address may not use the bank any more"))
}

async fn visit_of(web: &Arc<Web>, name: String, parts: &Parts) -> Option<Visit> {
    let session = WebSession {
        name,
        way: "signed".to_owned(),
        ..WebSession::default()
    };
    let person = people::of_session(&web.services, &web.known, &session).await?;
    Some(Visit::new(web, session, person, "", parts))
}

/// Opens the picture of a page before its address is signed, so that a wrong parameter or project is found by the
/// person who makes the address.
pub(crate) fn probe(web: &Arc<Web>) -> Probe {
    let web = Arc::downgrade(web);
    Box::new(move |page, person| {
        let web = web.upgrade();
        Box::pin(async move {
            match web {
                Some(web) => probed(&web, &page, person).await,
                None => Ok(()),
            }
        })
    })
}

async fn probed(web: &Arc<Web>, page: &str, person: String) -> Result<(), Box<Problem>> {
    let failed = |code: &str, detail: &str| Box::new(Problem::new(code, detail));
    let request = Request::get(format!("{EMBED}{page}")).body(Body::empty());
    let request = request.map_err(|_| failed("bad_value", "page: not an address"))?;
    let (mut parts, body) = request.into_parts();
    let visit = visit_of(web, person, &parts).await;
    let visit = visit.ok_or_else(|| failed("not_allowed", "you may not use the web pages"))?;
    parts.extensions.insert(visit);
    let pages = page::mount_pictures(pages::rows(), EMBED).with_state(Arc::clone(web));
    let response = bankd_http::route::once(pages, Request::from_parts(parts, body)).await;
    match response.extensions().get::<Failed>() {
        Some(failed) => Err(Box::new(failed.problem().clone())),
        None => Ok(()),
    }
}
