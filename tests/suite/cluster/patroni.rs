//! The pair of the harness loses its leader under a client, which loses no acknowledged row, or its etcd.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::nodes::Ending;
use crate::harness::{Link, Patroni, until};

/// Rows that are written before the leader is killed, and after.
const ROWS: usize = 40;
/// How long a failover may take on a slow machine; measured: about `ttl`.
const GAP: Duration = Duration::from_secs(30);

fn psql(connection: &str, statement: &str) -> Option<String> {
    let ran = Command::new("psql")
        .args(["--no-psqlrc", "-qAt", "-v", "ON_ERROR_STOP=1", "-c"])
        .args([statement, connection])
        .output()
        .unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    ran.status.success().then(|| text.trim().to_owned())
}

/// Inserts one row after another until it is told to end; returns when which row was acknowledged.
fn write(connection: &str, acknowledged: &std::sync::Mutex<Vec<Instant>>, ended: &AtomicBool) {
    let mut next = 0;
    while !ended.load(Ordering::Acquire) {
        let statement = format!("INSERT INTO kept VALUES ({next}) ON CONFLICT DO NOTHING");
        if psql(connection, &statement).is_some() {
            acknowledged.lock().unwrap().push(Instant::now());
            next += 1;
        }
    }
}

#[test]
fn a_killed_leader_loses_no_acknowledged_row() {
    let since = Instant::now();
    let Some(mut pair) = Patroni::start() else {
        return;
    };
    println!("ready after {:.1} s", since.elapsed().as_secs_f64());
    let connection = pair.connection();
    let table = "CREATE TABLE kept (id integer PRIMARY KEY)";
    psql(&connection, table).unwrap();
    let (times, ended) = (std::sync::Mutex::new(Vec::new()), AtomicBool::new(false));
    let count = || times.lock().unwrap().len();
    std::thread::scope(|scope| {
        let ending = Ending(&ended);
        scope.spawn(|| write(&connection, &times, &ended));
        until("rows before the kill", || (count() >= ROWS).then_some(()));
        let (leader, killed) = (pair.leader(), Instant::now());
        pair.kill(leader);
        let before = count();
        until("rows after the kill", || {
            (count() >= before + ROWS || killed.elapsed() > GAP).then_some(())
        });
        drop(ending);
        assert!(
            count() >= before + ROWS,
            "no rows in {GAP:?} after the kill"
        );
        assert_ne!(pair.leader(), leader);
        pair.start_again(leader);
    });
    let times = times.into_inner().unwrap();
    let gap = times
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .max()
        .unwrap();
    println!(
        "{} rows, longest gap {:.1} s",
        times.len(),
        gap.as_secs_f64()
    );
    let kept = psql(&connection, "SELECT id FROM kept").unwrap();
    let kept: BTreeSet<usize> = kept.lines().map(|id| id.parse().unwrap()).collect();
    let lost: Vec<usize> = (0..times.len()).filter(|id| !kept.contains(id)).collect();
    assert!(lost.is_empty(), "lost {lost:?}");
    pair.ready();
    println!(
        "the old leader is a standby after {:.1} s",
        since.elapsed().as_secs_f64()
    );
}

#[test]
fn a_stopped_leader_is_replaced_and_a_lost_etcd_comes_back() {
    let Some(mut pair) = Patroni::start() else {
        return;
    };
    let connection = pair.connection();
    let writes = || psql(&connection, "CREATE TEMP TABLE tried (id integer)").is_some();
    let since = Instant::now();
    let leader = pair.leader();
    pair.stop(leader);
    until("the other node leads", || {
        (pair.leader() != leader).then_some(())
    });
    until("the other node writes", || writes().then_some(()));
    let gap = since.elapsed();
    println!(
        "a stopped leader is replaced after {:.1} s",
        gap.as_secs_f64()
    );
    // Not `cont`: its comment describes what the old leader may do then.
    pair.kill(leader);
    pair.start_again(leader);
    pair.ready();
    assert_ne!(pair.leader(), leader);
    pair.stop(leader);
    pair.cont(leader);
    pair.ready();

    // Without etcd the leader cannot renew its lock and gives up.
    pair.stop_etcd();
    until("nobody writes without etcd", || (!writes()).then_some(()));
    pair.cont_etcd();
    until("writes after etcd", || writes().then_some(()));
    pair.kill_etcd();
    pair.start_etcd();
    pair.ready();

    let link = Link::to(&pair.address(pair.leader()));
    let port = link.address().port();
    let linked = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres");
    assert_eq!(psql(&linked, "SELECT 1").as_deref(), Some("1"));
    link.cut();
    assert_eq!(psql(&linked, "SELECT 1"), None);
    println!("all of it took {:.1} s", since.elapsed().as_secs_f64());
}
