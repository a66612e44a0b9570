//! Over all pages: the data below a table are its rows, and links keep the zone and the instant.

use bankd_web::rows as pages;
use serde_json::Value;

use super::browser::{Browser, bank};
use crate::harness::{Bank, Documents, T0};

/// Pages with a parameter in their path, beside those of the table of pages.
const MORE: [&str; 9] = [
    "/projects/chemistry",
    "/projects/chemistry/statement",
    "/projects/chemistry/members",
    "/projects?search=CHEM",
    "/journal?kind=deposit,refund",
    "/jobs?period=running&from=2025-12-01",
    "/jobs/one",
    "/proposals?all=true",
    "/?at=2026-01-01T00%3A00%3A01Z",
];

/// Tables that no route of the API has: of sessions, and of answers to a calculation.
const WITHOUT: [&str; 4] = [
    "Signed in, the newest first",
    "Signed-in people, the newest first",
    "By project and user",
    "Calculation of the price",
];

/// A bank in which most tables have rows.
fn filled() -> Bank {
    let bank = bank();
    for words in [
        &["user", "add", "ben"][..],
        &["project", "members", "add", "chemistry", "ben"],
        &["project", "add", "lab", "--parent", "chemistry"],
        &["limit", "set", "ben", "--per-day", "777"],
        &["role", "grant", "ben", "operator", "-A", "chemistry"],
        &[
            "deposit",
            "chemistry",
            "500",
            "--new",
            "--start",
            "2025-12-01",
            "--end",
            "2026-01-20",
        ],
        &[
            "charge",
            "one",
            "-A",
            "chemistry",
            "-u",
            "amy",
            "-m",
            "colony",
            "--procs",
            "1",
            "--duration",
            "100",
        ],
        &[
            "charge",
            "two",
            "-A",
            "chemistry",
            "-u",
            "ben",
            "-m",
            "colony",
            "--procs",
            "1",
            "--duration",
            "30",
        ],
        &[
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
        ],
        &["refund", "two"],
        &["adjust", "physics", "-100000", "--note", "closed"],
        &[
            "token",
            "add",
            "t",
            "--until",
            "2090-01-01",
            "--role",
            "auditor",
        ],
        &["close", "--until", "2025-01-01"],
    ] {
        bank.bank_ok(words);
    }
    bank.bank_ok(&["withdraw", "chemistry", "42401"]);
    let document = Documents::own().get(3);
    bank.script("reserve", &document);
    bank.set_clock(T0 + 60);
    bank
}

/// The target of the link of a section with a text.
fn target(section: &str, text: &str) -> Option<String> {
    let end = format!("\">{text}</a>");
    let link = section
        .split(&end)
        .next()
        .filter(|before| before.len() < section.len())?;
    let target = link.rsplit("href=\"").next()?.split('"').next()?;
    Some(target.replace("&amp;", "&"))
}

fn length(answer: &Value) -> usize {
    let lists = ["items", "rows"];
    let list = lists.iter().find_map(|name| answer[*name].as_array());
    list.map_or(1, Vec::len)
}

/// What is wrong with the data of a section.
fn compared(root: &mut Browser, bank: &Bank, section: &str) -> Option<String> {
    if !section.contains("<table") {
        return None;
    }
    let caption = section
        .split("<caption>")
        .nth(1)?
        .split("</caption>")
        .next()?;
    if WITHOUT.contains(&caption) {
        return None;
    }
    // Totals are below the rows of the data.
    let body = section.split("<tfoot>").next()?;
    let count = body.matches("scope=\"row\"").count();
    let Some(json) = target(section, "JSON") else {
        return Some(format!("{caption}: no data"));
    };
    let csv = target(section, "CSV").unwrap();
    let answer = root.get(bank, &json);
    if answer.status != 200 {
        return Some(format!("{caption}: {json}: {}", answer.text()));
    }
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    let lines = root.get(bank, &csv).text().matches("\r\n").count();
    let is_whole = !section.contains("rel=\"next\"");
    let same = length(&answer) == count && lines == count + 1;
    (is_whole && !same).then(|| {
        let found = length(&answer);
        format!("{caption}: {count} rows, {found} as JSON, {lines} lines as CSV of {csv}")
    })
}

#[test]
fn the_data_below_each_table_are_its_rows() {
    let mut bank = filled();
    let mut root = Browser::of_link(&bank);
    let all = pages().into_iter();
    let all = all.filter(|page| page.method == "GET" && !page.path.contains('{'));
    let all: Vec<&str> = all.map(|page| page.path).chain(MORE).collect();
    let (mut findings, mut tables) = (Vec::new(), 0);
    for page in all {
        let answer = root.get(&bank, page);
        assert_eq!(answer.status, 200, "{page}: {}", answer.text());
        let text = answer.text();
        // The table of a picture has the points of its lines; the data are what they are made of.
        let parts = text.split("<details class=\"more\">");
        let parts = parts.map(|part| part.rsplit("</details>").next().unwrap());
        let text: String = parts.collect();
        for section in text.split("<section class=\"table\">").skip(1) {
            let section = section.split("</section>").next().unwrap();
            tables += usize::from(section.contains("<table"));
            let found = compared(&mut root, &bank, section);
            findings.extend(found.map(|text| format!("{page}: {text}")));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(tables > 30, "only {tables} tables");
    bank.verify();
}

#[test]
fn links_keep_the_zone_and_the_instant() {
    let bank = filled();
    let mut root = Browser::of_link(&bank);
    // Pages with times; forms and lists without any need no zone.
    let with_times = [
        "/projects",
        "/jobs",
        "/journal",
        "/transactions",
        "/closes",
        "/proof",
        "/proposals",
        "/requests",
    ];
    let mut findings = Vec::new();
    let mut seen = 0;
    for page in [
        "/",
        "/today",
        "/projects",
        "/projects/chemistry",
        "/projects/chemistry/statement",
        "/jobs",
        "/jobs/one",
        "/my-usage",
        "/operations",
        "/journal",
        "/actors",
        "/proof",
        "/checkpoints",
        "/closes",
        "/people",
        "/limits",
    ] {
        let text = root
            .get(&bank, &format!("{page}?zone=Asia%2FKolkata"))
            .text();
        let main = text
            .split("<main")
            .nth(1)
            .unwrap()
            .split("</main>")
            .next()
            .unwrap();
        let links = main.split("<a ").skip(1);
        let targets = links.filter_map(|link| link.split("href=\"").nth(1)?.split('"').next());
        for target in targets {
            let path = target.split(['?', '#']).next().unwrap();
            let has_times = with_times.iter().any(|own| {
                path == *own
                    || path
                        .strip_prefix(own)
                        .is_some_and(|rest| rest.starts_with('/'))
            });
            seen += 1;
            if has_times && !target.contains("zone=Asia%2FKolkata") {
                findings.push(format!("{page}: {target}"));
            }
        }
    }
    findings.dedup();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(seen > 100, "only {seen} links");
}

#[test]
fn a_long_list_of_a_page_continues() {
    let bank = bank();
    for place in 0..52 {
        bank.bank_ok(&[
            "reserve",
            &format!("job-{place}"),
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
    }
    let mut root = Browser::of_link(&bank);
    let held = |text: &str| {
        let rest = text
            .split("<caption>Open holds, the newest first")
            .nth(1)
            .unwrap();
        rest.split("</section>").next().unwrap().to_owned()
    };
    let page = root.get(&bank, "/operations?zone=Europe%2FBerlin").text();
    let first = held(&page);
    assert_eq!(first.matches("scope=\"row\"").count(), 50, "{first}");
    assert!(first.contains("More rows follow."), "{first}");
    let next = target(&first, "Next rows").unwrap();
    assert!(
        next.contains("zone=Europe%2FBerlin") && next.contains("liens-after="),
        "{next}"
    );
    let rest = held(&root.get(&bank, &next).text());
    assert_eq!(rest.matches("scope=\"row\"").count(), 2, "{rest}");
    assert!(
        rest.contains("job-0<") && !rest.contains("job-51<"),
        "{rest}"
    );
    // The data of a page are its rows; a file has all of them.
    let json = target(&rest, "JSON of these rows").unwrap();
    let answer: Value = serde_json::from_slice(&root.get(&bank, &json).body).unwrap();
    assert_eq!(length(&answer), 2, "{json}");
    let csv = target(&rest, "CSV of all rows").unwrap();
    let lines = root.get(&bank, &csv).text().matches("\r\n").count();
    assert_eq!(lines, 53, "{csv}");
}
