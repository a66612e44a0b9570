//! `[auth]`: signed requests and tokens.

use serde::{Deserialize, Serialize};

/// `[auth]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Auth {
    /// Seconds that `created` may differ from the real time, 10 to 3,600 (`http-auth.md` 1).
    pub window_s: i64,
    /// Nonces remembered for each key, 1,000 to 5,000,000 (`http-auth.md` 2).
    pub nonces_per_key: usize,
    /// Proxies with TLS: tokens are taken from these addresses, from this host and on the socket.
    pub token_proxies: Vec<std::net::IpAddr>,
}

impl Default for Auth {
    fn default() -> Self {
        Self {
            window_s: bank_api::sign::DEFAULT_WINDOW_S,
            nonces_per_key: 200_000,
            token_proxies: Vec::new(),
        }
    }
}
