//! Commands at a node that does not write: done once by the writer, journalled with the caller, and in the next answer of
//! the same node.

use super::doors::{gold_charge, listener, nodes_with_doors, record, sent_record};
use super::nodes::{Cluster, all_agree, prove};
use crate::harness::{
    Address, Bank, Dialect, Documents, Request, Response, Signing, exchange, summary, until,
};
use crate::web::browser::Browser;

fn position(response: &Response) -> i64 {
    let field = response.header("bank-position");
    field.expect("no Bank-Position").parse().unwrap()
}

fn deposit(key: &str, amount: &str) -> Request {
    let body = format!("{{\"name\":\"chemistry\",\"amount\":\"{amount}\"}}");
    Request {
        method: "POST",
        target: "/api/v1/deposits".to_owned(),
        headers: Vec::new(),
        body: body.into_bytes(),
    }
    .header("Content-Type", "application/json")
    .header("Idempotency-Key", key)
}

/// The newest transactions: origin, actor and client.
fn newest(bank: &Bank, count: usize) -> Vec<Vec<String>> {
    let sql = format!("SELECT origin, actor, client FROM tx ORDER BY id DESC LIMIT {count}");
    bank.query(&sql)
}

#[test]
fn every_listener_of_a_follower_accepts_commands() {
    let Some(mut cluster) = Cluster::of(|log| nodes_with_doors(&vec![log.to_owned(); 3])) else {
        return;
    };
    let writer = cluster.writer(None);
    let follower = &cluster.nodes[(writer + 1) % 3];
    let before = follower.transactions();
    // The socket.
    follower.bank_ok(&["deposit", "chemistry", "5"]);
    assert_eq!(follower.figures("chemistry").0, 100_005, "read at once");
    assert_eq!(newest(follower, 1), [["cli", "root", "unix:root"]]);
    let refused = follower.bank(&["deposit", "nothing", "5"]);
    assert_ne!(refused.exit, 0);
    refused.expect_stderr(&["no account or project \"nothing\""]);
    // A token on the socket.
    let token = follower.bank_ok(&[
        "token",
        "add",
        "portal",
        "--role",
        "admin",
        "--until",
        "2090-01-01",
    ]);
    let token = token
        .split_whitespace()
        .find(|word| word.starts_with("bk_"));
    let bearer = format!("Bearer {}", token.expect("no token"));
    let request = deposit("by-token", "3").header("Authorization", &bearer);
    until("the writer has the token", || {
        (follower.over_socket(&request).status == 201).then_some(())
    });
    assert_eq!(follower.figures("chemistry").0, 100_008);
    assert_eq!(newest(follower, 1)[0][1], "portal");
    // A page, with a session that begins here and that other nodes learn of.
    let mut root = Browser::of_link(follower);
    let fields = [("name", "chemistry"), ("amount", "20")];
    let page = root.submit(follower, "/deposit", "/deposit", &fields);
    assert_eq!(page.status, 200, "{}", page.text());
    let confirm = [("step", "confirm")];
    for _ in 0..2 {
        let done = root.submit_of(follower, &page.text(), "/deposit", &confirm);
        assert_eq!(done.status, 303, "{}", done.text());
    }
    assert_eq!(follower.figures("chemistry").0, 100_028, "once");
    assert_eq!(newest(follower, 1), [["web", "root", "unix:root"]]);
    let own = &cluster.nodes[writer];
    until("another node knows the session", || {
        (root.get(own, "/sessions").status == 200).then_some(())
    });
    // Gold.
    let message = gold_charge("j1");
    for _ in 0..2 {
        let answer = Dialect::Maui.ask(&follower.gold(), &message).unwrap();
        let said = summary(&answer);
        assert!(said.starts_with("Success 000"), "{answer}");
    }
    assert_eq!(follower.figures("chemistry").0, 100_008, "20 credits, once");
    assert_eq!(newest(follower, 1)[0][..2], ["gold", "maui"]);
    // AUDITOR.
    let collector = Address::Tcp(listener(follower, "auditor"));
    let send = |request: &Request| exchange(&collector, request).unwrap();
    assert_eq!(send(&record("r1")).status, 200);
    let known = exchange(&collector, &Request::get("/record/r1")).unwrap();
    assert_eq!(known.status, 200, "read at once: {}", known.text());
    assert_eq!(
        send(&record("r1")).text(),
        "RECORD_EXISTS",
        "as AUDITOR answers"
    );
    assert_eq!(send(&sent_record("{}")).status, 400);
    let kept = follower.json(&["quarantine", "ls"]);
    assert_eq!(kept["items"].as_array().unwrap().len(), 1, "{kept}");
    let written = follower.transactions() - before;
    all_agree(&cluster.nodes, writer);
    assert_eq!(own.transactions() - before, written);
    prove(&mut cluster.nodes);
}

#[test]
fn an_answer_has_its_position_and_a_request_can_ask_for_one() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let other = (writer + 1) % 3;
    let (own, follower) = (&cluster.nodes[writer], &cluster.nodes[other]);
    let balances = Request::get("/api/v1/balances");
    // A follower that has not read the log to its end has no age yet.
    let answer = until("an answer with its age", || {
        let answer = follower.over_socket(&balances);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.header("bank-age-ms").is_some().then_some(answer)
    });
    let age = answer.header("bank-age-ms").expect("no Bank-Age-Ms");
    assert!(age.parse::<u64>().unwrap() < 60_000, "{age}");
    let at = position(&answer);
    let written = own.over_socket(&deposit("one", "7"));
    assert_eq!(written.status, 201, "{}", written.text());
    assert!(position(&written) > at);
    assert_eq!(written.header("bank-age-ms"), Some("0"));
    let newer = balances
        .clone()
        .header("Bank-Position", &position(&written).to_string());
    let read = follower.over_socket(&newer);
    assert!(position(&read) >= position(&written));
    assert!(read.text().contains("100007"), "{}", read.text());
    let unknown = balances.clone().header("Bank-Position", "999999");
    for node in [own, follower] {
        let late = node.over_socket(&unknown);
        assert_eq!(late.status, 503, "{}", late.text());
        assert!(late.text().contains("not yet at 999999"), "{}", late.text());
        assert!(late.header("retry-after").is_some());
    }
    let bad = follower.over_socket(&balances.header("Bank-Position", "-1"));
    assert_eq!(bad.status, 400, "{}", bad.text());
    prove(&mut cluster.nodes);
    let alone = Bank::new();
    let plain = alone.over_socket(&Request::get("/api/v1/balances"));
    assert_eq!(plain.header("bank-position"), None);
}

#[test]
fn only_a_node_of_the_cluster_can_name_a_caller() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let own = &cluster.nodes[writer];
    let secret = cluster
        .server
        .sql(&["SELECT encode(secret, 'hex') FROM bank_secret"]);
    let secret = secret.trim();
    assert_eq!(secret.len(), 64, "one secret of 32 bytes: {secret}");
    let digits = (0..32).map(|at| u8::from_str_radix(&secret[2 * at..2 * at + 2], 16).unwrap());
    let secret: Vec<u8> = digits.collect();
    let passage = |to: usize, key: &str| {
        let head = format!(
            "{{\"from\":\"n9\",\"to\":\"n{to}\",\"caller\":{{\"kind\":\"person\",\"name\":\"eve\",\
             \"known\":true,\"roles\":[\"admin\"],\"uid\":null}},\"method\":\"POST\",\
             \"target\":\"/api/v1/deposits\",\"headers\":[[\"content-type\",\"application/json\"],\
             [\"idempotency-key\",\"{key}\"]]}}\n"
        );
        let body = head + "{\"name\":\"chemistry\",\"amount\":\"1\"}";
        Request {
            method: "POST",
            target: "/cluster/v1/requests".to_owned(),
            headers: Vec::new(),
            body: body.into_bytes(),
        }
        .header("Idempotency-Key", "outer")
    };
    let by = |keyid: &str, secret: &[u8]| Signing {
        keyid: keyid.to_owned(),
        secret: secret.to_vec(),
        ..Signing::new()
    };
    let before = own.transactions();
    let refused = |node: &Bank, request: &Request, why: &str| {
        let answer = node.over_tcp(request);
        assert_eq!(answer.status, 401, "{why}: {}", answer.text());
    };
    refused(own, &passage(writer, "a"), "no signature");
    let unsigned = own.over_socket(&passage(writer, "a"));
    assert_eq!(unsigned.status, 401, "a person on the socket");
    let moab = Signing::new().sign_all(passage(writer, "a"));
    refused(own, &moab, "the key of a client");
    let foreign = by("cluster", b"another secret").sign_all(passage(writer, "a"));
    refused(own, &foreign, "a foreign secret");
    let mut late = by("cluster", &secret);
    late.created -= 61;
    refused(own, &late.sign_all(passage(writer, "a")), "an old request");
    let elsewhere = by("cluster", &secret).sign_all(passage((writer + 1) % 3, "a"));
    refused(own, &elsewhere, "for another node");
    assert_eq!(own.transactions(), before);
    let genuine = by("cluster", &secret).sign_all(passage(writer, "a"));
    let answer = own.over_tcp(&genuine);
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(newest(own, 1), [["web", "eve", "unix:eve"]]);
    refused(own, &genuine, "a replay");
    assert_eq!(own.transactions(), before + 1);
    // A follower passes nothing on that was passed to it.
    let other = (writer + 1) % 3;
    let passed = by("cluster", &secret).sign_all(passage(other, "b"));
    let answer = cluster.nodes[other].over_tcp(&passed);
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert_eq!(own.transactions(), before + 1);
    prove(&mut cluster.nodes);
}

#[test]
fn a_recorded_request_at_another_node() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let (one, two) = ((writer + 1) % 3, (writer + 2) % 3);
    let charge = Request::nami("charge", "once", &Documents::own().get(4));
    let charge = Signing::new().sign(charge);
    let first = cluster.nodes[one].over_tcp(&charge);
    assert_eq!(first.status, 200, "{}", first.text());
    let before = cluster.nodes[one].transactions();
    // The same bytes: the writer has their nonce, whichever node gets them.
    for node in [one, two, writer] {
        let again = cluster.nodes[node].over_tcp(&charge);
        assert_eq!(again.status, 401, "{}", again.text());
    }
    // Another writer does not have the nonce, but the stored answer has.
    cluster.nodes[writer].kill();
    let next = cluster.writer(Some(writer));
    let again = cluster.nodes[next].over_tcp(&charge);
    assert_eq!(again.status, 401, "{}", again.text());
    assert_eq!(cluster.nodes[next].transactions(), before);
    // A question is answered once by each node.
    let question = Signing::new().sign_all(Request::get("/api/v1/jobs"));
    for node in [one, two] {
        let statuses = [0, 0].map(|_| cluster.nodes[node].over_tcp(&question).status);
        assert_eq!(statuses, [200, 401]);
    }
    cluster.nodes[writer].start();
    all_agree(&cluster.nodes, next);
    prove(&mut cluster.nodes);
}

#[test]
fn commands_at_a_follower_survive_the_writer() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let writer = cluster.writer(None);
    let other = (writer + 1) % 3;
    for number in 1..=12 {
        let request = deposit(&format!("k{number}"), "1");
        if number == 6 {
            cluster.nodes[writer].kill();
        }
        // As a client with a spool: the same key until there is an answer.
        until("the deposit is done", || {
            let answer = cluster.nodes[other].over_socket(&request);
            assert!([201, 503].contains(&answer.status), "{}", answer.text());
            (answer.status == 201).then_some(())
        });
        assert_eq!(
            cluster.nodes[other].figures("chemistry").0,
            100_000 + number
        );
    }
    let next = cluster.writer(Some(writer));
    cluster.nodes[writer].start();
    all_agree(&cluster.nodes, next);
    prove(&mut cluster.nodes);
}
