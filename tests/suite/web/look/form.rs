//! One form of the table: what it needs before, its entries, its button and its steps.

use super::super::browser::Browser as Plain;
use crate::harness::Bank;

/// The steps of a form after its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    /// It is done when it is sent.
    One,
    /// A preview comes first.
    Preview,
    /// A question comes first.
    Question,
}

/// What a row needs before its page is opened.
#[derive(Clone, Copy, Debug)]
pub(super) enum Before {
    Nothing,
    /// Commands of `bank`.
    Commands(&'static [&'static [&'static str]]),
    /// Amy asks for a deposit.
    Request,
}

/// A form. In `page` and `action`, `{id}` is the number of the newest transaction or of the newest request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// The path of its row in the table of pages.
    pub(super) path: &'static str,
    pub(super) page: &'static str,
    pub(super) action: &'static str,
    /// The person who sends it.
    pub(super) who: &'static str,
    pub(super) entries: &'static [(&'static str, &'static str)],
    pub(super) wrong: Option<(&'static str, &'static str)>,
    /// The button, below the form.
    pub(super) button: &'static str,
    /// The form, where several have its action.
    pub(super) of: &'static str,
    pub(super) steps: Steps,
    pub(super) before: Before,
}

pub(super) type Entries = &'static [(&'static str, &'static str)];

/// A form that is done when it is sent.
pub(super) const fn form(
    page: &'static str,
    path: &'static str,
    entries: Entries,
    wrong: (&'static str, &'static str),
) -> Form {
    Form {
        path,
        page,
        action: path,
        who: "chief",
        entries,
        wrong: Some(wrong),
        button: "button[type=submit]",
        of: "",
        steps: Steps::One,
        before: Before::Nothing,
    }
}

/// A form with a preview, at its own page.
pub(super) const fn order(
    page: &'static str,
    entries: Entries,
    wrong: (&'static str, &'static str),
) -> Form {
    Form {
        steps: Steps::Preview,
        ..form(page, page, entries, wrong)
    }
}

/// A button without entries.
pub(super) const fn button(page: &'static str, path: &'static str, before: Before) -> Form {
    Form {
        wrong: None,
        before,
        ..form(page, path, &[], ("", ""))
    }
}

/// A button that is followed by a question.
pub(super) const fn question(
    page: &'static str,
    path: &'static str,
    of: &'static str,
    commands: &'static [&'static [&'static str]],
) -> Form {
    Form {
        of,
        steps: Steps::Question,
        ..button(page, path, Before::Commands(commands))
    }
}

/// A request of Amy.
pub(super) const fn asked(
    page: &'static str,
    entries: Entries,
    wrong: (&'static str, &'static str),
) -> Form {
    Form {
        who: "amy",
        ..order(page, entries, wrong)
    }
}

/// The answer to a request of Amy.
pub(super) const fn decision(button: &'static str) -> Form {
    Form {
        path: "/proposals/{id}",
        action: "/proposals/{id}",
        entries: &[("reason", "<i>seen</i>")],
        button,
        wrong: None,
        before: Before::Request,
        ..form("/proposals/{id}", "", &[], ("", ""))
    }
}

const MEMBERS: &str = "/projects/{name}/members";

/// A change of the members of chemistry.
pub(super) const fn members(before: &'static [&'static [&'static str]]) -> Form {
    Form {
        path: MEMBERS,
        action: "/projects/chemistry/members",
        before: Before::Commands(before),
        wrong: None,
        ..form("/projects/chemistry/members", "", &[], ("", ""))
    }
}

impl Form {
    /// Makes what the row needs, and fills in numbers.
    pub(super) fn ready(&self, bank: &Bank) -> Ready {
        let id = match self.before {
            Before::Nothing => String::new(),
            Before::Commands(commands) => {
                for command in commands {
                    bank.bank_ok(command);
                }
                bank.transactions().to_string()
            }
            Before::Request => request(bank),
        };
        let allocation = || {
            let rows = bank.items(&["allocation", "ls", "-a", "chemistry"]);
            let row = rows.iter().rfind(|row| row["until"].is_string());
            row.unwrap()["id"].to_string()
        };
        let entries = self.entries.iter().map(|(name, value)| {
            let value = match *value {
                "{allocation}" => allocation(),
                value => value.to_owned(),
            };
            (*name, value)
        });
        Ready {
            form: *self,
            page: self.page.replace("{id}", &id),
            action: self.action.replace("{id}", &id),
            entries: entries.collect(),
        }
    }
}

/// A form whose page can be opened.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) form: Form,
    pub(super) page: String,
    pub(super) action: String,
    pub(super) entries: Vec<(&'static str, String)>,
}

/// A new request of Amy; its number.
fn request(bank: &Bank) -> String {
    let mut amy = Plain::of_proxy(bank, "amy");
    let entries = [("name", "chemistry"), ("amount", "3"), ("reason", "more")];
    let preview = amy.submit(bank, "/ask/deposit", "/ask/deposit", &entries);
    let confirm = [("step", "confirm")];
    let sent = amy.submit_of(bank, &preview.text(), "/ask/deposit", &confirm);
    let target = sent.header("location").expect("the request is sent");
    let path = target.split('?').next().unwrap();
    path.rsplit('/').next().unwrap().to_owned()
}
