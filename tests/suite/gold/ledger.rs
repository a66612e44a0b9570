//! What requests over the wire do to the ledger, from the schedulers' side of it: the captured
//! messages as they are, their answers as Maui reads them, and the accounts as `bank` shows them.

use std::fs;
use std::path::{Path, PathBuf};

use super::KEY;
use crate::harness::{Bank, Dialect, GOLD_T0, carries, shared_folder, skip, summary, until};

/// What the clock shows from the first charge on.
const CHARGES: i64 = GOLD_T0 + 90;

/// Amount and what is held of an account, as `bank` shows them.
fn figures(bank: &Bank, account: &str) -> String {
    let (amount, held, _) = bank.figures(account);
    format!("{amount}/{held}")
}

/// The requests of a folder in their order.
fn requests(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut requests: Vec<PathBuf> = all
        .filter(|p| p.extension().is_some_and(|e| e == "request"))
        .collect();
    requests.sort();
    requests
}

/// Sends a captured message as it is; value, code and message of the answer, whose signature holds.
fn replay(bank: &Bank, request: &Path) -> (String, String) {
    if request.to_str().unwrap().contains("-Charge-") {
        bank.set_clock(CHARGES);
    }
    let xml = Dialect::Maui
        .ask(&bank.gold(), &fs::read(request).unwrap())
        .unwrap();
    assert_eq!(carries(&xml, KEY), Some(true), "{xml}");
    (summary(&xml), xml)
}

/// A captured conversation with what each message must be told, and the accounts at its end.
fn converse(folder: &str, answers: &[&str], accounts: &[(&str, &str)]) {
    let Some(shared) = shared_folder() else {
        return skip("shared", "no folder of captured messages");
    };
    let folder = shared.join("spec/gold-captures").join(folder);
    let mut bank = Bank::behind_gold("");
    let requests = requests(&folder);
    assert_eq!(requests.len(), answers.len());
    for (request, answer) in requests.iter().zip(answers) {
        assert_eq!(replay(&bank, request).0, *answer, "{}", request.display());
    }
    let check = |when: &str| {
        for (account, expected) in accounts {
            assert_eq!(figures(&bank, account), *expected, "{account} {when}");
        }
    };
    check("at the end");
    for (request, answer) in requests.iter().zip(answers) {
        let name = request.file_name().unwrap().to_str().unwrap();
        if name.contains("-Charge-") && !name.contains("maint") {
            assert_eq!(replay(&bank, request).0, *answer, "{name} again");
        }
    }
    check("after the same charges again");
    bank.verify();
}

/// Where no rate is in force a job costs nothing; it is charged, and the log says why.
#[test]
fn a_charge_that_no_rate_prices_is_in_the_log() {
    let bank = Bank::behind_gold("");
    bank.bank_ok(&["rate", "rm", "1", "--yes"]);
    let ended = GOLD_T0 + 60;
    bank.set_clock(ended);
    let body = format!(
        "<Body><Request action=\"Charge\"><Object>Job</Object><Data><Job><JobId>old</JobId>\
         <UserId>amy</UserId><ProjectId>chem</ProjectId><MachineName>cluster1</MachineName>\
         <Processors>4</Processors><WallDuration>10</WallDuration><EndTime>{ended}</EndTime>\
         <Type>job</Type></Job></Data></Request></Body>"
    );
    let message = Dialect::Maui.message(KEY, &body);
    let xml = Dialect::Maui.ask(&bank.gold(), &message).unwrap();
    assert_eq!(
        summary(&xml),
        "Success 000 Successfully charged job old for 0 credits"
    );
    until("a line of the log", || {
        bank.log().contains("what=\"unpriced\"").then_some(())
    });
}

#[test]
fn gold_wire_01_reserves_and_charges() {
    converse(
        "01-basic",
        &[
            "Success 000 Successfully reserved 2400 credits for job job1",
            "Success 000 Successfully reserved 600 credits for job job2",
            "Success 000 Successfully charged job job1 for 16 credits",
            "Success 000 Successfully charged job job2 for 12 credits",
        ],
        &[("chem", "999984/0"), ("physics", "999988/0")],
    );
}

#[test]
fn gold_wire_04_the_fallback_leaves_no_lien() {
    converse(
        "04-fallback",
        &[
            "Failure 782 Not enough credits to reserve job job1",
            "Success 000 Successfully reserved 600 credits for job job2",
            "Success 000 Successfully reserved 600 credits for job job1",
            "Success 000 Successfully reserved 600 credits for job job2",
            "Success 000 Successfully charged job job1 for 6 credits",
            "Success 000 Successfully charged job job2 for 6 credits",
        ],
        &[
            ("chem", "999994/0"),
            ("freebie", "999994/0"),
            ("broke", "0/0"),
        ],
    );
}

#[test]
fn gold_wire_10_a_name_that_is_no_xml() {
    converse(
        "10-special-chars",
        &[
            "Success 000 Successfully reserved 600 credits for job job1",
            "Success 000 Successfully charged job job1 for 6 credits",
        ],
        &[("R&D", "999994/0")],
    );
}

#[test]
fn gold_wire_12_reservations_are_owed_each_time() {
    converse(
        "12-reservation",
        &[
            "Success 000 Successfully reserved 600 credits for job job1",
            "Success 000 Successfully charged job maint.0.0 for 8 credits",
            "Success 000 Successfully charged job maint.0.0 for 32 credits",
            "Success 000 Successfully charged job maint.0.0 for 80 credits",
            "Success 000 Successfully charged job maint.0.0 for 72 credits",
            "Success 000 Successfully charged job job1 for 60 credits",
            "Success 000 Successfully charged job maint.0.0 for 80 credits",
        ],
        &[("chem", "999668/0")],
    );
}

#[test]
fn gold_wire_06_a_peer_may_want_golds_words() {
    let Some(shared) = shared_folder() else {
        return skip("shared", "no folder of captured messages");
    };
    let mut bank = Bank::behind_gold("no_funds = \"gold\"\n");
    let folder = shared.join("spec/gold-captures/06-nofunds");
    let requests = requests(&folder);
    let (answer, xml) = replay(&bank, &requests[0]);
    assert_eq!(
        answer,
        "Failure 782 Insufficient balance to reserve job job1"
    );
    assert!(!xml.contains("<Data>"), "{xml}");
    bank.bank_ok(&["deposit", "broke", "600"]);
    let (answer, _) = replay(&bank, &requests[1]);
    assert_eq!(
        answer,
        "Success 000 Successfully reserved 600 credits for job job1"
    );
    assert_eq!(figures(&bank, "broke"), "600/600");
    bank.verify();
}

/// A message that is repeated after a crash has its first answer, and is in the journal.
#[test]
fn a_repeat_survives_a_crash_and_is_in_the_journal() {
    let mut bank = Bank::behind_gold("");
    bank.set_clock(CHARGES);
    let body = format!(
        "<Body actor=\"root\"><Request action=\"Charge\" actor=\"root\"><Object>Job</Object><Data>\
         <Job><JobId>j1</JobId><UserId>amy</UserId><ProjectId>chem</ProjectId><MachineName>cluster1\
         </MachineName><Processors>2</Processors><WallDuration>10</WallDuration><StartTime>{GOLD_T0}\
         </StartTime><EndTime>{CHARGES}</EndTime><Type>job</Type></Job></Data></Request></Body>"
    );
    let message = Dialect::Maui.message(KEY, &body);
    let first = Dialect::Maui.ask(&bank.gold(), &message).unwrap();
    bank.kill();
    bank.start();
    // Another client of the same key: its envelope differs, the body does not.
    let other = Dialect::Slurm.message(KEY, &body);
    let second = Dialect::Slurm.ask(&bank.gold(), &other).unwrap();
    assert_eq!(summary(&second), summary(&first));
    assert_eq!(figures(&bank, "chem"), "999980/0");
    let journal = bank.bank_ok(&["journal", "--json"]);
    assert!(journal.contains("repeat_of=gold:"), "{journal}");
    bank.verify();
}

#[test]
fn a_project_that_maui_cannot_name_gets_a_warning() {
    let bank = Bank::behind_gold("");
    for (name, warned) in [("a&b", true), ("a<b", true), ("fine-1", false)] {
        let answer = bank.bank_ok(&["project", "add", name, "--json"]);
        assert_eq!(answer.contains("unsendable: "), warned, "{answer}");
    }
    let long = "x".repeat(64);
    let ran = bank.bank(&["project", "add", &long]);
    assert_eq!(ran.exit, 0);
    assert!(
        ran.stderr.contains("unsendable: "),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}
