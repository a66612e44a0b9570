//! Every page and every role.

use super::browser::{Browser, bank};
use bankd_web::rows;

/// An address of a page with names that nobody has.
fn target(path: &str) -> String {
    let parts = path.split('/').skip(1);
    let parts = parts.map(|part| match part {
        "{id}" => "987654321",
        named if named.starts_with('{') => "nosuch",
        fixed => fixed,
    });
    parts.fold(String::new(), |target, part| target + "/" + part)
}

#[test]
fn every_page_asks_every_role_for_its_right() {
    let mut bank = bank();
    for (name, role) in [("boss", "operator"), ("lead", "manager"), ("prof", "pi")] {
        bank.bank_ok(&["user", "add", name]);
        bank.bank_ok(&["role", "grant", name, role, "-A", "chemistry"]);
    }
    bank.bank_ok(&["role", "grant", "audit", "auditor"]);
    bank.bank_ok(&["role", "grant", "chief", "admin"]);
    let people = ["boss", "lead", "prof", "audit", "chief", "amy", "nobody"];
    let before = bank.transactions();
    let mut findings = Vec::new();
    for row in rows() {
        let target = target(row.path);
        let mut stranger = Browser::default();
        let name = format!("{} {}", row.method, row.path);
        let is_get = row.method == "GET";
        let answer = if is_get {
            stranger.get(&bank, &target)
        } else {
            stranger.send(&bank, &target, &[])
        };
        if answer.status != if is_get { 303 } else { 401 } {
            findings.push(format!("{name}: a stranger gets {}", answer.status));
        }
        for person in people {
            let mut browser = Browser::of_proxy(&bank, person);
            let home = browser.get(&bank, "/").text();
            let answer = if is_get {
                browser.get(&bank, &target)
            } else {
                let token = super::browser::hidden(&home, "/sign-out")[0].1.clone();
                browser.send(&bank, &target, &[("form_token", &token)])
            };
            let lacks = answer.status == 403 && answer.text().contains("this needs the role");
            let may = match row.right.word() {
                "deposit" | "withdraw" => ["boss", "chief"].contains(&person),
                "transfer" | "change_members" | "decide_proposals" => {
                    ["boss", "lead", "chief"].contains(&person)
                }
                "see_proposals" => ["boss", "lead", "audit", "chief"].contains(&person),
                "see_sources" | "price_the_past" | "verify" | "see_access" | "see_shares" => {
                    ["audit", "chief"].contains(&person)
                }
                "reverse" | "refund" | "adjust" | "close_periods" | "see_keys" | "change_keys"
                | "change_access" => person == "chief",
                "ask" | "see_ledger" | "see_status" | "see_registry" | "see_settings" | "quote" => {
                    true
                }
                other => panic!("{name}: who has the right {other}? Write it down here"),
            };
            if lacks == may || answer.status >= 500 {
                findings.push(format!("{name}: {person} gets {}", answer.status));
            }
            if let Some(word) = row.nav
                && home.contains(&format!(">{word}</a>")) != may
            {
                findings.push(format!("{name}: wrong navigation of {person}"));
            }
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert_eq!(bank.transactions(), before, "nonsense wrote something");
    bank.verify();
}
