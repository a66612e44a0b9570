use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// A server of tests: what it is asked, and what it says.
pub(crate) struct Site {
    at: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
}

impl Site {
    /// `answer` gets the target and the header lines, and gives status and body; status 0 hangs up.
    pub(crate) fn new(answer: impl Fn(&str, &[String]) -> (u16, String) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let is_over = Arc::new(AtomicBool::new(false));
        let (list, over) = (Arc::clone(&requests), Arc::clone(&is_over));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let Some(Ok(first)) = lines.next() else {
                    continue;
                };
                let target = first.split(' ').nth(1).unwrap().to_owned();
                let headers: Vec<String> = lines
                    .map_while(Result::ok)
                    .take_while(|line| !line.is_empty())
                    .collect();
                list.lock().unwrap().push(target.clone());
                let (status, body) = answer(&target, &headers);
                if status != 0 {
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                        body.len()
                    );
                    // A client may have gone.
                    let _ = stream.write_all((head + &body).as_bytes());
                }
            }
        });
        Self {
            at,
            requests,
            is_over,
        }
    }

    /// How a collector is told of it.
    pub(crate) fn http(&self) -> Http {
        let url = format!("http://{}", self.at);
        toml::from_str(&format!("url = {url:?}\nretry_wait = \"0\"\nretries = 2\n")).unwrap()
    }

    /// The targets that it was asked, in their order; asking forgets them.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.at);
    }
}

fn server(http: &Http) -> Server {
    Server::new(http, Token::Bearer).unwrap()
}

#[test]
fn temporary_failures_are_retried_and_others_reported() {
    for (answers, requested) in [
        (&[(200, "ok")][..], Ok("ok")),
        (&[(503, "x"), (200, "ok")], Ok("ok")),
        (&[(0, ""), (500, "x"), (200, "ok")], Ok("ok")),
        (
            &[(429, "slow"), (429, "slow"), (429, "slow")],
            Err((exit::UNAVAILABLE, 3)),
        ),
        (&[(401, "no")], Err((exit::DENIED, 1))),
        (&[(403, "no")], Err((exit::DENIED, 1))),
        (&[(400, "bad")], Err((exit::USAGE, 1))),
        (&[(404, "none")], Err((exit::USAGE, 1))),
        (&[(302, "elsewhere")], Err((exit::USAGE, 1))),
    ] {
        let left = Mutex::new(answers.to_vec());
        let site = Site::new(move |_, _| {
            let (status, body) = left.lock().unwrap().remove(0);
            (status, body.to_owned())
        });
        let got = server(&site.http()).must("/x");
        match requested {
            Ok(body) => assert_eq!(got.unwrap(), body.as_bytes(), "{answers:?}"),
            Err((code, tries)) => {
                assert_eq!(got.unwrap_err().exit, code, "{answers:?}");
                assert_eq!(site.requests().len(), tries, "{answers:?}");
            }
        }
    }
}

#[test]
fn errors_are_quoted_in_their_own_words() {
    let site = Site::new(|_, _| {
        let body = r#"{"status":"error","errorType":"bad_data","error":"parse error:\nx"}"#;
        (422, body.to_owned())
    });
    let failure = server(&site.http()).must("/x").unwrap_err();
    assert!(
        failure.what.ends_with("answered 422: parse error: x"),
        "{}",
        failure.what
    );
}

#[test]
fn tokens_are_sent_in_the_form_of_each_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "s3cret\n").unwrap();
    let site = Site::new(|_, headers| (200, headers.join("\n").to_lowercase()));
    let http = Http {
        token_file: Some(file.clone()),
        ..site.http()
    };
    for (token, requested) in [
        (Token::Bearer, "authorization: bearer s3cret"),
        (Token::Nomad, "x-nomad-token: s3cret"),
    ] {
        let body = Server::new(&http, token).unwrap().must("/x").unwrap();
        let message = String::from_utf8(body).unwrap();
        assert!(message.contains(requested), "{message}");
    }
    for bad in ["", " \n", "two words", "line\nline"] {
        fs::write(&file, bad).unwrap();
        assert_eq!(
            Server::new(&http, Token::Bearer).unwrap_err().exit,
            exit::USAGE
        );
    }
}

#[test]
fn answers_are_bounded() {
    let site = Site::new(|_, _| (200, "x".repeat((1 << 20) + 1)));
    let http = Http {
        answer_mib: 1,
        ..site.http()
    };
    let failure = server(&http).must("/x").unwrap_err();
    assert!(failure.what.contains("too large"), "{}", failure.what);
    assert_eq!(site.requests().len(), 1);
}

#[test]
fn nobody_there_is_unreachable() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let site = Site::new(|_, _| (200, String::new()));
    let http = Http {
        url: format!("http://{free}"),
        ..site.http()
    };
    assert_eq!(
        server(&http).must("/x").unwrap_err().exit,
        exit::UNAVAILABLE
    );
}

#[test]
fn files_of_certificates_must_hold_some() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, "no PEM").unwrap();
    let site = Site::new(|_, _| (200, String::new()));
    let http = Http {
        ca_file: Some(file.clone()),
        ..site.http()
    };
    let failure = Server::new(&http, Token::Bearer).unwrap_err();
    assert!(failure.what.contains("no certificate"), "{}", failure.what);
}
