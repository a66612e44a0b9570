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
