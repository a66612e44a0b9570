//! The Gold gateway from outside (`gold-wire.md`): what goes over the wire, who is heard, what
//! happens to those who do not keep to it. What requests do to the ledger is told elsewhere.

mod abuse;
mod clients;
mod dialects;
mod garbage;
mod ledger;
mod options;
mod plausible;
mod refused;
mod settings;

use crate::harness::{Bank, Setup};

/// The key of the peer `maui`.
const KEY: &str = "sss";
/// A request that no version serves: whoever gets as far is told so by code 315.
const UNSERVED: &str = "<Body actor=\"root\"><Request action=\"Query\" actor=\"root\">\
                        <Object>EventLog</Object></Request></Body>";
/// What it is told.
const NOT_SERVED: &str = "Failure 315 ";

/// A bank with a gateway whose peer `maui` calls from the loopback, and further settings.
fn gateway(more: &str) -> Bank {
    gateway_of(Setup::new(), more)
}

/// The same with settings of the bank.
fn gateway_of(setup: Setup, more: &str) -> Bank {
    let peer = format!("\n[gold.peer.maui]\naddresses = [\"127.0.0.1\"]\n{more}");
    let bank = setup
        .env("BANKD_GOLD_LISTEN", "127.0.0.1:0")
        .toml(&peer)
        .start();
    let secret = private(&bank, "maui.key", KEY);
    let key = ["key", "add", "maui", "--gold", "--machine", "colony"];
    bank.bank_ok(&[&key[..], &["--secret-file", &secret]].concat());
    bank
}

/// A file that only its owner may read.
fn private(bank: &Bank, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = bank.folder().join(name);
    std::fs::write(&path, text).unwrap();
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&path, mode).unwrap();
    path.to_str().unwrap().to_owned()
}
