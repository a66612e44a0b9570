//! What a key for single projects or machines can name in a command: its own. What is of others answers as
//! what is not there, in every field.

use super::token::token;
use crate::harness::{Bank, Ran};

fn with(bank: &Bank, token: &str, arguments: &[&str]) -> Ran {
    bank.bank_as(&[("BANK_TOKEN", token)], arguments)
}

/// A refusal without the name that was given, and without the id of the request.
fn learned(ran: &Ran, name: &str) -> (i32, String) {
    let lines = ran.stderr.lines().filter(|line| !line.contains("request"));
    let text = lines.collect::<Vec<_>>().join("\n");
    (ran.exit, text.replace(name, "NAME"))
}

#[test]
fn a_narrow_administrator_cannot_name_what_is_of_others() {
    let mut bank = Bank::new();
    bank.bank_ok(&["user", "add", "carl", "--default-project", "physics"]);
    bank.bank_ok(&["project", "members", "add", "physics", "carl"]);
    bank.bank_ok(&["user", "add", "dora"]);
    bank.bank_ok(&["account", "add", "chem-more", "--projects", "chemistry"]);
    let narrow = token(&bank, "narrow", &["--role", "admin", "-A", "chemistry"]);
    let before = bank.transactions();
    let commands: [(&[&str], [&str; 2]); 6] = [
        (
            &["project", "set", "chemistry", "--parent", "NAME"],
            ["physics", "nosuch"],
        ),
        (
            &["project", "members", "add", "chemistry", "NAME"],
            ["carl", "nosuch"],
        ),
        (
            &["project", "members", "rm", "chemistry", "NAME", "--yes"],
            ["carl", "nosuch"],
        ),
        (
            &["account", "set", "chem-more", "--users", "NAME"],
            ["carl", "nosuch"],
        ),
        (
            &["account", "set", "chem-more", "--parent", "NAME"],
            ["physics", "nosuch"],
        ),
        (
            &["account", "set", "chem-more", "--fallback", "NAME"],
            ["physics", "nosuch"],
        ),
    ];
    for (command, names) in commands {
        let [foreign, missing] = names.map(|name| {
            let words = command.iter().map(|word| word.replace("NAME", name));
            let words: Vec<String> = words.collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            learned(&with(&bank, &narrow, &words), name)
        });
        assert_eq!(foreign, missing, "{command:?}");
        assert_eq!(foreign.0, 4, "{command:?}: {}", foreign.1);
    }
    assert_eq!(bank.transactions(), before);
    // A user without any project is in every scope.
    let ran = with(
        &bank,
        &narrow,
        &["project", "members", "add", "chemistry", "dora"],
    );
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    bank.verify();
}

#[test]
fn a_key_for_one_machine_names_no_other() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "add", "blue"]);
    bank.bank_ok(&["account", "add", "chem-more", "--projects", "chemistry"]);
    let narrow = token(&bank, "narrow", &["--role", "admin", "-m", "colony"]);
    let before = bank.transactions();
    let commands: [&[&str]; 2] = [
        &["project", "set", "chemistry", "--machines", "NAME"],
        &["account", "set", "chem-more", "--machines", "NAME"],
    ];
    for command in commands {
        let [foreign, missing] = ["blue", "nosuch"].map(|name| {
            let words: Vec<&str> = command
                .iter()
                .map(|w| if *w == "NAME" { name } else { w })
                .collect();
            learned(&with(&bank, &narrow, &words), name)
        });
        assert_eq!(foreign, missing, "{command:?}");
        assert_eq!(foreign.0, 6, "{command:?}: {}", foreign.1);
    }
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn references_to_what_is_of_others_are_left_out() {
    let mut bank = Bank::new();
    for line in [
        "machine add blue",
        "machine set blue --reservation-account physics",
        "project set chemistry --parent physics",
        "user add carl --default-project physics",
        "project members add chemistry carl",
        "kind add project --field lead:user",
        "user add zoe",
        "project members add physics zoe",
        "project set chemistry --lead zoe",
    ] {
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    }
    let narrow = token(&bank, "narrow", &["--role", "admin", "-A", "chemistry"]);
    for line in [
        "project show chemistry",
        "project ls",
        "project tree",
        "project set chemistry --description x",
        "user show carl",
        "user ls",
        "machine show blue",
        "machine ls",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--format", "json"]).collect();
        let ran = with(&bank, &narrow, &words);
        assert_eq!(ran.exit, 0, "{line}: {}", ran.stderr);
        for hidden in ["physics", "zoe"] {
            assert!(!ran.stdout.contains(hidden), "{line}: {}", ran.stdout);
        }
    }
    let ran = with(&bank, &narrow, &["query", "Project Query"]);
    assert!(
        ran.exit == 0 && !ran.stdout.contains("zoe") && ran.stdout.contains("chemistry"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // A field of the site names no other object of others either.
    let [foreign, missing] = ["zoe", "nosuch"].map(|name| {
        let words = ["project", "set", "chemistry", "--lead", name];
        learned(&with(&bank, &narrow, &words), name)
    });
    assert_eq!(foreign, missing);
    assert_eq!(foreign.0, 4, "{}", foreign.1);
    bank.verify();
}

/// Machines that an administrator of one machine does not see stay in a list that they replace.
#[test]
fn a_new_list_keeps_hidden_machines() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "add", "blue"]);
    bank.bank_ok(&["project", "set", "chemistry", "--machines", "colony,blue"]);
    let narrow = token(&bank, "narrow", &["--role", "admin", "-m", "colony"]);
    let machines = |bank: &Bank| {
        let project: serde_json::Value = bank.json(&["project", "show", "chemistry"]);
        let mut names: Vec<String> = serde_json::from_value(project["machines"].clone()).unwrap();
        names.sort();
        names
    };
    for list in ["colony", ""] {
        let set = ["project", "set", "chemistry", "--machines", list];
        let ran = with(&bank, &narrow, &set);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        assert!(!ran.stdout.contains("blue"), "{}", ran.stdout);
        assert!(machines(&bank).contains(&"blue".to_owned()), "{list:?}");
    }
    assert_eq!(machines(&bank), ["blue"]);
    bank.bank_ok(&["project", "set", "chemistry", "--machines", "colony"]);
    assert_eq!(machines(&bank), ["colony"]);
    bank.verify();
}

/// A project that is in the scope by the one above it does not leave it.
#[test]
fn a_project_stays_in_the_scope_of_its_administrator() {
    let mut bank = Bank::new();
    bank.bank_ok(&["project", "add", "lab", "--parent", "chemistry"]);
    bank.bank_ok(&["project", "add", "team", "--parent", "lab"]);
    let narrow = token(&bank, "narrow", &["--role", "admin", "-A", "chemistry"]);
    let before = bank.transactions();
    let ran = with(&bank, &narrow, &["project", "set", "team", "--parent", ""]);
    assert_eq!(ran.exit, 6, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(bank.transactions(), before);
    let ran = with(
        &bank,
        &narrow,
        &["project", "set", "team", "--parent", "chemistry"],
    );
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    bank.bank_ok(&["project", "set", "team", "--parent", ""]);
    bank.verify();
}

/// What is summed over the bank tells a key for one project about the others.
#[test]
fn a_narrow_auditor_sees_no_sums_over_the_bank() {
    let mut bank = Bank::new();
    bank.bank_ok(&["user", "add", "carl", "--default-project", "physics"]);
    bank.bank_ok(&["project", "members", "add", "physics", "carl"]);
    for (job, project, user) in [("P1", "physics", "carl"), ("C1", "chemistry", "amy")] {
        bank.bank_ok(&[
            "charge",
            job,
            "-A",
            project,
            "-u",
            user,
            "-m",
            "colony",
            "--procs",
            "1",
            "--duration",
            "1234",
        ]);
    }
    let record = |job: &str, project: &str, user: &str| {
        format!(
            r#"{{"source":"x","id":"{job}","machine":"colony","project":"{project}","user":"{user}","start":"2025-12-31T22:00:00Z","end":"2025-12-31T23:00:00Z","processors":2}}"#
        )
    };
    let file = bank.folder().join("uses.jsonl");
    let records = [
        record("P1", "physics", "carl"),
        record("C1", "chemistry", "amy"),
    ];
    std::fs::write(&file, records.join("\n") + "\n").unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    let compared = ["reconcile", "-m", "colony", "--csv"];
    let all = bank.bank_ok(&compared);
    assert!(all.contains("P1") && all.contains("C1"), "{all}");
    for (role, is_auditor) in [("auditor", true), ("scheduler", false), ("admin", true)] {
        let narrow = token(
            &bank,
            &format!("narrow-{role}"),
            &["--role", role, "-A", "chemistry"],
        );
        let own = with(&bank, &narrow, &compared);
        assert_eq!(own.exit, 0, "{role}: {}", own.stderr);
        assert!(own.stdout.contains("C1"), "{role}: {}", own.stdout);
        for foreign in ["P1", "physics", "carl"] {
            assert!(!own.stdout.contains(foreign), "{role}: {}", own.stdout);
        }
        if !is_auditor {
            continue;
        }
        for command in [&["checkpoint"][..], &["verify"], &["checkpoint", "--list"]] {
            let ran = with(&bank, &narrow, command);
            assert_ne!(ran.exit, 0, "{role} {command:?}: {}", ran.stdout);
            assert!(
                ran.stderr.contains("the whole bank"),
                "{role} {command:?}: {}",
                ran.stderr
            );
        }
    }
    bank.verify();
}
