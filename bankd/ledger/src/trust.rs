//! TLS to other servers: the CAs of a file, and the name that the certificate of the server must have.
//!
//! The connection below it is a [`Timed`] one, so that the handshake counts against the time limit too.

use std::io;
use std::path::Path;
use std::sync::Arc;

use bankd_cluster::trust;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::timed::Timed;

/// The CAs of a file. A handle.
#[derive(Clone, Debug)]
pub struct Trust(Arc<ClientConfig>);

impl Trust {
    /// Reads the certificates of a PEM file.
    ///
    /// # Errors
    /// The file and the error.
    pub fn read(ca: &Path) -> Result<Trust, String> {
        Ok(Trust(Arc::new(trust::client(ca)?)))
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
