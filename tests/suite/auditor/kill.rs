//! Power cuts under load: what was answered is there, once.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use super::wire::{ask, plain};
use super::{Site, address, site};
use crate::harness::{Address, Connection, Request, until};

const CLIENTS: usize = 8;
const ROUNDS: usize = 3;

fn post(name: &str) -> Request {
    let body = format!(
        "{{\"record_id\":\"{name}\",\"components\":[{{\"name\":\"Cores\",\"amount\":4,\"scores\":[]}}],\
         \"start_time\":\"2026-01-01T00:00:00Z\",\"stop_time\":\"2026-01-01T00:10:00Z\"}}"
    );
    Request {
        method: "POST",
        target: "/record".to_owned(),
        headers: Vec::new(),
        body: body.into_bytes(),
    }
    .header("Content-Type", "application/json")
}

#[test]
fn what_was_answered_outlives_a_power_cut_once() {
    let Site {
        mut bank,
        address: mut at,
    } = site();
    let answered = Mutex::new(Vec::new());
    for round in 0..ROUNDS {
        let before = answered.lock().unwrap().len();
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (at, answered) = (Address::Tcp(at.clone()), &answered);
                scope.spawn(move || {
                    let mut connection = Connection::open(&at).unwrap();
                    for number in 0.. {
                        let name = format!("r{round}-{client}-{number}");
                        match connection.send(&post(&name)) {
                            Ok(answer) => {
                                assert_eq!(answer.status, 200, "{}", answer.text());
                                answered.lock().unwrap().push(name);
                            }
                            Err(_) => break,
                        }
                    }
                });
            }
            until("the load is under way", || {
                (answered.lock().unwrap().len() >= before + 150).then_some(())
            });
            bank.kill_now();
        });
        bank.stop_or_kill();
        bank.start();
        at = address(&bank);
    }
    let mut stored = BTreeMap::new();
    for name in ask(plain(&at), "GET", "/records", &[], "").unwrap().names() {
        *stored.entry(name).or_insert(0) += 1;
    }
    let answered = answered.into_inner().unwrap();
    for name in &answered {
        assert_eq!(stored.get(name), Some(&1), "{name}");
    }
    assert!(stored.values().all(|times| *times == 1));
    // What was on its way may be there or not.
    assert!(stored.len() <= answered.len() + ROUNDS * CLIENTS);
    bank.verify();
}
