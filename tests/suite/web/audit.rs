//! The auditor's pages: journal, who did what, proof, closed periods.

use super::browser::{Browser, bank, encoded};
use crate::harness::until;

fn audited() -> (crate::harness::Bank, Browser) {
    let bank = bank();
    bank.bank_ok(&["role", "grant", "audit", "auditor"]);
    let auditor = Browser::of_proxy(&bank, "audit");
    (bank, auditor)
}

#[test]
fn the_journal_is_searched_and_linked() {
    let (mut bank, mut auditor) = audited();
    bank.bank_ok(&[
        "deposit",
        "physics",
        "7",
        "--note",
        "<script>alert(1)</script>",
    ]);
    let page = auditor.get(&bank, "/journal").text();
    let first = page.find("physics").unwrap();
    assert!(
        page.find("100,000").is_none_or(|other| first < other),
        "the newest first: {page}"
    );
    assert!(
        page.contains("&lt;script&gt;alert(1)") && !page.contains("<script>"),
        "{page}"
    );
    let number = bank.query("SELECT max(id) FROM tx")[0][0].clone();
    assert!(
        page.contains(&format!("href=\"/transactions/{number}\"")),
        "{page}"
    );
    let shown = |auditor: &mut Browser, query: &str| {
        let answer = auditor.get(&bank, &format!("/journal?{query}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        answer.text().matches("href=\"/transactions/").count()
    };
    assert_eq!(
        shown(&mut auditor, "account=physics&kind=deposit&actor=root"),
        2
    );
    assert_eq!(shown(&mut auditor, "account=physics&kind=charge"), 0);
    assert_eq!(shown(&mut auditor, "actor=nobody"), 0);
    assert_eq!(
        shown(&mut auditor, "project=physics&from=2020-01&to=2020-02"),
        0
    );
    assert!(shown(&mut auditor, "from=2026-01-01") > 0);
    for (query, status) in [
        ("kind=nonsense", 400),
        ("from=soon", 422),
        ("zone=Mars", 422),
    ] {
        let answer = auditor.get(&bank, &format!("/journal?{query}"));
        assert_eq!(answer.status, status, "{query}: {}", answer.text());
    }
    // Pages, and the same rows as data.
    for _ in 0..105 {
        bank.bank_ok(&["deposit", "physics", "1"]);
    }
    let page = auditor.get(&bank, "/journal?kind=deposit").text();
    let next = page.split("rel=\"next\"").next().unwrap();
    let next = next
        .rsplit("href=\"")
        .next()
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .replace("&amp;", "&");
    assert!(next.starts_with("/journal?kind=deposit&before="), "{next}");
    let older = auditor.get(&bank, &next).text();
    assert!(older.contains("100,000"), "{older}");
    // A wrong place leads to the first rows of the same filter.
    let wrong = auditor.get(&bank, "/journal?kind=deposit&before=xyz");
    assert_eq!(wrong.status, 422);
    let wrong = wrong.text();
    assert!(wrong.contains("before: expected the"), "{wrong}");
    assert!(wrong.contains("href=\"/journal?kind=deposit\""), "{wrong}");
    let csv = auditor
        .get(
            &bank,
            "/data/journal?kind=deposit&account=physics&format=csv",
        )
        .text();
    assert_eq!(csv.lines().count(), 108, "{csv}");
    bank.verify();
}

#[test]
fn people_see_their_own_rows_only() {
    let bank = bank();
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = amy.get(&bank, "/journal").text();
    assert!(!page.contains("physics"), "{page}");
    let [one, two] = ["physics", "physicz"].map(|name| {
        let answer = amy.get(&bank, &format!("/journal?project={name}"));
        (
            answer.status,
            super::browser::steady(&answer.text()).replace(name, "NAME"),
        )
    });
    assert_eq!(one, two);
    for target in ["/proof", "/actors"] {
        assert_eq!(amy.get(&bank, target).status, 403, "{target}");
    }
}

#[test]
fn who_did_what() {
    let (bank, mut auditor) = audited();
    let page = auditor.get(&bank, "/actors").text();
    assert!(
        page.contains("href=\"/journal?actor=root&amp;from=") && page.contains("deposit"),
        "{page}"
    );
    let page = auditor.get(&bank, "/actors?from=2020-01&to=2020-02").text();
    assert!(page.contains("Nobody did anything"), "{page}");
    let hostile = encoded("' Show:=Name \"");
    assert_eq!(
        auditor
            .get(&bank, &format!("/actors?from={hostile}"))
            .status,
        422
    );
}

#[test]
fn an_auditor_proves_the_bank() {
    let (bank, mut auditor) = audited();
    let home = auditor.get(&bank, "/").text();
    assert!(
        home.contains("Can I prove it?") && home.contains("No verification has run"),
        "{home}"
    );
    let page = auditor.get(&bank, "/proof").text();
    let form = [("x", "y")];
    let one = auditor.submit_of(&bank, &page, "/proof/verify", &form);
    assert_eq!(
        (one.status, one.header("location")),
        (303, Some("/proof")),
        "{}",
        one.text()
    );
    assert_eq!(
        auditor
            .submit_of(&bank, &page, "/proof/verify", &form)
            .status,
        303
    );
    let page = until("the verification ends", || {
        let page = auditor.get(&bank, "/proof").text();
        page.contains("Sound.").then_some(page)
    });
    assert!(
        page.contains("transactions") && page.contains("checkpoint-key</span> new"),
        "{page}"
    );
    assert!(auditor.get(&bank, "/").text().contains("Sound."));
    let mut amy = Browser::of_proxy(&bank, "amy");
    assert!(!amy.get(&bank, "/").text().contains("Can I prove it?"));
}

#[test]
fn closed_periods_are_listed() {
    let (bank, mut auditor) = audited();
    let page = auditor.get(&bank, "/closes").text();
    assert!(page.contains("No period is closed"), "{page}");
    bank.set_clock(crate::harness::T0 + 40 * 86_400);
    bank.bank_ok(&["close", "2026-01", "--note", "January <b>"]);
    let page = auditor.get(&bank, "/closes").text();
    assert!(
        page.contains("January &lt;b&gt;") && page.contains("2026-02-01"),
        "{page}"
    );
    let state = |page: &str| {
        let cell = page.split("data-head=\"State\">").nth(1).unwrap();
        cell.split("</td>").next().unwrap().to_owned()
    };
    assert!(state(&page).contains("closed"), "{page}");
    bank.bank_ok(&["close", "undo", "--yes"]);
    let page = auditor.get(&bank, "/closes").text();
    assert!(state(&page).contains("opened again"), "{page}");
}
