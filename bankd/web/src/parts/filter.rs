//! Filters of a list, all in the address.

use maud::{Markup, html};

use super::period;
use crate::target::Target;
use crate::visit::Visit;

/// The form: a field for each name, then the fields of the period.
pub(crate) fn form(visit: &Visit, filters: &[(&str, &str)], times: &[&str]) -> Markup {
    html! {
        form .period method="get" action=(visit.path) {
            @for (name, word) in filters {
                label { span { (word) } input name=(name) value=(visit.parameter(name).unwrap_or_default())
                    autocomplete="off" spellcheck="false"; }
            }
            (period::inputs(visit, times, None))
            button type="submit" { "Show" }
        }
    }
}

/// A target with the filters of the address.
pub(crate) fn kept(visit: &Visit, filters: &[(&str, &str)], target: Target) -> Target {
    let names = filters.iter().map(|(name, _)| *name);
    names.fold(target, |target, name| {
        target.maybe(name, visit.parameter(name))
    })
}
