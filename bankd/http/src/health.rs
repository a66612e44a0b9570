//! `/healthz` and `/readyz`: for service managers and probes, unauthenticated, without a figure
//! that is anybody's business.
//!
//! Free disk space is not among the reasons: the standard library has no safe call for it, and a
//! full disk shows itself as a failed commit.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bankd_ledger::access::right::Right;
use bankd_services::Services;
use serde::Serialize;
use utoipa::ToSchema;

use super::route::Route;

/// The process answers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Alive {
    status: &'static str,
    version: &'static str,
    uptime_s: u64,
}

/// Whether commands can be accepted.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Readiness {
    ready: bool,
    /// Reasons for unreadiness; empty if ready.
    reasons: Vec<&'static str>,
    /// Requests without a valid signature since the start, by cause.
    auth_failures: std::collections::BTreeMap<&'static str, u64>,
    /// Failed attempts to write a record file since the start.
    record_failures: u64,
}

/// The two rows.
pub(super) fn rows() -> Vec<Route> {
    vec![
        Route::get("/healthz", alive)
            .right(Right::Anybody)
            .description("Whether the process answers")
            .gives::<Alive>(200, "It does."),
        Route::get("/readyz", ready)
            .right(Right::Anybody)
            .description("Whether commands can be taken")
            .gives::<Readiness>(200, "They can.")
            .gives::<Readiness>(503, "They cannot, and why."),
    ]
}

pub(super) async fn alive(State(services): State<Arc<Services>>) -> Json<Alive> {
    Json(Alive {
        status: "alive",
        version: env!("CARGO_PKG_VERSION"),
        uptime_s: services.started.elapsed().as_secs(),
    })
}

/// The schema is current as soon as the daemon listens: it migrates before that.
pub(super) async fn ready(State(services): State<Arc<Services>>) -> (StatusCode, Json<Readiness>) {
    let mut reasons = Vec::new();
    if services.writer_thread.is_finished() {
        reasons.push("the writer has stopped");
    }
    reasons.extend(services.writer.obstacles());
    let ready = reasons.is_empty();
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = Readiness {
        ready,
        reasons,
        auth_failures: services.counters.auth_failures(),
        record_failures: services.counters.record_failures(),
    };
    (status, Json(body))
}
