//! The daemon restarts while a page is open: the page continues by itself, and nothing typed is lost.

use super::super::browser::{address, bank};
use super::open_as;
use crate::harness::{Bank, Browser, Page, View};

/// Starts the daemon again where it was, which takes the page on.
fn back(page: &mut Page<'_>, bank: &mut Bank, address: &str) {
    page.navigates(|_| {
        assert!(
            bank.start_with(&[("BANKD_WEB_LISTEN", address)]),
            "{}",
            bank.log()
        );
    });
}

#[test]
fn a_page_names_the_other_nodes_while_its_own_does_not_answer() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = bank();
    let own = address(&bank);
    bank.stop();
    let here = format!("http://{own}");
    let nodes = format!("{here},https://bank2.example.org,https://bank3.example.org:8443");
    let started = bank.start_with(&[
        ("BANKD_WEB_LISTEN", &own),
        ("BANKD_WEB_URL", &here),
        ("BANKD_WEB_NODES", &nodes),
    ]);
    assert!(started, "{}", bank.log());
    let mut page = browser.page(View::WIDE);
    open_as(&mut page, &bank, "amy", "/projects?search=chem");
    bank.stop();
    page.click("nav a[href='/jobs']");
    page.until("!!document.querySelector('.away')");
    let links = "[...document.querySelectorAll('.away a')].map(a => `${a.textContent}=${a.href}`).join(' ')";
    assert_eq!(
        page.eval(links),
        "bank2.example.org=https://bank2.example.org/projects?search=chem \
         bank3.example.org:8443=https://bank3.example.org:8443/projects?search=chem"
    );
    page.shot("away-nodes");
}

#[test]
fn a_page_waits_for_the_daemon_and_continues() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = bank();
    bank.bank_ok(&["role", "grant", "chief", "admin"]);
    let own = address(&bank);
    let mut page = browser.page(View::WIDE);
    open_as(&mut page, &bank, "chief", "/deposit");
    for (name, value) in [
        ("name", "chemistry"),
        ("amount", "5"),
        ("note", "before the restart"),
    ] {
        page.fill(&format!("[name={name}]"), value);
    }
    bank.stop();
    page.key("Enter", false);
    page.until("!!document.querySelector('.away')");
    page.shot("away");
    assert_eq!(
        page.eval("document.querySelector('[name=note]').value"),
        "before the restart"
    );
    back(&mut page, &mut bank, &own);
    assert_eq!(super::heading(&mut page), "Deposit: preview");
    // The confirmation too: it is done once.
    bank.kill();
    page.click("button[value=confirm]");
    page.until("!!document.querySelector('.away')");
    page.click("button[value=confirm]");
    back(&mut page, &mut bank, &own);
    assert_eq!(bank.figures("chemistry").0, 100_005);
    bank.stop();
    page.click("nav a[href='/jobs']");
    page.until("!!document.querySelector('.away')");
    back(&mut page, &mut bank, &own);
    assert_eq!(super::heading(&mut page), "Jobs");
    bank.verify();
}
