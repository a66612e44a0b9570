//! `bankd cluster join` that is killed while its copy is on the way, and run again.

use std::fmt::Write as _;
use std::fs;
use std::process::{Child, Command, Stdio};

use super::nodes::{Cluster, all_agree, bankd, bankd_ok, nodes_of, prove, settings};
use crate::harness::{Bank, Link, Setup, T0, free_port, programs, until};

/// Bytes of a piece of the copy.
const PIECE: u64 = 4 << 20;
/// Jobs that make the bank larger than a piece.
const JOBS: usize = 6_000;

/// A bank that is fetched in several pieces.
fn large() -> Bank {
    let bank = Setup::new().start();
    bank.set_clock(T0 + 86_400);
    let mut text =
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n".to_owned();
    for job in 0..JOBS {
        let minute = job % 60;
        writeln!(
            text,
            "{job}|colony|amy|chemistry|COMPLETED|0:0|2025-12-31T00:00:00|\
             2025-12-31T01:{minute:02}:00|2025-12-31T02:{minute:02}:00|1|2"
        )
        .unwrap();
    }
    let file = bank.folder().join("jobs.sacct");
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    bank.bank_ok(&["import", "sacct", path, "--source", "slurm:colony"]);
    bank
}

/// `bankd cluster join`, killed with the test.
struct Joining(Child);

impl Joining {
    fn start(bank: &Bank) -> Self {
        let mut command = Command::new(programs().bankd());
        command.args(["cluster", "join", "--data"]).arg(bank.data());
        command.env_clear().envs(bank.env().iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Joining {
    fn drop(&mut self) {
        // SIGKILL.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A directory that must not count as a bank.
#[track_caller]
fn no_bank(new: &mut Bank) {
    for name in ["bank.db", "bank.db-wal", "bank.db-shm"] {
        assert!(!new.data().join(name).exists(), "{name}");
    }
    assert!(!new.start_with(&[]), "nothing to serve");
    assert!(new.log().contains("no bank in"), "{}", new.log());
    let hint = "hint: `bankd cluster join` was interrupted here: run it again";
    let is_begun = new.data().join(".join-partial").exists();
    assert_eq!(new.log().contains(hint), is_begun, "{}", new.log());
    let restored = bankd(new, &["cluster", "join", "--restored"]);
    assert_ne!(restored.exit, 0, "{}", restored.stdout);
    let verified = bankd(new, &["verify"]);
    assert_ne!(verified.exit, 0, "{}", verified.stdout);
}

#[test]
fn a_killed_join_leaves_no_bank_and_is_run_again() {
    let port = free_port();
    let link = Link::to(&format!("127.0.0.1:{port}"));
    let Some(mut cluster) = Cluster::of(|log| {
        // The other nodes reach the first one over the link.
        let more = [
            ("BANKD_HTTP_LISTEN", format!("127.0.0.1:{port}")),
            (
                "BANKD_CLUSTER_ADDRESS",
                format!("http://{}", link.address()),
            ),
        ];
        let more = more.each_ref().map(|(name, value)| (*name, &**value));
        nodes_of(large(), &[log.to_owned()], &more)
    }) else {
        return;
    };
    cluster.writer(None);
    let mut new = Bank::bare(settings(&cluster.log(), 1, free_port()));
    new.set_clock(T0 + 86_400);
    let partial = new.data().join(".join-partial");
    let arrived = || fs::metadata(partial.join("bank.db")).map_or(0, |file| file.len());
    // In the answer about the copy, in its first piece, and in its second one.
    for (after, whole) in [
        (100, None),
        (100_000, Some(0)),
        (PIECE + 100_000, Some(PIECE)),
    ] {
        link.hang_after(after);
        let joining = Joining::start(&new);
        until("the copy is on the way", || link.is_hanging().then_some(()));
        if let Some(whole) = whole {
            until("pieces are there", || (arrived() == whole).then_some(()));
            assert!(partial.join("bank.db").exists());
        }
        drop(joining);
        link.heal();
        no_bank(&mut new);
    }
    // The whole is there and checked, and has not the name of the bank yet.
    let trap = [("BANKD_KILL_AT".to_owned(), "join_entered".to_owned())];
    let env = new.env().to_vec();
    new.set_env([&env[..], &trap].concat());
    let ended = bankd(&new, &["cluster", "join"]);
    assert_eq!(ended.exit, -1, "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stdout.contains("copy     100 % of "),
        "{}",
        ended.stdout
    );
    assert!(arrived() > PIECE + 100_000, "{}", ended.stdout);
    new.set_env(env);
    no_bank(&mut new);
    // What was written meanwhile is in the next copy or behind it.
    cluster.nodes[0].bank_ok(&["deposit", "chemistry", "5"]);
    let printed = bankd_ok(&new, &["cluster", "join"]);
    assert!(printed.contains("n1 is a node of the cluster"), "{printed}");
    assert!(!partial.exists());
    let given = cluster.nodes[0].data().join(".cluster-copy");
    assert!(!given.exists(), "no copy stays at the other node");
    new.start();
    cluster.nodes.push(new);
    all_agree(&cluster.nodes, 0);
    prove(&mut cluster.nodes);
}

#[test]
fn a_name_that_another_node_uses_is_refused() {
    let Some(cluster) = Cluster::of(|log| super::nodes::nodes(log, 2)) else {
        return;
    };
    super::leave::until_reported(&cluster.nodes[0], 2);
    let name_of = |name: &str, address: &str| {
        let mut env = settings(&cluster.log(), 2, free_port());
        for (setting, value) in &mut env {
            match setting.as_str() {
                "BANKD_CLUSTER_NODE" => name.clone_into(value),
                "BANKD_CLUSTER_ADDRESS" if !address.is_empty() => address.clone_into(value),
                _ => {}
            }
        }
        let new = Bank::bare(env);
        let ran = bankd(&new, &["cluster", "join"]);
        assert_ne!(ran.exit, 0, "{}", ran.stdout);
        assert!(!new.data().join("bank.db").exists());
        ran.stderr
    };
    let first = format!("http://{}", cluster.nodes[0].tcp());
    for (name, address, expected) in [
        // Settings that were copied, and not changed.
        (
            "n0",
            first.as_str(),
            "node n0 runs already: choose another cluster.node and cluster.address".to_owned(),
        ),
        (
            "n0",
            "",
            format!("node n0 is known at {first}: choose another"),
        ),
        (
            "n2",
            first.as_str(),
            format!("node n0 is known at {first}: choose another"),
        ),
    ] {
        let refused = name_of(name, address);
        assert!(refused.contains(&expected), "{expected:?} in {refused}");
    }
}
