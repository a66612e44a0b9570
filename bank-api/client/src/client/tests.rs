//! Calls against daemons with prepared answers.

use std::{
    io::{BufRead as _, BufReader, Read, Write},
    net::TcpListener,
    os::unix::{fs::PermissionsExt as _, net::UnixListener},
    thread::JoinHandle,
};

use bank_api::{
    sign,
    v1::{Member, NewDeposit},
};

use super::*;
use crate::clock;

/// A request as the daemon would see it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    fn target(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
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

/// One answer: status, headers and body. Status 0 hangs up.
pub(crate) type Answer = (u16, &'static str, &'static str);

pub(crate) const BUSY: Answer = (
    503,
    "",
    r#"{"type":"x","title":"busy","status":503,"code":"busy"}"#,
);
pub(crate) const AMY: Answer = (200, "", r#"{"user":"amy","active":true,"admin":false}"#);

/// A daemon on a Unix socket with prepared answers.
pub(crate) struct Daemon {
    folder: tempfile::TempDir,
    thread: JoinHandle<Vec<Seen>>,
}

impl Daemon {
    pub(crate) fn new(answers: &'static [Answer]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        let one = move |(status, headers, body): &Answer| {
            let (stream, _) = listener.accept().unwrap();
            let seen = read(&stream);
            if *status != 0 {
                answer(&stream, *status, headers, body);
            }
            seen
        };
        let thread = std::thread::spawn(move || answers.iter().map(one).collect());
        Self { folder, thread }
    }

    pub(crate) fn address(&self) -> String {
        format!("unix:{}/s", self.folder.path().display())
    }

    pub(crate) fn seen(self) -> Vec<Seen> {
        self.thread.join().unwrap()
    }
}

fn quick() -> Builder {
    Client::builder().retry(Retry {
        repeats: 3,
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(1),
        total: Duration::from_mins(1),
    })
}

pub(crate) fn deposit() -> Call {
    let body = NewDeposit {
        name: "chem".into(),
        amount: "5".into(),
        ..Default::default()
    };
    Call::send(Method::POST, path(&["deposits"]), &body, Some("k-1".into())).unwrap()
}

/// Answers in turn -> requests that are sent, and the error at the end.
#[test]
fn calls_that_can_succeed_later_are_repeated_with_their_key() {
    const FUNDS: Answer = (
        402,
        "",
        r#"{"type":"x","title":"x","status":402,"code":"insufficient_funds"}"#,
    );
    const LIMITED: Answer = (
        429,
        "Retry-After: 0\r\n",
        r#"{"type":"x","title":"x","status":429,"code":"rate_limited"}"#,
    );
    const LATER: Answer = (
        429,
        "Retry-After: 61\r\n",
        r#"{"type":"x","title":"x","status":429,"code":"rate_limited"}"#,
    );
    let cases: [(&'static [Answer], usize, Option<&str>); 7] = [
        (&[AMY], 1, None),
        (&[BUSY, AMY], 2, None),
        (&[(0, "", ""), BUSY, LIMITED, AMY], 4, None),
        (&[BUSY, BUSY, BUSY, BUSY], 4, Some("busy")),
        (&[FUNDS], 1, Some("insufficient_funds")),
        (&[BUSY, FUNDS], 2, Some("insufficient_funds")),
        // The server's wait is longer than the limit of the caller.
        (&[LATER], 1, Some("rate_limited")),
    ];
    for (answers, count, code) in cases {
        let daemon = Daemon::new(answers);
        let client = quick().servers([daemon.address()]).build().unwrap();
        let got = client.call::<Member>(&deposit());
        assert_eq!(
            got.as_ref().err().and_then(Error::code),
            code,
            "{answers:?}"
        );
        let seen = daemon.seen();
        assert_eq!(seen.len(), count);
        for request in seen {
            assert_eq!(request.header("idempotency-key"), Some("k-1"));
            assert_eq!(request.body, deposit().body);
        }
    }
}

#[test]
fn calls_without_a_key_are_not_repeated_after_they_were_sent() {
    let daemon = Daemon::new(&[(0, "", "")]);
    let client = quick().servers([daemon.address()]).build().unwrap();
    let mut call = deposit();
    call.key = None;
    let error = client.call::<Member>(&call).unwrap_err();
    assert!(matches!(error, Error::Unreachable { key: None, .. }));
    assert_eq!(daemon.seen().len(), 1);
}

#[test]
fn a_lost_answer_names_the_key() {
    let daemon = Daemon::new(&[(0, "", "")]);
    let client = Client::builder().retry(Retry::NONE);
    let client = client.servers([daemon.address()]).build().unwrap();
    let error = client.call::<Member>(&deposit()).unwrap_err();
    assert!(matches!(&error, Error::Unreachable { key: Some(key), .. } if key == "k-1"));
    daemon.seen();
    // Nothing was sent: nothing can have been done.
    let error = client.call::<Member>(&deposit()).unwrap_err();
    assert!(matches!(error, Error::Unreachable { key: None, .. }));
}

#[test]
fn the_next_server_answers_if_one_is_away_and_is_kept() {
    let busy = Daemon::new(&[BUSY]);
    let works = Daemon::new(&[AMY, AMY]);
    let servers = [
        "unix:/nothing/here".to_owned(),
        busy.address(),
        works.address(),
    ];
    let client = quick().servers(servers.clone()).build().unwrap();
    assert_eq!(client.server(), servers[0]);
    client.call::<Member>(&deposit()).unwrap();
    assert_eq!(client.server(), servers[2]);
    client.call::<Member>(&deposit()).unwrap();
    assert_eq!(busy.seen().len(), 1);
    let seen = works.seen();
    let keys: Vec<_> = seen
        .iter()
        .map(|seen| seen.header("idempotency-key"))
        .collect();
    assert_eq!(keys, [Some("k-1"), Some("k-1")]);
    // It ends: the others are asked again.
    let error = client.call::<Member>(&deposit()).unwrap_err();
    assert!(error.is_passing());
}

#[test]
fn servers_and_keys_are_checked_before_the_first_call() {
    let none: [&str; 0] = [];
    assert!(matches!(
        quick().servers(none).build(),
        Err(Error::Settings { .. })
    ));
    let token = quick()
        .servers(["unix:/s", "http://bank.site:1"])
        .token("t");
    assert!(
        token
            .build()
            .unwrap_err()
            .to_string()
            .contains("a token is not sent")
    );
    let half = quick().servers(["http://bank.site:1"]);
    let half = half.key_settings(Some("ops".into()), None);
    assert!(matches!(half.build(), Err(Error::Settings { .. })));
    let odd = quick().servers(["http://bank.site:1"]).key("a b", "/f");
    assert!(matches!(odd.build(), Err(Error::Settings { .. })));
    let absent = quick()
        .servers(["http://bank.site:1"])
        .key("ops", "/no/such");
    assert!(matches!(absent.build(), Err(Error::Key(_))));
}

/// A signed call whose daemon answers with `secret`.
fn signed(secret: &'static str) -> Result<Member, Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    std::fs::write(&file, "right secret\n").unwrap();
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&file, private).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
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
            target: seen.target(),
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
        let body = AMY.2;
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
    let client = Client::builder()
        .servers([server])
        .key("ops", file)
        .retry(Retry::NONE)
        .build()
        .unwrap();
    let answer = client.call(&deposit());
    daemon.join().unwrap();
    answer
}

#[test]
fn only_an_answer_signed_with_our_secret_is_believed() {
    assert_eq!(signed("right secret").unwrap().user, "amy");
    let error = signed("another secret").unwrap_err();
    assert!(matches!(error, Error::Unverified { .. }), "{error}");
}

#[test]
fn a_list_is_read_to_its_end() {
    let daemon = Daemon::new(&[
        (
            200,
            "",
            r#"{"items":[{"user":"amy","active":true}],"next":"amy"}"#,
        ),
        (
            200,
            "",
            r#"{"items":[{"user":"bob","active":true}],"next":"b b"}"#,
        ),
        (200, "", r#"{"items":[],"next":null}"#),
    ]);
    let client = Client::connect(&daemon.address()).unwrap();
    let list: List<Member> = client.all(&["projects", "chem", "members"], &()).unwrap();
    let users: Vec<&str> = list
        .items
        .iter()
        .map(|member| member.user.as_str())
        .collect();
    assert_eq!((users, list.next), (vec!["amy", "bob"], None));
    let target = "/api/v1/projects/chem/members";
    let expected = ["", "?after=amy", "?after=b%20b"].map(|query| format!("{target}{query}"));
    let seen = daemon.seen();
    let requests: Vec<&str> = seen.iter().map(Seen::target).collect();
    assert_eq!(requests, expected);
}

#[test]
fn a_list_that_does_not_go_on_is_no_list() {
    const SAME: Answer = (200, "", r#"{"items":[],"next":"amy"}"#);
    let daemon = Daemon::new(&[SAME, SAME]);
    let client = Client::connect(&daemon.address()).unwrap();
    assert!(client.all::<Member>(&["users"], &()).is_err());
    daemon.seen();
}

/// A secret is given once: the error keeps an answer that this program cannot read.
#[test]
fn an_answer_that_is_given_once_is_not_lost() {
    const ODD: Answer = (
        201,
        "",
        r#"{"secret":"bank_s3cret","form":"of another release"}"#,
    );
    let daemon = Daemon::new(&[ODD, ODD]);
    let client = Client::connect(&daemon.address()).unwrap();
    let error = client.call::<Member>(&deposit()).unwrap_err();
    assert!(matches!(&error, Error::Unreadable { answer: Some(answer), .. } if answer == ODD.2));
    let error = client
        .call::<Member>(&Call::get(path(&["users", "amy"])))
        .unwrap_err();
    assert!(matches!(error, Error::Unreadable { answer: None, .. }));
    daemon.seen();
}
