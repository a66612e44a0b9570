//! The queued client of `python-auditor`, which deletes a record once it was answered: whatever happens
//! to the daemon meanwhile, every record is there in the end, once.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::peer::{client, command};
use super::relay::Relay;
use super::wire::{ask, plain};
use super::{Site, address, site};
use crate::harness::{Bank, until};

/// The client in a process of its own, with its queue in a file.
struct Queue {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Queue {
    fn start(relay: &Relay, file: &Path) -> Option<Self> {
        let address = format!("127.0.0.1:{}", relay.port());
        let mut command = command(client()?, "queue", &address);
        let mut child = command
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let from = BufReader::new(from);
        let mut queue = Self { child, to, from };
        assert_eq!(queue.line(), "ready");
        Some(queue)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// Has it done, and what it says.
    fn say(&mut self, words: &str) -> String {
        writeln!(self.to, "{words}").unwrap();
        self.line()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every record that is stored, with whether it is closed; by name.
fn stored(bank: &Bank) -> Vec<(String, bool)> {
    let response = ask(
        plain(&address(bank)),
        "GET",
        "/records?sort_by[asc]=record_id",
        &[],
        "",
    );
    let response = response.unwrap();
    assert_eq!(response.status, 200);
    let records = response.body.lines().map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = record["record_id"].as_str().unwrap().to_owned();
        (name, !record["stop_time"].is_null())
    });
    records.collect()
}

/// Starts the daemon again, behind the relay.
fn come_back(bank: &mut Bank, relay: &Relay) {
    bank.start();
    relay.lead_to(Some(address(bank)));
}

#[test]
fn the_queued_client_loses_nothing_while_the_daemon_is_killed() {
    let Site {
        mut bank,
        address: at,
    } = site();
    let relay = Relay::new();
    let file = bank.folder().join("queue.db");
    let Some(mut queue) = Queue::start(&relay, &file) else {
        return;
    };
    relay.lead_to(Some(at));
    let mut expected = Vec::new();
    let add = |queue: &mut Queue, name: String, close: bool| {
        assert_eq!(queue.say(&format!("add {name}")), "kept");
        if close {
            assert_eq!(queue.say(&format!("close {name}")), "kept");
        }
        (name, close)
    };
    for number in 0..20 {
        expected.push(add(&mut queue, format!("a{number:02}"), number % 2 == 0));
    }
    // While it sends, three times.
    for round in 0..3 {
        until("the queue has begun to send", || {
            (stored(&bank).len() > round * 5).then_some(())
        });
        bank.kill();
        relay.lead_to(None);
        assert_eq!(queue.say("health"), "False");
        for number in 0..10 {
            expected.push(add(
                &mut queue,
                format!("b{round}{number}"),
                number % 3 == 0,
            ));
        }
        let bulk = format!("bulk c{round}0 c{round}1");
        assert_eq!(queue.say(&bulk), "kept");
        expected.extend((0..2).map(|number| (format!("c{round}{number}"), true)));
        come_back(&mut bank, &relay);
    }
    // The client too is killed, with records that nobody has yet.
    bank.kill();
    relay.lead_to(None);
    expected.push(add(&mut queue, "d".to_owned(), true));
    drop(queue);
    let mut queue = Queue::start(&relay, &file).unwrap();
    come_back(&mut bank, &relay);
    expected.sort();
    until("everything has come", || {
        (stored(&bank) == expected).then_some(())
    });
    assert_eq!(queue.say("stop"), "stopped");
    bank.verify();
}

#[test]
fn what_the_daemon_cannot_take_stays_in_the_queue() {
    let Site {
        mut bank,
        address: at,
    } = site();
    let relay = Relay::new();
    let file = bank.folder().join("queue.db");
    let Some(mut queue) = Queue::start(&relay, &file) else {
        return;
    };
    // It ends in order while a record is on its way, again and again: no answer, no loss.
    relay.lead_to(Some(at));
    let mut expected = Vec::new();
    for number in 0..5 {
        let name = format!("e{number}");
        assert_eq!(queue.say(&format!("add {name}")), "kept");
        expected.push((name, false));
        bank.stop();
        relay.lead_to(None);
        come_back(&mut bank, &relay);
    }
    until("everything has come", || {
        (stored(&bank) == expected).then_some(())
    });
    bank.verify();
}
