//! Requests of people who may not do it themselves, by the real command line: asking, answering, and who sees what.

use super::roles::{json, refused, with};
use super::token::token;
use crate::harness::{Bank, Setup};

const DAY: i64 = 86_400;

/// The number of a request that was made.
#[track_caller]
pub(super) fn asked(bank: &Bank, who: &str, arguments: &[&str]) -> String {
    let all = [&["request"][..], arguments, &["--json"]].concat();
    let ran = with(bank, who, &all);
    assert_eq!(ran.exit, 0, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
    json(&ran.stdout)["id"].to_string()
}

#[track_caller]
pub(super) fn done(bank: &Bank, who: &str, arguments: &[&str]) -> String {
    let ran = with(bank, who, arguments);
    assert_eq!(ran.exit, 0, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

pub(super) fn state(bank: &Bank, who: &str, id: &str) -> String {
    let shown = json(&done(bank, who, &["request", "show", id, "--json"]));
    shown["state"].as_str().unwrap().to_owned()
}

/// A member of chemistry, its principal investigator, and operators of chemistry and physics.
pub(super) fn people(bank: &Bank) -> [String; 4] {
    [
        token(bank, "amys", &["--role", "user", "--client", "amy"]),
        token(bank, "prof", &["--role", "pi", "-A", "chemistry"]),
        token(bank, "op", &["--role", "operator", "-A", "chemistry"]),
        token(bank, "far", &["--role", "operator", "-A", "physics"]),
    ]
}

#[test]
fn a_deposit_is_asked_for_answered_done_once_and_undone() {
    let mut bank = Bank::new();
    let [amy, _, op, far] = people(&bank);
    let before = bank.transactions();
    let ask = [
        "request",
        "deposit",
        "chemistry",
        "500",
        "--end",
        "2090-01-01",
        "--reason",
        "second half; 'x' \u{1F600}",
    ];
    let tried = done(&bank, &amy, &[&ask[..], &["--dry-run"]].concat());
    assert!(
        tried.contains("deposit of 500 ") && tried.contains("can be asked for"),
        "{tried}"
    );
    assert_eq!(bank.transactions(), before);
    let keyed = [&ask[..], &["--key", "k1", "--json"]].concat();
    let one = done(&bank, &amy, &keyed);
    assert_eq!(one, done(&bank, &amy, &keyed), "a repeat asks nothing new");
    let id = json(&one)["id"].to_string();
    assert_eq!(bank.transactions(), before + 1);
    assert_eq!(bank.figures("chemistry").0, 100_000);
    let own = json(&done(&bank, &amy, &["request", "ls", "--mine", "--json"]));
    assert_eq!(own["items"].as_array().unwrap().len(), 1, "{own}");
    assert_eq!(own["items"][0]["asked"], "second half; 'x' \u{1F600}");
    let queue = done(&bank, &op, &["proposal", "ls", "--json"]);
    assert!(queue.contains("second half"), "{queue}");
    for list in ["request", "proposal"] {
        let other = json(&done(&bank, &far, &[list, "ls", "--json"]));
        assert_eq!(other["items"], json("[]"));
    }
    // The asker has no right to it, an operator of another project does not see it.
    refused(&with(&bank, &amy, &["request", "approve", &id]), 6, "role");
    refused(
        &with(&bank, &far, &["request", "approve", &id]),
        6,
        "proposal",
    );
    refused(&with(&bank, &far, &["request", "show", &id]), 6, "request");
    // Killed and started again, it still waits.
    bank.kill();
    bank.start();
    let approve = [
        "request",
        "approve",
        &id,
        "--answer",
        "as agreed",
        "--key",
        "a1",
    ];
    let first = done(&bank, &op, &approve);
    assert_eq!(first, done(&bank, &op, &approve));
    assert_eq!(bank.figures("chemistry").0, 100_500);
    refused(
        &with(&bank, &op, &["request", "approve", &id]),
        7,
        "approved",
    );
    refused(
        &with(&bank, &amy, &["request", "withdraw", &id]),
        7,
        "approved",
    );
    let shown = done(&bank, &amy, &["request", "show", &id]);
    for part in [
        "approved by op: as agreed",
        "second half",
        "done in transaction",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let shown = json(&done(&bank, &amy, &["request", "show", &id, "--json"]));
    let transaction = shown["done"].to_string();
    let words = format!("proposal={id} proposed_by=amys; second half; 'x' \u{1F600}; as agreed");
    let journal = bank.bank_ok(&["journal", "--kind", "deposit", "--json"]);
    assert!(journal.contains(&words), "{words} in {journal}");
    let journal = bank.bank_ok(&["journal", "--kind", "propose"]);
    assert!(
        journal.contains("amount=500") && journal.contains("second half"),
        "{journal}"
    );
    bank.bank_ok(&["undo", &transaction]);
    assert_eq!(bank.figures("chemistry").0, 100_000);
    assert_eq!(state(&bank, &amy, &id), "approved");
    bank.verify();
}

#[test]
fn requests_are_rejected_withdrawn_and_expire() {
    let mut bank = Bank::new();
    let [amy, prof, op, far] = people(&bank);
    let deposit = ["deposit", "chemistry", "5", "--reason", "more"];
    let [one, two, three] = [(); 3].map(|()| asked(&bank, &amy, &deposit));
    // An answer is needed, by the other command too.
    refused(&with(&bank, &op, &["reject", &one]), 2, "reason");
    refused(
        &with(&bank, &far, &["request", "decline", &one, "--answer", "x"]),
        6,
        "proposal",
    );
    refused(
        &with(&bank, &amy, &["request", "decline", &one, "--answer", "x"]),
        6,
        "role",
    );
    let words = done(
        &bank,
        &op,
        &["request", "reject", &one, "--answer", "<b>no</b> money"],
    );
    assert!(words.contains("rejected"), "{words}");
    assert_eq!(state(&bank, &amy, &one), "rejected");
    refused(
        &with(&bank, &op, &["request", "approve", &one]),
        7,
        "rejected",
    );
    // Only the asker takes a request back.
    for other in [&prof, &op] {
        refused(
            &with(&bank, other, &["request", "withdraw", &two]),
            if other == &prof { 6 } else { 4 },
            "request",
        );
    }
    done(&bank, &amy, &["request", "withdraw", &two]);
    assert_eq!(state(&bank, &amy, &two), "withdrawn");
    refused(
        &with(&bank, &op, &["request", "approve", &two]),
        7,
        "withdrawn",
    );
    let now: i64 = std::fs::read_to_string(bank.clock())
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .parse()
        .unwrap();
    bank.set_clock(now + 15 * DAY);
    refused(
        &with(&bank, &op, &["request", "approve", &three]),
        7,
        "expired",
    );
    for (word, id) in [
        ("rejected", &one),
        ("declined", &one),
        ("withdrawn", &two),
        ("expired", &three),
    ] {
        let list = done(&bank, &amy, &["request", "ls", "--state", word, "--json"]);
        let list = json(&list);
        assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
        assert_eq!(list["items"][0]["id"].to_string(), *id);
    }
    let journal = bank.bank_ok(&["journal", "--kind", "reject", "--json"]);
    assert!(journal.contains("<b>no</b> money"), "{journal}");
    assert_eq!(bank.figures("chemistry").0, 100_000);
    bank.verify();
}

/// What is others' looks like what is not there; who leads a project asks for more than its members.
#[test]
fn people_ask_for_their_own_projects() {
    let mut bank = Bank::new();
    let [amy, prof, _, _] = people(&bank);
    bank.bank_ok(&["deposit", "physics", "10", "--new"]);
    let before = bank.transactions();
    let foreign = |name: &str| {
        let allocations = bank.items(&["allocation", "ls", "-a", name]);
        allocations[0]["id"].to_string()
    };
    let (physics, own) = (foreign("physics"), foreign("chemistry"));
    let why = ["--reason", "why"];
    for who in [&amy, &prof] {
        for (theirs, nobodys) in [
            (
                vec!["deposit", "physics", "5"],
                vec!["deposit", "nosuch", "5"],
            ),
            (
                vec!["extension", &physics, "--end", "2090-01-01"],
                vec!["extension", "987654321", "--end", "2090-01-01"],
            ),
            (
                vec!["member", "physics", "amy"],
                vec!["member", "nosuch", "amy"],
            ),
            (
                vec!["project", "new", "--parent", "physics"],
                vec!["project", "new", "--parent", "nosuch"],
            ),
        ] {
            let [one, other] = [theirs, nobodys].map(|arguments| {
                let ran = with(&bank, who, &[&["request"], &arguments[..], &why].concat());
                assert_ne!(ran.exit, 0, "{arguments:?}: {}", ran.stdout);
                let text = ran.stderr.replace(arguments[1], "X");
                let text = text.replace(arguments[arguments.len() - 1], "Y");
                let lines = text.lines().filter(|line| !line.starts_with("request "));
                (ran.exit, lines.collect::<Vec<_>>().join("\n"))
            });
            assert_eq!(one, other);
        }
    }
    // A member asks for themselves alone.
    refused(
        &with(
            &bank,
            &amy,
            &["request", "member", "chemistry", "bob", "--reason", "x"],
        ),
        6,
        "for themselves",
    );
    for (arguments, exit, words) in [
        (vec!["deposit", "chemistry", "-5"], 1, "amount"),
        (vec!["deposit", "chemistry", "5.12345"], 1, "decimal"),
        (
            vec![
                "deposit",
                "chemistry",
                "5",
                "--start",
                "2090-01-01",
                "--end",
                "2089-01-01",
            ],
            1,
            "window",
        ),
        (
            vec!["extension", &own, "--end", "2001-01-01"],
            1,
            "after the end of the allocation",
        ),
        (vec!["project", "a\tb"], 1, "name"),
        (vec!["project", "chemistry"], 7, "exists"),
    ] {
        let ran = with(&bank, &amy, &[&["request"], &arguments[..], &why].concat());
        assert!(
            ran.exit == exit || ran.exit == 2,
            "{arguments:?}: {} {}",
            ran.exit,
            ran.stderr
        );
        assert!(ran.stderr.contains(words), "{words} in {}", ran.stderr);
    }
    for reason in [String::new(), "   ".to_owned(), "x".repeat(1001)] {
        let ran = with(
            &bank,
            &amy,
            &["request", "deposit", "chemistry", "5", "--reason", &reason],
        );
        refused(&ran, 1, "1000 bytes");
    }
    assert_eq!(
        bank.transactions(),
        before,
        "a refused request wrote something"
    );
    // A name that the asker does not see is taken as it is: the answer must not show whether it is there.
    let [there, missing] = ["ops", "nobody9"].map(|user| {
        asked(
            &bank,
            &prof,
            &["member", "chemistry", user, "--reason", "new"],
        )
    });
    let admin = token(&bank, "root", &["--role", "admin"]);
    done(&bank, &admin, &["request", "approve", &there]);
    refused(
        &with(&bank, &admin, &["request", "approve", &missing]),
        4,
        "nobody9",
    );
    let taken = asked(&bank, &amy, &["project", "physics", "--reason", "mine"]);
    refused(
        &with(&bank, &admin, &["request", "approve", &taken]),
        7,
        "exists",
    );
    bank.verify();
}

#[test]
fn a_person_has_a_limited_number_of_open_requests() {
    let mut bank = Bank::new();
    let [amy, _, op, _] = people(&bank);
    let deposit = ["deposit", "chemistry", "5", "--reason", "more"];
    let all: Vec<String> = (0..20).map(|_| asked(&bank, &amy, &deposit)).collect();
    let more = [&["request"], &deposit[..]].concat();
    refused(&with(&bank, &amy, &more), 1, "20 open requests");
    // Another token of the same person has none of its own.
    let second = token(&bank, "amys2", &["--role", "user", "--client", "amy"]);
    refused(&with(&bank, &second, &more), 1, "20 open requests");
    done(&bank, &second, &["request", "withdraw", &all[0]]);
    done(&bank, &op, &["request", "approve", &all[1]]);
    asked(&bank, &amy, &deposit);
    asked(&bank, &amy, &deposit);
    refused(&with(&bank, &amy, &more), 1, "20 open requests");
    bank.verify();
}

/// The limits and the two people are those of who approves: the asker has approved nothing.
#[test]
fn limits_and_two_people_hold_for_the_approver() {
    let setup = Setup::new().env("BANKD_APPROVAL_DEPOSIT", "1000");
    let mut bank = setup.chemistry(900).start();
    let [amy, _, op, _] = people(&bank);
    let two = token(&bank, "two", &["--role", "operator", "-A", "chemistry"]);
    bank.bank_ok(&["limit", "set", "two", "--per-operation", "6000"]);
    let ask = |amount: &str| {
        asked(
            &bank,
            &amy,
            &["deposit", "chemistry", amount, "--reason", "big"],
        )
    };
    let large = ask("7000");
    let ran = with(&bank, &two, &["request", "approve", &large]);
    refused(&ran, 1, "per operation");
    let id = ask("5000");
    let ran = with(&bank, &op, &["request", "approve", &id]);
    refused(&ran, 1, "another person must approve");
    assert!(ran.stderr.contains("--propose"), "{}", ran.stderr);
    assert_eq!(bank.figures("chemistry").0, 900);
    let tried = with(
        &bank,
        &op,
        &["request", "approve", &id, "--propose", "--dry-run"],
    );
    assert_eq!(tried.exit, 0, "{}", tried.stderr);
    assert_eq!(state(&bank, &amy, &id), "open");
    let answer = done(
        &bank,
        &op,
        &["request", "approve", &id, "--propose", "--answer", "fine"],
    );
    assert!(
        answer.contains(&format!("request {id} is now proposal ")),
        "{answer}"
    );
    // What becomes of the proposal becomes of the request.
    assert_eq!(state(&bank, &amy, &id), "proposed");
    let listed = done(
        &bank,
        &amy,
        &["request", "ls", "--state", "proposed", "--json"],
    );
    assert_eq!(json(&listed)["items"][0]["id"].to_string(), id);
    assert_eq!(bank.figures("chemistry").0, 900);
    let queue = json(&done(&bank, &two, &["proposal", "ls", "--json"]));
    let next = queue["items"][0].clone();
    assert_eq!(
        (&next["proposed_by"], &next["state"]),
        (&json("\"op\""), &json("\"open\""))
    );
    let next = next["id"].to_string();
    refused(&with(&bank, &op, &["approve", &next]), 6, "your own");
    done(&bank, &two, &["approve", &next]);
    assert_eq!(bank.figures("chemistry").0, 5900);
    assert_eq!(state(&bank, &amy, &id), "approved");
    let lost = ask("5001");
    done(&bank, &op, &["request", "approve", &lost, "--propose"]);
    let queue = json(&done(&bank, &two, &["proposal", "ls", "--json"]));
    let number = queue["items"][0]["id"].to_string();
    done(&bank, &two, &["reject", &number, "--reason", "too much"]);
    assert_eq!(state(&bank, &amy, &lost), "rejected");
    let journal = bank.bank_ok(&["journal", "--kind", "request_pass", "--json"]);
    assert!(
        journal.contains(&format!(
            "passed_on={next}; proposal={id} proposed_by=amys; big; fine"
        )),
        "{journal}"
    );
    // Who has the right may answer their own request.
    let own = asked(
        &bank,
        &op,
        &["deposit", "chemistry", "10", "--reason", "for the record"],
    );
    done(&bank, &op, &["request", "approve", &own]);
    assert_eq!(bank.figures("chemistry").0, 5910);
    bank.verify();
}
