//! Batches with jobs of a partner's project.

use serde_json::{Value, json};

use super::world::{World, job, name};
use crate::harness::{Bank, Request, T0};

/// A document of a job in a batch.
fn document(event: &str, id: &str, seconds: i64) -> Value {
    let body = String::from_utf8(job(id, &format!("chemistry@{}", name(1)), seconds)).unwrap();
    json!({"path": format!("/nami/v1/{event}"), "key": format!("{event}-{id}"), "body": body})
}

fn deposit(key: &str, amount: &str) -> Value {
    let body = json!({"name": "chemistry", "amount": amount});
    json!({"path": "/api/v1/deposits", "key": key, "body": body})
}

/// The statuses of the answers of a batch, and its text.
fn run(bank: &Bank, key: &str, is_whole: bool, commands: &[Value]) -> (Vec<u64>, String) {
    let request = Request {
        method: "POST",
        target: "/api/v1/batch".to_owned(),
        headers: Vec::new(),
        body: json!({"commands": commands, "all_or_nothing": is_whole})
            .to_string()
            .into_bytes(),
    };
    let request = request
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", key);
    let answer = bank.over_socket(&request);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let whole: Value = serde_json::from_slice(&answer.body).unwrap();
    let answers = whole["answers"].as_array().unwrap();
    let statuses = answers.iter().map(|one| one["status"].as_u64().unwrap());
    (statuses.collect(), answer.text())
}

/// A reserve waits for the partner's answer, so it cannot be undone with others: nothing is written at either bank.
#[test]
fn all_or_nothing_refuses_a_reserve_at_a_partner() {
    let mut world = World::new(2, &[]);
    let here = world.banks[0].transactions();
    let there = world.banks[1].transactions();
    for event in ["reserve", "quote"] {
        let commands = [deposit("d", "100"), document(event, "Moab.1", 100)];
        let (statuses, text) = run(&world.banks[0], event, true, &commands);
        assert_eq!(statuses, [409, 400], "{text}");
        let why = "a command for a project of a partner bank must be sent without others";
        assert!(text.contains(why), "{text}");
    }
    assert_eq!(world.banks[0].transactions(), here);
    assert_eq!(world.banks[1].transactions(), there);
    assert!(world.banks[1].held().is_empty());
    assert_eq!(world.in_flight(0), 0);
    // Without the flag the same commands are done, each for itself.
    let commands = [deposit("d", "100"), document("reserve", "Moab.1", 100)];
    let (statuses, text) = run(&world.banks[0], "each", false, &commands);
    assert_eq!(statuses, [201, 200], "{text}");
    assert_eq!(world.banks[1].held(), [("chemistry".to_owned(), 200)]);
    world.banks[0].script(
        "delete",
        &job("Moab.1", &format!("chemistry@{}", name(1)), 100),
    );
    world.settle();
}

/// The message of a charge is written with the charge, so it is undone with the others, or delivered once.
#[test]
fn all_or_nothing_charges_at_a_partner_once_or_not_at_all() {
    let mut world = World::new(2, &[]);
    let reserve = job("Moab.2", &format!("chemistry@{}", name(1)), 100);
    world.banks[0].script("reserve", &reserve).expect(0, "");
    world.banks[0].set_clock(T0 + 100);
    world.banks[1].set_clock(T0 + 100);
    let before = world.banks[0].transactions();
    let charge = document("charge", "Moab.2", 100);
    let refused = json!({"path": "/api/v1/withdrawals", "key": "w",
        "body": {"name": "nosuch", "amount": "1"}});
    let (statuses, text) = run(&world.banks[0], "a", true, &[charge.clone(), refused]);
    assert_eq!(statuses, [409, 404], "{text}");
    assert_eq!(world.banks[0].transactions(), before);
    assert_eq!(world.banks[1].figures("chemistry").0, 100_000);
    let (statuses, text) = run(&world.banks[0], "b", true, &[charge, deposit("e", "5")]);
    assert_eq!(statuses, [200, 201], "{text}");
    world.deliver();
    assert_eq!(world.banks[1].figures("chemistry").0, 99_800);
    assert_eq!(world.banks[0].figures("owed-by-1").0, -200);
    world.settle();
}
