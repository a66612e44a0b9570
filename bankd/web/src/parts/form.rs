//! Parts of forms that change something.
//!
//! A form has a token of the session and an idempotency key. The key is made with the form and stays the same in
//! its preview and its confirmation, so a form that is sent twice is done once.

use maud::{Markup, html};

use crate::failed::Failed;
use crate::visit::Visit;

/// The token of the session. Every form that posts has one.
pub(crate) fn token(visit: &Visit) -> Markup {
    html! { input type="hidden" name="form_token" value=(visit.form_token); }
}

/// The idempotency key: that of the form that was sent, else a new one.
pub(crate) fn key(visit: &Visit) -> String {
    let sent = visit.field("key").filter(|key| is_key(key));
    sent.map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned)
}

fn is_key(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The key as a field.
pub(crate) fn keyed(key: &str) -> Markup {
    html! { input type="hidden" name="key" value=(key); }
}

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Words,
    /// A decimal.
    Figure,
    /// A whole number.
    Whole,
    /// A time in the zone of the page.
    Time,
    /// One of some words: each with its label. The first is the usual one.
    Choice(&'static [(&'static str, &'static str)]),
}

/// One field of a form. Its name is that of the member of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    /// What to enter; may be empty.
    pub(crate) help: &'a str,
    pub(crate) is_required: bool,
    pub(crate) kind: Kind,
}

impl<'a> Field<'a> {
    /// A field that must be filled in.
    pub(crate) const fn needed(name: &'a str, label: &'a str, kind: Kind, help: &'a str) -> Self {
        Self {
            name,
            label,
            help,
            is_required: true,
            kind,
        }
    }

    /// A field that may be empty.
    pub(crate) const fn optional(name: &'a str, label: &'a str, kind: Kind, help: &'a str) -> Self {
        Self {
            is_required: false,
            ..Self::needed(name, label, kind, help)
        }
    }

    /// With what was typed before, and marked if that is what is wrong.
    pub(crate) fn show(&self, value: &str, failed: Option<&Failed>) -> Markup {
        let wrong = failed.and_then(|failed| failed.problem().field.as_deref());
        let is_wrong = wrong == Some(self.name);
        let help = format!("{}-help", self.name);
        let has_help = !self.help.is_empty();
        let described = has_help.then_some(help.as_str());
        let invalid = is_wrong.then_some("true");
        let keyboard = match self.kind {
            Kind::Figure => Some("decimal"),
            Kind::Whole => Some("numeric"),
            _ => None,
        };
        html! {
            div .field.wrong[is_wrong] {
                label for=(self.name) { (self.label) @if !self.is_required { span .small { " (optional)" } } }
                @if let Kind::Choice(words) = self.kind {
                    select #(self.name) name=(self.name) aria-invalid=[invalid] aria-describedby=[described] {
                        @for (word, label) in words {
                            option value=(word) selected[*word == value] { (label) }
                        }
                    }
                } @else {
                    input #(self.name) name=(self.name) value=(value) required[self.is_required] autocomplete="off"
                        spellcheck="false" inputmode=[keyboard] aria-invalid=[invalid] aria-describedby=[described];
                }
                @if has_help { p .help id=(help) { (self.help) } }
            }
        }
    }
}
