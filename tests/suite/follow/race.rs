//! Rotation, a writer and a daemon that is killed, all at once. As a test it takes a few seconds; a long run is
//! `BANK_ROTATE_SECONDS=600 cargo test -p bank-tests --test suite follow::race -- --nocapture`, and
//! `BANK_ROTATE_SEED` begins elsewhere.

use std::time::{Duration, Instant};

use super::*;
use crate::harness::{T0, pause};

/// Seconds that a test may take for it.
const SHORT: u64 = 6;

fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var_os(name);
    let given = given.and_then(|text| text.to_str()?.parse().ok());
    given.unwrap_or(usual)
}

/// A small generator: the same seed makes the same choices.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

#[test]
fn no_line_is_lost_while_rotation_races_a_daemon_that_is_killed() {
    let seconds = Duration::from_secs(number("BANK_ROTATE_SECONDS", SHORT));
    let seed = number("BANK_ROTATE_SEED", 0x9e37_79b9_7f4a_7c15).max(1);
    eprintln!("BANK_ROTATE_SEED={seed}");
    let mut chance = Chance(seed);
    let mut bank = following("");
    let (mut written, mut clock) = (0, T0);
    let since = Instant::now();
    while since.elapsed() < seconds {
        let more = usize::try_from(chance.below(8)).unwrap() + 1;
        append(&bank, &jobs(written..written + more));
        written += more;
        match chance.below(12) {
            0..=2 => {
                let way = ["rename", "gzip", "copy"][usize::try_from(chance.below(3)).unwrap()];
                rotate(&bank, way);
                append(&bank, "");
            }
            3 => {
                bank.kill();
                bank.start();
            }
            4 => {
                clock += 40;
                bank.set_clock(clock);
            }
            _ => pause(Duration::from_millis(chance.below(400))),
        }
    }
    settled(&bank, written, &mut clock);
    let shown = source(&bank);
    assert_eq!(
        shown["follow"][0]["left_out"],
        serde_json::json!([]),
        "seed {seed}: {}",
        bank.log()
    );
    bank.verify();
}
