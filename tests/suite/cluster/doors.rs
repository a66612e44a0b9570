//! Load over the listeners that authenticate a caller themselves: forms of web pages, Gold's protocol and AUDITOR's
//! routes. Each command goes to a follower first, and is repeated under its identity until it has an answer.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::nodes::{FREE, all_ready, nodes_of};
use crate::harness::{
    Address, Bank, Dialect, Request, Response, Setup, T0, exchange, pause, summary, until,
};
use crate::web::browser::{Browser, hidden, posted};

/// The key of the Gold peer.
pub(super) const GOLD: &str = "sss";
/// The longest time for a command: no fault lasts that long.
const LONGEST: Duration = Duration::from_mins(3);
/// Between two attempts.
const AGAIN: Duration = Duration::from_millis(20);
/// Between two commands of a door: the load of the other doors must stay visible beside it.
const PACE: Duration = Duration::from_millis(50);

/// Nodes with every listener, one for each way to the log.
pub(super) fn nodes_with_doors(logs: &[String]) -> Vec<Bank> {
    let first = Setup::new()
        .toml("\n[gold.peer.maui]\naddresses = [\"127.0.0.1\"]\n")
        .start();
    // AUDITOR's records are of a machine of their own: the first source that charges a machine keeps it.
    first.bank_ok(&["machine", "add", "farm"]);
    let secret = first.folder().join("maui.key");
    fs::write(&secret, GOLD).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let key = ["key", "add", "maui", "--gold", "--machine", "colony"];
    first.bank_ok(&[&key[..], &["--secret-file", secret.to_str().unwrap()]].concat());
    let more = [
        ("BANKD_WEB_LISTEN", FREE),
        ("BANKD_GOLD_LISTEN", FREE),
        ("BANKD_AUDITOR_LISTEN", FREE),
        // The default, with which the times without an answer are measured.
        ("BANKD_CLUSTER_LEASE_S", "3"),
    ];
    all_ready(nodes_of(first, logs, &more))
}

/// The address of a node's listener, without its scheme.
pub(super) fn listener(bank: &Bank, name: &str) -> String {
    let start = format!("listening {name} ");
    let mut lines = bank.further_output().iter();
    let address = lines.find_map(|line| line.strip_prefix(&start)).unwrap();
    address.rsplit('/').next().unwrap().to_owned()
}

/// A charge of a job of two processors for ten seconds, over Gold's protocol.
pub(super) fn gold_charge(job: &str) -> Vec<u8> {
    let body = format!(
        "<Body actor=\"root\"><Request action=\"Charge\" actor=\"root\"><Object>Job</Object><Data>\
         <Job><JobId>{job}</JobId><UserId>amy</UserId><ProjectId>chemistry</ProjectId><MachineName>\
         colony</MachineName><Processors>2</Processors><WallDuration>10</WallDuration><StartTime>{}\
         </StartTime><EndTime>{T0}</EndTime><Type>job</Type></Job></Data></Request></Body>",
        T0 - 10
    );
    Dialect::Maui.message(GOLD, &body)
}

/// A record for AUDITOR's routes.
pub(super) fn record(id: &str) -> Request {
    let record = format!(
        "{{\"record_id\":\"{id}\",\"meta\":{{\"site_id\":[\"farm\"],\"group_id\":[\"physics\"],\
         \"user_id\":[\"ops\"]}},\"components\":[{{\"name\":\"Cores\",\"amount\":1,\
         \"scores\":[]}}],\"start_time\":\"2025-12-31T23:00:00Z\",\"stop_time\":\
         \"2025-12-31T23:10:00Z\"}}"
    );
    sent_record(&record)
}

/// A body for AUDITOR's route of a single record.
pub(super) fn sent_record(body: &str) -> Request {
    let request = Request {
        method: "POST",
        target: "/record".to_owned(),
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
    };
    request.header("Content-Type", "application/json")
}

/// The doors.
pub(super) const DOORS: [Door; 3] = [Door::Forms, Door::Charges, Door::Records];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// Deposits over the form of a page, each of its own amount: the number of the command.
    Forms,
    /// Charges over Gold's protocol.
    Charges,
    /// Records over AUDITOR's routes.
    Records,
}

/// The listeners of all nodes, which are the same after a node was started again, and a session.
pub(super) struct Doors {
    web: Vec<String>,
    gold: Vec<String>,
    auditor: Vec<String>,
    root: Browser,
    /// Answered commands of each door. Their numbers begin with 1.
    answered: [AtomicUsize; 3],
}

/// Somebody who sends the commands of one door.
pub(super) struct Client<'a> {
    doors: &'a Doors,
    door: Door,
    /// The page of the form that waits for its confirmation: every attempt sends its key again.
    confirm: Option<String>,
}

impl Doors {
    /// Of running nodes; the session begins at the first one, and the others learn of it within about a second.
    pub(super) fn of(nodes: &[Bank]) -> Self {
        let mut root = Browser::of_link(&nodes[0]);
        for node in nodes {
            until("a node knows the session", || {
                (root.get(node, "/deposit").status == 200).then_some(())
            });
        }
        let all = |name: &str| nodes.iter().map(|node| listener(node, name)).collect();
        Self {
            web: all("web"),
            gold: nodes.iter().map(Bank::gold).collect(),
            auditor: all("auditor"),
            root,
            answered: Default::default(),
        }
    }

    pub(super) fn client(&self, door: Door) -> Client<'_> {
        Client {
            doors: self,
            door,
            confirm: None,
        }
    }

    /// Sends one command after another until the load ends, each first to a node other than the writer.
    pub(super) fn load(&self, door: Door, writer: &AtomicUsize, ends: &AtomicBool) {
        let mut client = self.client(door);
        let nodes = self.web.len();
        let mut at = door as usize;
        while !ends.load(Ordering::Acquire) {
            if at == writer.load(Ordering::Acquire) {
                at = (at + 1) % nodes;
            }
            client.done(at);
            pause(PACE);
        }
    }

    /// Whether a bank contains each answered command once; prints their numbers.
    pub(super) fn check(&self, bank: &Bank) {
        let [forms, charges, records] = DOORS.map(|door| self.answered(door));
        println!(
            "{forms} forms, {charges} charges of Gold and {records} records of AUDITOR answered"
        );
        assert!(
            forms > 0 && charges > 0 && records > 0,
            "a door had no load"
        );
        let sql = "SELECT delta_amount FROM entry JOIN tx ON tx.id = entry.tx \
            WHERE tx.origin = 'web' AND entry.kind = 'deposit' ORDER BY tx.id";
        let kept: Vec<String> = bank.query(sql).into_iter().flatten().collect();
        let expected: Vec<String> = (1..=forms).map(|number| number.to_string()).collect();
        assert_eq!(kept, expected, "each form is done once, in its order");
        // A charge that is sent again after its commit is journalled as a repeat, and moves nothing.
        let sql = "SELECT object_id, count(*) FILTER (WHERE delta_amount != 0), -sum(delta_amount) FROM entry \
            JOIN tx ON tx.id = entry.tx JOIN instance ON instance.id = tx.instance \
            WHERE tx.origin = 'gold' GROUP BY object_id ORDER BY instance.id";
        let expected =
            (1..=charges).map(|number| [&format!("gold-{number}"), "1", "20"].map(str::to_owned));
        assert_eq!(
            bank.query(sql),
            expected.collect::<Vec<_>>(),
            "each charge of 20 is done once"
        );
        // The table has each name once at most; a second record of that name would be among the rejected ones.
        let sql = "SELECT count(*), (SELECT count(*) FROM quarantine) FROM auditor_record";
        let expected = [records.to_string(), "0".to_owned()];
        assert_eq!(bank.query(sql), [expected], "each record is stored once");
    }

    fn answered(&self, door: Door) -> usize {
        self.answered[door as usize].load(Ordering::Acquire)
    }
}

impl Client<'_> {
    /// Sends the next command to the nodes in turn, from this one on, until it is answered.
    pub(super) fn done(&mut self, mut at: usize) {
        let number = self.doors.answered(self.door) + 1;
        let since = Instant::now();
        while !self.attempt(at, number) {
            let late = since.elapsed() > LONGEST;
            assert!(!late, "{:?} {number} has no answer", self.door);
            at = (at + 1) % self.doors.web.len();
            pause(AGAIN);
        }
        self.doors.answered[self.door as usize].store(number, Ordering::Release);
    }

    /// One attempt at a node: whether the command has its answer.
    fn attempt(&mut self, node: usize, number: usize) -> bool {
        match self.door {
            Door::Forms => self.form(node, number),
            Door::Charges => {
                let message = gold_charge(&format!("gold-{number}"));
                let Ok(answer) = Dialect::Maui.ask(&self.doors.gold[node], &message) else {
                    return false;
                };
                let said = summary(&answer);
                let is_done = said.starts_with("Success 000");
                // No writer, or one that did not answer in the time of the protocol.
                let is_late = said == "Failure 242 no answer in time";
                let is_again = is_late || said.starts_with("Failure 720");
                assert!(is_done || is_again, "{answer}");
                is_done
            }
            Door::Records => {
                let address = Address::Tcp(self.doors.auditor[node].clone());
                let record = record(&format!("record-{number}"));
                let Ok(answer) = exchange(&address, &record) else {
                    return false;
                };
                // One that was stored without an answer exists already.
                let is_done = answer.status == 200 || answer.text() == "RECORD_EXISTS";
                assert!(is_done, "{} {}", answer.status, answer.text());
                is_done
            }
        }
    }

    fn form(&mut self, node: usize, number: usize) -> bool {
        let address = Address::Tcp(self.doors.web[node].clone());
        if self.confirm.is_none() {
            let Some(form) = self.page(&address, Request::get("/deposit"), 200) else {
                return false;
            };
            let amount = number.to_string();
            let fields = [("name", "chemistry"), ("amount", amount.as_str())];
            let sent = filled(&form.text(), &fields);
            let page = self.page(&address, sent, 200);
            self.confirm = page.map(|page| page.text());
        }
        let Some(page) = &self.confirm else {
            return false;
        };
        let sent = filled(page, &[("step", "confirm")]);
        let is_done = self.page(&address, sent, 303).is_some();
        if is_done {
            self.confirm = None;
        }
        is_done
    }

    /// The answer of a page with this status; none if there is no answer, or no writer for it.
    fn page(&self, address: &Address, request: Request, status: u16) -> Option<Response> {
        let answer = exchange(address, &self.doors.root.request(request)).ok()?;
        let to = answer.header("location").unwrap_or_default();
        assert!(!to.starts_with("/login"), "signed out: {to}");
        let is_known = answer.status == status || answer.status == 503;
        assert!(is_known, "{} {}", answer.status, answer.text());
        (answer.status == status).then_some(answer)
    }
}

/// The form of the page for deposits with these fields, as a browser sends it.
fn filled(page: &str, fields: &[(&str, &str)]) -> Request {
    let hidden = hidden(page, "/deposit");
    let kept = hidden
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let kept = kept.filter(|(name, _)| !fields.iter().any(|(own, _)| own == name));
    let all: Vec<(&str, &str)> = kept.chain(fields.iter().copied()).collect();
    posted("/deposit", &all)
}
