//! The two listeners: TCP without delay for small answers, and the Unix socket whose peers the
//! kernel names. Each has a bounded number of connections, and none may dawdle over a head or stay
//! idle for ever (`docs/decisions/0017`).

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tower::Service as _;

use super::auth::Peer;
use super::router;
use crate::app::{App, Listeners};
use crate::listen::{self, gone};

/// How long the head of a request may take, the wait for it on an idle connection included.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Serves until the sender of `stopped` is gone and every open request is answered.
pub async fn serve(app: &Arc<App>, listeners: &Listeners, stopped: watch::Receiver<()>) {
    let doorman = Doorman {
        router: router::router(Arc::clone(app)),
        stopped: stopped.clone(),
    };
    let most = app.config.http.max_connections;
    let tcp = async {
        if let Some(listener) = &listeners.tcp {
            let accept = async || {
                let (stream, address) = listen::tcp(listener).await?;
                Ok((stream, Peer::Tcp(address)))
            };
            let attend = |(stream, peer), permit| doorman.attend(stream, peer, permit);
            listen::admit(most, stopped.clone(), accept, attend).await;
        }
    };
    let unix = async {
        if let Some(listener) = &listeners.unix {
            let attend = |(stream, peer), permit| doorman.attend(stream, peer, permit);
            listen::admit(most, stopped.clone(), || unix_peer(listener), attend).await;
        }
    };
    tokio::join!(tcp, unix);
}

/// Attends to connections: each ends after its request when the daemon stops.
struct Doorman {
    router: Router,
    stopped: watch::Receiver<()>,
}

impl Doorman {
    /// Serves one connection in a task of its own.
    fn attend<S>(&self, stream: S, peer: Peer, permit: OwnedSemaphorePermit)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (router, mut stopped) = (self.router.clone(), self.stopped.clone());
        tokio::spawn(async move {
            let answer = service_fn(move |request| answer(router.clone(), request, peer));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .serve_connection(TokioIo::new(stream), answer);
            tokio::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = gone(&mut stopped) => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection broke off");
            }
            drop(permit);
        });
    }
}

/// One request of a connection.
async fn answer(
    mut router: Router,
    mut request: axum::http::Request<Incoming>,
    peer: Peer,
) -> Result<Response, Infallible> {
    request.extensions_mut().insert(ConnectInfo(peer));
    let request: Request = request.map(axum::body::Body::new);
    router.call(request).await
}

async fn unix_peer(listener: &UnixListener) -> io::Result<(UnixStream, Peer)> {
    let (stream, _) = listener.accept().await?;
    let peer = match stream.peer_cred() {
        Ok(credentials) => Peer::Unix(credentials.uid()),
        Err(_) => Peer::Nobody,
    };
    Ok((stream, peer))
}
