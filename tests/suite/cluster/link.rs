//! The proxy of the harness before a server that sends every byte back.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::harness::{Link, until};

/// How long a reader waits for an answer that must not come.
const SILENCE: Duration = Duration::from_millis(200);

/// A server that sends back what it gets; returns its address.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let mut back = stream.try_clone().unwrap();
                let _ = std::io::copy(&mut stream, &mut back);
            });
        }
    });
    address
}

fn client(link: &Link) -> TcpStream {
    let stream = TcpStream::connect(link.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    stream
}

/// Sends a word and reads it back.
fn echoed(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"word")?;
    let mut word = [0; 4];
    stream.read_exact(&mut word)?;
    assert_eq!(&word, b"word");
    Ok(())
}

#[test]
fn a_link_is_cut_and_healed() {
    let link = Link::to(&echo());
    let mut open = client(&link);
    echoed(&mut open).unwrap();
    link.cut();
    assert!(echoed(&mut open).is_err());
    until("new connections are refused", || {
        TcpStream::connect(link.address()).is_err().then_some(())
    });
    link.heal();
    echoed(&mut client(&link)).unwrap();
}

#[test]
fn a_link_that_hangs_keeps_connections_and_bytes() {
    let link = Link::to(&echo());
    let mut open = client(&link);
    echoed(&mut open).unwrap();
    link.hang();
    open.write_all(b"late").unwrap();
    open.set_read_timeout(Some(SILENCE)).unwrap();
    let mut word = [0; 4];
    let none = open.read(&mut word).unwrap_err();
    assert!(
        matches!(none.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        "{none}"
    );
    link.heal();
    open.set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    open.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"late");
    echoed(&mut open).unwrap();
}

#[test]
fn a_link_delays_each_direction() {
    let link = Link::to(&echo());
    let mut open = client(&link);
    link.delay(Duration::from_millis(100));
    let since = Instant::now();
    echoed(&mut open).unwrap();
    assert!(since.elapsed() >= Duration::from_millis(200));
    link.heal();
    echoed(&mut open).unwrap();
}
