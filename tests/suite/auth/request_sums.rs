//! What approved requests do to money, members and projects, and that all sums agree afterwards.

use super::requests::{asked, done, people, state};
use super::roles::{json, refused, with};
use super::token::token;
use crate::export::sums::{agree, last, thousandths};
use crate::harness::{Bank, Ran, Request, Response, T0};

/// The statement, the journal and the balance of an account have one amount, in thousandths.
#[track_caller]
pub(crate) fn one_amount(bank: &Bank, account: &str) -> i128 {
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

/// A request has no time at which it counts. One whose window is over is refused in the words of the deposit, before
/// and after the close of the books; one that waited over a close counts in the open period.
#[test]
fn a_request_into_a_closed_period_is_refused_as_the_deposit_is() {
    let mut bank = Bank::new();
    let [amy, _, op, _] = people(&bank);
    let day = |day: i64| T0 + (day - 1) * 86_400;
    let waits = ["deposit", "chemistry", "40", "--reason", "waits"];
    let waits = asked(&bank, &amy, &waits);
    let lapses = ["deposit", "chemistry", "50", "--end", "2026-01-02"];
    let lapses = asked(
        &bank,
        &amy,
        &[&lapses[..], &["--reason", "lapses"]].concat(),
    );
    bank.set_clock(day(4));
    let statement = |bank: &Bank| {
        let days = ["--from", "2026-01-01", "--to", "2026-01-03", "--json"];
        bank.bank_ok(&[&["statement", "chemistry"][..], &days].concat())
    };
    let closed = |bank: &Bank| json(&statement(bank))["closing"].clone();
    let before = closed(&bank);
    // Without the values of the command line, which an approval does not have.
    let words = |ran: &Ran| {
        let lines = ran.stderr.lines();
        let lines = lines.filter(|line| !line.starts_with("request "));
        let kept = lines.map(|line| line.split(": '").next().unwrap());
        (ran.exit, kept.collect::<Vec<_>>().join("\n"))
    };
    for is_closed in [false, true] {
        if is_closed {
            bank.bank_ok(&["close", "--until", "2026-01-03"]);
        }
        let transactions = bank.transactions();
        let window = [
            "chemistry",
            "5",
            "--start",
            "2026-01-01",
            "--end",
            "2026-01-02",
        ];
        let deposit = with(&bank, &op, &[&["deposit"], &window[..]].concat());
        let request = [&["request", "deposit"], &window[..], &["--reason", "late"]].concat();
        let request = with(&bank, &amy, &request);
        let approved = with(&bank, &op, &["request", "approve", &lapses]);
        assert_ne!(deposit.exit, 0, "{}", deposit.stdout);
        assert_eq!(words(&request), words(&deposit), "closed: {is_closed}");
        assert_eq!(words(&approved), words(&deposit), "closed: {is_closed}");
        assert_eq!(bank.transactions(), transactions);
    }
    let dated = ["deposit", "chemistry", "5", "--effective", "2026-01-01"];
    refused(&with(&bank, &op, &dated), 1, "closed");
    let dated =
        r#"{"name":"chemistry","amount":"5","effective":"2026-01-01T00:00:00Z","reason":"x"}"#;
    let answer = post(&bank, &amy, "/api/v1/requests/deposits", dated);
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(answer.text().contains("effective"), "{}", answer.text());
    done(&bank, &op, &["request", "approve", &waits]);
    assert_eq!(bank.figures("chemistry").0, 100_040);
    assert_eq!(closed(&bank), before, "the closed period has changed");
    bank.verify();
}

fn post(bank: &Bank, token: &str, target: &'static str, body: &str) -> Response {
    let request = Request {
        method: "POST",
        body: body.as_bytes().to_vec(),
        ..Request::get(target)
    };
    let request = request
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", "dated");
    bank.over_tcp(&request.header("Authorization", &format!("Bearer {token}")))
}
