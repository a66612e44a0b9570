//! The pages in Chromium, as people see and use them.
//!
//! `site` has a bank with the year of the demo. `walk` opens every page as each role, in every width, by day and by
//! night, and has `axe-core` look for barriers. `forms` (with its `table`), `keyboard` and `away` use the pages as people do. `links` follows every kind of link. With the
//! folder `BANK_SHOTS`, every page and state is kept there as a picture.

mod away;
mod axe;
mod form;
mod forms;
mod keyboard;
mod links;
mod many;
mod seen;
mod site;
mod table;
mod walk;

use serde_json::json;

use super::browser::{HEADER, address};
use crate::harness::{Bank, Page};

/// Signs a person in, whom the proxy identifies, and opens an address of a bank.
fn open_as(page: &mut Page<'_>, bank: &Bank, name: &str, target: &str) {
    page.fields(&json!({HEADER: name}));
    open(page, bank, target);
}

/// Opens an address of a bank.
fn open(page: &mut Page<'_>, bank: &Bank, target: &str) {
    page.go(&format!("http://{}{target}", address(bank)));
}

/// The first heading of the page.
fn heading(page: &mut Page<'_>) -> String {
    page.text("document.querySelector('h1').textContent")
}
