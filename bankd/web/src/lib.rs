//! The web pages: HTML made here, from the answers of the JSON API.
//!
//! Start at `pages.rs`, whose rows are the pages, each a [`page::Page`]. `visit` is what a handler gets: the person, the period, and
//! the port to the API. `guard` is the layer around every page: hosts, origins, sessions, headers. A page is
//! one file in `pages` with its rows, handlers and templates. This crate has no SQL and no rule: a page asks
//! the routes of the API, with the person's roles, and shows what they answer.

mod api;
mod assets;
mod atom;
mod attempts;
mod cookie;
mod data;
mod embedded;
mod failed;
mod guard;
mod layout;
mod oidc;
mod order;
pub mod page;
mod pages;
mod parts;
mod people;
mod request;
mod sign_in;
mod signed;
mod target;
mod unbroken;
mod visit;
mod zone;

use std::sync::Arc;

use bankd_http::inside::Inside;
use bankd_services::Services;
use tokio::net::TcpListener;
use tokio::sync::watch;

use attempts::Attempts;
use bankd_ledger::access::right::Right;
pub use pages::rows;
use people::Known;

/// The state of every page.
pub(crate) struct Web {
    services: Arc<Services>,
    /// The routes of the API.
    inside: Inside,
    /// Attempts to sign in.
    attempts: Attempts,
    /// Sign-in with an OpenID Connect provider.
    oidc: Option<oidc::Oidc>,
    /// People whom a proxy or a provider has identified.
    known: Known,
    /// The pages of the navigation.
    nav: Vec<Nav>,
    /// The pages that are below one of the navigation, with those that lead to them.
    below: Vec<(&'static str, &'static [&'static str])>,
    /// The paths of pages that show the state at an instant.
    of_past: Vec<&'static str>,
}

/// A page of the navigation.
struct Nav {
    path: &'static str,
    word: &'static str,
    right: Right,
}

/// Sets the origin under which people reach the pages: links to sign in can be made from then on.
pub fn announce(services: &Services, listener: Option<&TcpListener>) {
    let origin = match listener.map(TcpListener::local_addr) {
        None => return,
        Some(Ok(address)) if services.web.url.is_empty() => format!("http://{address}"),
        Some(_) => services.web.url.clone(),
    };
    services.sessions.serve_at(origin);
    if let Some(links) = &services.links {
        links.serve(signed::pages());
    }
}

/// Serves the pages until the sender of `stopped` is gone and every open request is answered.
pub async fn serve(
    services: &Arc<Services>,
    listener: Option<&TcpListener>,
    stopped: watch::Receiver<()>,
) {
    let Some(listener) = listener else {
        return;
    };
    let origin = services.sessions.url().unwrap_or_default();
    let oidc = oidc::Oidc::new(&services.web.oidc, origin);
    let web = Arc::new(Web {
        services: Arc::clone(services),
        inside: Inside::new(services, u32::MAX),
        attempts: Attempts::new(services.web.sign_in_per_minute),
        oidc,
        known: Known::default(),
        nav: nav(),
        below: below(),
        of_past: of_past(),
    });
    if let Some(links) = &services.links {
        links.probe_with(signed::probe(&web));
    }
    bankd_http::serve_tcp(services, guard::router(web), Some(listener), stopped).await;
}

/// The pages that take an instant.
fn of_past() -> Vec<&'static str> {
    let all = rows().into_iter().filter(|row| row.takes.contains(&"at"));
    all.map(|row| row.path).collect()
}

/// The pages that are not in the navigation, with those that lead to them.
fn below() -> Vec<(&'static str, &'static [&'static str])> {
    let all = rows().into_iter().filter(|row| !row.below.is_empty());
    let mut all: Vec<_> = all.map(|row| (row.path, row.below)).collect();
    // Of two paths that fit an address, the one with fewer names is its page.
    all.sort_by_key(|(path, _)| path.matches('{').count());
    all
}

/// The rows with a word, in their order.
fn nav() -> Vec<Nav> {
    let all = rows().into_iter();
    let shown = all.filter_map(|row| {
        Some(Nav {
            path: row.path,
            word: row.nav?,
            right: row.right,
        })
    });
    shown.collect()
}
