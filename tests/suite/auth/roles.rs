//! Roles of people, places in projects, limits, four eyes and rotation, by the real command line.

use super::token::token;
use crate::harness::{Bank, Ran, Setup, Signing};

/// `bank` with a token.
pub(super) fn with(bank: &Bank, token: &str, arguments: &[&str]) -> Ran {
    bank.bank_as(&[("BANK_TOKEN", token)], arguments)
}

#[track_caller]
pub(super) fn refused(ran: &Ran, exit: i32, message: &str) {
    assert_eq!(ran.exit, exit, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains(message),
        "{message:?} in {}",
        ran.stderr
    );
}

pub(super) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn roles_of_people_are_given_listed_and_taken_back() {
    let mut bank = Bank::new();
    bank.bank_ok(&["role", "grant", "amy", "operator", "-A", "chemistry"]);
    bank.bank_ok(&["role", "grant", "audit", "auditor", "--until", "2090-01-01"]);
    bank.bank_ok(&["project", "members", "role", "physics", "ops", "manager"]);
    let rows = bank.bank_ok(&["role", "ls", "-P", "-n"]);
    assert_eq!(
        rows.lines().map(str::to_owned).collect::<Vec<_>>(),
        [
            "amy|operator|chemistry||grant",
            "audit|auditor||2090-01-01|grant",
            "ops|manager|physics||member",
        ],
        "{rows}"
    );
    let members = bank.bank_ok(&["project", "members", "ls", "physics", "-P", "-n"]);
    assert_eq!(members, "ops|yes|manager\n");
    refused(
        &bank.bank(&["role", "grant", "bob", "operator"]),
        2,
        "project",
    );
    refused(&bank.bank(&["role", "grant", "bob", "king"]), 1, "'king'");
    refused(
        &bank.bank(&["role", "grant", "bob", "pi", "-A", "nosuch"]),
        4,
        "nosuch",
    );
    refused(
        &bank.bank(&["role", "grant", "amy", "operator", "-A", "chemistry"]),
        7,
        "exists",
    );
    bank.bank_ok(&[
        "role",
        "revoke",
        "amy",
        "operator",
        "-A",
        "chemistry",
        "--yes",
    ]);
    refused(
        &bank.bank(&[
            "role",
            "revoke",
            "amy",
            "operator",
            "-A",
            "chemistry",
            "--yes",
        ]),
        4,
        "amy",
    );
    let rows = bank.bank_ok(&["role", "ls", "amy", "--all", "-P", "-n"]);
    assert_eq!(rows, "amy|operator|chemistry||revoked\n");
    let journal = bank.bank_ok(&["journal", "--kind", "role_grant", "--json"]);
    assert!(
        journal.contains("role=operator project=chemistry"),
        "{journal}"
    );
    let ended = "name=audit role=auditor until=2090-01-01T00:00:00Z";
    assert!(journal.contains(ended), "{journal}");
    // Kinds of what moves nothing are suggested too, and no list of all of them.
    let ran = bank.bank(&["journal", "--kind", "rolegrant"]);
    refused(&ran, 2, "there is no kind");
    for part in ["did you mean \"role_grant\"", "schema.md"] {
        assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }
    assert!(ran.stderr.lines().count() <= 3, "{}", ran.stderr);
    bank.stop();
    bank.start();
    assert_eq!(bank.bank_ok(&["role", "ls", "-P", "-n"]).lines().count(), 2);
    bank.verify();
}

#[test]
fn a_user_sees_their_own_work_and_a_pi_all_of_the_project() {
    let mut bank = Bank::new();
    bank.bank_ok(&["project", "members", "add", "astro", "amy"]);
    for (job, user) in [("job.1", "bob"), ("job.2", "carol")] {
        let work = ["-m", "colony", "--procs", "1", "--duration", "10"];
        bank.bank_ok(&[&["charge", job, "-A", "astro", "-u", user][..], &work].concat());
    }
    let bob = token(&bank, "bobs", &["--role", "user", "--client", "bob"]);
    let jobs = |token: &str| {
        let ran = with(&bank, token, &["jobs", "-P", "-n", "--columns", "job"]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let mut jobs: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
        jobs.sort();
        jobs
    };
    assert_eq!(jobs(&bob), ["job.1"]);
    refused(&with(&bank, &bob, &["jobs", "job.2"]), 4, "job.2");
    let pi = token(&bank, "pis", &["--role", "pi", "-A", "astro"]);
    assert_eq!(jobs(&pi), ["job.1", "job.2"]);
    refused(&with(&bank, &pi, &["deposit", "astro", "1"]), 6, "operator");
    let collector = token(&bank, "coll", &["--role", "collector"]);
    refused(&with(&bank, &collector, &["balance"]), 6, "role");
    bank.verify();
}

/// The sums are the project's; whose they are is for those who lead it.
#[test]
fn a_statement_names_others_to_those_who_lead_alone() {
    let mut bank = Bank::new();
    bank.bank_ok(&["project", "members", "add", "chemistry", "bob"]);
    for (job, user, seconds) in [("1", "amy", "100"), ("2", "bob", "50")] {
        let work = ["-m", "colony", "--procs", "1", "--duration", seconds];
        bank.bank_ok(&[&["charge", job, "-A", "chemistry", "-u", user][..], &work].concat());
    }
    let parts = |token: &str| -> Vec<(String, String)> {
        let words = ["statement", "-A", "chemistry", "--from", "2025-12-01"];
        let ran = with(
            &bank,
            token,
            &[&words[..], &["--summary", "--json"]].concat(),
        );
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let statement = json(&ran.stdout);
        assert_eq!(statement["total_debits"], "-150", "{statement}");
        let parts = statement["parts"].as_array().unwrap().iter();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        parts
            .map(|part| (text(&part["name"]), text(&part["charged"])))
            .collect()
    };
    let pair = |name: &str, charged: &str| (name.to_owned(), charged.to_owned());
    let pi = token(&bank, "pis", &["--role", "pi", "-A", "chemistry"]);
    assert_eq!(parts(&pi), [pair("amy", "100"), pair("bob", "50")]);
    let amy = token(&bank, "amys", &["--role", "user", "--client", "amy"]);
    assert_eq!(parts(&amy), [pair("amy", "100"), pair("(not shown)", "50")]);
    bank.verify();
}

#[test]
fn limits_say_what_is_left() {
    let mut bank = Bank::new();
    let operator = token(&bank, "op", &["--role", "operator", "-A", "chemistry"]);
    bank.bank_ok(&[
        "limit",
        "set",
        "--role",
        "operator",
        "--per-operation",
        "100",
    ]);
    bank.bank_ok(&["limit", "set", "op", "--per-day", "150"]);
    let rows = bank.bank_ok(&["limit", "ls", "-P", "-n"]);
    assert_eq!(rows, "operator||100|\n|op||150\n");
    let ran = with(&bank, &operator, &["deposit", "chemistry", "101"]);
    refused(&ran, 1, "100 that you may still move per operation");
    assert_eq!(
        with(&bank, &operator, &["deposit", "chemistry", "100"]).exit,
        0
    );
    let ran = with(&bank, &operator, &["withdraw", "chemistry", "51"]);
    refused(&ran, 1, "50 that you may still move per day");
    // What was moved is remembered over a restart, and forgotten with the day.
    bank.stop();
    bank.start();
    refused(
        &with(&bank, &operator, &["deposit", "chemistry", "51"]),
        1,
        "per day",
    );
    bank.set_clock(crate::harness::T0 + 86_400);
    let confirmed = bank.bank(&["clock", "confirm", "--note", "a day later", "--yes"]);
    let _ = confirmed;
    assert_eq!(
        with(&bank, &operator, &["deposit", "chemistry", "51"]).exit,
        0
    );
    bank.bank_ok(&["limit", "rm", "--role", "operator", "--yes"]);
    assert_eq!(
        with(&bank, &operator, &["withdraw", "chemistry", "99"]).exit,
        0
    );
    refused(&bank.bank(&["limit", "rm", "nobody", "--yes"]), 4, "nobody");
    bank.verify();
}

/// The socket is the client `unix:root`, the token the client `root`: both are one person.
#[test]
fn a_token_of_ones_own_gives_no_second_allowance() {
    let mut bank = Bank::new();
    let own = ["--client", "root", "--role", "operator", "-A", "chemistry"];
    let own = token(&bank, "own", &own);
    // The deposits of the setup were a day before.
    bank.set_clock(crate::harness::T0 + 86_400);
    bank.bank(&["clock", "confirm", "--note", "a day later", "--yes"]);
    bank.bank_ok(&["limit", "set", "root", "--per-day", "60"]);
    bank.bank_ok(&["deposit", "chemistry", "50"]);
    let ran = with(&bank, &own, &["deposit", "chemistry", "11"]);
    refused(&ran, 1, "10 that you may still move per day");
    let ran = with(&bank, &own, &["deposit", "chemistry", "4"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let ran = bank.bank(&["deposit", "chemistry", "7"]);
    refused(&ran, 1, "6 that you may still move per day");
    bank.verify();
}

/// A name that is wrong is unknown, with the nearest that one sees; what one sees and may not touch is
/// refused.
#[test]
fn a_slip_of_the_pen_is_no_matter_of_rights() {
    let mut bank = Bank::new();
    bank.bank_ok(&[
        "account",
        "add",
        "shared",
        "--projects",
        "chemistry,physics",
    ]);
    let operator = token(&bank, "op", &["--role", "operator", "-A", "chemistry"]);
    let before = bank.transactions();
    let ran = with(&bank, &operator, &["deposit", "chemistri", "5"]);
    refused(&ran, 4, "no account \"chemistri\"");
    assert!(
        ran.stderr.contains("did you mean \"chemistry\""),
        "{}",
        ran.stderr
    );
    // One that is there and hidden differs in nothing, and no hint names it.
    for name in ["physics", "physic"] {
        let ran = with(&bank, &operator, &["deposit", name, "5"]);
        refused(&ran, 4, &format!("no account \"{name}\""));
        assert!(!ran.stderr.contains("mean \"physics"), "{}", ran.stderr);
        let members = ["project", "members", "add", name, "amy"];
        let ran = with(&bank, &operator, &members);
        refused(&ran, 4, &format!("no project \"{name}\""));
    }
    let ran = with(&bank, &operator, &["deposit", "shared", "5"]);
    refused(&ran, 6, "not allowed: account shared");
    // Nor does a key tell them apart: neither answer is kept.
    for name in ["physics", "nosuch"] {
        let key = format!("key-{name}");
        let again = ["deposit", name, "5", "--key", &key];
        for _ in 0..2 {
            refused(&with(&bank, &operator, &again), 4, name);
        }
    }
    let kept = bank.query("SELECT count(*) FROM idempotency WHERE key LIKE 'key-%'");
    assert_eq!(kept, [["0"]]);
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

/// What is undone is what it does: else a refund that needs two would go by another name.
#[test]
fn what_is_undone_needs_two_people_as_well() {
    let setup = Setup::new().env("BANKD_APPROVAL_REFUND", "50");
    let mut bank = setup
        .env("BANKD_APPROVAL_WITHDRAW", "50")
        .chemistry(500)
        .start();
    let work = ["-m", "colony", "--procs", "1", "--duration", "100"];
    bank.bank_ok(&[&["charge", "1", "-A", "chemistry", "-u", "amy"][..], &work].concat());
    let charge = bank.transactions().to_string();
    refused(
        &bank.bank(&["undo", &charge]),
        1,
        "another person must approve",
    );
    bank.bank_ok(&["undo", &charge, "--propose"]);
    let list = json(&bank.bank_ok(&["proposal", "ls", "--json"]));
    let proposal = &list["items"][0];
    assert_eq!(
        (&proposal["kind"], &proposal["amount"]),
        (&"refund".into(), &"100".into())
    );
    let id = proposal["id"].to_string();
    refused(&bank.bank(&["approve", &id]), 6, "your own");
    let two = token(&bank, "two", &["--role", "admin"]);
    let done = with(&bank, &two, &["approve", &id]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert_eq!(
        bank.bank_ok(&["balance", "chemistry", "--csv", "--columns", "amount"]),
        "amount\n500\n"
    );
    let undo = bank.transactions().to_string();
    refused(
        &bank.bank(&["undo", &undo]),
        1,
        "another person must approve",
    );
    bank.verify();
}

#[test]
fn two_people_move_a_large_amount() {
    let setup = Setup::new().env("BANKD_APPROVAL_DEPOSIT", "1000");
    let setup = setup.env("BANKD_APPROVAL_CREDIT_LIMIT", "10");
    // The base state itself has a deposit above the threshold.
    let mut bank = setup.chemistry(900).start();
    let one = token(&bank, "one", &["--role", "operator", "-A", "chemistry"]);
    let same = token(&bank, "one-too", &["--role", "admin", "--client", "one"]);
    let two = token(&bank, "two", &["--role", "operator", "-A", "chemistry"]);
    let far = token(&bank, "far", &["--role", "operator", "-A", "physics"]);
    let large = [
        "deposit",
        "chemistry",
        "5000",
        "--end",
        "2090-01-01",
        "--note",
        "Q1",
    ];
    let ran = with(&bank, &one, &large);
    refused(&ran, 1, "another person must approve");
    assert!(ran.stderr.contains("--propose"), "{}", ran.stderr);
    refused(
        &with(&bank, &one, &["deposit", "chemistry", "0", "--limit", "11"]),
        1,
        "credit limit",
    );
    let output = with(
        &bank,
        &one,
        &[&large[..], &["--propose", "--key", "p1"]].concat(),
    );
    assert_eq!(output.exit, 0, "{}", output.stderr);
    let again = with(
        &bank,
        &one,
        &[&large[..], &["--propose", "--key", "p1"]].concat(),
    );
    assert_eq!(output.stdout, again.stdout, "a repeat proposes nothing new");
    let journal = bank.bank_ok(&["journal", "--kind", "propose"]);
    let words = "POST /api/v1/deposits amount=5000";
    assert!(
        journal.contains(words) && !journal.contains('{'),
        "{journal}"
    );
    let waiting = with(&bank, &two, &["proposal", "ls", "--json"]);
    let waiting = json(&waiting.stdout);
    assert_eq!(waiting["items"].as_array().unwrap().len(), 1, "{waiting}");
    let id = waiting["items"][0]["id"].to_string();
    assert_eq!(
        json(&with(&bank, &far, &["proposal", "ls", "--json"]).stdout)["items"],
        json("[]")
    );
    assert_eq!(bank.figures("chemistry").0, 900);
    let shown = with(&bank, &two, &["proposal", "show", &id]);
    for part in ["5,000", "by       one", "/api/v1/deposits", "Q1", "open"] {
        assert!(shown.stdout.contains(part), "{part} in {}", shown.stdout);
    }
    refused(&with(&bank, &one, &["approve", &id]), 6, "your own");
    refused(&with(&bank, &same, &["approve", &id]), 6, "your own");
    refused(&with(&bank, &far, &["approve", &id]), 6, "proposal");
    let done = with(
        &bank,
        &two,
        &["approve", &id, "--reason", "budget 7", "--key", "a1"],
    );
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert_eq!(bank.figures("chemistry").0, 5900);
    let again = with(
        &bank,
        &two,
        &["approve", &id, "--reason", "budget 7", "--key", "a1"],
    );
    assert_eq!((again.exit, again.stdout), (0, done.stdout));
    refused(&with(&bank, &two, &["approve", &id]), 7, "approved");
    assert_eq!(bank.figures("chemistry").0, 5900);
    let journal = bank.bank_ok(&["journal", "-a", "chemistry", "--kind", "deposit", "--json"]);
    assert!(
        journal.contains("proposed_by=one") && journal.contains("\"two\""),
        "{journal}"
    );
    // What a cycle would give each month counts as a deposit.
    let cycle = [
        "cycle",
        "add",
        "c",
        "-a",
        "chemistry",
        "--every",
        "month",
        "--amount",
        "2000",
    ];
    refused(&bank.bank(&cycle), 1, "another person must approve");
    let output = bank.bank_ok(&[&cycle[..], &["--propose", "--json"]].concat());
    let id = json(&output)["id"].to_string();
    let admin = token(&bank, "second", &["--role", "admin"]);
    assert_eq!(
        with(&bank, &admin, &["reject", &id, "--reason", "no"]).exit,
        0
    );
    refused(&with(&bank, &admin, &["approve", &id]), 7, "rejected");
    assert_eq!(bank.bank(&["cycle", "show", "c"]).exit, 4);
    bank.verify();
}

/// Who proposed is asked again when somebody approves: a right that is gone proposes nothing.
#[test]
fn nothing_is_approved_for_somebody_who_may_not_any_more() {
    let setup = Setup::new().env("BANKD_APPROVAL_DEPOSIT", "1000");
    let mut bank = setup.chemistry(900).start();
    let one = token(&bank, "one", &["--role", "operator", "-A", "chemistry"]);
    let two = token(&bank, "two", &["--role", "operator", "-A", "chemistry"]);
    let large = ["deposit", "chemistry", "5000", "--propose", "--json"];
    let output = with(&bank, &one, &large);
    assert_eq!(output.exit, 0, "{}", output.stderr);
    let id = json(&output.stdout)["id"].to_string();
    let approve = |bank: &Bank| with(bank, &two, &["approve", &id]);

    bank.bank_ok(&["limit", "set", "one", "--per-operation", "4999"]);
    refused(&approve(&bank), 6, "limit per operation");
    let refusals = bank.json(&["status"])["refused_access"].clone();
    let denied = refusals.as_array().unwrap().iter();
    let denied = denied.filter(|row| row["code"] == "not_allowed");
    assert!(denied.count() > 0, "{refusals}");
    assert!(bank.log().contains("access refused"));
    assert_eq!(bank.figures("chemistry").0, 900);

    bank.bank_ok(&["limit", "rm", "one", "--yes"]);
    let done = approve(&bank);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert_eq!(bank.figures("chemistry").0, 5900);
    // A token that was taken away proposes nothing either.
    let output = with(&bank, &one, &large);
    let id = json(&output.stdout)["id"].to_string();
    bank.bank_ok(&["token", "rm", "one", "--yes"]);
    refused(&with(&bank, &two, &["approve", &id]), 6, "its proposer one");
    assert_eq!(with(&bank, &two, &["reject", &id]).exit, 0);
    bank.verify();
}

#[test]
fn a_key_is_replaced_with_an_overlap() {
    let mut bank = Bank::new();
    let file = bank.folder().join("new.key");
    let path = file.to_str().unwrap();
    let output = bank.bank_ok(&["key", "rotate", "moab", "--overlap", "1h", "--out", path]);
    assert!(output.contains("\"moab-2\""), "{output}");
    let secret = bank_api::sign::Secret::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let new = || Signing {
        keyid: "moab-2".to_owned(),
        secret: secret.bytes().to_vec(),
        ..Signing::new()
    };
    // Both are the same client: a repeat by the other key is a repeat.
    let first = bank.over_tcp(&Signing::new().sign(super::charge("k1")));
    assert_eq!(first.status, 200, "{}", first.text());
    let again = bank.over_tcp(&new().sign(super::charge("k1")));
    assert_eq!(again.header("idempotent-replay"), Some("true"));
    let keys = json(&bank.bank_ok(&["key", "ls", "--client", "moab", "--json"]));
    let keys = keys["items"].as_array().unwrap().clone();
    assert_eq!(keys.len(), 2, "{keys:?}");
    for key in &keys {
        assert_eq!(key["roles"], serde_json::json!(["scheduler"]));
        assert_eq!(key["machines"], serde_json::json!(["colony"]));
        assert!(key["last_used"].is_string(), "{key}");
    }
    let old = keys.iter().find(|key| key["id"] == "moab").unwrap();
    assert!(old["valid_until"].is_string(), "{old}");
    // Without an overlap the old one ends at once.
    let rotate = "key rotate moab-2 --overlap 0s --new-id moab-x";
    bank.bank_ok(&rotate.split(' ').collect::<Vec<_>>());
    assert_eq!(bank.over_tcp(&new().sign(super::charge("k2"))).status, 401);
    let keys = bank.bank_ok(&["key", "ls", "--client", "moab", "-P", "-n"]);
    let line = keys.lines().find(|line| line.starts_with("moab-2|"));
    assert!(line.unwrap().contains("|expired|"), "{keys}");
    assert_eq!(bank.bank(&["key", "rotate", "nosuch"]).exit, 4);
    bank.verify();
}
