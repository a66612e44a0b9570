//! TLS to other servers: the CAs of a file, and the name that the certificate of the server must have.
//!
//! The connection below it is a [`Timed`] one, so that the handshake counts against the time limit too.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::timed::Timed;

/// The largest file of CAs, in bytes.
const CA_MAX: u64 = 16 << 20;

/// The CAs of a file. A handle.
#[derive(Clone, Debug)]
pub struct Trust(Arc<ClientConfig>);

impl Trust {
    /// Reads the certificates of a PEM file.
    ///
    /// # Errors
    /// The file and the error.
    pub fn read(ca: &Path) -> Result<Trust, String> {
        let fault = |why: &dyn std::fmt::Display| format!("{}: {why}", ca.display());
        let size = std::fs::metadata(ca).map_err(|e| fault(&e))?.len();
        if size > CA_MAX {
            return Err(fault(&"too large"));
        }
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(ca).map_err(|e| fault(&e))? {
            // A certificate that this library cannot use is not trusted.
            let _ = roots.add(certificate.map_err(|e| fault(&e))?);
        }
        if roots.is_empty() {
            return Err(fault(&"no certificate in it"));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Trust(Arc::new(config)))
    }

    /// TLS over a connection to a host; the handshake is part of the first write.
    ///
    /// # Errors
    /// If the host is no name and no address.
    pub fn over(
        &self,
        stream: Timed,
        host: &str,
    ) -> io::Result<StreamOwned<ClientConnection, Timed>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let session = ClientConnection::new(Arc::clone(&self.0), name);
        Ok(StreamOwned::new(session.map_err(io::Error::other)?, stream))
    }
}
