//! What could not be read or taken in: looked at, read again, removed.

use serde_json::{Value, json};

use super::{HEAD, file, lines, nameless, watching};
use crate::harness::Bank;

fn aside(bank: &Bank, source: &str) -> Vec<Value> {
    let list = bank.json(&["quarantine", "ls", "--source", source, "--limit", "1000"]);
    list["items"].as_array().unwrap().clone()
}

/// Five lines of a Grid Engine file, the second and fourth of which are cut.
fn grid(bank: &Bank) -> String {
    let line = |id: usize| {
        format!(
            "all.q:node1:staff:amy:job:{id}:sge:0:1764550000:1764550800:1764554400:0:0:3600:1:0:0:0:0:0:0:0:0:0:0:\
             0:0:0:0:chemistry:defaultdepartment:smp:2:0:7200:0.0:0.0:-q all.q:0.0:NONE:0.0:0:0\n"
        )
    };
    let text = [
        line(1),
        "all.q:node1:staff\n".to_owned(),
        line(2),
        "all.q\u{1b}[31m:node1\n".to_owned(),
        line(3),
    ];
    file(bank, "spool/accounting", text.concat())
}

#[test]
fn what_cannot_be_read_is_kept_with_its_place_and_its_reason() {
    let mut bank = watching(&[]);
    let accounting = grid(&bank);
    bank.bank_ok(&[
        "import",
        "sge",
        &accounting,
        "--source",
        "sge:colony",
        "-m",
        "colony",
    ]);
    let items = aside(&bank, "sge:colony");
    assert_eq!(items.len(), 2, "{items:?}");
    assert_eq!(items[0]["line"], json!(2));
    assert_eq!(items[1]["line"], json!(4));
    assert_eq!(items[0]["place"], json!(accounting));
    assert_eq!(items[0]["bytes"], json!(17));
    assert!(!items[0]["reason"].as_str().unwrap().is_empty());
    assert_eq!(items[0]["body"], Value::Null);
    let id = items[1]["id"].to_string();
    let one = bank.json(&["quarantine", "show", &id]);
    assert_eq!(one["body"], json!("all.q\u{1b}[31m:node1"));
    let shown = bank.bank_ok(&["quarantine", "show", &id]);
    assert!(shown.contains("all.q\\u{1b}[31m:node1"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
    assert_eq!(aside(&bank, "other"), [Value::Null; 0]);
    let ran = bank.bank(&["quarantine", "show", "99"]);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    bank.verify();
}

#[test]
fn pages_follow_one_another() {
    let bank = watching(&[]);
    let text = format!("{HEAD}{}{}", lines(0, 7), nameless(7));
    let day = file(&bank, "day.sacct", text);
    bank.bank_ok(&["import", "sacct", &day, "--source", "s"]);
    let first = bank.json(&["quarantine", "ls", "--limit", "3"]);
    assert_eq!(first["items"].as_array().unwrap().len(), 3);
    assert_eq!(first["next"], json!("3"));
    let ran = bank.bank(&["quarantine", "ls", "--limit", "3"]);
    ran.expect_stderr(&["the 3 oldest are shown"]);
    assert_eq!(aside(&bank, "s").len(), 7);
}

#[test]
fn a_line_is_read_again_as_it_should_have_been() {
    let mut bank = watching(&[]);
    let accounting = grid(&bank);
    let source = ["--source", "sge:colony", "-m", "colony"];
    bank.bank_ok(&[&["import", "sge", &accounting][..], &source].concat());
    let items = aside(&bank, "sge:colony");
    let id = items[0]["id"].to_string();
    // As it is it still cannot be read, and stays.
    let ran = bank.bank(&["quarantine", "replay", &id]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["it still cannot be read"]);
    assert_eq!(aside(&bank, "sge:colony").len(), 2);
    let right = std::fs::read_to_string(&accounting).unwrap();
    let right = right.lines().next().unwrap().replace(":1:sge:", ":7:sge:");
    let right = file(&bank, "right", right);
    let again = ["quarantine", "replay", &id, "--with", &right];
    let tried = bank.bank_ok(&[&again[..], &["--dry-run"]].concat());
    assert!(tried.starts_with("dry run, nothing written: "), "{tried}");
    assert_eq!(aside(&bank, "sge:colony").len(), 2);
    let output = bank.bank_ok(&again);
    assert!(output.starts_with(&format!("{id}: 1 job: 1 ")), "{output}");
    assert_eq!(aside(&bank, "sge:colony").len(), 1);
    bank.verify();
    let ids = "SELECT object_id, machine FROM usage_identity ORDER BY id";
    let ids = bank.query(ids);
    let own = |id: &str| [format!("{id}[0.0]"), "colony".to_owned()].to_vec();
    assert_eq!(ids, [own("1"), own("2"), own("3"), own("7")]);
    let held = "SELECT held, bytes, dropped FROM quarantine_total";
    assert_eq!(bank.query(held), [["1", "16", "0"]]);
}

#[test]
fn a_line_is_read_again_by_the_options_of_its_import() {
    let mut bank = watching(&[]);
    let columns = "JobID,Cluster,User,Account,State,ExitCode,Submit,Start,End,NNodes,NCPUS";
    let headless = format!("{}torn|colony\n", lines(0, 3));
    let day = file(&bank, "day.sacct", headless);
    bank.bank_ok(&[
        "import",
        "sacct",
        &day,
        "--source",
        "s",
        "--columns",
        columns,
    ]);
    let id = aside(&bank, "s")[0]["id"].to_string();
    let right = file(&bank, "right", lines(9, 1));
    let output = bank.bank_ok(&["quarantine", "replay", &id, "--with", &right]);
    assert!(output.starts_with(&format!("{id}: 1 job: 1 ")), "{output}");
    bank.verify();
    assert_eq!(bank.query("SELECT count(*) FROM usage_identity"), [["4"]]);
}

#[test]
fn what_the_rules_refused_is_taken_once_they_allow_it() {
    let mut bank = watching(&[]);
    // Ends after the bank's present.
    let early = lines(0, 2).replace("2025-12-01", "2026-01-03");
    let day = file(&bank, "day.sacct", format!("{HEAD}{early}"));
    let output = bank.bank_ok(&["import", "sacct", &day, "--source", "s"]);
    assert!(
        output.contains("in the bank, from s: 2 refused"),
        "{output}"
    );
    let items = aside(&bank, "s");
    assert_eq!(items.len(), 2, "{items:?}");
    assert_eq!(items[0]["reason"], json!("bad_value"));
    let columns = HEAD.trim().replace('|', ",");
    let again = ["quarantine", "replay", "--source", "s", "--as", "sacct"];
    let again = [&again[..], &["--columns", &columns]].concat();
    let ran = bank.bank(&again);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["2 of 2 could not be taken in"]);
    assert_eq!(aside(&bank, "s").len(), 2, "they stay, once");
    bank.set_clock(crate::harness::T0 + 4 * 86_400);
    bank.bank_ok(&again);
    assert_eq!(aside(&bank, "s"), [Value::Null; 0]);
    bank.verify();
    assert_eq!(bank.query("SELECT count(*) FROM usage_identity"), [["2"]]);
}

#[test]
fn rows_are_removed_by_number_and_by_collector() {
    let mut bank = watching(&[]);
    for source in ["s", "t"] {
        let text = format!("{HEAD}{}{}", lines(0, 4), nameless(4));
        let day = file(&bank, "day.sacct", text);
        bank.bank_ok(&["import", "sacct", &day, "--source", source]);
    }
    let ran = bank.bank(&["quarantine", "rm", "1"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    bank.bank_ok(&["quarantine", "rm", "1", "3", "-y"]);
    assert_eq!(aside(&bank, "s").len(), 2);
    let tried = bank.bank_ok(&["quarantine", "rm", "--source", "s", "--dry-run"]);
    assert!(tried.contains("removed 2 from the quarantine"), "{tried}");
    bank.bank_ok(&["quarantine", "rm", "--source", "s", "-y"]);
    assert_eq!((aside(&bank, "s").len(), aside(&bank, "t").len()), (0, 4));
    let gone = bank.bank(&["quarantine", "rm", "1", "-y"]);
    assert_eq!(gone.exit, 4, "{}", gone.stderr);
    bank.verify();
    let held = "SELECT held, bytes, dropped FROM quarantine_total";
    let bytes = (4 * (nameless(1).len() - 1)).to_string();
    assert_eq!(bank.query(held), [["4".to_owned(), bytes, "0".to_owned()]]);
}

/// The end of a record may correct its beginning, so a cut text is not read as if it were whole.
#[test]
fn a_record_that_was_cut_needs_its_whole_text() {
    let mut bank = watching(&[]);
    let ad = |end: &str| {
        format!(
            "JobStatus = 4\nGlobalJobId = \"h#1.0#1\"\nOwner = \"amy\"\nAcctGroup = \"chemistry\"\n\
             JobStartDate = 1764550000\nCompletionDate = 0\nEnteredCurrentStatus = 1764560000\n\
             CpusProvisioned = 2\nEnvironment = \"{}\"\nRemoteWallClockTime = 60.0\nCompletionDate = {end}\n",
            "x".repeat(70_000)
        )
    };
    let broken = file(&bank, "history", ad("1764550060s"));
    bank.bank_ok(&[
        "import", "htcondor", &broken, "--source", "h", "-m", "colony",
    ]);
    let id = aside(&bank, "h")[0]["id"].to_string();
    let ran = bank.bank(&["quarantine", "replay", &id]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["keeps only the first 65536 bytes of a record", "--with"]);
    assert_eq!(aside(&bank, "h").len(), 1);
    let whole = file(&bank, "whole", ad("1764550060"));
    bank.bank_ok(&["quarantine", "replay", &id, "--with", &whole]);
    assert_eq!(aside(&bank, "h"), [Value::Null; 0]);
    bank.verify();
    let ends = "SELECT end_at FROM usage_identity";
    assert_eq!(bank.query(ends), [["1764550060000000"]]);
}

/// A record of a list, or of a file with a header, by the options of the import.
#[test]
fn a_record_is_read_again_without_its_file() {
    let mut bank = watching(&[]);
    let job = |cpus: &str| {
        format!(
            "{{\"job_id\":1,\"account\":\"chemistry\",\"user\":\"amy\",\"state\":{{\"current\":[\"COMPLETED\"]}},\
             \"time\":{{\"start\":1764550000,\"end\":1764553600}},\
             \"tres\":{{\"allocated\":[{{\"type\":\"cpu\",\"name\":\"\",\"count\":{cpus}}}]}}}}"
        )
    };
    let mapping = "delimiter=\";\"\nheader=true\nskip_lines=1\n[fields]\nid=\"id\"\nuser=\"u\"\n\
                   start={column=\"s\",format=\"epoch_s\"}\nwall={column=\"w\"}\nprocs={column=\"p\"}\n";
    let mapping = file(&bank, "mapping.toml", mapping);
    let row = |procs: &str| format!("2;amy;1764550000;3600;{procs}");
    let swf = |procs: &str| format!("3 0 0 3600 {procs} -1 -1 2 3600 -1 1 1 1 1 1 1 -1 -1");
    let json = format!("{{\"jobs\":[{}]}}", job("\"2x\""));
    let table = format!("a report\nid;u;s;w;p\n{}\n", row("2x"));
    let log = format!("; UnixStartTime: 1764550000\n{}\n", swf("x"));
    let right_log = format!("; UnixStartTime: 1764550000\n{}\n", swf("2"));
    let columns = ["--columns", "id,u,s,w,p"];
    for (format, options, wrong, bare, error, right, more) in [
        (
            "slurm-json",
            vec![],
            json,
            job("\"2x\""),
            "not a count",
            job("2"),
            vec![],
        ),
        (
            "csv",
            vec!["--mapping", &mapping],
            table,
            row("2"),
            "no column",
            row("2"),
            columns.to_vec(),
        ),
        (
            "swf",
            vec![],
            log,
            swf("2"),
            "UnixStartTime",
            right_log,
            vec![],
        ),
    ] {
        let wrong = file(&bank, "wrong", wrong);
        let import = ["import", format, &wrong, "--source", format, "-m", "colony"];
        bank.bank_ok(&[&import[..], &options].concat());
        let id = aside(&bank, format)[0]["id"].to_string();
        let bare = file(&bank, "bare", bare);
        let again = ["quarantine", "replay", &id, "--with"];
        let ran = bank.bank(&[&again[..], &[&bare]].concat());
        assert_eq!(ran.exit, 1, "{format}: {}", ran.stderr);
        ran.expect_stderr(&[error]);
        let right = file(&bank, "right", right);
        let output = bank.bank_ok(&[&again[..], &[&right], &more].concat());
        assert!(output.starts_with(&format!("{id}: 1 job: 1 ")), "{output}");
    }
    bank.verify();
    let uses = "SELECT object_id, start_at, millis FROM usage_identity ORDER BY object_id";
    let own = |id: &str| [id, "1764550000000000", "2000"].map(ToOwned::to_owned);
    assert_eq!(bank.query(uses), [own("1"), own("2"), own("3")]);
}

/// A command that is sent twice must not act on a record that came later.
#[test]
fn a_replay_that_is_repeated_acts_on_no_other_record() {
    let bank = watching(&[]);
    let torn = |name: &str| {
        let text = format!("{HEAD}{}", nameless(1).replace("am0", name));
        let day = file(&bank, "day.sacct", text);
        bank.bank_ok(&["import", "sacct", &day, "--source", "s"]);
    };
    torn("eve");
    let id = aside(&bank, "s")[0]["id"].to_string();
    bank.bank_ok(&["quarantine", "rm", &id, "-y"]);
    torn("bob");
    let right = file(&bank, "right", format!("{HEAD}{}", lines(9, 1)));
    let ran = bank.bank(&["quarantine", "replay", &id, "--with", &right]);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    assert_eq!(aside(&bank, "s").len(), 1);
}
