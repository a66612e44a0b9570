//! Kinds of records and fields that a site adds: their commands, history, undo, queries, and refusals.

use crate::harness::{Bank, T0, programs};

/// Words as a shell splits them at blanks and single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Runs a command; its exit code, and what it printed.
fn run(bank: &Bank, line: &str) -> (i32, String) {
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = bank.typed(&programs().bank(), &words);
    (ran.exit, format!("{}{}", ran.stdout, ran.stderr))
}

/// Each line with its exit code, and a part of what it prints.
#[track_caller]
fn check(bank: &Bank, steps: &[(&str, i32, &str)]) {
    let mut findings = Vec::new();
    for (line, exit, part) in steps {
        let (code, text) = run(bank, line);
        if code != *exit || !text.contains(part) {
            findings.push(format!("{line}: {code} {text}, not {exit} {part}"));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn a_kind_of_the_site_has_commands_history_undo_and_queries() {
    let bank = Bank::site();
    check(
        &bank,
        &[
            ("grant ls", 2, "unrecognized subcommand"),
            (
                "kind add Grant --field 'title:text! Title of the award' --field amount:amount \
                 --field ends:time --field 'state:open|closed' --field lead:user",
                0,
                "kind grant added",
            ),
            ("grant add --help", 0, "Title of the award"),
            ("grant add --amount 5", 2, "--title"),
            (
                "grant add --title Ribosomes --amount 5000 --state open",
                0,
                "grant 1 added: title Ribosomes, amount 5000",
            ),
            ("grant add --title Water --state lost", 2, "lost"),
            (
                "grant add --title Water --lead nosuch",
                4,
                "no user \"nosuch\"",
            ),
            (
                "grant set 1 --amount '' --state closed",
                0,
                "grant 1 changed: title Ribosomes, state closed",
            ),
            ("grant show 1 --csv", 0, "1,Ribosomes,,,closed,"),
            (
                "query 'Grant Query State==closed Show:=Id,Title' --csv",
                0,
                "1,Ribosomes",
            ),
            (
                "journal --kind record_set --csv",
                0,
                "grant=1 amount=5000.000>- state=open>closed",
            ),
            ("kind set grant --field title:number", 1, "1 record"),
            ("kind rm grant -y", 1, "1 record"),
            ("kind add balance", 1, "cannot be a name"),
            ("nosuch ls", 2, "unrecognized subcommand"),
        ],
    );
    let (_, added) = run(&bank, "journal --kind kind_add --csv -n --columns txn");
    check(&bank, &[(&format!("undo {}", added.trim()), 1, "1 record")]);
    let (_, journal) = run(&bank, "journal --kind record_set --csv -n --columns txn");
    check(
        &bank,
        &[
            (&format!("undo {}", journal.trim()), 0, "undid transaction"),
            ("grant show 1 --csv", 0, "1,Ribosomes,5000"),
            ("grant rm 1 -y", 0, "grant 1 removed"),
            ("grant ls", 0, "no grant"),
            ("query 'Grant Query'", 0, "nothing"),
            (
                "query 'Grant Query ShowHidden:=True Show:=Id,Deleted' --csv",
                0,
                "1,yes",
            ),
            ("kind rm grant -y", 0, "kind grant removed"),
            ("grant ls", 2, "unrecognized subcommand"),
            ("verify", 0, ""),
        ],
    );
}

#[test]
fn the_site_adds_fields_to_kinds_of_the_program() {
    let bank = Bank::site();
    check(
        &bank,
        &[
            (
                "kind add hardware --field 'serial:text!'",
                1,
                "optional fields",
            ),
            (
                "kind add hardware --field serial:text",
                0,
                "kind hardware added",
            ),
            (
                "hardware add xeon --processors 8 --nodes 4 --serial R-1",
                0,
                "serial R-1",
            ),
            ("hardware set 1 --serial R-2", 0, "serial R-2"),
            (
                "kind add grant --field ''",
                2,
                "a value is required for '--field",
            ),
            (
                "kind set hardware --field serial:text --field ''",
                1,
                "expected no empty text",
            ),
            ("hardware ls --csv", 0, "R-2"),
            (
                "query 'Hardware Query Serial==R-2 Show:=Name,Nodes,Factor' --csv",
                0,
                "xeon,4,1",
            ),
            ("kind rm hardware -y", 1, "1 record"),
            ("hardware set 1 --serial ''", 0, "hardware 1 changed"),
            ("kind rm hardware -y", 0, "removed"),
            ("hardware set 1 --serial R-3", 2, "--serial"),
            ("verify", 0, ""),
        ],
    );
}

/// Lists of the past, and the same bank after a restart.
#[test]
fn records_of_the_past_are_those_of_then() {
    let mut bank = Bank::site();
    check(
        &bank,
        &[
            (
                "kind add lab --keys name --field rooms:list",
                0,
                "kind lab added",
            ),
            (
                "lab add north --rooms a1 --rooms a2",
                0,
                "lab north added: rooms a1,a2",
            ),
            (
                "hardware add xeon --processors 8 --nodes 4",
                0,
                "hardware 1 added",
            ),
        ],
    );
    let at = "2026-01-02T00:00:00Z";
    bank.set_clock(T0 + 2 * 86_400);
    check(
        &bank,
        &[
            (
                "kind set lab --field rooms:list --field colour:text",
                0,
                "kind lab changed",
            ),
            ("lab set north --rooms b1", 0, "rooms b1"),
            ("hardware set 1 --nodes 5", 0, "nodes 5"),
        ],
    );
    bank.stop();
    bank.start();
    check(
        &bank,
        &[
            (&format!("lab show north --at {at} --csv"), 0, "\"a1,a2\""),
            ("lab show north --csv", 0, "north,b1"),
            ("lab ls --csv", 0, "name,rooms,colour\n"),
            (&format!("lab ls --at {at} --csv"), 0, "name,rooms\n"),
            (
                &format!("hardware ls --at {at} --csv --columns id,nodes -n"),
                0,
                "1,4",
            ),
            ("hardware ls --csv --columns id,nodes -n", 0, "1,5"),
            ("verify", 0, ""),
        ],
    );
}

/// A kind decides who sees and who changes its records.
#[test]
fn readers_and_writers_of_a_kind_are_held() {
    let bank = Bank::site();
    check(
        &bank,
        &[
            (
                "kind add visit --field who:text --change operators",
                0,
                "kind visit added",
            ),
            (
                "kind add audit --field note:text --see auditors",
                0,
                "kind audit added",
            ),
            ("audit add --note private", 0, "audit 1 added"),
            ("project add chem", 0, "chem"),
        ],
    );
    let token = |name: &str, role: &str| {
        let line = format!("token add {name} --until 2090-01-01 --role {role}");
        let (exit, text) = run(&bank, &line);
        assert_eq!(exit, 0, "{text}");
        let token = text.lines().find(|line| line.starts_with("bk_"));
        token.unwrap().to_owned()
    };
    let (operator, user) = (
        token("op", "operator -A chem"),
        token("joe", "user --client joe"),
    );
    let with = |token: &str, line: &str| {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = bank.bank_as(&[("BANK_TOKEN", token)], &words);
        (ran.exit, format!("{}{}", ran.stdout, ran.stderr))
    };
    for (token, line, exit) in [
        (&operator, "visit add --who amy", 0),
        (&operator, "visit rm 1 -y", 0),
        (&operator, "audit add --note x", 6),
        (&operator, "audit ls", 6),
        (&operator, "query 'Audit Query'", 6),
        (&operator, "kind add more", 6),
        (&user, "visit ls", 0),
        (&user, "visit add --who amy", 6),
        (&user, "audit show 1", 6),
        (&user, "kind ls", 0),
    ] {
        let (code, text) = with(token, line);
        assert_eq!(code, exit, "{line}: {text}");
    }
}

/// A removed kind leaves removed records; a bank with them starts, shows its past, and keeps their keys.
#[test]
fn a_removed_kind_leaves_its_records_readable() {
    let mut bank = Bank::site();
    check(
        &bank,
        &[
            (
                "kind add lab --keys name --field rooms:number --field open:flag",
                0,
                "kind lab added",
            ),
            ("lab add north --rooms 3 --open yes", 0, "rooms 3, open yes"),
            (
                "lab set north --rooms '' --open ''",
                0,
                "lab north changed\n",
            ),
            ("lab rm north -y", 0, "lab north removed"),
            (
                "kind set lab --keys number",
                1,
                "1 record, removed ones included",
            ),
            ("kind rm lab -y", 0, "kind lab removed"),
        ],
    );
    let (_, removal) = run(&bank, "journal --kind record_rm --csv -n --columns txn");
    bank.set_clock(T0 + 60);
    bank.stop();
    bank.start();
    check(
        &bank,
        &[
            (
                &format!("undo {}", removal.trim()),
                1,
                "its kind was removed since",
            ),
            ("hardware ls --at 2026-01-01T00:00:30Z", 0, ""),
            (
                "kind add lab --keys number",
                1,
                "1 record, removed ones included",
            ),
            (
                "kind add lab --keys name --field rooms:text",
                0,
                "kind lab added",
            ),
            ("lab add north --rooms a1", 0, "rooms a1"),
            ("verify", 0, ""),
        ],
    );
}

#[test]
fn projects_and_users_have_fields_of_the_site_undo_and_history() {
    let bank = Bank::new();
    check(
        &bank,
        &[
            (
                "kind add project --field cost_centre:text --field lead:user",
                0,
                "kind project added",
            ),
            ("kind add user --field projects:text", 1, "each name once"),
            ("kind add user --field orcid:text", 0, "kind user added"),
            ("kind add us_er", 1, "cannot be a name"),
            ("user set --help", 0, "--orcid"),
            ("project add --help", 0, "--cost-centre"),
            ("project add --help", 0, "Examples:"),
            (
                "user add dora --email d@example.org --aliases d1,d2 --orcid 0000",
                0,
                "user dora added",
            ),
            (
                "project add geo --cost-centre 4711 --lead dora --members dora,amy --machines colony",
                0,
                "project geo added: members amy,dora, accounts geo, machines colony",
            ),
            ("project show geo", 0, "4711"),
            ("query 'Project Query CostCentre==4711'", 0, "geo"),
            (
                "project set geo --parent chemistry --lead nobody",
                4,
                "nobody",
            ),
            (
                "project set geo --parent chemistry",
                0,
                "project geo changed: parent chemistry",
            ),
            ("journal --columns reason", 0, "part of chemistry"),
            ("journal --columns reason", 0, "email, aliases, orcid"),
            ("proj set geo --cost-centre 4712", 0, "project geo changed"),
            ("user rm dora --yes", 0, "user dora removed"),
            ("kind rm project --yes", 1, "in use"),
        ],
    );
}

/// Undoes the newest transaction.
fn undo_newest(bank: &Bank) -> (i32, String) {
    run(bank, &format!("undo {}", bank.transactions()))
}

#[test]
fn changes_of_projects_users_and_machines_are_undone() {
    let mut bank = Bank::new();
    let is = |line: &str, undone: i32, after: &str, shown: &str| {
        let (code, text) = run(&bank, line);
        assert_eq!(code, 0, "{line}: {text}");
        let (code, text) = undo_newest(&bank);
        assert_eq!(code, undone, "undo of {line}: {text}");
        let (_, text) = run(&bank, after);
        assert!(text.contains(shown), "undo of {line}: {text}");
    };
    let show = "project show chemistry --format json";
    is("machine add green", 0, "machine show green", "no machine");
    is(
        "project set chemistry --machines colony --description d",
        0,
        show,
        "\"machines\": []",
    );
    is(
        "user add eve --aliases e1",
        0,
        "user add e1",
        "user e1 added",
    );
    is(
        "user set amy --aliases a1 --default-project chemistry",
        0,
        "user show amy --format json",
        "\"default_project\": null",
    );
    let (code, text) = run(&bank, "user add fay");
    assert_eq!(code, 0, "{text}");
    let added = bank.transactions();
    run(&bank, "project members add chemistry fay");
    let (code, text) = run(&bank, &format!("undo {added}"));
    assert!(code == 1 && text.contains("memberships"), "{text}");
    // A removal takes the memberships along, and its undo brings them back with their roles.
    run(&bank, "project members role chemistry fay manager");
    let members = "project members ls chemistry";
    let (_, before) = run(&bank, members);
    assert!(before.contains("fay"), "{before}");
    is("user rm fay --yes", 0, members, &before);
    let removed = bank.transactions();
    assert_eq!(run(&bank, "user rm fay --yes").0, 0);
    run(&bank, "user add fay");
    let (code, text) = run(&bank, &format!("undo {}", removed + 1));
    assert!(code == 1 && text.contains("later command"), "{text}");
    assert!(!run(&bank, members).1.contains("fay"));
    // An account and members were made too.
    is("project add x", 1, "project show x", "x");
    is(
        "project add y --no-account",
        0,
        "project show y",
        "no project",
    );
    run(&bank, "project add z --no-account --members amy");
    run(&bank, "project rm z --yes");
    let (_, text) = run(&bank, "project add z --no-account");
    assert!(!text.contains("amy"), "{text}");
    run(&bank, "project set chemistry --machines colony");
    let (code, text) = run(&bank, "machine rm colony --yes");
    assert_eq!(code, 0, "{text}");
    assert!(run(&bank, show).1.contains("\"machines\": []"));
    assert_eq!(undo_newest(&bank).0, 0);
    assert!(run(&bank, show).1.contains("\"colony\""));
    // Everyone reads the journal: it has no personal data.
    run(
        &bank,
        "user set amy --email amy@example.org --aliases am@idp.example",
    );
    let (_, journal) = run(&bank, "journal");
    let words: Vec<&str> = journal.split_whitespace().collect();
    assert!(words.join(" ").contains("email, aliases"), "{journal}");
    assert!(!journal.contains("example"), "{journal}");
    bank.verify();
}
