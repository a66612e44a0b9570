//! Readers that continue where they ended, after the bank was restored from a backup: the numbers of lost transactions
//! are given again, and no new one is left out without a word.

use std::fs;

use super::backup::named;
use super::{bankd_ok, text};
use crate::harness::{Bank, Ran, Request, Setup};

const REFUSED: &str = "from before the bank was restored from a backup";

fn charge(bank: &Bank, job: &str) {
    let line = format!("charge {job} -A chemistry -u amy -m colony --procs 1 --duration 7");
    bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
}

/// The arguments of each reader, with its place or state in a file.
fn readers(bank: &Bank) -> Vec<Vec<String>> {
    let path = |name: &str| text(&bank.folder().join(name)).to_owned();
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let journal = [
        words("journal --kind charge --json --cursor"),
        vec![path("place")],
    ]
    .concat();
    let export = |format: &str| {
        let (state, out) = (
            path(&format!("{format}.state")),
            path(&format!("{format}.out")),
        );
        words(&format!("export {format} --state {state} -o {out}"))
    };
    vec![journal, export("csv"), export("jsonl"), export("focus")]
}

/// The cursor of the next call of `GET /api/v1/monitor`.
fn monitored(bank: &Bank) -> String {
    let answer = bank.over_socket(&Request::get("/api/v1/monitor"));
    let page: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
    page["next"].as_str().unwrap().to_owned()
}

fn run(bank: &Bank, words: &[String]) -> Ran {
    bank.bank(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_reader_from_before_a_restore_is_refused() {
    let mut bank = Setup::new()
        .env("BANKD_EXPORT_BILLING_CURRENCY", "EUR")
        .env("BANKD_EXPORT_CREDIT_PRICE", "0.01")
        .start();
    charge(&bank, "kept");
    for words in readers(&bank) {
        assert_eq!(run(&bank, &words).exit, 0, "{words:?}");
    }
    let (data, out) = (bank.data(), bank.folder().join("out"));
    let monitored = monitored(&bank);
    bankd_ok(
        &bank,
        &["backup", "--data", text(&data), "--out", text(&out)],
    );
    bank.stop();
    let folder = named(&out).remove(0);
    // Readers from before the backup go on.
    bankd_ok(
        &bank,
        &["restore", text(&folder), "--data", text(&data), "--force"],
    );
    bank.start();
    for words in readers(&bank) {
        assert_eq!(run(&bank, &words).exit, 0, "{words:?}");
    }
    charge(&bank, "lost");
    for words in readers(&bank) {
        assert_eq!(run(&bank, &words).exit, 0, "{words:?}");
    }
    let lost = self::monitored(&bank);
    assert_ne!(lost, monitored);
    bank.stop();
    bankd_ok(
        &bank,
        &["restore", text(&folder), "--data", text(&data), "--force"],
    );
    bank.start();
    charge(&bank, "new");
    charge(&bank, "newer");
    for words in readers(&bank) {
        let ran = run(&bank, &words);
        assert_eq!(ran.exit, 1, "{words:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(REFUSED), "{words:?}: {}", ran.stderr);
    }
    let after = |cursor: &str| {
        let target = format!("/api/v1/monitor?after={cursor}");
        bank.over_socket(&Request::get(&target))
    };
    let refused = after(&lost);
    assert!(refused.text().contains(REFUSED), "{}", refused.text());
    assert_eq!(after(&monitored).status, 200);
    // The journal goes on behind the last transaction that both have.
    let place = text(&bank.folder().join("place")).to_owned();
    let kept = fs::read_to_string(&place).unwrap();
    let number: u64 = kept.split('~').next().unwrap().parse().unwrap();
    let words = ["journal", "--kind", "charge", "--cursor", &place, "--after"];
    let went_on = bank.bank_ok(&[&words[..], &[(number - 1).to_string().as_str()]].concat());
    for job in ["job new\n", "job newer\n"] {
        assert!(went_on.contains(job), "{went_on}");
    }
    assert_ne!(fs::read_to_string(&place).unwrap(), kept);
}
