//! Who may send usage files, over which way, and for which machines.

use serde_json::json;

use super::{HEAD, file, lines, watching};
use crate::harness::{Bank, KEY_ID, Ran};

/// Runs `bank` over TCP with the scheduler's key.
fn signed(bank: &Bank, arguments: &[&str]) -> Ran {
    let server = format!("http://{}", bank.tcp());
    let key = bank.key_file();
    let way = ["--server", &server, "--key-id", KEY_ID, "--key-file"];
    bank.bank(&[arguments, &way, &[key.to_str().unwrap()]].concat())
}

#[test]
fn a_scheduler_sends_signed_and_for_its_machine_only() {
    // A piece of every size has its own digest and signature.
    let mut bank = watching(&[("BANKD_HTTP_BODY_LIMIT", "1024")]);
    bank.bank_ok(&["machine", "add", "other", "--mode", "track"]);
    let own = file(&bank, "own.sacct", format!("{HEAD}{}", lines(0, 30)));
    let ran = signed(&bank, &["import", "sacct", &own, "--source", "s"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("in the bank, from s: 30 "),
        "{}",
        ran.stdout
    );
    // What a record names as its cluster is another's.
    let foreign = lines(100, 2).replace("|colony|", "|other|");
    let foreign = file(&bank, "foreign.sacct", format!("{HEAD}{foreign}"));
    let ran = signed(&bank, &["import", "sacct", &foreign, "--source", "s"]);
    assert!(
        ran.stdout.contains("in the bank, from s: 2 refused"),
        "{}",
        ran.stdout
    );
    let ran = signed(&bank, &["import", "sacct", &own, "-m", "other"]);
    assert_eq!(ran.exit, 6, "{}", ran.stderr);
    ran.expect_stderr(&["not this key's"]);
    // Records without a cluster are of the key's own machine.
    let bare: String = lines(200, 1).replace("|colony|", "||");
    let bare = file(&bank, "bare.sacct", format!("{HEAD}{bare}"));
    let ran = signed(&bank, &["import", "sacct", &bare, "--source", "s"]);
    assert!(
        ran.stdout.contains("in the bank, from s: 1 "),
        "{}",
        ran.stdout
    );
    let ran = signed(&bank, &["quarantine", "ls"]);
    assert_eq!(ran.exit, 6, "{}", ran.stderr);
    let refused = bank.json(&["quarantine", "ls", "--source", "s"]);
    assert_eq!(refused["items"].as_array().unwrap().len(), 2, "{refused}");
    assert_eq!(refused["items"][0]["reason"], json!("not_allowed"));
    bank.verify();
    let machines = "SELECT machine, count(*) FROM usage_identity GROUP BY machine";
    assert_eq!(bank.query(machines), [["colony", "31"]]);
}
