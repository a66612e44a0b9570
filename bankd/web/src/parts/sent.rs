//! What a form comes to: the page that is shown after it, or the form again with what was typed.

use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use super::form::{self, Field, key, keyed, token};
use crate::failed::Failed;
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The longest name in a message.
const NAME_MAX: usize = 80;

/// The key for the form of a page: a refused request used its key up.
pub(crate) fn next_key(visit: &Visit, failed: Option<&Failed>) -> String {
    match failed {
        None => key(visit),
        Some(_) => uuid::Uuid::new_v4().to_string(),
    }
}

/// To a page, with a word for its message.
pub(crate) fn to(page: &str, done: &str) -> Response {
    let target = Target::page(&[page]).with("done", done);
    Redirect::to(target.as_str()).into_response()
}

/// The same with the name that the message is about.
pub(crate) fn to_about(page: &Target, done: &str, of: &str) -> Response {
    let target = page.clone().with("done", done).with("of", of);
    Redirect::to(target.as_str()).into_response()
}

/// What was done, and the name that it is about. A text that is no name could be anything that somebody wrote into a
/// link.
pub(crate) fn about(visit: &Visit) -> Option<(&str, &str)> {
    let is_name = |of: &&str| of.len() <= NAME_MAX && !of.contains(char::is_whitespace);
    visit
        .parameter("done")
        .zip(visit.parameter("of").filter(is_name))
}

/// The message where no name can be written.
pub(crate) fn unnamed(visit: &Visit) -> Markup {
    let is_done = visit.parameter("done").is_some() && about(visit).is_none();
    html! { @if is_done { (band(&html! { "Done." })) } }
}

/// The message about what was done. The address is not trusted: a page writes what it finds in the bank.
pub(crate) fn band(text: &Markup) -> Markup {
    html! { div .message.good role="status" { p { (text) } } }
}

/// The page of the form again, with the status of the refusal.
pub(crate) fn again(page: Shown, failed: Failed) -> Shown {
    let mut page = page?;
    *page.status_mut() = failed.into_response().status();
    Ok(page)
}

/// A page with the status of the refusal that it shows.
pub(crate) fn refused(mut page: Response, failed: Option<&Failed>) -> Response {
    if let Some(failed) = failed {
        *page.status_mut() = failed.status();
    }
    page
}

/// A form below a list, as it was entered if it was refused. Links lead to its anchor.
pub(crate) fn form(
    visit: &Visit,
    (anchor, title): (&str, &str),
    action: &str,
    fields: &[Field<'_>],
    failed: Option<&Failed>,
    word: &str,
) -> Markup {
    html! {
        section .change {
            h2 #(anchor) { (title) }
            form .entry method="post" action=(action) {
                (token(visit)) (keyed(&next_key(visit, failed)))
                (form::fields(visit, fields, failed))
                button type="submit" { (word) }
            }
        }
    }
}

/// Whether a person has confirmed.
pub(crate) fn is_confirmed(visit: &Visit) -> bool {
    visit.field("step") == Some("confirm")
}

/// Asks before something is taken away. `fields` are sent again with the confirmation.
pub(crate) fn confirm(
    visit: &Visit,
    question: &str,
    word: &str,
    fields: &[&str],
    back: &Target,
) -> Response {
    let content = html! {
        p { (question) }
        form .entry method="post" action=(visit.path) {
            (token(visit)) (keyed(&key(visit)))
            (carried(visit, fields))
            p .actions {
                button type="submit" name="step" value="confirm" { (word) } " "
                a .button href=(back) { "Cancel" }
            }
        }
    };
    visit.page("Are you sure?", &[], &content)
}

/// What was entered, as fields of the next step.
fn carried(visit: &Visit, names: &[&str]) -> Markup {
    html! {
        @for name in names {
            @if let Some(value) = visit.field(name) { input type="hidden" name=(name) value=(value); }
        }
    }
}

/// A button of a row, with the values that name the row.
pub(crate) fn button(visit: &Visit, action: &str, word: &str, fields: &[(&str, &str)]) -> Markup {
    html! {
        form method="post" action=(action) {
            (token(visit)) (keyed(&uuid::Uuid::new_v4().to_string()))
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            button .plain type="submit" { (word) }
        }
    }
}

/// The message about what was done. Only words of ours: the address is not trusted.
pub(crate) fn done(visit: &Visit, words: &[(&str, &str)]) -> Markup {
    let word = visit.parameter("done").unwrap_or_default();
    let found = words.iter().find(|(own, _)| *own == word);
    html! {
        @if let Some((_, text)) = found { div .message.good role="status" { p { (text) } } }
    }
}
