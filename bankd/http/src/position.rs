//! `Bank-Position` of a request: how new the answer of a node of a cluster must be (decision 0202).

use std::time::Duration;

use axum::http::HeaderMap;
use bank_api::cluster::POSITION;
use bankd_ledger::writer::Cluster;

/// Longest wait of a node for the position that a request asks for.
const WAIT: Duration = Duration::from_secs(1);

/// The position that a request asks for.
///
/// # Errors
/// What is wrong with the field.
pub(super) fn asked(headers: &HeaderMap) -> Result<Option<i64>, &'static str> {
    let mut fields = headers.get_all(POSITION).into_iter();
    let Some(field) = fields.next() else {
        return Ok(None);
    };
    let number = field.to_str().ok().and_then(|text| text.parse().ok());
    let number = number.filter(|number| *number >= 0 && fields.next().is_none());
    number
        .map(Some)
        .ok_or("Bank-Position is one whole number from 0 on, as an answer of this bank contains it")
}

/// Waits a moment until this node contains a position; false if it does not.
pub(super) async fn is_reached(cluster: &Cluster, position: i64) -> bool {
    cluster.reached(position, WAIT).await
}
