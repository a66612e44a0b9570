//! Messages of refusals: what failed, why, and what a person can do.

use maud::{Markup, html};

use super::hint;
use crate::failed::Failed;

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
                p { (hint::words(&problem.message())) }
            }
            (remedy(failed))
        }
    }
}

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
    html! {
        div .message.bad role="alert" {
            p { a href={ "#" (name) } { (label) } ": " (hint::words(detail)) }
            (remedy(failed))
        }
    }
}

/// What a person can do after a refusal, and its place in the log.
fn remedy(failed: &Failed) -> Markup {
    let problem = failed.problem();
    let hint = problem.hint.as_deref();
    html! {
        @if let Some(hint) = hint.and_then(|hint| hint::show(&problem.code, hint)) { p .hint { "hint: " (hint) } }
        @if let Some(id) = &problem.request_id { p .small { "request " (id) } }
    }
}
