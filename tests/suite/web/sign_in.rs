//! Signing in: links, headers of a proxy, cookies, and where people are sent.

use super::browser::{Browser, HEADER, address, ask, bank, behind, link, posted, with_settings};
use crate::harness::{Request, Setup};

#[test]
fn a_link_signs_in_once() {
    let bank = bank();
    let code = link(&bank);
    let mut browser = Browser::default();
    let page = browser.get(&bank, &format!("/login/link?code={code}"));
    assert_eq!(page.status, 200);
    assert!(
        page.text().contains("as <strong>root</strong>"),
        "{}",
        page.text()
    );
    assert!(
        browser.cookie.is_empty(),
        "looking at a link signs nobody in"
    );
    let answer = browser.send(&bank, "/login/link", &[("code", &code)]);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    assert_eq!(browser.get(&bank, "/").status, 200);
    let mut other = Browser::default();
    for answer in [
        other.send(&bank, "/login/link", &[("code", &code)]),
        other.get(&bank, &format!("/login/link?code={code}")),
        other.send(&bank, "/login/link", &[("code", "bl_nonsense")]),
    ] {
        assert_eq!(
            if answer.status == 200 {
                403
            } else {
                answer.status
            },
            403
        );
        assert!(
            answer.text().contains("it can be used once"),
            "{}",
            answer.text()
        );
    }
    assert!(other.cookie.is_empty());
}

#[test]
fn a_link_is_for_people_on_the_socket() {
    let mut bank = bank();
    let answer = bank.over_tcp(&posted("/api/v1/web/logins", &[]));
    assert_eq!(answer.status, 401);
    // The code is no token, and the cookie neither.
    let browser = Browser::of_link(&bank);
    let text = browser.cookie.split('=').nth(1).unwrap();
    let request =
        Request::get("/api/v1/balances").header("Authorization", &format!("Bearer {text}"));
    assert_eq!(bank.over_tcp(&request).status, 401);
    bank.verify();
    let plain = Setup::new().start();
    let ran = plain.bank(&["web", "login"]);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("serves no web pages") && ran.stderr.contains("web.listen"));
}

#[test]
fn the_cookie_is_closed_and_the_session_new() {
    let bank = bank();
    let mut browser = Browser::of_link(&bank);
    let before = browser.cookie.clone();
    let answer = browser.send(&bank, "/login/link", &[("code", &link(&bank))]);
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(cookie.starts_with("bank=bs_"), "{cookie}");
    for part in [
        "; Path=/",
        "; HttpOnly",
        "; SameSite=Lax",
        "; Max-Age=43200",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert_ne!(browser.cookie, before);
    let mut old = Browser {
        cookie: before,
        ..Browser::default()
    };
    assert_eq!(
        old.get(&bank, "/").status,
        303,
        "the session before has ended"
    );
    // A cookie that somebody else planted is never taken over.
    let mut planted = Browser {
        cookie: format!("bank=bs_{}", "A".repeat(43)),
        ..Browser::default()
    };
    let answer = planted.send(&bank, "/login/link", &[("code", &link(&bank))]);
    assert!(!answer.header("set-cookie").unwrap().contains("AAAA"));
}

#[test]
fn cookies_of_a_site_with_tls_need_it() {
    let bank = with_settings(&[("BANKD_WEB_URL", "https://bank.example.org")]);
    let printed = bank.bank_ok(&["web", "login"]);
    let url = printed.lines().next().unwrap();
    let code = url
        .strip_prefix("https://bank.example.org/login/link?code=")
        .unwrap();
    let request = posted("/login/link", &[("code", code)]);
    let request = request.header("Origin", "https://bank.example.org");
    let cookie = ask(&bank, &request);
    let cookie = cookie.header("set-cookie").unwrap();
    assert!(
        cookie.starts_with("__Host-bank=bs_") && cookie.ends_with("; Secure"),
        "{cookie}"
    );
    assert!(!cookie.contains("Domain"));
}

#[test]
fn a_proxy_is_believed_at_its_address_only() {
    let bank = bank();
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = amy.get(&bank, "/");
    assert!(page.text().contains("chemistry") && !page.text().contains("physics"));
    // The session is of the person whom the proxy names with each request.
    for name in ["bob", ""] {
        let mut other = Browser {
            name: name.to_owned(),
            cookie: amy.cookie.clone(),
        };
        assert_eq!(other.get(&bank, "/").status, 303, "{name}");
    }
    for name in ["root", "uid:0", "-x"] {
        let answer = ask(&bank, &Request::get("/login").header(HEADER, name));
        assert_eq!(
            (answer.status, answer.header("set-cookie")),
            (200, None),
            "{name}"
        );
    }
    let twice = Request::get("/login")
        .header(HEADER, "amy")
        .header(HEADER, "bob");
    assert_eq!(ask(&bank, &twice).status, 200);
    let elsewhere = behind("192.0.2.1", &[]);
    let answer = ask(&elsewhere, &Request::get("/login").header(HEADER, "amy"));
    assert_eq!((answer.status, answer.header("set-cookie")), (200, None));
}

#[test]
fn people_are_sent_to_this_site_only() {
    let bank = bank();
    let mut stranger = Browser::default();
    let answer = stranger.get(&bank, "/projects/chemistry?zone=UTC");
    assert_eq!(answer.status, 303);
    let next = answer.header("location").unwrap();
    assert_eq!(next, "/login?next=%2Fprojects%2Fchemistry%3Fzone%3DUTC");
    let mut amy = Browser {
        name: "amy".to_owned(),
        ..Browser::default()
    };
    let answer = amy.get(&bank, next);
    assert_eq!(
        answer.header("location"),
        Some("/projects/chemistry?zone=UTC")
    );
    for evil in [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/%0d%0aset-cookie:x=y",
        "javascript:alert(1)",
    ] {
        let answer = amy.get(
            &bank,
            &format!("/login?next={}", super::browser::encoded(evil)),
        );
        let location = answer.header("location").unwrap_or_default();
        assert!(
            ["/", "/%0d%0aset-cookie:x=y"].contains(&location),
            "{evil}: {location}"
        );
    }
    let raw = amy.get(&bank, "/login?next=/%0d%0aset-cookie:x=y");
    assert_eq!(raw.header("location"), Some("/"));
}

#[test]
fn attempts_to_sign_in_are_limited() {
    let bank = with_settings(&[("BANKD_WEB_SIGN_IN_PER_MINUTE", "3")]);
    let mut browser = Browser::default();
    for _ in 0..3 {
        let answer = browser.send(&bank, "/login/link", &[("code", "bl_x")]);
        assert_eq!(answer.status, 403);
    }
    let answer = browser.send(&bank, "/login/link", &[("code", &link(&bank))]);
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert!(answer.header("retry-after").is_some());
    assert!(!address(&bank).is_empty());
}
