//! The period picker: start, exclusive end, and zone, all in the address.

use bank_api::text::format_rfc3339;
use maud::{Markup, html};

use super::turn;
use crate::visit::Visit;

/// Its parameters.
pub(crate) const FIELDS: [&str; 4] = ["from", "to", "zone", "at"];

/// The picker of a page with a period. Other parameters of the address are kept.
pub(crate) fn picker(visit: &Visit) -> Markup {
    shown(visit, &["from", "to", "zone"], None)
}

/// A choice beside the period: a parameter of the address, its words with their labels, and the one in force.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<'a> {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) words: &'a [(&'static str, &'static str)],
    pub(crate) chosen: &'a str,
}

/// The picker of a page with a period and choices.
pub(crate) fn with_choices(visit: &Visit, choices: &[Choice<'_>]) -> Markup {
    let names = ["from", "to", "zone"];
    let is_own = |name: &str| {
        names.contains(&name) || turn::is_cursor(name) || choices.iter().any(|own| own.name == name)
    };
    let kept = visit.query.iter().filter(|(name, _)| !is_own(name));
    html! {
        form .period method="get" action=(visit.path) {
            @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
            (inputs(visit, &names, None))
            @for choice in choices {
                label {
                    span { (choice.label) }
                    select name=(choice.name) {
                        @for (word, label) in choice.words {
                            option value=(word) selected[*word == choice.chosen] { (label) }
                        }
                    }
                }
            }
            button type="submit" { "Show" }
        }
    }
}

/// The picker of a page that shows the state at an instant. It is folded up while the page shows the present.
pub(crate) fn instant(visit: &Visit) -> Markup {
    let names = ["at", "zone"];
    let is_open = names.iter().any(|name| visit.parameter(name).is_some());
    html! {
        details .when open[is_open] {
            summary { "Another time or zone" }
            (shown(visit, &names, None))
        }
    }
}

/// The picker of a page with a parameter that cannot be read.
pub(crate) fn marked(visit: &Visit, wrong: &str) -> Markup {
    if wrong == "at" || visit.parameter("at").is_some() {
        return shown(visit, &["at", "zone"], Some(wrong));
    }
    shown(visit, &["from", "to", "zone"], Some(wrong))
}

/// A period in words: one form for all pages. Without both ends it is all time, without an end it ends at the moment
/// of the page.
pub(crate) fn words(visit: &Visit, from: Option<&str>, to: Option<&str>) -> String {
    let zone = visit.zone();
    // A moment of the ledger has parts of a second, which nobody enters.
    let shown = |text: &str| {
        let entered = zone.entered(text);
        if entered == text {
            zone.exact(text)
        } else {
            entered
        }
    };
    let from = from.map(shown);
    let has_end = to.is_some();
    let to = to.map_or_else(|| zone.time(&format_rfc3339(visit.present())), shown);
    match from {
        None if !has_end => "of all time".to_owned(),
        None => format!("from the beginning to {to} (exclusive)"),
        Some(from) => format!("from {from} to {to} (exclusive)"),
    }
}

fn shown(visit: &Visit, names: &[&str], wrong: Option<&str>) -> Markup {
    let kept = visit.query.iter();
    let kept = kept.filter(|(name, _)| !names.contains(&name.as_str()) && !turn::is_cursor(name));
    html! {
        form .period method="get" action=(visit.path) {
            @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
            (inputs(visit, names, wrong))
            button type="submit" { "Show" }
        }
    }
}

/// The fields of a form that has others too.
pub(crate) fn inputs(visit: &Visit, names: &[&str], wrong: Option<&str>) -> Markup {
    html! {
        @for name in names {
            @let is_wrong = wrong == Some(*name);
            label .wrong[is_wrong] {
                span { (label(name)) }
                input name=(name) value=(entered(visit, name))
                    placeholder=(placeholder(name)) autocomplete="off" spellcheck="false"
                    aria-invalid=[is_wrong.then_some("true")];
            }
        }
    }
}

/// What is in the address. A time that a link of a picture wrote is shown as people enter it in the zone of the page.
fn entered(visit: &Visit, name: &str) -> String {
    let text = visit.parameter(name).unwrap_or_default();
    visit.zone().entered(text)
}

fn label(name: &str) -> &'static str {
    match name {
        "from" => "From",
        "to" => "To (exclusive)",
        "at" => "State at",
        _ => "Zone",
    }
}

fn placeholder(name: &str) -> &'static str {
    match name {
        "from" => "e.g. -30d",
        "to" | "at" => "now",
        _ => "UTC",
    }
}
