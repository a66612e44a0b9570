//! TLS for AUDITOR's routes: the daemon's own certificate, and callers who must have one of the CA.
//!
//! The caller is the common name of the session's certificate, never a header. Sessions are not resumed, so
//! that every connection shows a valid certificate. The files are read at the start and on SIGHUP. An error
//! on SIGHUP changes nothing.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bank_api::text::format_rfc3339;
use bankd_config::{AuditorTls, path_in};
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::access::Identity;
use super::certificate::Certificate;

/// Largest file in bytes.
const FILE_MAX: u64 = 1 << 20;
/// Time before the end of the daemon's certificate when a warning is logged, in seconds: two weeks.
const SOON_S: i64 = 14 * 86_400;

/// State of a listener with TLS, shared by its connections.
#[derive(Debug)]
pub struct Tls {
    cert: PathBuf,
    key: PathBuf,
    ca: PathBuf,
    handshake: Duration,
    config: RwLock<Arc<ServerConfig>>,
    read: watch::Sender<u64>,
}

impl Tls {
    /// Reads the files of the settings. Relative paths are below the data directory. `now_s` is the real
    /// time in seconds since 1970.
    ///
    /// # Errors
    /// One line: setting, file, and error.
    pub fn load(settings: &AuditorTls, data: &Path, now_s: i64) -> Result<Self, String> {
        let path = |setting: &str| path_in(data, setting).unwrap_or_default();
        let (cert, key) = (path(&settings.cert), path(&settings.key));
        let ca = path(&settings.ca);
        let config = RwLock::new(Arc::new(read(&cert, &key, &ca, now_s)?));
        Ok(Self {
            cert,
            key,
            ca,
            handshake: Duration::from_secs(settings.handshake_s),
            config,
            read: watch::Sender::new(0),
        })
    }

    /// Reads the files again. Open connections end after their request, because the earlier files admitted
    /// them.
    ///
    /// # Errors
    /// As at the start. The present state is then unchanged.
    pub fn reload(&self, now_s: i64) -> Result<(), String> {
        let config = Arc::new(read(&self.cert, &self.key, &self.ca, now_s)?);
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        self.read.send_modify(|times| *times += 1);
        Ok(())
    }

    /// Changes when the files were read again.
    pub fn reloads(&self) -> watch::Receiver<u64> {
        self.read.subscribe()
    }

    /// The handshake of a connection, in the task of the connection, so that a slow one delays no other.
    ///
    /// # Errors
    /// If it fails, or takes too long.
    pub async fn handshake<S>(&self, stream: S) -> io::Result<(TlsStream<S>, Identity)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let config = Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner));
        let accept = TlsAcceptor::from(config).accept(stream);
        let stream = tokio::time::timeout(self.handshake, accept)
            .await
            .map_err(|_| {
                io::Error::new(io::ErrorKind::TimedOut, "the handshake took too long")
            })??;
        let shown = stream.get_ref().1.peer_certificates();
        let shown = shown.and_then(<[_]>::first);
        let name = shown.and_then(|der| Certificate::read(der)?.name);
        Ok((stream, name.map_or(Identity::Unnamed, Identity::Named)))
    }
}

/// Reads the files for the TLS library.
fn read(cert: &Path, key: &Path, ca: &Path, now_s: i64) -> Result<ServerConfig, String> {
    let chain = certificates("auditor.tls.cert", cert)?;
    for (_, certificate) in &chain {
        holds(certificate, now_s)
            .map_err(|why| format!("auditor.tls.cert: {}: {why}", cert.display()))?;
        if certificate.until_s.saturating_sub(SOON_S) < now_s {
            let (file, until) = (cert.display(), date(certificate.until_s));
            tracing::warn!("auditor.tls.cert: {file}: holds until {until} only");
        }
    }
    let chain = chain.into_iter().map(|(der, _)| der).collect();
    let key_der = private_key(key)?;
    let roots = Arc::new(authorities(ca, now_s)?);
    let provider = Arc::new(ring::default_provider());
    let fault = |setting: &str, file: &Path, error: &dyn std::fmt::Display| {
        format!("auditor.tls.{setting}: {}: {error}", file.display())
    };
    let callers = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider))
        .build()
        .map_err(|e| fault("ca", ca, &e))?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_client_cert_verifier(callers)
        .with_single_cert(chain, key_der)
        .map_err(|e| match e {
            rustls::Error::InconsistentKeys(_) => {
                let of = format!("is not the key of {}", cert.display());
                fault("key", key, &of)
            }
            e => fault("cert", cert, &e),
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// The certificates of a file, in order, with their content.
fn certificates(
    setting: &str,
    path: &Path,
) -> Result<Vec<(CertificateDer<'static>, Certificate)>, String> {
    let fault = |why: &str| format!("{setting}: {}: {why}", path.display());
    let text = file(path).map_err(|e| fault(&e.to_string()))?;
    let mut found = Vec::new();
    for der in CertificateDer::pem_slice_iter(&text) {
        let der = der.map_err(|e| fault(&format!("not in PEM: {e}")))?;
        let certificate = Certificate::read(&der)
            .ok_or_else(|| fault(&format!("certificate {} is none", found.len() + 1)))?;
        found.push((der, certificate));
    }
    if found.is_empty() {
        return Err(fault("no certificate in it (PEM, BEGIN CERTIFICATE)"));
    }
    Ok(found)
}

/// The CAs of a file, without those that hold no longer.
fn authorities(path: &Path, now_s: i64) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let mut passed = None;
    for (der, certificate) in certificates("auditor.tls.ca", path)? {
        match holds(&certificate, now_s) {
            Ok(()) => roots
                .add(der)
                .map_err(|e| format!("auditor.tls.ca: {}: {e}", path.display()))?,
            Err(why) => {
                tracing::warn!("auditor.tls.ca: {}: left out: {why}", path.display());
                passed = Some(why);
            }
        }
    }
    match passed.filter(|_| roots.is_empty()) {
        Some(why) => Err(format!("auditor.tls.ca: {}: {why}", path.display())),
        None => Ok(roots),
    }
}

/// Checks that a certificate is valid now.
fn holds(certificate: &Certificate, now_s: i64) -> Result<(), String> {
    if certificate.until_s < now_s {
        return Err(format!("expired at {}", date(certificate.until_s)));
    }
    if certificate.since_s > now_s {
        return Err(format!("holds from {} only", date(certificate.since_s)));
    }
    Ok(())
}

/// The first key of a file. Other users must not be able to read the file.
fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let fault = |why: &str| format!("auditor.tls.key: {}: {why}", path.display());
    let text = file(path).map_err(|e| fault(&e.to_string()))?;
    let mode = fs::metadata(path).map_or(0, |meta| meta.permissions().mode());
    if mode & 0o007 != 0 {
        return Err(fault("everybody may use it: chmod o= the file"));
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|e| match e {
        _ if text.windows(9).any(|word| word == b"ENCRYPTED") => {
            fault("encrypted: write it without a passphrase")
        }
        pem::Error::NoItemsFound => fault("no key in it (PEM: PKCS#8, PKCS#1 or SEC1)"),
        e => fault(&format!("not in PEM: {e}")),
    })
}

/// A time as people read it.
fn date(at_s: i64) -> String {
    format_rfc3339(at_s.saturating_mul(1_000_000))
}

fn file(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read as _;
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(FILE_MAX + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(io::Error::other(format!("larger than {FILE_MAX} bytes")));
    }
    Ok(bytes)
}
