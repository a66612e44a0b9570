//! Names that break readers which are not careful, from the API into every format and back; and runs that
//! were killed in the middle of a file.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::sums::agree_exactly;
use super::{bank, export, path, uses, watched};
use crate::harness::{Bank, Ran, Request, T0, shared_folder, skip, tool};

/// Projects and users of this name.
const NASTY: &str = "a & b < > % = | : %% äöü \"q\" 'x'";

/// A finished use with a nasty name wherever one can stand.
fn nasty(bank: &Bank) {
    bank.set_clock(T0 + 86_400);
    let records = json!({"records": [{
        "source": "api",
        "id": "job|%% & <1>",
        "project": NASTY,
        "user": NASTY,
        "group": NASTY,
        "machine": "blue",
        "class": NASTY,
        "qos": NASTY,
        "start": "2025-12-01T00:00:00Z",
        "end": "2025-12-01T01:00:00Z",
        "processors": "2",
        "nodes": "1",
        "cpu_s": "9",
        "state": "completed",
    }]});
    let answer = bank.over_socket(
        &Request {
            method: "POST",
            target: "/api/v1/usage".to_owned(),
            body: records.to_string().into_bytes(),
            ..Request::get("/")
        }
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", "nasty"),
    );
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(!answer.text().contains("refused"), "{}", answer.text());
}

#[test]
fn nasty_names_come_through_or_are_withheld() {
    let bank = bank();
    nasty(&bank);
    let all = uses(&export(&bank, &["jsonl"]));
    for field in ["project", "user", "group", "class", "qos"] {
        assert_eq!(all[0][field], NASTY, "{field}");
    }
    let csv = export(&bank, &["csv"]);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(
        csv.contains(&format!("\"{}\"", NASTY.replace('"', "\"\""))),
        "{csv}"
    );
    // XDMoD cuts at `|`: 26 columns, of which only the last may have one.
    let line = export(&bank, &["xdmod"]);
    assert!(
        line.split('|').count() >= 26 && line.lines().count() == 1,
        "{line}"
    );
    let columns: Vec<&str> = line.splitn(26, '|').collect();
    assert_eq!(columns[5], NASTY.replace('|', ""));
    // APEL's loader cuts at %% anywhere, and takes ASCII alone.
    let message = export(&bank, &["apel"]);
    assert_eq!(message.matches("%%").count(), 1, "{message}");
    assert!(message.is_ascii() && message.ends_with("%%\n"), "{message}");
    assert!(message.contains("%25%25 %C3%A4%C3%B6%C3%BC"), "{message}");
    // A workload has numbers for names; its key has them whole.
    let swf = export(&bank, &["swf"]);
    assert!(!swf.contains("äöü"), "{swf}");
    let ids = export(&bank, &["swf", "--ids"]);
    assert!(ids.contains(&NASTY.replace('"', "\"\"")), "{ids}");
    for (words, schema) in [
        (&["ur1", "--document"][..], "urf-1.0-gfd98.xsd"),
        (&["ur2"], "ur-2.0-restated.xsd"),
    ] {
        let (file, name) = path(&bank, "nasty.xml");
        export(&bank, &[words, &["-o", &name]].concat());
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("a &amp; b &lt; &gt; % = | : %% äöü"),
            "{text}"
        );
        valid(&file, schema);
    }
}

fn valid(file: &std::path::Path, schema: &str) {
    let Some(shared) = shared_folder().filter(|_| tool("xmllint")) else {
        skip(
            "xmllint",
            "no xmllint, or no folder with the schemas (BANK_SHARED)",
        );
        return;
    };
    let xsd = shared.join("spec/xsd");
    let mut command = Command::new("xmllint");
    command
        .env("XML_CATALOG_FILES", xsd.join("catalog.xml"))
        .args(["--nonet", "--noout", "--schema"])
        .arg(xsd.join(schema))
        .arg(file);
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
}

/// The state of a first run as it stands while it writes: it has the file, and nothing of it.
fn as_begun(state: &str) -> String {
    let line = |line: &str| match line.split(' ').collect::<Vec<_>>().as_slice() {
        ["cursor", _] => None,
        ["file", device, inode, _] => Some(format!("file {device} {inode} 0")),
        _ => Some(line.to_owned()),
    };
    let lines: Vec<String> = state.lines().filter_map(line).collect();
    lines.join("\n") + "\n"
}

/// Whatever of a page a killed run had written, first or later, the next one makes the same file.
#[test]
fn a_run_killed_anywhere_in_its_file_is_made_up_for() {
    let bank = bank();
    for format in ["csv", "jsonl", "xdmod"] {
        let already = uses(&export(&bank, &["jsonl"])).len();
        watched(&bank, already + 1, 4, 9);
        let (state, state_name) = path(&bank, &format!("{format}.state"));
        let (out, out_name) = path(&bank, &format!("{format}.out"));
        let words = [format, "--state", &state_name, "-o", &out_name];
        export(&bank, &words);
        let (first, first_state) = read(&out, &state);
        watched(&bank, already + 5, 4, 9);
        export(&bank, &words);
        let (second, _) = read(&out, &state);
        assert!(second.starts_with(&first), "{format}");
        let added = second.len() - first.len();
        for cut in [0, 1, added / 3, added / 2, added - 1, added] {
            fs::write(&state, &first_state).unwrap();
            write(&out, &second[..first.len() + cut]);
            export(&bank, &words);
            assert_eq!(read(&out, &state).0, second, "{format} cut at {cut}");
        }
        for cut in [0, 1, first.len() / 2, first.len()] {
            fs::write(&state, as_begun(&first_state)).unwrap();
            write(&out, &first[..cut]);
            export(&bank, &words);
            assert_eq!(read(&out, &state).0, second, "{format} begun, cut at {cut}");
        }
    }
}

/// A run that is really killed: what it leaves, however far it came, is no hindrance to the next.
#[test]
fn a_killed_process_leaves_nothing_that_blocks_the_next() {
    let bank = bank();
    watched(&bank, 1, 50, 9);
    let (state, state_name) = path(&bank, "killed.state");
    let (out, out_name) = path(&bank, "killed.csv");
    let words = ["csv", "--state", &state_name, "-o", &out_name];
    let mut command = Command::new(crate::harness::programs().bank());
    let socket = bank.socket();
    let mut running = command
        .args([&["export"], &words[..]].concat())
        .env("BANK_SERVER", format!("unix:{}", socket.display()))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    running.kill().unwrap();
    running.wait().unwrap();
    export(&bank, &words);
    assert_eq!(fs::read_to_string(&out).unwrap(), export(&bank, &["csv"]));
    assert!(state.exists());
}

fn read(out: &std::path::Path, state: &std::path::Path) -> (String, String) {
    (
        fs::read_to_string(out).unwrap(),
        fs::read_to_string(state).unwrap(),
    )
}

/// The same file, with other bytes: a run is of this very file.
fn write(out: &std::path::Path, text: &str) {
    let file = fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(out)
        .unwrap();
    std::io::Write::write_all(&mut &file, text.as_bytes()).unwrap();
}

/// Names of resources are the same in every spelling: in prices, usage and exports.
#[test]
fn a_resource_is_known_in_every_spelling() {
    let mut bank = bank();
    bank.bank_ok(&["rate", "set", "VBR", "gpu", "10"]);
    bank.set_clock(T0 + 3600);
    for (job, resources, gpus) in [
        ("a", r#"<GRes name="GPU">2</GRes>"#, "2"),
        (
            "b",
            r#"<GRes name="gpu">1</GRes><GRes name="GPU">2</GRes>"#,
            "3",
        ),
        (
            "c",
            r#"<Req><GRes name="GPU">1</GRes></Req><Req><GRes name="gpu">3</GRes></Req>"#,
            "4",
        ),
    ] {
        let document = format!(
            "<Job><ObjectID>{job}</ObjectID><User>amy</User><Account>chemistry</Account>\
             <Processors>1</Processors><ChargeDuration>100</ChargeDuration>{resources}</Job>"
        );
        bank.script("end", document.as_bytes()).expect(0, "");
        let all = uses(&export(&bank, &["jsonl"]));
        let own = all.iter().find(|one| one["local_job_id"] == job).unwrap();
        assert_eq!(own["gpus"].to_string(), gpus, "{own}");
    }
    let ever = ["--from", "-infinity", "--to", "infinity"];
    let words = ["usage", "--resource", "gpu", "--units", "seconds"];
    let usage = bank.bank_ok(&[&words[..], &ever].concat());
    assert!(usage.contains(" 900 "), "{usage}");
    agree_exactly(&bank);
    bank.verify();
}
