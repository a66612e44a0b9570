//! `[gold]`: the Gold gateway and its peers (`gold-wire.md`). A peer's key is not here: it is a key
//! of the bank, its secret a file in `keys/`.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Maximum number of peers of the gateway: each peer with a matching address is tried for a
/// message.
const MOST_PEERS: usize = 64;
/// Connections of the gateway.
const MOST_CONNECTIONS: usize = 1024;
/// Longest and shortest time after which an unused reservation is over, in seconds.
const IDLE_S: (i64, i64) = (60, 31_536_000);

/// `[gold]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gold {
    /// Address and port of the gateway; empty for none; port 0 picks a free one.
    pub listen: String,
    /// Connections of one address, 1 to 1,024. The gateway has 1,024, of which 256 have the full
    /// time limits of the protocol; one address has its share of these too.
    pub max_connections_each: usize,
    /// Seconds without a charge after which a reservation's instance closes, 60 to 31,536,000.
    pub reservation_idle: i64,
    /// Take only the project of the message, and release a lien on another one.
    pub strict_project: bool,
    /// The clients, by name.
    pub peer: BTreeMap<String, GoldPeer>,
}

impl Default for Gold {
    fn default() -> Self {
        Self {
            listen: String::new(),
            max_connections_each: 768,
            reservation_idle: 86_400,
            strict_project: false,
            peer: BTreeMap::new(),
        }
    }
}

/// `[gold.peer.NAME]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldPeer {
    /// Where it may call from, at least one.
    pub addresses: Vec<Network>,
    /// The id of its key; empty: the peer's name.
    #[serde(default)]
    pub key: String,
    /// Whether answers to it are signed.
    #[serde(default = "yes")]
    pub sign_answers: bool,
    /// Form of a refusal for insufficient credits.
    #[serde(default)]
    pub no_funds: NoFundsWord,
}

fn yes() -> bool {
    true
}

/// Form of a refusal for insufficient credits (`gold-wire.md` 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoFundsWord {
    /// As the envelope's name asks for: `maui`, or anybody else.
    #[default]
    Auto,
    /// Every JFACTION of Maui recognises it correctly.
    Maui,
    /// In Gold's words.
    Gold,
}

impl Gold {
    /// The id of a peer's key.
    pub fn key_of<'a>(name: &'a str, peer: &'a GoldPeer) -> &'a str {
        if peer.key.is_empty() { name } else { &peer.key }
    }

    /// Checks ranges and addresses, and that peers are distinguishable.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.listen.is_empty() && self.listen.parse::<SocketAddr>().is_err() {
            return Err(format!(
                "gold.listen: {:?} is not ADDRESS:PORT",
                self.listen
            ));
        }
        let each = self.max_connections_each;
        if !(1..=MOST_CONNECTIONS).contains(&each) {
            return Err(format!(
                "gold.max_connections_each: {each} is not in 1 to {MOST_CONNECTIONS}"
            ));
        }
        let (least, most) = IDLE_S;
        let idle = self.reservation_idle;
        if !(least..=most).contains(&idle) {
            return Err(format!(
                "gold.reservation_idle: {idle} is not in {least} to {most}"
            ));
        }
        if self.peer.len() > MOST_PEERS {
            return Err(format!("gold.peer: more than {MOST_PEERS} peers"));
        }
        let mut keys = BTreeMap::new();
        for (name, peer) in &self.peer {
            let key = Self::key_of(name, peer);
            for (what, word) in [("", name.as_str()), (".key", key)] {
                if !is_id(word) {
                    return Err(format!(
                        "gold.peer.{name}{what}: {word:?} is not 1 to 64 of A-Z a-z 0-9 . _ -"
                    ));
                }
            }
            if peer.addresses.is_empty() {
                return Err(format!("gold.peer.{name}.addresses: at least one"));
            }
            if let Some(other) = keys.insert(key, name) {
                return Err(format!("gold.peer.{name}.key: the key of peer {other} too"));
            }
        }
        Ok(())
    }
}

fn is_id(word: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=64).contains(&word.len()) && word.bytes().all(allowed) && word != "." && word != ".."
}

/// An address, or all that begin with the same bits: `10.1.0.7`, `10.1.0.0/16`, `fd00::/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// Whether it contains an address. An IPv4 address that arrived on an IPv6 listener is compared
    /// as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (own, own_width) = number(self.address);
        let (other, width) = number(address.to_canonical());
        let shift = width.saturating_sub(self.bits);
        let above = |number: u128| number.checked_shr(shift).unwrap_or(0);
        own_width == width && above(own) == above(other)
    }
}

/// An address as a number, and its bits.
fn number(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()), 32),
        IpAddr::V6(v6) => (v6.to_bits(), 128),
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let no_network = || format!("{text:?} is not an address such as 10.1.0.7 or 10.1.0.0/16");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| no_network())?;
        let (number, width) = number(address);
        let bits = match bits {
            None => width,
            Some(bits) => bits.parse::<u32>().map_err(|_| no_network())?,
        };
        let host = width.checked_sub(bits).ok_or_else(no_network)?;
        let rest = 1_u128.checked_shl(host).map_or(u128::MAX, |one| one - 1);
        if number & rest != 0 {
            return Err(format!("{text:?} has bits set behind its first {bits}"));
        }
        Ok(Self { address, bits })
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bits == number(self.address).1 {
            return write!(f, "{}", self.address);
        }
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_their_addresses() {
        for (network, address, holds) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("127.0.0.0/8", "127.200.3.4", true),
            ("10.1.0.0/16", "10.2.0.0", false),
            ("10.1.0.4/30", "10.1.0.7", true),
            ("10.1.0.4/30", "10.1.0.8", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "fd00::1", false),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe80::1", false),
            ("::/0", "::1", true),
            ("::1", "::1", true),
        ] {
            let parsed: Network = network.parse().unwrap();
            assert_eq!(parsed.to_string(), network);
            let within = parsed.contains(address.parse().unwrap());
            assert_eq!(within, holds, "{network} {address}");
        }
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for (text, why) in [
            ("", "is not an address"),
            ("cluster", "is not an address"),
            ("10.1.0.0/33", "is not an address"),
            ("10.1.0.0/-1", "is not an address"),
            ("10.1.0.0/", "is not an address"),
            ("10.1.0.1/16", "bits set behind its first 16"),
            ("fd00::1/64", "bits set behind its first 64"),
        ] {
            let mistake = text.parse::<Network>().unwrap_err();
            assert!(mistake.contains(why), "{mistake}");
        }
    }
}
