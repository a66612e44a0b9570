//! A separate daemon for a test, and two kinds of requests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use bank_api::sign::{OutgoingRequest, Secret, SigningKey, sign_request};
use bank_core::amount::Precision;
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_ledger::clock;
use bankd_safekeeping::init::{self, Choices};
use bankd_services::start;
use serde_json::Value;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;

/// A daemon in its own directory.
pub(super) struct Daemon {
    _folder: tempfile::TempDir,
    socket: std::path::PathBuf,
    tcp: std::net::SocketAddr,
    stop: Option<watch::Sender<()>>,
    ended: Option<tokio::task::JoinHandle<anyhow::Result<()>>>,
}

pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Value,
    /// The body, unchanged.
    pub(super) text: String,
}

impl Daemon {
    pub(super) async fn start() -> Daemon {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::new(&folder.path().join("bank"));
        let choices = Choices {
            precision: Precision::DEFAULT,
            unit: "SU".into(),
            test: false,
        };
        let data = tokio::task::spawn_blocking(move || init::init(&data, &choices).map(|_| data));
        let data = data.await.unwrap().unwrap();
        let unix = UnixListener::bind(data.socket()).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (socket, address) = (data.socket(), tcp.local_addr().unwrap());
        let (stop, stopped) = watch::channel(());
        let (services, records) = start::start(&data, &Config::default()).unwrap();
        let ended = tokio::spawn(async move {
            crate::serve(&services, Some(&tcp), Some(&unix), stopped).await;
            let ended = tokio::task::spawn_blocking(move || {
                records.stop();
                services.uploads.stop();
                services.proof.stop();
                services.proof.join();
                services.writer.stop();
                services.writer_thread.wait()
            });
            anyhow::ensure!(ended.await?, "the writer thread failed");
            Ok(())
        });
        Daemon {
            _folder: folder,
            socket,
            tcp: address,
            stop: Some(stop),
            ended: Some(ended),
        }
    }

    pub(super) async fn stop(mut self) {
        drop(self.stop.take());
        self.ended.take().unwrap().await.unwrap().unwrap();
    }

    /// Sends a request as the administrator who ran `init`.
    pub(super) async fn call(&self, method: &str, target: &str, body: &Value, key: &str) -> Reply {
        self.send(method, target, &bytes(body), key).await
    }

    /// The same with a body of any kind.
    pub(super) async fn send(&self, method: &str, target: &str, body: &[u8], key: &str) -> Reply {
        let headers = format!("idempotency-key: {key}\r\n");
        let stream = UnixStream::connect(&self.socket).unwrap();
        exchange(stream, method, target, body, &headers).await
    }

    pub(super) async fn get(&self, target: &str) -> Reply {
        let stream = UnixStream::connect(&self.socket).unwrap();
        exchange(stream, "GET", target, b"", "").await
    }

    /// Sends a request as the holder of a key.
    pub(super) async fn signed(&self, id: &str, secret: &str, call: (&str, &str, &Value)) -> Reply {
        let (method, target, body) = call;
        let body = bytes(body);
        let request = OutgoingRequest {
            method,
            target,
            body: &body,
            idempotency_key: None,
            event_time: None,
        };
        let key = SigningKey::new(&Secret::parse(secret).unwrap());
        let nonce = uuid::Uuid::new_v4().simple().to_string();
        let signed = sign_request(&key, id, &request, clock::auth_now_s(), &nonce);
        let digest = signed
            .content_digest
            .map(|d| format!("content-digest: {d}\r\n"));
        let headers = format!(
            "{}signature-input: {}\r\nsignature: {}\r\n",
            digest.unwrap_or_default(),
            signed.signature_input,
            signed.signature
        );
        let stream = TcpStream::connect(self.tcp).unwrap();
        exchange(stream, method, target, &body, &headers).await
    }
}

pub(super) fn bytes(body: &Value) -> Vec<u8> {
    match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    }
}

async fn exchange(
    mut stream: impl Read + Write + Send + 'static,
    method: &str,
    target: &str,
    body: &[u8],
    headers: &str,
) -> Reply {
    let length = body.len();
    let head = format!(
        "{method} {target} HTTP/1.1\r\nhost: bank\r\nconnection: close\r\n\
         content-length: {length}\r\n{headers}\r\n"
    );
    let request = [head.as_bytes(), body].concat();
    let answer = tokio::task::spawn_blocking(move || {
        stream.write_all(&request).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    let answer = answer.await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    Reply {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_lowercase(),
        body: serde_json::from_str(body).unwrap_or(Value::Null),
        text: body.to_owned(),
    }
}
