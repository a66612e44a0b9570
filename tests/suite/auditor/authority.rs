//! A certificate authority of one test, made with `openssl`: nothing of it is kept, and no key stands
//! in the sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;

use crate::harness::{Ran, skip};

/// A CA with its folder of certificates and keys.
pub(crate) struct Authority {
    folder: TempDir,
}

impl Authority {
    /// A new one with the certificate `server` for this machine; none, and a line that says so, where
    /// `openssl` is absent.
    pub(crate) fn new() -> Option<Self> {
        let version = Command::new("openssl").arg("version").output();
        if !version.is_ok_and(|ran| ran.status.success()) {
            skip("openssl", "no openssl");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("ca-").tempdir().unwrap();
        let own = Self { folder };
        own.openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key \
             -out ca.pem -days 30 -subj /CN=CA",
        );
        own.issue("server", "/CN=localhost");
        Some(own)
    }

    /// A certificate and its key in `NAME.pem` and `NAME.key`, for a subject as `/O=a/CN=b`.
    pub(super) fn issue(&self, name: &str, subject: &str) {
        self.issue_for(name, subject, 30);
    }

    /// The same for so many days from now; below zero, one that is over.
    pub(crate) fn issue_for(&self, name: &str, subject: &str, days: i32) {
        self.issue_at(name, subject, days, "DNS:localhost,IP:127.0.0.1");
    }

    /// The same for hosts, as in `DNS:other.example`.
    pub(crate) fn issue_at(&self, name: &str, subject: &str, days: i32, hosts: &str) {
        let extensions =
            format!("subjectAltName={hosts}\nextendedKeyUsage=serverAuth,clientAuth\n");
        fs::write(self.path("extensions"), extensions).unwrap();
        self.openssl(&format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -utf8 -keyout {name}.key \
             -out {name}.csr -subj {subject}"
        ));
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days {days} \
             -extfile extensions -out {name}.pem"
        ));
    }

    /// Runs `openssl` in the folder; it must succeed.
    pub(super) fn openssl(&self, arguments: &str) {
        let mut command = Command::new("openssl");
        command
            .args(arguments.split_whitespace())
            .current_dir(self.folder.path());
        let ran = Ran::of(&mut command, b"");
        assert_eq!(ran.exit, 0, "openssl {arguments}: {}", ran.stderr);
    }

    /// A file of the folder.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// How the holder of a certificate, or nobody, connects to `server`.
    pub(super) fn caller(&self, name: Option<&str>) -> ClientConfig {
        self.caller_by(name, rustls::ALL_VERSIONS)
    }

    /// The same, in these versions of TLS only.
    pub(super) fn caller_by(
        &self,
        name: Option<&str>,
        versions: &[&'static rustls::SupportedProtocolVersion],
    ) -> ClientConfig {
        let mut roots = rustls::RootCertStore::empty();
        for der in CertificateDer::pem_file_iter(self.path("ca.pem")).unwrap() {
            roots.add(der.unwrap()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots);
        let Some(name) = name else {
            return config.with_no_client_auth();
        };
        let chain = CertificateDer::pem_file_iter(self.path(&format!("{name}.pem"))).unwrap();
        let chain = chain.map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(self.path(&format!("{name}.key"))).unwrap();
        config.with_client_auth_cert(chain, key).unwrap()
    }
}

/// Puts what is in files of one folder into another, under these names; who may use a file that is
/// there already stays as it is.
pub(super) fn put(from: &Authority, files: &[(&str, &str)], to: &Path) {
    for (file, name) in files {
        fs::write(to.join(name), fs::read(from.path(file)).unwrap()).unwrap();
    }
}
