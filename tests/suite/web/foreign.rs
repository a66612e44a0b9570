//! Objects of other projects look like those that do not exist, on every page that names one.

use std::collections::BTreeSet;

use bankd_web::rows;

use super::browser::{Browser, bank, hidden, steady};
use crate::harness::Bank;

/// Pages that name an object in their query.
const QUERIES: [(&str, Object); 9] = [
    ("/jobs?project={}", Object::Project),
    ("/jobs?user={}", Object::User),
    ("/usage?project={}", Object::Project),
    ("/usage?user={}", Object::User),
    ("/waiting?project={}", Object::Project),
    ("/waiting?user={}", Object::User),
    ("/ask/deposit?name={}", Object::Project),
    ("/ask/member?project={}", Object::Project),
    ("/ask/extension?allocation={}", Object::Allocation),
];

#[derive(Clone, Copy, Debug)]
enum Object {
    Project,
    User,
    Job,
    Transaction,
    Proposal,
    Allocation,
}

/// What the parameter of a page names. A new page with a parameter needs a line here.
fn object(path: &str) -> Object {
    match path.split('{').next().unwrap() {
        "/projects/" => Object::Project,
        "/jobs/" => Object::Job,
        "/transactions/" => Object::Transaction,
        "/proposals/" | "/requests/" => Object::Proposal,
        other => panic!("no object of another project for {other}"),
    }
}

/// Objects of physics.
struct Physics {
    transaction: String,
    proposal: String,
    allocation: String,
}

impl Physics {
    /// One of physics, and one that does not exist.
    fn pair(&self, object: Object) -> [&str; 2] {
        match object {
            Object::Project => ["physics", "physicz"],
            Object::User => ["ops", "opz"],
            Object::Job => ["job-of-physics", "job-of-physicz"],
            Object::Transaction => [&self.transaction, "987654321"],
            Object::Proposal => [&self.proposal, "987654321"],
            Object::Allocation => [&self.allocation, "987654321"],
        }
    }
}

/// A job, a transaction and a request of physics.
fn physics(bank: &Bank) -> Physics {
    let work = ["-m", "colony", "--procs", "1", "--duration", "100"];
    let charge = ["charge", "job-of-physics", "-A", "physics", "-u", "ops"];
    bank.bank_ok(&[&charge[..], &work].concat());
    let transaction = bank.transactions().to_string();
    let mut ops = Browser::of_proxy(bank, "ops");
    let entries = [("name", "physics"), ("amount", "3"), ("reason", "more")];
    let preview = ops.submit(bank, "/ask/deposit", "/ask/deposit", &entries);
    let confirm = [("step", "confirm")];
    let sent = ops.submit_of(bank, &preview.text(), "/ask/deposit", &confirm);
    let target = sent.header("location").expect("the request is sent");
    let path = target.split('?').next().unwrap();
    let seen = ops.get(bank, path);
    assert_eq!(seen.status, 200, "{}", seen.text());
    let allocations = bank.items(&["allocation", "ls", "-a", "physics"]);
    Physics {
        transaction,
        proposal: path.rsplit('/').next().unwrap().to_owned(),
        allocation: allocations[0]["id"].to_string(),
    }
}

/// A page with one word in place of each of the names, where they are words of their own.
fn without(page: &str, names: [&str; 2]) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words = page.split_inclusive(|c| !is_part(c));
    let words = words.map(|word| {
        let end = word.trim_end_matches(|c| !is_part(c));
        if names.contains(&end) {
            word.replace(end, "NAME")
        } else {
            word.to_owned()
        }
    });
    words.collect()
}

#[test]
fn every_page_shows_foreign_objects_as_unknown_ones() {
    let mut bank = bank();
    for (name, role) in [("prof", "pi"), ("lead", "manager")] {
        bank.bank_ok(&["user", "add", name]);
        bank.bank_ok(&["role", "grant", name, role, "-A", "chemistry"]);
    }
    let physics = physics(&bank);
    let all: Vec<_> = rows()
        .iter()
        .filter(|row| row.path.contains('{'))
        .map(|row| (row.method == "GET", row.path, object(row.path)))
        .chain(QUERIES.map(|(target, object)| (true, target, object)))
        .collect();
    let before = bank.transactions();
    let mut findings = Vec::new();
    let mut statuses = BTreeSet::new();
    for person in ["amy", "prof", "lead"] {
        let mut browser = Browser::of_proxy(&bank, person);
        let home = browser.get(&bank, "/").text();
        let token = hidden(&home, "/sign-out")[0].1.clone();
        for (is_get, path, object) in &all {
            let names = physics.pair(*object);
            let [one, two] = names.map(|name| {
                let (start, rest) = path.split_once('{').unwrap();
                let target = format!("{start}{name}{}", rest.split_once('}').unwrap().1);
                let answer = if *is_get {
                    browser.get(&bank, &target)
                } else {
                    let entries = [
                        ("form_token", token.as_str()),
                        ("decision", "approve"),
                        ("user", person),
                    ];
                    browser.send(&bank, &target, &entries)
                };
                (answer.status, without(&steady(&answer.text()), names))
            });
            statuses.insert(one.0);
            if one != two {
                findings.push(format!("{person} {path}:\n{one:?}\n{two:?}"));
            }
            let shows = ["ops", "job-of-physics"]
                .iter()
                .find(|word| one.1.contains(*word));
            if let Some(word) = shows {
                findings.push(format!("{person} {path} shows {word}: {}", one.1));
            }
            if one.0 == 303 || one.0 >= 500 {
                findings.push(format!("{person} {path}: {}", one.0));
            }
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(
        statuses.contains(&404) && statuses.contains(&403),
        "{statuses:?}"
    );
    assert_eq!(bank.transactions(), before);
    bank.verify();
}
