//! Parts of forms that change something.
//!
//! A form has a token of the session and an idempotency key. The key is made with the form and stays the same in
//! its preview and its confirmation, so a form that is sent twice is done once.

use maud::{Markup, html};
use serde_json::Value;

mod placed;

pub(crate) use placed::is_about;
use placed::placed;

use super::amount::grouped;
use super::sentence::capital;
use crate::failed::Failed;
use crate::parts::message::{REFUSAL, message, message_at};
use crate::visit::{Fields, Visit};
use crate::zone::Zone;

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
    /// An amount of the bank: its label has the unit.
    Amount,
    /// An amount with a sign, or a word in its place such as `none`: a telephone shows all keys.
    SignOrWord,
    /// A whole number.
    Whole,
    /// A time in the zone of the page.
    Time,
    /// The same for an end that is later than now.
    End,
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
    /// When one that is not required is needed; `optional` if never.
    when: &'a str,
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
            when: "",
            kind,
        }
    }

    /// A field that may be empty.
    pub(crate) const fn optional(name: &'a str, label: &'a str, kind: Kind, help: &'a str) -> Self {
        Self {
            is_required: false,
            when: "optional",
            ..Self::needed(name, label, kind, help)
        }
    }

    /// A field that is needed sometimes: with the words for when.
    pub(crate) const fn either(
        name: &'a str,
        label: &'a str,
        kind: Kind,
        when: &'a str,
        help: &'a str,
    ) -> Self {
        Self {
            when,
            ..Self::optional(name, label, kind, help)
        }
    }

    /// The label; that of an amount has the unit.
    pub(crate) fn label(&self, unit: &str) -> String {
        if self.is_amount() {
            format!("{} ({unit})", self.label)
        } else {
            self.label.to_owned()
        }
    }

    /// What counts if nothing is entered: the end of its help.
    pub(crate) fn if_empty(&self) -> Option<&'a str> {
        let (_, text) = self.help.split_once("Empty: ")?;
        Some(text.trim_end_matches('.'))
    }

    fn is_amount(&self) -> bool {
        matches!(self.kind, Kind::Amount | Kind::SignOrWord)
    }

    /// An entry as a page shows it. A choice has its label, a time is in the zone of the page.
    pub(crate) fn shown(&self, zone: Zone, value: &Value) -> String {
        let text = written(value);
        match self.kind {
            Kind::Time | Kind::End => zone.exact(&text),
            Kind::Amount | Kind::SignOrWord => grouped(&text),
            Kind::Choice(words) => {
                let found = words.iter().find(|(word, _)| *word == text);
                found.map_or(text, |(_, label)| (*label).to_owned())
            }
            Kind::Words | Kind::Figure | Kind::Whole => text,
        }
    }

    /// With what was typed before, and marked if that is what is wrong.
    pub(crate) fn show(&self, value: &str, unit: &str, failed: Option<&Failed>) -> Markup {
        let wrong = failed.and_then(|failed| failed.problem().field.as_deref());
        let is_wrong = wrong == Some(self.name);
        let help = format!("{}-help", self.name);
        let has_help = !self.help.is_empty();
        let described = match (is_wrong, has_help) {
            (true, true) => Some(format!("{REFUSAL} {help}")),
            (true, false) => Some(REFUSAL.to_owned()),
            (false, true) => Some(help.clone()),
            (false, false) => None,
        };
        let invalid = is_wrong.then_some("true");
        let keyboard = match self.kind {
            Kind::Figure | Kind::Amount => Some("decimal"),
            Kind::Whole => Some("numeric"),
            _ => None,
        };
        html! {
            div .field.wrong[is_wrong] {
                label for=(self.name) { (self.label(unit)) @if !self.when.is_empty() { span .small { " (" (self.when) ")" } } }
                @if let Kind::Choice(words) = self.kind {
                    select #(self.name) name=(self.name) required[self.is_required] aria-invalid=[invalid] aria-describedby=[described.as_deref()] {
                        @for (word, label) in words {
                            option value=(word) selected[*word == value] { (label) }
                        }
                    }
                } @else {
                    input #(self.name) name=(self.name) value=(value) required[self.is_required] autocomplete="off"
                        spellcheck="false" inputmode=[keyboard] aria-invalid=[invalid] aria-describedby=[described.as_deref()];
                }
                @if has_help { p .help id=(help) { (self.help) } }
            }
        }
    }
}

/// The fields of a form, with what was typed or is in the address, and the one marked that a refusal is about.
pub(crate) fn fields(visit: &Visit, fields: &[Field<'_>], failed: Option<&Failed>) -> Markup {
    filled(visit, fields, |name| entered(visit, name), failed)
}

/// What was typed, or is in the address.
fn entered<'v>(visit: &'v Visit, name: &str) -> &'v str {
    let typed = visit.field(name).or_else(|| visit.parameter(name));
    typed.unwrap_or_default()
}

/// The message of a refused form: it names the field and leads to it.
pub(crate) fn refusal(visit: &Visit, fields: &[Field<'_>], failed: &Failed) -> Markup {
    let failed = placed(fields, |name| entered(visit, name), failed);
    let wrong = failed.problem().field.as_deref();
    let found = fields.iter().find(|field| Some(field.name) == wrong);
    match found {
        Some(field) => message_at(&failed, field.name, field.label),
        None => message(&failed),
    }
}

/// The same of a form about something that nobody enters: a refusal that is about no field leads to what the form
/// is about.
pub(crate) fn refusal_of(
    visit: &Visit,
    (id, title): (&str, &str),
    fields: &[Field<'_>],
    failed: &Failed,
) -> Markup {
    let own = placed(fields, |name| entered(visit, name), failed);
    if own.problem().field.is_some() {
        return refusal(visit, fields, failed);
    }
    message_at(failed, id, title)
}

/// The members of a request with the labels of the form that sends them. Members without a field have their name.
pub(crate) fn facts(
    visit: &Visit,
    fields: &[Field<'_>],
    body: &serde_json::Map<String, Value>,
) -> Markup {
    let unit = visit.unit();
    let own = fields.iter().filter_map(|field| {
        let value = body.get(field.name).filter(|value| !value.is_null())?;
        Some((field.label(&unit), field.shown(visit.zone(), value)))
    });
    let has_field = |name: &str| fields.iter().any(|field| field.name == name);
    let rest = body
        .iter()
        .filter(|(name, value)| !has_field(name) && !is_usual(value));
    let rest = rest.map(|(name, value)| {
        let text = match value {
            Value::Bool(_) => "yes".to_owned(),
            other => visit.zone().exact(&written(other)),
        };
        (capital(&name.replace('_', " ")), text)
    });
    html! { @for (label, text) in own.chain(rest) { dt { (label) } dd { (text) } } }
}

/// A form that arrived too late, as it is shown and sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late<'a> {
    /// What it does.
    pub(crate) title: &'a str,
    pub(crate) fields: &'a [Field<'a>],
    /// The page that it came from.
    pub(crate) page: &'a str,
    pub(crate) unit: &'a str,
    pub(crate) zone: Zone,
    pub(crate) entries: &'a Fields,
}

impl Late<'_> {
    /// What it does and what was entered, to read and to send again.
    pub(crate) fn kept(&self) -> Markup {
        let own = ["form_token", "key", "step"];
        let is_shown = |name: &str, value: &str| !own.contains(&name) && !value.is_empty();
        let entered = self.entries.iter();
        let entered = entered.filter(|(name, value)| is_shown(name, value));
        let entered = entered.map(|(name, value)| {
            let field = self.fields.iter().find(|field| field.name == name);
            match field {
                Some(field) => (
                    field.label(self.unit),
                    field.shown(self.zone, &Value::from(value.as_str())),
                ),
                None => (capital(&name.replace('_', " ")), value.clone()),
            }
        });
        // With several buttons, the step is which of them was used.
        let step = self.entries.iter().find(|(name, _)| name == "step");
        let step = step.map(|(_, step)| step.as_str());
        let step = step.filter(|step| !["", "confirm", "change"].contains(step));
        let sent = self.entries.iter().filter(|(name, _)| name != "form_token");
        html! {
            h2 { (self.title) }
            dl .facts {
                @if let Some(step) = step { dt { "Action" } dd { (capital(step)) } }
                @for (label, value) in entered { dt { (label) } dd { (value) } }
            }
            @for (name, value) in sent { input type="hidden" name=(name) value=(value); }
        }
    }
}

/// Whether a member is as if nobody had entered it.
fn is_usual(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false))
}

/// A value of a request as text.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(written).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// The same with entries from elsewhere.
pub(crate) fn filled<'v>(
    visit: &Visit,
    fields: &[Field<'_>],
    entered: impl Fn(&str) -> &'v str,
    failed: Option<&Failed>,
) -> Markup {
    let placed = failed.map(|failed| placed(fields, &entered, failed));
    let unit = visit.unit();
    let value = |field: &Field<'_>| {
        let text = entered(field.name);
        // A preview carries instants: they are shown as people enter them.
        let is_instant =
            matches!(field.kind, Kind::Time | Kind::End) && visit.field(field.name).is_some();
        let shown = is_instant.then(|| visit.zone().entered(text));
        shown.unwrap_or_else(|| text.to_owned())
    };
    html! { @for field in fields { (field.show(&value(field), &unit, placed.as_ref())) } }
}
