//! Rounds of faults under load: three daemons, a `PostgreSQL` that fails over. `BANK_CLUSTER_ROUNDS=200` runs more of
//! them than the gate does. What is counted is printed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::nodes::{all_agree, nodes, prove, writer};
use crate::harness::{Address, Bank, Documents, Patroni, Request, Signing, exchange, pause, until};

/// Rounds of the gate.
const ROUNDS: usize = 10;
/// How long a fault lasts.
const FAULT: Duration = Duration::from_secs(5);
/// How long load runs before a fault and after it.
const LOAD: Duration = Duration::from_secs(1);

/// What was answered, and the longest time without an answer.
#[derive(Default)]
struct Seen {
    answered: usize,
    gaps: Vec<Duration>,
}

/// Sends one charge after another, each to the nodes in turn until one answers it.
fn load(addresses: &[String], ends: &AtomicBool, seen: &Mutex<Seen>) {
    let mut last = Instant::now();
    let mut at = 0;
    while !ends.load(Ordering::Acquire) {
        let key = {
            let seen = seen.lock().unwrap();
            format!("charge-{}", seen.answered)
        };
        let body = String::from_utf8(Documents::own().get(4)).unwrap();
        let body = body.replace("Moab.1", &format!("Moab.{key}"));
        loop {
            let request = Request::nami("charge", &key, body.as_bytes());
            let request = Signing::new().sign(request);
            let address = Address::Tcp(addresses[at % addresses.len()].clone());
            let answered = exchange(&address, &request).is_ok_and(|answer| answer.status == 200);
            if answered {
                break;
            }
            at += 1;
            pause(Duration::from_millis(20));
        }
        let mut seen = seen.lock().unwrap();
        seen.answered += 1;
        seen.gaps.push(last.elapsed());
        last = Instant::now();
    }
}

/// One fault and its end; true if it was one of the bank's writer.
fn fault(kind: usize, nodes: &mut [Bank], patroni: &mut Patroni) {
    let now = writer(nodes, None);
    let other = (now + 1) % nodes.len();
    match kind % 5 {
        0 => {
            nodes[now].kill();
            pause(FAULT);
            nodes[now].start();
        }
        1 => {
            nodes[now].signal("STOP");
            pause(FAULT);
            nodes[now].signal("CONT");
        }
        2 => {
            nodes[other].kill();
            pause(FAULT / 4);
            nodes[other].start();
        }
        3 => {
            let leader = patroni.leader();
            patroni.kill(leader);
            pause(FAULT * 2);
            patroni.start_again(leader);
            patroni.ready();
        }
        _ => {
            nodes[other].signal("STOP");
            pause(FAULT / 2);
            nodes[other].signal("CONT");
        }
    }
}

#[test]
fn rounds_of_faults_lose_nothing_and_double_nothing() {
    let Some(mut patroni) = Patroni::start() else {
        return;
    };
    let rounds = std::env::var_os("BANK_CLUSTER_ROUNDS");
    let rounds = rounds
        .and_then(|text| text.to_str()?.parse().ok())
        .unwrap_or(ROUNDS);
    let mut all = nodes(&patroni.connection(), 3);
    writer(&all, None);
    let addresses: Vec<String> = all.iter().map(Bank::tcp).collect();
    let (ends, seen) = (AtomicBool::new(false), Mutex::new(Seen::default()));
    let mut worst = [Duration::ZERO; 5];
    std::thread::scope(|scope| {
        scope.spawn(|| load(&addresses, &ends, &seen));
        for round in 0..rounds {
            pause(LOAD);
            seen.lock().unwrap().gaps.clear();
            fault(round, &mut all, &mut patroni);
            let before = seen.lock().unwrap().answered;
            until("answers after a fault", || {
                (seen.lock().unwrap().answered > before).then_some(())
            });
            let gap = seen
                .lock()
                .unwrap()
                .gaps
                .iter()
                .copied()
                .max()
                .unwrap_or_default();
            let kind = &mut worst[round % 5];
            *kind = gap.max(*kind);
        }
        ends.store(true, Ordering::Release);
    });
    let answered = seen.lock().unwrap().answered;
    let now = writer(&all, None);
    all_agree(&all, now);
    let sql = "SELECT count(*), count(DISTINCT key) FROM idempotency WHERE key LIKE 'charge-%'";
    let sums = "SELECT count(*) FROM instance WHERE object_id LIKE 'Moab.charge-%'";
    let names = [
        "writer killed",
        "writer stopped",
        "follower killed",
        "PostgreSQL killed",
        "follower stopped",
    ];
    for (name, gap) in names.iter().zip(worst) {
        println!(
            "{name}: longest time without an answer {} ms",
            gap.as_millis()
        );
    }
    println!("{rounds} rounds: {answered} answered");
    let (kept, jobs) = (all[now].query(sql), all[now].query(sums));
    let answered = answered.to_string();
    assert_eq!(
        kept,
        [[answered.clone(), answered.clone()]],
        "each answered charge is kept once"
    );
    assert_eq!(jobs, [[answered]], "and billed once");
    prove(&mut all);
}
