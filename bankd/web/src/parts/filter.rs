//! Filters of a list, all in the address.

use maud::{Markup, html};

use super::period;
use crate::target::Target;
use crate::visit::Visit;

/// The form: a field for each name, then the fields of the period and `more` of the page.
pub(crate) fn form(
    visit: &Visit,
    filters: &[(&str, &str)],
    times: &[&str],
    more: &Markup,
) -> Markup {
    html! {
        form .period method="get" action=(visit.path) {
            @for (name, word) in filters { (field(visit, name, word)) }
            (period::inputs(visit, times, None))
            (more)
            button type="submit" { "Show" }
        }
    }
}

/// One field. The style sheet leaves it out on paper while its placeholder is shown.
pub(crate) fn field(visit: &Visit, name: &str, word: &str) -> Markup {
    let value = visit.parameter(name).unwrap_or_default();
    html! {
        label { span { (word) } input name=(name) value=(value) placeholder=" " autocomplete="off" spellcheck="false"; }
    }
}

/// A target with the filters of the address.
pub(crate) fn kept(visit: &Visit, filters: &[(&str, &str)], target: Target) -> Target {
    let names = filters.iter().map(|(name, _)| *name);
    names.fold(target, |target, name| {
        target.maybe(name, visit.parameter(name))
    })
}
