//! The pages of account managers, managers of projects, operators and users beside the forms that move money.

use serde_json::{Value, json};

use super::browser::{Browser, bank, encoded, steady};
use crate::harness::Documents;

#[test]
fn members_are_added_switched_and_removed_once() {
    let mut bank = bank();
    let evil = "<svg onload=alert(1)>\"'&";
    bank.bank_ok(&["user", "add", evil]);
    bank.bank_ok(&["role", "grant", "amy", "manager", "-A", "chemistry"]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = "/projects/chemistry/members";
    let form = amy.get(&bank, page).text();
    let add = form.rsplit("Add a member").next().unwrap().to_owned();
    let before = bank.transactions();
    let fields = [("step", "add"), ("user", evil), ("role", "")];
    let one = amy.submit_of(&bank, &add, page, &fields);
    let two = amy.submit_of(&bank, &add, page, &fields);
    assert_eq!((one.status, two.status), (303, 303), "{}", two.text());
    assert_eq!(bank.transactions(), before + 1, "twice sent, once done");
    let shown = amy.get(&bank, page).text();
    assert!(
        shown.contains("&lt;svg") && !shown.contains("<svg"),
        "{shown}"
    );
    for (step, state) in [("off", "inactive"), ("on", "active")] {
        let fields = [("step", step), ("user", evil)];
        let done = amy.submit(&bank, page, page, &fields);
        assert_eq!(done.status, 303, "{}", done.text());
        let list = bank.bank_ok(&["project", "show", "chemistry", "--json"]);
        let list: Value = serde_json::from_str(&list).unwrap();
        let members = list["members"].as_array().unwrap();
        let own = members
            .iter()
            .find(|member| member["user"] == evil)
            .unwrap();
        assert_eq!(own["active"], state == "active");
    }
    for (user, status, words) in [
        ("nobody-here", 404, "nobody-here"),
        ("", 400, "User</a>: required"),
    ] {
        let fields = [("step", "add"), ("user", user), ("role", "")];
        let answer = amy.submit(&bank, page, page, &fields);
        let text = answer.text();
        assert!(answer.status == status && text.contains(words), "{text}");
        assert!(text.contains("aria-invalid") || status == 404, "{text}");
    }
    let role = [("step", "add"), ("user", evil), ("role", "manager")];
    assert_eq!(amy.submit(&bank, page, page, &role).status, 403);
    let fields = [("step", "remove"), ("user", evil)];
    assert_eq!(amy.submit(&bank, page, page, &fields).status, 303);
    let [one, two] = ["physics", "physicz"].map(|name| {
        let answer = amy.get(&bank, &format!("/projects/{name}/members"));
        assert_eq!(answer.status, 404);
        steady(&answer.text()).replace(name, "NAME")
    });
    assert_eq!(one, two);
    bank.verify();
}

#[test]
fn a_period_is_previewed_closed_and_opened_again() {
    let mut bank = bank();
    let mut root = Browser::of_link(&bank);
    let late = root.submit(&bank, "/closes/new", "/closes/new", &[("until", "2099-01")]);
    assert!(
        late.status >= 400 && late.text().contains("is not over"),
        "{}",
        late.text()
    );
    let bad = root.submit(&bank, "/closes/new", "/closes/new", &[("until", "soon")]);
    assert_eq!(bad.status, 422);
    let before = bank.transactions();
    let fields = [("until", "2025-01"), ("note", "<i>done</i>")];
    let page = root
        .submit(&bank, "/closes/new", "/closes/new", &fields)
        .text();
    assert!(
        page.contains("Accounts with money") && page.contains("&lt;i&gt;"),
        "{page}"
    );
    assert_eq!(bank.transactions(), before);
    for _ in 0..2 {
        let done = root.submit_of(&bank, &page, "/closes/new", &[("step", "confirm")]);
        assert_eq!(done.status, 303, "{}", done.text());
    }
    assert_eq!(bank.transactions(), before + 1);
    let list = root.get(&bank, "/closes").text();
    assert!(
        list.contains("2025-01-01") && list.contains("&lt;i&gt;done"),
        "{list}"
    );
    let undone = root.submit_of(&bank, &list, "/closes/undo", &[]);
    assert_eq!(undone.status, 303, "{}", undone.text());
    let again = root.submit(&bank, "/closes/new", "/closes/new", &fields);
    assert_eq!(again.status, 200, "it is open again: {}", again.text());
    bank.verify();
}

#[test]
fn rates_are_tried_on_the_past() {
    let bank = bank();
    let work = ["-m", "colony", "--procs", "1", "--duration", "100"];
    bank.bank_ok(&[&["charge", "7", "-A", "chemistry", "-u", "amy"][..], &work].concat());
    let mut root = Browser::of_link(&bank);
    let rates = root.get(&bank, "/rates").text();
    assert!(rates.contains("Processors"), "{rates}");
    let before = bank.transactions();
    let test = "/rates/test?kind=VBR&name=Processors&rate=2&from=2000-01&to=2100-01";
    let page = root.get(&bank, test).text();
    assert!(
        page.contains("Difference") && page.contains("200") && page.contains("amy"),
        "{page}"
    );
    // The table has its rows as JSON and CSV, with the same period.
    let data = test.replace("/rates/test", "/data/rates/test");
    assert!(page.contains(&data.replace('&', "&amp;")), "{page}");
    let rows: Value = serde_json::from_slice(&root.get(&bank, &data).body).unwrap();
    let row = &rows["items"][0];
    assert_eq!(
        (&row["user"], &row["proposed"]),
        (&json!("amy"), &json!("200"))
    );
    let csv = root.get(&bank, &format!("{data}&format=csv")).text();
    assert!(csv.lines().count() == 2 && csv.contains(",200,"), "{csv}");
    // Codes and units of rates are explained.
    assert!(
        rates.contains("VBR: </strong>value-based resource: value × rate × time.")
            && rates.contains("<div>credits for each of Processors per second</div>"),
        "{rates}"
    );
    for (query, status) in [
        ("rate=x&kind=VBR&name=Processors", 422),
        ("rate=1&from=soon", 422),
    ] {
        let answer = root.get(&bank, &format!("/rates/test?{query}"));
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    assert_eq!(bank.transactions(), before);
    let mut amy = Browser::of_proxy(&bank, "amy");
    assert_eq!(amy.get(&bank, test).status, 403);
    assert_eq!(amy.get(&bank, &data).status, 403);
    assert!(!amy.get(&bank, "/rates").text().contains("Try a rate"));
}

#[test]
fn operators_see_what_is_not_charged() {
    let mut bank = bank();
    bank.bank_ok(&["withdraw", "chemistry", "42401"]);
    let document = Documents::own().get(3);
    bank.script("reserve", &document).expect(78, "");
    let mut root = Browser::of_link(&bank);
    let page = root.get(&bank, "/operations");
    let text = page.text();
    assert_eq!(page.status, 200, "{text}");
    for words in [
        "Sources",
        "Machines",
        "colony",
        "Open holds",
        "Downtimes",
        "Refused holds",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let refused = root.get(&bank, "/data/refused-reserves").text();
    assert!(
        refused.contains("insufficient_funds") && text.contains("Moab.1024"),
        "{refused}"
    );
    let mut amy = Browser::of_proxy(&bank, "amy");
    assert_eq!(amy.get(&bank, "/operations").status, 403);
    bank.bank_ok(&["user", "add", "zoe"]);
    let mut zoe = Browser::of_proxy(&bank, "zoe");
    assert!(
        !zoe.get(&bank, "/data/refused-reserves")
            .text()
            .contains("Moab.1024")
    );
    bank.verify();
}

#[test]
fn a_quote_shows_the_price_and_what_is_free() {
    let bank = bank();
    let mut amy = Browser::of_proxy(&bank, "amy");
    let before = bank.transactions();
    let quote = "/quote?project=chemistry&machine=colony&processors=2&wall_s=";
    let page = amy.get(&bank, &format!("{quote}100s"));
    let text = page.text();
    assert_eq!(page.status, 200, "{text}");
    assert!(text.contains("200") && text.contains("99,800"), "{text}");
    let large = amy.get(&bank, &format!("{quote}9999999")).text();
    assert!(
        large.contains("19,999,998") && large.contains("class=\"message bad\""),
        "{large}"
    );
    for (query, status) in [
        ("wall_s=soon", 422),
        ("wall_s=60&processors=two", 422),
        ("wall_s=60&project=physicz", 404),
        (&format!("wall_s=60&project={}", encoded("<svg>")), 404),
    ] {
        let answer = amy.get(&bank, &format!("/quote?{query}"));
        assert_eq!(answer.status, status, "{query}: {}", answer.text());
        assert!(!answer.text().contains("<svg>"));
    }
    assert_eq!(bank.transactions(), before);
}

#[test]
fn usage_is_shown_by_week_and_projects_are_searched() {
    let bank = bank();
    let work = ["-m", "colony", "--procs", "1", "--duration", "100"];
    bank.bank_ok(&[&["charge", "7", "-A", "chemistry", "-u", "amy"][..], &work].concat());
    let mut amy = Browser::of_proxy(&bank, "amy");
    let usage = amy.get(&bank, "/my-usage?to=2100-01").text();
    assert!(
        usage.contains("By week") && usage.contains("chemistry"),
        "{usage}"
    );
    assert_eq!(amy.get(&bank, "/my-usage?from=soon").status, 422);
    let mut root = Browser::of_link(&bank);
    assert!(
        root.get(&bank, "/my-usage")
            .text()
            .contains("You used nothing")
    );
    let found = root.get(&bank, "/projects?search=CHEM").text();
    assert!(
        found.contains("chemistry") && !found.contains("physics"),
        "{found}"
    );
    let none = root
        .get(&bank, &format!("/projects?search={}", encoded("<svg>")))
        .text();
    assert!(
        none.contains("&lt;svg&gt;") && !none.contains("<svg>"),
        "{none}"
    );
    let own = amy.get(&bank, "/projects").text();
    assert!(
        own.contains("chemistry") && !own.contains("physics"),
        "{own}"
    );
}
