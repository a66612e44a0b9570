//! Free ports that stay free: below those that the system gives to connections, so that neither a client nor a
//! connection to itself takes the port of a server that is down for a while.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;

/// How many ports were tried by this process.
static TRIED: AtomicU32 = AtomicU32::new(0);

/// Listens on a port of loopback that nobody uses. Processes begin at different ports.
pub(super) fn free_listener() -> TcpListener {
    for _ in 0..COUNT {
        let own = std::process::id().wrapping_mul(977) % COUNT;
        let next = (own + TRIED.fetch_add(1, Ordering::Relaxed)) % COUNT;
        if let Ok(listener) = TcpListener::bind(format!("127.0.0.1:{}", FIRST + next)) {
            return listener;
        }
    }
    panic!("no port of loopback is free");
}

/// A port for a server that binds it itself. Another program may take it first.
pub(crate) fn free_port() -> u16 {
    free_listener().local_addr().unwrap().port()
}
