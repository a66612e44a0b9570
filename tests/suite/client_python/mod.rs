//! The Python package `bank-client` against a real daemon: its own tests, its examples, its queue.

mod calls;
pub(crate) mod peer;
mod queue;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Bank, Ran, Request, python, skip, workspace};

/// The folder of the package.
fn package() -> PathBuf {
    workspace().join("bank-api/python")
}

/// A Python with the libraries of the package; a line that says so where there is none.
fn interpreter() -> Option<PathBuf> {
    let python = python("http_message_signatures");
    if python.is_none() {
        let why = "no Python with http-message-signatures (BANK_TEST_PYTHON)";
        skip("bank-client", why);
    }
    python
}

/// A command of Python that finds the package, and a bank by `address`.
fn command(python: &Path, address: &str) -> Command {
    let mut command = Command::new(python);
    command
        .env("PYTHONPATH", package().join("src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("BANK_SERVER", address)
        .env_remove("BANK_KEY_ID")
        .env_remove("BANK_KEY_FILE")
        .env_remove("BANK_TOKEN");
    command
}

/// The address of the Unix socket.
fn socket(bank: &Bank) -> String {
    format!("unix:{}", bank.socket().display())
}

/// The amount of an account.
fn amount_of(bank: &Bank, account: &str) -> String {
    let target = format!("/api/v1/accounts/{account}");
    let answer = bank.over_socket(&Request::get(&target));
    let account: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    account["amount"].as_str().unwrap().to_owned()
}

/// Runs an example of the package.
fn example(python: &Path, address: &str, name: &str, words: &[&str]) -> Ran {
    let mut command = command(python, address);
    command
        .arg(package().join("examples").join(name))
        .args(words);
    Ran::of(&mut command, b"")
}

#[test]
fn the_tests_of_the_package_pass() {
    let Some(python) = interpreter() else { return };
    let mut command = command(&python, "");
    command
        .args(["-W", "error", "-m", "unittest", "discover"])
        .args(["-t", ".", "tests"])
        .current_dir(package());
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("\nOK\n"), "{}", ran.stderr);
}

#[test]
fn the_types_of_the_package_are_sound() {
    let Some(python) = python("mypy, http_message_signatures") else {
        skip("mypy", "no Python with mypy (BANK_TEST_PYTHON)");
        return;
    };
    let mut command = command(&python, "");
    command
        .args(["-m", "mypy", "--strict", "--cache-dir", "/dev/null"])
        .args(["src/bank_client", "tools/generate.py"])
        .args(
            ["deposit_and_balance", "charge_through_queue", "usage_csv"]
                .map(|name| format!("examples/{name}.py")),
        )
        .env("MYPYPATH", "src")
        .current_dir(package());
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn the_example_deposits_and_prints_the_balance() {
    let Some(python) = interpreter() else { return };
    let mut bank = Bank::new();
    let name = "deposit_and_balance.py";
    let ran = example(&python, &socket(&bank), name, &["chemistry", "250"]);
    let expected = "deposited 250 credits into chemistry\n\
                    chemistry: 100250 credits available, 0 held\n";
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, expected), "{ran:?}");
    let ran = example(&python, &socket(&bank), name, &["nowhere", "250"]);
    assert_eq!(ran.exit, 1, "{ran:?}");
    assert!(ran.stderr.starts_with("refused: not_found: "), "{ran:?}");
    bank.verify();
}

#[test]
fn the_example_charges_a_job_through_an_outage() {
    let Some(python) = interpreter() else { return };
    let mut bank = Bank::new();
    let (address, folder) = (socket(&bank), bank.folder().join("queue"));
    let folder = folder.to_str().unwrap();
    let charge = |job: &str| {
        let words = [folder, job, "chemistry", "amy", "colony", "4", "100"];
        let ran = example(&python, &address, "charge_through_queue.py", &words);
        assert_eq!(ran.exit, 0, "{ran:?}");
        ran
    };
    assert_eq!(charge("1").stdout, "1 done, 0 refused, 0 waiting\n");
    bank.kill();
    let away = charge("2");
    assert!(away.stderr.starts_with("1 waiting: "), "{away:?}");
    bank.start();
    // The job that was charged before is not charged again.
    assert_eq!(charge("1").stdout, "2 done, 0 refused, 0 waiting\n");
    assert_eq!(amount_of(&bank, "chemistry"), "99200");
    bank.verify();
}

#[test]
fn the_example_writes_usage_as_csv() {
    let Some(python) = interpreter() else { return };
    let mut bank = Bank::new();
    for job in ["1", "2"] {
        bank.bank_ok(&[
            "charge",
            job,
            "--project",
            "chemistry",
            "--user",
            "amy",
            "--machine",
            "colony",
            "--procs",
            "4",
            "--duration",
            "100",
        ]);
    }
    let words = ["2025-12-01T00:00:00Z", "2026-02-01T00:00:00Z"];
    let ran = example(&python, &socket(&bank), "usage_csv.py", &words);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((ran.exit, lines.len()), (0, 3), "{ran:?}");
    assert!(lines[0].starts_with("record_id,"), "{ran:?}");
    let rows = &lines[1..];
    assert!(
        rows.iter().all(|row| row.contains(",chemistry,colony,")),
        "{ran:?}"
    );
    bank.verify();
}

/// The blocks of Python of a document, one after another.
fn blocks(document: &str) -> String {
    let text = std::fs::read_to_string(workspace().join(document)).unwrap();
    let parts = text.split("```python\n").skip(1);
    parts
        .map(|part| part.split("```").next().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_guide_can_be_pasted() {
    let Some(python) = interpreter() else { return };
    let mut bank = Bank::site();
    for line in [
        "user add amy",
        "project add chemistry --members amy",
        "machine add colony",
        "deposit chemistry 100",
    ] {
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    }
    let (key, spool) = (bank.data().join("keys/admin"), bank.folder().join("spool"));
    let token = bank.folder().join("bank.token");
    let text = crate::auth::token::token(&bank, "portal", &["--role", "admin"]);
    std::fs::write(&token, text).unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let tcp = bank.tcp();
    let program = ["docs/how-to/clients-python.md", "bank-api/python/README.md"]
        .map(blocks)
        .join("\n")
        .replace("/var/lib/bankd/bankd.sock", bank.socket().to_str().unwrap())
        .replace("\"portal\"", "\"admin\"")
        // A token goes over TLS, which the daemon leaves to a proxy, or over the socket.
        .replace("https://bank1.site", &socket(&bank))
        .replace("/etc/portal/bank.token", token.to_str().unwrap())
        .replace("/etc/portal/bank.key", key.to_str().unwrap())
        .replace("/var/spool/portal", spool.to_str().unwrap())
        .replace("bank1.site:7113", &tcp)
        .replace("bank2.site:7113", &tcp);
    let mut command = command(&python, "");
    command.args(["-W", "error", "-c", &program]);
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{ran:?}\n{program}");
    // Deposits of 250.5 from 2027 on, and of 250 twice. The charge is 16.
    assert_eq!(amount_of(&bank, "chemistry"), "584.000");
    bank.verify();
}
