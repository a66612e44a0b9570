//! What approved requests do to money, members and projects, and that all sums agree afterwards.

use super::requests::{asked, done, people, state};
use super::roles::{json, refused, with};
use super::token::token;
use crate::export::sums::{agree, last, thousandths};
use crate::harness::Bank;

/// The statement, the journal and the balance of an account have one amount, in thousandths.
#[track_caller]
fn one_amount(bank: &Bank, account: &str) -> i128 {
    let amount = thousandths(&bank.account(account)["amount"]);
    let statement = json(&bank.bank_ok(&[
        "statement",
        account,
        "--from",
        "-infinity",
        "--summary",
        "--json",
    ]));
    assert_eq!(thousandths(&statement["closing"]), amount, "{statement:#}");
    let rows = bank.items(&["journal", "-a", account]);
    let moved: i128 = rows.iter().map(|row| thousandths(&row["amount"])).sum();
    assert_eq!(moved, amount, "{account}: {rows:#?}");
    amount
}

#[test]
fn exports_reports_statements_and_journal_agree_after_requests() {
    let mut bank = Bank::new();
    let [amy, _, op, _] = people(&bank);
    let admin = token(&bank, "root", &["--role", "admin"]);
    let charge = |bank: &Bank, job: &str, project: &str, seconds: &str| {
        let work = ["-m", "colony", "--procs", "2", "--duration", seconds];
        bank.bank_ok(&[&["charge", job, "-A", project, "-u", "amy"][..], &work].concat());
    };
    let deposit = ["deposit", "chemistry", "500", "--reason", "more"];
    let id = asked(&bank, &amy, &deposit);
    done(&bank, &op, &["request", "approve", &id]);
    charge(&bank, "7", "chemistry", "600");
    bank.bank_ok(&["refund", "7", "100"]);
    assert_eq!(agree(&bank), (1_200_000, 1_100_000));
    assert_eq!(one_amount(&bank, "chemistry"), 99_400_000);
    // The approved deposit is undone beside a refund and a late charge, and a requested project is charged.
    bank.bank_ok(&["undo", &last(&bank, "deposit")]);
    charge(&bank, "7", "chemistry", "100");
    let project = ["project", "lasers", "--amount", "250", "--reason", "grant"];
    let id = asked(&bank, &amy, &project);
    done(&bank, &admin, &["request", "approve", &id]);
    charge(&bank, "8", "lasers", "50");
    bank.bank_ok(&["undo", &last(&bank, "charge")]);
    charge(&bank, "9", "lasers", "20");
    assert_eq!(agree(&bank), (1_440_000, 1_340_000));
    assert_eq!(one_amount(&bank, "chemistry"), 98_700_000);
    assert_eq!(one_amount(&bank, "lasers"), 210_000);
    bank.verify();
}

#[test]
fn an_extension_a_member_and_a_project_are_done_as_asked() {
    let mut bank = Bank::new();
    let [amy, prof, op, _] = people(&bank);
    let admin = token(&bank, "root", &["--role", "admin"]);
    bank.bank_ok(&["deposit", "chemistry", "70", "--end", "2080-01-01"]);
    let allocations = bank.items(&["allocation", "ls", "-a", "chemistry"]);
    let ending = allocations.iter().find(|row| row["until"].is_string());
    let allocation = ending.unwrap()["id"].to_string();
    let longer = asked(
        &bank,
        &amy,
        &[
            "extension",
            &allocation,
            "--end",
            "2085-01-01",
            "--reason",
            "late",
        ],
    );
    // Windows are for administrators.
    refused(
        &with(&bank, &op, &["request", "approve", &longer]),
        6,
        "proposal",
    );
    done(&bank, &admin, &["request", "approve", &longer]);
    let shown = bank.bank_ok(&["allocation", "show", &allocation, "--json"]);
    assert!(shown.contains("2085-01-01"), "{shown}");
    bank.bank_ok(&["user", "add", "zed"]);
    let member = asked(
        &bank,
        &prof,
        &["member", "chemistry", "zed", "--reason", "new"],
    );
    done(
        &bank,
        &op,
        &["request", "approve", &member, "--answer", "hello"],
    );
    let members = bank.bank_ok(&["project", "members", "ls", "chemistry", "-P", "-n"]);
    assert!(members.contains("zed|yes|member"), "{members}");
    let gone = asked(
        &bank,
        &amy,
        &["member", "chemistry", "amy", "--remove", "--reason", "bye"],
    );
    done(&bank, &op, &["request", "approve", &gone]);
    let members = bank.bank_ok(&["project", "members", "ls", "chemistry", "-P", "-n"]);
    assert!(!members.contains("amy"), "{members}");
    let project = [
        "project",
        "lasers",
        "--amount",
        "250",
        "--end",
        "2089-01-01",
        "--description",
        "cold <atoms>",
        "--reason",
        "grant 4711",
    ];
    let id = asked(&bank, &amy, &project);
    refused(
        &with(&bank, &op, &["request", "approve", &id]),
        6,
        "proposal",
    );
    let before = bank.transactions();
    done(&bank, &admin, &["request", "approve", &id, "--dry-run"]);
    assert_eq!(bank.transactions(), before);
    done(
        &bank,
        &admin,
        &["request", "approve", &id, "--answer", "welcome"],
    );
    assert_eq!(bank.transactions(), before + 2);
    let members = bank.bank_ok(&["project", "members", "ls", "lasers", "-P", "-n"]);
    assert_eq!(members, "amy|yes|pi\n");
    assert_eq!(bank.figures("lasers").0, 250);
    let journal = bank.bank_ok(&["journal", "--kind", "project_add", "--json"]);
    assert!(journal.contains("grant 4711; welcome"), "{journal}");
    let deposit = bank.items(&["journal", "-A", "lasers", "--kind", "deposit"]);
    let deposit = deposit[0]["transaction"].to_string();
    bank.bank_ok(&["undo", &deposit]);
    assert_eq!(bank.figures("lasers").0, 0);
    bank.stop();
    bank.start();
    assert_eq!(state(&bank, &amy, &id), "approved");
    bank.verify();
}
