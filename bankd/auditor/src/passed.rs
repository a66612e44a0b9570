//! Records that a node of a cluster passes to the node that writes (decision 0202). This one identified the collector and
//! checked its rights; the other one stores the records, see `taken`.

use bank_api::cluster::Passed;
use bankd_intake::auditor::Act;
use bankd_services::passage::{self, CATCH_UP, Call};

use super::access::Identity;
use super::answer::{self, Answer, Dropped};
use super::body::Taken;
use super::house::{House, Visitor};

/// The content types of the two nodes: a body is JSON, or it is not.
pub(super) const JSON: &str = "application/json";

/// Has the writer of the cluster store records. Without its answer there is none, so the client retries.
pub(super) async fn pass(
    house: &House,
    (visitor, act): (&Visitor, Act),
    is_json: bool,
    body: &Taken,
) -> Result<Answer, Dropped> {
    let (method, target) = match act {
        Act::One => ("POST", "/record"),
        Act::Many => ("POST", "/records"),
        Act::End => ("PUT", "/record"),
    };
    let identity = match &visitor.identity {
        Identity::Anyone => "anyone",
        Identity::Named(_) => "named",
        Identity::Unnamed => "unnamed",
    };
    let json = ("content-type".to_owned(), JSON.to_owned());
    let call = Call {
        caller: Passed::Collector {
            identity: identity.to_owned(),
            name: visitor.identity.name().map(str::to_owned),
            remote: visitor.peer.to_string(),
            track: visitor.track,
            beyond: body.beyond,
        },
        method,
        target,
        headers: is_json.then_some(json).into_iter().collect(),
        body: &body.bytes,
    };
    let patience = house.settings().patience();
    let passed = passage::pass(&house.services.writer, call, patience, CATCH_UP).await;
    let response = passed.map_err(|error| {
        tracing::warn!(error, "records are not passed to the writer");
        Dropped("no answer of the writer")
    })?;
    answer::passed(response).ok_or(Dropped("the writer has no answer"))
}
