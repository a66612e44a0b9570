//! Imports that break off, whoever ends: the same command again, and everything is there once.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{HEAD, file, lines, watching};
use crate::harness::{Bank, Ran, Request, programs, until};

/// Jobs of the file; more than a chunk, in more than one piece.
const JOBS: usize = 400;

const SMALL: [(&str, &str); 2] = [
    ("BANKD_HTTP_BODY_LIMIT", "4096"),
    ("BANKD_IMPORT_CHUNK", "50"),
];

/// A `bank import` whose input is a pipe that stays open.
fn piped(bank: &Bank) -> Child {
    Command::new(programs().bank())
        .args(["import", "sacct", "-", "--source", "slurm:colony"])
        .env_clear()
        .env("BANK_SERVER", format!("unix:{}", bank.socket().display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn records(bank: &Bank) -> u64 {
    let answer = bank.over_socket(&Request::get("/api/v1/imports"));
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    let items = answer["items"].as_array().unwrap();
    items
        .iter()
        .filter_map(|item| item["records"].as_u64())
        .sum()
}

/// The same again, and what is in the bank is what a single import would have left.
fn is_whole_after_another(mut bank: Bank, day: &str) {
    let output = bank.bank_ok(&["import", "sacct", day, "--source", "slurm:colony"]);
    assert!(output.contains(&format!("{JOBS} jobs")), "{output}");
    let output = bank.bank_ok(&["import", "sacct", day, "--source", "slurm:colony"]);
    let all = format!("in the bank, from slurm:colony: {JOBS} duplicate\n");
    assert!(output.contains(&all), "{output}");
    let machine = bank.json(&["machine", "show", "colony"]);
    assert_eq!(machine["source"], json!("slurm:colony"));
    bank.verify();
    let totals = "SELECT count(*), sum(millis), sum(end_at - start_at) / 1000000
                  FROM usage_identity";
    let jobs = JOBS.to_string();
    let (millis, seconds) = ((JOBS * 2000).to_string(), (JOBS * 3600).to_string());
    assert_eq!(bank.query(totals), [[jobs, millis, seconds]]);
}

#[test]
fn the_sender_is_killed() {
    let bank = watching(&SMALL);
    let text = format!("{HEAD}{}", lines(0, JOBS));
    let day = file(&bank, "day.sacct", &text);
    let mut sender = piped(&bank);
    // Pieces of 1 MiB are filled before they are sent: steps, which count for nothing, fill them.
    let mut pipe = sender.stdin.take().unwrap();
    let half = &text.as_bytes()[..text.len() * 2 / 3];
    pipe.write_all(half).unwrap();
    let filler = lines(0, 11_000).replace("|colony|", ".batch|colony|");
    pipe.write_all(filler.as_bytes()).unwrap();
    until("two chunks are read", || {
        (records(&bank) > 100).then_some(())
    });
    sender.kill().unwrap();
    sender.wait().unwrap();
    drop(pipe);
    is_whole_after_another(bank, &day);
}

#[test]
fn the_daemon_is_killed_between_two_chunks() {
    for point in ["committed:1", "committed:3", "committed:6", "replied:2"] {
        let mut bank = watching(&SMALL);
        let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, JOBS)));
        bank.stop();
        if bank.start_with(&[("BANKD_KILL_AT", point)]) {
            let ran = bank.bank(&["import", "sacct", &day, "--source", "slurm:colony"]);
            assert_eq!(ran.exit, 5, "{point}: {}", ran.stderr);
            ran.expect_stderr(&["cannot reach the daemon", "nothing counts twice"]);
        }
        bank.stop_or_kill();
        bank.start();
        is_whole_after_another(bank, &day);
    }
}

/// The daemon dies and is started again while `bank import` sends a file: the import begins again by itself.
#[test]
fn an_import_begins_again_behind_a_restart() {
    let mut bank = watching(&SMALL);
    let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, JOBS)));
    bank.stop();
    assert!(bank.start_with(&[("BANKD_KILL_AT", "committed:4")]));
    let mut command = Command::new(programs().bank());
    command
        .args(["import", "sacct", &day, "--source", "slurm:colony"])
        .env_clear()
        .env("BANK_SERVER", format!("unix:{}", bank.socket().display()));
    let sender = std::thread::spawn(move || Ran::of(&mut command, b""));
    until("the daemon is gone", || bank.is_gone().then_some(()));
    bank.kill();
    bank.start();
    let ran = sender.join().unwrap();
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.expect_stderr(&["the daemon was restarted", "nothing counts twice"]);
    is_whole_after_another(bank, &day);
}

/// A pipe cannot be sent again: the error is not that of a missing object, and names the command.
#[test]
fn an_import_of_a_pipe_names_the_command_behind_a_restart() {
    let mut bank = watching(&SMALL);
    let mut command = Command::new(programs().bank());
    command
        .args(["import", "sacct", "-", "--source", "it's"])
        .env_clear()
        .env("BANK_SERVER", format!("unix:{}", bank.socket().display()))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null());
    let mut sender = command.spawn().unwrap();
    let mut pipe = sender.stdin.take().unwrap();
    let filler = lines(0, 11_000).replace("|colony|", ".batch|colony|");
    pipe.write_all(format!("{HEAD}{}{filler}", lines(0, JOBS)).as_bytes())
        .unwrap();
    until("some of it is read", || {
        (records(&bank) > 100).then_some(())
    });
    bank.stop_or_kill();
    bank.start();
    let _ = pipe.write_all(filler.as_bytes());
    let _ = pipe.write_all(filler.as_bytes());
    drop(pipe);
    let ended = sender.wait_with_output().unwrap();
    let output = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(5), "{output}");
    for part in [
        "it was restarted since",
        "run it again, nothing counts twice",
        "import sacct - --source 'it'\\''s'",
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

/// `bankd import` of files, fifty jobs a chunk.
fn offline(bank: &Bank, files: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut offline = Command::new(programs().bankd());
    offline.args(["import", "sacct"]).args(files);
    offline.args(["--source", "slurm:colony", "--chunk", "50", "--data"]);
    offline.arg(bank.data());
    offline.env("BANKD_TEST_CLOCK", bank.clock());
    offline.envs(variables.iter().copied());
    Ran::of(&mut offline, b"")
}

#[test]
fn an_offline_import_is_killed_between_two_chunks() {
    for (point, is_in) in [
        ("portion:1", false),
        ("portion:5", false),
        ("portion:8", false),
        ("committed:1", true),
    ] {
        let mut bank = watching(&[]);
        let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, JOBS)));
        bank.stop();
        let ran = offline(&bank, &[&day], &[("BANKD_KILL_AT", point)]);
        assert_ne!(ran.exit, 0, "{point}: {}", ran.stdout);
        bank.verify();
        // Chunks of one commit are there together, or none of them.
        let there = bank.query("SELECT count(*) FROM usage_identity");
        let expected = if is_in { JOBS } else { 0 };
        assert_eq!(there, [[expected.to_string()]], "{point}");
        bank.start();
        is_whole_after_another(bank, &day);
    }
}

#[test]
fn what_landed_offline_stays_where_a_later_file_cannot_be_read() {
    let mut bank = watching(&[]);
    let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, JOBS)));
    let cut = cut_off(format!("{HEAD}{}", lines(JOBS, 9)).as_bytes());
    let cut = file(&bank, "later.sacct.zst", cut);
    bank.stop();
    let ran = offline(&bank, &[&day, &cut], &[]);
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    ran.expect_stderr(&["later.sacct.zst"]);
    bank.start();
    let all = JOBS.to_string();
    let there = bank.query("SELECT count(*) FROM usage_identity");
    assert_eq!(there, [[all]]);
    bank.verify();
}

#[test]
fn a_stop_of_the_daemon_ends_imports_in_order() {
    let mut bank = watching(&SMALL);
    let text = format!("{HEAD}{}", lines(0, JOBS));
    let day = file(&bank, "day.sacct", &text);
    let body = br#"{"source":"slurm:colony","format":"sacct"}"#;
    let opened = bank.over_socket(&Request {
        target: "/api/v1/imports".to_owned(),
        ..Request::nami("x", "k", body)
    });
    let opened: Value = serde_json::from_slice(&opened.body).unwrap();
    let id = opened["id"].as_str().unwrap();
    let taken = bank.over_socket(&Request {
        target: format!("/api/v1/imports/{id}/data?file=a&at=0"),
        ..Request::nami("x", "k2", &text.as_bytes()[..4000])
    });
    assert_eq!(taken.status, 200, "{}", taken.text());
    bank.stop();
    bank.start();
    is_whole_after_another(bank, &day);
}

/// A Zstandard file that breaks off behind its first block.
fn cut_off(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
    let whole = (length + 100).to_le_bytes();
    let block = (length << 3).to_le_bytes();
    [&head[..], &whole, &block[..3], bytes].concat()
}

#[test]
fn what_cannot_be_read_leaves_no_collector() {
    let mut bank = watching(&[]);
    let sources = |bank: &Bank| bank.query("SELECT name FROM source");
    let cut = cut_off(format!("{HEAD}{}", lines(0, 9)).as_bytes());
    let noise = [0x1f, 0x8b, 8, 0, 0xff, 0xff, 0xff].repeat(9);
    for (name, bytes) in [("cut.sacct.zst", cut), ("noise.sacct.gz", noise)] {
        let path = file(&bank, name, bytes);
        let ran = bank.bank(&["import", "sacct", &path, "--source", "slurm:new"]);
        assert_ne!(ran.exit, 0, "{name}: {}", ran.stdout);
        assert_eq!(sources(&bank), Vec::<Vec<String>>::new(), "{name}");
    }
    let status = bank.json(&["status"]);
    assert_eq!(status["silent_sources"], json!([]), "{status}");
    // A file without records is no error.
    for bytes in ["", HEAD] {
        let path = file(&bank, "empty.sacct", bytes);
        let text = bank.bank_ok(&["import", "sacct", &path, "--source", "slurm:new"]);
        let first = "no records: the input is empty, or has only a header\n";
        assert!(text.starts_with(first), "{text}");
    }
    // What was read in full makes it known.
    let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, 9)));
    bank.bank_ok(&["import", "sacct", &day, "--source", "slurm:new"]);
    assert_eq!(sources(&bank), [["slurm:new"]]);
    bank.verify();
}
