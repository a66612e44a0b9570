//! What a caller who is limited to some projects or machines can read and change by routes whose objects are not in the
//! request.

use super::token::token;
use crate::harness::{Bank, Request, Response};

/// A command as JSON, sent with a token over the socket.
fn post(bank: &Bank, token: &str, path: &str, body: &serde_json::Value) -> Response {
    let body = body.to_string();
    let request = Request {
        target: format!("/api/v1/{path}"),
        ..Request::nami("x", &format!("{path}{body}"), body.as_bytes())
    };
    bank.over_socket(&request.header("Authorization", &format!("Bearer {token}")))
}

fn json(answer: &Response) -> serde_json::Value {
    serde_json::from_slice(&answer.body).unwrap()
}

/// The charges of a project and machine each, for the replay of rates.
fn charged() -> Bank {
    let bank = Bank::new();
    bank.bank_ok(&["machine", "add", "blue"]);
    bank.bank_ok(&["deposit", "chemistry", "1000"]);
    bank.bank_ok(&["deposit", "physics", "1000"]);
    for (job, project, machine) in [
        ("j1", "chemistry", "colony"),
        ("j2", "physics", "colony"),
        ("j3", "physics", "blue"),
    ] {
        let user = if project == "physics" { "ops" } else { "amy" };
        let charge =
            format!("charge {job} -A {project} -u {user} -m {machine} --procs 4 --duration 60");
        bank.bank_ok(&charge.split(' ').collect::<Vec<_>>());
    }
    bank
}

#[test]
fn a_replay_of_rates_covers_the_view_of_its_caller() {
    let mut bank = charged();
    let span = serde_json::json!({"last_days": 30});
    let counted = |token: &str| {
        let answer = json(&post(&bank, token, "rates/test", &span));
        let rows = answer["replay"]["rows"].as_array().unwrap().iter();
        let rows = rows.map(|row| (row["project"].clone(), row["charges"].clone()));
        let total = answer["replay"]["total"]["charges"].clone();
        (rows.collect::<Vec<_>>(), total)
    };
    let row = |project: &str, charges: i64| (project.into(), charges.into());
    let of_chemistry = token(&bank, "chem", &["--role", "auditor", "-A", "chemistry"]);
    assert_eq!(
        counted(&of_chemistry),
        (vec![row("chemistry", 1)], 1.into())
    );
    let of_blue = token(&bank, "blue", &["--role", "admin", "-m", "blue"]);
    assert_eq!(counted(&of_blue), (vec![row("physics", 1)], 1.into()));
    let whole = token(&bank, "whole", &["--role", "auditor"]);
    let all = vec![row("chemistry", 1), row("physics", 2)];
    assert_eq!(counted(&whole), (all, 3.into()));
    bank.verify();
}

/// A connection string may have a password.
#[test]
fn settings_are_for_administrators_of_the_whole_bank() {
    let bank = Bank::new();
    let settings = |token: &str| {
        let request = Request::get("/api/v1/settings");
        let request = request.header("Authorization", &format!("Bearer {token}"));
        bank.over_socket(&request).status
    };
    let whole = token(&bank, "whole", &["--role", "admin"]);
    assert_eq!(settings(&whole), 200);
    for (id, scope) in [("a", ["-A", "chemistry"]), ("b", ["-m", "colony"])] {
        let narrow = token(&bank, id, &[&["--role", "admin"][..], &scope].concat());
        assert_eq!(settings(&narrow), 403, "{scope:?}");
    }
}

#[test]
fn rates_that_name_objects_out_of_view_are_left_out() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "add", "blue"]);
    bank.bank_ok(&["user", "add", "victim"]);
    for line in [
        "NBM Project physics 2",
        "NBM AccountId chemistry,physics 2",
        "NBM User victim 3",
        "MVBR Processors User=victim 3",
        "NBM Project chemistry 4",
        "NBM User amy 5",
        "NBM Machine blue 6",
        "NBM QualityOfService high 7",
    ] {
        let words = ["rate", "set"].into_iter().chain(line.split(' '));
        bank.bank_ok(&words.collect::<Vec<_>>());
    }
    let amy = token(&bank, "amy", &["--client", "amy", "--role", "user"]);
    let colony = token(&bank, "colony", &["--role", "auditor", "-m", "colony"]);
    let whole = token(&bank, "whole", &["--role", "auditor"]);
    let ask = |token: &str, words: &[&str]| {
        let ran = bank.bank_as(&[("BANK_TOKEN", token)], words);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        ran.stdout
    };
    for (token, seen, hidden) in [
        (
            &amy,
            &["chemistry", "amy", "blue", "high"][..],
            &["physics", "victim"][..],
        ),
        (&colony, &["physics", "victim", "high"], &["blue"]),
        (&whole, &["chemistry,physics", "User=victim", "blue"], &[]),
    ] {
        let query = ["query", "Rate Query Show:=Kind,Name,Instance"];
        for words in [&["rate", "ls"][..], &query] {
            let text = ask(token, words);
            for name in seen {
                assert!(text.contains(name), "{words:?} {name}: {text}");
            }
            for name in hidden {
                assert!(!text.contains(name), "{words:?} {name}: {text}");
            }
        }
    }
    bank.verify();
}

/// A hidden number is as a missing one: 403 of accounts, proposals and requests (decisions.md 23), else 404.
#[test]
fn hidden_and_missing_numbers_have_one_answer() {
    let bank = Bank::new();
    let narrow = token(&bank, "mia", &["--role", "manager", "-A", "chemistry"]);
    let hidden = bank.json(&["account", "show", "physics"])["id"].clone();
    for (path, status) in [
        ("accounts/N", 403),
        ("statements?account=N", 403),
        ("balances?account=N", 403),
        ("proposals/N", 403),
        ("requests/N", 403),
        ("allocations/N", 404),
        ("liens/N", 404),
    ] {
        for number in [&hidden.to_string()[..], "987654321"] {
            let request = Request::get(&format!("/api/v1/{}", path.replace('N', number)));
            let request = request.header("Authorization", &format!("Bearer {narrow}"));
            let answer = bank.over_socket(&request);
            assert_eq!(answer.status, status, "{path} {number}: {}", answer.text());
        }
    }
}

/// A member with a role is made and ended by an operator: a manager does neither.
#[test]
fn a_manager_ends_no_role_of_a_member() {
    let mut bank = Bank::new();
    for (user, role) in [("mia", "manager"), ("max", "manager"), ("kim", "member")] {
        bank.bank_ok(&["user", "add", user]);
        bank.bank_ok(&["project", "members", "add", "chemistry", user]);
        bank.bank_ok(&["project", "members", "role", "chemistry", user, role]);
    }
    let mia = token(&bank, "mia", &["--role", "manager", "-A", "chemistry"]);
    for (user, status) in [("max", 403), ("kim", 201)] {
        let off = serde_json::json!({"user": user, "active": false});
        let answer = post(&bank, &mia, "projects/chemistry/members", &off);
        assert_eq!(answer.status, status, "{user}: {}", answer.text());
    }
    let members = ["project", "members"];
    for (command, exit) in [
        (&["rm", "chemistry", "max", "--yes"][..], 6),
        (&["rm", "chemistry", "kim", "--yes"], 0),
    ] {
        let words = [&members[..], command].concat();
        let ran = bank.bank_as(&[("BANK_TOKEN", &mia)], &words);
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.stderr);
    }
    bank.bank_ok(&["project", "members", "rm", "chemistry", "max", "--yes"]);
    bank.verify();
}

#[test]
fn a_coded_body_and_a_cursor_below_zero_are_refused() {
    let bank = Bank::new();
    let body = serde_json::json!({"name": "chemistry", "amount": "1"});
    let body = body.to_string();
    let send = |field: &str, value: &str, key: &str| {
        let request = Request {
            target: "/api/v1/deposits".to_owned(),
            ..Request::nami("x", key, body.as_bytes())
        };
        bank.over_socket(&request.header(field, value)).status
    };
    assert_eq!(send("Content-Encoding", "gzip", "k1"), 501);
    assert_eq!(send("Content-Encoding", "identity", "k2"), 201);
    for after in ["after", "before"] {
        let request = Request::get(&format!("/api/v1/journal?{after}=-1"));
        assert_eq!(bank.over_socket(&request).status, 422, "{after}");
    }
}

#[test]
fn a_record_that_names_objects_of_others_is_theirs() {
    let mut bank = Bank::new();
    bank.bank_ok(&[
        "kind",
        "add",
        "grant",
        "--field",
        "project:project",
        "--field",
        "title:text",
        "--keys",
        "name",
        "--change",
        "operators",
    ]);
    bank.bank_ok(&[
        "grant",
        "add",
        "g1",
        "--project",
        "physics",
        "--title",
        "Lasers",
    ]);
    bank.bank_ok(&[
        "grant",
        "add",
        "g2",
        "--project",
        "chemistry",
        "--title",
        "Salts",
    ]);
    bank.bank_ok(&["grant", "add", "g3", "--title", "Of nobody"]);
    let before = bank.transactions();
    let commands: [&[&str]; 4] = [
        &["grant", "set", "g1", "--title", "Changed"],
        &["grant", "set", "g1", "--project", "chemistry"],
        &["grant", "set", "g1", "--project", ""],
        &["grant", "rm", "g1", "--yes"],
    ];
    let operator = token(&bank, "op", &["--role", "operator", "-A", "chemistry"]);
    let admin = token(&bank, "small", &["--role", "admin", "-A", "chemistry"]);
    let tokens = bank.transactions();
    assert_eq!(tokens, before + 2);
    for (token, command) in [&operator, &admin].into_iter().zip([commands, commands]) {
        for command in command {
            let ran = bank.bank_as(&[("BANK_TOKEN", token)], command);
            assert_eq!(ran.exit, 6, "{command:?}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("grant g1"), "{}", ran.stderr);
            assert!(!ran.stderr.contains("physics"), "{}", ran.stderr);
        }
    }
    assert_eq!(bank.transactions(), tokens);
    for name in ["g2", "g3"] {
        let command = [
            "grant",
            "set",
            name,
            "--title",
            "New",
            "--project",
            "chemistry",
        ];
        let ran = bank.bank_as(&[("BANK_TOKEN", &operator)], &command);
        assert_eq!(ran.exit, 0, "{name}: {}", ran.stderr);
    }
    bank.verify();
}
