//! `Bank-Position` and `Bank-Age-Ms` of a node of a cluster: how new an answer is, and how new it must be (decision 0202).
//! A bank on a single machine has neither.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use bank_api::cluster::{AGE_MS, POSITION};
use bankd_ledger::writer::{Cluster, Writer};

/// Longest wait of a node for the position that a request asks for.
const WAIT: Duration = Duration::from_secs(1);

/// How new a node's data are.
pub(super) struct Seen {
    position: i64,
    age: Option<Duration>,
}

impl Seen {
    /// Now; none for a bank on a single machine.
    pub(super) fn now(writer: &Writer) -> Option<Self> {
        let cluster = writer.cluster()?;
        Some(Self {
            position: cluster.position(),
            age: cluster.age(),
        })
    }

    /// Adds the fields to an answer.
    pub(super) fn show(&self, response: &mut Response) {
        let headers = response.headers_mut();
        let position = HeaderName::from_static(POSITION);
        headers.insert(position, HeaderValue::from(self.position));
        if let Some(age) = self.age {
            let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
            headers.insert(HeaderName::from_static(AGE_MS), HeaderValue::from(age));
        }
    }
}

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
