//! Several servers in order, and calls that are repeated while a daemon starts again.

use std::net::TcpListener;
use std::time::Duration;

use bank_client::v1::NewDeposit;
use bank_client::{Client, Retry};

use crate::harness::{Bank, Documents, KEY_ID};

fn deposit(amount: &str) -> NewDeposit {
    NewDeposit {
        name: "astro".into(),
        amount: amount.into(),
        ..NewDeposit::default()
    }
}

fn balance(bank: &Bank) -> String {
    let rows = bank.bank_ok(&[
        "balance",
        "--account",
        "astro",
        "--csv",
        "--columns",
        "balance",
    ]);
    rows.lines().nth(1).unwrap().to_owned()
}

/// The daemon is killed and started again while a call waits: the call is repeated with its key, and a repeat by
/// hand with the same key moves no money.
#[test]
fn a_repeated_call_keeps_its_key_over_a_killed_daemon() {
    let mut bank = Bank::new();
    let client = Client::builder()
        .servers([format!("unix:{}", bank.socket().display())])
        .retry(Retry {
            repeats: 1000,
            first_wait: Duration::from_millis(20),
            longest_wait: Duration::from_millis(100),
            total: Duration::from_mins(2),
        })
        .build()
        .unwrap();
    client.deposit(&deposit("1"), "before").unwrap();
    bank.kill();
    let receipt = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| client.deposit(&deposit("7"), "over"));
        bank.start();
        waiting.join().unwrap().unwrap()
    });
    assert_eq!(balance(&bank), "50008");
    let again = client.deposit(&deposit("7"), "over").unwrap();
    assert_eq!(again.transaction, receipt.transaction);
    let again = client.deposit(&deposit("1"), "before").unwrap();
    assert_eq!(again.amount, "1");
    assert_eq!(balance(&bank), "50008");
    // A refused command is answered at once.
    let error = client.deposit(&deposit("x"), "odd").unwrap_err();
    assert_eq!(error.code(), Some("bad_amount_syntax"), "{error}");
    bank.verify();
}

/// A signed call over TCP: the first server is away, the second one answers and is kept.
#[test]
fn the_second_server_is_used_if_the_first_is_away() {
    let bank = Bank::new();
    let second = format!("http://{}", bank.tcp());
    let client = Client::builder()
        .servers(["http://127.0.0.1:1".to_owned(), second.clone()])
        .key(KEY_ID, bank.key_file())
        .build()
        .unwrap();
    let quotes = client.status().unwrap();
    assert!(!quotes.version.is_empty());
    assert_eq!(client.server(), second);
}

/// `bank` with a list: in its setting, its variable and its flag.
#[test]
fn the_command_line_takes_a_list_of_servers() {
    let bank = Bank::new();
    let socket = format!("unix:{}", bank.socket().display());
    let servers = format!("unix:{}/none,{socket}", bank.folder().display());
    let ran = bank.bank_as(&[("BANK_SERVER", &servers)], &["deposit", "astro", "3"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let ran = bank.bank_as(
        &[("BANK_SERVER", "unix:/none")],
        &["--server", &servers, "balance"],
    );
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let file = bank.folder().join("bank.toml");
    std::fs::write(&file, format!("server = {servers:?}\n")).unwrap();
    let file = file.to_str().unwrap();
    let ran = bank.bank_as(&[("BANK_SERVER", ""), ("BANK_CONFIG", file)], &["balance"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(balance(&bank), "50003");
    // None answers: the last failure, and the key of a command only if one may have been executed.
    let ran = bank.bank_as(
        &[("BANK_SERVER", "unix:/none/a,unix:/none/b")],
        &["deposit", "astro", "3"],
    );
    assert_eq!(ran.exit, 5);
    assert!(ran.stderr.contains("unix:/none/"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("--key"), "{}", ran.stderr);
    let many = vec!["unix:/none"; 17].join(",");
    let ran = bank.bank_as(&[("BANK_SERVER", &many)], &["balance"]);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr
            .contains("17 server addresses; a list has 1 to 16"),
        "{}",
        ran.stderr
    );
}

/// The scripts of the scheduler with a list: documents arrive although the first server is away or hangs, and
/// wait in the spool only if no server accepts them.
#[test]
fn scripts_try_the_servers_in_order() {
    let mut bank = Bank::new();
    let documents = Documents::own();
    let socket = format!("unix:{}", bank.socket().display());
    let list = format!("server=unix:{}/none,{socket}", bank.folder().display());
    let call = |bank: &Bank, event: &str, number: u32, servers: &str| {
        let call = bank.call(event).set(servers);
        call.body(&documents.get(number)).run()
    };
    call(&bank, "reserve", 3, &list).expect(0, "");
    // A listener that never answers: the next server gets its part of the time.
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = hanging.local_addr().unwrap().port();
    let list = format!("server=http://127.0.0.1:{port},{socket}");
    let ran = bank
        .call("charge")
        .set(list)
        .set(format!("key_id={KEY_ID}"))
        .set(format!("key_file={}", bank.key_file().display()))
        .set("timeout_s=4")
        .body(&documents.get(4))
        .run();
    ran.expect(0, "");
    assert_eq!(bank.spooled(), 0, "{}", ran.stderr);
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 28_800)]);
    let list = format!("server=unix:{}/none,{socket}", bank.folder().display());
    bank.stop();
    call(&bank, "charge", 4, &list).expect(0, "");
    assert_eq!(bank.spooled(), 1);
    bank.start();
    bank.call("drain").set(list).run().expect(0, "");
    assert_eq!(bank.spooled(), 0);
    bank.verify();
}
