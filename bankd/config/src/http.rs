//! `[http]`: listeners for requests, and the number of concurrent requests.

use serde::{Deserialize, Serialize};

/// `[http]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// Address and port for signed requests; empty for none; port 0 picks a free one.
    pub listen: String,
    /// Whether to listen on `bankd.sock` in the data directory.
    pub socket: bool,
    /// Largest body in bytes: 1 KiB to 1 MiB (decisions.md 26).
    pub body_limit: usize,
    /// Concurrent requests, 1 to 65,536; further ones are rejected with a retry time.
    pub concurrency: usize,
    /// Connections of each listener at once, 16 to 65,536; more wait.
    pub max_connections: usize,
    /// Of these, connections of one uid or one host, 8 to 65,536.
    pub max_connections_each: usize,
    /// Seconds that a request may take, 1 to 300.
    pub timeout_s: u64,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7113".to_owned(),
            socket: true,
            body_limit: 1 << 20,
            concurrency: 1024,
            max_connections: 1024,
            max_connections_each: 512,
            timeout_s: 30,
        }
    }
}

impl Http {
    pub(super) fn check(&self) -> Result<(), String> {
        let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let seconds = i64::try_from(self.timeout_s).unwrap_or(i64::MAX);
        for (key, value, least, most) in [
            ("http.body_limit", count(self.body_limit), 1024, 1 << 20),
            ("http.concurrency", count(self.concurrency), 1, 65_536),
            (
                "http.max_connections",
                count(self.max_connections),
                16,
                65_536,
            ),
            (
                "http.max_connections_each",
                count(self.max_connections_each),
                8,
                65_536,
            ),
            ("http.timeout_s", seconds, 1, 300),
        ] {
            super::in_range(key, value, least, most)?;
        }
        let listen = &self.listen;
        if !listen.is_empty() && listen.parse::<std::net::SocketAddr>().is_err() {
            return Err(format!("http.listen: {listen:?} is not ADDRESS:PORT"));
        }
        if listen.is_empty() && !self.socket {
            return Err(
                "http.listen: empty, and http.socket is false: no listener would remain".to_owned(),
            );
        }
        Ok(())
    }
}
