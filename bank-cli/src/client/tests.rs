//! Calls against a daemon of one answer.

use std::{
    io::{BufRead as _, BufReader, Read, Write},
    net::TcpListener,
    os::unix::net::UnixListener,
    thread::JoinHandle,
};

use bank_api::{exit::bank as exit, v1::Member};

use super::*;

/// A request as the daemon would see it.
#[derive(Debug, Default)]
struct Seen {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

fn read(stream: impl Read) -> Seen {
    let mut reader = BufReader::new(stream);
    let mut seen = Seen::default();
    reader.read_line(&mut seen.line).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        seen.headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = seen
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    seen.body.resize(length, 0);
    reader.read_exact(&mut seen.body).unwrap();
    seen
}

fn answer(mut stream: impl Write, status: u16, headers: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n");
    stream
        .write_all(format!("{head}{headers}\r\n{body}").as_bytes())
        .unwrap();
}

/// A daemon on a Unix socket that answers once.
fn unix(status: u16, body: &'static str) -> (tempfile::TempDir, Client, JoinHandle<Seen>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bankd.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let daemon = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let seen = read(&stream);
        answer(&stream, status, "", body);
        seen
    });
    let server = Some(format!("unix:{}", path.display()));
    let client = Client::new(&Settings {
        server,
        ..Settings::default()
    })
    .unwrap();
    (dir, client, daemon)
}

fn deposit() -> Call {
    let body = bank_api::v1::NewDeposit {
        effective: None,
        name: "chem".into(),
        amount: "5".into(),
        ..Default::default()
    };
    let target = path(&["deposits"]);
    Call::send(http::Method::POST, target, &body, Some("k-1".into())).unwrap()
}

/// Status and body -> exit code and what standard error says.
#[test]
fn refusals_are_printed_in_three_lines() {
    let cases = [
        (
            404,
            r#"{"type":"urn:bank:problem:not_found","title":"not found","status":404,
               "code":"not_found","detail":"no project \"nochem\"",
               "hint":"did you mean \"chem\"?","request_id":"r1"}"#,
            4,
            "bank: no project \"nochem\"\nhint: did you mean \"chem\"?\nrequest r1\n",
        ),
        (
            402,
            r#"{"type":"x","title":"x","status":402,"code":"insufficient_funds",
               "detail":"need 57600, have 42400 credits"}"#,
            3,
            "bank: refused: insufficient funds: need 57600, have 42400 credits\n",
        ),
        (
            409,
            r#"{"type":"x","title":"x","status":409,"code":"key_reused","detail":"another body"}"#,
            7,
            "bank: conflict: key reused: another body\n",
        ),
        (
            503,
            r#"{"type":"x","title":"x","status":503,"code":"busy","detail":"the queue is full"}"#,
            5,
            "bank: the daemon cannot take it now: the queue is full\n\
             hint: in a moment again: the same command with --key k-1 does it at most once\n",
        ),
    ];
    for (status, body, exit, expected_text) in cases {
        let (_dir, client, daemon) = unix(status, body);
        let failure = client.call::<Member>(&deposit()).unwrap_err();
        assert_eq!(
            (failure.exit, failure.to_string().as_str()),
            (exit, expected_text)
        );
        daemon.join().unwrap();
    }
}

#[test]
fn a_lost_answer_names_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let daemon = std::thread::spawn(move || drop(read(listener.accept().unwrap().0)));
    let server = Some(format!("unix:{}", path.display()));
    let client = Client::new(&Settings {
        server,
        ..Settings::default()
    })
    .unwrap();
    let failure = client.call::<Member>(&deposit()).unwrap_err();
    assert_eq!(failure.exit, 5);
    assert!(failure.hint.unwrap().contains("--key k-1"));
    daemon.join().unwrap();
}

/// A signed call whose daemon answers with `secret`.
fn signed(secret: &'static str) -> Result<Member, Failure> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    std::fs::write(&file, "right secret\n").unwrap();
    let private = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
    std::fs::set_permissions(&file, private).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Some(format!("http://{}", listener.local_addr().unwrap()));
    let daemon = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let seen = read(&stream);
        let key = |secret| sign::SigningKey::new(&sign::Secret::parse(secret).unwrap());
        let headers = seen
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()));
        let request = sign::ReceivedRequest {
            method: "POST",
            target: seen.line.split(' ').nth(1).unwrap(),
            scheme: "http",
            headers,
            body: &seen.body,
            mutating: true,
        };
        let now = clock::now_us() / 1_000_000;
        let found = |id: &str| {
            assert_eq!(id, "ops");
            sign::KeyLookup::Found(key("right secret"))
        };
        let verified = sign::verify_request(&request, now, 300, found).unwrap();
        assert_eq!(verified.command.unwrap().idempotency_key, Some("k-1"));
        let body = r#"{"user":"amy","active":true,"admin":false}"#;
        let signature = sign::sign_answer(
            &key(secret),
            "ops",
            verified.label,
            verified.signature,
            now,
            200,
            body.as_bytes(),
        );
        let headers = format!(
            "Content-Digest: {}\r\nSignature-Input: {}\r\nSignature: {}\r\n",
            signature.content_digest.unwrap(),
            signature.signature_input,
            signature.signature,
        );
        answer(&stream, 200, &headers, body);
    });
    let settings = Settings {
        server,
        key_id: Some("ops".into()),
        key_file: Some(file),
        ..Settings::default()
    };
    let answer = Client::new(&settings).unwrap().call(&deposit());
    daemon.join().unwrap();
    answer
}

#[test]
fn only_an_answer_signed_with_our_secret_is_believed() {
    assert_eq!(signed("right secret").unwrap().user, "amy");
    let failure = signed("another secret").unwrap_err();
    assert_eq!(failure.exit, 5);
    assert!(failure.what.contains("is not trusted"), "{}", failure.what);
}

/// A daemon on a Unix socket that answers as often as there are bodies.
fn pages(bodies: &'static [&'static str]) -> (tempfile::TempDir, Client, JoinHandle<Vec<String>>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bankd.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let daemon = std::thread::spawn(move || {
        let one = |body: &&str| {
            let (stream, _) = listener.accept().unwrap();
            let seen = read(&stream);
            answer(&stream, 200, "", body);
            seen.line.split(' ').nth(1).unwrap().to_owned()
        };
        bodies.iter().map(one).collect()
    });
    let server = Some(format!("unix:{}", path.display()));
    let client = Client::new(&Settings {
        server,
        ..Settings::default()
    });
    (dir, client.unwrap(), daemon)
}

#[test]
fn a_list_is_read_to_its_end() {
    let (_dir, client, daemon) = pages(&[
        r#"{"items":[{"user":"amy","active":true}],"next":"amy"}"#,
        r#"{"items":[{"user":"bob","active":true}],"next":"b b"}"#,
        r#"{"items":[],"next":null}"#,
    ]);
    let list: List<Member> = client.all(&["projects", "chem", "members"], &()).unwrap();
    let users: Vec<&str> = list
        .items
        .iter()
        .map(|member| member.user.as_str())
        .collect();
    assert_eq!((users, list.next), (vec!["amy", "bob"], None));
    let requests = daemon.join().unwrap();
    let target = "/api/v1/projects/chem/members";
    let expected = ["", "?after=amy", "?after=b%20b"].map(|query| format!("{target}{query}"));
    assert_eq!(requests, expected);
}

#[test]
fn a_list_that_does_not_go_on_is_no_list() {
    let (_dir, client, daemon) = pages(&[
        r#"{"items":[],"next":"amy"}"#,
        r#"{"items":[],"next":"amy"}"#,
    ]);
    let list = client.all::<Member>(&["users"], &());
    assert!(list.is_err());
    daemon.join().unwrap();
}

/// A secret is told once: an answer that this program cannot read is shown as it came.
#[test]
fn an_answer_that_is_given_once_is_not_lost() {
    let body = r#"{"secret":"bank_s3cret","form":"of another release"}"#;
    let (_dir, client, daemon) = unix(201, body);
    let failure = client.call::<Member>(&deposit()).unwrap_err();
    daemon.join().unwrap();
    assert_eq!(failure.exit, exit::INTERNAL);
    assert_eq!(failure.before, Some(format!("{body}\n")));
    assert!(failure.hint.unwrap().contains("told once"));
    // A question loses nothing.
    let (_dir, client, daemon) = unix(200, body);
    let failure = client
        .call::<Member>(&Call::get(path(&["users", "amy"])))
        .unwrap_err();
    daemon.join().unwrap();
    assert_eq!(failure.before, None);
}
