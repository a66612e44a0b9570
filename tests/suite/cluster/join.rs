//! Nodes that are made from a copy of another node, secrets of keys that reach every node, and logs of older versions.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::nodes::{
    Cluster, all_agree, all_know, bankd, bankd_ok, nodes, nodes_of, prove, settings,
};
use crate::harness::{Bank, Link, Request, SECRET, Setup, Signing, free_port, until};

/// A machine with settings only.
fn machine(cluster: &Cluster, number: usize) -> Bank {
    Bank::bare(settings(&cluster.log(), number, free_port()))
}

/// The status of a signed question.
fn asked(node: &Bank, key: &str, secret: &[u8]) -> u16 {
    let signing = Signing {
        keyid: key.to_owned(),
        secret: secret.to_vec(),
        ..Signing::new()
    };
    let question = signing.sign_all(Request::get("/api/v1/balances"));
    node.over_tcp(&question).status
}

#[track_caller]
fn until_asked(nodes: &[Bank], key: &str, secret: &[u8], status: u16) {
    for (number, node) in nodes.iter().enumerate() {
        until(
            &format!("node {number} answers {key} with {status}"),
            || (asked(node, key, secret) == status).then_some(()),
        );
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_node_is_made_from_a_copy_that_it_fetches() {
    let Some(mut cluster) = Cluster::of(|log| nodes(log, 2)) else {
        return;
    };
    let writer = cluster.writer(None);
    cluster.nodes[writer].bank_ok(&["deposit", "chemistry", "5"]);
    all_agree(&cluster.nodes, writer);
    let mut new = machine(&cluster, 2);
    // What an interrupted attempt left.
    let partial = new.data().join(".join-partial");
    fs::create_dir_all(&partial).unwrap();
    fs::write(partial.join("bank.db"), "half").unwrap();
    let printed = bankd_ok(&new, &["cluster", "join"]);
    for line in [
        format!("copy     of node n{} at http://", 1 - writer),
        "copy     100 % of ".to_owned(),
        "n2 is a node of the cluster, at position ".to_owned(),
        "next     bankd serve".to_owned(),
    ] {
        assert!(printed.contains(&line), "{line:?} in {printed}");
    }
    assert!(!partial.exists());
    for (name, mask) in [("bank.db", 0o600), ("keys", 0o700), ("keys/moab", 0o600)] {
        assert_eq!(mode(&new.data().join(name)), mask, "{name}");
    }
    for node in &cluster.nodes {
        assert!(!node.data().join(".cluster-copy").exists(), "no copy stays");
    }
    let again = bankd(&new, &["cluster", "join"]);
    assert_ne!(again.exit, 0);
    assert!(
        again.stderr.contains("is there already"),
        "{}",
        again.stderr
    );
    new.start();
    assert_eq!(asked(&new, "moab", SECRET), 200, "its keys are there");
    cluster.nodes.push(new);
    all_know(&cluster.nodes, writer);
    cluster.nodes[2].bank_ok(&["deposit", "chemistry", "6"]);
    all_agree(&cluster.nodes, writer);
    assert_eq!(cluster.nodes[2].figures("chemistry").0, 100_011);
    prove(&mut cluster.nodes);
}

#[test]
fn a_copy_is_of_the_next_node_if_one_does_not_answer() {
    let Some(mut cluster) = Cluster::of(|log| nodes(log, 2)) else {
        return;
    };
    let writer = cluster.writer(None);
    let new = machine(&cluster, 2);
    let refused = |words: &[&str], why: &str| {
        let ran = bankd(&new, &[&["cluster", "join"], words].concat());
        assert_ne!(ran.exit, 0, "{}", ran.stdout);
        assert!(ran.stderr.contains(why), "{why:?} in {}", ran.stderr);
        assert!(!new.data().join("bank.db").exists());
        assert!(!new.data().join(".join-partial").exists());
    };
    refused(&["--from", "n9"], "no node n9");
    refused(&["--bank", "another"], "the log contains no bank another");
    refused(&["--restored"], "no bank in");
    let follower = &cluster.nodes[1 - writer];
    follower.signal("STOP");
    let from = format!("n{}", 1 - writer);
    refused(&["--from", &from, "--timeout", "1"], "no answer within 1 s");
    let printed = bankd_ok(&new, &["cluster", "join", "--timeout", "20"]);
    follower.signal("CONT");
    let next = format!("copy     of node n{writer} at http://");
    assert!(printed.contains(&next), "{printed}");
    for node in &mut cluster.nodes {
        node.stop();
    }
    let third = machine(&cluster, 3);
    let ran = bankd(&third, &["cluster", "join"]);
    assert_ne!(ran.exit, 0);
    assert!(
        ran.stderr.contains("no node gives a copy: node n"),
        "{}",
        ran.stderr
    );
    assert!(!third.data().join("bank.db").exists());
}

#[test]
fn secrets_of_keys_reach_every_node_and_leave_it() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let other = (writer + 1) % 3;
    let file = cluster.nodes[0].folder().join("portal.key");
    let secret = b"a secret of the portal, 32 bytes or more";
    fs::write(&file, secret).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let add = |node: &Bank, id: &str| {
        let words = ["key", "add", id, "--role", "admin", "--secret-file"];
        node.bank_ok(&[&words[..], &[file.to_str().unwrap()]].concat());
    };
    for (node, id) in [(writer, "portal"), (other, "passed")] {
        add(&cluster.nodes[node], id);
        until_asked(&cluster.nodes, id, secret, 200);
        for node in &cluster.nodes {
            assert_eq!(mode(&node.data().join("keys").join(id)), 0o600);
        }
    }
    cluster.nodes[writer].bank_ok(&["key", "set", "portal", "--active", "no"]);
    until_asked(&cluster.nodes, "portal", secret, 401);
    cluster.nodes[writer].bank_ok(&["key", "rm", "passed", "--yes"]);
    until_asked(&cluster.nodes, "passed", secret, 401);
    for node in &cluster.nodes {
        until("the secret of a removed key is removed", || {
            (!node.data().join("keys/passed").exists()).then_some(())
        });
    }
    let stored = cluster.server.sql(&["SELECT id FROM bank_key ORDER BY id"]);
    assert_eq!(stored, "admin\nmoab\nportal\n");
    // A node that was away, with a file of a command that was undone: the database wins.
    cluster.nodes[other].stop();
    add(&cluster.nodes[writer], "late");
    let stale = cluster.nodes[other].data().join("keys/late");
    fs::write(&stale, "a secret that no key has").unwrap();
    fs::set_permissions(&stale, fs::Permissions::from_mode(0o600)).unwrap();
    cluster.nodes[other].start();
    until_asked(&cluster.nodes, "late", secret, 200);
    // The old key ends by itself, and the new one is there at once.
    cluster.nodes[other].bank_ok(&[
        "key",
        "rotate",
        "late",
        "--secret-file",
        file.to_str().unwrap(),
        "--overlap",
        "0s",
    ]);
    until_asked(&cluster.nodes, "late-2", secret, 200);
    until_asked(&cluster.nodes, "late", secret, 401);
    // The next writer has it too.
    cluster.nodes[writer].kill();
    let next = cluster.writer(Some(writer));
    assert_eq!(asked(&cluster.nodes[next], "late-2", secret), 200);
    cluster.nodes[writer].start();
    all_agree(&cluster.nodes, next);
    prove(&mut cluster.nodes);
}

#[test]
fn a_log_of_an_older_version_gets_its_secrets() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    for node in &mut cluster.nodes {
        node.stop();
    }
    cluster
        .server
        .sql(&["DROP TABLE bank_secret", "DROP TABLE bank_key"]);
    for node in &mut cluster.nodes {
        node.start();
    }
    let writer = cluster.writer(None);
    let follower = &cluster.nodes[(writer + 1) % 3];
    // Signed with the secret that the first node made.
    until("a follower passes a command", || {
        (follower.bank(&["deposit", "chemistry", "5"]).exit == 0).then_some(())
    });
    until("the writer stored the secrets of the keys", || {
        let stored = cluster.server.sql(&["SELECT id FROM bank_key ORDER BY id"]);
        (stored == "admin\nmoab\n").then_some(())
    });
    let count = "SELECT count(*) FROM bank_secret";
    assert_eq!(cluster.server.sql(&[count]), "1\n");
    all_agree(&cluster.nodes, writer);
    prove(&mut cluster.nodes);
}

#[test]
fn the_writer_answers_a_read_that_a_follower_cannot() {
    let mut kept = None;
    let Some(mut cluster) = Cluster::of(|log| {
        let (host, port) = ("127.0.0.1", log.rsplit_once(':').unwrap().1);
        let server = format!("{host}:{}", port.split_once('/').unwrap().0);
        let link = Link::to(&server);
        let own = format!("@{}/", link.address());
        let behind = log.replace(&format!("@{server}/"), &own);
        kept = Some(link);
        nodes_of(Setup::new().start(), &[log.to_owned(), behind], &[])
    }) else {
        return;
    };
    let link = kept.unwrap();
    if cluster.writer(None) == 1 {
        bankd_ok(&cluster.nodes[1], &["cluster", "promote", "n0"]);
        until("n0 writes", || (cluster.writer(None) == 0).then_some(()));
    }
    all_agree(&cluster.nodes, 0);
    let (own, follower) = (&cluster.nodes[0], &cluster.nodes[1]);
    link.hang();
    own.bank_ok(&["deposit", "chemistry", "5"]);
    let balances = Request::get("/api/v1/balances");
    let position = |answer: &crate::harness::Response| {
        let field = answer.header("bank-position").expect("no Bank-Position");
        field.parse::<i64>().unwrap()
    };
    let at = position(&own.over_socket(&balances));
    let old = follower.over_socket(&balances);
    assert!(position(&old) < at, "it does not follow now");
    assert!(!old.text().contains("100005"), "{}", old.text());
    let newer = balances.clone().header("Bank-Position", &at.to_string());
    let answer = follower.over_socket(&newer);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(position(&answer) >= at, "the writer's position");
    assert!(answer.text().contains("100005"), "{}", answer.text());
    // The same for a caller with a signature: the writer verifies it.
    let signed = Signing::new().sign_all(newer);
    let answer = follower.over_tcp(&signed);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(position(&answer) >= at);
    link.heal();
    all_agree(&cluster.nodes, 0);
    prove(&mut cluster.nodes);
}
