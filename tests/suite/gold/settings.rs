use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::{KEY, UNSERVED, private};
use crate::harness::{Bank, Dialect, Ran, Setup, carries, programs, until};

const PEER: &str = "\n[gold.peer.maui]\naddresses = [\"127.0.0.1\"]\n";

/// `bankd config check` with the gateway on.
fn check(bank: &Bank) -> Ran {
    let mut command = Command::new(programs().bankd());
    command
        .args(["config", "check", "--data"])
        .arg(bank.data())
        .env("BANKD_GOLD_LISTEN", "127.0.0.1:0");
    Ran::of(&mut command, b"")
}

/// `gold-wire.md` 2: a key that Maui would cut is refused when the settings are loaded and the port
/// is on; so is one that others may read.
#[test]
fn keys_that_no_client_could_hold_are_refused_at_load() {
    let mut bank = Setup::new().toml(PEER).start();
    let long = "k".repeat(64);
    let longer = "longer than 63 characters, where Maui cuts it";
    let letters = "it contains a character that schedulers change when they read it";
    let others = "others may read it (mode 0640); make it 0600";
    for (secret, mode, expected) in [
        (KEY, 0o600, None),
        (&long[1..], 0o600, None),
        (&long, 0o600, Some(longer)),
        ("two words", 0o600, Some(letters)),
        (KEY, 0o640, Some(others)),
    ] {
        let path = bank.data().join("keys/maui");
        fs::write(&path, secret).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let ran = check(&bank);
        let Some(expected) = expected else {
            assert_eq!(
                (ran.exit, ran.stdout.as_str()),
                (0, "ok\n"),
                "{}",
                ran.stderr
            );
            continue;
        };
        assert_eq!(ran.exit, 2, "{}", ran.stderr);
        let begin = format!("bankd: gold.peer.maui: {}: {expected}", path.display());
        assert!(ran.stderr.starts_with(&begin), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
    // With the port off no rule of the gateway counts, but a secret is never open to others.
    let path = bank.data().join("keys/maui");
    bank.stop();
    assert!(!bank.start_with(&[]));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    bank.start();
    bank.verify();
}

/// The order of the steps is free: a peer without a key is none until it has one.
#[test]
fn a_peer_may_come_before_its_key() {
    let mut bank = Setup::new()
        .env("BANKD_GOLD_LISTEN", "127.0.0.1:0")
        .toml(PEER)
        .start();
    until("a line of the log", || {
        bank.log().contains("no usable key").then_some(())
    });
    let made = bank.bank_ok(&["key", "add", "maui", "--gold", "--machine", "colony"]);
    let secret = made.lines().find_map(|line| line.strip_prefix("secret "));
    let secret = secret.unwrap();
    assert_eq!(secret.len(), 48);
    assert!(
        secret.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        "{secret}"
    );
    let shown = bank.bank_ok(&["key", "show", "maui", "--json"]);
    assert!(
        shown.contains("\"scheduler\"") && !shown.contains(secret),
        "{shown}"
    );
    let message = Dialect::Maui.message(secret, UNSERVED);
    let xml = Dialect::Maui.ask(&bank.gold(), &message).unwrap();
    assert_eq!(carries(&xml, secret), Some(true), "{xml}");
    bank.stop();
    let log = bank.log();
    assert!(!log.contains(secret), "the log tells the secret");
    bank.verify();
}

#[test]
fn a_secret_that_the_protocol_cannot_take_is_refused_when_a_key_is_made() {
    let mut bank = Setup::new().start();
    for (secret, why) in [
        ("k".repeat(64), "longer than 63 characters"),
        (
            "pass word".to_owned(),
            "a character that schedulers change when they read it",
        ),
        (
            "pass#word".to_owned(),
            "a character that schedulers change when they read it",
        ),
    ] {
        let file = private(&bank, "given.key", &secret);
        let ran = bank.bank(&["key", "add", "maui", "--gold", "--secret-file", &file]);
        assert_eq!(ran.exit, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    assert!(!bank.bank_ok(&["key", "ls"]).contains("maui"));
    bank.verify();
}

/// Keys in use have more than letters and digits: every character that schedulers read as it is.
#[test]
fn a_key_that_a_scheduler_has_already_signs_and_is_answered() {
    let mut bank = Setup::new()
        .env("BANKD_GOLD_LISTEN", "127.0.0.1:0")
        .toml(PEER)
        .start();
    let secret = "pass-word_!$%&()*+,./:;<=>?@[]^`{|}~";
    let file = private(&bank, "given.key", secret);
    let key = ["key", "add", "maui", "--gold", "--machine", "colony"];
    bank.bank_ok(&[&key[..], &["--secret-file", &file]].concat());
    let message = Dialect::Maui.message(secret, UNSERVED);
    let xml = Dialect::Maui.ask(&bank.gold(), &message).unwrap();
    assert_eq!(carries(&xml, secret), Some(true), "{xml}");
    bank.verify();
}

/// The gateway is off unless it is switched on: its peers alone open no port. The lines of the other
/// listeners come first and stay what they are.
#[test]
fn the_gateway_is_off_until_it_is_switched_on() {
    let mut bank = Setup::new().toml(PEER).start();
    assert_eq!(bank.further_output(), [""; 0]);
    bank.stop();
    assert!(bank.start_with(&[("BANKD_GOLD_LISTEN", "127.0.0.1:0")]));
    assert!(bank.gold().starts_with("127.0.0.1:"), "{}", bank.gold());
    assert_eq!(bank.further_output(), [""; 0]);
    bank.verify();
}
