//! Nodes that leave or are lost, and entries of the log that they keep.

use std::process::Command;

use super::nodes::{Cluster, all_agree, all_know, bankd, bankd_ok, field, nodes, prove, settings};
use crate::harness::{Bank, Ran, free_port, programs, until};

/// The first and the last position of the log, as the command shows them.
fn span(node: &Bank) -> (i64, i64) {
    let shown = bankd_ok(node, &["cluster", "status"]);
    let line = shown
        .lines()
        .find_map(|line| line.strip_prefix("log      entries "));
    let (first, last) = line.unwrap().split_once(" to ").unwrap();
    (first.parse().unwrap(), last.parse().unwrap())
}

fn is_listed(node: &Bank, name: &str) -> bool {
    let shown = bankd_ok(node, &["cluster", "status"]);
    shown.contains(&format!("node     {name} at "))
}

/// Waits until the log knows that all running nodes contain everything.
pub(super) fn until_reported(node: &Bank, count: usize) {
    until("all nodes reported", || {
        let shown = bankd_ok(node, &["cluster", "status"]);
        (shown.matches("(0 behind)").count() == count).then_some(())
    });
}

/// The bank of a node that left, on a machine of its own.
fn alone(mut bank: Bank, amount: i64) {
    bank.set_env(Vec::new());
    bank.start();
    bank.bank_ok(&["deposit", "chemistry", "3"]);
    assert_eq!(bank.figures("chemistry").0, amount + 3);
    assert_eq!(field(&bank, "role"), "null", "no node of a cluster");
    bank.verify();
}

#[test]
fn a_follower_and_then_the_writer_leave() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let other = (writer + 1) % 3;
    cluster.nodes[writer].bank_ok(&["deposit", "chemistry", "5"]);
    all_agree(&cluster.nodes, writer);
    let name = format!("n{other}");
    let refused = bankd(&cluster.nodes[other], &["cluster", "leave"]);
    refused.expect_stderr(&["another bankd serves", "stop it first"]);
    assert!(is_listed(&cluster.nodes[writer], &name));
    cluster.nodes[other].stop();
    let left = bankd_ok(&cluster.nodes[other], &["cluster", "leave"]);
    assert_eq!(
        left,
        format!(
            "{name} left the cluster: the file is a bank on a single machine; remove cluster.log from bankd.toml\n"
        )
    );
    assert!(!is_listed(&cluster.nodes[writer], &name));
    // Its settings still name the log: the daemon does not start, and the file does not enter the cluster again by itself.
    assert!(!cluster.nodes[other].start_with(&[]));
    let log = cluster.nodes[other].log();
    assert!(log.contains("is not a node of a cluster"), "{log}");
    cluster.nodes[writer].bank_ok(&["deposit", "chemistry", "6"]);
    alone(cluster.nodes.remove(other), 100_005);
    // The writer, which ended without handing its lease over.
    let writer = cluster.writer(None);
    all_agree(&cluster.nodes, writer);
    let name = field(&cluster.nodes[writer], "node");
    cluster.nodes[writer].kill();
    bankd_ok(&cluster.nodes[writer], &["cluster", "leave"]);
    let next = cluster.writer(Some(writer));
    assert!(!is_listed(&cluster.nodes[next], &name));
    cluster.nodes[next].bank_ok(&["deposit", "chemistry", "7"]);
    alone(cluster.nodes.remove(writer), 100_011);
    assert_eq!(cluster.nodes[0].figures("chemistry").0, 100_018);
    prove(&mut cluster.nodes);
}

#[test]
fn a_node_leaves_without_the_log_only_by_force() {
    let Some(mut cluster) = Cluster::of(|log| nodes(log, 2)) else {
        return;
    };
    let writer = cluster.writer(None);
    let other = 1 - writer;
    all_agree(&cluster.nodes, writer);
    cluster.nodes[other].stop();
    cluster.server.down();
    let refused = bankd(&cluster.nodes[other], &["cluster", "leave"]);
    refused.expect_stderr(&["the node stays in the cluster; --force leaves nevertheless"]);
    let left = bankd_ok(&cluster.nodes[other], &["cluster", "leave", "--force"]);
    assert!(
        left.starts_with(&format!("n{other} left the cluster: ")),
        "{left}"
    );
    cluster.server.up();
    cluster.writer(None);
    assert!(
        is_listed(&cluster.nodes[writer], &format!("n{other}")),
        "the log was not asked"
    );
    alone(cluster.nodes.remove(other), 100_000);
    prove(&mut cluster.nodes);
}

/// A restored copy of a node that runs: it neither takes part in its place, nor makes it leave.
#[test]
fn a_copy_of_a_node_that_runs_stays_outside() {
    let Some(mut cluster) = Cluster::of(|log| nodes(log, 2)) else {
        return;
    };
    let writer = cluster.writer(None);
    let name = format!("n{writer}");
    let out = cluster.nodes[writer].folder().join("out");
    let out = out.to_str().unwrap();
    bankd_ok(&cluster.nodes[writer], &["backup", "--out", out]);
    let backups = std::fs::read_dir(out).unwrap();
    let mut backups = backups.map(|entry| entry.unwrap().path());
    let backup = backups.find(|path| path.is_dir()).unwrap();
    let backup = backup.to_str().unwrap();
    // With the name of the node and a listener of its own.
    let env = settings(&cluster.log(), writer, free_port());
    let mut copy = Bank::bare(env);
    bankd_ok(&copy, &["restore", backup]);
    assert!(!copy.start_with(&[]));
    let log = copy.log();
    let what = format!("node {name} runs already with another directory");
    assert!(log.contains(&what), "{log}");
    let refused = bankd(&copy, &["cluster", "leave"]);
    refused.expect_stderr(&["runs with another directory", "--force leaves nevertheless"]);
    bankd_ok(&copy, &["cluster", "leave", "--force"]);
    // The new keys of a copy that never takes part.
    let mut other = Bank::bare(Vec::new());
    let (clock, data) = (other.clock(), other.data());
    let mut restore = Command::new(programs().bankd());
    restore
        .args(["restore", backup, "--rekey", "--data"])
        .arg(data);
    restore.env_clear().env("BANKD_TEST_CLOCK", clock);
    let ran = Ran::of(&mut restore, b"");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    other.start();
    other.bank_ok(&["deposit", "chemistry", "9"]);
    assert_eq!(field(&other, "role"), "null", "no node of a cluster");
    other.verify();
    alone(copy, 100_000);
    // The original wrote all the time.
    cluster.nodes[writer].bank_ok(&["deposit", "chemistry", "5"]);
    assert_eq!(cluster.writer(None), writer);
    assert!(is_listed(&cluster.nodes[1 - writer], &name));
    all_agree(&cluster.nodes, writer);
    prove(&mut cluster.nodes);
}

#[test]
fn the_log_keeps_entries_for_a_node_behind_until_it_is_removed() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let (behind, lost) = ((writer + 1) % 3, (writer + 2) % 3);
    all_agree(&cluster.nodes, writer);
    until_reported(&cluster.nodes[writer], 3);
    for node in [behind, lost] {
        cluster.nodes[node].stop();
    }
    let place = |node: &Bank| -> i64 {
        node.query("SELECT position FROM place")[0][0]
            .parse()
            .unwrap()
    };
    let needed = place(&cluster.nodes[behind]).min(place(&cluster.nodes[lost])) + 1;
    let own = &cluster.nodes[writer];
    for amount in ["1", "2", "3", "4"] {
        own.bank_ok(&["deposit", "chemistry", amount]);
    }
    let trimmed = bankd_ok(own, &["cluster", "trim", "--keep", "1"]);
    let expected = format!(" entries: every node contains those up to {}\n", needed - 1);
    assert!(trimmed.ends_with(&expected), "{expected:?} in {trimmed}");
    assert!(span(own).0 <= needed, "{:?}, {needed}", span(own));
    cluster.nodes[behind].start();
    all_agree(&cluster.nodes, writer);
    all_know(&cluster.nodes, writer);
    until_reported(&cluster.nodes[writer], 2);
    // The machine of the third node is lost.
    let name = format!("n{lost}");
    let remove = |name: &str| bankd(&cluster.nodes[behind], &["cluster", "remove", name]);
    remove("n9").expect_stderr(&["no node n9: `bankd cluster status` lists them"]);
    remove(&format!("n{writer}"))
        .expect_stderr(&["if it runs, stop it and run `bankd cluster leave`"]);
    let age = "UPDATE bank_node SET seen = seen - interval '2 minutes' WHERE node =";
    cluster.server.sql(&[&format!("{age} '{name}'")]);
    let kept = bankd_ok(&cluster.nodes[behind], &["cluster", "trim", "--keep", "1"]);
    let warning = format!(" entries for node {name}, which reported 12");
    assert!(kept.contains(&warning), "{warning:?} in {kept}");
    let removed = remove(&name);
    removed.expect(
        0,
        &format!("{name} is removed: `bankd cluster trim` keeps no more entries for it\n"),
    );
    assert!(!is_listed(&cluster.nodes[writer], &name));
    until_reported(&cluster.nodes[writer], 2);
    bankd_ok(&cluster.nodes[behind], &["cluster", "trim", "--keep", "1"]);
    let first = span(&cluster.nodes[writer]).0;
    assert!(first > needed, "{first}, {needed}");
    // It comes back all the same, and the log does not reach back to it.
    cluster.nodes[lost].start();
    until("the node stopped", || {
        (field(&cluster.nodes[lost], "role") == "stopped").then_some(())
    });
    let why = field(&cluster.nodes[lost], "why");
    let expected = format!(
        "entry {} was deleted from the log; the first one is {first}. This node needs it: make the node again with \
         `bankd cluster join` in an empty directory",
        place(&cluster.nodes[lost]) + 1
    );
    assert!(why.contains(&expected), "{expected:?} in {why}");
    cluster.nodes[lost].stop();
    for name in ["bank.db", "bank.db-wal", "bank.db-shm"] {
        let _ = std::fs::remove_file(cluster.nodes[lost].data().join(name));
    }
    bankd_ok(&cluster.nodes[lost], &["cluster", "join"]);
    cluster.nodes[lost].start();
    all_agree(&cluster.nodes, writer);
    assert_eq!(cluster.nodes[lost].figures("chemistry").0, 100_010);
    prove(&mut cluster.nodes);
}
