//! What must not come between two banks: changes of partner records, corrections at the wrong bank, usage without an
//! account, and lost messages. No difference is left that a settlement does not show.

use super::link::State;
use super::world::{World, job, name};
use crate::harness::{Bank, Ran, Request, T0, amount, programs, text, until};
use std::process::Command;

fn project(bank: usize) -> String {
    format!("chemistry@{}", name(bank))
}

/// The number of the last transaction of a job with this operation.
fn last(bank: &Bank, id: &str, op: &str) -> String {
    let rows = bank.items(&["journal", "-j", id]);
    let row = rows.iter().rev().find(|row| text(row, "op") == op).unwrap();
    row["transaction"].as_i64().unwrap().to_string()
}

#[track_caller]
fn refused(bank: &Bank, arguments: &[&str], parts: &[&str]) {
    let ran = bank.bank(arguments);
    assert_ne!(ran.exit, 0, "{arguments:?}: {}", ran.stdout);
    for part in parts {
        assert!(ran.stderr.contains(part), "no {part:?} in {}", ran.stderr);
    }
}

#[test]
fn a_partner_keeps_its_account_and_its_record() {
    let mut world = World::new(2, &[]);
    world.banks[0].set_clock(T0 + 1000);
    world.banks[0]
        .script("charge", &job("Moab.1", &project(1), 100))
        .expect(0, "");
    world.deliver();
    let (bank, partner) = (&world.banks[0], name(1));
    bank.bank_ok(&["project", "add", "owed2"]);
    bank.bank_ok(&["deposit", "owed2", "0", "--limit", "50000", "--new"]);
    let set = ["partner", "set", &partner, "--account"];
    refused(
        bank,
        &[&set[..], &["owed2"]].concat(),
        &["owed-by-1", "stays once it is set"],
    );
    refused(
        bank,
        &["partner", "rm", &partner, "-y"],
        &["messages", "--active false"],
    );
    let add = ["partner", "add", "other.example", "--account"];
    refused(
        bank,
        &[&add[..], &["nosuch"]].concat(),
        &["no account \"nosuch\""],
    );
    refused(
        bank,
        &[&add[..], &["owed-by-1"]].concat(),
        &["an account of its own", "bank1.example"],
    );
    // One without messages has no such limit.
    bank.bank_ok(&[&add[..], &["owed2"]].concat());
    refused(
        bank,
        &["account", "rm", "owed2", "-y"],
        &["partner bank other.example"],
    );
    bank.bank_ok(&["partner", "rm", "other.example", "-y"]);
    refused(
        &world.banks[1],
        &["partner", "rm", &name(0), "-y"],
        &["messages"],
    );
    refused(
        bank,
        &["project", "add", "new@bank1.example"],
        &["partner bank"],
    );
    // What follows arrives, also while the partner is switched off.
    bank.bank_ok(&["partner", "set", &partner, "--active", "false"]);
    bank.bank_ok(&["refund", "Moab.1", "50"]);
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_850);
    world.settle();
}

#[test]
fn a_job_that_runs_keeps_its_partner() {
    let world = World::new(2, &[]);
    let bank = &world.banks[0];
    bank.script("reserve", &job("Moab.1", &project(1), 100))
        .expect(0, "");
    refused(bank, &["partner", "rm", &name(1), "-y"], &["is used by"]);
    refused(
        &world.banks[1],
        &["partner", "rm", &name(0), "-y"],
        &["is used by"],
    );
    // Its lien is that of two banks.
    for bank in &world.banks {
        let lien = bank.liens()[0]["id"].as_i64().unwrap().to_string();
        let extend = ["lien", "extend", &lien, "--until", "2026-01-03"];
        refused(bank, &extend, &["held by two banks"]);
    }
}

#[test]
fn a_charge_is_undone_where_the_job_ran() {
    let mut world = World::new(2, &[]);
    world.banks[0].set_clock(T0 + 1000);
    world.banks[1].set_clock(T0 + 1000);
    world.banks[0]
        .script("charge", &job("Moab.1", &project(1), 100))
        .expect(0, "");
    world.deliver();
    let there = &world.banks[1];
    let charge = last(there, "Moab.1", "charge");
    refused(there, &["undo", &charge], &["where the job ran"]);
    // A refund there can be undone, until the partner returns the amount.
    there.bank_ok(&["refund", "Moab.1"]);
    there.bank_ok(&["undo", &last(there, "Moab.1", "refund")]);
    assert_eq!(there.figures("chemistry").0, 99_800);
    there.bank_ok(&["refund", "Moab.1"]);
    let refund = last(there, "Moab.1", "refund");
    world.banks[0].bank_ok(&["refund", "Moab.1"]);
    world.deliver();
    let there = &world.banks[1];
    assert_eq!(there.figures("chemistry").0, 100_000);
    refused(there, &["undo", &refund], &["partner bank returned"]);
    assert_eq!(there.figures("chemistry").0, 100_000);
    world.settle();
}

#[test]
fn usage_without_an_account_is_settled_once() {
    let mut world = World::new(2, &[]);
    let bank = &world.banks[0];
    let allocation = bank.items(&["allocation", "ls", "-a", "owed-by-1"])[0]["id"].to_string();
    bank.bank_ok(&["allocation", "rm", &allocation, "-y", "--force"]);
    bank.set_clock(T0 + 1000);
    bank.script("charge", &job("Moab.1", &project(1), 100))
        .expect(0, "");
    assert_eq!(bank.figures("#unbilled").0, -200);
    assert_eq!(world.in_flight(0), 0);
    let bank = &world.banks[0];
    bank.bank_ok(&["deposit", "owed-by-1", "0", "--limit", "50000", "--new"]);
    bank.bank_ok(&["settle", "Moab.1", "--project", &project(1)]);
    assert_eq!(bank.figures("owed-by-1").0, -200);
    assert_eq!(bank.figures("#unbilled").0, 0);
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_800);
    assert_eq!(world.banks[1].entries("charge").len(), 1);
    // The settlement can be undone and done again.
    let bank = &world.banks[0];
    bank.bank_ok(&["undo", &last(bank, "Moab.1", "settle")]);
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 100_000);
    let bank = &world.banks[0];
    bank.bank_ok(&["settle", "Moab.1", "--project", &project(1)]);
    bank.bank_ok(&["refund", "Moab.1", "50"]);
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_850);
    world.settle();
}

#[test]
fn the_part_of_a_fallback_account_is_delivered_too() {
    let mut world = World::new(2, &[]);
    let bank = &mut world.banks[0];
    bank.stop();
    assert!(bank.start_with(&[("BANKD_CHARGE_SHORTFALL", "fallback")]));
    bank.bank_ok(&["account", "set", "owed-by-1", "--fallback", "chemistry"]);
    bank.set_clock(T0 + 100_000);
    bank.script("charge", &job("Moab.1", &project(1), 30_000))
        .expect(0, "");
    assert_eq!(bank.figures("owed-by-1").0, -50_000);
    assert_eq!(bank.figures("chemistry").0, 90_000);
    world.open_all();
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 40_000);
    let settlement = world.settlement(0, 1);
    assert_eq!(settlement["agrees"], true, "{settlement:#}");
    assert_eq!(amount(&settlement["partner_owes"], "total"), 60_000);
    world.banks[0].bank_ok(&["refund", "Moab.1"]);
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 100_000);
    world.settle();
}

#[test]
fn a_charge_without_a_message_is_a_difference() {
    let mut world = World::new(2, &[]);
    world.banks[0].set_clock(T0 + 1000);
    world.banks[0]
        .script("charge", &job("Moab.1", &project(1), 100))
        .expect(0, "");
    world.deliver();
    world.cut_all();
    world.banks[0]
        .script("charge", &job("Moab.2", &project(1), 50))
        .expect(0, "");
    world.banks[0].stop();
    world.banks[0].query("DELETE FROM partner_entry WHERE number = 2 RETURNING number");
    world.banks[0].start();
    world.open_all();
    let here = world.settlement(0, 1);
    assert_eq!(
        (&here["compared"], &here["agrees"]),
        (&true.into(), &false.into()),
        "{here:#}"
    );
    assert_eq!(text(&here["differences"][0], "what"), "no_message");
    assert_eq!(text(&here["differences"][0]["here"], "job"), "Moab.2");
    let shown = world.banks[0].bank_ok(&["settlement", &name(1), "--month", "2026-01"]);
    assert!(
        shown.contains("no_message") && !shown.contains("agree"),
        "{shown}"
    );
}

#[test]
fn a_refused_key_starts_no_job_and_is_the_cause() {
    let world = World::new(2, &["--away", "accept"]);
    world.banks[1].bank_ok(&["key", "set", "of-bank0.example", "--active", "no"]);
    let bank = &world.banks[0];
    let document = job("Moab.1", &project(1), 100);
    let ran = bank.script("reserve", &document);
    ran.expect(74, "")
        .expect_stderr(&["bank1.example refuses", "does not accept key"]);
    let alone = world.settlement(0, 1);
    assert!(
        text(&alone, "cause").contains("does not accept key"),
        "{alone:#}"
    );
    let shown = bank.bank_ok(&["settlement", &name(1), "--month", "2026-01"]);
    assert!(
        shown.contains("Nothing is compared: unauthorized: it does not accept key"),
        "{shown}"
    );
    bank.bank_ok(&["partner", "add", "silent.example"]);
    let shown = bank.bank_ok(&["settlement", "silent.example", "--month", "2026-01"]);
    assert!(shown.contains("silent.example has no address"), "{shown}");
}

#[test]
fn operators_see_what_waits_and_why() {
    let world = World::new(2, &[]);
    let bank = &world.banks[0];
    let doctor = || {
        let mut command = Command::new(programs().bankd());
        Ran::of(command.args(["doctor", "--data"]).arg(bank.data()), b"").stdout
    };
    let found = doctor();
    assert!(!found.contains("secrets of no key"), "{found}");
    assert!(
        found.contains("1 partner banks, no message waits"),
        "{found}"
    );
    world.cut_all();
    bank.set_clock(T0 + 1000);
    bank.script("charge", &job("Moab.1", &project(1), 10))
        .expect(0, "");
    let waiting = until("the cause is there", || {
        let waiting = bank.json(&["status"])["partners"][0].clone();
        waiting["cause"].is_string().then_some(waiting)
    });
    assert_eq!(
        (text(&waiting, "name"), &waiting["waiting"]),
        ("bank1.example", &1.into())
    );
    let status = bank.bank_ok(&["status"]);
    assert!(
        status.contains("partner        bank1.example: 1 message waiting since"),
        "{status}"
    );
    let metrics = bank.over_socket(&Request::get("/metrics")).text();
    assert!(
        metrics.contains("bankd_partner_messages_waiting{partner=\"bank1.example\"} 1"),
        "{metrics}"
    );
    assert!(doctor().contains("bank1.example: 1 message waiting since"));
    // A changed record ends the wait.
    world.open_all();
    bank.bank_ok(&["partner", "set", &name(1), "--timeout", "2000"]);
    world.deliver();
    assert_eq!(
        world.banks[0].json(&["status"])["partners"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    std::fs::remove_file(bank.data().join("keys/partner-bank1.example")).unwrap();
    let found = doctor();
    assert!(
        found.contains("no usable secret: partner-bank1.example"),
        "{found}"
    );
}

#[test]
fn a_message_that_waits_raises_an_alert() {
    let mut world = World::new(2, &[]);
    let bank = &mut world.banks[0];
    bank.stop();
    assert!(bank.start_with(&[
        ("BANKD_ATTENTION_ON", "true"),
        ("BANKD_ATTENTION_EVERY_S", "1")
    ]));
    world.link(0, 1, State::Cut);
    let bank = &world.banks[0];
    bank.set_clock(T0 + 1000);
    bank.script("charge", &job("Moab.1", &project(1), 10))
        .expect(0, "");
    bank.set_clock(T0 + 3000);
    let raised = || {
        let all = bank.items(&["attention", "ls"]);
        all.into_iter()
            .find(|one| text(one, "kind") == "partner_waiting")
    };
    let found = until("the alert is raised", raised);
    assert!(
        text(&found, "message").contains("1 message waiting since"),
        "{found:#}"
    );
    world.open(0, 1);
    world.deliver();
    until("the alert is cleared", || raised().is_none().then_some(()));
}
