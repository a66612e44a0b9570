//! What makes the pages easy to follow: the place of a page, the field of a refusal, units, times, and messages that
//! name whom they are about.

use super::browser::{Browser, bank, with_settings};
use crate::harness::{Bank, T0, until};

/// The pages that are marked as the current one.
fn current(page: &str) -> Vec<&str> {
    let marks = page.split("<a href=\"").skip(1);
    let marks = marks.filter_map(|link| link.split_once('"'));
    let marked = marks.filter(|(_, rest)| {
        let tag = rest.split('>').next().unwrap();
        tag.contains("aria-current=\"page\"")
    });
    marked.map(|(target, _)| target).collect()
}

#[test]
fn every_page_has_a_place_in_the_navigation() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let mut amy = Browser::of_proxy(&bank, "amy");
    for (target, place) in [
        ("/deposit", "/today"),
        ("/closes/new", "/today"),
        ("/ask/member", "/requests"),
        ("/proposals", "/today"),
        ("/waiting", "/usage"),
        ("/contribution", "/usage"),
        ("/projects/chemistry", "/projects"),
        ("/projects/chemistry/statement", "/projects"),
        ("/rates/test", "/rates"),
        ("/checkpoints", "/proof"),
        ("/sessions/all", "/sessions"),
        ("/journal", "/journal"),
    ] {
        let page = root.get(&bank, target).text();
        assert_eq!(current(&page), [place], "{target}");
        let is_own = target == place || place == "/sessions";
        assert_eq!(
            page.contains("class=\"trail\""),
            !is_own || target == "/sessions/all"
        );
    }
    // Somebody without the page above has another one, here the first.
    let page = amy.get(&bank, "/projects/chemistry").text();
    assert_eq!(current(&page), ["/projects"], "{page}");
    let page = amy.get(&bank, "/closes").text();
    assert_eq!(current(&page), ["/"], "{page}");
    let refused = root.submit(&bank, "/people", "/people/grant", &[("name", "bob")]);
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert_eq!(current(&refused.text()), ["/people"]);
}

#[test]
fn a_refusal_names_its_field_and_leads_to_it() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    for (page, action, fields, name, label, words) in [
        (
            "/people",
            "/people/grant",
            &[("name", "bob"), ("role", "auditor"), ("until", "soon")][..],
            "until",
            "Until (exclusive)",
            "&quot;soon&quot; is not a time",
        ),
        (
            "/keys",
            "/keys/new",
            &[("id", "k-9")],
            "roles",
            "Roles",
            "required",
        ),
        (
            "/limits",
            "/limits/set",
            &[("name", "amy"), ("per_day", "1,000")],
            "per_day",
            "Most in a day",
            "is not a decimal number: &quot;1,000&quot;: expected digits",
        ),
        (
            "/deposit",
            "/deposit",
            &[("name", "chemistry"), ("amount", "5"), ("end", "soon")],
            "end",
            "Usable until (exclusive)",
            "&quot;soon&quot; is not a time",
        ),
        (
            "/projects/chemistry/members",
            "/projects/chemistry/members",
            &[("step", "add"), ("user", "")],
            "user",
            "User",
            "required",
        ),
    ] {
        let refused = root.submit(&bank, page, action, fields).text();
        let link = format!("<a href=\"#{name}\">{label}</a>: ");
        let message = refused.split(&link).nth(1);
        let message = message.unwrap_or_else(|| panic!("{action}: {refused}"));
        let message = message.split("</p>").next().unwrap();
        assert!(message.contains(words), "{action}: {message}");
        assert!(refused.contains(&format!("id=\"{name}\"")), "{action}");
    }
}

#[test]
fn pages_have_no_hints_for_the_command_line() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let fields = [
        ("name", "chemistry"),
        ("amount", "5"),
        ("end", "2020-01-01"),
    ];
    let refused = root.submit(&bank, "/deposit", "/deposit", &fields).text();
    let message = refused.split("role=\"alert\"").nth(1).unwrap();
    let message = message.split("</div>").next().unwrap();
    assert!(
        message.contains("enter an end that is later than now") && !message.contains("--"),
        "{message}"
    );
}

/// A preview with the time of an entry, in Berlin.
#[test]
fn previews_show_times_and_amounts_as_other_pages_do() {
    let mut bank = bank();
    let mut root = Browser::of_link(&bank);
    let fields = [
        ("name", "chemistry"),
        ("amount", "2500"),
        ("end", "2027-01-01"),
    ];
    let page = root.submit(&bank, "/deposit", "/deposit", &fields).text();
    let shown = page.split("<dl class=\"facts\">").nth(1).unwrap();
    let shown = shown.split("</dl>").next().unwrap();
    assert!(
        shown.contains("<dt>Amount (credits)</dt><dd>2,500</dd>")
            && shown.contains("<dd><time>2027-01-01 00:00</time></dd>"),
        "{shown}"
    );
    // The form again has them as people enter them.
    let form = root.submit_of(&bank, &page, "/deposit", &[("step", "change")]);
    assert!(
        form.text().contains("value=\"2027-01-01\""),
        "{}",
        form.text()
    );
    bank.set_clock(T0 + 40 * 86_400);
    let fields = [("until", "2026-02-01"), ("note", "the books")];
    let page = root
        .submit(&bank, "/closes/new", "/closes/new", &fields)
        .text();
    assert_eq!(page.matches("2026-02-01 00:00").count(), 1, "{page}");
    let done = root.submit_of(&bank, &page, "/closes/new", &[("step", "confirm")]);
    let page = root.get(&bank, done.header("location").unwrap()).text();
    assert!(
        page.contains("The books are closed until <time>2026-02-01 00:00</time>.")
            && page.contains("<span class=\"prose\">the books</span>"),
        "{page}"
    );
    bank.verify();
}

#[test]
fn a_request_is_shown_in_the_words_of_its_form() {
    let bank = bank();
    let mut amy = Browser::of_proxy(&bank, "amy");
    let form = "/ask/project";
    let fields = [
        ("name", "lasers"),
        ("pi", "amy"),
        ("amount", "1200"),
        ("end", "2027-01-01"),
        ("reason", "a grant"),
    ];
    let preview = amy.submit(&bank, form, form, &fields).text();
    let sent = amy.submit_of(&bank, &preview, form, &[("step", "confirm")]);
    let own = sent.header("location").unwrap().to_owned();
    let page = amy.get(&bank, &own).text();
    let block = page.split("<h2>Request</h2>").nth(1).unwrap();
    let block = block.split("</dl>").next().unwrap();
    for row in [
        "<dt>Name</dt><dd>lasers</dd>",
        "<dt>Principal investigator</dt><dd>amy</dd>",
        "<dt>First deposit (credits)</dt><dd>1,200</dd>",
        "<dt>Usable until (exclusive)</dt><dd><time>2027-01-01 00:00</time></dd>",
    ] {
        assert!(block.contains(row), "{row}: {block}");
    }
    let number = own.split(['/', '?']).nth(2).unwrap();
    let action = format!("/requests/{number}/withdraw");
    let gone = amy.submit_of(&bank, &page, &action, &[]);
    let page = amy.get(&bank, gone.header("location").unwrap()).text();
    assert!(page.contains("Your request for lasers is "), "{page}");
}

#[test]
fn messages_name_whom_they_are_about() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let fields = [("name", "bob"), ("role", "auditor")];
    let done = root.submit(&bank, "/people", "/people/grant", &fields);
    let page = root.get(&bank, done.header("location").unwrap()).text();
    assert!(
        page.contains("Granted. <strong>bob</strong> is now auditor over the bank."),
        "{page}"
    );
    // A link that claims it shows nothing that is not so.
    let page = root.get(&bank, "/people?done=grant&of=nobody").text();
    assert!(!page.contains("Granted"), "{page}");
    let page = root
        .get(&bank, "/people?done=revoke&of=Call%20this%20number")
        .text();
    assert!(
        page.contains("<p>Done.</p>") && !page.contains("Call this"),
        "{page}"
    );
    let fields = [("name", "amy"), ("per_day", "5000")];
    let done = root.submit(&bank, "/limits", "/limits/set", &fields);
    let page = root.get(&bank, done.header("location").unwrap()).text();
    assert!(
        page.contains("The limit of <strong>amy</strong> is 5,000 credits in a day."),
        "{page}"
    );
    let members = "/projects/chemistry/members";
    let fields = [("step", "add"), ("user", "bob"), ("role", "manager")];
    let done = root.submit(&bank, members, members, &fields);
    let page = root.get(&bank, done.header("location").unwrap()).text();
    assert!(
        page.contains("<strong>bob</strong> is now manager of chemistry."),
        "{page}"
    );
}

#[test]
fn rows_have_two_formats() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let refused = root.get(&bank, "/data/balances?format=xml");
    assert_eq!(refused.status, 400);
    assert!(
        refused
            .text()
            .contains("&quot;xml&quot; is not a format of these rows; they come as json or csv"),
        "{}",
        refused.text()
    );
    for format in ["json", "csv"] {
        let target = format!("/data/balances?format={format}");
        assert_eq!(root.get(&bank, &target).status, 200, "{format}");
    }
}

#[test]
fn a_form_that_is_too_large_is_refused_within_the_pages() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let note = "x".repeat(70_000);
    let fields = [
        ("name", "chemistry"),
        ("amount", "5"),
        ("note", note.as_str()),
    ];
    let refused = root.submit(&bank, "/deposit", "/deposit", &fields);
    assert_eq!(refused.status, 413);
    assert_eq!(current(&refused.text()), ["/today"], "{}", refused.text());
    // Nobody is signed in: a page without navigation.
    let refused = Browser::default().send(&bank, "/deposit", &fields);
    assert_eq!(refused.status, 413);
    assert!(current(&refused.text()).is_empty());
}

/// Alerts of three thresholds are one line, that of the highest one; earlier ones are in the list of all.
#[test]
fn one_notice_for_the_highest_threshold() {
    let bank = with_settings(&[
        ("BANKD_ATTENTION_ON", "true"),
        ("BANKD_ATTENTION_EVERY_S", "1"),
    ]);
    bank.bank_ok(&[
        "charge",
        "77",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "1",
        "--duration",
        "99000",
    ]);
    let all = until("the alerts", || {
        let all = alerts(&bank);
        (all.len() > 2).then_some(all)
    });
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/notices").text();
    let shown = page.matches("data-head=\"Kind\"><div>Used</div>").count();
    assert_eq!(shown, 1, "{all:?}: {page}");
    assert!(page.contains("99.00 % used"), "{page}");
    let listed = bank.items(&["attention", "ls", "--highest", "--kind", "used"]);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["threshold"], 95);
}

/// The thresholds of use that are reached.
fn alerts(bank: &Bank) -> Vec<i64> {
    let rows = bank.items(&["attention", "ls"]);
    let used = rows.iter().filter(|row| row["kind"] == "used");
    used.map(|row| row["threshold"].as_i64().unwrap()).collect()
}

/// A refused correction leads to its field, and an undo, which enters no transaction, to the transaction.
#[test]
fn a_refused_correction_leads_to_what_is_wrong() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    bank.bank_ok(&["deposit", "chemistry", "1000"]);
    let work = ["-m", "colony", "--procs", "1", "--duration", "100"];
    let who = ["charge", "77", "-A", "chemistry", "-u", "amy"];
    bank.bank_ok(&[&who[..], &work].concat());
    for (form, fields, name, label) in [
        (
            "/refund",
            &[("job", "77"), ("amount", "500")][..],
            "amount",
            "Amount",
        ),
        ("/refund", &[("job", "78")], "job", "Job"),
        (
            "/refund",
            &[("job", "77"), ("reissue_until", "2020-01-01")],
            "reissue_until",
            "New allocation until (exclusive)",
        ),
        (
            "/adjust",
            &[("allocation", "9999"), ("amount", "1"), ("note", "x")],
            "allocation",
            "Allocation",
        ),
        (
            "/transfer",
            &[("from", "chemistry"), ("to", "chemistry"), ("amount", "1")],
            "to",
            "To account or project",
        ),
    ] {
        let page = root.submit(&bank, form, form, fields).text();
        let link = format!("<p id=\"refusal\"><a href=\"#{name}\">{label}</a>: ");
        assert!(page.contains(&link), "{form} {fields:?}: {page}");
        let input = page.split(&format!("<input id=\"{name}\"")).nth(1).unwrap();
        let input = input.split('>').next().unwrap();
        assert!(
            input.contains("aria-describedby=\"refusal"),
            "{form}: {input}"
        );
    }
    bank.bank_ok(&["refund", "77"]);
    let page = root.submit(&bank, "/refund", "/refund", &[("job", "77")]);
    assert!(
        page.text().contains("<a href=\"#job\">Job</a>: "),
        "{}",
        page.text()
    );
    let undo = format!("/transactions/{}/undo", bank.transactions() - 1);
    let page = root.submit(&bank, &undo, &undo, &[]).text();
    let link = page.split("<a href=\"#about\">Undo transaction ").count();
    assert_eq!(
        (link, page.matches("id=\"about\"").count()),
        (2, 1),
        "{page}"
    );
}
