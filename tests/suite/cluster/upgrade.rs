//! Versions with different schemas in one cluster. The tests give files and entries the number of an older or a later
//! schema: migration 46 changes no table, so a file of version 45 is one without its row.

use super::nodes::{Cluster, all_agree, bankd, field, nodes, prove};
use crate::harness::{Bank, until};

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
