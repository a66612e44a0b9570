//! What pages say about themselves: periods, previews, messages, and what cannot be spent.

use super::browser::{Browser, bank};
use crate::harness::T0;

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
