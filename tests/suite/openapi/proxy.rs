//! A way from a TCP port to the daemon's Unix socket, where the kernel says who calls: for clients
//! that know no sockets and cannot sign.

use std::io::copy;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A listener on a port of its own; closed when dropped.
pub(super) struct Proxy {
    address: SocketAddr,
    closed: Arc<AtomicBool>,
    door: Option<JoinHandle<()>>,
}

impl Proxy {
    pub(super) fn start(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let closed = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&closed);
        let door = thread::spawn(move || {
            for caller in listener.incoming() {
                if seen.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(caller), socket) = (caller, socket.clone()) else {
                    continue;
                };
                thread::spawn(move || relay(&caller, &socket));
            }
        });
        Self {
            address,
            closed,
            door: Some(door),
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        // The door looks when somebody knocks.
        drop(TcpStream::connect(self.address));
        if let Some(door) = self.door.take() {
            door.join().unwrap();
        }
    }
}

/// Bytes both ways until both sides have ended. Whoever breaks off early is the client's business.
fn relay(caller: &TcpStream, socket: &Path) {
    let Ok(daemon) = UnixStream::connect(socket) else {
        return;
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = copy(&mut { caller }, &mut { &daemon });
            let _ = daemon.shutdown(Shutdown::Write);
        });
        let _ = copy(&mut { &daemon }, &mut { caller });
        let _ = caller.shutdown(Shutdown::Both);
    });
}
