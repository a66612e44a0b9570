//! AUDITOR's REST API, so that its collectors and plugins work unchanged (`auditor-api.md`).
//!
//! Start at [`routes`]; `write` takes records in and `read` gives them out, `record`, `query` and
//! `time` say what a text means and know nothing of the daemon, `money` makes of a record what the
//! ledger is asked. A record is stored and charged in one database transaction; where that fails,
//! the connection ends without an answer, for these clients take any answer for success.
//!
//! Nothing here decides about money, and nobody is who a header says.

pub mod access;
mod answer;
mod body;
mod escape;
mod house;
mod money;
mod open;
mod query;
mod read;
mod record;
mod routes;
mod time;
mod write;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::app::App;
use crate::listen::{self, gone};
use access::{Access, Identity};
use house::{House, Visitor};

/// How long the head of a request may take, the wait for it on an idle connection included.
const HEAD_TIME: Duration = Duration::from_secs(90);

/// Serves until the sender of `stopped` is gone and every open request is answered.
pub(crate) async fn serve(
    app: &Arc<App>,
    database: &Path,
    listener: Option<&TcpListener>,
    stopped: watch::Receiver<()>,
) {
    let Some(listener) = listener else { return };
    let house = match House::new(Arc::clone(app), database, Access::default()) {
        Ok(house) => Arc::new(house),
        Err(error) => {
            tracing::error!(%error, "AUDITOR's API is not served");
            return;
        }
    };
    let address = listener.local_addr();
    let track = !address
        .as_ref()
        .is_ok_and(|address| address.ip().is_loopback());
    if track {
        tracing::warn!(
            listen = app.config.auditor.listen,
            "auditor.listen is off loopback and without TLS: its records are priced, and no money \
             moves for them"
        );
    }
    serve_house(&house, listener, track, stopped).await;
}

/// Serves a house at one door; `track`: nobody is known there, and no money moves.
async fn serve_house(
    house: &Arc<House>,
    listener: &TcpListener,
    track: bool,
    stopped: watch::Receiver<()>,
) {
    let renewals = tokio::spawn(open::renew(Arc::clone(house), stopped.clone()));
    let attend = |(stream, peer): (_, SocketAddr), permit| {
        let visitor = Visitor {
            identity: Identity::Anyone,
            peer,
            track,
        };
        tokio::spawn(attend(
            Arc::clone(house),
            stream,
            visitor,
            permit,
            stopped.clone(),
        ));
    };
    let most = house.app.config.http.max_connections;
    listen::admit(most, stopped.clone(), || listen::tcp(listener), attend).await;
    let _ = renewals.await;
}

/// Serves one connection; it ends after its request when the daemon stops.
async fn attend<S>(
    house: Arc<House>,
    stream: S,
    visitor: Visitor,
    permit: OwnedSemaphorePermit,
    mut stopped: watch::Receiver<()>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let visitor = Arc::new(visitor);
    let answer = service_fn(|request| {
        let (house, visitor) = (Arc::clone(&house), Arc::clone(&visitor));
        async move { routes::answer(&house, &visitor, request).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = gone(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
    drop(permit);
}

#[cfg(test)]
mod tests;
