//! The keyboard is enough: its order, its visible focus, and forms that are sent with it.

use serde_json::Value;

use super::super::browser::bank;
use super::{heading, open, open_as};
use crate::harness::{Browser, View};

/// What Tab reaches, in the order of the page.
const REACHABLE: &str = "[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, [tabindex=\"0\"]')]\
    .filter(e => e.checkVisibility())";

#[test]
fn tab_goes_through_every_page_in_order_with_a_visible_focus() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let bank = bank();
    bank.bank_ok(&["role", "grant", "chief", "admin"]);
    let mut page = browser.page(View::WIDE);
    open_as(&mut page, &bank, "chief", "/");
    for target in [
        "/",
        "/deposit",
        "/projects/chemistry",
        "/people",
        "/operations",
        "/jobs",
    ] {
        open(&mut page, &bank, target);
        let count = page.eval(&format!("(window.all = {REACHABLE}).length"));
        let count = count.as_u64().unwrap();
        for place in 0..count {
            page.key("Tab", false);
            let found = page.eval(
                "(() => { const e = document.activeElement, s = getComputedStyle(e), b = e.getBoundingClientRect(); \
                 return [all.indexOf(e), s.outlineStyle != 'none' && parseFloat(s.outlineWidth) >= 2, \
                 b.bottom > 0 && b.top < innerHeight && b.right > 0 && b.left < innerWidth, e.outerHTML.slice(0, 120)]; })()",
            );
            let [at, is_outlined, is_in_view] = [&found[0], &found[1], &found[2]];
            assert_eq!(at, &Value::from(place), "{target}: {found}");
            assert!(
                is_outlined == true && is_in_view == true,
                "{target}: {found}"
            );
        }
    }
}

#[test]
fn the_skip_link_leads_to_the_content_and_a_deposit_needs_no_mouse() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = bank();
    bank.bank_ok(&["role", "grant", "chief", "admin"]);
    let mut page = browser.page(View::WIDE);
    open_as(&mut page, &bank, "chief", "/deposit");
    page.key("Tab", false);
    assert_eq!(page.eval("document.activeElement.className"), "skip");
    page.key("Enter", false);
    assert_eq!(page.eval("document.activeElement.id"), "main");
    page.key("Tab", false);
    assert_eq!(page.eval("document.activeElement.name"), "name");
    for text in ["chemistry", "25"] {
        page.ask("Input.insertText", &serde_json::json!({"text": text}));
        page.key("Tab", false);
    }
    page.navigates(|page| page.key("Enter", false));
    assert_eq!(heading(&mut page), "Deposit: preview");
    for _ in 0..60 {
        page.key("Tab", false);
        if page.eval("document.activeElement.value") == "confirm" {
            break;
        }
    }
    page.navigates(|page| page.key("Enter", false));
    assert_eq!(bank.figures("chemistry").0, 100_025);
    bank.verify();
}
