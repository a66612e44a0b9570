//! Requests of other nodes of a cluster, at the node that writes (decision 0202).

use std::sync::Arc;

use bank_api::cluster::{GoldAnswer, Passed};
use bank_api::sign::KeyLookup;
use bankd_ledger::access::Role;
use bankd_ledger::clock;
use bankd_ledger::writer::Origin;
use bankd_services::Services;

use super::passed::of_word;
use super::{Content, Peer, Value, Verified, talk};

/// Executes the request of a peer that another node verified. None if this node has no such key in force.
pub async fn passed(services: &Arc<Services>, caller: &Passed, body: &[u8]) -> Option<Vec<u8>> {
    let Passed::Gold {
        peer,
        key,
        no_funds,
        strict_project,
        is_maui,
    } = caller
    else {
        return None;
    };
    let KeyLookup::Found(found) = services.keys.look_up(key, clock::auth_now_s()) else {
        return None;
    };
    let (roles, client) = (found.0.roles, found.0.client.clone());
    let request = Verified {
        origin: Origin::Gold,
        key: None,
        dry_run: false,
        peer: Arc::new(Peer {
            name: peer.clone(),
            key_id: key.clone(),
            scope: found.0.scope.clone(),
            roles,
            user: roles.has(Role::User).then(|| client.clone()),
            client,
            no_funds: of_word(no_funds),
            strict_project: *strict_project,
        }),
        is_maui: *is_maui,
        body: body.to_vec(),
    };
    let Content {
        value,
        code,
        message,
        count,
        data,
    } = talk::answer(services, &request).await;
    let value = match value {
        Value::Success => "Success",
        Value::Warning => "Warning",
        Value::Failure => "Failure",
    };
    let answer = GoldAnswer {
        value: value.to_owned(),
        code: code.to_owned(),
        message,
        count,
        data,
    };
    answer.text().ok()
}
