//! `docs/how-to/requests.md`: every command of the page, by the person who asks and by the one who answers.

use std::process::Command;

use crate::auth::token::token;
use crate::harness::{Bank, Ran, programs, workspace};

/// The shell blocks of the page, in order.
fn blocks(page: &str) -> Vec<&str> {
    let parts = page.split("```sh\n").skip(1);
    parts
        .map(|part| part.split("```").next().unwrap())
        .collect()
}

/// Every code of the page that is a command of `bank` with values.
fn inline(page: &str) -> Vec<&str> {
    let codes = page.split('`').skip(1).step_by(2);
    codes
        .filter(|code| code.starts_with("bank ") && !code.contains('\n'))
        .collect()
}

/// Runs commands in a shell, which must all succeed; empty for the administrator.
fn run(bank: &Bank, token: &str, script: &str) -> String {
    let folder = programs().folder().display();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut shell = Command::new("bash");
    shell
        .current_dir(bank.folder())
        .env_clear()
        .env("PATH", format!("{folder}:{}", path.display()))
        .env("HOME", bank.folder())
        .env("TZ", "UTC")
        .env("BANK_SERVER", format!("unix:{}", bank.socket().display()));
    if !token.is_empty() {
        shell.env("BANK_TOKEN", token);
    }
    shell.args(["-c", &format!("set -euo pipefail\n{script}")]);
    let ran = Ran::of(&mut shell, b"");
    assert_eq!(ran.exit, 0, "{script}\n{}\n{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[test]
fn every_command_of_the_page_runs() {
    let page = std::fs::read_to_string(workspace().join("docs/how-to/requests.md")).unwrap();
    let mut bank = Bank::new();
    // An investigator of chemistry who is a user of the bank.
    let roles = [
        "--role",
        "user",
        "--role",
        "pi",
        "-A",
        "chemistry",
        "--client",
        "amy",
    ];
    let amy = token(&bank, "amys", &roles);
    bank.bank_ok(&["deposit", "chemistry", "500", "--end", "2080-01-01"]);
    let allocations = bank.items(&["allocation", "ls", "-a", "chemistry"]);
    let ends = allocations
        .iter()
        .find(|row| row["until"].is_string())
        .unwrap();
    // The numbers of the page, in the order of its requests.
    let mut numbers = vec![(" 12 ".to_owned(), format!(" {} ", ends["id"]))];
    let [ask, own, answer] = blocks(&page)[..] else {
        panic!("the page has other blocks: {page}");
    };
    for command in ask.lines() {
        let command = numbers
            .iter()
            .fold(command.to_owned(), |text, (theirs, ours)| {
                text.replace(theirs, ours)
            });
        let before = bank.transactions();
        run(&bank, &amy, &format!("{command} --dry-run"));
        assert_eq!(bank.transactions(), before, "{command}");
        let printed = run(&bank, &amy, &format!("{command} --json"));
        let made: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(made["state"], "open", "{made}");
        numbers.push((
            format!(" {}", 29 + numbers.len()),
            format!(" {}", made["id"]),
        ));
    }
    assert_eq!(numbers.len(), 5, "{ask}");
    let ours = |script: &str| {
        let [(_, _), numbers @ ..] = &numbers[..] else {
            return script.to_owned();
        };
        // First to letters, so that a number of ours is not one of the page.
        let letters = numbers
            .iter()
            .zip('A'..)
            .fold(script.to_owned(), |text, ((theirs, _), letter)| {
                text.replace(theirs.as_str(), &format!(" @{letter}"))
            });
        numbers
            .iter()
            .zip('A'..)
            .fold(letters, |text, ((_, own), letter)| {
                text.replace(&format!(" @{letter}"), own)
            })
    };
    let printed = run(&bank, &amy, &ours(own));
    assert!(printed.contains("withdrawn"), "{printed}");
    let money = bank.figures("chemistry").0;
    let printed = run(&bank, "", &ours(answer));
    assert!(
        printed.contains("approved") && printed.contains("rejected"),
        "{printed}"
    );
    assert_eq!(bank.figures("chemistry").0, money + 5000);
    for command in inline(&page)
        .into_iter()
        .filter(|code| code.contains("--kind"))
    {
        // The reason is wrapped.
        let journal = run(&bank, "", command);
        let journal = journal.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            journal.contains("Second half of the simulations"),
            "{journal}"
        );
    }
    bank.verify();
}
