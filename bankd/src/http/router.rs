//! Every route, on one screen.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tower_http::catch_panic::CatchPanicLayer;

use super::{frame, health, nami, v1};
use crate::app::App;

/// The whole table. Only the two health routes answer callers who are not known.
pub fn router(app: Arc<App>) -> Router {
    let known = Router::new()
        .route("/nami/v1/quote", post(nami::quote))
        .route("/nami/v1/create", post(nami::create))
        .route("/nami/v1/reserve", post(nami::reserve))
        .route("/nami/v1/charge", post(nami::charge))
        .route("/nami/v1/delete", post(nami::delete))
        .route("/nami/v1/start", post(nami::start))
        .route("/nami/v1/update", post(nami::update))
        .route("/nami/v1/continue", post(nami::go_on))
        .route("/nami/v1/pause", post(nami::pause))
        .route("/nami/v1/resume", post(nami::resume))
        .route("/nami/v1/end", post(nami::end))
        .route("/nami/v1/modify", post(nami::modify))
        .route("/nami/v1/query", post(nami::query))
        .merge(v1::routes())
        .fallback(frame::not_found)
        .method_not_allowed_fallback(frame::method_not_allowed)
        .layer(CatchPanicLayer::custom(frame::panicked))
        .layer(from_fn_with_state(Arc::clone(&app), frame::frame));
    let public = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready));
    known.merge(public).with_state(app)
}
