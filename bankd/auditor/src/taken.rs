//! Records of other nodes of a cluster, at the node that writes (decision 0202).

use std::sync::Arc;

use bank_api::cluster::{Passage, Passed};
use bankd_intake::auditor::Act;
use bankd_ledger::clock;
use bankd_services::passage::{self, Answering};
use bankd_services::position::Seen;
use hyper::Response;
use hyper::body::Bytes;
use hyper::header::CONTENT_TYPE;

use super::access::Identity;
use super::answer::Content;
use super::body::Taken;
use super::house::{House, Visitor};
use super::passed::JSON;
use super::write::Writing;

/// What answers records of other nodes.
pub(super) fn door(house: &Arc<House>) -> passage::Answer {
    let house = Arc::clone(house);
    Box::new(move |passage, body| -> Answering {
        let house = Arc::clone(&house);
        Box::pin(async move { taken(&house, passage, body).await })
    })
}

async fn taken(house: &House, passage: Passage, body: Bytes) -> Option<Response<Bytes>> {
    let Passed::Collector {
        identity,
        name,
        remote,
        track,
        beyond,
    } = passage.caller
    else {
        return None;
    };
    let identity = match (identity.as_str(), name) {
        ("named", Some(name)) => Identity::Named(name),
        ("anyone", None) => Identity::Anyone,
        ("unnamed", None) => Identity::Unnamed,
        _ => return None,
    };
    let act = match (passage.method.as_str(), passage.target.as_str()) {
        ("POST", "/record") => Act::One,
        ("POST", "/records") => Act::Many,
        ("PUT", "/record") => Act::End,
        _ => return None,
    };
    let visitor = Visitor {
        identity,
        peer: remote.parse().ok()?,
        track,
    };
    let writing = Writing {
        house,
        visitor: &visitor,
        act,
        request_id: clock::request_id(),
    };
    let is_json = passage
        .headers
        .iter()
        .any(|(name, value)| name == CONTENT_TYPE.as_str() && value == JSON);
    let judged = writing
        .judge(is_json, Taken::passed(body.to_vec(), beyond))
        .await;
    let (mut head, content) = judged.ok()?.into_parts();
    if let Some(seen) = Seen::now(&house.services.writer) {
        seen.show(&mut head.headers);
    }
    match content {
        Content::Whole(body) => Some(Response::from_parts(head, body.unwrap_or_default())),
        // No answer to records is a stream.
        Content::Stream(..) => None,
    }
}
