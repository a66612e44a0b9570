//! `bank migrate`: other banks move in through the real programs.

mod broken;
mod databases;
mod gold;
mod killed;
mod mysql;
mod others;
mod server;
#[path = "../../../bank-cli/migrate/src/tests/tables.rs"]
mod tables;

use std::fs;
use std::path::PathBuf;

pub(crate) use self::mysql::MariaDb;
use crate::harness::{Bank, Ran};

/// 2026-11-24T01:00:00Z: the reservations of the tables are open.
const NOW: i64 = 1_795_482_000;

/// A new bank of that time with three decimals.
fn new_bank() -> Bank {
    let mut bank = Bank::initialized(Vec::new(), NOW, &["--precision", "3", "--unit", "credits"]);
    bank.start();
    bank
}

/// A folder with files in the folder of the bank.
fn folder(bank: &Bank, name: &str, files: &[(&str, &str)]) -> String {
    let path = bank.folder().join(name);
    fs::create_dir_all(&path).unwrap();
    for (file, text) in files {
        fs::write(path.join(file), text).unwrap();
    }
    path.to_str().unwrap().to_owned()
}

/// Gold's tables as files.
fn gold_folder(bank: &Bank) -> String {
    folder(bank, "gold", &tables::TABLES)
}

/// The figures of all accounts with money: name, amount, held, credit limit.
fn balances(bank: &Bank) -> Vec<String> {
    let list = bank.items(&["account", "ls"]);
    let text = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
    let rows = list.iter().map(|row| {
        let figures = ["name", "amount", "held", "credit_limit"].map(|name| text(row, name));
        figures.join(" ")
    });
    let mut rows: Vec<String> = rows.filter(|row| !row.starts_with('#')).collect();
    rows.sort_unstable();
    rows
}

/// The links of Gold's commands.
fn links(bank: &Bank) -> PathBuf {
    let links = bank.folder().join("links");
    bank.bank_ok(&["gen", "links", links.to_str().unwrap()]);
    links
}

#[track_caller]
fn moved(ran: &Ran) -> String {
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout.clone()
}
