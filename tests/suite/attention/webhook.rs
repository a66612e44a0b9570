//! A webhook: signed, tried again in order, given up, and tried again when somebody says so.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::*;

const SECRET: &str = "the secret of both, long enough";

/// One request as it came.
#[derive(Debug)]
struct Heard {
    head: Vec<(String, String)>,
    body: String,
}

impl Heard {
    fn field(&self, name: &str) -> &str {
        let found = self.head.iter().find(|(known, _)| known == name);
        &found
            .unwrap_or_else(|| panic!("no {name}: {:?}", self.head))
            .1
    }

    fn told(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A receiver that answers with these, then with the last of them for ever.
fn receiver(answers: &'static [&'static str]) -> (u16, Receiver<Heard>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, heard) = channel();
    std::thread::spawn(move || {
        let mut answers = answers.iter();
        let mut last = "204 No Content";
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = Vec::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let line = line.trim_end();
                if line.is_empty() {
                    break;
                }
                if let Some((name, value)) = line.split_once(": ") {
                    head.push((name.to_ascii_lowercase(), value.to_owned()));
                }
            }
            let mut heard = Heard {
                head,
                body: String::new(),
            };
            let length = heard.field("content-length").parse().unwrap();
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            heard.body = String::from_utf8(body).unwrap();
            last = answers.next().unwrap_or(&last);
            let answer = format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 {last}\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            if send.send(heard).is_err() {
                return;
            }
        }
    });
    (port, heard)
}

fn hooked(port: u16, more: &str) -> Bank {
    let toml = format!(
        "\n[[deliver]]\nname = \"hook\"\nby = \"webhook\"\nurl = \"http://127.0.0.1:{port}/in?x=1\"\n\
         secret = \"FOLDER/secret\"\nretry_s = 1\nretry_max_s = 1\n{more}"
    );
    let mut bank = watching(&[], "");
    bank.stop();
    std::fs::write(bank.folder().join("secret"), format!("{SECRET}\n")).unwrap();
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
    assert_eq!(word(&second.told()), "raised used 80");
    for heard in first.iter().chain([&second]) {
        let text = format!(
            "{}.{}.{}",
            heard.field("bank-time"),
            heard.field("bank-notice"),
            heard.body
        );
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(text.as_bytes());
        let hex: String = mac
            .finalize()
            .into_bytes()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(heard.field("bank-signature"), format!("v1={hex}"));
        assert_eq!(
            heard.told()["notice"].to_string(),
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
    assert!(bank.bank_ok(&["status"]).contains("1 given up"));
    // It holds up nothing behind it.
    charge(&bank, "2", 30_000);
    assert_eq!(
        word(&(0..3).map(|_| next(&heard)).last().unwrap().told()),
        "raised used 80"
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
    let status = until("the trouble is told", || {
        let status = bank.bank_ok(&["status"]);
        status.contains("hook: 1 wait: ").then_some(status)
    });
    assert!(status.contains("keeper: 0 wait\n"), "{status}");
    bank.verify();
}
