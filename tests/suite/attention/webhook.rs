//! A webhook: signed, tried again in order, given up, and tried again when somebody says so.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use hmac::{Hmac, KeyInit as _, Mac as _};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::Sha256;

use super::*;
use crate::auditor::authority::Authority;

pub(crate) const SECRET: &str = "the secret of both, long enough";

/// One request as it came.
#[derive(Debug)]
pub(crate) struct Heard {
    head: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Heard {
    fn field(&self, name: &str) -> &str {
        let found = self.head.iter().find(|(known, _)| known == name);
        &found
            .unwrap_or_else(|| panic!("no {name}: {:?}", self.head))
            .1
    }

    pub(crate) fn notification(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// It is from who knows the secret, and says of which notice it is.
    #[track_caller]
    pub(crate) fn is_signed(&self) {
        let (time, notice) = (self.field("bank-time"), self.field("bank-notice"));
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(format!("{time}.{notice}.{}", self.body).as_bytes());
        let mut hex = String::new();
        for byte in mac.finalize().into_bytes() {
            let _ = write!(hex, "{byte:02x}");
        }
        assert_eq!(self.field("bank-signature"), format!("v1={hex}"));
    }
}

/// A receiver that answers with these, then with the last of them for ever.
pub(crate) fn receiver(answers: &'static [&'static str]) -> (u16, Receiver<Heard>) {
    listening(answers, |stream| Box::new(stream))
}

/// What a receiver reads and writes.
trait Line: Read + Write {}
impl<T: Read + Write> Line for T {}

/// The same over what `open` makes of a connection.
fn listening(
    answers: &'static [&'static str],
    open: impl Fn(TcpStream) -> Box<dyn Line> + Send + 'static,
) -> (u16, Receiver<Heard>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, heard) = channel();
    std::thread::spawn(move || {
        let mut answers = answers.iter();
        let mut last = "204 No Content";
        for stream in listener.incoming() {
            let mut stream = BufReader::new(open(stream.unwrap()));
            // A connection that ends before its request, as one that trusts nobody does.
            let Some(fields) = fields(&mut stream) else {
                continue;
            };
            let mut heard = Heard {
                head: fields,
                body: String::new(),
            };
            let length = heard.field("content-length").parse().unwrap();
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            heard.body = String::from_utf8(body).unwrap();
            last = answers.next().unwrap_or(&last);
            let answer = format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 {last}\r\n\r\n");
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
            stream.get_mut().flush().unwrap();
            if send.send(heard).is_err() {
                return;
            }
        }
    });
    (port, heard)
}

/// The fields of a request up to the empty line.
fn fields(stream: &mut impl BufRead) -> Option<Vec<(String, String)>> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Some(head);
        }
        if let Some((name, value)) = line.split_once(": ") {
            head.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }
}

fn hooked(port: u16, more: &str) -> Bank {
    hooked_at(&format!("http://127.0.0.1:{port}/in?x=1"), more)
}

fn hooked_at(url: &str, more: &str) -> Bank {
    let toml = format!(
        "\n[[deliver]]\nname = \"hook\"\nby = \"webhook\"\nurl = \"{url}\"\n\
         secret = \"FOLDER/secret\"\nretry_s = 1\nretry_max_s = 1\n{more}"
    );
    let mut bank = watching(&[], "");
    bank.stop();
    fs::write(bank.folder().join("secret"), format!("{SECRET}\n")).unwrap();
    bank.settings(&toml.replace("FOLDER", &bank.folder().display().to_string()));
    bank.start();
    bank
}

fn next(heard: &Receiver<Heard>) -> Heard {
    until("a request", || heard.try_recv().ok())
}

#[test]
fn a_request_is_signed_and_tried_until_it_is_taken() {
    let (port, heard) = receiver(&["500 Oops", "503 Busy", "204 No Content"]);
    let mut bank = hooked(port, "");
    charge(&bank, "1", 55_000);
    let first: Vec<Heard> = (0..3).map(|_| next(&heard)).collect();
    charge(&bank, "2", 30_000);
    let second = next(&heard);
    let notice = first[0].field("bank-notice").to_owned();
    assert!(
        first
            .iter()
            .all(|f| f.field("bank-notice") == notice && f.body == first[0].body)
    );
    assert_ne!(
        second.field("bank-notice"),
        notice,
        "the next only when the first is taken"
    );
    assert_eq!(word(&second.notification()), "raised used 80");
    for heard in first.iter().chain([&second]) {
        heard.is_signed();
        assert_eq!(
            heard.notification()["notice"].to_string(),
            heard.field("bank-notice")
        );
    }
    until("both are sent", || {
        let sent = bank.query("SELECT count(*) FROM notice WHERE state = 'sent'");
        (sent == [["2"]]).then_some(())
    });
    assert_eq!(
        bank.query("SELECT attempts FROM notice ORDER BY id"),
        [["3"], ["1"]]
    );
    bank.verify();
}

#[test]
fn what_is_given_up_is_shown_and_tried_again_by_hand() {
    let (port, heard) = receiver(&["500 Oops", "500 Oops", "200 OK", "200 OK"]);
    let mut bank = hooked(port, "attempts = 2\n");
    charge(&bank, "1", 55_000);
    let outbox = until("it is given up", || {
        let outbox = bank.json(&["attention", "outbox"]);
        (outbox["items"][0]["state"] == "dead").then_some(outbox)
    });
    let notice = &outbox["items"][0];
    assert_eq!(notice["error"], "answered 500");
    assert_eq!(notice["attempts"], 2);
    assert!(bank.bank_ok(&["status"]).contains("1 abandoned"));
    // It holds up nothing behind it.
    charge(&bank, "2", 30_000);
    let notifications: Vec<String> = (0..3).map(|_| word(&next(&heard).notification())).collect();
    assert_eq!(
        notifications,
        ["raised used 50", "raised used 50", "raised used 80"]
    );
    let id = notice["id"].to_string();
    bank.bank_ok(&["attention", "retry", &id]);
    let again = next(&heard);
    assert_eq!(again.field("bank-notice"), id);
    until("nothing waits", || {
        let list = bank.json(&["attention", "outbox"]);
        list["items"].as_array().unwrap().is_empty().then_some(())
    });
    let twice = bank.bank(&["attention", "retry", &id]);
    assert_ne!(twice.exit, 0, "{}", twice.stdout);
    bank.verify();
}

#[test]
fn nobody_there_delays_nothing_else() {
    // A port that nobody listens on, once this listener is gone.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut bank = hooked(port, "timeout_s = 1\n");
    bank.stop();
    bank.settings(&KEEPER.replace("FOLDER", &bank.folder().display().to_string()));
    bank.start();
    charge(&bank, "1", 55_000);
    assert_eq!(words(&bank, 1), ["raised used 50"]);
    until("the one is told while the other's trouble is shown", || {
        let status = bank.bank_ok(&["status"]);
        let both = status.contains("hook: 1 waiting: ") && status.contains("keeper: 0 waiting\n");
        both.then_some(())
    });
    bank.verify();
}

#[test]
fn a_receiver_proves_who_it_is() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let chain: Vec<_> = CertificateDer::pem_file_iter(authority.path("server.pem"))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let key = PrivateKeyDer::from_pem_file(authority.path("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let (port, heard) = listening(&["200 OK"], move |stream| {
        let session = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        Box::new(rustls::StreamOwned::new(session, stream))
    });
    let ca = |path: &std::path::Path| format!("ca = \"{}\"\n", path.display());
    let url = format!("https://localhost:{port}/in");
    let mut bank = hooked_at(&url, &ca(&authority.path("ca.pem")));
    charge(&bank, "1", 55_000);
    assert_eq!(word(&next(&heard).notification()), "raised used 50");
    bank.verify();
    // Signed by somebody else: it is told nothing.
    let other = Authority::new().unwrap();
    let mut bank = hooked_at(&url, &ca(&other.path("ca.pem")));
    charge(&bank, "1", 55_000);
    until("the trouble is told", || {
        bank.bank_ok(&["status"])
            .contains("hook: 1 waiting: ")
            .then_some(())
    });
    assert!(heard.try_recv().is_err());
    bank.verify();
}
