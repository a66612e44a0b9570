//! The two listeners: TCP without delay for small answers, and the Unix socket whose peers the
//! kernel names. Each has a bounded number of connections, and none may dawdle over a head or stay
//! idle for ever (`docs/decisions/0017`).

use std::convert::Infallible;
use std::future::Future;
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
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower::Service as _;

use super::auth::Peer;
use super::router;
use crate::app::{App, Listeners};

/// How long the head of a request may take, the wait for it on an idle connection included.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// How long to wait after the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until the sender of `stopped` is gone and every open request is answered.
pub async fn serve(
    app: &Arc<App>,
    listeners: Listeners,
    stopped: watch::Receiver<()>,
) -> anyhow::Result<()> {
    let doorman = Doorman {
        router: router::router(Arc::clone(app)),
        most: app.config.http.max_connections,
        stopped,
    };
    let tcp = async {
        if let Some(listener) = &listeners.tcp {
            doorman.admit(|| tcp_peer(listener)).await;
        }
    };
    let unix = async {
        if let Some(listener) = &listeners.unix {
            doorman.admit(|| unix_peer(listener)).await;
        }
    };
    tokio::join!(tcp, unix);
    Ok(())
}

/// Lets connections in, and waits for them at the end.
struct Doorman {
    router: Router,
    /// Connections of one listener at once.
    most: usize,
    stopped: watch::Receiver<()>,
}

impl Doorman {
    /// Accepts until the daemon stops; then every connection ends after its request. Where there is
    /// no room, connections wait in the system's queue.
    async fn admit<S, A, F>(&self, accept: A)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        A: Fn() -> F,
        F: Future<Output = io::Result<(S, Peer)>>,
    {
        let room = Arc::new(Semaphore::new(self.most));
        let mut stopped = self.stopped.clone();
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
                Some((permit, Ok((stream, peer)))) => self.attend(stream, peer, permit),
                Some((_, Err(error))) => refused(&error, &mut stopped).await,
                None => break,
            }
        }
        let all = u32::try_from(self.most).unwrap_or(u32::MAX);
        let _ = room.acquire_many(all).await;
    }

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

/// Is done when the sender is gone, which is the signal to stop.
async fn gone(stopped: &mut watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

/// A peer that has gone again says nothing; a system without room is given time.
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
    // Nobody tells when there is room again; the stop ends the wait.
    let _ = tokio::time::timeout(BREATH, gone(stopped)).await;
}

async fn tcp_peer(listener: &TcpListener) -> io::Result<(TcpStream, Peer)> {
    let (stream, address) = listener.accept().await?;
    if let Err(e) = stream.set_nodelay(true) {
        tracing::debug!("no TCP_NODELAY: {e}");
    }
    Ok((stream, Peer::Tcp(address)))
}

async fn unix_peer(listener: &UnixListener) -> io::Result<(UnixStream, Peer)> {
    let (stream, _) = listener.accept().await?;
    let peer = match stream.peer_cred() {
        Ok(credentials) => Peer::Unix(credentials.uid()),
        Err(_) => Peer::Nobody,
    };
    Ok((stream, peer))
}
