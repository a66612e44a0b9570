//! What pages say about themselves: periods, previews, messages, and what cannot be spent.

use serde_json::{Value, json};

use super::browser::{Browser, bank};
use crate::harness::{Bank, T0};

#[test]
fn tables_of_a_period_name_it() {
    let bank = bank();
    let mut amy = Browser::of_proxy(&bank, "amy");
    for (page, words) in [
        (
            "/jobs",
            "Jobs as they arrived, the newest first, of all time",
        ),
        (
            "/jobs?from=2026-01-01&to=2026-02-01",
            "Jobs as they arrived, the newest first, from <time>2026-01-01</time> to <time>2026-02-01</time> (exclusive)",
        ),
        ("/my-usage", "By week, from <time>"),
        // Without an end it is the moment of the page, in the same form on every page.
        (
            "/jobs?from=2025-12-01",
            "from <time>2025-12-01</time> to <time>2026-01-01 00:00</time> (exclusive)",
        ),
        (
            "/usage?from=2025-12-01",
            "From <time>2025-12-01</time> to <time>2026-01-01 00:00</time> (exclusive)",
        ),
        (
            "/waiting?from=2025-12-01",
            "From <time>2025-12-01</time> to <time>2026-01-01 00:00</time> (exclusive)",
        ),
        (
            "/projects/chemistry/statement?from=2025-12-01",
            "From <time>2025-12-01</time> to <time>2026-01-01",
        ),
    ] {
        let text = amy.get(&bank, page).text();
        assert!(text.contains(words), "{page}: {text}");
    }
}

#[test]
fn previews_show_what_is_confirmed() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let fields = [("name", "chemistry"), ("amount", "5")];
    let page = root.submit(&bank, "/deposit", "/deposit", &fields);
    let text = page.text();
    for fact in [
        "<dt>Usable from</dt><dd>at once</dd>",
        "<dt>Usable until (exclusive)</dt><dd>without end</dd>",
    ] {
        assert!(text.contains(fact), "{fact}: {text}");
    }
    let done = root.submit_of(&bank, &text, "/deposit", &[("step", "confirm")]);
    let target = done.header("location").unwrap().to_owned();
    let undo = format!("{}/undo", target.split('?').next().unwrap());
    let page = root.submit(&bank, &undo, &undo, &[]);
    let text = page.text();
    for fact in [
        "<dt>Kind</dt><dd>Deposit</dd>",
        "<dt>Date</dt><dd><time>2026-01-01 ",
        "<dt>Booked (credits)</dt><dd>5 on ",
    ] {
        assert!(text.contains(fact), "{fact}: {text}");
    }
    let fields = [("name", "amy"), ("per_day", "50000")];
    root.submit(&bank, "/limits", "/limits/set", &fields);
    let asked = root.submit(&bank, "/limits", "/limits/remove", &[]).text();
    let question = "The limit of the name amy, 50,000 credits in a day, no longer counts.";
    assert!(asked.contains(question), "{asked}");
}

#[test]
fn refusals_are_sentences_on_their_own_page() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let missing = root.get(&bank, "/nowhere").text();
    assert!(missing.contains("There is no such page."), "{missing}");
    let fields = [("id", "k-9"), ("roles", "auditor"), ("valid_until", "soon")];
    let refused = root.submit(&bank, "/keys", "/keys/new", &fields).text();
    let words = "is not a time such as <time>2027-06-30</time>, <time>2027-06</time> or +30d.";
    assert!(refused.contains(words), "{refused}");
    assert!(!refused.contains("aria-label=\"Breadcrumb\""), "{refused}");
    let limits = root.get(&bank, "/limits").text();
    assert!(limits.contains("(a role or a name)"), "{limits}");
    // A closed list of words is a list to choose from.
    for (page, name, word) in [
        ("/limits", "role", "operator"),
        ("/people", "role", "auditor"),
        ("/rates/test", "kind", "NBM"),
    ] {
        let text = root.get(&bank, page).text();
        let list = text.split(&format!("<select id=\"{name}\"")).nth(1);
        let list = list.and_then(|rest| rest.split("</select>").next());
        let has_word = list.is_some_and(|list| list.contains(&format!("value=\"{word}\"")));
        assert!(has_word, "{page}: {text}");
    }
    let used = root.get(&bank, "/login/link?code=bl_nonsense").text();
    assert!(used.contains("href=\"/login\""), "{used}");
}

#[test]
fn what_an_expired_allocation_has_left_is_not_left_to_spend() {
    let mut bank = bank();
    bank.bank_ok(&["project", "add", "botany"]);
    let end = ["--end", "2026-01-21T00:00:00Z"];
    bank.bank_ok(&[&["deposit", "botany", "500"][..], &end].concat());
    let mut root = Browser::of_link(&bank);
    let head = "Expired unused (credits)";
    let cell = |text: &str, head: &str| {
        let rest = text.split("<caption>Allocations</caption>").nth(1).unwrap();
        let rest = rest.split(&format!("data-head=\"{head}\">")).nth(1);
        rest.unwrap().split("</td>").next().unwrap().to_owned()
    };
    let page = root.get(&bank, "/projects/botany").text();
    assert!(cell(&page, "Left (credits)").contains("500"), "{page}");
    assert!(!page.contains(head), "{page}");
    bank.set_clock(T0 + 30 * 86_400);
    let page = root.get(&bank, "/projects/botany").text();
    assert!(cell(&page, "Left (credits)").contains('–'), "{page}");
    assert!(cell(&page, head).contains("500"), "{page}");
    bank.verify();
}

/// A debt that ended with its allocation is no money that expired.
#[test]
fn a_debt_of_an_expired_allocation_is_not_unused() {
    let mut bank = bank();
    bank.bank_ok(&["project", "add", "botany", "--members", "amy"]);
    let end = ["--end", "2026-01-21T00:00:00Z"];
    bank.bank_ok(&[&["deposit", "botany", "500"][..], &end].concat());
    let charge = ["charge", "j1", "-A", "botany", "-u", "amy", "-m", "colony"];
    bank.bank_ok(&[&charge[..], &["--amount", "800"]].concat());
    bank.set_clock(T0 + 30 * 86_400);
    let page = Browser::of_link(&bank)
        .get(&bank, "/projects/botany")
        .text();
    assert!(!page.contains("Expired unused"), "{page}");
    let rest = page
        .split("data-head=\"Debt at its end (credits)\">")
        .nth(1);
    assert!(
        rest.unwrap().split("</td>").next().unwrap().contains("300"),
        "{page}"
    );
    bank.verify();
}

/// A job of a source, of a project that the bank may not have.
fn used(bank: &Bank, id: &str, project: &str) {
    let job = json!({"source": "sge:colony", "id": id, "machine": "colony", "project": project, "user": "amy",
        "processors": 2, "submit": "2026-01-02T00:00:00Z", "start": "2026-01-02T00:00:00Z",
        "end": "2026-01-02T01:30:00Z", "state": "completed"});
    let file = bank.folder().join("usage.jsonl");
    std::fs::write(&file, job.to_string()).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
}

/// The journal keeps its own words; pages have sentences, and the words of the journal are one click away.
#[test]
fn pages_show_transactions_in_plain_words() {
    let mut bank = bank();
    bank.set_clock(T0 + 3 * 86_400);
    used(&bank, "j1", "chemistry");
    bank.bank_ok(&["key", "add", "robot", "--role", "collector"]);
    bank.bank_ok(&["key", "rm", "robot", "--yes"]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let fields = [("name", "chemistry"), ("amount", "70"), ("reason", "x = y")];
    let form = "/ask/deposit";
    let preview = amy.submit(&bank, form, form, &fields).text();
    amy.submit_of(&bank, &preview, form, &[("step", "confirm")]);
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/journal").text();
    for words in [
        "Policy: wall time of all jobs; counted: 3.00 processor-hours",
        "Key removed",
        "Key robot",
        "Proposal or request",
        "Deposit of 70 for chemistry: x = y",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for words in ["policy=", "counted=", "key=", ">key rm<", "POST /api"] {
        assert!(!page.contains(words), "{words}: {page}");
    }
    let list: Value = bank.json(&["journal", "--kind", "charge"]);
    let charge = &list["items"][0];
    assert!(charge["reason"].as_str().unwrap().starts_with("policy="));
    let one = format!("/transactions/{}", charge["transaction"]);
    let page = root.get(&bank, &one).text();
    assert!(page.contains("Charge of job j1"), "{page}");
    let raw = page.split("Entry of the journal").nth(1).unwrap();
    assert!(raw.contains("policy=DEBITALLWC counted=wc:10800"), "{page}");
    bank.verify();
}

#[test]
fn a_charge_that_no_project_pays_says_so() {
    let mut bank = bank();
    bank.set_clock(T0 + 3 * 86_400);
    used(&bank, "j1", "grp_vislab");
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/jobs").text();
    assert!(
        page.contains("to #unbilled</span>") && page.contains("no project has paid"),
        "{page}"
    );
    let job = bank.json(&["jobs"]);
    let charged = job["items"][0]["charged"].as_str().unwrap().to_owned();
    let usage = bank.json(&["usage", "--by", "project", "--from", "2026-01-01"]);
    assert_eq!(usage["total"]["charged"], charged.as_str());
    assert_eq!(
        bank.json(&["status"])["unbilled"]
            .to_string()
            .matches(&charged)
            .count(),
        1
    );
    bank.verify();
}

/// The days of an account are those of its row on every page, with several allocations too.
#[test]
fn days_left_are_the_same_on_every_page() {
    let mut bank = bank();
    bank.bank_ok(&["project", "add", "botany", "--members", "amy"]);
    let deposit = |amount: &str, end: &str| {
        bank.bank_ok(&["deposit", "botany", amount, "--end", end]);
    };
    deposit("1000", "2026-01-06T00:00:00Z");
    deposit("1500", "2026-02-01T00:00:00Z");
    for day in 1..=2 {
        bank.set_clock(T0 + day * 86_400);
        let job = format!("b{day}");
        let work = ["-A", "botany", "-u", "amy", "-m", "colony"];
        let size = ["--procs", "1", "--duration", "450"];
        bank.bank_ok(&[&["charge", &job][..], &work, &size].concat());
    }
    // 100 of the first are used up before its end, and the others some days later.
    let row = |list: &Value| {
        let mut rows = list["items"].as_array().unwrap().iter();
        let row = rows.find(|row| row["account"] == "botany").unwrap();
        row["days_to_spend"].clone()
    };
    let days = row(&bank.json(&["report", "forecast"]));
    assert_eq!(days, 3, "1,600 at 450 a day");
    assert_eq!(row(&bank.json(&["balance", "botany"])), days);
    let mut root = Browser::of_link(&bank);
    for page in ["/today", "/projects", "/", "/projects/botany"] {
        let text = root.get(&bank, page).text();
        let rows = text
            .split("<tr>")
            .filter(|row| row.contains("/projects/botany\""));
        let mut rows = rows.filter_map(|row| row.split("data-head=\"Days left\">").nth(1));
        let found = match rows.find(|row| row.contains("flag")) {
            Some(cell) => cell.split("</td>").next().unwrap().to_owned(),
            None => text
                .split("data-head=\"Days left\">")
                .nth(1)
                .unwrap()
                .to_owned(),
        };
        assert!(found.contains(">3</span>"), "{page}: {found}");
    }
    bank.verify();
}

#[test]
fn names_with_numbers_sort_as_people_count() {
    let bank = bank();
    for name in ["node10", "node2", "node1"] {
        bank.bank_ok(&["project", "add", name, "--members", "amy"]);
        bank.bank_ok(&["machine", "add", name]);
    }
    let order = |list: &Value, name: &str| {
        let rows = list.as_array().unwrap().iter();
        let names = rows.map(|row| row[name].as_str().unwrap().to_owned());
        names
            .filter(|name| name.starts_with("node"))
            .collect::<Vec<_>>()
    };
    let sorted = ["node1", "node2", "node10"];
    assert_eq!(order(&bank.json(&["balance"])["items"], "account"), sorted);
    assert_eq!(
        order(&bank.json(&["account", "ls"])["items"], "name"),
        sorted
    );
    assert_eq!(order(&bank.json(&["status"])["machines"], "name"), sorted);
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/projects").text();
    let place = |name: &str| page.find(&format!("/projects/{name}\"")).unwrap();
    assert!(place("node1") < place("node2") && place("node2") < place("node10"));
}
