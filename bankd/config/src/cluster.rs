//! `[cluster]`: a bank on several machines.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// `[cluster]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cluster {
    /// The connection string of the `PostgreSQL` database with the log; empty for a bank on a single machine.
    pub log: String,
    /// The CAs that may have signed the certificate of that server, PEM; empty for connections without TLS.
    pub ca: String,
    /// The name of this node.
    pub node: String,
    /// The address at which the other nodes reach this one.
    pub address: String,
    /// Seconds after which the lease of a silent writer is free, 2 to 60.
    pub lease_s: u64,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            log: String::new(),
            ca: String::new(),
            node: String::new(),
            address: String::new(),
            lease_s: 3,
        }
    }
}

impl Cluster {
    /// Whether the bank is a node of a cluster.
    pub fn is_on(&self) -> bool {
        !self.log.is_empty()
    }

    /// The time after which the lease of a silent writer is free.
    pub fn lease(&self) -> Duration {
        Duration::from_secs(self.lease_s)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if !(2..=60).contains(&self.lease_s) {
            return Err(format!(
                "cluster.lease_s: {} is not between 2 and 60",
                self.lease_s
            ));
        }
        if !self.is_on() {
            return Ok(());
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.node.is_empty() || self.node.len() > 63 || !self.node.chars().all(is_name) {
            return Err(format!(
                "cluster.node: {:?} is not a node name: 1 to 63 letters, digits, dots, hyphens and underscores",
                self.node
            ));
        }
        let is_address = self
            .address
            .strip_prefix("http://")
            .is_some_and(|rest| !rest.is_empty());
        if !is_address {
            return Err(format!(
                "cluster.address: {:?} is not an address such as \"http://bank1.example.org:7113\"",
                self.address
            ));
        }
        Ok(())
    }
}
