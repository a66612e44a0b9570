//! `bank moab check` from outside: files, the bank's own facts, forms and exit codes. Each rule has
//! its rows beside the code.

use serde_json::Value;

use super::conf;
use crate::harness::{Bank, Ran};

fn write(bank: &Bank, name: &str, text: &str) -> String {
    let path = bank.folder().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn check(bank: &Bank, words: &[&str]) -> Ran {
    let conf = conf(bank, "");
    let all = [&["moab", "check", "--conf", conf.to_str().unwrap()], words].concat();
    // Each finding and each change on a line.
    bank.bank_as(&[("COLUMNS", "1000")], &all)
}

fn right(bank: &Bank) -> String {
    let dir = bank.folder().join("nami");
    let mut text = "AMCFG[bank] TYPE=NATIVE FLUSHINTERVAL=hour CHARGEPOLICY=DEBITALLWC\n\
         AMCFG[bank] JOBFAILUREACTION=HOLD TIMEOUT=10 FALLBACKACCOUNT=freecycle\n"
        .to_owned();
    for event in ["Quote", "Create", "Reserve", "Charge", "Delete"] {
        let script = format!("{}/bank.{}", dir.display(), event.to_lowercase());
        text = format!("{text}AMCFG[bank] {event}URL=exec://{script}\n");
    }
    text
}

#[test]
fn a_right_configuration_ends_with_0() {
    let bank = Bank::new();
    let file = write(&bank, "moab.cfg", &right(&bank));
    let ran = check(&bank, &[&file]);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (0, "nothing here defeats the bank\n"),
        "{}",
        ran.stderr
    );
}

/// A name with a slip in it is passed over by the scheduler: the finding names the nearest that it reads.
#[test]
fn a_name_that_is_not_read_is_a_finding() {
    let bank = Bank::new();
    let text = right(&bank)
        .replace("FLUSHINTERVAL=hour", "FLUSHINTERVL=hour")
        .replace("FALLBACKACCOUNT", "FalbackAccount")
        .replace("TIMEOUT=10", "TIMEOUT=10 COLOUR=red");
    let file = write(&bank, "moab.cfg", &text);
    let ran = check(&bank, &[&file]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    for (line, name, change) in [
        (1, "FLUSHINTERVL", "AMCFG[bank]  FLUSHINTERVAL=hour"),
        (
            2,
            "FALBACKACCOUNT",
            "AMCFG[bank]  FALLBACKACCOUNT=freecycle",
        ),
        (2, "COLOUR", "take it out"),
    ] {
        let output =
            format!("{file}:{line}: not_understood: Moab ignores the unknown attribute {name}");
        let found = ran.stdout.lines().position(|l| l == output);
        let found = found.unwrap_or_else(|| panic!("no {output:?} in {}", ran.stdout));
        let next = ran.stdout.lines().nth(found + 1).unwrap();
        assert!(next.ends_with(change), "{next}");
    }
}

#[test]
fn findings_name_file_line_and_change() {
    let bank = Bank::new();
    bank.bank_ok(&["machine", "set", "colony", "--flush-interval", "1800"]);
    let text = right(&bank)
        .replace("JOBFAILUREACTION=HOLD", "JOBFAILUREACTION=IGNORE")
        .replace("freecycle", "nobody");
    let file = write(&bank, "moab.cfg", &text);
    let ran = check(&bank, &[&file]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines[0].starts_with(&format!("{file}:1: flush_interval_differs: ")),
        "{lines:?}"
    );
    assert_eq!(
        lines[1],
        "    bank machine set colony --flush-interval 3600"
    );
    assert!(
        lines[2].starts_with(&format!("{file}:2: fallback_unknown: ")),
        "{lines:?}"
    );
    assert_eq!(lines[5], "    AMCFG[bank]  JOBFAILUREACTION=HOLD");
    assert_eq!(ran.stderr, "bank: 3 findings\n");

    let ran = check(&bank, &["--json", &file]);
    let output: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (ran.exit, output["findings"].as_array().unwrap().len()),
        (1, 3)
    );
    assert_eq!(output["findings"][2]["line"], 2);
    let ran = check(&bank, &["--csv", &file]);
    assert!(
        ran.stdout.starts_with("code,file,line,what,change\n"),
        "{}",
        ran.stdout
    );
}

/// What the configuration calls the interval, the command that follows from it takes too.
#[test]
fn a_flush_interval_is_taken_in_the_words_of_the_configuration() {
    let bank = Bank::new();
    for (word, seconds) in [
        ("minute", 60),
        ("MINUTE", 60),
        ("hour", 3600),
        ("Hour", 3600),
        ("day", 86_400),
        ("00:05:00", 300),
        ("01:00:00:00", 86_400),
        ("30m", 1800),
        ("3600", 3600),
    ] {
        bank.bank_ok(&["machine", "set", "colony", "--flush-interval", word]);
        let output = bank.bank_ok(&["machine", "show", "colony", "--json"]);
        let output: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(output["flush_interval_s"], seconds, "{word}");
        let name = format!("m-{}", word.replace(':', "-"));
        bank.bank_ok(&["machine", "add", &name, "--flush-interval", word]);
        let output = bank.bank_ok(&["machine", "show", &name, "--json"]);
        let output: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(output["flush_interval_s"], seconds, "{word}");
    }
    for word in ["soon", "hours", "1 hour", ""] {
        let given = ["machine", "set", "colony", "--flush-interval", word];
        let ran = bank.bank(&given);
        assert_eq!(ran.exit, 2, "{word}: {}", ran.stderr);
        assert!(ran.stderr.contains("minute, hour, day"), "{}", ran.stderr);
    }
}

#[test]
fn a_private_file_beside_the_other_is_read_and_its_key_never_shown() {
    let bank = Bank::new();
    let maui = write(
        &bank,
        "maui.cfg",
        "AMCFG[bank] SERVER=gold://h:7112 JFACTION=DEFER CHARGEPOLICY=DEBITALLWC FLUSHINTERVAL=3600\n",
    );
    let ran = check(&bank, &["--maui", &maui]);
    assert!(ran.stdout.contains("key_missing"), "{}", ran.stdout);
    let private = write(
        &bank,
        "maui-private.cfg",
        "CLIENTCFG[AM:bank] CSKEY=sesame42 CSALGO=HMAC64\n",
    );
    let ran = check(&bank, &["--maui", &maui]);
    let readable = format!("{private}:1: key_readable: ");
    assert!(
        ran.exit == 1 && ran.stdout.starts_with(&readable),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("sesame42"), "{}", ran.stdout);
    let only_us = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
    std::fs::set_permissions(&private, only_us).unwrap();
    let ran = check(&bank, &["--maui", &maui]);
    assert_eq!(ran.exit, 0, "{}", ran.stdout);
}

#[test]
fn a_bank_that_is_out_leaves_the_rest_checked() {
    let mut bank = Bank::new();
    let file = write(
        &bank,
        "moab.cfg",
        &right(&bank).replace("TIMEOUT=10", "TIMEOUT=5"),
    );
    bank.stop();
    let ran = check(&bank, &[&file]);
    assert!(
        ran.exit == 1 && ran.stdout.contains("timeout_too_short"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("note: the bank was not asked"),
        "{}",
        ran.stdout
    );
    let ran = check(&bank, &["--offline", &file]);
    assert!(!ran.stdout.contains("note:"), "{}", ran.stdout);
    for (words, exit) in [
        (vec!["none.cfg"], 2),
        (vec!["--conf", "none.conf"], 2),
        (vec!["/"], 2),
    ] {
        let ran = bank.bank(&[&["moab", "check", "--offline"], &words[..]].concat());
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.stderr);
    }
}
