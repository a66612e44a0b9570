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

/// One field of a form.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    /// What to enter; may be empty.
    pub(crate) help: &'a str,
    pub(crate) is_required: bool,
    /// For figures: the keyboard of a telephone.
    pub(crate) is_figure: bool,
}

impl Field<'_> {
    /// With what was typed before, and marked if that is what is wrong.
    pub(crate) fn show(&self, value: &str, failed: Option<&Failed>) -> Markup {
        let wrong = failed.and_then(|failed| failed.problem().field.as_deref());
        let is_wrong = wrong == Some(self.name);
        let help = format!("{}-help", self.name);
        let has_help = !self.help.is_empty();
        html! {
            div .field.wrong[is_wrong] {
                label for=(self.name) { (self.label) @if !self.is_required { span .small { " (optional)" } } }
                input #(self.name) name=(self.name) value=(value) required[self.is_required] autocomplete="off"
                    spellcheck="false" inputmode=[self.is_figure.then_some("decimal")]
                    aria-invalid=[is_wrong.then_some("true")]
                    aria-describedby=[has_help.then_some(help.as_str())];
                @if has_help { p .help id=(help) { (self.help) } }
            }
        }
    }
}

/// What was entered, as fields of the next step.
pub(crate) fn carried(visit: &Visit, names: &[&str]) -> Markup {
    html! {
        @for name in names {
            @if let Some(value) = visit.field(name) { input type="hidden" name=(name) value=(value); }
        }
    }
}
