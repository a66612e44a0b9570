//! Several record files at once: each has its own form and its own place, and none waits for another.

use serde_json::Value;

use super::{bank, lines, value, whole_life};
use crate::harness::{Bank, Documents, Setup, until};

/// Adds to the settings; in force from the next start.
pub(super) fn settings(bank: &Bank, text: &str) {
    let path = bank.data().join("bankd.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("{before}\n{text}")).unwrap();
}

/// A daemon with these settings beside the usual ones.
pub(super) fn with_sinks(text: &str) -> Bank {
    let mut bank = Setup::new().start();
    bank.stop();
    settings(&bank, text);
    bank.start();
    bank
}

fn charge(bank: &Bank, id: &str) {
    let body = Documents::own().with(5, &[("Moab.1024", id)]);
    bank.script("charge", &body).expect(0, "");
}

fn ids(bank: &Bank, file: &str) -> Vec<String> {
    let lines = lines(bank, file);
    lines
        .iter()
        .map(|line| value(line, "REQUESTID").to_owned())
        .collect()
}

/// A record file as `bank status` has it.
fn sink(bank: &Bank, name: &str) -> Value {
    let status = bank.json(&["status"]);
    let sinks = status["sinks"].as_array().unwrap();
    sinks
        .iter()
        .find(|sink| sink["name"] == name)
        .unwrap()
        .clone()
}

const FOUR: &str = r#"
[[sink]]
name = "moab"
path = "moab.txt"
[[sink]]
name = "ur"
format = "ggf"
path = "ur.xml"
[[sink]]
name = "maui"
format = "file"
path = "maui.txt"
dialect = "maui"
fsync = "each"
[[sink]]
name = "close"
format = "file"
path = "close.txt"
interim = false
extended = true
fsync = "never"
"#;

#[test]
fn every_file_gets_its_own_lines() {
    let mut bank = with_sinks(FOUR);
    whole_life(&bank);
    bank.script("charge", &Documents::own().get(5))
        .expect(0, "");
    bank.verify();
    let moab = "WITHDRAWAL TYPE=job MACHINE=colony ACCOUNT=chemistry USER=amy PROCS=16 PROCCRATE=1.00 RESOURCETYPE=DEFAULT";
    let maui = "WITHDRAWAL      TYPE=job MACHINE=colony ACCOUNT=chemistry SUBACCOUNT=amy RESOURCE=16 PROCCRATE=1.00 RESOURCETYPE=DEFAULT";
    let durations = [1800, 434, 434];
    assert_eq!(
        lines(&bank, "moab.txt"),
        durations.map(|s| format!("{moab} DURATION={s} REQUESTID=Moab.1024"))
    );
    let of_maui = lines(&bank, "maui.txt");
    assert_eq!(of_maui.len(), 3);
    for (line, seconds) in of_maui.iter().zip(durations) {
        assert!(
            line.starts_with(&format!("{maui} DURATION={seconds} ")),
            "{line}"
        );
    }
    let close = lines(&bank, "close.txt");
    assert_eq!(close.len(), 2);
    assert!(
        close[0].starts_with(&format!("{moab} DURATION=2234 ")),
        "{}",
        close[0]
    );
    assert!(close[0].ends_with(" AMOUNT=35744"), "{}", close[0]);
    assert!(
        close[1].starts_with(&format!("{moab} DURATION=434 ")),
        "{}",
        close[1]
    );
    assert_eq!(lines(&bank, "ur.xml").len(), 2);
}

#[test]
fn a_file_that_is_added_later_starts_at_now() {
    let mut bank = bank(true);
    charge(&bank, "before");
    bank.stop();
    settings(&bank, "[[sink]]\nname = \"site\"\npath = \"site.txt\"\n");
    bank.start();
    charge(&bank, "after");
    bank.stop();
    assert_eq!(ids(&bank, "file.txt"), ["before", "after"]);
    assert_eq!(ids(&bank, "site.txt"), ["after"]);
    // Taken out and put back, it goes on where it was; by another name it is new.
    let path = bank.data().join("bankd.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replace("[[sink]]\nname = \"site\"\npath = \"site.txt\"\n", ""),
    )
    .unwrap();
    bank.start();
    charge(&bank, "without");
    bank.stop();
    assert_eq!(ids(&bank, "site.txt"), ["after"]);
    settings(
        &bank,
        "[[sink]]\nname = \"site\"\npath = \"site.txt\"\n[[sink]]\nname = \"new\"\npath = \"new.txt\"\n",
    );
    bank.start();
    charge(&bank, "again");
    bank.verify();
    assert_eq!(ids(&bank, "site.txt"), ["after", "without", "again"]);
    assert_eq!(ids(&bank, "new.txt"), ["again"]);
}

#[test]
fn a_file_that_fails_holds_up_no_other() {
    let broken = "[[sink]]\nname = \"full\"\npath = \"/dev/full\"\n\
                  [[sink]]\nname = \"good\"\npath = \"good.txt\"\n";
    let mut bank = with_sinks(broken);
    until("the failure is told", || {
        (!sink(&bank, "full")["error"].is_null()).then_some(())
    });
    for n in 0..20 {
        charge(&bank, &format!("job.{n}"));
    }
    until("the good file has every line", || {
        (lines(&bank, "good.txt").len() == 20).then_some(())
    });
    until("the good file is up to date", || {
        (sink(&bank, "good")["behind"] == 0).then_some(())
    });
    let full = sink(&bank, "full");
    assert_eq!(
        (&full["behind"], &full["path"]),
        (&20.into(), &"/dev/full".into())
    );
    let error = full["error"].as_str().unwrap();
    assert!(error.contains("/dev/full is not a regular file"), "{error}");
    let screen = bank.bank_ok(&["status"]);
    assert!(
        screen.contains("records        full behind by 20 !   good ok\n"),
        "{screen}"
    );
    // Where it is repaired nothing is missing.
    bank.stop();
    let path = bank.data().join("bankd.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("/dev/full", "repaired.txt")).unwrap();
    bank.start();
    charge(&bank, "job.20");
    bank.verify();
    let all: Vec<String> = (0..21).map(|n| format!("job.{n}")).collect();
    assert_eq!(ids(&bank, "repaired.txt"), all);
    assert_eq!(ids(&bank, "good.txt"), all);
}

#[test]
fn a_renamed_file_is_begun_anew_on_request() {
    let mut bank = bank(true);
    charge(&bank, "a");
    until("the first line", || {
        (lines(&bank, "file.txt").len() == 1).then_some(())
    });
    let (path, old) = (bank.data().join("file.txt"), bank.data().join("file.1"));
    std::fs::rename(&path, &old).unwrap();
    bank.signal("HUP");
    until("a new file, with nothing to write yet", || {
        path.exists().then_some(())
    });
    charge(&bank, "b");
    bank.verify();
    assert_eq!(
        (ids(&bank, "file.1"), ids(&bank, "file.txt")),
        (vec!["a".into()], vec!["b".into()])
    );
}

#[test]
fn what_must_not_be_escaped_has_no_line_and_is_counted() {
    let mut bank = with_sinks(
        "[[sink]]\nname = \"plain\"\npath = \"plain.txt\"\nescape = \"reject\"\n\
         [[sink]]\nname = \"coded\"\npath = \"coded.txt\"\n",
    );
    charge(&bank, "two words");
    charge(&bank, "one");
    until("both are dealt with", || {
        let done = |name| sink(&bank, name)["behind"] == 0;
        (done("plain") && done("coded")).then_some(())
    });
    let (plain, coded) = (sink(&bank, "plain"), sink(&bank, "coded"));
    assert_eq!(
        (&plain["rejected"], &coded["rejected"]),
        (&1.into(), &0.into())
    );
    assert!(
        bank.bank_ok(&["status"])
            .contains("record file plain: 1 record without a line !")
    );
    bank.verify();
    assert_eq!(ids(&bank, "plain.txt"), ["one"]);
    assert_eq!(ids(&bank, "coded.txt"), ["two%20words", "one"]);
}

/// Lines that were not confirmed are known again although the settings changed meanwhile.
#[test]
fn other_settings_after_a_crash_double_nothing() {
    let mut bank = with_sinks("[[sink]]\nname = \"site\"\npath = \"spot.txt\"\n");
    bank.stop();
    assert!(bank.start_with(&[("BANKD_KILL_AT", "record_written")]));
    charge(&bank, "a");
    until("the daemon is gone", || bank.is_gone().then_some(()));
    bank.kill();
    assert_eq!(ids(&bank, "spot.txt"), ["a"]);
    let path = bank.data().join("bankd.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replace("spot.txt\"\n", "spot.txt\"\ndialect = \"maui\"\n"),
    )
    .unwrap();
    bank.start();
    charge(&bank, "b");
    bank.verify();
    assert_eq!(ids(&bank, "spot.txt"), ["a", "b"]);
}

#[test]
fn wrong_settings_are_reported_in_one_line() {
    let mut bank = Bank::new();
    bank.stop();
    let path = bank.data().join("bankd.toml");
    let right = std::fs::read_to_string(&path).unwrap();
    for (text, expected) in [
        (
            "[[sink]]\npath = \"a\"\n",
            "sink 1: name: 1 to 32 of a-z, 0-9, _ and -, not \"\"",
        ),
        (
            "[[sink]]\nname = \"A\"\npath = \"a\"\n",
            "sink 1: name: 1 to 32 of a-z, 0-9, _ and -, not \"A\"",
        ),
        (
            "[[sink]]\nname = \"file\"\npath = \"a\"\n",
            "sink 1: name: file is that of [file]",
        ),
        (
            "[[sink]]\nname = \"a\"\n",
            "sink a: path: must not be empty",
        ),
        (
            "[[sink]]\nname = \"a\"\npath = \"x\"\n[[sink]]\nname = \"a\"\npath = \"y\"\n",
            "sink a: two of this name",
        ),
        (
            "[[sink]]\nname = \"a\"\npath = \"x\"\n[[sink]]\nname = \"b\"\npath = \"./x\"\n",
            "sink b: path: ./x is another sink's file",
        ),
        (
            "[[sink]]\nname = \"a\"\nformat = \"ggf\"\npath = \"x\"\ndialect = \"maui\"\n",
            "sink a: dialect is for format \"file\"",
        ),
        (
            "[[sink]]\nname = \"a\"\npath = \"x\"\ninterm = true\n",
            "interm: unknown field",
        ),
        (
            "[[sink]]\nname = \"a\"\npath = \"x\"\nformat = \"ur9\"\n",
            "format: unknown word",
        ),
    ] {
        std::fs::write(&path, format!("{right}\n{text}")).unwrap();
        assert!(!bank.start_with(&[]), "{text}");
        let log = bank.log();
        let last = log.lines().last().unwrap();
        assert!(last.contains(expected), "{last}\nexpected {expected}");
    }
}
