//! The two listeners: TCP without delay for small answers, and the Unix socket whose peers the
//! kernel names.

use std::sync::Arc;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;

use super::auth::Peer;
use super::router;
use crate::app::{App, Listeners};

/// Serves until the sender of `stopped` is gone and every open request is answered.
pub async fn serve(
    app: &Arc<App>,
    listeners: Listeners,
    stopped: watch::Receiver<()>,
) -> anyhow::Result<()> {
    let router = router::router(Arc::clone(app));
    let service = router.into_make_service_with_connect_info::<Peer>();
    let ended = |mut stopped: watch::Receiver<()>| async move {
        // An error tells that the sender is gone, which is the signal.
        while stopped.changed().await.is_ok() {}
    };
    let tcp = async {
        match listeners.tcp {
            Some(listener) => {
                axum::serve(Tcp(listener), service.clone())
                    .with_graceful_shutdown(ended(stopped.clone()))
                    .await
            }
            None => Ok(()),
        }
    };
    let unix = async {
        match listeners.unix {
            Some(listener) => {
                axum::serve(Unix(listener), service.clone())
                    .with_graceful_shutdown(ended(stopped.clone()))
                    .await
            }
            None => Ok(()),
        }
    };
    tokio::try_join!(tcp, unix)?;
    Ok(())
}

/// A TCP listener whose streams send at once.
struct Tcp(TcpListener);

impl Listener for Tcp {
    type Io = TcpStream;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (TcpStream, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        if let Err(e) = stream.set_nodelay(true) {
            tracing::debug!("no TCP_NODELAY: {e}");
        }
        (stream, address)
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

/// The Unix listener, as a type of our own so that its peers can be asked for.
struct Unix(UnixListener);

impl Listener for Unix {
    type Io = UnixStream;
    type Addr = tokio::net::unix::SocketAddr;

    async fn accept(&mut self) -> (UnixStream, Self::Addr) {
        Listener::accept(&mut self.0).await
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, Tcp>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Tcp>) -> Self {
        Peer::Tcp(*stream.remote_addr())
    }
}

impl Connected<IncomingStream<'_, Unix>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Unix>) -> Self {
        match stream.io().peer_cred() {
            Ok(credentials) => Peer::Unix(credentials.uid()),
            Err(_) => Peer::Nobody,
        }
    }
}
