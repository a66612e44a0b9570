//! Each form: refused with its field marked, gone back to, sent twice; in two tabs; after the end of the session;
//! without script.

use std::collections::BTreeSet;

use serde_json::json;

use super::super::browser::bank;
use super::axe::Axe;
use super::form::{Ready, Steps};
use super::seen::everywhere;
use super::table::{EXCEPTIONS, FORMS, QUESTIONS};
use super::{heading, open, open_as};
use crate::harness::{Bank, Browser, Page, View};

impl Ready {
    fn of(&self) -> String {
        format!("form[action='{}']{}", self.action, self.form.of)
    }

    fn field(&self, name: &str) -> String {
        format!("{} [name='{name}']", self.of())
    }

    fn button(&self) -> String {
        format!("{} {}", self.of(), self.form.button)
    }

    /// For messages and files.
    fn name(&self) -> String {
        let name = format!("{}{}", self.form.path, self.form.button);
        let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = name.chars().map(kept).collect();
        name.trim_matches('_').replace("_button_type_submit", "")
    }

    /// The entries that the form has now.
    fn entered(&self, page: &mut Page<'_>) -> Vec<(&'static str, String)> {
        let names = self.entries.iter();
        names
            .map(|(name, _)| {
                let field = self.field(name);
                (
                    *name,
                    page.text(&format!("document.querySelector({field:?}).value")),
                )
            })
            .collect()
    }

    fn expected(&self, with: Option<(&str, &str)>) -> Vec<(&'static str, String)> {
        let entries = self.entries.iter();
        entries
            .map(|(name, value)| {
                let changed = with.filter(|(own, _)| own == name);
                (
                    *name,
                    changed.map_or(value.clone(), |(_, value)| value.to_owned()),
                )
            })
            .collect()
    }

    fn fill(&self, page: &mut Page<'_>, with: Option<(&str, &str)>) {
        for (name, value) in self.expected(with) {
            page.fill(&self.field(name), &value);
        }
    }

    /// Types the entries, and sends them: with Enter where the first button is the one.
    fn send(&self, page: &mut Page<'_>, with: Option<(&str, &str)>) {
        self.fill(page, with);
        let is_first = page.eval(&format!(
            "document.querySelector({:?}) === document.querySelector({:?})",
            self.button(),
            format!("{} button", self.of())
        ));
        let is_typed = page.eval("document.activeElement.tagName") == "INPUT";
        if self.entries.is_empty() || is_first != true || !is_typed {
            page.navigates(|page| page.click(&self.button()));
        } else {
            page.navigates(|page| page.key("Enter", false));
        }
    }

    /// Goes back from the second step to the form. The browser may show it without loading it again.
    fn go_back(&self, page: &mut Page<'_>) {
        page.eval("history.back()");
        page.until(&format!(
            "document.readyState == 'complete' && !!document.querySelector({:?}) \
             && !document.querySelector('button[value=confirm]')",
            self.button()
        ));
    }

    /// Sends a wrong entry: its field is marked, and nothing that was typed is lost.
    fn refused(&self, page: &mut Page<'_>, wrong: (&str, &str)) -> Vec<String> {
        let name = self.name();
        self.send(page, Some(wrong));
        let mut findings = Vec::new();
        let status = page.status();
        if !(400..500).contains(&status) {
            findings.push(format!("{name}: {wrong:?} has the status {status}"));
        }
        let marked = page
            .text("[...document.querySelectorAll('[aria-invalid=true]')].map(e => e.name).join()");
        if marked != wrong.0 {
            findings.push(format!("{name}: {:?} is marked, not {}", marked, wrong.0));
        }
        if page.eval("!!document.querySelector('.message[role=alert]')") != true {
            findings.push(format!("{name}: no message"));
        }
        let (entered, expected) = (self.entered(page), self.expected(Some(wrong)));
        if entered != expected {
            findings.push(format!("{name}: typed {expected:?}, kept {entered:?}"));
        }
        findings
    }

    /// One refusal, the way back, and the thing itself, sent twice.
    fn used(&self, page: &mut Page<'_>, bank: &Bank, looks: Option<&Looks>) -> Vec<String> {
        let name = self.name();
        let mut findings = Vec::new();
        let look = |page: &mut Page<'_>, step: &str, findings: &mut Vec<String>| {
            if let Some(looks) = looks {
                looks.at(page, &format!("{step}-{name}"), findings);
            }
        };
        let before = bank.transactions();
        open_as(page, bank, self.form.who, &self.page);
        if let Some(wrong) = self.form.wrong {
            findings.extend(self.refused(page, wrong));
            look(page, "refused", &mut findings);
        }
        let button = if self.form.steps == Steps::One {
            self.fill(page, None);
            self.button()
        } else {
            self.send(page, None);
            let (end, first) = match self.form.steps {
                Steps::Preview => ("preview", "preview"),
                _ => ("Are you sure?", "question"),
            };
            assert!(heading(page).ends_with(end), "{name}: {}", heading(page));
            look(page, first, &mut findings);
            if looks.is_some() {
                open(page, bank, &self.page);
                self.send(page, None);
                self.go_back(page);
                let (entered, expected) = (self.entered(page), self.expected(None));
                if entered != expected {
                    findings.push(format!(
                        "{name}: typed {expected:?}, after the way back {entered:?}"
                    ));
                }
                let click = format!("document.querySelector({:?}).click()", self.button());
                page.navigates(|page| {
                    page.eval(&click);
                });
            }
            "button[value=confirm]".to_owned()
        };
        assert_eq!(
            bank.transactions(),
            before,
            "{name}: a preview or a refusal wrote something"
        );
        page.navigates(|page| page.double_click(&button));
        page.until("document.readyState == 'complete'");
        let status = page.status();
        if status != 200 {
            let words = page.text("document.querySelector('main').innerText");
            findings.push(format!(
                "{name}: clicked twice, the status is {status}: {words}"
            ));
        }
        let written = bank.transactions() - before;
        if written != 1 {
            findings.push(format!("{name}: clicked twice, {written} transactions"));
        }
        look(page, "done", &mut findings);
        findings
    }
}

/// How pages are looked at.
struct Looks(Option<Axe>);

impl Looks {
    fn at(&self, page: &mut Page<'_>, name: &str, findings: &mut Vec<String>) {
        everywhere(page, name, findings);
        let barriers = self.0.as_ref().map(|axe| axe.barriers(page));
        let barriers = barriers.unwrap_or_default().into_iter();
        findings.extend(barriers.map(|barrier| format!("{name}: {barrier}")));
    }
}

/// Every form of a table in turn, in one bank.
fn all_used(has_script: bool) {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = with_chief();
    let looks = has_script.then(|| Looks(Axe::installed()));
    let mut findings = Vec::new();
    let mut page = browser.page(View::WIDE);
    if !has_script {
        page.without_scripts();
    }
    for form in FORMS {
        page.ask("Network.clearBrowserCookies", &json!({}));
        findings.extend(form.ready(&bank).used(&mut page, &bank, looks.as_ref()));
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    bank.verify();
}

#[test]
fn every_target_of_a_form_has_a_row() {
    let targets = bankd_web::rows()
        .into_iter()
        .filter(|row| row.method == "POST");
    let targets: BTreeSet<&str> = targets.map(|row| row.path).collect();
    let tested = FORMS.iter().map(|form| form.path);
    let tested: BTreeSet<&str> = tested
        .chain(EXCEPTIONS.iter().map(|(path, _)| *path))
        .collect();
    assert_eq!(targets, tested);
}

fn with_chief() -> Bank {
    let bank = bank();
    bank.bank_ok(&["role", "grant", "chief", "admin"]);
    bank
}

#[test]
fn each_form_is_refused_gone_back_to_and_sent_twice() {
    all_used(true);
}

#[test]
fn each_form_works_without_script() {
    all_used(false);
}

/// Forms that show something keep what was typed, in the page and in its address.
#[test]
fn each_question_is_answered_refused_and_gone_back_to() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let bank = with_chief();
    let mut findings = Vec::new();
    let mut page = browser.page(View::WIDE);
    for form in QUESTIONS {
        let ready = form.ready(&bank);
        let name = ready.name();
        let before = bank.transactions();
        open_as(&mut page, &bank, form.who, &ready.page);
        findings.extend(ready.refused(&mut page, form.wrong.unwrap()));
        ready.send(&mut page, None);
        let (entered, expected) = (ready.entered(&mut page), ready.expected(None));
        if page.status() != 200 || entered != expected {
            findings.push(format!("{name}: answered {}, {entered:?}", page.status()));
        }
        page.navigates(|page| {
            page.eval("history.back()");
        });
        let entered = ready.entered(&mut page);
        if entered != expected {
            findings.push(format!("{name}: after the way back {entered:?}"));
        }
        assert_eq!(bank.transactions(), before, "{name}");
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

fn deposit(bank: &Bank) -> Ready {
    FORMS[0].ready(bank)
}

#[test]
fn two_tabs_do_not_disturb_each_other() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = with_chief();
    let mut one = browser.page(View::WIDE);
    open_as(&mut one, &bank, "chief", "/deposit");
    deposit(&bank).send(&mut one, None);
    let one = one.leave();
    let mut two = browser.page(View::WIDE);
    open_as(&mut two, &bank, "chief", "/deposit");
    deposit(&bank).send(&mut two, Some(("amount", "70")));
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
    deposit(&bank).send(&mut page, None);
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
