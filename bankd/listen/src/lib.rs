//! Accepts connections for every listener, with any protocol: a bounded number of them, and of one peer no
//! more than its share. When the daemon stops, it accepts no more and waits for the open ones (decision 0017,
//! decision 0077).

mod crowd;
mod framing;
mod wire;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crowd::Crowd;
pub use crowd::{Arrival, Seat, Who};
pub use framing::Fault;
pub use wire::Wire;

/// Wait after the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// Connections of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Seats {
    /// Those that are served at once.
    pub most: usize,
    /// Of these, connections of one peer.
    pub of_one: usize,
}

/// Accepts until the daemon stops, then waits until every connection is gone. As many as are served
/// may wait for a seat, more wait in the system's queue. `attend` must not wait: it hands the
/// connection to a task, which waits for the seat and keeps it for as long as the connection lasts.
pub async fn admit<C, A, F>(
    seats: Seats,
    mut stopped: watch::Receiver<()>,
    accept: A,
    who: impl Fn(&C) -> Who,
    attend: impl Fn(C, Arrival),
) where
    A: Fn() -> F,
    F: Future<Output = io::Result<C>>,
{
    let most = seats.most.saturating_mul(2);
    let room = Arc::new(Semaphore::new(most));
    let crowd = Crowd::new(seats.most, seats.of_one);
    loop {
        let next = async {
            // The semaphore is never closed.
            let permit = Arc::clone(&room).acquire_owned().await.ok()?;
            Some((permit, accept().await))
        };
        let next = tokio::select! {
            next = next => next,
            () = gone(&mut stopped) => None,
        };
        match next {
            Some((permit, Ok(connection))) => {
                let arrival = crowd.arrive(who(&connection), permit);
                attend(connection, arrival);
            }
            Some((_, Err(error))) => refused(&error, &mut stopped).await,
            None => break,
        }
    }
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    let _ = room.acquire_many(all).await;
}

/// Is done when the sender is gone, which is the signal to stop.
pub async fn gone(stopped: &mut watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

/// Accepts a connection that sends small answers at once.
pub async fn tcp(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, address) = listener.accept().await?;
    if let Err(e) = stream.set_nodelay(true) {
        tracing::debug!("no TCP_NODELAY: {e}");
    }
    Ok((stream, address))
}

/// A vanished peer is not logged; a system without room is given time.
async fn refused(error: &io::Error, stopped: &mut watch::Receiver<()>) {
    use io::ErrorKind as E;
    let kind = error.kind();
    if matches!(
        kind,
        E::ConnectionRefused | E::ConnectionAborted | E::ConnectionReset
    ) {
        return;
    }
    tracing::error!(%error, "a connection could not be accepted");
    // No event reports free room; the stop ends the wait.
    let _ = tokio::time::timeout(BREATH, gone(stopped)).await;
}
