//! Alerts: raised once, cleared, sent in order to programs, mail and webhooks, through
//! crashes; and the forecasts.

mod digest;
mod events;
mod forecast;
mod kill;
mod mail;
mod unfunded;
pub(crate) mod webhook;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::harness::{Bank, Setup, T0, until};

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A bank that watches, with these settings at the end of its file; `FOLDER` in them is its folder.
fn watching(env: &[(&str, &str)], toml: &str) -> Bank {
    let mut setup = Setup::new()
        .env("BANKD_ATTENTION_ON", "true")
        .env("BANKD_ATTENTION_EVERY_S", "1");
    for (name, value) in env {
        setup = setup.env(name, value);
    }
    let mut bank = setup.start();
    bank.stop();
    let folder = bank.folder().display().to_string();
    bank.settings(&toml.replace("FOLDER", &folder));
    bank.start();
    bank
}

/// A program in the bank's folder.
fn program(bank: &Bank, name: &str, script: &str) {
    let path = bank.folder().join(name);
    fs::write(&path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A target that keeps what it is told, a line each.
const KEEPER: &str = "\n[[deliver]]\nname = \"keeper\"\nby = \"command\"\n\
    command = [\"/bin/sh\", \"-c\", \"(cat; echo) >> FOLDER/told\"]\nretry_s = 1\n";

/// What the keeper was told.
fn notifications(bank: &Bank) -> Vec<Value> {
    let text = fs::read_to_string(bank.folder().join("told")).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty());
    // The last line may be on its way.
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// What the keeper was told as `raised used 80`, once it is so many.
#[track_caller]
fn words(bank: &Bank, count: usize) -> Vec<String> {
    let all = until(&format!("{count} notices"), || {
        let notifications = notifications(bank);
        (notifications.len() >= count).then_some(notifications)
    });
    all.iter().map(word).collect()
}

fn word(notification: &Value) -> String {
    let event = &notification["event"];
    let turn = event["turn"].as_str().unwrap();
    let kind = event["kind"].as_str().unwrap();
    match event["threshold"].as_i64() {
        Some(threshold) => format!("{turn} {kind} {threshold}"),
        None => format!("{turn} {kind}"),
    }
}

/// Bills chemistry so many seconds of one processor: as many units.
#[track_caller]
fn charge(bank: &Bank, job: &str, seconds: i64) {
    let seconds = seconds.to_string();
    bank.bank_ok(&[
        "charge",
        job,
        "--procs",
        "1",
        "--wall",
        &seconds,
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
    ]);
}

/// What is raised, as `used 80`, in order.
fn raised(bank: &Bank) -> Vec<String> {
    let list = bank.json(&["attention", "ls"]);
    let items = list["items"].as_array().unwrap().iter();
    let mut words: Vec<String> = items
        .map(|item| {
            let kind = item["kind"].as_str().unwrap();
            match item["threshold"].as_i64() {
                Some(threshold) => format!("{kind} {threshold}"),
                None => kind.to_owned(),
            }
        })
        .collect();
    words.sort();
    words
}

/// Waits until exactly this is raised.
#[track_caller]
fn until_raised(bank: &Bank, expected: &[&str]) {
    let mut last = Vec::new();
    let mut looks = 0;
    until(&format!("{expected:?} is raised"), || {
        last = raised(bank);
        looks += 1;
        if looks % 500 == 0 {
            eprintln!("raised: {last:?}");
        }
        (last == expected).then_some(())
    });
}
