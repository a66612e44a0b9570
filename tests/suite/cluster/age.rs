//! How new an answer is: on web pages, over AUDITOR's routes and over Gold's protocol, at nodes that reach the log and
//! at nodes that do not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::doors::{GOLD, listener, nodes_with_doors, record};
use super::nodes::{Cluster, Ending, all_agree, prove};
use crate::harness::{
    Address, Bank, Dialect, Documents, Link, Request, Response, Signing, exchange, pause, summary,
    until,
};
use crate::web::browser::Browser;

/// The position of an answer, and its age in milliseconds.
fn seen(answer: &Response) -> (i64, Option<u64>) {
    let position = answer.header("bank-position").expect("no Bank-Position");
    let age = answer.header("bank-age-ms");
    let age = age.map(|age| age.parse().unwrap());
    (position.parse().unwrap(), age)
}

/// Whether an answer was less than a second old.
fn is_new(answer: &Response) -> bool {
    seen(answer).1.is_some_and(|age| age < 1000)
}

/// The sum of all allocations over Gold's protocol, at a node.
fn allocations(node: &Bank) -> String {
    let body = "<Body actor=\"root\"><Request action=\"Query\" actor=\"root\"><Object>Allocation</Object>\
        <Get name=\"Amount\" op=\"Sum\"></Get></Request></Body>";
    let message = Dialect::Maui.message(GOLD, body);
    let answer = Dialect::Maui.ask(&node.gold(), &message).unwrap();
    assert!(summary(&answer).starts_with("Success 000"), "{answer}");
    answer
}

fn collector(node: &Bank, request: &Request) -> Response {
    exchange(&Address::Tcp(listener(node, "auditor")), request).unwrap()
}

/// A cluster with a link between each node and the log.
fn linked() -> Option<(Cluster, Vec<Link>)> {
    let mut links = Vec::new();
    let cluster = Cluster::of(|log| {
        let (head, rest) = log.split_once('@').unwrap();
        let (server, tail) = rest.split_once('/').unwrap();
        links.extend((0..3).map(|_| Link::to(server)));
        let logs = links.iter();
        let logs = logs.map(|link| format!("{head}@{}/{tail}", link.address()));
        nodes_with_doors(&logs.collect::<Vec<_>>())
    })?;
    Some((cluster, links))
}

#[test]
fn every_door_shows_how_new_its_answers_are() {
    let Some((mut cluster, links)) = linked() else {
        return;
    };
    let writer = cluster.writer(None);
    let other = (writer + 1) % 3;
    let (own, follower) = (&cluster.nodes[writer], &cluster.nodes[other]);
    let mut root = Browser::of_link(follower);
    let mut page = |node: &Bank| root.get(node, "/sessions");
    let records = Request::get("/record/r1");

    // All nodes reach the log.
    let (before, _) = seen(&page(own));
    let stored = collector(follower, &record("r1"));
    assert_eq!(stored.status, 200, "{}", stored.text());
    let (at, age) = seen(&stored);
    assert!(
        at > before,
        "the record is at {at}, and before was {before}"
    );
    assert_eq!(age, Some(0), "the answer of the writer");
    until("an answer that is new", || {
        let answers = [collector(follower, &records), page(follower)];
        let are_new = answers.iter().all(is_new);
        let text = answers[1].text();
        assert!(!are_new || !text.contains("Old data"), "{text}");
        are_new.then_some(())
    });
    assert!(seen(&collector(follower, &records)).0 >= at);
    assert!(seen(&page(follower)).0 >= at);
    assert_eq!(seen(&page(own)).1, Some(0));

    // The follower does not: its pages show it. Gold's peers get the answer of the writer.
    links[other].cut();
    own.bank_ok(&["deposit", "chemistry", "7"]);
    until("the page is old", || {
        let page = page(follower);
        let is_old = page.text().contains("Old data: ");
        let age = seen(&page).1.unwrap();
        // The header has no fractions.
        assert!(
            age == 5000 || is_old == (age > 5000),
            "{age} {}",
            page.text()
        );
        is_old.then_some(())
    });
    let sum = allocations(follower);
    assert_eq!(sum, allocations(own), "with the 7 credits");
    assert!(!sum.contains("<Message>"), "{sum}");

    // No node does: the writer cannot know whether it still is one.
    let ready = |node: &Bank| node.over_socket(&Request::get("/readyz"));
    assert_eq!(ready(own).status, 200, "{}", ready(own).text());
    links.iter().for_each(Link::cut);
    until("the writer's answers have an age", || {
        (seen(&page(own)).1 > Some(5000)).then_some(())
    });
    for node in [own, follower] {
        let answer = ready(node);
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(
            answer.text().contains("the log of the cluster"),
            "{}",
            answer.text()
        );
        let metrics = node.over_socket(&Request::get("/metrics"));
        assert!(
            metrics.text().contains("bankd_healthy 0"),
            "{}",
            metrics.text()
        );
    }
    for node in [own, follower] {
        assert!(page(node).text().contains("Old data: "));
        assert!(seen(&collector(node, &records)).1 > Some(5000));
        let list = allocations(node);
        let notice = "<Message>this node of the cluster was last up to date ";
        assert!(list.contains(notice), "{list}");
    }
    links.iter().for_each(Link::heal);
    for node in [own, follower] {
        until("the node is up to date", || {
            let page = page(node);
            (is_new(&page) && !page.text().contains("Old data")).then_some(())
        });
        until("the node is ready", || {
            (ready(node).status == 200).then_some(())
        });
    }
    prove(&mut cluster.nodes);
    let alone = Bank::new();
    let plain = alone.over_socket(&Request::get("/api/v1/balances"));
    assert_eq!(plain.header("bank-age-ms"), None);
}

/// There is always an entry that is on its way then, and the age must not count from before it.
#[test]
fn the_age_stays_small_while_commands_arrive() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let (own, follower) = (&cluster.nodes[writer], &cluster.nodes[(writer + 1) % 3]);
    let balances = Request::get("/api/v1/balances");
    until("an answer that is new", || {
        is_new(&follower.over_socket(&balances)).then_some(())
    });
    let ends = AtomicBool::new(false);
    let address = Address::Tcp(own.tcp());
    let charges = |thread: usize| {
        let mut number = 0;
        while !ends.load(Ordering::Acquire) {
            let key = format!("{thread}-{number}");
            let body = String::from_utf8(Documents::own().get(4)).unwrap();
            let body = body.replace("Moab.1", &format!("Moab.{key}"));
            let charge = Request::nami("charge", &key, body.as_bytes());
            let answer = exchange(&address, &Signing::new().sign(charge)).unwrap();
            assert_eq!(answer.status, 200, "{}", answer.text());
            number += 1;
        }
    };
    std::thread::scope(|scope| {
        let ending = Ending(&ends);
        for thread in 0..4 {
            let charges = &charges;
            scope.spawn(move || charges(thread));
        }
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(10) {
            let answer = follower.over_socket(&balances);
            let (_, age) = seen(&answer);
            assert!(age.unwrap() < 7000, "{age:?} ms under load");
            pause(Duration::from_millis(50));
        }
        drop(ending);
    });
    all_agree(&cluster.nodes, writer);
    prove(&mut cluster.nodes);
}
