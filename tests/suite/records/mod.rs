//! The record files as another program finds them: FILE lines and GGF records, exactly once each,
//! whatever happens to the daemon in between (`nami.md` 6, `usage-records.md` 1.8 and 4.5).

mod check;
mod crash;
mod export;
mod ggf;
mod many;
mod sinks;

use crate::harness::{Bank, Documents, Setup, T0};

/// A bank that writes both files.
fn bank(interim: bool) -> Bank {
    Setup::new()
        .env("BANKD_FILE_PATH", "file.txt")
        .env("BANKD_FILE_INTERIM", if interim { "true" } else { "false" })
        .env("BANKD_GGF_PATH", "ggf.xml")
        .start()
}

/// Case 10's documents.
fn whole_life(bank: &Bank) {
    let documents = Documents::own();
    for (event, number) in [("reserve", 3), ("charge", 4), ("charge", 5), ("delete", 6)] {
        bank.script(event, &documents.get(number)).expect(0, "");
    }
}

/// The whole lines of a record file; none where it does not exist.
fn lines(bank: &Bank, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(bank.data().join(file)).unwrap_or_default();
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "{file} ends with half a line"
    );
    text.lines().map(str::to_owned).collect()
}

/// The value of a key in a FILE line.
fn value<'a>(line: &'a str, key: &str) -> &'a str {
    let mut pairs = line.split(' ').filter_map(|word| word.split_once('='));
    pairs
        .find(|(known, _)| *known == key)
        .unwrap_or_else(|| panic!("no {key}: {line}"))
        .1
}

/// What a FILE line says was used: processors × rate × seconds, in hundredths.
fn hundredths(line: &str) -> i64 {
    let number = |key: &str| -> i64 { value(line, key).parse().unwrap() };
    let rate: i64 = value(line, "PROCCRATE").replace('.', "").parse().unwrap();
    number("PROCS") * number("DURATION") * rate
}

fn case_52(interim: bool, expected: &[(&str, i64)]) {
    let mut bank = bank(interim);
    whole_life(&bank);
    bank.verify();
    let lines = lines(&bank, "file.txt");
    let found: Vec<_> = lines
        .iter()
        .map(|line| (value(line, "DURATION"), hundredths(line) / 100))
        .collect();
    assert_eq!(found, expected);
    for line in &lines {
        let rest = line.strip_prefix("WITHDRAWAL TYPE=job MACHINE=colony ACCOUNT=chemistry ");
        let rest = rest.unwrap_or_else(|| panic!("{line}"));
        assert!(
            rest.starts_with("USER=amy PROCS=16 PROCCRATE=1.00 RESOURCETYPE="),
            "{line}"
        );
        assert!(rest.ends_with("REQUESTID=Moab.1024"), "{line}");
    }
}

#[test]
fn nami_case_52_interim_lines() {
    case_52(true, &[("1800", 28_800), ("434", 6944)]);
}

#[test]
fn nami_case_52_one_line_at_the_close() {
    case_52(false, &[("2234", 35_744)]);
}

#[test]
fn an_end_writes_the_whole_and_what_comes_later_by_itself() {
    let mut bank = Setup::new()
        .chemistry(1_000_000)
        .env("BANKD_FILE_PATH", "file.txt")
        .env("BANKD_FILE_INTERIM", "false")
        .env("BANKD_GGF_PATH", "ggf.xml")
        .start();
    let documents = Documents::own();
    for (after, event, number) in [
        (0, "start", 12),
        (900, "pause", 13),
        (3600, "resume", 14),
        (8400, "end", 17),
        // It was overtaken by the end.
        (8401, "update", 15),
        (8402, "delete", 18),
    ] {
        bank.set_clock(T0 + after);
        bank.script(event, &documents.get(number)).expect(0, "");
    }
    assert_eq!(
        bank.entries("late_charge"),
        [("chemistry".to_owned(), -230_400)]
    );
    bank.verify();
    let lines = |file| lines(&bank, file);
    let durations: Vec<_> = lines("file.txt")
        .iter()
        .map(|line| value(line, "DURATION").to_owned())
        .collect();
    assert_eq!(durations, ["2100", "3600"]);
    assert_eq!(lines("ggf.xml").len(), 2);
}

#[test]
fn a_fallback_is_written_with_the_account_that_paid() {
    let mut bank = Setup::new()
        .chemistry(0)
        .env("BANKD_FILE_PATH", "file.txt")
        .env("BANKD_FALLBACK_MODE", "bank")
        .start();
    bank.bank_ok(&["account", "set", "chemistry", "--fallback", "freecycle"]);
    whole_life(&bank);
    bank.verify();
    let lines = lines(&bank, "file.txt");
    let accounts: Vec<_> = lines.iter().map(|line| value(line, "ACCOUNT")).collect();
    assert_eq!(accounts, ["freecycle", "freecycle"]);
}

#[test]
fn names_cannot_add_a_field() {
    let mut bank = bank(true);
    let name = "a b=c\"%";
    bank.bank_ok(&["user", "add", name]);
    bank.bank_ok(&["project", "members", "add", "chemistry", name]);
    let body = Documents::own().with(4, &[("amy", name)]);
    bank.script("charge", &body).expect(0, "");
    bank.verify();
    let lines = lines(&bank, "file.txt");
    assert_eq!(value(&lines[0], "USER"), "a%20b%3Dc%22%25");
}

#[test]
fn a_file_that_cannot_be_written_fails_no_charge() {
    let mut bank = Setup::new()
        .env("BANKD_FILE_PATH", "records/file.txt")
        .start();
    whole_life(&bank);
    assert_eq!(bank.debits().len(), 2);
    bank.stop();
    std::fs::create_dir(bank.data().join("records")).unwrap();
    bank.start();
    bank.verify();
    assert_eq!(lines(&bank, "records/file.txt").len(), 2);
}
