//! `bank export`: the lines of a record file again, byte for byte, for any span and any history.

use std::fmt::Write as _;
use std::process::Command;

use super::sinks::with_sinks;
use super::{lines, whole_life};
use crate::harness::{Bank, Documents, Numbers, Ran, Setup, T0, shared_folder, skip, tool};

const SINKS: &str = r#"
[[sink]]
name = "moab"
path = "moab.txt"
[[sink]]
name = "ur"
format = "ggf"
path = "ur.xml"
[[sink]]
name = "maui"
path = "maui.txt"
dialect = "maui"
[[sink]]
name = "close"
path = "close.txt"
interim = false
extended = true
blank_account = "nobody"
[[sink]]
name = "closed-only"
format = "ggf"
path = "closed.xml"
adjustments = false
"#;

/// The sinks with their files, and the words that export the same by flags.
const FILES: [(&str, &str, &[&str]); 5] = [
    ("moab", "moab.txt", &["file"]),
    ("ur", "ur.xml", &["ur1"]),
    ("maui", "maui.txt", &["file", "--dialect", "maui"]),
    (
        "close",
        "close.txt",
        &[
            "file",
            "--interim=false",
            "--extended",
            "--blank-account",
            "nobody",
        ],
    ),
    ("closed-only", "closed.xml", &["ur1", "--adjustments=false"]),
];

/// Jobs and reservations that come and go as it happens, with names that need care.
fn history(bank: &Bank, numbers: &mut Numbers, events: u64) {
    let users = ["amy", "o'ps &amp; &lt;co&gt;", "zoë", ""];
    let projects = ["chemistry", "physics", "no such", ""];
    let mut clock = T0;
    for _ in 0..events {
        clock += i64::try_from(numbers.between(1, 5000)).unwrap();
        bank.set_clock(clock);
        let mut pick = |most: usize| usize::try_from(numbers.between(0, most as u64 - 1)).unwrap();
        let event = ["create", "reserve", "charge", "charge", "charge", "delete"][pick(6)];
        let root = ["Job", "Job", "Reservation"][pick(3)];
        let mut body = format!("<{root}><ObjectID>job {}</ObjectID>", pick(8));
        for (name, value) in [("User", users[pick(4)]), ("Account", projects[pick(4)])] {
            if !value.is_empty() {
                let _ = write!(body, "<{name}>{value}</{name}>");
            }
        }
        let seconds = pick(4000);
        let _ = write!(
            body,
            "<Processors>{}</Processors><ChargeDuration>{seconds}</ChargeDuration>\
             <WallDuration>4000</WallDuration>",
            pick(64)
        );
        for part in [
            "<QualityOfService>high</QualityOfService>",
            "<Class>batch &amp; more</Class>",
            "<Nodes>4</Nodes>",
            "<Memory>2048</Memory>",
            "<State>Removed</State><CompletionCode>271</CompletionCode>",
            "<JobName>sim &amp; fit</JobName><NodeType>ia64</NodeType>",
            "<SubmitHost>login_1</SubmitHost><HostList>n1,n2;x</HostList>",
            "<SubmitTime>1767225600</SubmitTime>",
        ] {
            if pick(3) == 0 {
                body.push_str(part);
            }
        }
        let _ = write!(body, "</{root}>");
        // Whether it is taken is the ledger's matter; what is written is ours.
        bank.script(event, body.as_bytes());
    }
}

fn file(bank: &Bank, name: &str) -> String {
    std::fs::read_to_string(bank.data().join(name)).unwrap()
}

fn export(bank: &Bank, words: &[&str]) -> String {
    bank.bank_ok(&[&["export"], words].concat())
}

#[test]
fn an_export_is_the_file_for_any_history() {
    let mut numbers = Numbers::new("an_export_is_the_file_for_any_history");
    let mut bank = with_sinks(SINKS);
    history(&bank, &mut numbers, 60);
    let middle = "2026-01-01T20:00:00Z";
    bank.bank_ok(&["user", "add", "o'ps & <co>"]);
    history(&bank, &mut numbers, 20);
    bank.verify();
    bank.start();
    for (sink, path, words) in FILES {
        let written = file(&bank, path);
        assert!(!written.is_empty(), "{path}");
        let kind = words[0];
        assert_eq!(export(&bank, &[kind, "--sink", sink]), written, "{sink}");
        assert_eq!(export(&bank, words), written, "{sink} by flags");
        let parts = [["--to", middle], ["--from", middle]];
        let both = parts.map(|part| export(&bank, &[words, &part[..]].concat()));
        assert_eq!(both.concat(), written, "{sink} in two spans");
        assert_eq!(
            export(&bank, &[words, &["-m", "colony"]].concat()),
            written,
            "{sink}"
        );
        assert_eq!(
            export(&bank, &[words, &["-m", "blue"]].concat()),
            "",
            "{sink}"
        );
    }
}

#[test]
fn one_record_by_its_number() {
    let mut bank = with_sinks(SINKS);
    whole_life(&bank);
    bank.script("charge", &Documents::own().get(5))
        .expect(0, "");
    bank.verify();
    bank.start();
    let records = lines(&bank, "ur.xml");
    assert_eq!(records.len(), 2);
    assert!(
        records[0].contains(":1\" ") && records[1].contains(":3\" "),
        "{records:?}"
    );
    for (numbers, expected) in [
        ("1", records[0].clone() + "\n"),
        ("3", records[1].clone() + "\n"),
        ("2-3", records[1].clone() + "\n"),
        ("4-9", String::new()),
    ] {
        assert_eq!(
            export(&bank, &["ur1", "--records", numbers]),
            expected,
            "{numbers}"
        );
    }
    let ran = bank.bank(&["export", "ur1", "--records", "9-4"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("412-415"), "{}", ran.stderr);
}

/// What no file was there for is exported all the same.
#[test]
fn records_of_a_time_without_files() {
    let bank = Bank::new();
    whole_life(&bank);
    assert_eq!(export(&bank, &["file"]).lines().count(), 2);
    assert_eq!(export(&bank, &["ur1"]).lines().count(), 1);
}

#[test]
fn a_document_is_valid_as_a_whole() {
    let Some(shared) = shared_folder() else {
        skip(
            "shared",
            "no folder with the schema of usage records (BANK_SHARED)",
        );
        return;
    };
    if !tool("xmllint") {
        skip("xmllint", "no xmllint to validate usage records with");
        return;
    }
    let mut numbers = Numbers::new("a_document_is_valid_as_a_whole");
    let bank = with_sinks(SINKS);
    let validate = || {
        let path = bank.folder().join("records.xml");
        let output = export(&bank, &["ur1", "--document", "-o", path.to_str().unwrap()]);
        assert!(output.contains(" in "), "{output}");
        let xsd = shared.join("spec/xsd");
        let mut command = Command::new("xmllint");
        command
            .env("XML_CATALOG_FILES", xsd.join("catalog.xml"))
            .args(["--nonet", "--noout", "--schema"])
            .arg(xsd.join("urf-1.0-gfd98.xsd"))
            .arg(&path);
        let ran = Ran::of(&mut command, b"");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
    };
    validate();
    history(&bank, &mut numbers, 60);
    validate();
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let mut bank = with_sinks(SINKS);
    whole_life(&bank);
    let path = bank.folder().join("out.txt");
    let target = path.to_str().unwrap();
    std::fs::write(&path, "as it was\n").unwrap();
    let output = bank.bank_ok(&["export", "file", "-o", target]);
    assert_eq!(output, format!("2 records in {target}\n"));
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        export(&bank, &["file"])
    );
    bank.stop();
    std::fs::write(&path, "as it was\n").unwrap();
    assert_eq!(bank.bank(&["export", "file", "-o", target]).exit, 5);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "as it was\n");
    let left = std::fs::read_dir(bank.folder())
        .unwrap()
        .map(|e| e.unwrap().file_name());
    let left: Vec<_> = left
        .filter(|name| name.to_string_lossy().contains(".out.txt"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let ran = bank.bank(&["export", "file", "-o", "/dev/null"]);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr.contains("/dev/null is not a regular file"),
        "{}",
        ran.stderr
    );
}

#[test]
fn impossible_exports_are_reported() {
    let bank = Bank::new();
    for (words, exit, expected) in [
        (&["file", "--sink", "nosuch"][..], 4, "record file"),
        (&["file", "--dialect", "pbs"], 2, "dialect"),
        (&["file", "--from", "yesterday-ish"], 2, "yesterday-ish"),
        (&["file", "--blank-user", ""], 1, "--blank-user"),
        (
            &["file", "--sink", "file", "--interim=false"],
            2,
            "--interim",
        ),
        (&["ur9"], 2, "ur9"),
    ] {
        let ran = bank.bank(&[&["export"], words].concat());
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{words:?}");
    }
}

/// A machine whose own name is none for usage records is named by its domain name.
#[test]
fn a_machine_has_a_domain_name_for_usage_records() {
    let mut bank = Setup::new().env("BANKD_GGF_PATH", "ur.xml").start();
    bank.bank_ok(&["machine", "add", "node_1", "--fqdn", "node1.example.org"]);
    let ran = bank.bank(&["machine", "set", "node_1", "--fqdn", "a.example.org"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("fqdn"), "{}", ran.stderr);
    for (event, number) in [("charge", 5), ("delete", 6)] {
        let body = Documents::own().with(number, &[]);
        bank.call(event)
            .set("machine=node_1")
            .body(&body)
            .run()
            .expect(0, "");
    }
    bank.bank_ok(&["machine", "set", "node_1", "--fqdn", ""]);
    bank.verify();
    let records = lines(&bank, "ur.xml");
    assert_eq!(records.len(), 1);
    for part in [
        "<MachineName>node1.example.org</MachineName>",
        "<Resource urf:description=\"bank.machine\">node_1</Resource>",
    ] {
        assert!(records[0].contains(part), "{}", records[0]);
    }
    // What is kept is as it was.
    bank.start();
    assert_eq!(export(&bank, &["ur1"]), file(&bank, "ur.xml"));
}
