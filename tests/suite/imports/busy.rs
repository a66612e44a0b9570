//! Imports under load: a request that succeeded is answered with 503, and is sent again.

use std::io::{Read, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::harness::Bank;

/// Requests of a path, each with its key.
type Seen = Arc<Mutex<Vec<String>>>;

/// A head and its body. None at the end of the connection.
fn message(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        bytes.extend_from_slice(&byte);
    }
    let length = field(&bytes, "content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    bytes.extend_from_slice(&body);
    let is_chunked = field(&bytes, "transfer-encoding").is_some();
    // The head may end like a last chunk: in a key that ends with 0.
    let head = bytes.len();
    while is_chunked && !bytes[head..].ends_with(b"0\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        bytes.extend_from_slice(&byte);
    }
    Some(bytes)
}

fn field(head: &[u8], name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
    let found = lines.find(|(own, _)| own.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.to_owned())
}

/// Before the daemon: passes everything, but answers the first request whose line has these words as a daemon that is busy.
fn before(daemon: PathBuf, socket: &Path, words: &'static str) -> Seen {
    let listener = UnixListener::bind(socket).unwrap();
    let seen = Seen::default();
    let all = Arc::clone(&seen);
    std::thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let far = UnixStream::connect(&daemon).unwrap();
            let all = Arc::clone(&all);
            std::thread::spawn(move || pass((near, far), words, &all));
        }
    });
    seen
}

/// Passes the requests of a connection and their answers.
fn pass((mut near, mut far): (UnixStream, UnixStream), words: &str, all: &Mutex<Vec<String>>) {
    while let Some(request) = message(&mut near) {
        far.write_all(&request).unwrap();
        let Some(mut answer) = message(&mut far) else {
            return;
        };
        let line = String::from_utf8_lossy(&request);
        if line.lines().next().unwrap().contains(words) {
            let mut all = all.lock().unwrap();
            if all.is_empty() {
                let body = r#"{"type":"about:blank","title":"busy","status":503,"code":"busy"}"#;
                let head = "HTTP/1.1 503 X\r\ncontent-type: application/problem+json";
                let length = body.len();
                answer = format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes();
            }
            all.push(field(&request, "idempotency-key").unwrap());
        }
        near.write_all(&answer).unwrap();
    }
}

#[test]
fn what_succeeded_under_load_is_no_failure() {
    let mut bank = Bank::new();
    bank.set_clock(crate::harness::T0 + 86_400);
    let file = |name: &str, text: &str| {
        let path = bank.folder().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let sacct = file(
        "in.sacct",
        "JobID|Cluster|User|Account|State|Submit|Start|End|NNodes|NCPUS\n\
         1|colony|amy|chemistry|COMPLETED|2025-12-01T00:00:00|2025-12-01T01:00:00|2025-12-01T02:00:00|1|2\n",
    );
    let jsonl = file(
        "in.jsonl",
        r#"{"source":"s","id":"2","machine":"colony","project":"chemistry","user":"amy","processors":2,"start":"2025-12-01T01:00:00Z","end":"2025-12-01T02:00:00Z"}"#,
    );
    for (format, name, words) in [("sacct", &sacct, "/end "), ("jsonl", &jsonl, "/usage ")] {
        let socket = bank.folder().join(format);
        let seen = before(bank.socket(), &socket, words);
        let server = format!("unix:{}", socket.display());
        let mut arguments = vec!["--server", &server, "import", format, name];
        if format == "sacct" {
            arguments.extend(["--source", "s"]);
        }
        let ran = bank.bank(&arguments);
        assert_eq!(ran.exit, 0, "{format}: {}", ran.stderr);
        assert!(ran.stdout.contains("charged"), "{format}: {}", ran.stdout);
        let keys = seen.lock().unwrap();
        assert_eq!(keys.len(), 2, "{format}");
        assert_eq!(keys[0] == keys[1], format == "jsonl", "{format}");
    }
    assert_eq!(bank.query("SELECT count(*) FROM usage_identity"), [["2"]]);
    bank.verify();
}
