//! Every page leads on: forms that are sent again, names that are no project, missing keys, and dates.

use std::process::Command;

use serde_json::json;

use super::browser::{Browser, address, ask, bank};
use crate::harness::{Bank, Request, T0, programs};

/// The way from the first form of a page: a request that is rejected without a reason, and again with one.
#[test]
fn a_changed_form_that_is_sent_again_has_a_way_on() {
    let mut bank = bank();
    bank.bank_ok(&["role", "grant", "boss", "operator", "-A", "chemistry"]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let mut boss = Browser::of_proxy(&bank, "boss");
    let form = "/ask/deposit";
    let fields = [("name", "chemistry"), ("amount", "70"), ("reason", "more")];
    let preview = amy.submit(&bank, form, form, &fields).text();
    let sent = amy.submit_of(&bank, &preview, form, &[("step", "confirm")]);
    let own = sent.header("location").unwrap().to_owned();
    let number = own.split(['/', '?']).nth(2).unwrap().to_owned();
    let action = format!("/proposals/{number}");
    let page = boss.get(&bank, &action).text();
    let reject = |reason| [("decision", "reject"), ("reason", reason)];
    let refused = boss.submit_of(&bank, &page, &action, &reject(""));
    assert_eq!(refused.status, 400, "{}", refused.text());
    // Back, and the same form with an answer.
    let again = boss.submit_of(&bank, &page, &action, &reject("no money is left"));
    let text = again.text();
    assert_eq!(again.status, 409, "{text}");
    assert!(
        text.contains("This form was sent before, with other entries.")
            && text.contains("value=\"no money is left\""),
        "{text}"
    );
    bank.set_clock(T0 + 3600);
    let done = boss.submit_of(&bank, &text, &action, &reject("no money is left"));
    assert_eq!(done.status, 303, "{}", done.text());
    // The time of the answer is on its page, in the API, in the feed and on the command line.
    let at = "2026-01-01T01:00:00Z";
    let shown = amy.get(&bank, &format!("/requests/{number}")).text();
    assert!(
        shown.contains("on <time>2026-01-01 01:00</time>"),
        "{shown}"
    );
    let one = bank.bank_ok(&["request", "show", &number, "--json"]);
    assert!(one.contains(at), "{one}");
    let feed = amy.get(&bank, "/notices").text();
    let feed = feed.split("href=\"http://").nth(1).unwrap();
    let feed = feed.split('"').next().unwrap().replace("&amp;", "&");
    let feed = feed.strip_prefix(&address(&bank)).unwrap();
    let feed = ask(&bank, &Request::get(feed)).text();
    let entry = feed.split("chemistry: rejected").nth(1).unwrap();
    assert!(
        entry.starts_with(&format!("</title><updated>{at}</updated>")),
        "{feed}"
    );
    bank.verify();
}

#[test]
fn names_that_are_no_project_are_no_links() {
    let mut bank = bank();
    bank.set_clock(T0 + 10 * 86_400);
    bank.bank_ok(&["machine", "add", "grid", "--mode", "track"]);
    let job = json!({"source": "sge:grid", "id": "1", "machine": "grid", "project": "grp_vislab",
        "user": "amy", "processors": 2, "submit": "2026-01-02T00:00:00Z", "start": "2026-01-02T00:00:00Z",
        "end": "2026-01-02T05:00:00Z", "state": "completed"});
    let file = bank.folder().join("usage.jsonl");
    std::fs::write(&file, job.to_string()).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    let mut root = Browser::of_link(&bank);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let usage = root.get(&bank, "/usage?from=2026-01-01").text();
    let down = usage
        .split("href=\"")
        .find(|link| link.starts_with("/usage?") && link.contains("project=grp_vislab"))
        .map(|link| link.split('"').next().unwrap().replace("&amp;", "&"));
    let down = down.unwrap_or_else(|| panic!("{usage}"));
    let pages = [
        root.get(&bank, &down),
        root.get(&bank, "/journal"),
        root.get(&bank, "/jobs"),
        amy.get(&bank, "/my-usage?from=2026-01-01"),
    ];
    for page in &pages {
        assert_eq!(page.status, 200, "{}", page.text());
        assert!(
            !page.text().contains("/projects/grp_vislab"),
            "{}",
            page.text()
        );
    }
    let text = pages[0].text();
    assert!(
        text.contains("is not a project of this bank") && text.contains("href=\"/today#unmapped\""),
        "{text}"
    );
    assert!(root.get(&bank, "/today").text().contains("id=\"unmapped\""));
    bank.verify();
}

#[test]
fn a_bank_without_a_key_offers_no_checkpoint() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/proof").text();
    assert!(
        page.contains("checkpoint-key</span> new") && !page.contains("/data/checkpoint\""),
        "{page}"
    );
    let made = Command::new(programs().bankd())
        .args(["checkpoint-key", "new", "--data"])
        .arg(bank.data())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let page = root.get(&bank, "/proof").text();
    assert!(page.contains("/data/checkpoint\""), "{page}");
    let file = root.get(&bank, "/data/checkpoint");
    assert_eq!(file.status, 200, "{}", file.text());
}

#[test]
fn contributors_find_their_contribution() {
    let bank = bank();
    bank.bank_ok(&[
        "contributor",
        "add",
        "amy",
        "--project",
        "chemistry",
        "--user",
        "amy",
    ]);
    let link = "href=\"/contribution";
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = amy.get(&bank, "/usage").text();
    assert!(page.contains(link), "{page}");
    let own = amy.get(&bank, "/contribution");
    assert_eq!(own.status, 200, "{}", own.text());
    assert!(!own.text().contains("value=\"project\""), "{}", own.text());
    let mut bob = Browser::of_proxy(&bank, "bob");
    assert!(!bob.get(&bank, "/usage").text().contains(link));
}

/// The days left of the account `botany` on the first page.
fn days(root: &mut Browser, bank: &Bank, target: &str) -> String {
    let page = root.get(bank, target).text();
    assert!(page.contains("Days left: "), "{page}");
    let row = page.split("/projects/botany").nth(1).unwrap();
    let cell = row.split("data-head=\"Days left\">").nth(1).unwrap();
    let cell = cell.split("</td>").next().unwrap();
    cell.chars().filter(char::is_ascii_digit).collect()
}

#[test]
fn dates_and_days_left_are_those_of_the_instant() {
    let mut bank = bank();
    bank.bank_ok(&["user", "add", "zoe"]);
    bank.bank_ok(&["project", "add", "botany", "--members", "zoe"]);
    let mut root = Browser::of_link(&bank);
    let allocations = |root: &mut Browser| {
        let page = root.get(&bank, "/projects/botany").text();
        let rest = page.split("<caption>Allocations</caption>").nth(1).unwrap();
        rest.split("</section>").next().unwrap().to_owned()
    };
    bank.bank_ok(&["deposit", "botany", "1000"]);
    let text = allocations(&mut root);
    assert!(
        text.contains("without end") && text.contains("Without dates") && !text.contains(" to "),
        "{text}"
    );
    bank.bank_ok(&["withdraw", "botany", "1000"]);
    bank.bank_ok(&[
        "deposit",
        "botany",
        "500",
        "--new",
        "--end",
        "2026-01-21T00:00:00Z",
    ]);
    assert!(allocations(&mut root).contains(" to 2026-01-21"));
    assert_eq!(days(&mut root, &bank, "/"), "20");
    bank.set_clock(T0 + 5 * 86_400);
    assert_eq!(days(&mut root, &bank, "/"), "15");
    let list = bank.bank_ok(&["allocation", "ls", "-A", "botany", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let all = list
        .as_array()
        .or_else(|| list["items"].as_array())
        .unwrap();
    let own = all.iter().find(|one| !one["until"].is_null()).unwrap();
    let id = own["id"].to_string();
    bank.bank_ok(&["allocation", "set", &id, "--end", "2026-02-20T00:00:00Z"]);
    assert_eq!(days(&mut root, &bank, "/"), "45", "after the extension");
    let past = "/?at=2026-01-03T00%3A00%3A00Z";
    assert_eq!(days(&mut root, &bank, past), "18", "as it was known then");
    bank.verify();
}

#[test]
fn a_statement_has_the_balance_after_each_entry() {
    let bank = bank();
    for amount in ["5", "6", "7"] {
        bank.bank_ok(&["deposit", "chemistry", amount]);
    }
    bank.bank_ok(&["withdraw", "chemistry", "100"]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = amy.get(&bank, "/projects/chemistry/statement").text();
    let balances: Vec<&str> = page
        .split("data-head=\"Balance (credits)\"><div>")
        .skip(1)
        .map(|rest| rest.split("</td>").next().unwrap())
        .map(|cell| cell.split('>').nth(1).unwrap().split('<').next().unwrap())
        .collect();
    assert_eq!(
        balances,
        ["100,000", "100,005", "100,011", "100,018", "99,918"]
    );
    // The sum goes on over the pages of the list.
    let list = "/data/statements/entries?project=chemistry&limit=2";
    let first: serde_json::Value = serde_json::from_slice(&amy.get(&bank, list).body).unwrap();
    let next = super::browser::encoded(first["next"].as_str().unwrap());
    let second = amy.get(&bank, &format!("{list}&after={next}"));
    let second: serde_json::Value = serde_json::from_slice(&second.body).unwrap();
    assert_eq!(second["items"][1]["running"], "100018");
}

/// A member sees the amounts of jobs of others in a statement, but no way to their transactions.
#[test]
fn a_statement_leads_only_to_transactions_that_are_seen() {
    let bank = bank();
    bank.bank_ok(&["project", "members", "add", "chemistry", "bob"]);
    for user in ["amy", "bob"] {
        bank.bank_ok(&[
            "charge",
            &format!("of-{user}"),
            "-A",
            "chemistry",
            "-u",
            user,
            "-m",
            "colony",
            "--procs",
            "1",
            "--duration",
            "10",
        ]);
    }
    let number = |user: &str| {
        let job = format!("of-{user}");
        let kept = bank.json(&["journal", "--job", &job, "--kind", "charge"]);
        kept["items"][0]["transaction"].to_string()
    };
    let way = |user: &str| format!("/transactions/{}", number(user));
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = amy.get(&bank, "/projects/chemistry/statement").text();
    assert!(page.contains(&format!("{}\"", way("amy"))), "{page}");
    assert!(!page.contains(&format!("{}\"", way("bob"))), "{page}");
    assert_eq!(amy.get(&bank, &way("bob")).status, 403);
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/projects/chemistry/statement").text();
    assert!(page.contains(&format!("{}\"", way("bob"))), "{page}");
}

#[test]
fn hints_lead_to_pages() {
    let bank = bank();
    bank.bank_ok(&[
        "charge",
        "9",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "1",
        "--duration",
        "5",
    ]);
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/transactions/999999");
    assert_eq!(page.status, 404);
    let page = page.text();
    let hints = page.split("class=\"hint\"").skip(1);
    for hint in hints {
        let hint = hint.split("</p>").next().unwrap();
        assert!(!hint.contains('`'), "{hint}");
    }
}
