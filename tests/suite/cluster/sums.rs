//! A story of money and jobs told to a single bank, and to the nodes of a cluster in turn, ends with the same sums: of
//! exports, usage, statements, reports and the journal, on every node.

use super::nodes::{Cluster, all_agree, all_know, bankd_ok, prove};
use crate::auth::request_sums::one_amount;
use crate::export::sums::{agree, last};
use crate::harness::{Bank, Documents, Request, Signing, until};

/// One step of the story, at any node.
enum Step {
    /// A command of `bank`.
    Run(&'static [&'static str]),
    /// The last transaction of a kind is undone.
    Undo(&'static str),
    /// A signed document of the scheduler: its operation, its key and its number.
    Nami(&'static str, &'static str, u32),
}

const STORY: [Step; 18] = [
    Step::Nami("reserve", "k0", 3),
    Step::Run(&["deposit", "chemistry", "500"]),
    Step::Nami("charge", "k1", 4),
    Step::Run(&[
        "charge",
        "7",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "2",
        "--duration",
        "600",
    ]),
    Step::Run(&["refund", "7", "100"]),
    Step::Run(&["transfer", "chemistry", "physics", "50"]),
    // The same signed document again, and the end of the job.
    Step::Nami("charge", "k1", 4),
    Step::Nami("charge", "k2", 5),
    Step::Nami("delete", "k3", 6),
    Step::Run(&[
        "charge",
        "7",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "2",
        "--duration",
        "100",
    ]),
    Step::Run(&["deposit", "physics", "30"]),
    Step::Undo("deposit"),
    Step::Run(&[
        "charge",
        "8",
        "-A",
        "physics",
        "-u",
        "ops",
        "-m",
        "colony",
        "--procs",
        "4",
        "--duration",
        "50",
    ]),
    Step::Undo("charge"),
    Step::Run(&[
        "charge",
        "9",
        "-A",
        "physics",
        "-u",
        "ops",
        "-m",
        "colony",
        "--procs",
        "1",
        "--duration",
        "20",
    ]),
    Step::Run(&["withdraw", "chemistry", "11"]),
    Step::Run(&["refund", "9", "5"]),
    Step::Run(&[
        "charge",
        "10",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "3",
        "--duration",
        "7",
    ]),
];

impl Step {
    fn happens(&self, node: &Bank) {
        match self {
            Step::Run(words) => {
                node.bank_ok(words);
            }
            Step::Undo(kind) => {
                node.bank_ok(&["undo", &last(node, kind)]);
            }
            Step::Nami(operation, key, document) => {
                let body = Documents::own().get(*document);
                let request = Signing::new().sign(Request::nami(operation, key, &body));
                let answer = node.over_tcp(&request);
                assert_eq!(answer.status, 200, "{}", answer.text());
            }
        }
    }
}

/// Processor-seconds and charges of all exports and `bank usage`, and the amounts of both accounts in thousandths.
fn sums(bank: &Bank) -> ((i128, i128), [i128; 2]) {
    let amounts = ["chemistry", "physics"].map(|account| one_amount(bank, account));
    (agree(bank), amounts)
}

/// Rows of a report that sums charges.
fn report(bank: &Bank) -> String {
    let period = ["--from", "-infinity", "--to", "infinity"];
    bank.bank_ok(&[&["usage", "--by", "project,user", "--json"][..], &period].concat())
}

#[test]
fn a_story_over_all_nodes_has_the_sums_of_a_single_bank() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let mut alone = Bank::new();
    let mut writer = cluster.writer(None);
    for (number, step) in STORY.iter().enumerate() {
        step.happens(&alone);
        step.happens(&cluster.nodes[number % 3]);
        // The writer changes within the story: by a command, and by its loss.
        match number {
            4 => {
                let next = format!("n{}", (writer + 1) % 3);
                bankd_ok(&cluster.nodes[writer], &["cluster", "promote", &next]);
                writer = (writer + 1) % 3;
                until("the other node writes", || {
                    (cluster.writer(None) == writer).then_some(())
                });
            }
            9 => {
                cluster.nodes[writer].kill();
                let next = cluster.writer(Some(writer));
                cluster.nodes[writer].start();
                writer = next;
            }
            _ => {}
        }
        all_know(&cluster.nodes, writer);
    }
    let known = sums(&alone);
    all_agree(&cluster.nodes, writer);
    let of_alone: serde_json::Value = serde_json::from_str(&report(&alone)).unwrap();
    for node in &cluster.nodes {
        assert_eq!(sums(node), known);
        let of_node: serde_json::Value = serde_json::from_str(&report(node)).unwrap();
        assert_eq!(of_node["rows"], of_alone["rows"]);
        assert_eq!(of_node["total"], of_alone["total"]);
    }
    alone.verify();
    prove(&mut cluster.nodes);
}
