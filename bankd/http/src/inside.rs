//! Requests from inside the process, through the same routes and frame as all others: for the web pages, for
//! commands with a separate bank (`bankd replay`), and for tests.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request};
use bankd_services::Services;
use tower::ServiceExt as _;

use super::auth::{Peer, SignedIn};
use super::router::router;

/// Asks as somebody.
#[derive(Clone)]
pub struct Inside {
    router: Router,
    who: Who,
}

/// Whose requests they are.
#[derive(Clone)]
enum Who {
    /// A user of the socket.
    Uid(u32),
    /// A person with a session on the web pages.
    Web(SignedIn),
}

impl Inside {
    /// As this user of the socket.
    pub fn new(services: &Arc<Services>, uid: u32) -> Self {
        Self {
            router: router(Arc::clone(services)),
            who: Who::Uid(uid),
        }
    }

    /// The same for a person on the web pages.
    #[must_use]
    pub fn of_person(&self, person: SignedIn) -> Self {
        Self {
            router: self.router.clone(),
            who: Who::Web(person),
        }
    }

    /// Reads: status and body.
    ///
    /// # Errors
    /// If the target is none.
    pub async fn get(&self, target: &str) -> anyhow::Result<(u16, Bytes)> {
        self.ask(Request::get(target).body(Body::empty())?).await
    }

    /// Sends a document with these header fields: status and body.
    ///
    /// # Errors
    /// If target or fields are none.
    pub async fn post(
        &self,
        target: &str,
        fields: &[(&str, &str)],
        body: Vec<u8>,
    ) -> anyhow::Result<(u16, Bytes)> {
        self.send("POST", target, fields, body).await
    }

    /// Sends a request of any method: status and body.
    ///
    /// # Errors
    /// If method, target or fields are none.
    pub async fn send(
        &self,
        method: &str,
        target: &str,
        fields: &[(&str, &str)],
        body: Vec<u8>,
    ) -> anyhow::Result<(u16, Bytes)> {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        self.ask(request.body(Body::from(body))?).await
    }

    async fn ask(&self, mut request: Request) -> anyhow::Result<(u16, Bytes)> {
        let extensions = request.extensions_mut();
        let peer = match &self.who {
            Who::Uid(uid) => Peer::Unix(*uid),
            Who::Web(person) => {
                extensions.insert(person.clone());
                Peer::Web
            }
        };
        extensions.insert(ConnectInfo(peer));
        let response = self.router.clone().oneshot(request).await?;
        let status = response.status().as_u16();
        Ok((status, to_bytes(response.into_body(), usize::MAX).await?))
    }
}
