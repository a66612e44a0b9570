//! Gold's commands that create, modify and delete, and `goldsh`, against the real daemon.

use std::collections::BTreeSet;

use super::gold::{bank, begins, exits, prints, run};
use crate::harness::{shared_folder, skip};

#[test]
fn records_are_created_modified_and_deleted() {
    let mut bank = bank();
    for (line, exit, expected) in [
        (
            "gmkuser -n Eve_E -E e@x.example eve",
            0,
            "Successfully created 1 User\n",
        ),
        (
            "gmkmachine -d a_cluster ant",
            0,
            "Successfully created 1 Machine\n",
        ),
        ("gchuser -n Eve eve", 0, "Successfully modified 1 Users\n"),
        (
            "gchmachine -d small ant",
            0,
            "Successfully modified 1 Machines\n",
        ),
        (
            "gchproject -d chemistry chem",
            0,
            "Successfully modified 1 Projects\n",
        ),
        (
            "gchproject --addUsers eve chem",
            0,
            "Successfully created 1 ProjectUser\n",
        ),
        (
            "gchproject --delUsers eve chem",
            0,
            "Successfully deleted 1 ProjectUsers\n",
        ),
        (
            "gchaccount -d x chem",
            0,
            "Successfully modified 1 Accounts\n",
        ),
        (
            "gchaccount --addProjects biology 4",
            0,
            "Successfully created 1 AccountProject\n",
        ),
        (
            "gchaccount --delProjects biology 4",
            0,
            "Successfully deleted 1 AccountProjects\n",
        ),
        (
            "gmkaccount -n extra -p biology -u eve",
            0,
            "Successfully created Account 5\n",
        ),
    ] {
        exits(&bank, line, exit, expected);
    }
    prints(
        &bank,
        "glsuser eve",
        "\
Name Active CommonName PhoneNumber EmailAddress DefaultProject Description
---- ------ ---------- ----------- ------------ -------------- -----------
eve  True   Eve                    e@x.example
",
    );
    begins(
        &bank,
        "gmkproject -u eve -d geology geo",
        "Successfully created 1 Project\n",
    );
    prints(
        &bank,
        "glsproject geo --raw --quiet --show Name,Users,Description",
        "geo|eve|geology\n",
    );
    // One of the members does not exist: the others are added, and the exit code reports the failure.
    for (line, exit) in [
        ("gmkproject -u eve,nosuch,amy half", 74),
        ("gchproject --addUsers nosuch,bob half", 74),
    ] {
        let ran = run(&bank, line);
        assert_eq!(ran.exit, exit, "{line}: {}{}", ran.stdout, ran.stderr);
        ran.expect_stderr(&["User nosuch was not added to Project half."]);
    }
    prints(
        &bank,
        "glsproject half --raw --quiet --show Name,Users",
        "half|amy,bob,eve\n",
    );
    begins(
        &bank,
        "gdeposit -a extra 5",
        "Successfully deposited 5.000 SU into account 5\n",
    );
    let number = run(&bank, "glsalloc -a extra --raw --quiet --show Id").stdout;
    let number = number.lines().last().unwrap_or_default().to_owned();
    prints(
        &bank,
        &format!("gchalloc -e 2027-06-30 {number}"),
        "Successfully modified 1 Allocations\n",
    );
    // An account with money stays.
    let kept = run(&bank, "grmaccount extra");
    assert_eq!(kept.exit, 74, "{}", kept.stdout);
    kept.expect_stderr(&["still holds 5.000"]);
    begins(
        &bank,
        "gwithdraw -a extra 5",
        "Successfully withdrew 5.000 SU",
    );
    for line in [
        "grmaccount extra",
        "grmaccount geo",
        "grmmachine ant",
        "grmproject geo",
    ] {
        begins(&bank, line, "Successfully deleted 1 ");
    }
    let user = run(&bank, "grmuser eve");
    assert!([0, 8].contains(&user.exit), "{}", user.stderr);
    assert!(
        user.stdout.starts_with("Successfully deleted 1 Users"),
        "{}",
        user.stdout
    );
    let password = run(&bank, "gchpasswd amy");
    assert_eq!(password.exit, 74);
    password.expect_stderr(&["bank key"]);
    bank.0.verify();
}

#[test]
fn the_shell_of_gold_queries_and_changes() {
    let mut bank = bank();
    for (line, exit, expected) in [
        (
            "goldsh Project Query Name==chem Show:=Name,Active",
            0,
            "Name Active\n---- ------\nchem True\n",
        ),
        (
            "goldsh User Query (Name==amy_||_Name==bob) Show:=\"Sort(Name)\" --raw --quiet",
            0,
            "amy\nbob\n",
        ),
        (
            "goldsh User Modify Name==amy CommonName=Amy",
            0,
            "Successfully modified 1 Users\n",
        ),
        (
            "goldsh User Query Name==amy Show:=CommonName --raw --quiet",
            0,
            "Amy\n",
        ),
        (
            "goldsh User Query Name==amy Show:=\"Name=Login,CommonName=Person\"",
            0,
            "Login Person\n----- ------\namy   Amy\n",
        ),
        (
            "goldsh Project Query Name==chem Show:=\"Count(Name)=Projects\"",
            0,
            "Projects\n--------\n1\n",
        ),
    ] {
        exits(&bank, line, exit, expected);
    }
    for (line, exit, message) in [
        (
            "goldsh User Query Sort(Name)",
            77,
            "An operator was expected ((Name)).\n",
        ),
        (
            "goldsh User Query Show:=\"Name=\"",
            77,
            "The selection is malformed (Name=).\n",
        ),
        ("goldsh Nope Query", 185, "Nope is not a valid object\n"),
        ("goldsh Project", 78, "An action must be specified.\n"),
    ] {
        let ran = run(&bank, line);
        assert_eq!((ran.exit, ran.stderr.as_str()), (exit, message), "{line}");
        assert_eq!(ran.stdout, "", "{line}");
    }
    let show = "Show:=GroupBy(Active)=InUse,Count(Name)=Projects";
    let found = bank
        .0
        .json(&["query", "Project", "Query", "Name==chem", show]);
    assert_eq!(found["columns"][0]["name"], "InUse", "{found}");
    assert_eq!(found["columns"][1]["name"], "Projects", "{found}");
    bank.0.verify();
}

/// Every command of Gold's clients that the specification or the captured calls name has a link.
#[test]
fn every_command_of_golds_clients_has_a_link() {
    let Some(shared) = shared_folder() else {
        return skip("shared", "no list of Gold's commands");
    };
    let (_bank, links) = bank();
    let linked: BTreeSet<String> = std::fs::read_dir(&links)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut named = BTreeSet::new();
    // The first column of the table of commands; Gold's daemon is none of them.
    let table = std::fs::read_to_string(shared.join("spec/ledger.md")).unwrap();
    for line in table.lines().filter(|line| line.starts_with("| g")) {
        let first = line.split('|').nth(1).unwrap();
        let words = first.split(|c: char| !c.is_ascii_lowercase());
        let is_command = |word: &&str| word.len() > 3 && word.starts_with('g') && *word != "goldd";
        named.extend(words.filter(is_command).map(str::to_owned));
    }
    let captured = shared.join("spec/gold-captures/gold22-clients.txt");
    let captured = std::fs::read_to_string(captured).unwrap();
    let titles = captured
        .lines()
        .filter_map(|line| line.strip_prefix("### "));
    named.extend(titles.filter_map(|title| {
        let word = title.split_whitespace().next()?;
        word.starts_with('g').then(|| word.to_owned())
    }));
    assert!(named.len() > 38, "{named:?}");
    let missing: Vec<&String> = named.difference(&linked).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
