//! The router, made of the table of routes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::MatchedPath;
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::from_fn_with_state;
use bankd_services::Services;
use tower_http::catch_panic::CatchPanicLayer;

use super::frame::Frame;
use super::route::{Route, mount, open};
use super::v1::batch::{self, Commands};
use super::{frame, health, nami, openapi, passage, v1};

/// The whole table: the scheduler's routes and those of the JSON API.
pub fn table() -> Vec<Route> {
    let mut rows = commands();
    let none = Commands::new(&rows, Router::new());
    rows.push(batch::row(none));
    rows
}

/// The rows of requests that a batch may contain, and of all questions.
fn commands() -> Vec<Route> {
    let mut rows = nami::table::rows();
    rows.extend(v1::rows());
    rows
}

/// Routes without authentication: health of the daemon, and description of the API.
fn public() -> Vec<Route> {
    let mut rows = health::rows();
    rows.extend(openapi::rows(whole));
    rows
}

/// Every route there is.
pub fn whole() -> Vec<Route> {
    let mut rows = table();
    rows.extend(public());
    rows
}

/// Whether a row matches a request by its method and path.
fn has(request: &Parts) -> bool {
    static ROWS: LazyLock<HashMap<Method, HashSet<Cow<'static, str>>>> = LazyLock::new(|| {
        let mut rows: HashMap<Method, HashSet<_>> = HashMap::new();
        for row in table() {
            rows.entry(row.method).or_default().insert(row.path);
        }
        rows
    });
    let path = request.extensions.get::<MatchedPath>();
    let own = ROWS.get(&request.method);
    path.is_some_and(|path| own.is_some_and(|own| own.contains(path.as_str())))
}

/// The router of the table. Health and the description of the API need no authentication. A path without a
/// row is refused.
pub fn router(services: Arc<Services>) -> Router {
    let layer = Frame {
        services: Arc::clone(&services),
        has_row: has,
    };
    let rows = commands();
    let inner = guarded(mount(commands(), &services)).with_state(Arc::clone(&services));
    let batch = batch::row(Commands::new(&rows, inner));
    let rows = rows.into_iter().chain([batch]).collect();
    let known = guarded(mount(rows, &services)).layer(from_fn_with_state(layer, frame::frame));
    let known = known.with_state(Arc::clone(&services));
    let inlet = passage::inlet(&services, known.clone());
    let public = open(public()).method_not_allowed_fallback(frame::method_not_allowed);
    known.merge(public.with_state(services)).merge(inlet)
}

/// A router that answers every path, and panics too.
fn guarded(router: Router<Arc<Services>>) -> Router<Arc<Services>> {
    router
        .fallback(frame::not_found)
        .method_not_allowed_fallback(frame::method_not_allowed)
        .layer(CatchPanicLayer::custom(frame::panicked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The names between braces.
    fn parameters(path: &str) -> Vec<&str> {
        let parts = path.split('{').skip(1);
        parts.filter_map(|part| part.split('}').next()).collect()
    }

    #[test]
    fn every_row_has_a_description() {
        let mut seen = BTreeSet::new();
        for row in whole() {
            let name = format!("{} {}", row.method, row.path);
            assert!(
                !row.description.is_empty() && !row.description.ends_with('.'),
                "{name}"
            );
            let has_no_answer = row.path == "/nami/v1/query";
            assert_eq!(row.given.is_empty(), has_no_answer, "{name}");
            for code in &row.refuses {
                assert!(bank_api::error::row(code).is_some(), "{name}: {code}");
            }
            let named = parameters(&row.path);
            for number in row.numbers {
                assert!(named.contains(number), "{name}: no {{{number}}}");
            }
            assert!(seen.insert(name.clone()), "duplicate route: {name}");
        }
        assert!(seen.len() > 100, "{} routes", seen.len());
    }

    #[test]
    fn what_only_asks_needs_no_key() {
        for row in table() {
            let asks = [
                "/api/v1/quotes",
                "/api/v1/rates/test",
                "/api/v1/mappings/test",
                "/api/v1/verifications",
                "/api/v1/web/logins",
                "/api/v1/web/links",
            ];
            let writes = row.method != "GET" && !asks.contains(&&*row.path);
            assert_eq!(row.writes, writes, "{} {}", row.method, row.path);
        }
    }
}
