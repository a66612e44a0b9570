use std::os::unix::net::UnixListener;

use super::*;

const BODY: &[u8] = b"<Job><ObjectID>Moab.1024</ObjectID></Job>\n";
const KEY: &str = "018f6b0e-7c1a-7c3e-9f00-000000000001";

fn document(event: Event) -> Document<'static> {
    Document {
        event,
        key: KEY,
        event_time: Some("2026-01-01T00:00:00Z"),
        query: "machine=a",
        body: BODY,
    }
}

fn deadline() -> Deadline {
    Deadline::after(Duration::from_mins(1))
}

/// A connection's request up to and with its body, then `answer` of it.
fn serve(mut stream: impl std::io::Read + std::io::Write, answer: impl FnOnce(&str) -> String) {
    let mut request = Vec::new();
    while !request.ends_with(BODY) {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "the request is cut off");
        request.extend_from_slice(&buffer[..count]);
    }
    let text = answer(std::str::from_utf8(&request).unwrap());
    stream.write_all(text.as_bytes()).unwrap();
}

fn plain(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn header<'a>(request: &'a str, name: &str) -> &'a str {
    request
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap()
}

fn tcp_settings(folder: &Path, port: u16) -> Settings {
    let file = folder.join("moab.key");
    std::fs::write(&file, "secret of the bank\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    Settings {
        servers: vec![Server::Tcp {
            host: "127.0.0.1".into(),
            port,
        }],
        key_id: Some("moab".into()),
        key_file: Some(file),
        ..Settings::default()
    }
}

#[test]
fn over_the_unix_socket_nothing_is_signed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bankd.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let settings = Settings {
        servers: vec![Server::Unix(path)],
        ..Settings::default()
    };
    let client = Client::new(&settings).unwrap();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            serve(listener.accept().unwrap().0, |request| {
                assert!(
                    request.starts_with("POST /nami/v1/quote?machine=a HTTP/1.1\r\n"),
                    "{request}"
                );
                assert_eq!(header(request, "Idempotency-Key"), KEY);
                assert_eq!(header(request, "Bank-Event-Time"), "2026-01-01T00:00:00Z");
                assert!(!request.contains("Signature"));
                plain(200, "57600\n")
            });
        });
        client.send(&document(Event::Quote), deadline())
    });
    assert_eq!(
        (outcome.condition, outcome.stdout.as_str()),
        (Condition::Done, "57600\n")
    );
}

/// The first server is away, the second cannot serve now, the third takes the document: one key, and the next
/// document goes to the third at once.
#[test]
fn servers_are_tried_in_order_with_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let busy = UnixListener::bind(path("busy")).unwrap();
    let works = UnixListener::bind(path("works")).unwrap();
    let servers = ["away", "busy", "works"].map(|name| Server::Unix(path(name)));
    let settings = Settings {
        servers: servers.into(),
        ..Settings::default()
    };
    let client = Client::new(&settings).unwrap();
    let has_key = |request: &str| assert_eq!(header(request, "Idempotency-Key"), KEY);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            serve(busy.accept().unwrap().0, |request| {
                has_key(request);
                plain(503, "error busy: the writer of the cluster changes now\n")
            });
        });
        scope.spawn(|| {
            for _ in 0..2 {
                serve(works.accept().unwrap().0, |request| {
                    has_key(request);
                    plain(200, "ok\n")
                });
            }
        });
        for _ in 0..2 {
            let outcome = client.send(&document(Event::Charge), deadline());
            assert_eq!(outcome.condition, Condition::Done, "{}", outcome.text);
        }
    });
    assert_eq!(client.current.get(), 2);
}

/// No server can serve: the last answer counts, and the document is not lost.
#[test]
fn without_a_server_that_serves_the_last_answer_counts() {
    let folder = tempfile::tempdir().unwrap();
    let busy = UnixListener::bind(folder.path().join("busy")).unwrap();
    let servers = ["away", "busy"].map(|name| Server::Unix(folder.path().join(name)));
    let settings = Settings {
        servers: servers.into(),
        ..Settings::default()
    };
    let client = Client::new(&settings).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            serve(busy.accept().unwrap().0, |_| {
                plain(503, "error busy: the writer of the cluster changes now\n")
            });
        });
        let outcome = client.send(&document(Event::Charge), deadline());
        assert_eq!(outcome.condition, Condition::Internal);
        assert!(outcome.text.contains("changes now"), "{}", outcome.text);
    });
}

#[test]
fn without_a_usable_key_nothing_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let good = tcp_settings(folder.path(), 1);
    let open = folder.path().join("open.key");
    std::fs::write(&open, "x").unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o640)).unwrap();
    for settings in [
        Settings {
            key_id: None,
            ..good.clone()
        },
        Settings {
            key_id: Some("a b".into()),
            ..good.clone()
        },
        Settings {
            key_file: None,
            ..good.clone()
        },
        Settings {
            key_file: Some(folder.path().join("none")),
            ..good.clone()
        },
        Settings {
            key_file: Some(open),
            ..good
        },
    ] {
        let outcome = Client::new(&settings).unwrap_err();
        assert_eq!(outcome.condition, Condition::Auth);
        assert!(
            outcome.text.starts_with("not authenticated: "),
            "{}",
            outcome.text
        );
    }
}

#[test]
fn queries() {
    let all = Settings {
        machine: Some("a b/ü".into()),
        print_tid: true,
        latin1_fallback: true,
        ..Settings::default()
    };
    assert_eq!(
        query_of(&all, Event::Quote),
        "machine=a%20b%2F%C3%BC&print_tid=true&latin1_fallback=true"
    );
    assert_eq!(
        query_of(&all, Event::Charge),
        "machine=a%20b%2F%C3%BC&latin1_fallback=true"
    );
    assert_eq!(query_of(&Settings::default(), Event::Quote), "");
}
