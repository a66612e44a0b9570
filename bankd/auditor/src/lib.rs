//! AUDITOR's REST API, so that its collectors and plugins work unchanged (`auditor-api.md`).
//!
//! Start at `routes`. `write` accepts records and `read` returns them. `record`, `query` and `time` parse
//! text, independent of the daemon. `money` converts a record to commands of the ledger. A record is stored
//! and charged in one database transaction. If that fails, the connection ends without an answer, because
//! these clients treat any answer as success.
//!
//! This crate makes no decision about funds, and a header never identifies a caller.

pub mod access;
mod answer;
mod body;
pub mod certificate;
mod escape;
mod house;
pub mod metrics;
mod open;
mod passed;
mod query;
mod read;
mod routes;
mod taken;
mod tally;
pub mod tls;
mod write;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bankd_config as config;
use bankd_ledger::clock;
use bankd_listen::{self as listen, Arrival, Seat, Seats, Who, Wire, gone};
use bankd_services::Services;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use access::{Access, Identity, Lists};
use house::{House, Visitor};
use tls::Tls;

/// Maximum time for the head of a request, including the wait on an idle connection.
const HEAD_TIME: Duration = Duration::from_secs(90);

/// Rights by the settings and the certificates. Both can be reloaded.
pub struct Gate {
    /// Rights of the callers.
    pub access: Lists,
    /// The certificates of the listener with TLS.
    pub tls: Option<Tls>,
}

impl Gate {
    /// Reads the certificates if there is a listener with TLS.
    ///
    /// # Errors
    /// If they cannot be used.
    pub fn open(settings: &config::Auditor, data: &Path) -> anyhow::Result<Self> {
        let load = || Tls::load(&settings.tls, data, clock::auth_now_s());
        let is_enabled = !settings.tls.listen.is_empty();
        let tls = is_enabled
            .then(load)
            .transpose()
            .map_err(anyhow::Error::msg)?;
        let access = Lists::new(Access::from(&settings.access));
        Ok(Self { access, tls })
    }
}

/// The listeners.
#[derive(Clone, Copy, Debug)]
pub struct Doors<'a> {
    /// Without TLS.
    pub plain: Option<&'a TcpListener>,
    /// For callers with a certificate.
    pub secure: Option<&'a TcpListener>,
}

/// Serves until the sender of `stopped` is gone and every open request is answered.
pub async fn serve(
    services: &Arc<Services>,
    gate: &Arc<Gate>,
    database: &Path,
    doors: Doors<'_>,
    stopped: watch::Receiver<()>,
) {
    let Doors { plain, secure } = doors;
    let is_served = plain.is_some() || secure.is_some();
    // Another node of a cluster may serve it.
    if !is_served && services.writer.cluster().is_none() {
        return;
    }
    let house = match House::new(Arc::clone(services), Arc::clone(gate), database) {
        Ok(house) => Arc::new(house),
        Err(error) => {
            tracing::error!(%error, "AUDITOR's API is not served");
            return;
        }
    };
    services.collectors.open(taken::door(&house));
    let renewals = tokio::spawn(open::renew(Arc::clone(&house), stopped.clone()));
    let counting = tokio::spawn(count(Arc::clone(&house), stopped.clone()));
    let plain = async {
        if let Some(listener) = plain {
            open_door(&house, listener, stopped.clone()).await;
        }
    };
    let secure = async {
        if let Some(listener) = secure {
            guarded_door(&house, listener, stopped.clone()).await;
        }
    };
    tokio::join!(plain, secure);
    let _ = renewals.await;
    let _ = counting.await;
}

/// Counts the stored records, so that the first request for metrics is fast.
async fn count(house: Arc<House>, mut stopped: watch::Receiver<()>) {
    let access = house.access();
    tokio::select! {
        _ = house.tally.catch_up(&access, &house.readers) => {}
        () = gone(&mut stopped) => {}
    }
}

/// The listener without TLS: its callers have no identity.
async fn open_door(house: &Arc<House>, listener: &TcpListener, stopped: watch::Receiver<()>) {
    let address = listener.local_addr();
    let track = !address
        .as_ref()
        .is_ok_and(|address| address.ip().is_loopback());
    if track {
        tracing::warn!(
            listen = house.settings().listen,
            "auditor.listen is off loopback and without TLS: its records are priced, and no money \
             moves for them"
        );
    }
    serve_house(house, listener, track, stopped).await;
}

/// Serves a listener without identities; `track`: no funds move.
async fn serve_house(
    house: &Arc<House>,
    listener: &TcpListener,
    track: bool,
    stopped: watch::Receiver<()>,
) {
    let attend = |(stream, peer): (_, SocketAddr), arrival: Arrival| {
        let visitor = Visitor {
            identity: Identity::Anyone,
            peer,
            track,
        };
        let (house, stopped) = (Arc::clone(house), stopped.clone());
        tokio::spawn(async move {
            if let Some(seat) = arrival.seated().await {
                attend(house, stream, visitor, seat, stopped).await;
            }
        });
    };
    open(house, listener, stopped.clone(), attend).await;
}

/// The listener with TLS. Each caller shows a certificate, in the task of its connection.
async fn guarded_door(house: &Arc<House>, listener: &TcpListener, stopped: watch::Receiver<()>) {
    let attend = |(stream, peer): (TcpStream, SocketAddr), arrival| {
        tokio::spawn(admit(
            Arc::clone(house),
            stream,
            peer,
            arrival,
            stopped.clone(),
        ));
    };
    open(house, listener, stopped.clone(), attend).await;
}

/// Lets connections in.
async fn open(
    house: &House,
    listener: &TcpListener,
    stopped: watch::Receiver<()>,
    attend: impl Fn((TcpStream, SocketAddr), Arrival),
) {
    let settings = &house.services.http;
    let seats = Seats {
        most: settings.max_connections,
        of_one: settings.max_connections_each,
    };
    let who = |(_, from): &(TcpStream, SocketAddr)| Who::host(from.ip());
    listen::admit(seats, stopped, || listen::tcp(listener), who, attend).await;
}

/// The handshake of one connection, then its requests. It ends with the daemon, and after a reload of the
/// certificates.
async fn admit(
    house: Arc<House>,
    stream: TcpStream,
    peer: SocketAddr,
    arrival: Arrival,
    stopped: watch::Receiver<()>,
) {
    let (Some(tls), Some(seat)) = (&house.gate.tls, arrival.seated().await) else {
        return;
    };
    let mut reloads = tls.reloads();
    let mut ended = stopped.clone();
    let shaken = tokio::select! {
        shaken = tls.handshake(stream) => shaken,
        () = gone(&mut ended) => return,
    };
    let (stream, identity) = match shaken {
        Ok(shaken) => shaken,
        Err(error) => {
            house.tally.meter.handshake_failed();
            tracing::info!(remote = %peer, %error, "a handshake failed");
            return;
        }
    };
    let visitor = Visitor {
        identity,
        peer,
        track: false,
    };
    // The first of the two events.
    let (stop, either) = watch::channel(());
    let guard = tokio::spawn(async move {
        tokio::select! {
            _ = reloads.changed() => {}
            () = gone(&mut ended) => {}
        }
        drop(stop);
    });
    attend(Arc::clone(&house), stream, visitor, seat, either).await;
    guard.abort();
}

/// Serves one connection; it ends after its request when the daemon stops.
async fn attend<S>(
    house: Arc<House>,
    stream: S,
    visitor: Visitor,
    mut seat: Seat,
    mut stopped: watch::Receiver<()>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let visitor = Arc::new(visitor);
    let clerk = seat.clerk();
    let answer = service_fn(|request| {
        let (house, visitor) = (Arc::clone(&house), Arc::clone(&visitor));
        let busy = clerk.busy();
        async move {
            let answer = routes::answer(&house, &visitor, request).await;
            drop(busy);
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(Wire::new(stream)), answer);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        is_busy = seat.must_leave() => if is_busy {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        } else {
            Ok(())
        },
        () = gone(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

#[cfg(test)]
mod tests;
