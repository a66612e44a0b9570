//! Days that the money of an account lasts: one rule for every page.

use maud::{Markup, html};

use super::amount::count;

/// An account that lasts for fewer days is marked.
const SOON: i64 = 30;

/// The cell. Without an end in sight, and without money that could be spent, it is a dash.
pub(crate) fn show(days: Option<i64>) -> Markup {
    html! {
        @match days {
            Some(days) => span .flag[days < SOON] { (count(days)) }
            None => span .none { "–" }
        }
    }
}

/// What the column means at present.
pub(crate) fn explained() -> Markup {
    html! {
        strong { "Days left: " }
        "until the money is used up, if it is used as in the last 30 days, or until the first allocation ends
         with money left, whichever comes first. A dash: no end is in sight, or there is nothing to spend."
    }
}
