//! The two listeners: TCP without delay for small answers, and the Unix socket with peers identified by the
//! kernel. Each has a bounded number of connections, a time limit for heads, and an idle limit (decision
//! 0017).

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use bankd_listen::{self as listen, Arrival, Seats, Who, gone};
use bankd_services::Services;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tower::Service as _;

use super::auth::Peer;
use super::bare::{Pending, Telling};
use super::router;

/// Maximum time for the head of a request, including the wait on an idle connection.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Serves until the sender of `stopped` is gone and every open request is answered.
pub async fn serve(
    services: &Arc<Services>,
    tcp: Option<&TcpListener>,
    unix: Option<&UnixListener>,
    stopped: watch::Receiver<()>,
) {
    let router = router::router(Arc::clone(services));
    let doorman = Doorman {
        router: router.clone(),
        stopped: stopped.clone(),
    };
    let seats = seats(services);
    let tcp = serve_tcp(services, router, tcp, stopped.clone());
    let unix = async {
        if let Some(listener) = unix {
            let accept = || unix_peer(listener);
            let who = |(_, peer): &(UnixStream, Peer)| whose(*peer);
            let attend = |(stream, peer), arrival| doorman.attend(stream, peer, arrival);
            listen::admit(seats, stopped.clone(), accept, who, attend).await;
        }
    };
    tokio::join!(tcp, unix);
}

/// Serves a router on a TCP listener, if there is one, as [`serve`] does.
pub async fn serve_tcp(
    services: &Services,
    router: Router,
    listener: Option<&TcpListener>,
    stopped: watch::Receiver<()>,
) {
    let Some(listener) = listener else {
        return;
    };
    let doorman = Doorman {
        router,
        stopped: stopped.clone(),
    };
    let accept = async || {
        let (stream, address) = listen::tcp(listener).await?;
        Ok((stream, Peer::Tcp(address)))
    };
    let who = |(_, peer): &(TcpStream, Peer)| whose(*peer);
    let attend = |(stream, peer), arrival| doorman.attend(stream, peer, arrival);
    listen::admit(seats(services), stopped, accept, who, attend).await;
}

fn seats(services: &Services) -> Seats {
    Seats {
        most: services.http.max_connections,
        of_one: services.http.max_connections_each,
    }
}

/// Attends to connections: each ends after its request when the daemon stops.
struct Doorman {
    router: Router,
    stopped: watch::Receiver<()>,
}

impl Doorman {
    /// Serves one connection in a separate task.
    fn attend<S>(&self, stream: S, peer: Peer, arrival: Arrival)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (router, mut stopped) = (self.router.clone(), self.stopped.clone());
        tokio::spawn(async move {
            let Some(mut seat) = arrival.seated().await else {
                tracing::debug!(?peer, "too many connections of one peer");
                return;
            };
            let clerk = seat.clerk();
            let pending = Pending::default();
            let stream = Telling::new(stream, pending.clone());
            let answer = service_fn(move |request| {
                pending.begin();
                let busy = clerk.busy();
                let answer = answer(router.clone(), request, peer);
                async move {
                    let answer = answer.await;
                    drop(busy);
                    answer
                }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .serve_connection(TokioIo::new(stream), answer);
            tokio::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                is_busy = seat.must_leave() => if is_busy {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                } else {
                    Ok(())
                },
                () = gone(&mut stopped) => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection broke off");
            }
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

/// The owner of a connection for the limit per peer.
fn whose(peer: Peer) -> Who {
    match peer {
        Peer::Unix(uid) => Who::Uid(uid),
        Peer::Tcp(address) => Who::host(address.ip()),
        Peer::Nobody | Peer::Web | Peer::Node => Who::Nobody,
    }
}

async fn unix_peer(listener: &UnixListener) -> io::Result<(UnixStream, Peer)> {
    let (stream, _) = listener.accept().await?;
    let peer = match stream.peer_cred() {
        Ok(credentials) => Peer::Unix(credentials.uid()),
        Err(_) => Peer::Nobody,
    };
    Ok((stream, peer))
}
