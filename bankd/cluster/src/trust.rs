//! TLS to other servers (those of the log, receivers of notices, partners): the CAs of a file.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// The largest file of CAs, in bytes.
const CA_MAX: u64 = 16 << 20;

/// Reads the certificates of a PEM file. The certificate of the server must be from one of these CAs, and for
/// the host of the connection.
///
/// # Errors
/// The file and the error.
pub fn client(ca: &Path) -> Result<ClientConfig, String> {
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
        .map_err(|e| e.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
