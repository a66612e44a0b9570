//! Names in questions to the journal: who is in no row of it and in no list is told to be nobody, and who
//! is hidden is told in the same words.

use super::named::{used, with};
use crate::export::seen::token;

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn the_journal_reports_a_slip_too() {
    let mut bank = used();
    for (words_, message) in [
        ("journal -u ami", "no user \"ami\""),
        ("journal -u ami --since 2026-01-01", "no user \"ami\""),
        ("journal -m colony7 --kind charge", "no machine \"colony7\""),
        ("journal --job 77", "no job \"77\""),
        ("journal -u ghost --job 77", "no job \"77\""),
    ] {
        let ran = bank.bank(&words(words_));
        assert_eq!(ran.exit, 4, "{words_}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(message), "{words_}: {}", ran.stderr);
    }
    // What is registered, or in any row, is known where nothing is found.
    for words_ in [
        "journal -m blue",
        "journal -u ghost",
        "journal -u ghost --kind deposit",
        "journal -m elsewhere --since 2030-01-01",
        "journal --job 3 --kind deposit",
        "journal --job 3 -u bob",
    ] {
        let ran = bank.bank(&words(words_));
        assert_eq!(ran.exit, 0, "{words_}: {}", ran.stderr);
    }
    // Behind what was told there is nothing more, and that is an answer.
    let all = bank.json(&["journal", "--job", "3"]);
    let last = all["items"].as_array().unwrap().last().unwrap()["transaction"].to_string();
    let ran = bank.bank(&["journal", "--job", "3", "--after", &last]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    bank.verify();
}

#[test]
fn rows_of_others_make_no_name_known() {
    let bank = used();
    let own = token(&bank, "p", &["--role", "auditor", "-A", "chemistry"]);
    for (theirs, nobody) in [
        ("journal --job 2", "journal --job 9"),
        ("journal -u ghoul", "journal -u groul"),
    ] {
        let (theirs_, nobody_) = (
            with(&bank, &own, &words(theirs)),
            with(&bank, &own, &words(nobody)),
        );
        assert_eq!(
            (theirs_.exit, nobody_.exit),
            (4, 4),
            "{theirs}: {}",
            theirs_.stderr
        );
        let plain = |text: &str, reason: &str| {
            let name = reason.rsplit(' ').next().unwrap();
            let lines = text.lines().filter(|line| !line.starts_with("request "));
            lines
                .map(|line| line.replace(name, "NAME"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            plain(&theirs_.stderr, theirs),
            plain(&nobody_.stderr, nobody)
        );
    }
}

/// A project that only has projects below it says so.
#[test]
fn a_statement_of_a_project_without_an_account_names_the_way() {
    let bank = used();
    bank.bank_ok(&["project", "add", "science", "--no-account"]);
    let ran = bank.bank(&["statement", "science", "--month", "2026-01"]);
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    let message = "project \"science\" has no separate account";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("`--tree` shows the projects below it"),
        "{}",
        ran.stderr
    );
}
