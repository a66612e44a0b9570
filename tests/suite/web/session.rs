//! Sessions end: by the person, with the person, with time.

use super::browser::{Browser, bank, hidden};

#[test]
fn people_see_and_end_their_own_sessions() {
    let mut bank = bank();
    let mut one = Browser::of_proxy(&bank, "amy");
    let mut two = Browser::of_proxy(&bank, "amy");
    let mut bob = Browser::of_proxy(&bank, "bob");
    let page = one.get(&bank, "/sessions").text();
    assert_eq!(page.matches(">End</button>").count(), 1, "{page}");
    let other = hidden(&page, "/sessions/end");
    let number = &other.iter().find(|(name, _)| name == "session").unwrap().1;
    // Somebody else's number ends nothing.
    let own = hidden(&bob.get(&bank, "/sessions").text(), "/sign-out");
    let fields = [("form_token", own[0].1.as_str()), ("session", number)];
    assert_eq!(bob.send(&bank, "/sessions/end", &fields).status, 303);
    assert_eq!(two.get(&bank, "/").status, 200);
    assert_eq!(
        one.submit(&bank, "/sessions", "/sessions/end", &[]).status,
        303
    );
    assert_eq!(two.get(&bank, "/").status, 303);
    let before = one.cookie.clone();
    let answer = one.submit(&bank, "/sessions", "/sign-out", &[]);
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some("/login"))
    );
    one.cookie = before;
    assert_eq!(one.get(&bank, "/").status, 303);
    bank.verify();
}

#[test]
fn sessions_survive_a_restart_and_end_with_the_person() {
    let mut bank = bank();
    let mut amy = Browser::of_proxy(&bank, "amy");
    assert_eq!(amy.get(&bank, "/").status, 200);
    bank.stop();
    let rows = bank.query("SELECT name, way, length(hash), instr(agent, 'bs_') FROM web_session");
    assert_eq!(rows, [["amy", "header", "32", "0"]]);
    bank.start();
    assert_eq!(amy.get(&bank, "/").status, 200);
    bank.bank_ok(&["user", "set", "amy", "--active", "no"]);
    assert_eq!(amy.get(&bank, "/").status, 303);
    bank.bank_ok(&["user", "set", "amy", "--active", "yes"]);
    assert_eq!(amy.get(&bank, "/").status, 303, "it does not come back");
    bank.verify();
}

#[test]
fn roles_that_are_taken_away_are_gone_with_the_next_page() {
    let bank = bank();
    bank.bank_ok(&["role", "grant", "amy", "operator", "-A", "chemistry"]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    assert_eq!(amy.get(&bank, "/deposit").status, 200);
    bank.bank_ok(&[
        "role",
        "revoke",
        "amy",
        "operator",
        "-A",
        "chemistry",
        "--yes",
    ]);
    let answer = amy.get(&bank, "/deposit");
    assert_eq!(answer.status, 403);
    assert!(
        answer.text().contains("this needs the role operator"),
        "{}",
        answer.text()
    );
}

#[test]
fn an_ended_session_loses_nothing_that_was_typed() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/deposit").text();
    root.submit(&bank, "/sessions", "/sign-out", &[]);
    root.cookie.clear();
    let typed = [
        ("name", "chemistry"),
        ("amount", "77"),
        ("note", "a <b> & \"c\""),
    ];
    let ended = root.submit_of(&bank, &page, "/deposit", &typed);
    assert_eq!(ended.status, 401);
    let text = ended.text();
    for own in [
        "<h2>Deposit</h2>",
        "<dt>Account or project</dt><dd>chemistry</dd>",
        "<dt>Amount (",
        "href=\"/deposit\">Cancel</a>",
    ] {
        assert!(text.contains(own), "{own}: {text}");
    }
    let kept = hidden(&ended.text(), "/deposit");
    assert!(
        kept.contains(&("note".to_owned(), "a <b> & \"c\"".to_owned())),
        "{kept:?}"
    );
    let mut again = Browser::of_link(&bank);
    let fields: Vec<(&str, &str)> = kept.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    // A browser reports that the form is of this site.
    let request =
        super::browser::posted("/deposit", &fields).header("Sec-Fetch-Site", "same-origin");
    let check = super::browser::ask(&bank, &again.request(request));
    assert_eq!(check.status, 403);
    assert!(
        check.text().contains("Check your entries") && check.text().contains("<h2>Deposit</h2>"),
        "{}",
        check.text()
    );
    let preview = again.submit_of(&bank, &check.text(), "/deposit", &[]);
    assert_eq!(preview.status, 200, "{}", preview.text());
    assert!(
        preview.text().contains("Confirm the deposit"),
        "{}",
        preview.text()
    );
    assert_eq!(bank.figures("chemistry").0, 100_000);
}
