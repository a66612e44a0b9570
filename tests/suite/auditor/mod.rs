//! AUDITOR's REST API from outside.

mod access;
mod again;
pub(crate) mod authority;
mod kill;
mod large;
mod late;
mod peer;
mod peer_queue;
mod relay;
mod reload;
mod tls;
mod wire;

use std::fs;

use crate::harness::{Bank, Setup};
use authority::Authority;

/// A bank, and where AUDITOR's routes are.
struct Site {
    bank: Bank,
    address: String,
}

/// A bank with AUDITOR's routes, without TLS.
fn site() -> Site {
    let bank = Setup::new()
        .env("BANKD_AUDITOR_LISTEN", "127.0.0.1:0")
        // A disk that is still busy with a build may hold up a commit for longer than clients wait.
        .env("BANKD_AUDITOR_PATIENCE_S", "120")
        .start();
    let address = address(&bank);
    Site { bank, address }
}

/// One with TLS by this authority, and these rules behind `[auditor.access]`.
fn secure_site(authority: &Authority, rules: &str) -> Site {
    let mut bank = Setup::new().start();
    bank.stop();
    let path = bank.data().join("bankd.toml");
    let file = |name: &str| authority.path(name).display().to_string();
    let tls = format!(
        "[auditor.tls]\nlisten = \"127.0.0.1:0\"\ncert = {:?}\nkey = {:?}\nca = {:?}\n",
        file("server.pem"),
        file("server.key"),
        file("ca.pem"),
    );
    let patient = "[auditor]\npatience_s = 120\n";
    let access = format!("[auditor.access]\n{rules}");
    let text = fs::read_to_string(&path).unwrap();
    let changed = text
        .replace("[auditor]\n", patient)
        .replace("[auditor.tls]\n", &tls)
        .replace("[auditor.access]\n", &access);
    let parts = [patient, &tls, &access];
    assert!(parts.iter().all(|part| changed.contains(*part)));
    fs::write(path, changed).unwrap();
    bank.start();
    let address = address(&bank);
    Site { bank, address }
}

/// Where AUDITOR's routes are, as the daemon says it.
fn address(bank: &Bank) -> String {
    let mut lines = bank.further_output().iter();
    let address = lines.find_map(|line| line.strip_prefix("listening auditor "));
    let address = address.expect("the daemon does not say where AUDITOR's routes are");
    address.rsplit('/').next().unwrap().to_owned()
}
