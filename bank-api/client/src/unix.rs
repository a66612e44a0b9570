//! HTTP over the daemon's Unix socket, as a connector of the HTTP library.
//!
//! One connection per request: a local connect costs less than finding out whether an old one
//! still lives.

use std::{
    fmt,
    io::{ErrorKind, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::PathBuf,
};

use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

/// Connects to one socket, whatever host the address names.
#[derive(Debug)]
pub(crate) struct UnixConnector(pub(super) PathBuf);

/// An open connection.
pub(crate) struct UnixTransport {
    stream: UnixStream,
    buffers: LazyBuffers,
}

impl Connector<()> for UnixConnector {
    type Out = UnixTransport;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _chained: Option<()>,
    ) -> Result<Option<UnixTransport>, ureq::Error> {
        let stream = UnixStream::connect(&self.0)?;
        let buffers = LazyBuffers::new(
            details.config.input_buffer_size(),
            details.config.output_buffer_size(),
        );
        Ok(Some(UnixTransport { stream, buffers }))
    }
}

impl Transport for UnixTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream
            .set_write_timeout(timeout.not_zero().map(|left| *left))?;
        let output = self.buffers.output().get(..amount).unwrap_or_default();
        self.stream
            .write_all(output)
            .map_err(|error| timed(error, timeout))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream
            .set_read_timeout(timeout.not_zero().map(|left| *left))?;
        let room = self.buffers.input_append_buf();
        let got = self
            .stream
            .read(room)
            .map_err(|error| timed(error, timeout))?;
        self.buffers.input_appended(got);
        Ok(got > 0)
    }

    fn is_open(&mut self) -> bool {
        false
    }
}

/// A socket reports a deadline that passed as "would block".
fn timed(error: std::io::Error, timeout: NextTimeout) -> ureq::Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => ureq::Error::Timeout(timeout.reason),
        _ => ureq::Error::Io(error),
    }
}

impl fmt::Debug for UnixTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnixTransport")
    }
}
