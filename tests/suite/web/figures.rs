//! Figures lead to what they are made of: the rows behind a link add up to the figure.

use serde_json::{Value, json};

use super::browser::{Browser, bank};
use crate::harness::{Bank, Ran, T0, programs, until};

const DAY: i64 = 86_400;

/// The links of a page to an address, each with its text.
fn links(page: &str, start: &str) -> Vec<(String, String)> {
    let all = page.split("<a ").skip(1);
    let found = all.filter_map(|link| {
        let target = link.split("href=\"").nth(1)?.split('"').next()?;
        let text = link.split('>').nth(1)?.split('<').next()?;
        Some((target.replace("&amp;", "&"), text.to_owned()))
    });
    found
        .filter(|(target, _)| target.starts_with(start))
        .collect()
}

/// The rows of the first table whose JSON is an address below `start`.
fn rows(browser: &mut Browser, bank: &Bank, page: &str, start: &str) -> Vec<Value> {
    let found = links(page, start).into_iter();
    let mut found = found.filter(|(_, text)| text == "JSON");
    let (target, _) = found.next().unwrap_or_else(|| panic!("no {start}: {page}"));
    let answer = browser.get(bank, &target);
    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    answer["items"].as_array().unwrap().clone()
}

fn charge(bank: &Bank, job: &str, user: &str, seconds: &str) {
    bank.bank_ok(&[
        "charge",
        job,
        "-A",
        "chemistry",
        "-u",
        user,
        "-m",
        "colony",
        "--procs",
        "1",
        "--duration",
        seconds,
    ]);
}

#[test]
fn a_count_of_jobs_leads_to_the_jobs_that_it_counts() {
    let mut bank = bank();
    bank.bank_ok(&["deposit", "chemistry", "1000000"]);
    bank.bank_ok(&["user", "add", "ben"]);
    bank.bank_ok(&["project", "members", "add", "chemistry", "ben"]);
    charge(&bank, "one", "amy", "100");
    bank.set_clock(T0 + 8 * DAY);
    // It ran in two weeks and ended in one.
    charge(&bank, "two", "amy", "400000");
    charge(&bank, "three", "amy", "60");
    charge(&bank, "of-ben", "ben", "60");
    bank.set_clock(T0 + 9 * DAY);
    let mut amy = Browser::of_proxy(&bank, "amy");
    for zone in ["UTC", "Asia/Kolkata"] {
        let page = amy.get(&bank, &format!("/my-usage?zone={zone}")).text();
        let counts = links(&page, "/jobs?");
        let total: i64 = counts
            .iter()
            .map(|(_, count)| count.parse::<i64>().unwrap())
            .sum();
        assert!(counts.len() > 1 && total > 3, "{zone}: {page}");
        for (target, count) in counts {
            assert!(
                target.contains(&format!("zone={}", zone.replace('/', "%2F"))),
                "{target}"
            );
            let jobs = amy.get(&bank, &target).text();
            let own = links(&jobs, "/jobs/");
            let names: std::collections::BTreeSet<_> =
                own.iter().map(|(target, _)| target).collect();
            assert_eq!(names.len().to_string(), count, "{target}: {jobs}");
            assert!(!jobs.contains("of-ben"), "{jobs}");
            let data = rows(&mut amy, &bank, &jobs, "/data/jobs");
            assert_eq!(data.len().to_string(), count, "{target}");
        }
    }
    bank.verify();
}

#[test]
fn jobs_of_a_period_end_in_it() {
    let bank = bank();
    charge(&bank, "one", "amy", "100");
    bank.set_clock(T0 + DAY);
    charge(&bank, "two", "amy", "100");
    bank.bank_ok(&[
        "reserve",
        "held",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "1",
        "--wall",
        "60",
    ]);
    let time = |seconds: i64| bank_api::text::format_rfc3339(seconds * 1_000_000);
    let shown = |more: &[&str]| {
        let list = bank.bank_ok(&[&["jobs", "--json"], more].concat());
        let list: Value = serde_json::from_str(&list).unwrap();
        let items = list["items"].as_array().unwrap().iter();
        items
            .map(|job| job["job"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let ended = bank.query("SELECT used_until / 1000000 FROM instance WHERE object_id = 'one'")[0]
        [0]
    .parse::<i64>()
    .unwrap();
    let (at, after, day) = (time(ended), time(ended + 1), time(T0 + DAY - 1000));
    assert_eq!(shown(&[]), ["held", "two", "one"]);
    assert_eq!(shown(&["--from", &at]), ["two", "one"]);
    assert_eq!(shown(&["--from", &after]), ["two"]);
    assert_eq!(shown(&["--to", &at]), Vec::<String>::new());
    assert_eq!(shown(&["--to", &after]), ["one"]);
    let (middle, end) = (time(ended - 50), time(ended - 1));
    assert_eq!(
        shown(&["--from", &middle, "--until", &end]),
        Vec::<String>::new()
    );
    assert_eq!(
        shown(&["--from", &middle, "--until", &end, "--period", "running"]),
        ["one"]
    );
    assert_eq!(shown(&["--until", &day, "--period", "started"]), ["one"]);
    assert_eq!(
        shown(&["--from", &middle, "--until", &day, "--period", "started"]),
        Vec::<String>::new()
    );
    assert_ne!(bank.bank(&["jobs", "--period", "never"]).exit, 0);
    assert_ne!(bank.bank(&["jobs", "--from", &at, "--to", &at]).exit, 0);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let jobs = |amy: &mut Browser, query: &str| {
        let answer = amy.get(&bank, &format!("/jobs?{query}"));
        (answer.status, answer.text())
    };
    let (status, page) = jobs(&mut amy, &format!("from={at}&to={after}&state=closed"));
    assert!(
        status == 200 && page.contains(">one<") && !page.contains(">two<"),
        "{page}"
    );
    assert!(
        page.contains("<option value=\"closed\" selected>"),
        "{page}"
    );
    let (status, page) = jobs(&mut amy, "from=2026-02&to=2026-01");
    assert!(status == 422 && page.contains("aria-invalid"), "{page}");
    assert_eq!(jobs(&mut amy, "period=never").0, 422);
    assert_eq!(jobs(&mut amy, "from=soon").0, 422);
}

/// The text of the table with a caption.
fn table<'p>(page: &'p str, caption: &str) -> &'p str {
    let start = format!("<caption>{caption}");
    let rest = page
        .split(&start)
        .nth(1)
        .unwrap_or_else(|| panic!("no table {caption}: {page}"));
    rest.split("</section>").next().unwrap()
}

fn count(table: &str) -> usize {
    table.matches("scope=\"row\"").count()
}

#[test]
fn a_project_shows_who_used_what_and_what_was_corrected() {
    let mut bank = bank();
    bank.bank_ok(&["user", "add", "ben"]);
    bank.bank_ok(&["project", "members", "add", "chemistry", "ben"]);
    bank.bank_ok(&[
        "project",
        "add",
        "lab",
        "--parent",
        "chemistry",
        "--members",
        "ben",
    ]);
    bank.bank_ok(&[
        "deposit",
        "chemistry",
        "500",
        "--new",
        "--start",
        "2026-03-01",
        "--end",
        "2026-06-01",
    ]);
    charge(&bank, "one", "amy", "100");
    charge(&bank, "two", "ben", "30");
    charge(&bank, "three", "ben", "50");
    bank.bank_ok(&["refund", "two", "--note", "<b>node</b> failure"]);
    bank.bank_ok(&["adjust", "chemistry", "-5", "--note", "twice counted"]);
    bank.bank_ok(&["limit", "set", "ben", "--per-day", "777"]);
    let mut root = Browser::of_link(&bank);
    let page = root
        .get(&bank, "/projects/chemistry?zone=Europe%2FBerlin")
        .text();
    assert!(
        page.contains("href=\"/projects/lab?zone=Europe%2FBerlin\""),
        "{page}"
    );
    assert!(!page.contains("style="), "{page}");
    let used = table(&page, "Used from");
    assert!(used.contains(">100<") && used.contains(">50<"), "{used}");
    for (target, jobs) in links(used, "/jobs?") {
        let shown = root.get(&bank, &target).text();
        assert_eq!(
            count(table(&shown, "Jobs as they arrived, the newest first")).to_string(),
            jobs,
            "{target}: {shown}"
        );
    }
    let csv = links(used, "/data/report/usage").remove(0).0;
    let csv = root.get(&bank, &csv).text();
    assert_eq!(csv.lines().count(), count(used) + 1, "{csv}");
    assert!(csv.contains("user") && csv.contains(",ben,"), "{csv}");
    let members = table(&page, "Members");
    assert!(members.contains("777 a day"), "{members}");
    let corrected = table(&page, "Refunds and corrections");
    assert_eq!(count(corrected), 2, "{corrected}");
    assert!(
        corrected.contains("&lt;b&gt;node") && corrected.contains("twice counted"),
        "{corrected}"
    );
    let explained = links(corrected, "/transactions/").remove(0).0;
    assert_eq!(root.get(&bank, &explained).status, 200);
    for (caption, start) in [
        ("Accounts", "/data/balances"),
        ("Members", "/data/projects/chemistry/members"),
        ("Allocations", "/data/allocations"),
        ("Refunds and corrections", "/data/journal"),
    ] {
        let shown = table(&page, caption);
        let data = rows(&mut root, &bank, shown, start);
        assert_eq!(data.len(), count(shown), "{caption}: {data:?}");
    }
    let allocations = table(&page, "Allocations");
    assert!(
        allocations.contains("to 2026-06-01") && allocations.matches("<svg").count() == 2,
        "{allocations}"
    );
    let listed = bank.bank_ok(&["allocation", "ls", "-A", "chemistry", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    // Of others, a member sees the sum only.
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = amy.get(&bank, "/projects/chemistry").text();
    let used = table(&page, "Used from");
    assert!(
        used.contains("others") && used.contains(">100<") && !used.contains("ben"),
        "{used}"
    );
    assert!(!page.contains("Transaction limit"), "{page}");
    bank.set_clock(T0 + DAY);
    let past = amy.get(&bank, "/projects/chemistry?at=2026-01-01T00%3A00%3A01Z");
    assert_eq!(past.status, 200, "{}", past.text());
    let past = past.text();
    assert!(
        count(table(&past, "Refunds and corrections")) == 1 && past.contains("Show the present"),
        "{past}"
    );
    bank.verify();
}

#[test]
fn a_default_project_is_set_once_by_those_who_may() {
    let mut bank = bank();
    bank.bank_ok(&["role", "grant", "lead", "manager", "-A", "chemistry"]);
    let mut root = Browser::of_link(&bank);
    let page = "/projects/chemistry/members";
    let fields = [("step", "default"), ("user", "amy")];
    let done = root.submit(&bank, page, page, &fields);
    assert_eq!(done.status, 303, "{}", done.text());
    let user = bank.bank_ok(&["user", "show", "amy", "--json"]);
    let user: Value = serde_json::from_str(&user).unwrap();
    assert_eq!(user["default_project"], "chemistry");
    let shown = root.get(&bank, page).text();
    assert!(
        shown.contains(">default project<") && !shown.contains("Make default project"),
        "{shown}"
    );
    let own = root.get(&bank, "/projects/chemistry").text();
    assert!(table(&own, "Members").contains(">yes<"), "{own}");
    let mut lead = Browser::of_proxy(&bank, "lead");
    let shown = lead.get(&bank, page).text();
    assert!(!shown.contains("Make default project"), "{shown}");
    assert_eq!(lead.submit(&bank, page, page, &fields).status, 403);
    bank.verify();
}

#[test]
fn settings_show_their_sources_and_no_secrets() {
    let bank = super::browser::with_settings(&[("BANKD_LEDGER_LIEN_GRACE_S", "61")]);
    bank.bank_ok(&["role", "grant", "chief", "admin"]);
    bank.bank_ok(&["role", "grant", "audit", "auditor"]);
    let mut chief = Browser::of_proxy(&bank, "chief");
    let page = chief.get(&bank, "/settings").text();
    assert!(
        page.contains("(empty)") && page.contains(">none</span>"),
        "{page}"
    );
    assert!(
        !page.contains(">&quot;&quot;<") && !page.contains(">[]<"),
        "{page}"
    );
    let shown = page.split("All, by section").nth(1).unwrap();
    let row = |shown: &str, name: &str| {
        let start = format!("<code>{name}</code>");
        let rest = shown
            .split(&start)
            .nth(1)
            .unwrap_or_else(|| panic!("no {name}"));
        rest.split("</tr>").next().unwrap().to_owned()
    };
    let grace = row(shown, "ledger.lien_grace_s");
    for text in ["61", "environment", "600", "restart"] {
        assert!(grace.contains(text), "{text}: {grace}");
    }
    assert!(row(shown, "web.header.name").contains("file"), "{shown}");
    assert!(row(shown, "log.level").contains("reload"), "{shown}");
    let data = rows(&mut chief, &bank, shown, "/data/settings");
    assert_eq!(data.len(), count(shown));
    // Sections are folded up, each once; what somebody has set comes first.
    let sections = shown.split("<summary><code>").skip(1);
    let sections: Vec<&str> = sections
        .map(|rest| rest.split("</code>").next().unwrap())
        .collect();
    let mut named: Vec<&str> = data
        .iter()
        .map(|one| one["name"].as_str().unwrap().split('.').next().unwrap())
        .collect();
    named.dedup();
    assert_eq!(sections, named);
    let own = table(&page, "Not at their default");
    let changed = data.iter().filter(|one| one["origin"] != "default");
    assert_eq!(count(own), changed.count(), "{own}");
    assert!(row(own, "ledger.lien_grace_s").contains("61"), "{own}");
    // A reload takes what it can; the rest waits.
    let file = bank.data().join("bankd.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replacen("[log]", "[log]\nlevel = \"debug\"", 1);
    let text = text.replacen("[ledger]", "[ledger]\nbatch_max = 7", 1);
    std::fs::write(&file, text).unwrap();
    bank.signal("HUP");
    let of = |name: &str| {
        let printed = bank.bank_ok(&["settings", "--json"]);
        let printed: Value = serde_json::from_str(&printed).unwrap();
        let items = printed["items"].as_array().unwrap();
        let found = items.iter().find(|one| one["name"] == name);
        found.unwrap().clone()
    };
    until("the reload", || {
        (of("log.level")["value"] == "\"debug\"").then_some(())
    });
    let waiting = of("ledger.batch_max");
    assert_eq!(
        (&waiting["value"], &waiting["pending"]),
        (&json!("256"), &json!("7"))
    );
    let page = chief.get(&bank, "/settings").text();
    assert!(page.contains("One changed setting waits"), "{page}");
    for name in ["audit", "amy"] {
        let mut other = Browser::of_proxy(&bank, name);
        assert_eq!(other.get(&bank, "/settings").status, 403, "{name}");
        assert_eq!(other.get(&bank, "/data/settings").status, 403, "{name}");
    }
}

#[test]
fn checkpoints_are_listed_with_what_the_bank_says_of_them() {
    let mut bank = bank();
    bank.bank_ok(&["role", "grant", "audit", "auditor"]);
    let mut auditor = Browser::of_proxy(&bank, "audit");
    let empty = auditor.get(&bank, "/checkpoints").text();
    assert!(empty.contains("has made no checkpoint"), "{empty}");
    let mut key = std::process::Command::new(programs().bankd());
    key.args(["checkpoint-key", "new", "--data"])
        .arg(bank.data());
    assert_eq!(Ran::of(&mut key, b"").exit, 0);
    let folder = bank.data().join("checkpoints");
    std::fs::create_dir(&folder).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let first = file("checkpoint-000000000001-a.txt");
    bank.bank_ok(&["checkpoint", "--out", &first]);
    bank.bank_ok(&["deposit", "chemistry", "1"]);
    let text = std::fs::read_to_string(&first).unwrap();
    std::fs::write(
        file("checkpoint-000000000002-b.txt"),
        text.replace("entries ", "entries 1"),
    )
    .unwrap();
    std::fs::write(file("checkpoint-000000000003-<svg>.txt"), "nonsense").unwrap();
    let page = auditor.get(&bank, "/checkpoints").text();
    let shown = table(&page, "Checkpoints, the newest first");
    assert_eq!(count(shown), 3, "{shown}");
    assert_eq!(shown.matches(">holds<").count(), 1, "{shown}");
    assert!(
        shown.contains("its signature is not right") && page.contains("2 of these"),
        "{page}"
    );
    assert!(!page.contains("<svg>"), "{page}");
    assert_eq!(
        rows(&mut auditor, &bank, shown, "/data/checkpoints").len(),
        3
    );
    let listed = bank.bank_ok(&["checkpoint", "--list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["items"][2]["holds"], true, "{listed}");
    // Of another history nothing holds.
    let other = super::browser::bank();
    std::fs::create_dir(other.data().join("checkpoints")).unwrap();
    std::fs::copy(&first, other.data().join("checkpoints/checkpoint-1.txt")).unwrap();
    std::fs::copy(
        bank.data().join("keys/checkpoint.key.pub"),
        other.data().join("keys/checkpoint.key.pub"),
    )
    .unwrap();
    let listed = other.bank_ok(&["checkpoint", "--list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["items"][0]["holds"], false, "{listed}");
    let proof = auditor.get(&bank, "/proof").text();
    assert!(
        proof.contains("href=\"/checkpoints\"") && proof.contains("href=\"/statements\""),
        "{proof}"
    );
    assert_eq!(
        Browser::of_proxy(&bank, "amy")
            .get(&bank, "/checkpoints")
            .status,
        403
    );
    let form = auditor.get(&bank, "/statements").text();
    assert!(form.contains("name=\"project\""), "{form}");
    let to = auditor.get(
        &bank,
        "/statements?project=chemistry&at=2026-01-01&zone=Europe%2FBerlin&from=",
    );
    assert_eq!(to.status, 303);
    let target = to.header("location").unwrap().to_owned();
    assert_eq!(
        target,
        "/projects/chemistry/statement?zone=Europe%2FBerlin&at=2026-01-01"
    );
    assert_eq!(auditor.get(&bank, &target).status, 200);
    bank.verify();
}
