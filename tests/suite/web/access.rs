//! The administrator's pages: people, keys, tokens, limits, sessions of all.

use super::browser::{Browser, bank, hidden};
use crate::harness::{Bank, Request};

/// Sends a form, then its confirmation.
fn confirmed(
    bank: &Bank,
    browser: &mut Browser,
    page: &str,
    action: &str,
    fields: &[(&str, &str)],
) -> (u16, Option<String>) {
    let question = browser.submit_of(bank, page, action, fields);
    assert_eq!(question.status, 200, "{}", question.text());
    let before = bank.transactions();
    assert!(
        question.text().contains("Are you sure?"),
        "{}",
        question.text()
    );
    let confirm = [("step", "confirm")];
    let one = browser.submit_of(bank, &question.text(), action, &confirm);
    let two = browser.submit_of(bank, &question.text(), action, &confirm);
    assert_eq!((one.status, two.status), (303, 303), "{}", two.text());
    assert_eq!(bank.transactions(), before + 1, "twice sent, once done");
    (one.status, one.header("location").map(str::to_owned))
}

#[test]
fn roles_are_granted_and_revoked() {
    let mut bank = bank();
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/people").text();
    assert!(page.contains("Who may do what?"), "{page}");
    let fields = [
        ("name", "amy"),
        ("role", "operator"),
        ("project", "chemistry"),
        ("until", "2027-01-01"),
    ];
    let before = bank.transactions();
    for _ in 0..2 {
        let answer = root.submit_of(&bank, &page, "/people/grant", &fields);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some("/people?done=grant&of=amy")),
            "{}",
            answer.text()
        );
    }
    assert_eq!(bank.transactions(), before + 1, "twice sent, once done");
    let mut amy = Browser::of_proxy(&bank, "amy");
    assert_eq!(amy.get(&bank, "/deposit").status, 200);
    assert_eq!(amy.get(&bank, "/people").status, 403);
    let page = root.get(&bank, "/people?name=amy&done=grant&of=amy").text();
    assert!(
        page.contains("Granted.") && page.contains("2027-01-01"),
        "{page}"
    );
    confirmed(&bank, &mut root, &page, "/people/revoke", &[]);
    assert_eq!(amy.get(&bank, "/deposit").status, 403);
    bank.verify();
}

#[test]
fn refused_grants_keep_what_was_typed() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    for (name, role, project, until, words) in [
        ("amy", "king", "", "", "href=\"#role\""),
        ("amy", "operator", "", "", "project"),
        ("amy", "operator", "nosuch", "", "nosuch"),
        ("", "auditor", "", "", "Login name</a>: required"),
        ("amy", "auditor", "", "soon", "is not a time"),
        ("\"><script>", "king", "", "", "href=\"#role\""),
    ] {
        let fields = [
            ("name", name),
            ("role", role),
            ("project", project),
            ("until", until),
        ];
        let answer = root.submit(&bank, "/people", "/people/grant", &fields);
        let page = answer.text();
        assert!(
            (400..500).contains(&answer.status),
            "{}: {page}",
            answer.status
        );
        assert!(
            page.contains(words) && !page.contains("<script>"),
            "{words}: {page}"
        );
        let kept = name
            .replace('"', "&quot;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        assert!(
            page.contains(&format!("name=\"name\" value=\"{kept}\"")),
            "{page}"
        );
    }
}

#[test]
fn auditors_see_and_change_nothing() {
    let bank = bank();
    bank.bank_ok(&["role", "grant", "audit", "auditor"]);
    bank.bank_ok(&["limit", "set", "amy", "--per-day", "20000"]);
    let mut auditor = Browser::of_proxy(&bank, "audit");
    for target in ["/people", "/limits"] {
        let page = auditor.get(&bank, target).text();
        assert!(page.contains("amy") || page.contains("audit"), "{page}");
        assert!(
            !page.contains("Revoke</button>") && !page.contains("Remove</button>"),
            "{page}"
        );
        assert!(!page.contains("class=\"entry\""), "{page}");
    }
    assert_eq!(auditor.get(&bank, "/keys").status, 403);
    let home = auditor.get(&bank, "/").text();
    let token = hidden(&home, "/sign-out")[0].1.clone();
    for target in [
        "/people/grant",
        "/limits/remove",
        "/tokens/new",
        "/sessions/all/end",
    ] {
        let answer = auditor.send(&bank, target, &[("form_token", &token)]);
        assert_eq!(answer.status, 403, "{target}");
    }
}

#[test]
fn a_token_is_shown_once_and_ended() {
    let mut bank = bank();
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/tokens").text();
    let fields = [
        ("id", "reports"),
        ("roles", "auditor"),
        ("valid_until", "2036-01-01"),
    ];
    let one = root.submit_of(&bank, &page, "/tokens/new", &fields);
    assert_eq!(one.status, 200, "{}", one.text());
    assert_eq!(one.header("cache-control"), Some("no-store"));
    let text = one.text();
    let secret = text
        .split("<code>bk_")
        .nth(1)
        .unwrap()
        .split('<')
        .next()
        .unwrap();
    let secret = format!("bk_{secret}");
    let two = root.submit_of(&bank, &page, "/tokens/new", &fields).text();
    assert!(
        two.contains("not shown again") && !two.contains(&secret),
        "{two}"
    );
    let request =
        Request::get("/api/v1/roles").header("Authorization", &format!("Bearer {secret}"));
    assert_eq!(bank.over_tcp(&request).status, 200);
    let page = root.get(&bank, "/tokens").text();
    assert!(
        page.contains("reports") && !page.contains(&secret),
        "{page}"
    );
    let (_, location) = confirmed(&bank, &mut root, &page, "/tokens/end", &[]);
    assert_eq!(location.as_deref(), Some("/tokens?done=end&of=reports"));
    assert_eq!(bank.over_tcp(&request).status, 401);
    for (id, roles, until, words) in [
        ("", "auditor", "2036-01-01", "Id</a>: required"),
        ("x", "", "2036-01-01", "Roles</a>: required"),
        ("x", "auditor", "", "Valid until (exclusive)</a>: required"),
        ("x", "king", "2036-01-01", "king"),
        ("a b", "auditor", "2036-01-01", "a b"),
    ] {
        let fields = [("id", id), ("roles", roles), ("valid_until", until)];
        let answer = root.submit(&bank, "/tokens", "/tokens/new", &fields);
        assert!((400..500).contains(&answer.status), "{}", answer.text());
        assert!(answer.text().contains(words), "{words}: {}", answer.text());
    }
    bank.verify();
}

#[test]
fn a_key_is_shown_once_and_ended() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/keys").text();
    assert!(page.contains("moab"), "{page}");
    let fields = [
        ("id", "colony-2"),
        ("roles", "scheduler"),
        ("machines", "colony"),
    ];
    let answer = root.submit_of(&bank, &page, "/keys/new", &fields);
    assert!(answer.text().contains("<code>base64:"), "{}", answer.text());
    let again = root.submit_of(&bank, &page, "/keys/new", &fields).text();
    assert!(again.contains("not shown again"), "{again}");
    let taken = root.submit(&bank, "/keys", "/keys/new", &fields);
    assert_eq!(taken.status, 409, "{}", taken.text());
    let page = root.get(&bank, "/keys").text();
    confirmed(&bank, &mut root, &page, "/keys/end", &[("id", "colony-2")]);
    assert!(!bank.bank_ok(&["key", "ls"]).contains("colony-2"));
}

#[test]
fn limits_are_set_and_removed() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/limits").text();
    assert!(page.contains("There is no limit"), "{page}");
    let fields = [("name", "amy"), ("per_operation", "12345"), ("per_day", "")];
    for _ in 0..2 {
        let answer = root.submit_of(&bank, &page, "/limits/set", &fields);
        assert_eq!(answer.status, 303, "{}", answer.text());
    }
    let page = root.get(&bank, "/limits").text();
    assert!(page.contains("12,345"), "{page}");
    for fields in [
        [("name", "amy"), ("role", "operator"), ("per_day", "5")],
        [("name", "amy"), ("role", ""), ("per_day", "much")],
        [("name", ""), ("role", "king"), ("per_day", "5")],
    ] {
        let answer = root.submit(&bank, "/limits", "/limits/set", &fields);
        assert!((400..500).contains(&answer.status), "{}", answer.text());
        let kept = format!("name=\"per_day\" value=\"{}\"", fields[2].1);
        assert!(answer.text().contains(&kept), "{}", answer.text());
    }
    confirmed(&bank, &mut root, &page, "/limits/remove", &[]);
    assert!(
        root.get(&bank, "/limits")
            .text()
            .contains("There is no limit")
    );
}

#[test]
fn administrators_end_sessions_of_others() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let mut amy = Browser::of_proxy(&bank, "amy");
    assert_eq!(amy.get(&bank, "/sessions/all").status, 403);
    let page = root.get(&bank, "/sessions/all").text();
    assert!(
        page.contains("amy") && page.contains("root") && page.contains("this session"),
        "{page}"
    );
    let ended = root.submit_of(&bank, &page, "/sessions/all/end", &[]);
    assert_eq!(ended.header("location"), Some("/sessions/all?done=end"));
    assert_eq!(amy.get(&bank, "/").status, 303);
    assert_eq!(root.get(&bank, "/").status, 200);
}
