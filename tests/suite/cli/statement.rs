//! `bank statement` and `bank close`, by the real daemon and its clock.

use bank_api::text::parse_rfc3339;
use serde_json::Value;

use crate::harness::{Bank, Request, programs};

const OCTOBER: [&str; 4] = ["statement", "chem", "--month", "2026-10"];

pub(super) fn clock(bank: &Bank, time: &str) {
    bank.set_clock(parse_rfc3339(time).unwrap() / 1_000_000);
}

/// What cannot be done without saying so.
#[track_caller]
pub(super) fn done(bank: &Bank, words: &str) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let ran = bank.typed(&programs().bank(), &words);
    assert_eq!(ran.exit, 0, "{words:?}: {}", ran.stderr);
    ran.stdout
}

/// A job that was billed for so many processors for a hundred hours, and is over.
fn billed(bank: &Bank, job: &str, user: &str, processors: i64) {
    bank.job_event("charge", job, ("chem", user), (processors, 360_000), "");
    bank.job_event("delete", job, ("chem", user), (processors, 360_000), "");
}

/// A project with some charges in October 2026, on the tenth of November.
pub(super) fn november() -> Bank {
    let bank = Bank::site();
    for words in [
        "machine add ia64 --mode strict",
        "user add amy",
        "user add bob",
        "project add chem --members amy,bob",
        "project add chem/gpu --parent chem --members bob",
        "deposit chem 100000 --end 2027-04-01",
        "deposit chem/gpu 70",
    ] {
        done(&bank, words);
    }
    clock(&bank, "2026-10-05T12:00:00Z");
    billed(&bank, "j1", "amy", 300);
    clock(&bank, "2026-10-20T12:00:00Z");
    billed(&bank, "j2", "bob", 100);
    done(&bank, "refund j1 5000");
    clock(&bank, "2026-11-10T12:00:00Z");
    bank
}

/// Everything that is said of October, in every form.
fn october(bank: &Bank) -> Vec<String> {
    let forms = [
        &["--summary"][..],
        &[],
        &["--csv"],
        &["--json"],
        &["-O", "jsonl"],
        &["-O", "html"],
        &["--summary", "--json"],
        &["--summary", "-P"],
        &["--summary", "-O", "html"],
    ];
    let say = |form: &&[&str]| {
        let ran = bank.typed(&programs().bank(), &[&OCTOBER[..], form].concat());
        assert_eq!(ran.exit, 0, "{form:?}: {}", ran.stderr);
        ran.stdout
    };
    forms.iter().map(say).collect()
}

const SCREEN: &str = "\
Statement  chem  from 2026-10-01 to 2026-11-01 (exclusive), 31 days     whole SU
Opening amount                                     100,000
+ deposits       0      + refunds      1 job          5,000
− charges        2 jobs                             −40,000
Closing amount                                      65,000
At 1,167 SU/day it is empty on 2026-12-26.
Without sub-projects.
By user       jobs     charged    refunded  share
amy              1      30,000       5,000    75%
bob              1      10,000           0    25%
";

#[test]
fn a_month_adds_up_in_every_form() {
    let mut bank = november();
    let output = october(&bank);
    assert_eq!(output[0], SCREEN);
    assert!(
        output[1].contains("2026-10-05 13:00:00  charge "),
        "{}",
        output[1]
    );
    assert!(
        output[1].contains("\u{2212}30,000.000   70,000.000\n"),
        "{}",
        output[1]
    );
    let csv: Vec<&str> = output[2].lines().collect();
    assert_eq!(csv.len(), 4, "{}", output[2]);
    assert_eq!(
        csv[0],
        "at,kind,adjustment,account,allocation,project,user,machine,job,amount,transaction"
    );
    assert!(
        csv[1].starts_with("2026-10-05T12:00:00Z,charge,no,chem,2,chem,amy,ia64,j1,-30000.000,")
    );
    let json: Value = serde_json::from_str(&output[3]).unwrap();
    assert_eq!(json["statement"]["closing"], "65000.000");
    assert_eq!(json["items"].as_array().unwrap().len(), 3);
    assert_eq!(output[4].lines().count(), 3);
    assert!(output[5].contains("<td>j1</td>") && output[5].ends_with("</body></html>\n"));
    assert_eq!(
        output[7].lines().nth(1),
        Some("balance|opening|no|100000.000||")
    );
    let tree = done(&bank, "statement chem --month 2026-10 --tree --summary");
    assert!(
        tree.contains("Opening amount                                     100,070"),
        "{tree}"
    );
    let user = done(&bank, "statement -u amy --quarter 2026Q4 --summary --json");
    let user: Value = serde_json::from_str(&user).unwrap();
    assert_eq!(user["opening"], Value::Null);
    assert_eq!(
        (&user["total_debits"], &user["total_credits"]),
        (&"-30000.000".into(), &"5000.000".into())
    );
    assert_eq!(user["parts"][0]["name"], "chem");
    let machine = done(&bank, "statement -m ia64 --year 2026 --summary");
    assert!(
        machine.starts_with("Statement  machine ia64  from 2026-01-01 to 2027-01-01"),
        "{machine}"
    );
    assert!(
        machine.contains("\u{2212} charges        2 jobs"),
        "{machine}"
    );
    bank.verify();
}

#[test]
fn whoever_is_not_there_has_no_statement() {
    let bank = november();
    for (words, exit) in [
        ("statement nochem --month 2026-10", 4),
        ("statement -u nobody --month 2026-10", 4),
        ("statement -a nowhere --month 2026-10", 4),
        ("statement", 2),
        ("statement chem --month 2026-13", 2),
        ("statement chem --from 2026-10-02 --to 2026-10-01", 1),
        ("statement chem --from 2030-01-01", 1),
        ("statement chem --month 2026-10 --from 2026-10-01", 2),
        ("balance -O html", 2),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let ran = bank.typed(&programs().bank(), &words);
        assert_eq!(ran.exit, exit, "{words:?}: {}{}", ran.stdout, ran.stderr);
    }
    bank.bank(&["statement", "nochem"])
        .expect_stderr(&["did you mean \"chem\"?"]);
}

/// The refund counts in October and came in November; a job of the fifth is all there was then.
#[test]
fn a_statement_is_shown_as_it_stood_and_as_it_was_known() {
    let mut bank = november();
    let debits = |words: &str| {
        let statement = done(&bank, &format!("statement chem --summary --json {words}"));
        let statement: Value = serde_json::from_str(&statement).unwrap();
        let text = |name: &str| statement[name].as_str().unwrap_or("none").to_owned();
        [text("from"), text("total_debits"), text("closing")]
    };
    let first = debits("--at 2026-10-10T00:00:00Z");
    assert_eq!(first, ["2026-09-30T23:00:00Z", "-30000.000", "70000.000"]);
    let balance = done(
        &bank,
        "balance chem --at 2026-10-10T00:00:00Z --csv --columns amount",
    );
    assert_eq!(balance, "amount\n70000.000\n");
    let month = debits("--month 2026-10 --at 2026-10-10T00:00:00Z");
    assert_eq!(month, first);
    let known = debits("--from 2026-10-01 --at 2026-10-10T00:00:00Z --recorded");
    assert_eq!(known, first);
    let later = debits("--month 2026-10 --at 2026-11-05T00:00:00Z");
    assert_eq!(later, debits("--month 2026-10"));
    let lines = done(
        &bank,
        "statement chem --at 2026-10-10T00:00:00Z --csv --columns job",
    );
    assert_eq!(lines, "job\nj1\n");
    for (words, exit) in [
        ("statement chem --recorded", 2),
        ("statement chem --at soon", 2),
        ("statement chem --at 2090-01-01", 1),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let ran = bank.typed(&programs().bank(), &words);
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.stderr);
    }
    bank.verify();
}

#[test]
fn a_closed_month_is_reported_the_same_for_ever() {
    let mut bank = november();
    let would = done(&bank, "close 2026-10 --dry-run");
    assert!(would.starts_with("dry run, nothing written: closed from 2026-10-01 to 2026-11-01"));
    let output = done(&bank, "close 2026-10 --note checked");
    assert!(output.contains("65,070.000 SU on 2 accounts"), "{output}");
    for (words, parts) in [
        ("close 2026-10", "period closed"),
        ("close 2026-11", "is not over"),
        ("close 2026Q4", "is not over"),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let ran = bank.typed(&programs().bank(), &words);
        assert_eq!(ran.exit, 1, "{words:?}: {}", ran.stderr);
        ran.expect_stderr(&[parts]);
    }
    let closed = october(&bank);
    let note = "Closed by transaction";
    assert!(closed[0].starts_with(SCREEN.split("Without").next().unwrap()));
    assert!(closed[0].contains(note) && !SCREEN.contains(note));
    // A charge of a window in October, and what belongs to November.
    let late = "charge j9 -A chem -u amy -m ia64 --procs 10 --start 2026-10-30 --end 2026-10-31";
    done(&bank, late);
    done(&bank, "refund j2 1000");
    let undone = bank.items(&["journal", "--kind", "charge"]);
    let undone = undone[0]["transaction"].to_string();
    assert_eq!(bank.bank(&["undo", &undone]).exit, 1, "refunds hang on it");
    done(&bank, "project set chem --description other");
    done(&bank, "account set chem --projects chem,chem/gpu");
    assert_eq!(october(&bank), closed);
    let november = done(&bank, "statement -a chem --month 2026-11 --summary");
    assert!(
        november.contains("Opening amount                                      65,000"),
        "{november}"
    );
    let adjusts = "\u{2212} charges        1 job  adjusting a closed period      \u{2212}240";
    assert!(november.contains(adjusts), "{november}");
    let lines = done(&bank, "statement -a chem --month 2026-11");
    assert!(lines.contains("2026-10-31 00:00:00  charge*"), "{lines}");
    let ls = done(&bank, "close ls");
    assert!(ls.contains("2026-10-01  2026-11-01"), "{ls}");
    assert_eq!(
        bank.typed(&programs().bank(), &["close", "undo"]).exit,
        2,
        "it asks"
    );
    let opened = done(&bank, "close undo --yes --note wrong");
    assert!(opened.contains("open again from 2026-10-01"), "{opened}");
    let october = done(&bank, "statement -a chem --month 2026-10 --summary");
    assert!(
        october.contains("Closing amount                                      64,760"),
        "{october}"
    );
    bank.verify();
}

#[test]
fn a_statement_that_does_not_add_up_is_not_shown() {
    let bank = november();
    assert_eq!(bank.typed(&programs().bank(), &OCTOBER).exit, 0);
    bank.query("DROP TRIGGER entry_no_update");
    let changed = bank.query(
        "UPDATE entry SET delta_active = delta_active - 1 WHERE kind = 'refund' RETURNING tx",
    );
    let ran = bank.typed(&programs().bank(), &OCTOBER);
    assert_eq!(ran.exit, 70, "{}", ran.stdout);
    ran.expect_stderr(&[
        &format!("transaction {}: allocation", changed[0][0]),
        "bankd verify",
    ]);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    let september = ["statement", "chem", "--month", "2026-09", "--summary"];
    assert_eq!(
        bank.typed(&programs().bank(), &september).exit,
        0,
        "before it"
    );
}

#[test]
fn lines_come_page_by_page() {
    let bank = november();
    let get = |target: &str| -> Value {
        let answer = bank.over_socket(&Request::get(target));
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
        serde_json::from_str(&answer.text()).unwrap()
    };
    let whole = get("/api/v1/statements/entries?project=chem");
    let (mut lines, mut next) = (Vec::new(), String::new());
    loop {
        let page = get(&format!(
            "/api/v1/statements/entries?project=chem&limit=1{next}"
        ));
        lines.extend(page["items"].as_array().unwrap().iter().cloned());
        match page["next"].as_str() {
            Some(after) => next = format!("&after={after}"),
            None => break,
        }
    }
    assert_eq!(Value::Array(lines), whole["items"]);
    for (target, status) in [
        ("/api/v1/statements", 422),
        ("/api/v1/statements?project=chem&user=amy", 422),
        ("/api/v1/statements?project=chem&from=soon", 422),
        ("/api/v1/statements?user=amy&tree=true", 422),
        ("/api/v1/statements?project=nochem", 404),
        ("/api/v1/statements/entries?project=chem&limit=0", 422),
        ("/api/v1/statements/entries?project=chem&after=x", 422),
        ("/api/v1/closes?limit=1001", 422),
    ] {
        let answer = bank.over_socket(&Request::get(target));
        assert_eq!(answer.status, status, "{target}: {}", answer.text());
    }
}

#[test]
fn a_debt_that_ends_with_its_allocation_has_a_line_of_its_own() {
    let bank = Bank::site();
    for words in [
        "machine add ia64 --mode strict",
        "user add amy",
        "project add chem --members amy",
        "deposit chem 100 --end 2026-11-01",
        "deposit chem 7 --start 2026-11-01 --end 2026-11-03",
    ] {
        done(&bank, words);
    }
    clock(&bank, "2026-10-20T12:00:00Z");
    billed(&bank, "j1", "amy", 3);
    clock(&bank, "2026-11-10T12:00:00Z");
    let statement: Value = serde_json::from_str(&done(
        &bank,
        "statement chem --month 2026-11 --summary --json",
    ))
    .unwrap();
    let lines = |side: &str| {
        let groups = statement[side].as_array().unwrap().iter();
        let line = |group: &Value| (group["heading"].clone(), group["amount"].clone());
        groups.map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        lines("credits"),
        [
            ("activations".into(), "7.000".into()),
            ("debts_ended".into(), "200.000".into())
        ],
        "{statement}"
    );
    assert_eq!(lines("debits"), [("expiries".into(), "-7.000".into())]);
    assert_eq!(
        (&statement["opening"], &statement["closing"]),
        (&"-200.000".into(), &"0.000".into())
    );
    let screen = done(&bank, "statement chem --month 2026-11");
    assert!(screen.contains("+ debts ended"), "{screen}");
    // The balance sheet has both ends in the column for what ended: 200 - 7.
    let sheet = done(&bank, "report balance-sheet --month 2026-11 --json");
    let sheet: Value = serde_json::from_str(&sheet).unwrap();
    let rows = sheet["items"].as_array().unwrap().iter();
    let mut own = rows.filter(|row| row["account"] == "chem");
    let own = own.next().unwrap();
    assert_eq!(
        (&own["expiries"], &own["other"]),
        (&"193.000".into(), &"0.000".into()),
        "{sheet}"
    );
}

/// An adjustment and an undo of an allocation that ended with money correct its expiry: no debt ended.
#[test]
fn a_correction_of_an_ended_allocation_ends_no_debt() {
    let bank = Bank::site();
    for words in [
        "project add chem",
        "deposit chem 100 --end 2026-11-01 --new",
        "deposit chem 50 --new",
        "project add phys",
        "deposit phys 100 --end 2026-11-01 --new",
    ] {
        done(&bank, words);
    }
    let ended = done(&bank, "allocation ls -a chem --csv -n --columns id,amount");
    let ended = ended.lines().find_map(|line| line.strip_suffix(",100.000"));
    let deposit = done(
        &bank,
        "journal -a phys --kind deposit --csv -n --columns txn",
    );
    clock(&bank, "2026-11-10T12:00:00Z");
    done(
        &bank,
        &format!("adjust chem -5 -i {} --note wrong", ended.unwrap()),
    );
    done(&bank, &format!("undo {}", deposit.lines().next().unwrap()));
    let line = |project: &str| {
        let words = format!("statement {project} --month 2026-11 --summary --json");
        let statement: Value = serde_json::from_str(&done(&bank, &words)).unwrap();
        assert_eq!(statement["credits"], serde_json::json!([]), "{statement}");
        let groups = statement["debits"].as_array().unwrap().iter();
        let line = |group: &Value| (group["heading"].clone(), group["amount"].clone());
        groups.map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        line("chem"),
        [
            ("expiries".into(), "-95.000".into()),
            ("put_right".into(), "-5.000".into())
        ]
    );
    assert_eq!(
        line("phys"),
        [
            ("expiries".into(), "0.000".into()),
            ("reversals".into(), "-100.000".into())
        ]
    );
}

/// The lines of October with what was left after each, as CSV and JSON have them.
fn timed(bank: &Bank) -> Vec<(String, String, String, i64)> {
    let month = done(bank, "statement chem --month 2026-10 --json");
    let month: Value = serde_json::from_str(&month).unwrap();
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let line = |line: &Value| {
        let entry = line["entry"].as_i64().unwrap();
        let kind = text(line, "kind");
        (text(line, "at"), kind, text(line, "amount"), entry)
    };
    let lines: Vec<_> = month["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(line)
        .collect();
    let csv = done(
        bank,
        "statement chem --month 2026-10 --csv -n --columns at,kind,amount,entry",
    );
    let same = lines
        .iter()
        .map(|(at, kind, amount, entry)| format!("{at},{kind},{amount},{entry}\n"));
    assert_eq!(csv, same.collect::<String>());
    lines
}

/// A charge of the past and a deposit for the past are listed at their time, and the balance beside each
/// line is the balance of that time.
#[test]
fn lines_are_in_order_of_time_and_each_balance_is_that_of_its_time() {
    let mut bank = november();
    for words in [
        "deposit chem 500 --start 2026-10-07 --end 2027-04-01 --new --allow-past",
        "charge late -A chem -u amy -m ia64 --procs 10 --start 2026-10-09 --end 2026-10-10",
        "deposit chem 700 --new --allow-past --start 2026-10-02 --end 2026-10-03",
    ] {
        done(&bank, words);
    }
    let lines = timed(&bank);
    let order: Vec<_> = lines.iter().map(|(at, _, _, entry)| (at, entry)).collect();
    let mut sorted = order.clone();
    sorted.sort();
    assert_eq!(order, sorted);
    let entries: Vec<i64> = lines.iter().map(|line| line.3).collect();
    assert!(!entries.is_sorted(), "nothing is late: {lines:?}");
    let screen = done(&bank, "statement chem --month 2026-10");
    // What is left after a line is what `bank balance` shows of that time.
    let thousandths = |text: &str| text.trim().replace('.', "").parse::<i64>().unwrap();
    let mut left = 100_000_000;
    let mut place = 0;
    for (n, (at, _, amount, _)) in lines.iter().enumerate() {
        left += thousandths(amount);
        if lines.get(n + 1).is_some_and(|next| next.0 == *at) {
            continue;
        }
        let balance = done(
            &bank,
            &format!("balance -a chem --at {at} --csv -n --columns amount"),
        );
        assert_eq!(thousandths(&balance), left, "{at}");
        place += 1;
    }
    assert_eq!(place, 3, "{screen}");
    // A deposit counts when it is made, whatever window it has.
    assert!(!screen.contains("  deposit  "), "{screen}");
    let late = screen.find(" late ").unwrap();
    assert!(
        screen.find(" j1 ").unwrap() < late && late < screen.find(" j2 ").unwrap(),
        "{screen}"
    );
    bank.verify();
}
