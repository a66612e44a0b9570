//! The document that describes the API is valid, and the daemon does what it says: clients that
//! others made of it find nothing else.

mod proxy;

use std::path::PathBuf;
use std::process::Command;

use crate::harness::{Address, Bank, Ran, Request, exchange, python, skip, workspace};
use proxy::Proxy;

/// What every run generates from, unless `BANK_API_SEED` names another.
const SEED: u64 = 20_260_101;
/// Seconds that the generated client has, unless `BANK_API_SECONDS` gives more.
const SECONDS: u64 = 60;

/// A Python with a package; a line that says so where there is none.
fn peer(module: &str, package: &str) -> Option<PathBuf> {
    let python = python(module);
    if python.is_none() {
        let why = format!("no Python with {package} (BANK_TEST_PYTHON)");
        skip(package, &why);
    }
    python
}

/// A number from the environment.
fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var_os(name).and_then(|text| text.into_string().ok());
    given.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn the_document_is_served_as_it_is_committed_to_everybody() {
    let bank = Bank::new();
    let tcp = Address::Tcp(bank.tcp());
    let served = exchange(&tcp, &Request::get("/api/v1/openapi.json")).unwrap();
    assert_eq!(served.status, 200);
    let committed = workspace().join("docs/reference/openapi.json");
    let is_same = served.body == std::fs::read(committed).unwrap();
    assert!(is_same, "the daemon serves another document");
    let page = exchange(&tcp, &Request::get("/api/v1/docs")).unwrap();
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").unwrap_or_default();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
}

#[test]
fn the_document_is_valid_openapi() {
    let Some(python) = peer("openapi_spec_validator", "openapi-spec-validator") else {
        return;
    };
    let mut command = Command::new(python);
    command
        .args(["-m", "openapi_spec_validator", "--schema", "3.1"])
        .arg(workspace().join("docs/reference/openapi.json"));
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
}

/// What the client may come upon: names of one letter are found by chance.
fn furnish(bank: &Bank) {
    for line in [
        "user add a",
        "project add a --members a",
        "machine add a",
        "deposit a 1000",
        "rate set vbr Processors 1",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        bank.bank_ok(&words);
    }
}

#[test]
fn a_generated_client_finds_no_fault_and_nothing_undocumented() {
    let Some(python) = peer("schemathesis", "schemathesis") else {
        return;
    };
    let mut bank = Bank::new();
    furnish(&bank);
    let proxy = Proxy::start(bank.socket());
    let (seed, seconds) = (
        number("BANK_API_SEED", SEED),
        number("BANK_API_SECONDS", SECONDS),
    );
    println!("seed {seed}, {seconds} s");
    let mut command = Command::new(python);
    command
        .args(["-m", "schemathesis.cli", "run"])
        .arg(format!("http://{}/api/v1/openapi.json", proxy.address()))
        .args(["--checks", CHECKS])
        .args(["--phases", "examples,coverage,fuzzing"])
        .args(["--seed", &seed.to_string()])
        .args(["--max-time", &seconds.to_string()])
        .args(["--generation-database", "none", "--no-color"])
        // On the socket the kernel says who calls.
        .args(["--generation-with-security-parameters", "false"])
        .args(["--max-failures", "20"])
        .current_dir(bank.folder());
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(made(&ran.stdout) > 500, "{}", ran.stdout);
    drop(proxy);
    bank.verify();
}

/// How many requests the client says that it made: `2510 generated, …`.
fn made(text: &str) -> u64 {
    let before = text.split(" generated, ").next().unwrap_or_default();
    let number = before.split_whitespace().last().unwrap_or_default();
    number.parse().unwrap_or(0)
}

/// What is looked for. Not whether all that the schemas allow is taken: the rules of the ledger know
/// more than a schema.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance,\
                      missing_required_header,unsupported_method,\
                      allow_header_conformance,negative_data_rejection";
