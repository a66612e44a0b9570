use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{KEY, UNSERVED, gateway};
use crate::harness::{Dialect, carries, summary};

/// Messages that were changed.
const MUTATIONS: usize = 10_000;
/// Who sends them at once.
const SENDERS: usize = 4;
/// Everything the gateway may say to what is no message, or not the sender's.
const CODES: [&str; 7] = ["242", "313", "314", "315", "422", "432", "720"];

/// Numbers that look like chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % bound
    }
}

/// A message with some of it cut, doubled, exchanged or made up.
fn mutated(message: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = message.to_vec();
    for _ in 0..=chance.below(4) {
        let at = chance.below(bytes.len().max(1)).min(bytes.len());
        let end = (at + 1 + chance.below(20)).min(bytes.len());
        match chance.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes[at..end].reverse(),
            4 => bytes[at..end].fill(u8::try_from(chance.below(256)).unwrap()),
            _ => {
                let words = [
                    "<Body>",
                    "</Body>",
                    "\r\n\r\n",
                    "0\r\n",
                    "<!DOCTYPE x>",
                    "'",
                    "FFFF\r\n",
                ];
                let word = words[chance.below(words.len())];
                bytes.splice(at..at, word.bytes());
            }
        }
    }
    bytes
}

/// Sends bytes and closes its side; the answer, and how long it took after the last byte.
fn sent(address: &str, bytes: &[u8]) -> (String, Duration) {
    let mut stream = TcpStream::connect(address).unwrap();
    // The gateway may have answered before everything was sent.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let since = Instant::now();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    (String::from_utf8(answer).unwrap(), since.elapsed())
}

#[test]
fn whatever_arrives_is_answered() {
    let seed = 0x60_1d_5e_ed;
    println!("seed {seed}");
    let mut bank = gateway("");
    let address = bank.gold();
    let before = (bank.transactions(), bank.memory_kib());
    let through = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (address, through) = (&address, &through);
            scope.spawn(move || {
                let mut chance = Chance(seed + u64::try_from(sender).unwrap());
                for number in 0..MUTATIONS / SENDERS {
                    let dialect = Dialect::ALL[number % Dialect::ALL.len()];
                    let message = dialect.message(KEY, UNSERVED);
                    let bytes = mutated(&message, &mut chance);
                    let (answer, took) = sent(address, &bytes);
                    let text = String::from_utf8_lossy(&bytes);
                    assert!(took < Duration::from_secs(1), "{took:?} for {text}");
                    let code = summary(&answer)
                        .split(' ')
                        .nth(1)
                        .unwrap_or_default()
                        .to_owned();
                    assert!(CODES.contains(&code.as_str()), "{answer} for {text}");
                    // Only what carries the peer's signature was read by anybody.
                    if carries(&answer, KEY) == Some(true) {
                        assert_eq!(code, "315", "{text}");
                        through.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let through = through.into_inner();
    println!("{through} of {MUTATIONS} were as good as before");
    assert!(through < MUTATIONS / 2);
    assert_eq!(bank.transactions(), before.0);
    let grown = bank.memory_kib() - before.1;
    assert!(grown < 16 << 10, "grown by {grown} KiB");
    assert!(!bank.log().contains("a bug"), "{}", bank.log());
    bank.verify();
}

/// A client that closes its side after the message, or with it, gets its answer; one that is gone
/// hurts nobody.
#[test]
fn half_closed_and_broken_connections_are_served_or_forgotten() {
    let mut bank = gateway("");
    for dialect in Dialect::ALL {
        let (answer, _) = sent(&bank.gold(), &dialect.message(KEY, UNSERVED));
        assert_eq!(carries(&answer, KEY), Some(true), "{answer}");
    }
    for length in (1..600).step_by(7) {
        let message = Dialect::Maui.message(KEY, UNSERVED);
        let mut stream = TcpStream::connect(bank.gold()).unwrap();
        stream
            .write_all(&message[..length.min(message.len())])
            .unwrap();
        drop(stream);
    }
    let (answer, _) = sent(&bank.gold(), &Dialect::Maui.message(KEY, UNSERVED));
    assert_eq!(carries(&answer, KEY), Some(true), "{answer}");
    bank.verify();
}
