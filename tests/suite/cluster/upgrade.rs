//! Versions with different schemas in one cluster. The tests give files and entries the number of an older or a later
//! schema: the last migration changes no table and may run twice, so a file of the version before is one without its row in
//! the table `migration`. With `BANKD_TEST_SCHEMA`, the program is one of that version.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::nodes::{
    Cluster, Ending, all_agree, all_know, bankd, bankd_ok, field, nodes, nodes_of, prove,
};
use crate::harness::{Address, Bank, Documents, Request, Setup, Signing, exchange, pause, until};

/// The schema before that of this program, and the one after, in the head of an entry: its bytes 3 to 10.
fn renumbered(schema: i64, and: &str) -> String {
    format!("UPDATE bank_log SET body = set_byte(set_byte(body, 9, {schema}), 8, 0) {and}")
}

fn schema_of(bank: &Bank) -> i64 {
    bank.query("PRAGMA user_version")[0][0].parse().unwrap()
}

/// Gives the file of a stopped node the schema before.
fn set_back(bank: &Bank) {
    let now = schema_of(bank);
    let connection = rusqlite::Connection::open(bank.data().join("bank.db")).unwrap();
    let sql = format!(
        "DELETE FROM migration WHERE number = {now}; PRAGMA user_version = {};",
        now - 1
    );
    connection.execute_batch(&sql).unwrap();
}

/// The last position in the log.
fn last(cluster: &Cluster) -> i64 {
    let text = cluster.server.sql(&["SELECT max(position) FROM bank_log"]);
    text.trim().parse().unwrap()
}

#[test]
fn a_node_of_an_older_version_stops_at_the_migration() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    all_agree(&cluster.nodes, writer);
    for node in &mut cluster.nodes {
        node.stop();
    }
    // The first entry of a writer with the next schema.
    let next = schema_of(&cluster.nodes[0]) + 1;
    let before = last(&cluster);
    let at = before + 1;
    let insert = format!(
        "INSERT INTO bank_log SELECT bank, {at}, epoch + 1, '\\x000102030405060708090a0b0c0d0e0f'::bytea, \
         '\\x01000000000000000000'::bytea || '\\x0000000000000000'::bytea, hash_after, hash_after, at \
         FROM bank_log WHERE position = {before}"
    );
    cluster.server.sql(&[
        &insert,
        &renumbered(next, &format!("WHERE position = {at}")),
        &format!(
            "UPDATE bank_writer SET epoch = epoch + 1, node = 'n9', address = 'http://127.0.0.1:9', \
             durable = {at}, seen = clock_timestamp()"
        ),
    ]);
    for node in &mut cluster.nodes {
        node.start();
    }
    for (number, node) in cluster.nodes.iter().enumerate() {
        until("the node stopped", || {
            (field(node, "role") == "stopped").then_some(())
        });
        let why = field(node, "why");
        let expected = format!(
            "node n{number} stopped at position {at}: the writer migrated the bank to schema version {next}, and \
             this program has {}: install the version of the writer",
            next - 1
        );
        assert!(why.contains(&expected), "{expected:?} in {why}");
        assert!(node.log().contains(&expected), "{}", node.log());
        assert_eq!(field(node, "position"), before.to_string());
        node.bank_ok(&["balance"]);
        assert_ne!(node.bank(&["deposit", "chemistry", "1"]).exit, 0);
    }
    for node in &mut cluster.nodes {
        node.stop();
    }
}

#[test]
fn a_newer_version_migrates_its_file_where_the_log_does() {
    let Some(mut cluster) = Cluster::of(|log| nodes(log, 2)) else {
        return;
    };
    let writer = cluster.writer(None);
    let other = 1 - writer;
    all_agree(&cluster.nodes, writer);
    cluster.nodes[other].stop();
    let behind: i64 = cluster.nodes[other].query("SELECT position FROM place")[0][0]
        .parse()
        .unwrap();
    let ours = schema_of(&cluster.nodes[other]);
    // What the writer wrote before its own migration: entries of the older schema.
    for amount in ["1", "2", "3"] {
        cluster.nodes[writer].bank_ok(&["deposit", "chemistry", amount]);
    }
    let older = last(&cluster);
    cluster
        .server
        .sql(&[&renumbered(ours - 1, &format!("WHERE position <= {older}"))]);
    cluster.nodes[writer].bank_ok(&["deposit", "chemistry", "4"]);
    set_back(&cluster.nodes[other]);
    // As a restored backup of the older version too.
    let joined = bankd(&cluster.nodes[other], &["cluster", "join", "--restored"]);
    assert_eq!(joined.exit, 0, "{}", joined.stderr);
    let expected = format!("schema   version {}: `bankd serve` migrates", ours - 1);
    assert!(joined.stdout.contains(&expected), "{}", joined.stdout);
    cluster.nodes[other].start();
    all_agree(&cluster.nodes, writer);
    assert_eq!(schema_of(&cluster.nodes[other]), ours);
    assert_eq!(cluster.nodes[other].figures("chemistry").0, 100_010);
    let log = cluster.nodes[other].log();
    assert!(
        log.contains("the database is migrated behind this position"),
        "{log}"
    );
    assert!(
        behind < older,
        "it applied entries of the older schema first"
    );
    prove(&mut cluster.nodes);
}

#[test]
fn the_first_node_of_a_newer_version_becomes_the_writer_and_migrates() {
    let Some(mut cluster) = Cluster::of(|log| nodes(log, 2)) else {
        return;
    };
    let writer = cluster.writer(None);
    cluster.nodes[writer].bank_ok(&["deposit", "chemistry", "5"]);
    all_agree(&cluster.nodes, writer);
    for node in &mut cluster.nodes {
        node.stop();
    }
    let ours = schema_of(&cluster.nodes[0]);
    for node in &cluster.nodes {
        set_back(node);
    }
    let older = last(&cluster);
    cluster.server.sql(&[&renumbered(ours - 1, "")]);
    // Both begin with the older file: one takes the lease and migrates, the other follows it.
    for node in &mut cluster.nodes {
        node.start();
    }
    let writer = cluster.writer(None);
    cluster.nodes[writer].bank_ok(&["deposit", "chemistry", "6"]);
    all_agree(&cluster.nodes, writer);
    for node in &cluster.nodes {
        assert_eq!(schema_of(node), ours);
        assert_eq!(node.figures("chemistry").0, 100_011);
    }
    let first = format!(
        "SELECT get_byte(body, 9) FROM bank_log WHERE position = {}",
        older + 1
    );
    let first = cluster.server.sql(&[&first]);
    assert_eq!(first.trim(), ours.to_string(), "the entry of the migration");
    prove(&mut cluster.nodes);
}

/// The variable that makes the program one of an earlier schema.
const OLDER: &str = "BANKD_TEST_SCHEMA";

/// Nodes of a program with the schema before.
fn older_nodes(log: &str, count: usize) -> Vec<Bank> {
    let mut first = Setup::new().start();
    first.stop();
    let older = (schema_of(&first) - 1).to_string();
    set_back(&first);
    first.set_env(vec![(OLDER.to_owned(), older.clone())]);
    first.start();
    nodes_of(first, &vec![log.to_owned(); count], &[(OLDER, &older)])
}

/// Installs the program of this version: it is used from the next start on.
fn install(bank: &mut Bank) {
    let env = bank.env().iter().filter(|(name, _)| name != OLDER);
    bank.set_env(env.cloned().collect());
}

/// The addresses of nodes, which stay the same when they start again.
fn addresses(nodes: &[Bank]) -> Vec<String> {
    nodes.iter().map(Bank::tcp).collect()
}

/// Charges one job after another at any node that answers, until the end; returns how many were answered.
fn charges(addresses: &[String], ends: &AtomicBool, answered: &Mutex<usize>) {
    let document = String::from_utf8(Documents::own().get(4)).unwrap();
    let mut at = 0;
    while !ends.load(Ordering::Acquire) {
        let key = format!("charge-{}", *answered.lock().unwrap());
        let body = document.replace("Moab.1", &format!("Moab.{key}"));
        loop {
            let request = Signing::new().sign(Request::nami("charge", &key, body.as_bytes()));
            let address = Address::Tcp(addresses[at % addresses.len()].clone());
            at += 1;
            if exchange(&address, &request).is_ok_and(|answer| answer.status == 200) {
                break;
            }
            pause(std::time::Duration::from_millis(20));
        }
        *answered.lock().unwrap() += 1;
    }
}

/// Waits until more charges are answered.
fn until_more(answered: &Mutex<usize>) {
    let before = *answered.lock().unwrap();
    until("charges are answered", || {
        (*answered.lock().unwrap() > before + 3).then_some(())
    });
}

/// A node of the new version that waits for the writer of the older one, until that one is replaced by it; the charges
/// go on meanwhile.
fn replaced(
    cluster: &mut Cluster,
    (writer, new): (usize, usize),
    answered: &Mutex<usize>,
    replace: impl FnOnce(&mut [Bank]),
) {
    let mut node = cluster.nodes.remove(new);
    // The others move up.
    let writer = if writer > new { writer - 1 } else { writer };
    node.stop();
    install(&mut node);
    let (folder, name) = (node.folder().to_owned(), format!("n{new}"));
    let log = || std::fs::read_to_string(folder.join("bankd.log")).unwrap_or_default();
    std::thread::scope(|scope| {
        let starting = scope.spawn(|| node.start());
        let waits = format!(
            "has an older version of bankd: this node waits with schema version {} and answers nothing. `bankd cluster \
             promote {name}` makes it the writer, which migrates the bank",
            schema_of(&cluster.nodes[writer])
        );
        until("the new version waits", || {
            log().contains(&waits).then_some(())
        });
        until_more(answered);
        // It follows all the time: the log can be trimmed, and it is ready to write.
        let reached: i64 = field(&cluster.nodes[writer], "position").parse().unwrap();
        until("the waiting node follows", || {
            let shown = bankd_ok(&cluster.nodes[writer], &["cluster", "status"]);
            let line = shown
                .lines()
                .find(|line| line.contains(&format!("node     {name} at ")));
            let at = line.and_then(|line| {
                line.split_once("position ")?
                    .1
                    .split_once(' ')?
                    .0
                    .parse()
                    .ok()
            });
            at.is_some_and(|at: i64| at >= reached).then_some(())
        });
        assert!(!starting.is_finished(), "{}", log());
        replace(&mut cluster.nodes);
        starting.join().unwrap();
    });
    cluster.nodes.insert(new, node);
}

/// The number of the charges that the bank contains by their keys, and by their jobs.
fn kept(bank: &Bank) -> [String; 2] {
    let keys = "SELECT count(*) FROM idempotency WHERE key LIKE 'charge-%'";
    let jobs = "SELECT count(*) FROM instance WHERE object_id LIKE 'Moab.charge-%'";
    [keys, jobs].map(|sql| bank.query(sql)[0][0].clone())
}

#[test]
fn versions_live_together_until_the_new_one_is_promoted() {
    let Some(mut cluster) = Cluster::of(|log| older_nodes(log, 3)) else {
        return;
    };
    let writer = cluster.writer(None);
    all_know(&cluster.nodes, writer);
    let (new, old) = ((writer + 1) % 3, (writer + 2) % 3);
    let older = schema_of(&cluster.nodes[writer]);
    let addresses = addresses(&cluster.nodes);
    let (ends, answered) = (AtomicBool::new(false), Mutex::new(0));
    std::thread::scope(|scope| {
        let ending = Ending(&ends);
        scope.spawn(|| charges(&addresses, &ends, &answered));
        until_more(&answered);
        let name = format!("n{new}");
        replaced(&mut cluster, (writer, new), &answered, |others| {
            bankd_ok(&others[0], &["cluster", "promote", &name]);
        });
        // The new version writes, and both others stopped at its first entry.
        until("the new version writes", || {
            (field(&cluster.nodes[new], "role") == "writer").then_some(())
        });
        for node in [writer, old] {
            until("the older version stopped", || {
                (field(&cluster.nodes[node], "role") == "stopped").then_some(())
            });
            let (at, why) = (
                field(&cluster.nodes[node], "position")
                    .parse::<i64>()
                    .unwrap()
                    + 1,
                field(&cluster.nodes[node], "why"),
            );
            let expected = format!(
                "node n{node} stopped at position {at}: the writer migrated the bank to schema version {}, and this \
                 program has {older}: install the version of the writer on this machine and start it",
                older + 1
            );
            assert!(why.contains(&expected), "{expected:?} in {why}");
            cluster.nodes[node].bank_ok(&["balance"]);
            until("it passes commands", || {
                (cluster.nodes[node]
                    .bank(&["user", "set", "amy", "--description", "x"])
                    .exit
                    == 0)
                    .then_some(())
            });
        }
        until_more(&answered);
        for node in [old, writer] {
            cluster.nodes[node].stop();
            install(&mut cluster.nodes[node]);
            cluster.nodes[node].start();
            until_more(&answered);
        }
        drop(ending);
    });
    let now = cluster.writer(None);
    all_agree(&cluster.nodes, now);
    let answered = answered.into_inner().unwrap().to_string();
    for node in &cluster.nodes {
        assert_eq!(schema_of(node), older + 1);
        assert_eq!(
            kept(node),
            [answered.clone(), answered.clone()],
            "each answered charge once"
        );
    }
    prove(&mut cluster.nodes);
}

#[test]
fn the_new_version_migrates_when_the_older_writer_stops() {
    let Some(mut cluster) = Cluster::of(|log| older_nodes(log, 2)) else {
        return;
    };
    let writer = cluster.writer(None);
    all_know(&cluster.nodes, writer);
    let older = schema_of(&cluster.nodes[writer]);
    let addresses = addresses(&cluster.nodes);
    let (ends, answered) = (AtomicBool::new(false), Mutex::new(0));
    std::thread::scope(|scope| {
        let ending = Ending(&ends);
        scope.spawn(|| charges(&addresses, &ends, &answered));
        until_more(&answered);
        replaced(&mut cluster, (writer, 1 - writer), &answered, |others| {
            others[0].stop();
        });
        until_more(&answered);
        // The older version, started again without an installation.
        cluster.nodes[writer].start();
        until("the older version stopped", || {
            (field(&cluster.nodes[writer], "role") == "stopped").then_some(())
        });
        cluster.nodes[writer].stop();
        install(&mut cluster.nodes[writer]);
        cluster.nodes[writer].start();
        drop(ending);
    });
    all_agree(&cluster.nodes, 1 - writer);
    let answered = answered.into_inner().unwrap().to_string();
    for node in &cluster.nodes {
        assert_eq!(schema_of(node), older + 1);
        assert_eq!(
            kept(node),
            [answered.clone(), answered.clone()],
            "each answered charge once"
        );
    }
    prove(&mut cluster.nodes);
}
