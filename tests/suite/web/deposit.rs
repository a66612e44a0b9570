//! The deposit form: the pattern of every form that changes something.

use super::browser::{Browser, bank};
use crate::harness::Bank;

fn preview(bank: &Bank, root: &mut Browser, fields: &[(&str, &str)]) -> String {
    let answer = root.submit(bank, "/deposit", "/deposit", fields);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

#[test]
fn a_deposit_is_previewed_confirmed_once_and_undone() {
    let mut bank = bank();
    let mut root = Browser::of_link(&bank);
    let before = bank.transactions();
    let page = preview(
        &bank,
        &mut root,
        &[("name", "chemistry"), ("amount", "2500"), ("note", "Q1")],
    );
    for figure in ["100,000", "102,500"] {
        assert!(page.contains(figure), "{figure}: {page}");
    }
    assert_eq!(bank.transactions(), before, "a preview writes nothing");
    let confirm = [("step", "confirm")];
    let one = root.submit_of(&bank, &page, "/deposit", &confirm);
    let two = root.submit_of(&bank, &page, "/deposit", &confirm);
    assert_eq!((one.status, two.status), (303, 303), "{}", two.text());
    assert_eq!(
        one.header("location"),
        two.header("location"),
        "twice sent, once done"
    );
    assert_eq!(bank.transactions(), before + 1);
    assert_eq!(bank.figures("chemistry").0, 102_500);
    let target = one.header("location").unwrap().to_owned();
    let done = root.get(&bank, &target).text();
    assert!(
        done.contains("Done. This is what was booked.")
            && done.contains("2,500")
            && done.contains("Q1"),
        "{done}"
    );
    let action = format!("{}/undo", target.split('?').next().unwrap());
    let way = format!("href=\"{action}\"");
    assert!(done.contains(&way), "{done}");
    let stale = root.get(&bank, &action).text();
    let preview = root.submit_of(&bank, &stale, &action, &[("note", "typing error")]);
    for figure in ["102,500", "100,000", "typing error"] {
        assert!(preview.text().contains(figure), "{}", preview.text());
    }
    assert_eq!(
        bank.transactions(),
        before + 1,
        "the preview writes nothing"
    );
    let undone = root.submit_of(&bank, &preview.text(), &action, &confirm);
    assert_eq!(undone.status, 303, "{}", undone.text());
    assert_eq!(bank.figures("chemistry").0, 100_000);
    let done = root.get(&bank, &target).text();
    assert!(
        done.contains("Undone by transaction") && !done.contains(&way),
        "{done}"
    );
    let again = root.submit_of(&bank, &stale, &action, &[]);
    assert_eq!(again.status, 409, "{}", again.text());
    let rows = bank.query("SELECT DISTINCT origin, client FROM tx WHERE origin = 'web'");
    assert_eq!(rows, [["web", "unix:root"]]);
    bank.verify();
}

#[test]
fn a_refused_deposit_keeps_what_was_typed() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    for (fields, status, words) in [
        (
            [("name", "chemistri"), ("amount", "5"), ("end", "")],
            404,
            "chemistry",
        ),
        (
            [("name", "chemistry"), ("amount", "5.5"), ("end", "")],
            422,
            "decimals",
        ),
        (
            [("name", "chemistry"), ("amount", ""), ("end", "")],
            400,
            "Amount</a>: required",
        ),
        (
            [("name", "chemistry"), ("amount", "5"), ("end", "soon")],
            422,
            "is not a time",
        ),
    ] {
        let answer = root.submit(&bank, "/deposit", "/deposit", &fields);
        assert_eq!(answer.status, status, "{}", answer.text());
        let page = answer.text();
        assert!(page.contains(words), "{words}: {page}");
        assert!(
            page.contains(&format!("name=\"name\" value=\"{}\"", fields[0].1)),
            "{page}"
        );
    }
}

#[test]
fn change_goes_back_to_the_form() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    let page = preview(
        &bank,
        &mut root,
        &[("name", "chemistry"), ("amount", "2500")],
    );
    let form = root.submit_of(&bank, &page, "/deposit", &[("step", "change")]);
    assert!(
        form.text().contains("name=\"amount\" value=\"2500\""),
        "{}",
        form.text()
    );
}

#[test]
fn operators_deposit_into_their_projects_only() {
    let bank = bank();
    bank.bank_ok(&["role", "grant", "amy", "operator", "-A", "chemistry"]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let other = [("name", "physics"), ("amount", "5")];
    let unknown = [("name", "physicz"), ("amount", "5")];
    let [one, two] = [other, unknown].map(|fields| {
        let answer = amy.submit(&bank, "/deposit", "/deposit", &fields);
        assert_eq!(answer.status, 404);
        super::browser::steady(&answer.text()).replace(fields[0].1, "NAME")
    });
    assert_eq!(one, two);
}
