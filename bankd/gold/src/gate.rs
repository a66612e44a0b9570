//! Identifies the sender of a message: a peer of the settings at that address, whose key made the signature
//! (`gold-wire.md` 2). The keys are those of the bank. A disabled, expired or removed key is invalid here
//! from the same moment on.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use bank_api::sign::KeyLookup;
use bankd_config::{Gold, GoldPeer};
use bankd_ledger::access::Role;
use bankd_ledger::access::right::Right;
use bankd_ledger::clock;
use bankd_ledger::keys::hmac64::{self, Hmac64};
use bankd_ledger::keys::{Found, KeyRing};
use bankd_ledger::writer::Origin;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::envelope::{self, Broken, Envelope};
use super::reason::Reason;
use super::{Peer, Verified};

/// A verified request, and the key that signs its answer.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) request: Verified,
    /// `None` if the peer requires no signature.
    pub(super) signer: Option<Hmac64>,
}

/// Whether a peer has this address.
pub(super) fn has_peer_at(config: &Gold, from: IpAddr) -> bool {
    peers_at(config, from).next().is_some()
}

/// Verifies a message by its received bytes.
pub(super) fn judge(
    config: &Gold,
    keys: &KeyRing,
    from: IpAddr,
    payload: &[u8],
) -> Result<Admitted, Reason> {
    let envelope = envelope::open(payload).map_err(|broken| match broken {
        Broken::Malformed => Reason::Malformed,
        Broken::Encrypted => Reason::Encrypted,
    })?;
    if envelope.other_token {
        return Err(Reason::Token);
    }
    let (digest, signature) = proof(&envelope)?;
    let now_s = clock::auth_now_s();
    let mut usable = peers_at(config, from)
        .filter_map(|(name, peer)| ready(keys, name, peer, now_s))
        .peekable();
    if usable.peek().is_none() {
        return Err(Reason::UnknownPeer);
    }
    let (name, peer, key, hmac) = usable
        .find(|(_, _, _, hmac)| hmac.verifies(&digest, &signature))
        .ok_or(Reason::Signature)?;
    let roles = key.0.roles;
    // Every action demands its right; a collector has none of them.
    if !Right::SeeLedger.is_held(roles) {
        return Err(Reason::Role);
    }
    let request = Verified {
        origin: Origin::Gold,
        key: None,
        dry_run: false,
        peer: Arc::new(Peer {
            name: name.to_owned(),
            key_id: key.0.id.clone(),
            client: key.0.client.clone(),
            scope: key.0.scope.clone(),
            roles,
            user: roles.has(Role::User).then(|| key.0.client.clone()),
            no_funds: peer.no_funds,
            strict_project: config.strict_project,
        }),
        is_maui: envelope.is_maui,
        body: envelope.body.to_vec(),
    };
    let signer = peer.sign_answers.then_some(hmac);
    Ok(Admitted { request, signer })
}

/// The digest that the body really has, and the signature over it. A digest that is not the body's
/// has a second chance, as if empty elements had been written with two tags.
fn proof(envelope: &Envelope<'_>) -> Result<([u8; 20], Vec<u8>), Reason> {
    let claim = envelope.signature.ok_or(Reason::Unsigned)?;
    let claimed = STANDARD.decode(claim.digest).map_err(|_| Reason::Digest)?;
    let own = hmac64::digest(envelope.body);
    let digest = if claimed == own {
        own
    } else {
        let other = envelope::expanded(envelope.body).map(|body| hmac64::digest(&body));
        other
            .filter(|other| claimed == *other)
            .ok_or(Reason::Digest)?
    };
    let signature = STANDARD
        .decode(claim.value)
        .map_err(|_| Reason::Signature)?;
    Ok((digest, signature))
}

fn peers_at(config: &Gold, from: IpAddr) -> impl Iterator<Item = (&str, &GoldPeer)> {
    let peers = config.peer.iter();
    peers
        .filter(move |(_, peer)| peer.addresses.iter().any(|net| net.contains(from)))
        .map(|(name, peer)| (name.as_str(), peer))
}

/// A peer with its key, if the bank has one that is in force and fits the protocol.
fn ready<'a>(
    keys: &KeyRing,
    name: &'a str,
    peer: &'a GoldPeer,
    now_s: i64,
) -> Option<(&'a str, &'a GoldPeer, Found, Hmac64)> {
    let KeyLookup::Found(key) = keys.look_up(Gold::key_of(name, peer), now_s) else {
        return None;
    };
    let hmac = key.0.hmac64.clone()?;
    Some((name, peer, key, hmac))
}

/// Looks at the secrets of all peers before the gateway is opened. A peer without one is none until
/// its key is made.
///
/// # Errors
/// One line: a secret that others may read, or that no client of the protocol could hold.
pub fn check_keys(config: &Gold, keys: &Path) -> Result<(), String> {
    if config.listen.is_empty() {
        return Ok(());
    }
    config.peer.iter().try_for_each(|(name, peer)| {
        hmac64::check_secret(keys, Gold::key_of(name, peer))
            .map_err(|why| format!("gold.peer.{name}: {why}"))
    })
}

/// Logs the peers that are inactive because the bank has no key of theirs.
pub(super) fn announce(config: &Gold, keys: &KeyRing) {
    let now_s = clock::auth_now_s();
    for (name, peer) in &config.peer {
        if ready(keys, name, peer, now_s).is_none() {
            let key = Gold::key_of(name, peer);
            tracing::warn!(peer = %name, %key, "no usable key: messages of this peer are refused");
        }
    }
    if config.peer.is_empty() {
        tracing::warn!("gold.listen is set and no peer is: every message is refused");
    }
}
