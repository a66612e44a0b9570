//! Gold's own clients: every request that they sent to Gold's own server, sent to the gateway by a key of an
//! administrator, and what it answers beside what Gold answered (`gold-captures/gold22-clients.txt`).

use std::fs;

use super::private;
use crate::export::sums::agree_exactly;
use crate::harness::{Bank, Dialect, Request, shared_folder, skip, summary};

/// The key of the peer.
const KEY: &str = "sss";
/// When the calls were made.
const THEN: i64 = 1_795_480_323;

/// The bank as the calls found it: one user, and a rate of one credit for a processor's second.
fn bank() -> Bank {
    let listen = ("BANKD_GOLD_LISTEN".to_owned(), "127.0.0.1:0".to_owned());
    let mut bank = Bank::initialized(
        vec![listen],
        THEN,
        &["--precision", "3", "--unit", "credits"],
    );
    bank.settings("\n[gold.peer.clients]\naddresses = [\"127.0.0.1\"]\n");
    bank.start();
    bank.bank_ok(&["user", "add", "amy"]);
    let secret = private(&bank, "clients.key", KEY);
    let key = ["key", "add", "clients", "--gold", "--role", "admin"];
    bank.bank_ok(&[&key[..], &["--secret-file", &secret]].concat());
    bank
}

/// A request and what Gold answered, from the file.
struct Call<'a> {
    title: &'a str,
    request: &'a str,
    response: &'a str,
}

fn calls(text: &str) -> Vec<Call<'_>> {
    let mut calls = Vec::new();
    for block in text.split("\n### ").skip(1) {
        let (title, rest) = block.split_once('\n').unwrap();
        let title = title.split("  (exit").next().unwrap();
        let sent = rest.split("--- prints").next().unwrap();
        let mut lines = sent.lines().peekable();
        while let Some(request) = lines.next() {
            let is_response = |line: &&str| line.starts_with("<Response");
            let response = lines.next_if(is_response).unwrap_or_default();
            calls.push(Call {
                title,
                request,
                response,
            });
        }
    }
    calls
}

fn send(bank: &Bank, request: &str) -> String {
    let message = Dialect::Slurm.message(KEY, &format!("<Body>{request}</Body>"));
    Dialect::Slurm.ask(&bank.gold(), &message).unwrap()
}

/// A request with the numbers of accounts and allocations of this bank: they begin one later, with the account
/// of unbilled usage.
fn with_own_numbers(request: &str) -> String {
    let has = |name: &str| request.contains(&format!("<Object>{name}"));
    let mut places = vec![
        "<Where name=\"Account\">",
        "<Where conj=\"And\" name=\"Account\" op=\"EQ\">",
        "<Set name=\"Account\">",
    ];
    if has("Account<") || has("Allocation<") {
        places.push("<Where name=\"Id\">");
        places.extend(["Id", "FromId", "ToId"].map(|name| match name {
            "Id" => "<Option name=\"Id\">",
            "FromId" => "<Option name=\"FromId\">",
            _ => "<Option name=\"ToId\">",
        }));
    }
    let mut own = request.to_owned();
    for before in places {
        for number in (1..9).rev() {
            own = own.replace(
                &format!("{before}{number}<"),
                &format!("{before}{}<", number + 1),
            );
        }
    }
    own
}

fn with_golds_numbers(answer: &str) -> String {
    let mut golds = answer.to_owned();
    for (before, after) in [
        ("<Account><Id>", "<"),
        ("</Id><Id>", "</Id><Name>"),
        ("<Account>", "</Account>"),
        ("<Allocation><Id>", "<"),
        ("ccount ", ""),
    ] {
        for number in 1..9 {
            let old = format!("{before}{}{after}", number + 1);
            golds = golds.replace(&old, &format!("{before}{number}{after}"));
        }
    }
    golds
}

/// The calls that this bank answers in another way than Gold, by the beginning of the call, and why.
const DIFFERENT: [(&str, &str); 28] = [
    ("gmkaccount", "no allocation is made without a deposit"),
    (
        "gquote -p chem -u amy -m colony -P 4 -t 600 --guarantee",
        "a quote makes no job",
    ),
    (
        "greserve",
        "a use of a job has one record, made by its first message; the number is not in the message",
    ),
    (
        "gcharge",
        "a use of a job has one record: its number is that of the first reserve",
    ),
    (
        "glsres",
        "the job has one record; Data is present without rows, for Maui",
    ),
    (
        "gbalance",
        "accounts without an allocation have no sums; Data is present without rows",
    ),
    (
        "mybalance",
        "accounts without an allocation have no sums; Data is present without rows",
    ),
    (
        "glsjob",
        "one record for each use of a job, with its charged time; none for quotes",
    ),
    (
        "gchalloc",
        "allocations have no description; the account has the allocation of its deposit only",
    ),
    (
        "gchjob",
        "job 1 is the charged job, and what was reported of a closed job cannot change",
    ),
    ("gchquote", "quotes have no description"),
    ("glsuser", "the bank has no users of its own"),
    (
        "glsaccount",
        "accounts that a project makes have no description; none has an empty allocation",
    ),
    (
        "glsalloc",
        "no allocation is made without a deposit, and none has a description",
    ),
    (
        "glstxn -O",
        "the journal has its own numbers, and the key is the actor",
    ),
    ("glsquote", "a quote makes no job and has no description"),
    (
        "gstatement",
        "a refund goes to each charge in proportion: one line for each",
    ),
    ("grmuser", "success is always code 000"),
    ("grmproject", "a project that an account names stays"),
    ("grmaccount", "an account with money stays"),
    (
        "grmalloc",
        "the allocation of this number has money, and stays",
    ),
    ("grmjob", "a job is part of the journal"),
    ("grmquote", "a quote makes no job and has no description"),
    (
        "goldsh Project Query",
        "there are no special projects, and gold1 stayed",
    ),
    ("goldsh System Query", "this is another system"),
    ("goldsh Object Create", "`bank kind add` makes kinds"),
    ("goldsh A", "`bank kind add` makes kinds with their fields"),
    ("goldsh Grant", "the kind was not made"),
];

/// The reason of a difference. The rest of a call that begins with another word has none.
fn reason(title: &str) -> Option<&'static str> {
    let found = DIFFERENT.iter().find(|(start, _)| title.starts_with(start));
    found.map(|(_, why)| *why)
}

/// The parts of an answer that a client reads: code, message, count, data; without times of these calls.
fn parts(answer: &str) -> [String; 4] {
    let mut text = answer.to_owned();
    for start in ["17954803", "17954812", "17954818", "17960857"] {
        while let Some(at) = text.find(start) {
            text.replace_range(at..at + 10, "NOW");
        }
    }
    let part = |name: &str| {
        let rest = text.split_once(&format!("<{name}>"));
        let rest = rest.map_or("", |(_, rest)| rest);
        // A message of several lines was cut in the file.
        let rest = rest.split("&#10;").next().unwrap_or_default();
        rest.split(&format!("</{name}>")).next().unwrap().to_owned()
    };
    ["Code", "Message", "Count", "Data"].map(part)
}

#[test]
fn every_call_of_golds_clients_is_answered_as_gold_did_or_the_reason_is_known() {
    let Some(shared) = shared_folder() else {
        return skip("shared", "no folder of captured messages");
    };
    let text = fs::read_to_string(shared.join("spec/gold-captures/gold22-clients.txt")).unwrap();
    let mut bank = bank();
    let (mut equal, mut used) = (0, Vec::new());
    for call in calls(&text) {
        let answer = with_golds_numbers(&send(&bank, &with_own_numbers(call.request)));
        let (own, golds) = (parts(&answer), parts(call.response));
        let is_cut = !call.response.ends_with("</Response>");
        let same = if is_cut {
            own[0] == "000" && own[1] == golds[1].trim_end() || call.response.is_empty()
        } else {
            own == golds
        };
        if same {
            equal += 1;
            continue;
        }
        let why = reason(call.title);
        assert!(
            why.is_some(),
            "{}\n{}\n{}",
            call.title,
            call.response,
            answer
        );
        used.extend(why);
    }
    for (start, why) in DIFFERENT {
        assert!(used.contains(&why), "{start}: no difference: {why}");
    }
    assert!(equal > 90, "{equal} answers are equal");
    sums_agree(&bank);
    bank.verify();
}

/// What the calls moved adds up to the same in every place: 100,000 in, 2,400 charged, 100 refunded, 150 out.
fn sums_agree(bank: &Bank) {
    let sum = |object: &str, attribute: &str, condition: &str| {
        let answer = send(
            bank,
            &format!(
                "<Request action=\"Query\" actor=\"x\"><Object>{object}</Object>\
                 <Get name=\"{attribute}\" op=\"Sum\"></Get>{condition}</Request>"
            ),
        );
        parts(&answer)[3].clone()
    };
    let own = "<Where name=\"Account\">2</Where>";
    let delta = sum("Transaction", "Delta", own);
    assert_eq!(delta, "<Transaction><Delta>97550</Delta></Transaction>");
    let amount = sum("Allocation", "Amount", own);
    assert_eq!(amount, "<Allocation><Amount>97550</Amount></Allocation>");
    let charge = sum("Job", "Charge", "<Where name=\"Project\">chem</Where>");
    assert_eq!(charge, "<Job><Charge>2300</Charge></Job>");
    assert_eq!(bank.account("chem")["amount"], "97550.000");
    let month = ["--month", "2026-11", "--json"];
    let statement = bank.bank_ok(&[&["statement", "chem", "--summary"], &month[..]].concat());
    assert!(statement.contains("\"97550.000\""), "{statement}");
    let usage = bank.bank_ok(&[&["usage", "-A", "chem", "--by", "user"], &month[..]].concat());
    assert!(usage.contains("\"2300.000\""), "{usage}");
    let export = bank.bank_ok(&["export", "csv"]);
    for charge in [",2400,credits,", ",-100,credits,"] {
        assert!(export.contains(charge), "{export}");
    }
}

/// An alias that cannot name an element is left out: the answer is XML in any case.
#[test]
fn an_alias_names_an_element() {
    let mut bank = bank();
    bank.bank_ok(&["project", "add", "chem"]);
    for (alias, element) in [
        ("Total_1.a-b", "Total_1.a-b"),
        ("Total credits", "Name"),
        ("1st", "Name"),
        ("a/b", "Name"),
        ("a:b", "Name"),
        ("", "Name"),
    ] {
        let query = format!(
            "<Request action=\"Query\" actor=\"x\"><Object>Project</Object>\
             <Get name=\"Name\" alias=\"{alias}\"></Get><Where name=\"Name\">chem</Where></Request>"
        );
        let expected = format!("<Project><{element}>chem</{element}></Project>");
        assert_eq!(parts(&send(&bank, &query))[3], expected, "{alias}");
    }
    bank.verify();
}

/// The same requests over the HTTP API: signed as every request, once under a key, and to try.
#[test]
fn a_request_over_http_happens_once_under_its_key() {
    let mut bank = bank();
    bank.bank_ok(&["project", "add", "chem"]);
    let post = |target: &str, key: Option<&str>, amount: &str| {
        let body = format!(
            "<Request action=\"Deposit\" actor=\"x\"><Object>Account</Object>\
             <Option name=\"Id\">2</Option><Option name=\"Amount\">{amount}</Option></Request>"
        );
        let request = Request {
            method: "POST",
            target: format!("/api/v1/gold{target}"),
            headers: vec![("Content-Type".to_owned(), "text/xml".to_owned())],
            body: body.into_bytes(),
        };
        let request = match key {
            Some(key) => request.header("Idempotency-Key", key),
            None => request,
        };
        let answer = bank.over_socket(&request);
        format!("{} {}", answer.status, summary(&answer.text()))
    };
    let done = "200 Success 000 Successfully deposited 5.000 credits into account 2";
    assert_eq!(post("?dry_run=true", Some("try"), "5"), done);
    assert_eq!(bank.account("chem")["amount"], "0.000");
    assert_eq!(post("", Some("a"), "5"), done);
    assert_eq!(post("", Some("a"), "5"), done);
    assert_eq!(bank.account("chem")["amount"], "5.000");
    let reused = post("", Some("a"), "6");
    assert!(reused.starts_with("200 Failure 740 "), "{reused}");
    let unkeyed = post("", None, "5");
    assert!(unkeyed.starts_with("400 "), "{unkeyed}");
    assert_eq!(bank.account("chem")["amount"], "5.000");
    bank.verify();
}

/// Charges without options come from a scheduler, over HTTP too: time that is billed is not billed again.
#[test]
fn a_scheduler_over_http_bills_its_time_once() {
    let mut bank = bank();
    bank.bank_ok(&["project", "add", "chem"]);
    bank.bank_ok(&["deposit", "chem", "1000"]);
    bank.set_clock(THEN + 3600);
    let charge = |key: &str, seconds: i64| {
        let body = format!(
            "<Request action=\"Charge\" actor=\"root\"><Object>Job</Object><Data><Job><JobId>j</JobId>\
             <UserId>amy</UserId><ProjectId>chem</ProjectId><MachineName>colony</MachineName>\
             <Processors>1</Processors><WallDuration>{seconds}</WallDuration><StartTime>{THEN}</StartTime>\
             <EndTime>{}</EndTime></Job></Data></Request>",
            THEN + seconds
        );
        let request = Request {
            method: "POST",
            target: "/api/v1/gold".to_owned(),
            headers: vec![("Content-Type".to_owned(), "text/xml".to_owned())],
            body: body.into_bytes(),
        };
        let answer = bank.over_socket(&request.header("Idempotency-Key", key));
        assert_eq!(answer.status, 200);
        bank.account("chem")["amount"].clone()
    };
    assert_eq!(charge("a", 600), "400.000");
    assert_eq!(charge("b", 600), "400.000");
    assert_eq!(charge("c", 700), "300.000");
    agree_exactly(&bank);
    bank.verify();
}
