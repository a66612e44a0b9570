//! Money after the fact, as an operator does it: transfers, refunds, corrections, undoing, removals
//! and settlements; and who may.

use crate::harness::{Bank, Documents, Ran, amount};
use bank_api::error;

#[track_caller]
fn refused(ran: &Ran, code: &str, parts: &[&str]) {
    let exit = i32::from(error::row(code).unwrap().bank);
    assert_eq!(ran.exit, exit, "{}{}", ran.stdout, ran.stderr);
    ran.expect_stderr(parts);
    assert_eq!(ran.stdout, "");
}

/// The number that a writing command tells.
#[track_caller]
fn transaction(output: &str) -> String {
    let line = output.lines().find_map(|l| l.strip_prefix("transaction "));
    line.unwrap_or_else(|| panic!("{output}")).to_owned()
}

/// The options of a key of its own over TCP.
fn with_key(bank: &Bank, id: &str, more: &[&str]) -> Vec<String> {
    let file = bank.folder().join(format!("{id}.key"));
    let path = file.to_str().unwrap().to_owned();
    let add = ["key", "add", id, "--out", &path];
    bank.bank_ok(&[&add[..], more].concat());
    let server = format!("http://{}", bank.tcp());
    ["--server", &server, "--key-id", id, "--key-file", &path]
        .map(str::to_owned)
        .to_vec()
}

fn run(bank: &Bank, key: &[String], arguments: &[&str]) -> Ran {
    let key: Vec<&str> = key.iter().map(String::as_str).collect();
    bank.bank(&[&key[..], arguments].concat())
}

#[test]
fn a_transfer_moves_money_and_is_undone() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    let tried = bank.bank_ok(&["transfer", "physics", "astro", "250", "--dry-run"]);
    assert!(tried.starts_with("dry run, nothing written"), "{tried}");
    assert_eq!(bank.transactions(), before);
    let output = bank.bank_ok(&["transfer", "physics", "astro", "250", "--note", "ticket 7"]);
    assert!(
        output.contains("moved 250 credits from physics to astro"),
        "{output}"
    );
    assert_eq!(bank.figures("physics").0, 999_750);
    assert_eq!(bank.figures("astro").0, 50_250);
    let moved = transaction(&output);
    let undone = bank.bank_ok(&["undo", &moved]);
    assert!(
        undone.contains(&format!("undid transaction {moved} (transfer)")),
        "{undone}"
    );
    refused(
        &bank.bank(&["undo", &moved]),
        "already_reversed",
        &["hint:"],
    );
    bank.bank_ok(&["undo", &transaction(&undone)]);
    assert_eq!(bank.figures("astro").0, 50_250);
    bank.verify();
}

#[test]
fn a_refund_shows_with_the_job() {
    let mut bank = Bank::new();
    let documents = Documents::own();
    for (event, number) in [("reserve", 3), ("charge", 4), ("charge", 5), ("delete", 6)] {
        bank.script(event, &documents.get(number)).expect(0, "");
    }
    refused(
        &bank.bank(&["refund", "Moab.1024", "35745"]),
        "refund_exceeds_charge",
        &["35,744"],
    );
    refused(&bank.bank(&["refund", "Moab.none"]), "not_found", &[]);
    let output = bank.bank_ok(&["refund", "Moab.1024", "744", "-m", "colony"]);
    assert!(
        output.contains("refunded 744 credits of job Moab.1024"),
        "{output}"
    );
    assert!(output.contains("35,000 credits left to refund"), "{output}");
    let job = bank.bank_ok(&["jobs", "Moab.1024"]);
    for part in ["refund", "-744", "refunded", "net", "35,000", "35,744"] {
        let part = part.replace('-', "−");
        assert!(job.contains(&part), "no {part} in\n{job}");
    }
    let row = bank.json(&["jobs", "Moab.1024"]);
    assert_eq!(row["net"].as_str(), Some("35000"), "{row}");
    assert_eq!(row["charged_s"].as_i64(), Some(2234), "{row}");
    bank.bank_ok(&["refund", "Moab.1024"]);
    refused(
        &bank.bank(&["refund", "Moab.1024"]),
        "nothing_to_refund",
        &[],
    );
    assert_eq!(bank.figures("chemistry").0, 100_000);
    let charges = bank.journal("charge");
    let charge = charges[0]["transaction"].as_i64().unwrap().to_string();
    refused(&bank.bank(&["undo", &charge]), "has_refunds", &["hint:"]);
    bank.verify();
}

#[test]
fn an_adjustment_contains_its_reason() {
    let mut bank = Bank::new();
    assert_eq!(bank.bank(&["adjust", "astro", "5"]).exit, 2);
    refused(
        &bank.bank(&["adjust", "astro", "5", "--note", " "]),
        "missing_field",
        &[],
    );
    bank.bank_ok(&["adjust", "astro", "-5", "--note", "typing error of May"]);
    let row = bank.journal("adjust").remove(0);
    assert_eq!(row["amount"].as_str(), Some("-5"), "{row}");
    assert_eq!(row["reason"].as_str(), Some("typing error of May"), "{row}");
    bank.verify();
}

#[test]
fn an_account_goes_and_comes_back() {
    let mut bank = Bank::new();
    let documents = Documents::own();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    refused(
        &bank.bank(&["account", "rm", "chemistry", "-y"]),
        "live_liens",
        &[],
    );
    refused(
        &bank.bank(&["account", "rm", "astro", "-y"]),
        "balance_not_zero",
        &[],
    );
    assert_eq!(
        bank.bank(&["account", "rm", "chemistry", "--force"]).exit,
        2
    );
    bank.bank_ok(&["account", "rm", "chemistry", "--force", "--yes"]);
    refused(
        &bank.bank(&["account", "show", "chemistry"]),
        "not_found",
        &[],
    );
    assert_eq!(bank.held(), [("#unbilled".to_owned(), 57_600)]);
    bank.bank_ok(&["account", "undelete", "chemistry"]);
    assert_eq!(bank.figures("chemistry"), (100_000, 57_600, 42_400));
    bank.verify();
}

#[test]
fn ledger_case_086_what_an_allocation_holds_cannot_be_set() {
    let mut bank = Bank::new();
    let allocation = bank.json(&["allocation", "ls", "-a", "astro"]);
    let id = allocation["items"][0]["id"].as_i64().unwrap().to_string();
    let before = bank.transactions();
    for change in [
        ["--amount", "5"],
        ["--active", "no"],
        ["--deposited", "5"],
        ["--account", "physics"],
    ] {
        let ran = bank.bank(&[&["allocation", "set", &id][..], &change].concat());
        refused(&ran, "not_settable", &[&change[0][2..]]);
    }
    assert_eq!(bank.transactions(), before);
    refused(
        &bank.bank(&["allocation", "rm", &id, "-y"]),
        "balance_not_zero",
        &[],
    );
    bank.bank_ok(&["allocation", "rm", &id, "--force", "--yes"]);
    assert_eq!(bank.figures("astro").0, 0);
    bank.verify();
}

#[test]
fn what_is_unbilled_is_settled() {
    let mut bank = Bank::new();
    let lost = Documents::own().with(4, &[("chemistry", "nosuch")]);
    bank.script("charge", &lost).expect(0, "");
    let unbilled = |bank: &Bank| {
        let status = bank.json(&["status"]);
        let unbilled = &status["unbilled"];
        (
            unbilled["count"].as_i64().unwrap(),
            amount(unbilled, "amount"),
        )
    };
    assert_eq!(unbilled(&bank), (1, 28_800));
    refused(
        &bank.bank(&["settle", "Moab.1024", "-A", "none"]),
        "project_unknown",
        &[],
    );
    let output = bank.bank_ok(&["settle", "Moab.1024", "-A", "chemistry"]);
    assert!(
        output.contains("settled 28,800 credits of job Moab.1024"),
        "{output}"
    );
    assert!(output.contains("paid by chemistry"), "{output}");
    assert_eq!(unbilled(&bank), (0, 0));
    assert_eq!(bank.figures("chemistry").0, 71_200);
    refused(
        &bank.bank(&["settle", "Moab.1024", "-A", "chemistry"]),
        "nothing_unbilled",
        &[],
    );
    bank.bank_ok(&["undo", &transaction(&output)]);
    assert_eq!(unbilled(&bank), (1, 28_800));
    bank.verify();
}

#[test]
fn ledger_case_113_a_stranger_learns_nothing() {
    let mut bank = Bank::new();
    bank.bank_ok(&["user", "add", "dave"]);
    let dave = with_key(&bank, "dave", &["--role", "user"]);
    let id = bank.account("chemistry")["account_id"]
        .as_i64()
        .unwrap()
        .to_string();
    let all = run(&bank, &dave, &["account", "ls", "-P", "-n"]);
    assert_eq!((all.exit, all.stdout.as_str()), (0, ""), "{}", all.stderr);
    for number in [id.as_str(), "99999"] {
        let ran = run(&bank, &dave, &["account", "show", number]);
        refused(&ran, "not_allowed", &[&format!("account {number}")]);
    }
    for name in ["chemistry", "nosuch"] {
        refused(
            &run(&bank, &dave, &["account", "show", name]),
            "not_found",
            &[name],
        );
    }
    bank.verify();
}

#[test]
fn ledger_case_114_a_manager_moves_money_within_a_project() {
    let mut bank = Bank::new();
    bank.bank_ok(&["account", "add", "chem-reserve", "--projects", "chemistry"]);
    let scope = ["--role", "manager", "--project", "chemistry"];
    let manager = with_key(&bank, "boss", &scope);
    let output = run(
        &bank,
        &manager,
        &["transfer", "chemistry", "chem-reserve", "40"],
    );
    assert_eq!(output.exit, 0, "{}", output.stderr);
    assert_eq!(bank.figures("chemistry").0, 99_960);
    assert_eq!(bank.figures("chem-reserve").0, 40);
    let before = bank.transactions();
    for arguments in [
        &["deposit", "chemistry", "1"][..],
        &["adjust", "chemistry", "1", "--note", "x"],
        &["undo", "1"],
    ] {
        refused(&run(&bank, &manager, arguments), "not_allowed", &[]);
    }
    // Whose it is, or whether it is at all, is not for them.
    for (from, to) in [
        ("chemistry", "physics"),
        ("physics", "chemistry"),
        ("nosuch", "chemistry"),
    ] {
        let theirs = if from == "chemistry" { to } else { from };
        let ran = run(&bank, &manager, &["transfer", from, to, "1"]);
        refused(&ran, "not_found", &[&format!("no account \"{theirs}\"")]);
    }
    let everywhere = with_key(&bank, "unbound", &["--role", "manager"]);
    let ran = run(
        &bank,
        &everywhere,
        &["transfer", "chemistry", "physics", "1"],
    );
    refused(&ran, "not_allowed", &[]);
    assert_eq!(bank.transactions(), before + 1, "the second key only");
    let balance = run(
        &bank,
        &manager,
        &["balance", "-P", "-n", "--columns", "account,amount"],
    );
    assert!(
        balance.stdout.contains("chemistry|99960"),
        "{}",
        balance.stdout
    );
    assert!(!balance.stdout.contains("physics"), "{}", balance.stdout);
    bank.verify();
}
