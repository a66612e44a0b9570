//! A link between two banks: a small TCP proxy with an address of its own, which a test cuts.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// The state of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Connections end at once.
    Cut,
    /// Requests go to this address, and answers come back.
    Open(String),
    /// Requests go to this address, and answers are lost.
    Mute(String),
    /// Connections stay open without any answer.
    Silent,
}

/// The link.
#[derive(Debug)]
pub(super) struct Link {
    address: String,
    state: Arc<Mutex<State>>,
}

impl Link {
    pub(super) fn new() -> Link {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(Mutex::new(State::Cut));
        let own = Arc::clone(&state);
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                let now = own.lock().unwrap_or_else(PoisonError::into_inner).clone();
                match now {
                    State::Cut => drop(stream),
                    State::Silent => kept.push(stream),
                    State::Open(to) => {
                        std::thread::spawn(move || carry(stream, &to, true));
                    }
                    State::Mute(to) => {
                        std::thread::spawn(move || carry(stream, &to, false));
                    }
                }
            }
        });
        Link { address, state }
    }

    /// Host and port.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// Carries one request, and its answer unless that is lost.
fn carry(mut from: TcpStream, to: &str, answers: bool) {
    let Ok(mut there) = TcpStream::connect(to) else {
        return;
    };
    let (Ok(mut back), Ok(mut answer)) = (from.try_clone(), there.try_clone()) else {
        return;
    };
    let returning = std::thread::spawn(move || {
        let mut whole = Vec::new();
        let _ = answer.read_to_end(&mut whole);
        if answers {
            let _ = back.write_all(&whole);
        }
        let _ = back.shutdown(Shutdown::Both);
    });
    let mut buffer = [0; 4096];
    while let Ok(read) = from.read(&mut buffer) {
        if read == 0 || there.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = returning.join();
}
