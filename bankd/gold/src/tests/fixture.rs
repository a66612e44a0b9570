//! Keys, peers and connections.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bank_api::sign::Secret;
use bank_core::amount::Precision;
use bank_core::directory::{Bank, Directory, Policy};
use bank_core::model::Key;
use bank_core::time::Window;
use bankd_config::{Config, Gold};
use bankd_ledger::keys::hmac64::{self, Hmac64};
use bankd_ledger::keys::{KeyRing, write_secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::connection::{House, Place, Talk, attend};
use crate::{Content, Value, Verified};

/// The behaviour of the double behind the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Answers with a short form of the request.
    Echo,
    /// Takes its time: for ever.
    Dawdle,
    /// Panics.
    Panic,
    /// Answers with so many bytes.
    Long(usize),
}

/// A double of the handler. It counts begun and completed requests.
#[derive(Debug)]
pub(super) struct Double {
    pub(super) does: Mutex<Does>,
    pub(super) seen: Mutex<Vec<Verified>>,
    pub(super) ended: AtomicUsize,
}

#[derive(Clone)]
pub(super) struct Talker(pub(super) Arc<Double>);

impl Talk for Talker {
    async fn answer(&self, request: Verified) -> Content {
        let does = *self.0.does.lock().unwrap();
        self.0.seen.lock().unwrap().push(request.clone());
        let data = match does {
            Does::Panic => panic!("the double was told to"),
            Does::Dawdle => {
                tokio::time::sleep(std::time::Duration::from_mins(1)).await;
                String::new()
            }
            Does::Long(length) => "x".repeat(length),
            Does::Echo => String::new(),
        };
        self.0.ended.fetch_add(1, Ordering::SeqCst);
        Content {
            value: Value::Success,
            code: "000",
            message: Some(format!("{} maui={}", request.peer.name, request.is_maui)),
            count: None,
            data: Some(data),
        }
    }
}

/// A gateway with the keys of some peers.
pub(super) struct Site {
    pub(super) house: Arc<House<Talker>>,
    pub(super) double: Arc<Double>,
    pub(super) directory: Directory,
    pub(super) keys: KeyRing,
    stop: Option<watch::Sender<()>>,
    stopped: watch::Receiver<()>,
    _folder: tempfile::TempDir,
}

/// Peers of the tests: `maui` on the loopback with the key `sss`, `slurm` there too with another key and
/// unsigned answers, `far` on another network, `clerk` with a key that is not a scheduler's, `ghost` with a
/// key that the bank does not have. All connections of a test may come from one address.
const PEERS: &str = "
    [gold]
    max_connections_each = 1024
    [gold.peer.maui]
    addresses = ['127.0.0.1']
    [gold.peer.slurm]
    addresses = ['127.0.0.0/8']
    key = 'slurm.1'
    sign_answers = false
    no_funds = 'gold'
    [gold.peer.far]
    addresses = ['10.1.0.0/16', 'fd00::/8']
    [gold.peer.clerk]
    addresses = ['127.0.0.1']
    [gold.peer.ghost]
    addresses = ['192.0.2.1']
";

fn settings() -> Gold {
    let config: Config = toml::from_str(PEERS).unwrap();
    config.gold
}

impl Site {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bank = Bank {
            uuid: "test".to_owned(),
            precision: Precision::new(0).unwrap(),
            unit: "credits".to_owned(),
        };
        let mut directory = Directory::new(bank, Policy::default());
        for (id, secret, role) in [
            ("maui", "sss", "scheduler"),
            ("slurm.1", "opensesame", "scheduler"),
            ("far", "faraway", "scheduler"),
            ("clerk", "clerical", "collector"),
        ] {
            write_secret(folder.path(), id, &Secret::parse(secret).unwrap()).unwrap();
            directory.put_key(Key {
                id: id.to_owned(),
                client: format!("{id}-client"),
                roles: vec![role.to_owned()],
                projects: Vec::new(),
                machines: Vec::new(),
                window: Window::ALWAYS,
                disabled: false,
                deleted: false,
                token: None,
            });
        }
        let keys = KeyRing::new(folder.path(), 1000);
        keys.reload(&directory);
        let double = Arc::new(Double {
            does: Mutex::new(Does::Echo),
            seen: Mutex::default(),
            ended: AtomicUsize::new(0),
        });
        let talker = Talker(Arc::clone(&double));
        let (stop, stopped) = watch::channel(());
        Self {
            house: Arc::new(House::new(settings(), keys.clone(), talker)),
            double,
            directory,
            keys,
            stop: Some(stop),
            stopped,
            _folder: folder,
        }
    }

    pub(super) fn does(&self, what: Does) {
        *self.double.does.lock().unwrap() = what;
    }

    /// Asks all connections to end.
    pub(super) fn stop(&mut self) {
        self.stop = None;
    }

    pub(super) fn stopped(&self) -> watch::Receiver<()> {
        self.stopped.clone()
    }

    /// A connection from an address; the client's end of it.
    pub(super) fn call_from(&self, from: &str, place: Place) -> (DuplexStream, JoinHandle<()>) {
        let (client, other) = duplex(1 << 20);
        let address: SocketAddr = format!("{from}:50000").parse().unwrap();
        let (house, stopped) = (Arc::clone(&self.house), self.stopped());
        let served = tokio::spawn(async move {
            attend(&house, other, address, place, stopped).await;
        });
        (client, served)
    }

    pub(super) fn call(&self) -> (DuplexStream, JoinHandle<()>) {
        self.call_from("127.0.0.1", Place::Seated)
    }
}

/// The answer to the end.
pub(super) async fn answer(client: &mut DuplexStream) -> String {
    let mut text = String::new();
    client.read_to_string(&mut text).await.unwrap();
    text
}

/// Its code, message, and whether it is signed.
pub(super) fn summary(answer: &str) -> String {
    let between = |from: &str, to: &str| {
        let rest = answer.split(from).nth(1).unwrap_or_default();
        rest.split(to).next().unwrap_or_default().to_owned()
    };
    let signed = if answer.contains("<Signature>") {
        " signed"
    } else {
        ""
    };
    let (code, message) = (between("<Code>", "<"), between("<Message>", "<"));
    format!("{code} {message}{signed}")
}

pub(super) const BODY: &str =
    "<Body><Request action=\"Query\"><Object>User</Object></Request></Body>";

/// The signature of a body, as an element.
pub(super) fn signature(key: &str, body: &str) -> String {
    let key = Hmac64::new(&Secret::parse(key).unwrap()).unwrap();
    let digest = hmac64::digest(body.as_bytes());
    format!(
        "<Signature><DigestValue>{}</DigestValue><SignatureValue>{}</SignatureValue></Signature>",
        STANDARD.encode(digest),
        STANDARD.encode(key.sign(&digest)),
    )
}

/// A message of one chunk.
pub(super) fn framed(payload: &str) -> Vec<u8> {
    format!(
        "POST /SSSRMAP3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:X}\r\n{payload}",
        payload.len()
    )
    .into_bytes()
}

/// [`BODY`], signed and framed.
pub(super) fn good(key: &str) -> Vec<u8> {
    framed(&format!(
        "<Envelope>{BODY}{}</Envelope>",
        signature(key, BODY)
    ))
}
