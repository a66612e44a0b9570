//! `bankd replay`: captured documents on a copy, and never a trace of them in the bank.

use std::process::Command;

use serde_json::Value;

use super::conf;
use crate::harness::{Bank, Documents, Ran, programs};

/// Runs `bankd replay` over this bank's data.
fn replay(bank: &Bank, words: &[&str]) -> Ran {
    let mut command = Command::new(programs().bankd());
    command
        .args(["replay", "--data"])
        .arg(bank.data())
        .args(words)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TMPDIR", bank.folder());
    Ran::of(&mut command, b"")
}

fn played(ran: &Ran) -> Vec<Value> {
    let lines = ran.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What is captured from a job's life tells, played again, what that life came to.
#[test]
fn a_captured_life_comes_to_the_same_on_the_copy() {
    let documents = Documents::own();
    let mut bank = Bank::new();
    let captures = bank.folder().join("captures");
    std::fs::create_dir(&captures).unwrap();
    // The copy is taken before the documents come.
    let before = bank.folder().join("before");
    bank.stop();
    let copied = Command::new("cp")
        .arg("-r")
        .arg(bank.data())
        .arg(&before)
        .status();
    assert!(copied.unwrap().success());
    bank.start();
    for (event, number) in [
        ("create", 2),
        ("reserve", 3),
        ("charge", 4),
        ("charge", 5),
        ("delete", 6),
    ] {
        let capture = format!("capture_dir={}", captures.display());
        let call = bank.call(event).set(capture);
        call.body(&documents.get(number)).run().expect(0, "");
    }
    let real = bank.figures("chemistry");
    bank.stop();

    let folder = captures.to_str().unwrap().to_owned();
    let mut command = Command::new(programs().bankd());
    command
        .args(["replay", "--json", "-m", "colony", "--data"])
        .args([before.to_str().unwrap(), &folder])
        .env("TMPDIR", bank.folder());
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let rows = played(&ran);
    let story: Vec<_> = rows
        .iter()
        .map(|row| {
            let object = &row["objects"][0];
            let figure = |name: &str| object[name].as_str().unwrap_or("-").to_owned();
            format!(
                "{} {} lien {} charged {} balance {} {}",
                row["event"].as_str().unwrap(),
                row["exit"],
                figure("lien"),
                figure("charged"),
                figure("balance"),
                figure("state")
            )
        })
        .collect();
    assert_eq!(
        story,
        [
            "create 0 lien - charged 0 balance - open",
            "reserve 0 lien 57600 charged 0 balance 100000 open",
            "charge 0 lien 28800 charged 28800 balance 71200 open",
            "charge 0 lien 21856 charged 35744 balance 64256 open",
            "delete 0 lien 0 charged 35744 balance 64256 closed",
        ]
    );
    assert_eq!(real, (64_256, 0, 64_256));
    bank.verify();
}

#[test]
fn the_bank_itself_is_never_written() {
    let documents = Documents::own();
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    let before = bank.transactions();
    let path = bank.folder().join("charge.xml");
    std::fs::write(&path, documents.get(4)).unwrap();
    let name = path.to_str().unwrap();
    // Beside a daemon that serves the bank, and through the front.
    let words = ["-m", "colony", "--event", "charge", name, name];
    let ran = replay(&bank, &words);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("lien 28800  charged 28800  balance 71200"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("lien 0  charged 57600  balance 42400"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .ends_with("2 documents, 0 rejected; nothing was written to the bank\n"),
        "{}",
        ran.stdout
    );
    let data = bank.data();
    let front = [
        &["nami", "replay", "--data", data.to_str().unwrap()],
        &words[..],
    ]
    .concat();
    let through = bank.bank(&front);
    assert_eq!(
        (through.exit, through.stdout.lines().count()),
        (0, 7),
        "{}",
        through.stderr
    );
    let in_json = bank.bank(&[&front[..2], &["--json"], &front[2..]].concat());
    assert_eq!(played(&in_json).len(), 2, "{}", in_json.stdout);
    assert_eq!(bank.transactions(), before);
    assert_eq!(bank.figures("chemistry"), (100_000, 57_600, 42_400));
    let left = std::fs::read_dir(bank.folder()).unwrap();
    let left = left.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("bankd-replay-")
    });
    assert_eq!(left.count(), 0, "the copy is removed");
    bank.verify();
}

#[test]
fn requests_that_would_be_rejected_are_listed_and_the_exit_code_is_1() {
    let documents = Documents::own();
    let bank = Bank::new();
    let put = |name: &str, body: &[u8]| {
        let path = bank.folder().join(name);
        std::fs::write(&path, body).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let poor = put(
        "poor.xml",
        &documents.with(
            3,
            &[
                ("<WallDuration>3600", "<WallDuration>99999"),
                ("<ChargeDuration>3600", "<ChargeDuration>99999"),
            ],
        ),
    );
    let broken = put("broken.xml", &documents.get(36));
    for (file, exit, start) in [
        (&poor, 78, "refused insufficient_funds"),
        (&broken, 31, "error bad_document"),
    ] {
        let ran = replay(
            &bank,
            &["--json", "-m", "colony", "--event", "reserve", file],
        );
        assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
        let rows = played(&ran);
        assert_eq!(rows[0]["exit"], exit, "{rows:?}");
        let answer = rows[0]["objects"][0]["answer"].as_str().unwrap();
        assert!(answer.starts_with(start), "{answer}");
    }
    for (words, exit) in [
        (vec!["none.xml"], 1),
        (vec![poor.as_str()], 1),
        (vec!["--event", "../x", poor.as_str()], 1),
        (vec![], 2),
    ] {
        let ran = replay(&bank, &words);
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.stderr);
        let one_line = ran.stderr.lines().count() == 1 && ran.stderr.starts_with("bankd: ");
        assert!(one_line || exit == 2, "{}", ran.stderr);
    }
    // The settings of the scripts are not needed, and a capture without a bank is told.
    let _ = conf(&bank, "");
    let nowhere = Ran::of(
        Command::new(programs().bankd()).args(["replay", "--data", "/nonexistent", &poor]),
        b"",
    );
    assert_eq!(nowhere.exit, 4, "{}", nowhere.stderr);
}
