//! Every shared sample document by its number, through the real script and a real daemon: what
//! `nami-samples/INDEX.md` says comes of it on the base state.

use crate::harness::{Bank, Documents, Setup, T0, amount, skip};

/// What is done first, and then the sample.
struct Row {
    number: u32,
    /// Commands of `bank`, `EVENT NN` for a sample that comes before, `clock S` for later.
    before: &'static [&'static str],
    event: &'static str,
    exit: i32,
    stdout: &'static str,
    /// Held on all accounts afterwards, debited from all, jobs that are open, jobs that are closed.
    after: (i64, i64, usize, usize),
}

const fn row(
    number: u32,
    before: &'static [&'static str],
    event: &'static str,
    (exit, stdout): (i32, &'static str),
    after: (i64, i64, usize, usize),
) -> Row {
    Row {
        number,
        before,
        event,
        exit,
        stdout,
        after,
    }
}

const NONE: &[&str] = &[];
const DONE: (i32, &str) = (0, "");
const UNUSABLE: (i32, &str) = (31, "");
const STORAGE: &str = "bank rate set VBR storage 0.01";
const CAROL: &str = "bank user set carol --default-project astro";
const OPS: &str = "bank user set ops --default-project physics";
const GPU: &str = "bank rate set VBR gpu 1";
const MATLAB: &str = "bank rate set VBR matlab 2";

const ROWS: [Row; 64] = [
    row(1, NONE, "quote", (0, "57600\n"), (0, 0, 0, 0)),
    row(2, NONE, "create", DONE, (0, 0, 1, 0)),
    row(3, NONE, "reserve", DONE, (57_600, 0, 1, 0)),
    row(4, &["reserve 3"], "charge", DONE, (28_800, 28_800, 1, 0)),
    row(5, &["reserve 3"], "charge", DONE, (50_656, 6944, 1, 0)),
    row(6, &["reserve 3"], "delete", DONE, (0, 0, 0, 1)),
    row(7, NONE, "quote", (74, ""), (0, 0, 0, 0)),
    row(8, NONE, "create", (74, ""), (0, 0, 0, 0)),
    row(8, &[OPS], "create", DONE, (0, 0, 1, 0)),
    row(9, NONE, "reserve", DONE, (691_192, 0, 1, 0)),
    row(
        10,
        &[STORAGE, "reserve 9"],
        "charge",
        DONE,
        (658_792, 32_400, 1, 0),
    ),
    row(11, &["reserve 9"], "delete", DONE, (0, 0, 0, 1)),
    row(12, NONE, "start", DONE, (460_800, 0, 1, 0)),
    row(13, &["start 12"], "pause", DONE, (0, 57_600, 1, 0)),
    row(
        14,
        &["start 12", "pause 13"],
        "resume",
        DONE,
        (403_200, 57_600, 1, 0),
    ),
    row(15, &["resume 14"], "update", DONE, (172_800, 230_400, 1, 0)),
    row(
        16,
        &["resume 14", "update 15"],
        "continue",
        DONE,
        (172_800, 230_400, 1, 0),
    ),
    row(17, &["continue 16"], "end", DONE, (0, 76_800, 0, 1)),
    row(18, &["create 12"], "delete", DONE, (0, 0, 0, 1)),
    row(19, NONE, "start", DONE, (460_800, 0, 1, 0)),
    row(20, &["start 19"], "end", DONE, (0, 133_200, 0, 1)),
    row(21, &[GPU, MATLAB], "reserve", DONE, (27_600, 0, 1, 0)),
    row(22, NONE, "reserve", DONE, (120, 0, 1, 0)),
    row(23, NONE, "reserve", (74, ""), (0, 0, 0, 0)),
    row(23, &[CAROL], "reserve", DONE, (4800, 0, 1, 0)),
    row(24, NONE, "reserve", UNUSABLE, (0, 0, 0, 0)),
    row(24, NONE, "quote", (0, "4800\n"), (0, 0, 0, 0)),
    row(25, NONE, "reserve", DONE, (4800, 0, 1, 0)),
    row(25, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(26, NONE, "reserve", (74, ""), (0, 0, 0, 0)),
    row(26, &[CAROL], "reserve", DONE, (4800, 0, 1, 0)),
    row(27, NONE, "reserve", (74, ""), (0, 0, 0, 0)),
    row(27, &[CAROL], "reserve", DONE, (4800, 0, 1, 0)),
    row(28, NONE, "reserve", DONE, (4800, 0, 1, 0)),
    row(29, NONE, "reserve", DONE, (600, 0, 1, 0)),
    row(30, NONE, "reserve", DONE, (4800, 0, 1, 0)),
    row(31, NONE, "charge", DONE, (0, 460_800, 1, 0)),
    row(31, &["start 12"], "charge", DONE, (230_400, 230_400, 1, 0)),
    row(32, NONE, "reserve", DONE, (57_600, 0, 1, 0)),
    row(33, &["reserve 3"], "charge", DONE, (57_600, 0, 1, 0)),
    row(34, NONE, "charge", DONE, (0, 180, 2, 0)),
    row(35, NONE, "charge", DONE, (0, 120, 2, 0)),
    row(36, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(37, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(38, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(39, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(40, NONE, "reserve", UNUSABLE, (0, 0, 0, 0)),
    row(41, NONE, "reserve", UNUSABLE, (0, 0, 0, 0)),
    row(42, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(43, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(44, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(45, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(46, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(47, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(48, NONE, "charge", UNUSABLE, (0, 0, 0, 0)),
    row(49, NONE, "reserve", UNUSABLE, (0, 0, 0, 0)),
    row(50, NONE, "reserve", DONE, (60, 0, 1, 0)),
    row(51, NONE, "reserve", DONE, (60, 0, 1, 0)),
    row(
        52,
        &["reserve 3", "clock 7200"],
        "charge",
        DONE,
        (0, 86_400, 1, 0),
    ),
    // The same under the other names of the events.
    row(3, NONE, "start", DONE, (57_600, 0, 1, 0)),
    row(4, NONE, "update", DONE, (0, 28_800, 1, 0)),
    row(5, &["start 3"], "end", DONE, (0, 6944, 0, 1)),
    row(6, NONE, "modify", DONE, (0, 0, 1, 0)),
    row(6, NONE, "query", (71, ""), (0, 0, 0, 0)),
];

/// Accounts of the base state, and the suspense account.
const ACCOUNTS: [(&str, i64); 7] = [
    ("chemistry", 1_000_000),
    ("physics", 1_000_000),
    ("astro", 50_000),
    ("training", 2_000_000),
    ("freecycle", 1_000_000),
    ("Zürich-Ångström", 1000),
    ("#unbilled", 0),
];

fn check(documents: &Documents, row: &Row) {
    let name = format!(
        "sample {:02} as {} after {:?}",
        row.number, row.event, row.before
    );
    let mut bank = Setup::new().chemistry(1_000_000).start();
    for step in row.before {
        let words: Vec<&str> = step.split(' ').collect();
        match words.as_slice() {
            ["bank", words @ ..] => {
                bank.bank_ok(words);
            }
            ["clock", seconds] => bank.set_clock(T0 + seconds.parse::<i64>().unwrap()),
            [event, number] => {
                let body = documents.get(number.parse().unwrap());
                bank.script(event, &body).expect(0, "");
            }
            other => panic!("{other:?}"),
        }
    }
    let ran = bank.script(row.event, &documents.get(row.number));
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (row.exit, row.stdout),
        "{name}: {}",
        ran.stderr
    );
    assert!(
        ran.stderr.lines().count() <= 1 && ran.stderr.len() <= 200,
        "{name}"
    );
    let (mut held, mut debited) = (0, 0);
    for (account, given) in ACCOUNTS {
        let (amount, holds, _) = figures(&bank, account);
        held += holds;
        debited += given - amount;
    }
    let jobs = bank.jobs();
    let open = jobs.iter().filter(|job| job["state"] == "open").count();
    assert_eq!(
        (held, debited, open, jobs.len() - open),
        row.after,
        "{name}"
    );
    let is_charge = matches!(row.event, "charge" | "end" | "update" | "pause" | "delete");
    let aside = usize::from(row.exit == 31 && is_charge);
    assert_eq!((bank.spooled(), bank.quarantined()), (0, aside), "{name}");
    bank.verify();
}

fn figures(bank: &Bank, account: &str) -> (i64, i64, i64) {
    if account == "#unbilled" {
        let unbilled = &bank.json(&["status"])["unbilled"];
        return (-amount(unbilled, "amount").abs(), 0, 0);
    }
    bank.figures(account)
}

#[test]
fn every_sample_by_its_number() {
    let numbers: std::collections::BTreeSet<u32> = ROWS.iter().map(|row| row.number).collect();
    assert!((1..=52).eq(numbers));
    let Some(documents) = Documents::shared() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    for row in &ROWS {
        check(&documents, row);
    }
}
