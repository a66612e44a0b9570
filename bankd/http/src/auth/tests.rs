//! Callers on the socket, over the whole router.

use std::path::Path;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::Request;
use bank_core::amount::Precision;
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_safekeeping::init::{Choices, init};
use bankd_services::start;
use tower::ServiceExt;

use super::*;
use crate::router::router;

const CHARGE: &str = "<Job><ObjectID>Moab.1</ObjectID><Account>nosuch</Account>\
    <Processors>1</Processors><ChargeDuration>60</ChargeDuration></Job>";
const UNBILLED: &str = "warning unbilled: no project \"nosuch\": 60 credits kept in #unbilled\n";

/// A served bank without listeners.
struct Bank(Router);

impl Bank {
    fn new(folder: &Path) -> Self {
        let data = DataDir::new(&folder.join("bank"));
        let choices = Choices {
            precision: Precision::DEFAULT,
            unit: "credits".to_owned(),
            test: false,
        };
        // It starts a separate runtime.
        let made = data.clone();
        let making = std::thread::spawn(move || init(&made, &choices));
        making.join().unwrap().unwrap();
        let (services, _) = start::start(&data, &Config::default()).unwrap();
        Self(router(services))
    }

    async fn send(&self, mut request: Request<Body>, peer: Peer) -> Got {
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = self.0.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        Got {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }
}

struct Got {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl Got {
    fn is_refusal_of_a_stranger(&self) -> bool {
        self.status == 401
            && self.headers["www-authenticate"] == "Signature"
            && self.headers.contains_key("accept-signature")
            && !self.headers.contains_key("signature")
            && self.text.contains("\"code\":\"unauthorized\"")
            && !self.text.contains("replay")
    }
}

#[tokio::test]
async fn the_socket_identifies_its_callers() {
    let folder = tempfile::tempdir().unwrap();
    let bank = Bank::new(folder.path());
    let plain = |key: Option<&str>| {
        let request = Request::post("/nami/v1/charge");
        let request = match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        request.body(Body::from(CHARGE)).unwrap()
    };
    let got = bank.send(plain(Some("k-1")), Peer::Unix(0)).await;
    assert_eq!((got.status, got.text.as_str()), (200, UNBILLED));
    assert!(!got.headers.contains_key("signature"));
    assert!(got.headers.contains_key("x-request-id"));
    let got = bank.send(plain(Some("k-1")), Peer::Unix(0)).await;
    assert_eq!(got.headers["idempotent-replay"], "true");
    let got = bank.send(plain(None), Peer::Unix(0)).await;
    assert!(
        got.text.starts_with("error idempotency_key_required: "),
        "{}",
        got.text
    );
    // A path without a route requires no key.
    for (path, status) in [("/api/v1/checkpoint", 405), ("/api/v1/nonsense", 404)] {
        let request = Request::post(path).body(Body::empty()).unwrap();
        let got = bank.send(request, Peer::Unix(0)).await;
        assert_eq!(got.status, status, "{path}: {}", got.text);
    }
    let got = bank
        .send(plain(Some("k-2")), Peer::Unix(4_000_000_000))
        .await;
    assert_eq!(got.status, 403);
    assert!(
        got.text.starts_with("refused not_allowed: "),
        "{}",
        got.text
    );
    assert!(
        bank.send(plain(Some("k-3")), Peer::Nobody)
            .await
            .is_refusal_of_a_stranger()
    );

    for route in ["/healthz", "/readyz"] {
        let request = Request::get(route).body(Body::empty()).unwrap();
        let peer = Peer::Tcp("127.0.0.1:5000".parse().unwrap());
        assert_eq!(bank.send(request, peer).await.status, 200, "{route}");
    }
}
