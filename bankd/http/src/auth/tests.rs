//! The part of `http-auth.md` 6.5 that needs a memory and a store, over the whole router.

use std::path::Path;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::Request;
use bank_api::sign::{
    LABEL, OutgoingRequest, ReceivedAnswer, SigningKey, sign_request, verify_answer,
};
use bank_core::amount::Precision;
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_ledger::keys::read_secret;
use bankd_safekeeping::init::{Choices, init};
use bankd_services::{Services, start};
use tower::ServiceExt;

use super::*;
use crate::router::router;

const CHARGE: &str = "<Job><ObjectID>Moab.1</ObjectID><Account>nosuch</Account>\
    <Processors>1</Processors><ChargeDuration>60</ChargeDuration></Job>";
const UNBILLED: &str = "warning unbilled: no project \"nosuch\": 60 credits kept in #unbilled\n";

/// A served bank without listeners.
struct Bank {
    data: DataDir,
    services: Arc<Services>,
    router: Router,
    key: SigningKey,
}

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
        Self::serve(data)
    }

    fn serve(data: DataDir) -> Self {
        let (services, _) = start::start(&data, &Config::default()).unwrap();
        let key = SigningKey::new(&read_secret(&data.keys(), "admin").unwrap());
        Self {
            data,
            router: router(Arc::clone(&services)),
            services,
            key,
        }
    }

    /// Stops and restarts the daemon, so that only data on disk remains.
    fn restart(self) -> Self {
        self.services.writer.stop();
        assert!(self.services.writer_thread.wait());
        let data = self.data.clone();
        drop(self);
        Self::serve(data)
    }

    fn transactions(&self) -> i64 {
        let report = bankd_store::verify::run(&self.data.database()).unwrap();
        assert_eq!(report.lines(), Vec::<String>::new());
        report.transactions
    }

    async fn send(&self, mut request: Request<Body>, peer: Peer) -> Got {
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        Got {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    async fn signed(&self, signed: &Signed) -> Got {
        let peer = Peer::Tcp("127.0.0.1:5000".parse().unwrap());
        self.send(signed.request(), peer).await
    }

    fn sign(&self, target: &str, body: &str, key: &str, nonce: &str) -> Signed {
        let outgoing = OutgoingRequest {
            method: "POST",
            target,
            body: body.as_bytes(),
            idempotency_key: Some(key),
            event_time: None,
        };
        let signature = sign_request(&self.key, "admin", &outgoing, clock::auth_now_s(), nonce);
        let mut headers = vec![
            ("idempotency-key", key.to_owned()),
            ("signature-input", signature.signature_input),
            ("signature", signature.signature),
        ];
        headers.extend(
            signature
                .content_digest
                .map(|digest| ("content-digest", digest)),
        );
        Signed {
            target: target.to_owned(),
            body: body.to_owned(),
            headers,
        }
    }

    fn charge(&self, key: &str, nonce: &str) -> Signed {
        self.sign("/nami/v1/charge?x=1", CHARGE, key, nonce)
    }
}

#[derive(Clone)]
struct Signed {
    target: String,
    body: String,
    headers: Vec<(&'static str, String)>,
}

impl Signed {
    fn request(&self) -> Request<Body> {
        let mut request = Request::post(&self.target);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.body(Body::from(self.body.clone())).unwrap()
    }

    fn signature(&self) -> &str {
        let found = self.headers.iter().find(|(name, _)| *name == "signature");
        &found.unwrap().1
    }
}

struct Got {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl Got {
    /// Whether the answer is signed and belongs to the request.
    fn is_believed(&self, bank: &Bank, request: &Signed) -> bool {
        let headers = self.headers.iter();
        let headers: Vec<_> = headers.map(|(n, v)| (n.as_str(), v.as_bytes())).collect();
        let answer = ReceivedAnswer {
            status: self.status,
            headers: headers.iter().copied(),
            body: self.text.as_bytes(),
            sent_signature: request.signature(),
            label: LABEL,
            keyid: "admin",
        };
        verify_answer(&bank.key, &answer, clock::auth_now_s(), 300).is_ok()
    }

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
async fn sent_twice_it_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let bank = Bank::new(folder.path());
    let request = bank.charge("k-1", "nonce-0001");
    let first = bank.signed(&request).await;
    assert_eq!((first.status, first.text.as_str()), (200, UNBILLED));
    assert!(first.is_believed(&bank, &request));
    assert!(bank.signed(&request).await.is_refusal_of_a_stranger());
    assert_eq!(
        bank.services.counters.auth_failures().get("replay"),
        Some(&1)
    );
    let transactions = bank.transactions();

    let bank = bank.restart();
    assert!(bank.signed(&request).await.is_refusal_of_a_stranger());
    let again = bank.charge("k-1", "nonce-0002");
    let stored = bank.signed(&again).await;
    assert_eq!((stored.status, stored.text.as_str()), (200, UNBILLED));
    assert_eq!(stored.headers["idempotent-replay"], "true");
    assert!(stored.is_believed(&bank, &again));
    assert!(!stored.is_believed(&bank, &request));
    assert_eq!(bank.transactions(), transactions);
}

#[tokio::test]
async fn what_is_changed_or_added_on_the_way_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bank = Bank::new(folder.path());
    let good = bank.charge("k-1", "nonce-0001");
    let before = bank.transactions();
    let with = |change: fn(&mut Signed)| {
        let mut changed = good.clone();
        change(&mut changed);
        changed
    };
    for changed in [
        with(|r| r.body = r.body.replace("60", "61")),
        with(|r| r.target = "/nami/v1/delete?x=1".to_owned()),
        with(|r| r.target = "/nami/v1/charge?x=2".to_owned()),
        with(|r| r.headers[0].1 = "k-2".to_owned()),
        with(|r| r.headers[1].1 = r.headers[1].1.replace("nonce-0001", "nonce-0002")),
        with(|r| {
            r.headers
                .push(("bank-event-time", "2026-01-01T00:00:00Z".to_owned()));
        }),
        with(|r| r.headers[1].1 = r.headers[1].1.replace("\"admin\"", "\"nobody\"")),
        with(|r| r.headers.clear()),
    ] {
        let got = bank.signed(&changed).await;
        assert!(
            got.is_refusal_of_a_stranger(),
            "{} {}",
            got.status,
            got.text
        );
    }
    assert_eq!(bank.transactions(), before);
    assert_eq!(bank.signed(&good).await.status, 200);
}

#[tokio::test]
async fn faults_of_headers_are_reported_to_known_senders_only() {
    let folder = tempfile::tempdir().unwrap();
    let bank = Bank::new(folder.path());
    let mut twice = bank.sign("/nami/v1/charge", CHARGE, "k-1, k-1", "nonce-0001");
    twice.headers[0].1 = "k-1".to_owned();
    twice.headers.push(("idempotency-key", "k-1".to_owned()));
    let got = bank.signed(&twice).await;
    assert_eq!(got.status, 400, "{}", got.text);
    assert!(
        got.text.starts_with("error duplicate_header: "),
        "{}",
        got.text
    );
    assert!(got.is_believed(&bank, &twice));

    let marked = bank.sign("/nami/v1/charge", CHARGE, "k#1", "nonce-0002");
    let got = bank.signed(&marked).await;
    assert_eq!(got.status, 400, "{}", got.text);

    let unknown = bank.sign("/api/v1/nothing", "", "k-3", "nonce-0003");
    let got = bank.signed(&unknown).await;
    assert_eq!(got.status, 404);
    assert!(got.text.contains("\"request_id\""), "{}", got.text);
    assert!(got.is_believed(&bank, &unknown));
}

#[tokio::test]
async fn a_key_belongs_to_one_request() {
    let folder = tempfile::tempdir().unwrap();
    let bank = Bank::new(folder.path());
    assert_eq!(
        bank.signed(&bank.charge("k-1", "nonce-0001")).await.status,
        200
    );
    let other = bank.sign("/nami/v1/delete", CHARGE, "k-1", "nonce-0002");
    let got = bank.signed(&other).await;
    assert_eq!(got.status, 409);
    assert!(got.text.starts_with("refused key_reused: "), "{}", got.text);

    let two = format!("{CHARGE}{}", CHARGE.replace("Moab.1", "Moab.2"));
    let both = bank.sign("/nami/v1/charge", &two, "k-2", "nonce-0003");
    let got = bank.signed(&both).await;
    assert_eq!(got.text, format!("{UNBILLED}{UNBILLED}"));
    let before = bank.transactions();
    let again = bank.sign("/nami/v1/charge", &two, "k-2", "nonce-0004");
    assert_eq!(
        bank.signed(&again).await.headers["idempotent-replay"],
        "true"
    );
    assert_eq!(bank.transactions(), before);
}

#[tokio::test]
async fn unusable_documents_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let bank = Bank::new(folder.path());
    for (number, body, status, expected) in [
        (
            1,
            "<Job><ObjectID>1</ObjectID>",
            400,
            "error bad_document: ",
        ),
        (
            2,
            "<Job><ObjectID>1</ObjectID></Job>",
            400,
            "error missing_field: ",
        ),
    ] {
        let key = format!("k-{number}");
        let request = bank.sign("/nami/v1/charge", body, &key, &format!("nonce-000{number}"));
        let got = bank.signed(&request).await;
        assert_eq!(got.status, status);
        assert!(
            got.text.starts_with(expected) && got.text.lines().count() == 1,
            "{}",
            got.text
        );
    }
    let large = "x".repeat((1 << 20) + 1);
    let request = bank.sign("/nami/v1/charge", &large, "k-3", "nonce-0003");
    let got = bank.signed(&request).await;
    assert!(
        got.status == 413 && got.text.starts_with("error too_large: "),
        "{}",
        got.text
    );
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
