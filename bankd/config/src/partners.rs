//! `[partners]`: connections to partner banks.

use serde::{Deserialize, Serialize};

/// `[partners]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PartnerLinks {
    /// The CAs that may have signed the certificates of partners with an address `https://`, PEM.
    pub ca: String,
}

impl Default for PartnerLinks {
    fn default() -> Self {
        Self {
            ca: "/etc/ssl/certs/ca-certificates.crt".to_owned(),
        }
    }
}

impl PartnerLinks {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.ca.is_empty() {
            return Err("partners.ca: empty; a path of a PEM file".to_owned());
        }
        Ok(())
    }
}
