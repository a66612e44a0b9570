//! Messages of refusals: what failed, why, and what a person can do.

use bank_core::refusal::Refusal;
use maud::{Markup, html};

use super::hint;
use super::sentence::capital;
use crate::failed::Failed;

/// A text of the API as a sentence: with a capital, and with a full stop.
pub(crate) fn said(text: &str) -> String {
    // A word with digits or signs in it is a name of something.
    let first = text.split([' ', ':']).next().unwrap_or_default();
    let is_word = first.bytes().all(|byte| byte.is_ascii_lowercase());
    let text = ended(text);
    if is_word { capital(&text) } else { text }
}

/// A text with a full stop at its end.
fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', '!', '?']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// The message of a refusal.
pub(crate) fn message(failed: &Failed) -> Markup {
    let problem = failed.problem();
    html! {
        div .message.bad role="alert" {
            @if problem.code == "key_reused" {
                p { strong { "This form was sent before, with other entries." } " The first time counts. Nothing was done now." }
                p { "Check the present state. If these entries are still needed, send the form below, which has them, or a
                    new one." }
            } @else {
                p { (hint::words(&said(&problem.message()))) }
            }
            (remedy(failed))
        }
    }
}

/// The id of the message of a refused form, which describes the wrong field.
pub(crate) const REFUSAL: &str = "refusal";

/// The message of a refusal that is about one field of a form: its label leads to the field.
pub(crate) fn message_at(failed: &Failed, name: &str, label: &str) -> Markup {
    let problem = failed.problem();
    if problem.code == "key_reused" {
        return message(failed);
    }
    let detail = problem.detail.as_ref().unwrap_or(&problem.title);
    let own = [name, &label.to_lowercase()];
    let found = own
        .iter()
        .find_map(|own| detail.strip_prefix(own)?.strip_prefix(": "));
    let detail = found.unwrap_or(detail);
    let is_missing = detail
        .strip_suffix(" is missing")
        .is_some_and(|own| !own.contains(' '));
    let detail = if is_missing { "required" } else { detail };
    // Its fields have other names on the pages.
    let detail = if detail.strip_prefix("expected ") == Some(Refusal::ALONE) {
        "leave Usable from and Usable until empty if you enter an allocation"
    } else {
        detail
    };
    html! {
        div .message.bad role="alert" {
            p #(REFUSAL) { a href={ "#" (name) } { (label) } ": " (hint::words(&ended(detail))) }
            (remedy(failed))
        }
    }
}

/// What a person can do after a refusal, and its place in the log.
fn remedy(failed: &Failed) -> Markup {
    let problem = failed.problem();
    let hint = problem.hint.as_deref();
    html! {
        @if let Some(hint) = hint.and_then(|hint| hint::show(&problem.code, hint)) { p .hint { "Hint: " (hint) "." } }
        @if let Some(id) = &problem.request_id { p .small { "request " (id) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sentences() {
        for (text, expected) in [
            ("there is no such page", "There is no such page."),
            ("refused: no money.", "Refused: no money."),
            ("hpc-1 may ask 5 times", "hpc-1 may ask 5 times."),
            ("\"x\" is not a time", "\"x\" is not a time."),
            ("", ""),
        ] {
            assert_eq!(said(text), expected);
        }
    }
}
