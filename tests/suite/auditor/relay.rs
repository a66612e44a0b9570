//! A place that stays where it is while the daemon behind it comes and goes with new ports.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Passes connections on to a daemon; closes them where there is none.
pub(super) struct Relay {
    port: u16,
    to: Arc<Mutex<Option<String>>>,
}

impl Relay {
    /// One without a daemon.
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let to = Arc::new(Mutex::new(None));
        let own = Self {
            port,
            to: Arc::clone(&to),
        };
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let address: Option<String> = to.lock().unwrap().clone();
                let far = address.and_then(|address| TcpStream::connect(address).ok());
                if let Some(far) = far {
                    let back = (far.try_clone().unwrap(), near.try_clone().unwrap());
                    thread::spawn(move || pass(near, far));
                    thread::spawn(move || pass(back.0, back.1));
                }
            }
        });
        own
    }

    /// Where it is, on 127.0.0.1.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Whom it passes new connections on to.
    pub(super) fn lead_to(&self, address: Option<String>) {
        *self.to.lock().unwrap() = address;
    }
}

/// Bytes from one to the other, until one of them is gone.
fn pass(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(got @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..got]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
