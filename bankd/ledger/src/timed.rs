//! A connection to another server where each wait ends with the time limit of the whole exchange. A server
//! cannot extend it by sending single bytes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use crate::clock::Stopwatch;

/// The connection.
pub struct Timed {
    stream: TcpStream,
    since: Stopwatch,
    limit: Duration,
}

impl Timed {
    /// Connects to one of the addresses of a host.
    ///
    /// # Errors
    /// If no address answers in time.
    pub fn connect(host: &str, port: u16, limit: Duration) -> io::Result<Timed> {
        let since = Stopwatch::start();
        let mut last = io::Error::new(ErrorKind::NotFound, "no address of that name");
        for found in (host, port).to_socket_addrs()? {
            let Some(left) = limit.checked_sub(since.elapsed()).filter(|d| !d.is_zero()) else {
                break;
            };
            match TcpStream::connect_timeout(&found, left) {
                Ok(stream) => {
                    return Ok(Timed {
                        stream,
                        since,
                        limit,
                    });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.limit.checked_sub(self.since.elapsed());
        left.filter(|d| !d.is_zero())
            .ok_or_else(|| io::Error::new(ErrorKind::TimedOut, "it took too long"))
    }
}

/// Error of a wait that timed out.
fn timed(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            io::Error::new(ErrorKind::TimedOut, "it took too long")
        }
        _ => error,
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer).map_err(timed)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes).map_err(timed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
