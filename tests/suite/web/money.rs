//! The forms that move money, and what waits for a second person.

use super::browser::{Browser, bank, hidden, steady, with_settings};
use crate::harness::Bank;

/// A new allocation does not pay a debt; one with the number of the allocation in debt does.
#[test]
fn a_deposit_names_the_debt_that_it_does_not_pay() {
    let mut bank = bank();
    bank.bank_ok(&["user", "add", "zoe"]);
    bank.bank_ok(&["project", "add", "botany", "--members", "zoe"]);
    bank.bank_ok(&["deposit", "botany", "10", "--end", "2027-01-01"]);
    let work = ["-m", "colony", "--procs", "1", "--duration", "100"];
    bank.bank_ok(&[&["charge", "77", "-A", "botany", "-u", "zoe"][..], &work].concat());
    let owing = bank.json(&["allocation", "ls", "-a", "botany"])["items"][0]["id"].to_string();
    let mut root = Browser::of_link(&bank);
    let fields = [("name", "botany"), ("amount", "500")];
    let page = preview(&bank, &mut root, "/deposit", &fields);
    assert!(page.contains(&format!("Allocation {owing} is ")), "{page}");
    assert!(page.contains("below zero"), "{page}");
    let fields = [
        ("name", "botany"),
        ("amount", "500"),
        ("allocation", &owing),
    ];
    let page = preview(&bank, &mut root, "/deposit", &fields);
    assert!(!page.contains("below zero"), "{page}");
    bank.verify();
}

/// The page with the preview of a form.
fn preview(bank: &Bank, who: &mut Browser, form: &str, fields: &[(&str, &str)]) -> String {
    let answer = who.submit(bank, form, form, fields);
    assert_eq!(answer.status, 200, "{form}: {}", answer.text());
    answer.text()
}

#[test]
fn every_form_shows_balances_is_done_once_and_undone() {
    let mut bank = bank();
    bank.bank_ok(&["user", "add", "zoe"]);
    bank.bank_ok(&["project", "add", "botany", "--members", "zoe"]);
    bank.bank_ok(&["deposit", "botany", "1000"]);
    let work = ["-m", "colony", "--procs", "1", "--duration", "100"];
    bank.bank_ok(&[&["charge", "77", "-A", "botany", "-u", "zoe"][..], &work].concat());
    let mut root = Browser::of_link(&bank);
    for (form, fields, figures, after) in [
        (
            "/withdraw",
            vec![("name", "botany"), ("amount", "200"), ("note", "back")],
            ["900", "700"],
            700,
        ),
        (
            "/transfer",
            vec![("from", "botany"), ("to", "chemistry"), ("amount", "300")],
            ["600", "100,300"],
            600,
        ),
        (
            "/refund",
            vec![("job", "77"), ("amount", "40")],
            ["40", "940"],
            940,
        ),
        (
            "/adjust",
            vec![("account", "botany"), ("amount", "-50"), ("note", "wrong")],
            ["850", "wrong"],
            850,
        ),
    ] {
        let before = bank.transactions();
        let page = preview(&bank, &mut root, form, &fields);
        for figure in figures {
            assert!(page.contains(figure), "{form} {figure}: {page}");
        }
        assert_eq!(
            bank.transactions(),
            before,
            "{form}: a preview writes nothing"
        );
        let confirm = [("step", "confirm")];
        let one = root.submit_of(&bank, &page, form, &confirm);
        let two = root.submit_of(&bank, &page, form, &confirm);
        assert_eq!(
            (one.status, two.status),
            (303, 303),
            "{form}: {}",
            two.text()
        );
        assert_eq!(one.header("location"), two.header("location"), "{form}");
        assert_eq!(bank.transactions(), before + 1, "{form}: once");
        assert_eq!(bank.figures("botany").0, after, "{form}");
        let target = one.header("location").unwrap().to_owned();
        let done = root.get(&bank, &target).text();
        let action = format!("{}/undo", target.split('?').next().unwrap());
        assert!(done.contains(&format!("href=\"{action}\"")), "{done}");
        let page = preview(&bank, &mut root, &action, &[]);
        assert!(page.contains("900"), "{form}: {page}");
        let undone = root.submit_of(&bank, &page, &action, &confirm);
        assert_eq!(undone.status, 303, "{form}: {}", undone.text());
        assert_eq!(bank.figures("botany").0, 900, "{form}");
    }
    bank.verify();
}

#[test]
fn refusals_are_shown_at_the_form_with_what_was_typed() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let evil = "<svg onload=alert(1)>";
    for (form, fields, status, words) in [
        (
            "/withdraw",
            vec![("name", "chemistry"), ("amount", "999999999")],
            402,
            "chemistry",
        ),
        (
            "/withdraw",
            vec![
                ("name", "chemistry"),
                ("amount", "5"),
                ("allocation", "one"),
            ],
            422,
            "whole number",
        ),
        (
            "/transfer",
            vec![("from", "chemistry"), ("to", evil), ("amount", "5")],
            404,
            "&lt;svg",
        ),
        (
            "/transfer",
            vec![("from", "chemistry"), ("to", "chemistry"), ("amount", "5")],
            422,
            "chemistry",
        ),
        ("/refund", vec![("job", evil)], 404, "&lt;svg"),
        ("/refund", vec![("job", "")], 400, "Job</a>: required"),
        (
            "/adjust",
            vec![("account", "chemistry"), ("amount", "-5")],
            400,
            "Reason</a>: required",
        ),
        (
            "/adjust",
            vec![("account", evil), ("amount", "1"), ("note", evil)],
            404,
            "&lt;svg",
        ),
    ] {
        let answer = root.submit(&bank, form, form, &fields);
        let page = answer.text();
        assert_eq!(answer.status, status, "{form} {fields:?}: {page}");
        assert!(
            page.contains(words) && !page.contains("<svg"),
            "{form}: {page}"
        );
    }
}

#[test]
fn managers_transfer_between_their_accounts_only() {
    let bank = bank();
    bank.bank_ok(&["role", "grant", "amy", "manager", "-A", "chemistry"]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let [one, two] = ["physics", "physicz"].map(|other| {
        let fields = [("from", "chemistry"), ("to", other), ("amount", "5")];
        let answer = amy.submit(&bank, "/transfer", "/transfer", &fields);
        assert_eq!(answer.status, 404, "{}", answer.text());
        steady(&answer.text()).replace(other, "NAME")
    });
    assert_eq!(one, two);
    let today = amy.get(&bank, "/today");
    let page = today.text();
    assert!(
        today.status == 200 && page.contains("Transfer") && !page.contains("Refund"),
        "{page}"
    );
    assert!(!page.contains("physics"), "{page}");
}

#[test]
fn large_amounts_are_proposed_and_decided_by_another_person() {
    let mut bank = with_settings(&[("BANKD_APPROVAL_DEPOSIT", "150000")]);
    bank.bank_ok(&["role", "grant", "boss", "operator", "-A", "chemistry"]);
    let mut boss = Browser::of_proxy(&bank, "boss");
    let mut root = Browser::of_link(&bank);
    for decision in ["approve", "reject"] {
        let before = bank.figures("chemistry").0;
        let fields = [
            ("name", "chemistry"),
            ("amount", "200000"),
            ("note", "<b>big</b>"),
        ];
        let page = preview(&bank, &mut boss, "/deposit", &fields);
        assert!(page.contains("another person must approve it"), "{page}");
        let confirm = [("step", "confirm")];
        let one = boss.submit_of(&bank, &page, "/deposit", &confirm);
        let two = boss.submit_of(&bank, &page, "/deposit", &confirm);
        assert_eq!((one.status, two.status), (303, 303), "{}", one.text());
        assert_eq!(one.header("location"), two.header("location"));
        let target = one.header("location").unwrap().to_owned();
        let action = target.split('?').next().unwrap().to_owned();
        let shown = boss.get(&bank, &target).text();
        assert!(
            shown.contains("Proposed.") && shown.contains("&lt;b&gt;big"),
            "{shown}"
        );
        // The page has no button for the person who proposed, and the rules have no way for them.
        assert!(!shown.contains(&format!("action=\"{action}\"")), "{shown}");
        let token = hidden(&shown, "/sign-out")[0].1.clone();
        let decided = |boss: &mut Browser, key: &str, decision: &str| {
            let fields = [
                ("form_token", &*token),
                ("key", key),
                ("decision", decision),
            ];
            boss.send(&bank, &action, &fields)
        };
        let own = decided(&mut boss, &format!("own-{decision}"), "approve");
        assert!(
            own.status == 403 && own.text().contains("is your own"),
            "{}",
            own.text()
        );
        assert_eq!(bank.figures("chemistry").0, before);
        let queue = root.get(&bank, "/today").text();
        assert!(queue.contains(&action), "{queue}");
        let answer = [("decision", decision), ("reason", "seen")];
        let done = root.submit(&bank, &action, &action, &answer);
        assert_eq!(done.status, 303, "{}", done.text());
        let late = decided(&mut boss, &format!("late-{decision}"), "reject");
        let over = if decision == "approve" {
            "approved"
        } else {
            "rejected"
        };
        assert!(
            late.text().contains(&format!("is {over}")),
            "{}",
            late.text()
        );
        let added = if decision == "approve" { 200_000 } else { 0 };
        assert_eq!(bank.figures("chemistry").0, before + added, "{decision}");
    }
    let mut nobody = Browser::of_proxy(&bank, "amy");
    assert_eq!(nobody.get(&bank, "/proposals").status, 403);
    bank.verify();
}

/// A form without entries is refused on its own page, in words about what was sent.
#[test]
fn buttons_are_refused_on_their_page() {
    let bank = bank();
    bank.bank_ok(&["close", "2025-12"]);
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/closes").text();
    let reopen = "Open the last closed period again";
    assert!(page.contains(reopen), "{page}");
    let token = hidden(&page, "/closes/undo")[0].1.clone();
    let of = "<h1>Closed periods</h1>";
    let fields = [
        ("form_token", &*token),
        ("key", "one"),
        ("name", "amy"),
        ("role", "auditor"),
    ];
    assert_eq!(root.send(&bank, "/people/grant", &fields).status, 303);
    // The key is that of another request.
    let fields = [("form_token", &*token), ("key", "one")];
    let answer = root.send(&bank, "/closes/undo", &fields);
    let page = answer.text();
    assert_eq!(answer.status, 409, "{page}");
    assert!(
        page.contains(of) && page.contains("This form was sent before"),
        "{page}"
    );
    // The form has a new key, and works.
    let answer = root.submit_of(&bank, &page, "/closes/undo", &[]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    let page = root.get(&bank, "/closes").text();
    assert!(!page.contains(reopen), "{page}");
    let again = root.send(
        &bank,
        "/closes/undo",
        &[("form_token", &token), ("key", "three")],
    );
    let page = again.text();
    assert!(
        again.status >= 400 && page.contains("<h1>Closed periods</h1>"),
        "{page}"
    );
}

/// Where there is nothing yet, the page leads to the form that makes the first one.
#[test]
fn empty_tables_lead_to_the_form_that_comes_first() {
    let bank = bank();
    bank.bank_ok(&["project", "add", "lab"]);
    let mut root = Browser::of_link(&bank);
    for (page, form) in [
        ("/closes", "href=\"/closes/new\">Close the first one"),
        ("/limits", "href=\"#set\">Set the first one"),
        ("/tokens", "href=\"#new\">Create the first one"),
        ("/people?name=zoe", "href=\"#grant\">Grant a role"),
        (
            "/projects/lab",
            "href=\"/deposit?name=lab\">Make the first deposit",
        ),
        (
            "/projects/lab",
            "href=\"/projects/lab/members\">Add the first one",
        ),
        ("/projects/lab/members", "href=\"#add\">Add the first one"),
    ] {
        let shown = root.get(&bank, page).text();
        assert!(shown.contains(form), "{page}: no {form}: {shown}");
    }
    bank.bank_ok(&["user", "add", "zoe"]);
    let mut zoe = Browser::of_proxy(&bank, "zoe");
    let shown = zoe.get(&bank, "/").text();
    for form in ["/ask/member", "/ask/project"] {
        assert!(
            shown.contains(&format!("href=\"{form}\"")),
            "{form}: {shown}"
        );
        assert_eq!(zoe.get(&bank, form).status, 200, "{form}");
    }
}

/// The balances of a preview are those of the whole account, also if only one of its allocations changes.
#[test]
fn a_preview_counts_every_allocation_of_the_account() {
    let mut bank = bank();
    let new = [
        "deposit",
        "chemistry",
        "500",
        "--new",
        "--start",
        "2025-01-01",
    ];
    bank.bank_ok(&[&new[..], &["--end", "2027-01-01"]].concat());
    let number = bank.transactions().to_string();
    let mut root = Browser::of_link(&bank);
    let undo = format!("/transactions/{number}/undo");
    let page = preview(&bank, &mut root, &undo, &[]);
    assert!(
        page.contains("100,500") && page.contains(">100,000"),
        "{page}"
    );
    let tried = bank.bank_ok(&["undo", &number, "--dry-run", "--json"]);
    let tried: serde_json::Value = serde_json::from_str(&tried).unwrap();
    let after = &tried["accounts"][0]["amount"];
    assert!(after.as_str().unwrap().starts_with("100000"), "{tried}");
    let done = root.submit_of(&bank, &page, &undo, &[("step", "confirm")]);
    assert_eq!(done.status, 303, "{}", done.text());
    assert_eq!(bank.figures("chemistry").0, 100_000);
    // A refund goes to the allocation that paid.
    bank.bank_ok(&[&new[..], &["--end", "2027-01-01"]].concat());
    let work = [
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "1",
    ];
    bank.bank_ok(&[&["charge", "88"][..], &work, &["--duration", "100"]].concat());
    let page = preview(
        &bank,
        &mut root,
        "/refund",
        &[("job", "88"), ("machine", "colony")],
    );
    assert!(
        page.contains("100,400") && page.contains("100,500"),
        "{page}"
    );
    bank.verify();
}
