//! Rounds of faults under load over every listener: three daemons, a `PostgreSQL` that fails over.
//! `BANK_CLUSTER_ROUNDS=200` runs more of them than the gate does, and `BANK_CLUSTER_FAULTS="writer killed"` those of
//! these names only, separated by commas. Counts and times without an answer are printed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::doors::{DOORS, Doors, nodes_with_doors};
use super::nodes::{Ending, all_agree, prove, writer};
use crate::harness::{
    Address, Bank, Documents, Link, Patroni, Request, Signing, exchange, pause, until,
};

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

/// The bank, its log, and the links between them.
struct Ground {
    nodes: Vec<Bank>,
    /// Of each node, to both servers of the log.
    links: Vec<[Link; 2]>,
    patroni: Patroni,
}

impl Ground {
    fn start() -> Option<Self> {
        let patroni = Patroni::start()?;
        let pair = || [0, 1].map(|server| Link::to(&patroni.address(server)));
        let links: Vec<[Link; 2]> = (0..3).map(|_| pair()).collect();
        let ports = |pair: &[Link; 2]| [0, 1].map(|at| pair[at].address().port());
        let logs = links.iter().map(|pair| Patroni::connection_by(ports(pair)));
        let nodes = nodes_with_doors(&logs.collect::<Vec<_>>());
        writer(&nodes, None);
        Some(Self {
            nodes,
            links,
            patroni,
        })
    }

    fn for_links(&self, node: usize, what: impl Fn(&Link)) {
        self.links[node].iter().for_each(what);
    }
}

/// A fault: its name, and what happens until it is over. It is given a node that writes, and one that does not.
type Fault = (&'static str, fn(&mut Ground, usize, usize));

const FAULTS: [Fault; 10] = [
    ("writer killed", |ground, writer, _| {
        ground.nodes[writer].kill();
        pause(FAULT);
        ground.nodes[writer].start();
    }),
    ("writer stopped", |ground, writer, _| {
        ground.nodes[writer].signal("STOP");
        pause(FAULT);
        ground.nodes[writer].signal("CONT");
    }),
    ("follower killed", |ground, _, follower| {
        ground.nodes[follower].kill();
        pause(FAULT / 4);
        ground.nodes[follower].start();
    }),
    ("PostgreSQL's leader killed", |ground, _, _| {
        let leader = ground.patroni.leader();
        ground.patroni.kill(leader);
        pause(FAULT * 2);
        ground.patroni.start_again(leader);
        ground.patroni.ready();
    }),
    ("follower stopped", |ground, _, follower| {
        ground.nodes[follower].signal("STOP");
        pause(FAULT / 2);
        ground.nodes[follower].signal("CONT");
    }),
    ("writer's link to the log cut", |ground, writer, _| {
        ground.for_links(writer, Link::cut);
        pause(FAULT);
        ground.for_links(writer, Link::heal);
    }),
    ("writer's link to the log hangs", |ground, writer, _| {
        ground.for_links(writer, Link::hang);
        pause(FAULT);
        ground.for_links(writer, Link::heal);
    }),
    ("follower's link to the log hangs", |ground, _, follower| {
        ground.for_links(follower, Link::hang);
        pause(FAULT / 2);
        ground.for_links(follower, Link::heal);
    }),
    ("etcd killed", |ground, _, _| {
        ground.patroni.kill_etcd();
        pause(FAULT * 2);
        ground.patroni.start_etcd();
        ground.patroni.ready();
    }),
    // Not for longer than the lease of Patroni: docs/how-to/cluster.md has what is lost then.
    ("PostgreSQL's leader stopped", |ground, _, _| {
        let leader = ground.patroni.leader();
        ground.patroni.stop(leader);
        pause(FAULT / 3);
        ground.patroni.cont(leader);
        ground.patroni.ready();
    }),
];

/// The faults that take turns.
fn faults() -> Vec<&'static Fault> {
    let named = std::env::var_os("BANK_CLUSTER_FAULTS").unwrap_or_default();
    let named = named.to_str().expect("BANK_CLUSTER_FAULTS is UTF-8");
    let named: Vec<&str> = named.split(',').map(str::trim).collect();
    for name in named.iter().filter(|name| !name.is_empty()) {
        let known = FAULTS.map(|(name, _)| name);
        assert!(
            known.contains(name),
            "no fault {name:?}; there are {known:?}"
        );
    }
    let is_asked = |(name, _): &&Fault| named == [""] || named.contains(name);
    FAULTS.iter().filter(is_asked).collect()
}

/// How many rounds; each fault once where nothing is set.
fn rounds(faults: usize) -> usize {
    let Some(text) = std::env::var_os("BANK_CLUSTER_ROUNDS") else {
        return faults;
    };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.expect("BANK_CLUSTER_ROUNDS is a number")
}

/// Prints the times without an answer of each fault.
fn report(faults: &[&Fault], gaps: &mut [Vec<Duration>]) {
    for ((name, _), gaps) in faults.iter().zip(gaps) {
        gaps.sort();
        if let (Some(median), Some(worst)) = (gaps.get(gaps.len() / 2), gaps.last()) {
            println!(
                "{name}: {} rounds, time without an answer {} ms at the median, {} ms at most",
                gaps.len(),
                median.as_millis(),
                worst.as_millis()
            );
        }
    }
}

#[test]
fn rounds_of_faults_lose_nothing_and_double_nothing() {
    let faults = faults();
    let rounds = rounds(faults.len());
    let Some(mut ground) = Ground::start() else {
        return;
    };
    let addresses: Vec<String> = ground.nodes.iter().map(Bank::tcp).collect();
    let doors = Doors::of(&ground.nodes);
    let (ends, seen) = (AtomicBool::new(false), Mutex::new(Seen::default()));
    let writes = AtomicUsize::new(0);
    let mut gaps = vec![Vec::new(); faults.len()];
    std::thread::scope(|scope| {
        let ending = Ending(&ends);
        scope.spawn(|| load(&addresses, &ends, &seen));
        for door in DOORS {
            let (doors, writes, ends) = (&doors, &writes, &ends);
            scope.spawn(move || doors.load(door, writes, ends));
        }
        for round in 0..rounds {
            let fault = round % faults.len();
            let (_, happens) = faults[fault];
            let now = writer(&ground.nodes, None);
            writes.store(now, Ordering::Release);
            pause(LOAD);
            seen.lock().unwrap().gaps.clear();
            let now = writer(&ground.nodes, None);
            let follower = (now + 1) % ground.nodes.len();
            happens(&mut ground, now, follower);
            let before = seen.lock().unwrap().answered;
            until("answers after a fault", || {
                (seen.lock().unwrap().answered > before).then_some(())
            });
            let longest = seen.lock().unwrap().gaps.iter().max().copied();
            gaps[fault].push(longest.unwrap_or_default());
        }
        drop(ending);
    });
    report(&faults, &mut gaps);
    let Ground {
        nodes: mut all,
        patroni: _log,
        ..
    } = ground;
    let answered = seen.lock().unwrap().answered;
    let now = writer(&all, None);
    all_agree(&all, now);
    let sql = "SELECT count(*), count(DISTINCT key) FROM idempotency WHERE key LIKE 'charge-%'";
    let sums = "SELECT count(*) FROM instance WHERE object_id LIKE 'Moab.charge-%'";
    println!("{rounds} rounds: {answered} answered");
    let (kept, jobs) = (all[now].query(sql), all[now].query(sums));
    let answered = answered.to_string();
    assert_eq!(
        kept,
        [[answered.clone(), answered.clone()]],
        "each answered charge is kept once"
    );
    assert_eq!(jobs, [[answered]], "and billed once");
    doors.check(&all[now]);
    prove(&mut all);
}
