//! The frame of every page: forms of other sites, headers, sizes, caches.

use super::browser::{Browser, ask, bank, hidden, posted};
use crate::harness::Request;

#[test]
fn forms_need_the_token_of_their_session() {
    let mut bank = bank();
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/deposit").text();
    let own = hidden(&page, "/deposit");
    let token = own
        .iter()
        .find(|(name, _)| name == "form_token")
        .unwrap()
        .1
        .clone();
    let before = bank.transactions();
    let fields = [
        ("name", "chemistry"),
        ("amount", "5"),
        ("step", "confirm"),
        ("key", "k-1"),
    ];
    let with = |token: &str, more: &[(&str, &str)]| {
        let mut all = fields.to_vec();
        all.push(("form_token", token));
        let request = posted("/deposit", &all);
        let request = more.iter().fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        ask(&bank, &root.request(request))
    };
    let amy = Browser::of_proxy(&bank, "amy");
    let other = hidden(&amy.clone().get(&bank, "/sessions").text(), "/sign-out")[0]
        .1
        .clone();
    for wrong in ["", "x", other.as_str()] {
        assert_eq!(with(wrong, &[]).status, 403, "{wrong}");
    }
    for other in [
        [("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "same-site")],
        [("Origin", "https://evil.example")],
        [("Origin", "null")],
    ] {
        let answer = with(&token, &other);
        assert_eq!(answer.status, 403, "{other:?}");
        assert!(!answer.text().contains("Check your entries"));
    }
    assert_eq!(bank.transactions(), before);
    let own = [
        ("Sec-Fetch-Site", "same-origin"),
        ("Origin", "http://localhost"),
    ];
    assert_eq!(with(&token, &own).status, 303);
    assert_eq!(bank.transactions(), before + 1);
    bank.verify();
}

#[test]
fn every_answer_has_its_headers() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/");
    let style = page.text();
    let style = style.split("rel=\"stylesheet\" href=\"").nth(1).unwrap();
    let style = style.split('"').next().unwrap().to_owned();
    for (target, status) in [
        ("/", 200),
        ("/login", 200),
        ("/nosuch", 404),
        ("/projects/nosuch", 404),
        ("/sign-out", 405),
        (style.as_str(), 200),
        ("/static/x/style.css", 404),
    ] {
        let answer = root.get(&bank, target);
        assert_eq!(answer.status, status, "{target}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; ") && policy.contains("frame-ancestors 'none'")
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{target}");
        }
        let caching = if target == style {
            "public, max-age=31536000, immutable"
        } else {
            "no-store"
        };
        assert_eq!(answer.header("cache-control"), Some(caching), "{target}");
        let text = answer.text();
        assert!(
            !text.contains("style=\"") && !text.contains("<script>") && !text.contains("onclick")
        );
    }
    assert_eq!(
        ask(&bank, &Request::get(&style)).status,
        200,
        "files need no session"
    );
}

#[test]
fn large_forms_and_foreign_hosts_are_refused() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let large = "x".repeat(70_000);
    for target in ["/deposit", "/login/link"] {
        let answer = root.send(&bank, target, &[("note", &large)]);
        assert_eq!(answer.status, 413);
        assert!(
            answer.text().contains("web.body_limit"),
            "{}",
            answer.text()
        );
    }
    let raw = Request {
        method: "POST",
        body: b"{}".to_vec(),
        ..Request::get("/deposit")
    };
    let raw = root.request(raw.header("Content-Type", "application/json"));
    assert_eq!(ask(&bank, &raw).status, 400);
    let foreign = root.request(Request::get("/").header("Host", "evil.example"));
    assert_eq!(ask(&bank, &foreign).status, 400);
}
