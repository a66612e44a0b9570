//! Both client libraries against a cluster without a writer: nothing is lost, and nothing is done twice.

use std::time::Duration;

use bank_client::queue::Queue;
use bank_client::v1::NewDeposit;
use bank_client::{Call, Client, Retry};

use super::nodes::{Cluster, all_agree, prove};
use crate::client_python::peer::Peer;
use crate::harness::{Bank, until};

/// The key of the site that may move money.
const KEY: &str = "admin";

fn deposit(amount: &str) -> NewDeposit {
    NewDeposit {
        name: "chemistry".into(),
        amount: amount.into(),
        ..NewDeposit::default()
    }
}

fn client(servers: &[String], node: &Bank, retry: Retry) -> Client {
    let client = Client::builder().servers(servers).retry(retry);
    client
        .key(KEY, node.data().join("keys").join(KEY))
        .build()
        .unwrap()
}

/// Repeats for as long as an election and a lost log take.
fn patient() -> Retry {
    Retry {
        repeats: 10_000,
        first_wait: Duration::from_millis(20),
        longest_wait: Duration::from_millis(200),
        total: Duration::from_mins(2),
    }
}

#[test]
fn clients_wait_for_a_writer_and_lose_nothing() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let own = &cluster.nodes[writer];
    let servers: Vec<String> = (0..3)
        .map(|at| format!("http://{}", cluster.nodes[(writer + at) % 3].tcp()))
        .collect();
    let (at_once, waits) = (
        client(&servers, own, Retry::NONE),
        client(&servers, own, patient()),
    );
    let (rust, python) = (own.folder().join("rust"), own.folder().join("python"));
    let queue = Queue::open(rust).unwrap();
    let key = own.data().join("keys").join(KEY);
    let peer = Peer::with(&servers.join(","), &python, Some((KEY, &key)));
    let mut peer = peer.expect("no Python with the libraries of the client");
    waits.deposit(&deposit("1"), "first").unwrap();

    // Without the log no node accepts commands, and all answer questions.
    cluster.server.down();
    let error = at_once.deposit(&deposit("10"), "gone").unwrap_err();
    assert!(error.is_passing(), "{error}");
    queue
        .enqueue(&Call::deposit(&deposit("100"), "queued").unwrap())
        .unwrap();
    let drained = queue.drain(&at_once).unwrap();
    assert_eq!((drained.done, drained.refused, drained.left), (0, 0, 1));
    assert_eq!(peer.ask("put 1000 python"), "kept");
    assert_eq!(peer.ask("drain"), "Unavailable 1 left");
    at_once.status().unwrap();

    // It comes back while a call waits.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| waits.deposit(&deposit("10"), "gone"));
        cluster.server.up();
        waiting.join().unwrap().unwrap();
    });
    let drained = queue.drain(&waits).unwrap();
    assert_eq!((drained.done, drained.refused, drained.left), (1, 0, 0));
    assert_eq!(peer.ask("drain_all"), "empty");

    // The writer is killed: the same call goes to the next node, and waits there.
    let writer = cluster.writer(None);
    cluster.nodes[writer].kill();
    let receipt = waits.deposit(&deposit("20"), "killed").unwrap();
    let again = waits.deposit(&deposit("20"), "killed").unwrap();
    assert_eq!(receipt.transaction, again.transaction);
    assert_eq!(peer.ask("put 2000 python2"), "kept");
    assert_eq!(peer.ask("drain_all"), "empty");
    assert_eq!(peer.ask("refused"), "none");
    cluster.nodes[writer].start();

    let writer = cluster.writer(None);
    all_agree(&cluster.nodes, writer);
    assert_eq!(cluster.nodes[writer].figures("chemistry").0, 103_131);
    let sql = "SELECT count(*) FROM tx WHERE op = 'deposit' AND actor = 'admin'";
    until("all are in the journal", || {
        (cluster.nodes[writer].query(sql) == [["6"]]).then_some(())
    });
    prove(&mut cluster.nodes);
}
