//! Addresses of pages: parameters that a page does not take, and the places of lists.

use bankd_web::rows;
use serde_json::Value;

use super::browser::{Browser, bank, encoded};
use crate::harness::{Bank, T0};

/// The target of a link whose text begins with these words.
fn link(page: &str, words: &str) -> String {
    let before = page
        .split(&format!("\">{words}"))
        .next()
        .filter(|before| before.len() < page.len())
        .unwrap_or_else(|| panic!("no link {words:?}: {page}"));
    let target = before.rsplit("href=\"").next().unwrap();
    target.replace("&amp;", "&")
}

#[test]
fn a_parameter_that_a_page_does_not_take_is_marked() {
    let mut bank = bank();
    let mut root = Browser::of_link(&bank);
    for (address, name, known) in [
        ("/usage?at=2026-01-01&by=user", "at", "queue, machine"),
        ("/contribution?of=core", "of", "basis"),
        ("/journal?by=amy&kind=deposit", "by", "actor"),
        ("/projects/chemistry?by=user", "by", "from, to, at"),
        ("/jobs?limit=5", "limit", "project, user, machine"),
        ("/deposit?name=chemistry&sum=5", "sum", "name, amount"),
    ] {
        let answer = root.get(&bank, address);
        let text = answer.text();
        assert_eq!(answer.status, 400, "{address}: {text}");
        assert!(
            text.contains(&format!(
                "&quot;{name}&quot; is not a parameter of this page"
            )),
            "{address}: {text}"
        );
        assert!(text.contains(known), "{address}: {text}");
        let without = link(&text, &format!("Show the page without <code>{name}"));
        assert!(!without.contains(&format!("{name}=")), "{without}");
        assert_eq!(root.get(&bank, &without).status, 200, "{without}");
    }
    let evil = encoded("<svg onload=alert(1)>");
    let all = rows().into_iter().filter(|row| row.method == "GET");
    for page in all.filter(|row| !row.path.contains('{')) {
        let answer = root.get(&bank, &format!("{}?{evil}=1", page.path));
        assert_eq!(answer.status, 400, "{}", page.path);
        assert!(!answer.text().contains("<svg onload"), "{}", page.path);
        let answer = root.get(&bank, &format!("{}?zone=Mars", page.path));
        assert_eq!(answer.status, 422, "{}", page.path);
        let answer = root.get(&bank, &format!("{}?zone=Asia%2FKolkata", page.path));
        assert!([200, 303].contains(&answer.status), "{}", page.path);
    }
    bank.verify();
}

#[test]
fn a_page_of_the_present_keeps_no_instant() {
    let bank = bank();
    bank.set_clock(T0 + 60);
    let mut root = Browser::of_link(&bank);
    let past = root
        .get(&bank, "/projects/chemistry?at=2026-01-01T00%3A00%3A01Z")
        .text();
    let jobs = link(&past, "Jobs");
    assert!(!jobs.contains("at="), "{jobs}");
    let statement = link(&past, "Statement");
    assert!(statement.contains("at=2026"), "{statement}");
}

/// A bank with rows of two people in each list, so that the last page of one has rows of the other behind it.
fn filled() -> Bank {
    let bank = bank();
    for words in [
        &["user", "add", "ben"][..],
        &["project", "members", "add", "chemistry", "ben"],
        &[
            "project",
            "add",
            "poor",
            "--members",
            "amy",
            "--mode",
            "strict",
        ],
    ] {
        bank.bank_ok(words);
    }
    for (job, user) in [("b1", "ben"), ("a1", "amy"), ("a2", "amy"), ("a3", "amy")] {
        let of = [
            "-A",
            "chemistry",
            "-u",
            user,
            "-m",
            "colony",
            "--procs",
            "1",
        ];
        bank.bank_ok(&[&["reserve", job][..], &of, &["--wall", "60"]].concat());
        bank.bank_ok(&[&["quote"][..], &of, &["--wall", "60"]].concat());
        let poor = ["-A", "poor", "-u", "amy", "-m", "colony", "--procs", "1"];
        let refused = bank.bank(
            &[
                &["reserve", &format!("r-{job}")][..],
                &poor,
                &["--wall", "60"],
            ]
            .concat(),
        );
        assert_ne!(refused.exit, 0, "{}", refused.stdout);
    }
    bank
}

/// The rows of a list, page by page. No page but the first is empty.
fn walked(root: &mut Browser, bank: &Bank, list: &str, limit: usize, cursor: &str) -> Vec<Value> {
    let (mut rows, mut after) = (Vec::new(), String::new());
    loop {
        let sign = if list.contains('?') { '&' } else { '?' };
        let target = format!("/data/{list}{sign}limit={limit}{after}");
        let answer = root.get(bank, &target);
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let items = answer["items"].as_array().unwrap().clone();
        assert!(!items.is_empty() || after.is_empty(), "{target} is empty");
        rows.extend(items);
        match answer["next"].as_str() {
            Some(next) => after = format!("&{cursor}={}", encoded(next)),
            None => return rows,
        }
    }
}

#[test]
fn no_list_ends_with_an_empty_page() {
    let mut bank = filled();
    let mut root = Browser::of_link(&bank);
    for (list, cursor) in [
        ("jobs", "after"),
        ("jobs?user=amy", "after"),
        ("uses", "after"),
        ("quotes", "after"),
        ("liens?user=amy", "after"),
        ("liens?state=all", "after"),
        ("refused-reserves", "after"),
        ("balances", "after"),
        ("roles", "after"),
        ("journal", "after"),
        ("journal?user=amy", "after"),
        ("journal?newest=true&user=amy", "before"),
        ("journal?newest=true&kind=reserve", "before"),
        ("statements/entries?project=chemistry", "after"),
    ] {
        let all = walked(&mut root, &bank, list, 1000, cursor);
        for limit in [1, 2, 3, all.len().max(1)] {
            let found = walked(&mut root, &bank, list, limit, cursor);
            assert_eq!(found.len(), all.len(), "{list} by {limit}");
            for row in &all {
                assert!(found.contains(row), "{list} by {limit}: {row}");
            }
        }
    }
    bank.verify();
}
