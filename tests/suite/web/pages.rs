//! What pages show, and to whom.

use super::browser::{Browser, bank, encoded, steady};
use crate::harness::Documents;

#[test]
fn foreign_projects_look_like_unknown_ones() {
    let bank = bank();
    let mut amy = Browser::of_proxy(&bank, "amy");
    for page in [
        "/projects/NAME",
        "/projects/NAME/statement",
        "/jobs?project=NAME",
    ] {
        let [one, two] = ["physics", "physicz"].map(|name| {
            let answer = amy.get(&bank, &page.replace("NAME", name));
            assert_eq!(answer.status, 404, "{page}");
            steady(&answer.text()).replace(name, "NAME")
        });
        assert_eq!(one, two, "{page}");
    }
    assert_eq!(amy.get(&bank, "/projects/chemistry").status, 200);
}

#[test]
fn hostile_names_are_text() {
    let mut bank = bank();
    let evil = "<svg onload=alert(1)>\"'&";
    bank.bank_ok(&["user", "add", evil]);
    let about = format!("about {evil}");
    bank.bank_ok(&[
        "project",
        "add",
        evil,
        "--members",
        evil,
        "--description",
        &about,
    ]);
    bank.bank_ok(&["deposit", evil, "5", "--note", evil]);
    let mut root = Browser::of_link(&bank);
    let project = format!("/projects/{}", encoded(evil));
    let mut amy = Browser::of_proxy(&bank, "amy");
    let pages = [
        root.get(&bank, "/"),
        root.get(&bank, &project),
        root.get(
            &bank,
            &format!("{project}/statement?from={}", encoded(evil)),
        ),
        root.get(&bank, &format!("{project}/statement")),
        root.get(&bank, &format!("/jobs?user={}", encoded(evil))),
        root.get(&bank, &format!("/jobs/{}", encoded(evil))),
        root.get(&bank, &format!("/deposit?name={}", encoded(evil))),
        root.get(&bank, &format!("/usage?project={}", encoded(evil))),
        root.get(&bank, &format!("/usage?by={}", encoded(evil))),
        root.get(&bank, &format!("/waiting?user={}", encoded(evil))),
        root.get(&bank, &format!("/utilization?machine={}", encoded(evil))),
        root.get(&bank, &format!("/transactions/{}", encoded(evil))),
        root.get(
            &bank,
            &format!("/?at={}&zone={}", encoded(evil), encoded(evil)),
        ),
        amy.get(&bank, &project),
    ];
    for page in pages {
        let text = page.text();
        assert!(page.status < 500, "{text}");
        // Pages have pictures of their own.
        assert!(!text.contains("<svg onload"), "{text}");
        assert!(
            text.contains("&lt;svg") || page.status == 404 || text.contains("Jobs"),
            "{text}"
        );
    }
    bank.verify();
}

#[test]
fn a_job_is_explained_and_every_figure_leads_on() {
    let mut bank = bank();
    let documents = Documents::own();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    let mut root = Browser::of_link(&bank);
    let list = root.get(&bank, "/jobs").text();
    let job = list
        .split("href=\"/jobs/")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let job = format!("/jobs/{}", job.replace("&amp;", "&"));
    let page = root.get(&bank, &job);
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("Who could pay"), "{}", page.text());
    let project = root.get(&bank, "/projects/chemistry").text();
    assert!(
        project.contains("Held now") && project.contains("Allocations"),
        "{project}"
    );
    bank.verify();
}

#[test]
fn tables_have_their_data_and_periods_their_marks() {
    let bank = bank();
    let mut amy = Browser::of_proxy(&bank, "amy");
    let csv = amy.get(&bank, "/data/balances?format=csv");
    assert_eq!(
        csv.header("content-type"),
        Some("text/csv; charset=utf-8; header=present")
    );
    assert!(csv.text().contains("chemistry") && !csv.text().contains("physics"));
    let json = amy.get(&bank, "/data/balances");
    let json: serde_json::Value = serde_json::from_slice(&json.body).unwrap();
    assert_eq!(json["items"][0]["account"], "chemistry");
    assert_eq!(amy.get(&bank, "/data/keys").status, 403);
    assert_eq!(amy.get(&bank, "/data/../v1/balances").status, 404);
    for (query, field) in [
        ("from=soon", "from"),
        ("from=2026-02&to=2026-01", "to"),
        ("zone=Mars", "zone"),
    ] {
        let answer = amy.get(&bank, &format!("/projects/chemistry/statement?{query}"));
        assert_eq!(answer.status, 422, "{query}");
        let mark = format!("<input name=\"{field}\"");
        let text = answer.text();
        let input = text.split(&mark).nth(1).unwrap().split('>').next().unwrap();
        assert!(input.contains("aria-invalid=\"true\""), "{input}");
    }
    let past = amy.get(&bank, "/?at=2025-12-01").text();
    assert!(past.contains("Show the present"), "{past}");
}

/// Addresses that name nothing are answered in the layout of the pages, and periods that cannot be shown with the
/// field that is wrong.
#[test]
fn addresses_of_nothing_have_pages_too() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    for target in [
        "/transactions/word/undo",
        "/transactions/999999/undo",
        "/projects/%ff",
        "/projects/%ff/members",
    ] {
        let answer = root.get(&bank, target);
        let page = answer.text();
        assert_eq!(answer.status, 404, "{target}: {page}");
        assert!(page.contains("<h1>Not found</h1>"), "{target}: {page}");
    }
    for page in ["/usage", "/my-usage", "/utilization", "/waiting", "/actors"] {
        let answer = root.get(&bank, &format!("{page}?from=2099-01"));
        let shown = answer.text();
        assert_eq!(answer.status, 422, "{page}: {shown}");
        assert!(shown.contains("has not begun yet"), "{page}: {shown}");
        let field = shown.split("name=\"from\"").nth(1).unwrap();
        let field = field.split('>').next().unwrap();
        assert!(field.contains("aria-invalid"), "{page}: {field}");
    }
    let every = root.get(&bank, "/usage?every=second").text();
    assert!(every.contains("none of hour, day, week, month"), "{every}");
}

/// A preview shows a time as people enter it in the zone of the page, and the exact one where this would hide a part.
#[test]
fn a_preview_shows_times_as_they_are_entered() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    for (end, shown) in [
        ("2090-01-01", "<dd><time>2090-01-01 00:00</time></dd>"),
        (
            "2090-01-01T00:00:30Z",
            "<dd><time>2090-01-01 00:00:30</time></dd>",
        ),
    ] {
        let fields = [("name", "chemistry"), ("amount", "5"), ("end", end)];
        let answer = root.submit(&bank, "/deposit", "/deposit", &fields);
        let page = answer.text();
        assert!(answer.status == 200 && page.contains(shown), "{page}");
    }
}
