//! Three daemons over one log: what one writes the others contain, and another takes over when it is gone.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use super::server::{PASSWORD, Server};
use crate::harness::{
    Bank, Documents, Ran, Request, SECRET, Setup, Signing, free_port, postgresql, programs, skip,
    until, verify,
};

/// Three nodes; the server of the log goes last.
pub(super) struct Cluster {
    pub(super) nodes: Vec<Bank>,
    pub(super) server: Server,
}

/// Ends what runs beside a test, also when the test fails.
pub(super) struct Ending<'a>(pub(super) &'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// What the settings of a node are. A machine that is busy for some seconds does not change the writer; tests that measure
/// how soon another one writes have a shorter lease.
pub(super) fn settings(log: &str, node: usize, port: u16) -> Vec<(String, String)> {
    [
        ("BANKD_CLUSTER_LOG", log.to_owned()),
        ("BANKD_CLUSTER_NODE", format!("n{node}")),
        ("BANKD_CLUSTER_LEASE_S", "10".to_owned()),
        ("BANKD_CLUSTER_ADDRESS", format!("http://127.0.0.1:{port}")),
        ("BANKD_HTTP_LISTEN", format!("127.0.0.1:{port}")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// Runs `bankd` over the data of a bank with the settings of its node.
pub(super) fn bankd(bank: &Bank, words: &[&str]) -> Ran {
    let mut command = Command::new(programs().bankd());
    command.args(words).arg("--data").arg(bank.data());
    command
        .env_clear()
        .env("TZ", "UTC")
        .envs(bank.env().iter().cloned());
    Ran::of(&mut command, b"")
}

#[track_caller]
pub(super) fn bankd_ok(bank: &Bank, words: &[&str]) -> String {
    let ran = bankd(bank, words);
    assert_eq!(
        ran.exit,
        0,
        "bankd {}: {}{}",
        words.join(" "),
        ran.stdout,
        ran.stderr
    );
    ran.stdout
}

/// A bank with its further nodes, all running.
pub(super) fn nodes(log: &str, count: usize) -> Vec<Bank> {
    all_ready(nodes_of(
        Setup::new().start(),
        &vec![log.to_owned(); count],
        &[],
    ))
}

/// A listener on a port of its own, which stays the same when a node is started again.
pub(super) const FREE: &str = "127.0.0.1:free";

/// Makes a running bank the first of several nodes with further settings, one node for each way to the log, all running.
pub(super) fn nodes_of(mut first: Bank, logs: &[String], more: &[(&str, &str)]) -> Vec<Bank> {
    let settings = |number: usize| {
        let mut all = settings(&logs[number], number, free_port());
        all.extend(more.iter().map(|(name, value)| {
            let port = free_port().to_string();
            ((*name).to_owned(), value.replace("free", &port))
        }));
        all
    };
    first.stop();
    first.set_env(settings(0));
    let made = bankd_ok(&first, &["cluster", "init"]);
    assert!(
        made.starts_with("n0 is the first node of the cluster, at position 1\n"),
        "{made}"
    );
    let out = first.folder().join("copies");
    bankd_ok(
        &first,
        &["backup", "--with-keys", "--out", out.to_str().unwrap()],
    );
    let copies = std::fs::read_dir(&out).unwrap();
    let mut copies = copies.map(|entry| entry.unwrap().path());
    // The folder has the lock of backups beside them.
    let copy = copies.find(|path| path.is_dir()).unwrap();
    let mut all = vec![first];
    for number in 1..logs.len() {
        let node = Bank::bare(settings(number));
        bankd_ok(&node, &["restore", copy.to_str().unwrap()]);
        let joined = bankd_ok(&node, &["cluster", "join", "--restored"]);
        assert!(
            joined.starts_with(&format!(
                "n{number} is a node of the cluster, at position 1"
            )),
            "{joined}"
        );
        all.push(node);
    }
    for node in &mut all {
        node.start();
    }
    all
}

fn log_of(server: &Server) -> String {
    let port = server.port;
    format!("postgres://bank:{PASSWORD}@127.0.0.1:{port}/postgres")
}

impl Cluster {
    pub(super) fn start() -> Option<Self> {
        Self::of(|log| nodes(log, 3))
    }

    /// A cluster of the nodes that a function makes over a log.
    pub(super) fn of(make: impl FnOnce(&str) -> Vec<Bank>) -> Option<Self> {
        let Some(found) = postgresql() else {
            skip("postgresql", "no server of PostgreSQL");
            return None;
        };
        let server = Server::start(found);
        let log = log_of(&server);
        Some(Self {
            nodes: make(&log),
            server,
        })
    }

    /// The connection string of the log.
    pub(super) fn log(&self) -> String {
        log_of(&self.server)
    }

    /// The node that writes, once one does; `gone` does not count.
    pub(super) fn writer(&self, gone: Option<usize>) -> usize {
        writer(&self.nodes, gone)
    }
}

/// The node that writes, once one does; `gone` does not count.
pub(super) fn writer(nodes: &[Bank], gone: Option<usize>) -> usize {
    until("a node writes", || {
        let mut all = nodes.iter().enumerate();
        let found = all.find(|(at, node)| {
            Some(*at) != gone && node.is_running() && field(node, "role") == "writer"
        });
        found.map(|(at, _)| at)
    })
}

/// The nodes, once each of them takes commands.
pub(super) fn all_ready(nodes: Vec<Bank>) -> Vec<Bank> {
    all_know(&nodes, writer(&nodes, None));
    nodes
}

/// Waits until every running node passes commands to a writer: for a moment after a change they answer 503.
pub(super) fn all_know(nodes: &[Bank], writer: usize) {
    for node in nodes.iter().filter(|node| node.is_running()) {
        until("a node knows the writer", || {
            (field(node, "writer") == format!("n{writer}")).then_some(())
        });
    }
}

/// A member of the cluster in a node's status.
pub(super) fn field(node: &Bank, member: &str) -> String {
    let ran = node.bank(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    match &status["cluster"][member] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Waits until every running node contains what the writer does, and compares their balances.
pub(super) fn all_agree(nodes: &[Bank], writer: usize) {
    // The writer may append entries of its own meanwhile.
    let position = |node: &Bank| field(node, "position").parse::<i64>().unwrap_or(-1);
    let wrote = position(&nodes[writer]);
    for node in nodes.iter().filter(|node| node.is_running()) {
        until("a node has caught up", || {
            (position(node) >= wrote).then_some(())
        });
        assert_eq!(balances(node), balances(&nodes[writer]));
    }
}

fn balances(node: &Bank) -> serde_json::Value {
    let text = node.bank_ok(&["balance", "--json"]);
    serde_json::from_str(&text).unwrap()
}

/// Ends all nodes; each is proven, all journals end with the same hash, and a checkpoint of each holds for the next.
pub(super) fn prove(nodes: &mut [Bank]) {
    let mut ends = Vec::new();
    for node in &mut *nodes {
        node.verify();
        ends.push(node.query("SELECT id, hex(hash) FROM tx ORDER BY id DESC LIMIT 1"));
    }
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "{ends:?}");
    let key = nodes[0].folder().join("site.key").display().to_string();
    bankd_ok(&nodes[0], &["checkpoint-key", "new", "--key", &key]);
    for (at, node) in nodes.iter().enumerate() {
        let other = &nodes[(at + 1) % nodes.len()];
        let out = node.folder().join("checkpoint.txt").display().to_string();
        bankd_ok(node, &["checkpoint", "--key", &key, "--out", &out]);
        let public = format!("{key}.pub");
        let words = ["verify", "--checkpoint", &out, "--public-key", &public];
        bankd_ok(other, &words);
    }
}

#[test]
fn what_one_node_writes_the_others_contain() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let other = (writer + 1) % 3;
    let (own, follower) = (&cluster.nodes[writer], &cluster.nodes[other]);
    own.bank_ok(&["deposit", "chemistry", "5"]);
    own.bank_ok(&["user", "add", "zoe"]);
    all_agree(&cluster.nodes, writer);
    assert!(
        follower.bank_ok(&["user", "ls"]).contains("zoe"),
        "reference data follow too"
    );
    // A signed request goes on to the writer, and its answer comes back with the writer's signature.
    let charge = || {
        let request = Request::nami("charge", "once", &Documents::own().get(4));
        Signing::new().sign(request)
    };
    let request = charge();
    let answer = follower.over_tcp(&request);
    assert_eq!(answer.status, 200, "{}", answer.text());
    verify(&request, &answer, SECRET).unwrap();
    let again = follower.over_tcp(&charge());
    assert_eq!(again.text(), answer.text(), "one charge");
    all_agree(&cluster.nodes, writer);
    let screen = own.bank_ok(&["status"]);
    assert!(
        screen.contains(&format!("node           n{writer} writer   position")),
        "{screen}"
    );
    assert!(
        follower
            .bank_ok(&["status"])
            .contains("follower   position")
    );
    prove(&mut cluster.nodes);
}

#[test]
fn another_node_takes_over_and_nothing_is_lost() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    for round in 0..3 {
        let writer = cluster.writer(None);
        let amount = (round + 1).to_string();
        cluster.nodes[writer].bank_ok(&["deposit", "chemistry", &amount]);
        cluster.nodes[writer].kill();
        let next = cluster.writer(Some(writer));
        assert_ne!(next, writer);
        cluster.nodes[next].bank_ok(&["deposit", "chemistry", &amount]);
        cluster.nodes[writer].start();
        all_agree(&cluster.nodes, next);
    }
    let balance = balances(&cluster.nodes[0]);
    assert!(
        balance.to_string().contains("100012"),
        "100,000 and twice 1 + 2 + 3: {balance}"
    );
    prove(&mut cluster.nodes);
}

#[test]
fn an_operator_moves_the_writer_and_trims_the_log() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let heir = (writer + 1) % 3;
    let name = format!("n{heir}");
    let moved = bankd_ok(&cluster.nodes[writer], &["cluster", "promote", &name]);
    assert_eq!(
        moved,
        format!("the lease is handed over from n{writer} to {name}\n")
    );
    until("the heir writes", || {
        (field(&cluster.nodes[heir], "role") == "writer").then_some(())
    });
    let unknown = bankd(&cluster.nodes[writer], &["cluster", "promote", "n9"]);
    unknown.expect_stderr(&["no node n9: `bankd cluster status` lists them"]);
    for _ in 0..5 {
        cluster.nodes[heir].bank_ok(&["deposit", "chemistry", "1"]);
    }
    all_agree(&cluster.nodes, heir);
    until("all nodes reported", || {
        let shown = bankd_ok(&cluster.nodes[heir], &["cluster", "status"]);
        (shown.matches("(0 behind)").count() == 3).then_some(())
    });
    let trimmed = bankd_ok(&cluster.nodes[heir], &["cluster", "trim", "--keep", "1"]);
    assert!(trimmed.starts_with("deleted "), "{trimmed}");
    cluster.nodes[heir].bank_ok(&["deposit", "chemistry", "1"]);
    all_agree(&cluster.nodes, heir);
    prove(&mut cluster.nodes);
    // A node that leaves is a bank of its own again.
    let last = &cluster.nodes[2];
    let refused = Command::new(programs().bankd())
        .args(["rollup", "rebuild", "--data"])
        .arg(last.data())
        .output()
        .unwrap();
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(
        text.contains("is node n2 of a cluster: change the bank through its daemon"),
        "{text}"
    );
    bankd_ok(last, &["cluster", "leave"]);
    let mut alone = cluster.nodes.pop().unwrap();
    alone.set_env(Vec::new());
    alone.start();
    alone.bank_ok(&["deposit", "chemistry", "3"]);
    alone.verify();
}

#[test]
fn a_row_that_differs_stops_the_node() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let other = (writer + 1) % 3;
    all_agree(&cluster.nodes, writer);
    cluster.nodes[other].stop();
    let sql = "UPDATE allocation SET amount = amount + 1 WHERE amount > 0 RETURNING id";
    cluster.nodes[other].query(sql);
    cluster.nodes[other].start();
    let charge = Request::nami("charge", "once", &Documents::own().get(4));
    let answer = cluster.nodes[writer].over_tcp(&Signing::new().sign(charge));
    assert_eq!(answer.status, 200, "{}", answer.text());
    until("the node stopped", || {
        (field(&cluster.nodes[other], "role") == "stopped").then_some(())
    });
    let why = field(&cluster.nodes[other], "why");
    assert!(
        why.contains("this node differs from the writer: table allocation, row"),
        "{why}"
    );
    assert!(why.contains("`bankd cluster join`"), "{why}");
    cluster.nodes[other].kill();
    cluster.nodes.remove(other);
    prove(&mut cluster.nodes);
}

#[test]
fn without_its_log_a_bank_reads_and_does_not_write() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    cluster.server.down();
    let refused = cluster.nodes[writer].bank(&["deposit", "chemistry", "1"]);
    assert_ne!(refused.exit, 0, "{}", refused.stdout);
    for node in &cluster.nodes {
        node.bank_ok(&["balance"]);
    }
    cluster.server.up();
    let writer = cluster.writer(None);
    until("a deposit succeeds", || {
        (cluster.nodes[writer]
            .bank(&["deposit", "chemistry", "2"])
            .exit
            == 0)
            .then_some(())
    });
    all_agree(&cluster.nodes, writer);
    prove(&mut cluster.nodes);
}
