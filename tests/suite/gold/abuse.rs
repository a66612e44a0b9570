//! A thousand connections that do everything wrong at once, and a good client beside them
//! (`gold-wire.md` 1.2). As a test it takes a few seconds; the whole five minutes are
//! `BANK_ABUSE_SECONDS=300 cargo test -p bank-tests --test suite gold::abuse -- --nocapture`.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::interval;

use super::{KEY, NOT_SERVED, UNSERVED, gateway};
use crate::harness::{Dialect, pause, summary};

/// Connections that are open at once.
const MANY: usize = 1000;
/// Seconds that a test may take for it.
const SHORT: u64 = 8;
/// How long the good client may wait for any answer.
const ANSWER: Duration = Duration::from_secs(1);
/// What the daemon may grow by, in KiB.
const GROWTH: i64 = 16 << 10;

fn seconds() -> u64 {
    let setting = std::env::var_os("BANK_ABUSE_SECONDS");
    let setting = setting.and_then(|text| text.to_str()?.parse().ok());
    setting.unwrap_or(SHORT)
}

/// What one of them sends before it only waits, and what it goes on sending each second.
fn misdeed(number: usize) -> (Vec<u8>, &'static [u8]) {
    let head = "POST /SSSRMAP3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let framed = |payload: &str| Dialect::Slurm.framed(payload);
    match number % 8 {
        0 => (Vec::new(), b""),
        1 => (b"P".to_vec(), b"O"),
        2 => (b"POST /SSSRMAP3 HTTP/1.1\r\nX: ".to_vec(), b"x"),
        3 => (format!("{head}FFFF\r\n<Envelope>").into_bytes(), b"x"),
        4 => ([head.as_bytes(), &vec![b'x'; 10 << 20]].concat(), b""),
        5 => (framed(&"<x>".repeat(20_000)), b""),
        6 => (
            framed("<!DOCTYPE x [<!ENTITY y 'z'>]><Envelope><Body>&y;</Body></Envelope>"),
            b"",
        ),
        _ => (vec![0xA5; 4096], b"\0"),
    }
}

/// One of them: does it wrong, waits until it is thrown out, and comes again.
async fn abuse(address: String, number: usize) {
    let (first, then) = misdeed(number);
    let mut beat = interval(Duration::from_secs(1));
    loop {
        beat.tick().await;
        let Ok(mut stream) = TcpStream::connect(&address).await else {
            continue;
        };
        if stream.write_all(&first).await.is_err() {
            continue;
        }
        let mut answer = [0; 1024];
        loop {
            tokio::select! {
                read = stream.read(&mut answer) => match read {
                    Ok(1..) => {}
                    _ => break,
                },
                _ = beat.tick() => {
                    if stream.write_all(then).await.is_err() {
                        break;
                    }
                }
            }
        }
    }
}

/// A call of the good client; how long it took.
fn call(address: &str, message: &[u8]) -> Duration {
    let since = Instant::now();
    let answer = Dialect::Maui.ask(address, message).unwrap();
    assert!(summary(&answer).starts_with(NOT_SERVED), "{answer}");
    since.elapsed()
}

#[test]
fn a_thousand_abusers_keep_nobody_waiting() {
    let mut bank = gateway("");
    let (address, length) = (bank.gold(), Duration::from_secs(seconds()));
    let message = Dialect::Maui.message(KEY, UNSERVED);
    for _ in 0..50 {
        call(&address, &message);
    }
    let before = bank.memory_kib();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let abusers = (0..MANY).map(|number| runtime.spawn(abuse(address.clone(), number)));
    let abusers: Vec<_> = abusers.collect();
    let since = Instant::now();
    let (mut calls, mut late, mut longest, mut most) = (0, 0, Duration::ZERO, before);
    while since.elapsed() < length {
        let took = call(&address, &message);
        longest = longest.max(took);
        most = most.max(bank.memory_kib());
        calls += 1;
        late += u32::from(took >= ANSWER);
        pause(Duration::from_millis(10));
    }
    assert!(abusers.iter().all(|task| !task.is_finished()));
    drop(runtime);
    let grown = most - before;
    println!("{calls} good calls, the longest {longest:?}; grown by {grown} KiB");
    // The other tests want the machine too; the program of its own allows none.
    let allowed = if length.as_secs() > SHORT {
        0
    } else {
        calls / 50
    };
    assert!(late <= allowed, "{late} of {calls} calls were late");
    assert!(grown <= GROWTH, "grown by {grown} KiB");
    assert!(!bank.log().contains("a bug"), "{}", bank.log());
    bank.verify();
}
