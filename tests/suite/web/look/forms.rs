//! Each form: refused with its field marked, gone back to, sent twice; in two tabs; after the end of the session;
//! without script.

use serde_json::json;

use super::super::browser::bank;
use super::axe::Axe;
use super::seen::everywhere;
use super::{heading, open, open_as};
use crate::harness::{Bank, Browser, Page, View};

/// A form with entries that are accepted, and one that is not.
struct Form {
    page: &'static str,
    action: &'static str,
    entries: &'static [(&'static str, &'static str)],
    wrong: (&'static str, &'static str),
    is_previewed: bool,
}

const fn form(
    page: &'static str,
    action: &'static str,
    entries: &'static [(&'static str, &'static str)],
    wrong: (&'static str, &'static str),
) -> Form {
    Form {
        page,
        action,
        entries,
        wrong,
        is_previewed: false,
    }
}

/// A form with a preview.
const fn order(
    page: &'static str,
    entries: &'static [(&'static str, &'static str)],
    wrong: (&'static str, &'static str),
) -> Form {
    Form {
        is_previewed: true,
        ..form(page, page, entries, wrong)
    }
}

const FORMS: [Form; 9] = [
    order(
        "/deposit",
        &[
            ("name", "chemistry"),
            ("amount", "5"),
            ("note", "a \"b\" <c>"),
        ],
        ("amount", "much"),
    ),
    order(
        "/withdraw",
        &[("name", "chemistry"), ("amount", "5"), ("note", "back")],
        ("amount", "-5"),
    ),
    order(
        "/transfer",
        &[("from", "chemistry"), ("to", "physics"), ("amount", "5")],
        ("amount", "1,5"),
    ),
    order(
        "/adjust",
        &[
            ("account", "chemistry"),
            ("amount", "-5"),
            ("note", "a correction"),
        ],
        ("amount", "x"),
    ),
    order(
        "/closes/new",
        &[("until", "2025-12-01"), ("note", "the books")],
        ("until", "soon"),
    ),
    form(
        "/people",
        "/people/grant",
        &[
            ("name", "amy"),
            ("role", "operator"),
            ("project", "chemistry"),
            ("until", "2036-01-01"),
        ],
        ("until", "soon"),
    ),
    form(
        "/limits",
        "/limits/set",
        &[
            ("name", "amy"),
            ("per_operation", "12345"),
            ("per_day", "99999"),
        ],
        ("per_day", "much"),
    ),
    form(
        "/keys",
        "/keys/new",
        &[
            ("id", "colony-9"),
            ("roles", "scheduler"),
            ("valid_until", "2036-01-01"),
        ],
        ("valid_until", "soon"),
    ),
    form(
        "/tokens",
        "/tokens/new",
        &[
            ("id", "t-9"),
            ("roles", "auditor"),
            ("valid_until", "2036-01-01"),
        ],
        ("valid_until", "soon"),
    ),
];

impl Form {
    fn field(&self, name: &str) -> String {
        format!("form[action='{}'] [name='{name}']", self.action)
    }

    fn button(&self) -> String {
        format!("form[action='{}'] button[type=submit]", self.action)
    }

    /// The entries that the form has now.
    fn entered(&self, page: &mut Page<'_>) -> Vec<(String, String)> {
        let names = self.entries.iter();
        names
            .map(|(name, _)| {
                let field = self.field(name);
                (
                    (*name).to_owned(),
                    page.text(&format!("document.querySelector({field:?}).value")),
                )
            })
            .collect()
    }

    fn expected(&self, with: Option<(&str, &str)>) -> Vec<(String, String)> {
        let entries = self.entries.iter();
        entries
            .map(|(name, value)| {
                let changed = with.filter(|(own, _)| own == name);
                let value = changed.map_or(*value, |(_, value)| value);
                ((*name).to_owned(), value.to_owned())
            })
            .collect()
    }

    /// Types the entries, and sends them with Enter.
    fn send(&self, page: &mut Page<'_>, with: Option<(&str, &str)>) {
        for (name, value) in self.expected(with) {
            page.fill(&self.field(&name), &value);
        }
        page.navigates(|page| page.key("Enter", false));
    }

    /// One refusal, the way back, and the thing itself, sent twice.
    fn used(
        &self,
        page: &mut Page<'_>,
        bank: &Bank,
        has_script: bool,
        findings: &mut Vec<String>,
        axe: Option<&Axe>,
    ) {
        let name = self.page.trim_matches('/').replace('/', "_");
        let before = bank.transactions();
        open(page, bank, self.page);
        self.send(page, Some(self.wrong));
        assert!(
            (400..500).contains(&page.status()),
            "{name}: {}",
            page.status()
        );
        let marked = page
            .text("[...document.querySelectorAll('[aria-invalid=true]')].map(e => e.name).join()");
        assert_eq!(marked, self.wrong.0, "{name}");
        assert_eq!(
            self.entered(page),
            self.expected(Some(self.wrong)),
            "{name}: something typed is lost"
        );
        if has_script {
            everywhere(page, &format!("refused-{name}"), findings);
            let barriers = axe.map(|axe| axe.barriers(page)).unwrap_or_default();
            findings.extend(
                barriers
                    .into_iter()
                    .map(|barrier| format!("refused {name}: {barrier}")),
            );
        }
        let button = if self.is_previewed {
            self.send(page, None);
            assert!(
                heading(page).ends_with("preview"),
                "{name}: {}",
                heading(page)
            );
            if has_script {
                everywhere(page, &format!("preview-{name}"), findings);
                let barriers = axe.map(|axe| axe.barriers(page)).unwrap_or_default();
                findings.extend(
                    barriers
                        .into_iter()
                        .map(|barrier| format!("preview {name}: {barrier}")),
                );
                open(page, bank, self.page);
                self.send(page, None);
                page.navigates(|page| {
                    page.eval("history.back()");
                });
                assert_eq!(self.entered(page), self.expected(None), "{name}: gone back");
                page.navigates(|page| page.click(&self.button()));
            }
            "button[value=confirm]".to_owned()
        } else {
            for (field, value) in self.expected(None) {
                page.fill(&self.field(&field), &value);
            }
            self.button()
        };
        assert_eq!(
            bank.transactions(),
            before,
            "{name}: a preview or a refusal wrote something"
        );
        page.navigates(|page| page.double_click(&button));
        page.until("document.readyState == 'complete'");
        assert_eq!(page.status(), 200, "{name}");
        assert_eq!(
            bank.transactions(),
            before + 1,
            "{name}: twice clicked, once done"
        );
        if has_script {
            everywhere(page, &format!("done-{name}"), findings);
        }
    }
}

fn with_chief() -> Bank {
    let bank = bank();
    bank.bank_ok(&["role", "grant", "chief", "admin"]);
    bank
}

#[test]
fn each_form_is_refused_gone_back_to_and_sent_twice() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = with_chief();
    let axe = Axe::installed();
    let mut findings = Vec::new();
    let mut page = browser.page(View::WIDE);
    open_as(&mut page, &bank, "chief", "/");
    for form in &FORMS {
        form.used(&mut page, &bank, true, &mut findings, axe.as_ref());
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    bank.verify();
}

#[test]
fn each_form_works_without_script() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = with_chief();
    let mut page = browser.page(View::WIDE);
    page.without_scripts();
    open_as(&mut page, &bank, "chief", "/");
    for form in &FORMS {
        form.used(&mut page, &bank, false, &mut Vec::new(), None);
    }
    bank.verify();
}

const DEPOSIT: &Form = &FORMS[0];

#[test]
fn two_tabs_do_not_disturb_each_other() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = with_chief();
    let mut one = browser.page(View::WIDE);
    open_as(&mut one, &bank, "chief", "/deposit");
    DEPOSIT.send(&mut one, None);
    let one = one.leave();
    let mut two = browser.page(View::WIDE);
    open_as(&mut two, &bank, "chief", "/deposit");
    DEPOSIT.send(&mut two, Some(("amount", "70")));
    two.navigates(|page| page.click("button[value=confirm]"));
    assert_eq!(bank.figures("chemistry").0, 100_070);
    drop(two);
    let mut one = browser.again(one);
    one.navigates(|page| page.click("button[value=confirm]"));
    assert_eq!(bank.figures("chemistry").0, 100_075);
    // Back to the preview, and confirmed again: the same deposit, not another one.
    let before = bank.transactions();
    one.eval("history.back()");
    one.until(
        "location.protocol == 'chrome-error:' || !!document.querySelector('button[value=confirm]')",
    );
    if one.eval("location.protocol") == "chrome-error:" {
        // The browser asks before it sends the entries of the preview again.
        one.navigates(|page| {
            page.ask("Page.reload", &json!({}));
        });
    }
    one.navigates(|page| page.click("button[value=confirm]"));
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn the_end_of_a_session_loses_nothing_that_was_typed() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = with_chief();
    let mut page = browser.page(View::WIDE);
    open_as(&mut page, &bank, "chief", "/deposit");
    page.ask("Network.clearBrowserCookies", &json!({}));
    DEPOSIT.send(&mut page, None);
    assert_eq!(page.status(), 401);
    let mut findings = Vec::new();
    everywhere(&mut page, "refused-ended", &mut findings);
    let tab = page.leave();
    let mut other = browser.page(View::WIDE);
    open_as(&mut other, &bank, "chief", "/");
    drop(other);
    let mut page = browser.again(tab);
    page.navigates(|page| page.click("main button"));
    assert_eq!(heading(&mut page), "Check your entries");
    everywhere(&mut page, "refused-other-session", &mut findings);
    page.navigates(|page| page.click("main button"));
    assert_eq!(heading(&mut page), "Deposit: preview");
    let facts = page.text("document.querySelector('main dl').textContent");
    assert!(
        facts.contains("chemistry") && facts.contains("a \"b\" <c>"),
        "{facts}"
    );
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    bank.verify();
}

#[test]
fn a_form_above_the_limit_is_refused_and_kept() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let bank = with_chief();
    let mut page = browser.page(View::WIDE);
    open_as(&mut page, &bank, "chief", "/deposit");
    page.fill("[name=name]", "chemistry");
    page.fill("[name=amount]", "5");
    page.eval("document.querySelector('[name=note]').value = 'x'.repeat(70000)");
    page.navigates(|page| page.click("main button"));
    assert_eq!(page.status(), 413);
    assert_eq!(heading(&mut page), "Too large");
    let mut findings = Vec::new();
    everywhere(&mut page, "refused-large", &mut findings);
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    page.navigates(|page| {
        page.eval("history.back()");
    });
    assert_eq!(
        page.eval("document.querySelector('[name=note]').value.length"),
        70_000
    );
    assert_eq!(
        page.eval("document.querySelector('[name=name]').value"),
        "chemistry"
    );
}
