//! The same import again is harmless; several files are one source; what an import says.

use std::process::Command;

use serde_json::json;

use super::{HEAD, file, lines, summary, watching};
use crate::harness::{Bank, Ran, programs};

#[test]
fn the_same_import_again_changes_nothing() {
    let mut bank = watching(&[("BANKD_IMPORT_CHUNK", "7")]);
    let text = format!("{HEAD}{}a line without columns\n", lines(0, 25));
    let day = file(&bank, "day.sacct", text);
    let output = bank.bank_ok(&["import", "sacct", &day, "--source", "slurm:colony"]);
    assert!(
        output.starts_with("read 26 records: 25 jobs, 0 skipped, 1 rejected\n"),
        "{output}"
    );
    assert!(output.contains("\nholds 50.000 core-hours"), "{output}");
    assert!(
        output.contains("\nin the bank, from slurm:colony: 25 "),
        "{output}"
    );
    assert!(output.contains("\nin the quarantine: 1\n"), "{output}");
    let output = bank.bank_ok(&["import", "sacct", &day, "--source", "slurm:colony"]);
    assert!(
        output.contains("\nin the bank, from slurm:colony: 25 duplicate\n"),
        "{output}"
    );
    let aside = bank.json(&["quarantine", "ls"]);
    assert_eq!(aside["items"].as_array().unwrap().len(), 1, "{aside}");
    bank.verify();
    assert_eq!(
        bank.query("SELECT count(*), sum(millis) FROM usage_identity"),
        [["25", "50000"]]
    );
}

#[test]
fn several_files_and_folders_are_one_source() {
    let mut bank = watching(&[]);
    file(&bank, "in/b/2.sacct", format!("{HEAD}{}", lines(10, 5)));
    let folder = file(&bank, "in/a/1.sacct", format!("{HEAD}{}", lines(0, 10)));
    let folder = folder.trim_end_matches("/a/1.sacct");
    let gzip = file(&bank, "more.sacct.zst", {
        let text = format!("{HEAD}{}", lines(5, 10));
        zstd(text.as_bytes())
    });
    let found = summary(&bank, &["sacct", folder, &gzip, "--source", "s"]);
    assert_eq!(found["records"], json!(25));
    assert_eq!(found["jobs"], json!(25));
    assert_eq!(found["identities"], json!(15));
    assert_eq!(found["replaced"], json!(10));
    bank.verify();
    let counted = "SELECT count(*) FROM usage_identity";
    assert_eq!(bank.query(counted), [["15"]]);
}

/// One raw block: bytes as Zstandard has them uncompressed, so that no library is needed here.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    // A frame with its content size in four bytes and a single segment; one last raw block.
    let block = (length << 3) | 1;
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
    let block = &block.to_le_bytes()[..3];
    [&head[..], &length.to_le_bytes(), block, bytes].concat()
}

#[test]
fn a_dry_run_writes_nothing_and_shows_the_result() {
    let mut bank = watching(&[]);
    let day = file(&bank, "day.sacct", format!("{HEAD}{}bad\n", lines(0, 3)));
    let arguments = ["import", "sacct", &day, "--source", "s", "--dry-run"];
    let output = bank.bank_ok(&arguments);
    assert!(output.contains("\nwould add 6.000 core-hours"), "{output}");
    assert!(
        output.contains("\nwould be in the bank, from s: 3 "),
        "{output}"
    );
    assert_eq!(bank.json(&["quarantine", "ls"])["items"], json!([]));
    bank.verify();
    for table in ["usage_identity", "source", "quarantine", "raw_block"] {
        let sql = format!("SELECT count(*) FROM {table}");
        assert_eq!(bank.query(&sql), [["0"]], "{table}");
    }
}

#[test]
fn a_machine_that_the_bank_does_not_have_is_named() {
    let mut bank = watching(&[]);
    let text = format!(
        "{HEAD}{}{}",
        lines(0, 1),
        lines(1, 1).replace("colony", "colny")
    );
    let path = file(&bank, "jobs.sacct", text);
    for options in [&["--dry-run"][..], &[]] {
        let output =
            bank.bank_ok(&[&["import", "sacct", &path, "--source", "s"][..], options].concat());
        assert!(output.contains("no machine \"colny\": "), "{output}");
        assert!(!output.contains("no machine \"colony\""), "{output}");
    }
    bank.verify();
}

#[test]
fn since_strict_days_and_no_raw() {
    let mut bank = watching(&[]);
    let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, 60)));
    let source = ["--source", "s"];
    let since = ["--since", "2025-12-01T02:30:00Z", "--days", "--no-raw"];
    let found = summary(&bank, &[&["sacct", &day][..], &source, &since].concat());
    assert_eq!(found["jobs"], json!(30));
    assert_eq!(found["skipped"], json!({"before_since": 30}));
    let by_day = &found["by_day"]["2025-12-01"];
    assert_eq!(by_day["core_s"], json!(30 * 2 * 3600), "{by_day}");
    let bad = file(&bank, "bad.sacct", format!("{HEAD}bad\n"));
    let ran = bank.bank(&["import", "sacct", &bad, "--source", "s", "--strict"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&[
        "1 record could not be read",
        "bank quarantine ls --source s",
    ]);
    assert!(
        ran.stdout.starts_with("read 1 record: 0 jobs"),
        "{}",
        ran.stdout
    );
    bank.verify();
    assert_eq!(bank.query("SELECT count(*) FROM raw_block"), [["0"]]);
}

#[test]
fn a_source_that_nobody_names_is_called_by_format_and_machine() {
    let bank = watching(&[]);
    let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, 1)));
    let output = bank.bank_ok(&["import", "sacct", &day, "-m", "colony"]);
    assert!(
        output.contains("in the bank, from sacct:colony: 1 "),
        "{output}"
    );
    let output = bank.bank_ok(&["import", "sacct", &day]);
    assert!(output.contains("in the bank, from sacct: 1 "), "{output}");
}

#[test]
fn unusable_arguments_are_reported_at_once() {
    let bank = Bank::new();
    let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, 1)));
    let cases: [(&[&str], i32, &str); 9] = [
        (&["shell", &day], 2, "shell"),
        (&["sacct", "/nowhere/at/all"], 2, "/nowhere/at/all"),
        (&["sacct", &day, "--layout", "nosuch"], 2, "nosuch"),
        (&["sacct", &day, "--tz", "Mars/Base"], 2, "zone"),
        (&["sacct", &day, "--machine", "nosuch"], 4, "no machine"),
        (&["sacct", &day, "--source", "#x"], 1, "source"),
        (&["sacct", &day, "--mapping", &day], 2, "only csv"),
        (&["sacct", &day, "--key", "k"], 2, "jsonl"),
        (&["jsonl", &day, "--tz", "UTC"], 2, "--tz is not for jsonl"),
    ];
    for (arguments, exit, expected) in cases {
        let ran = bank.bank(&[&["import"], arguments].concat());
        assert_eq!(ran.exit, exit, "{arguments:?}: {}", ran.stderr);
        ran.expect_stderr(&[expected]);
    }
    let other = file(&bank, "other", "no document at all");
    let ran = bank.bank(&["import", "slurm-json", &other, "--source", "s"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["other"]);
}

/// `bankd import` and `bank import` of one file are one source, whoever sends it from where.
#[test]
fn offline_and_online_are_the_same_source_by_default() {
    let mut bank = watching(&[]);
    let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, 3)));
    for (more, source) in [(&[][..], "sacct"), (&["-m", "colony"][..], "sacct:colony")] {
        bank.stop();
        let mut offline = Command::new(programs().bankd());
        offline.args(["import", "sacct", &day, "--data"]);
        offline.arg(bank.data()).args(more);
        offline.env("BANKD_TEST_CLOCK", bank.clock());
        let ran = Ran::of(&mut offline, b"");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        bank.start();
        let output = bank.bank_ok(&[&["import", "sacct", day.as_str()], more].concat());
        let same = format!("in the bank, from {source}: 3 duplicate\n");
        assert!(output.contains(&same), "{output}");
    }
    bank.verify();
}

#[test]
fn a_file_without_a_column_of_sacct_is_refused_as_no_such_file() {
    let bank = watching(&[]);
    let other = "# Version: 8.6.2\nshort.q:n05:staff:carol:torn:106\n".repeat(40);
    for text in [
        other.as_str(),
        "JobID=\"7\" User=\"amy\" State=\"COMPLETED\"\n",
    ] {
        let path = file(&bank, "other", text);
        let ran = bank.bank(&["import", "sacct", &path, "-m", "colony"]);
        assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
        ran.expect_stderr(&["do not look like this layout"]);
    }
    assert_eq!(bank.query("SELECT count(*) FROM quarantine"), [["0"]]);
    // A job that lost its end is one all the same.
    let torn = file(&bank, "torn", "7|7|colony|batch|normal|chem");
    let output = bank.bank_ok(&["import", "sacct", &torn, "-m", "colony"]);
    assert!(output.contains("the file ends inside a record"), "{output}");
}

#[test]
fn usage_from_before_the_bank_has_the_price_of_its_first_rate() {
    let mut bank = Bank::new();
    let deposit = ["deposit", "chemistry", "100000", "--start", "2025-11-01"];
    bank.bank_ok(&deposit);
    bank.bank_ok(&["machine", "set", "colony", "--source", "slurm:colony"]);
    let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, 3)));
    let output = bank.bank_ok(&["import", "sacct", &day, "--source", "slurm:colony"]);
    assert!(output.contains("3 charged"), "{output}");
    let sum = "SELECT sum(amount) FROM usage_identity";
    assert_eq!(bank.query(sum), [[(3 * 2 * 3600).to_string()]]);
    bank.verify();
}
