//! Another process on the daemon's port: it cannot make a script believe that a charge was taken or
//! that a lien is held.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::{billed, charge};
use crate::harness::{Bank, Documents, Ran, Setup, Signing};

/// Listens on a port of its own and answers every request by this function.
fn impostor(answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // A caller that hangs up early is not this one's business.
            let _ = request(&mut stream).and_then(|request| stream.write_all(&answer(&request)));
        }
    });
    address
}

/// The bytes of a request, up to the end of its document.
fn request(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut seen = Vec::new();
    let mut chunk = [0; 4096];
    while !seen.ends_with(b"</Job>\n") {
        match stream.read(&mut chunk)? {
            0 => break,
            count => seen.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(seen)
}

/// Stands between script and daemon and changes what the daemon says.
fn relay(daemon: String, from: &'static str, to: &'static str) -> String {
    impostor(move |request| {
        let mut stream = TcpStream::connect(&daemon).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(from), "{answer}");
        answer.replacen(from, to, 1).into_bytes()
    })
}

fn plain(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// What answers a stranger could have at hand.
fn answers(bank: &Bank) -> Vec<(&'static str, Vec<u8>)> {
    let signed = Signing::new().sign(charge("before"));
    let old = bank.over_tcp(&signed);
    assert_eq!(old.status, 200);
    vec![
        (
            "unsigned",
            plain("200 OK", "ok charged 28800 credits, balance 71200\n"),
        ),
        ("an old answer", old.raw),
        (
            "no answer of ours",
            plain("200 OK", "<html>welcome</html>\n"),
        ),
        (
            "a refusal",
            plain("409 Conflict", "refused key_reused: never\n"),
        ),
        (
            "an unusable document",
            plain("400 Bad Request", "error bad_document: no\n"),
        ),
        ("not http", b"220 ready\r\n".to_vec()),
        ("nothing", Vec::new()),
    ]
}

#[test]
fn nobody_else_on_the_port_is_believed() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    let answers = answers(&bank);
    let count = answers.len();
    let documents = Documents::own();
    let tcp = bank.tcp();
    for (index, (what, answer)) in answers.into_iter().enumerate() {
        let address = impostor(move |_| answer.clone());
        let call = |event: &str, body: &[u8]| -> Ran {
            bank.call(event)
                .over_tcp(&address)
                .set("timeout_s=4")
                .body(body)
                .run()
        };
        let reserve = documents.with(3, &[("Moab.1024", &format!("Moab.{index}"))]);
        let refused = call("reserve", &reserve);
        assert!([22, 23].contains(&refused.exit), "{what}: {refused:?}");
        let body = documents.with(4, &[("Moab.1024", &format!("Moab.{index}"))]);
        call("charge", &body)
            .expect(0, "")
            .expect_stderr(&["spool"]);
        assert_eq!(
            (bank.spooled(), bank.quarantined()),
            (index + 1, 0),
            "{what}"
        );
        let quoted = call("quote", &documents.get(1));
        assert!(
            quoted.exit != 0 && quoted.stdout.is_empty(),
            "{what}: {quoted:?}"
        );
    }
    // The daemon itself is believed, and every charge is billed once.
    bank.call("drain").over_tcp(&tcp).run().expect(0, "");
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 0));
    assert_eq!(billed(&bank), 28_800 * i64::try_from(count + 1).unwrap());
    bank.verify();
}

#[test]
fn an_answer_changed_on_the_way_is_not_believed() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    let documents = Documents::own();
    let charge = |index: usize, from: &'static str, to: &'static str| -> Ran {
        let body = documents.with(4, &[("Moab.1024", &format!("Moab.{index}"))]);
        let address = relay(bank.tcp(), from, to);
        bank.call("charge").over_tcp(&address).body(&body).run()
    };
    // Passed on as it is, it is believed.
    charge(0, "200 OK", "200 OK").expect(0, "");
    assert_eq!(bank.spooled(), 0);
    let changes = [
        ("200 OK", "402 Payment Required"),
        ("200 OK", "409 Conflict"),
        ("ok charged", "ok chargee"),
        ("\r\nsignature: ", "\r\nno-signature: "),
        ("keyid=\"moab\"", "keyid=\"admin\""),
    ];
    for (index, (from, to)) in changes.into_iter().enumerate() {
        charge(index + 1, from, to)
            .expect(0, "")
            .expect_stderr(&["spool", "bank unreachable"]);
        bank.call("drain").over_tcp(&bank.tcp()).run().expect(0, "");
        assert_eq!((bank.spooled(), bank.quarantined()), (0, 0), "{to}");
        // The daemon had taken it already; its key met it.
        assert_eq!(
            billed(&bank),
            28_800 * i64::try_from(index + 2).unwrap(),
            "{to}"
        );
    }
    bank.verify();
}
