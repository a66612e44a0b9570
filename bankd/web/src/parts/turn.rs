//! Pages of the lists of a page that has several: each list has a cursor of its own in the address.

use crate::target::Target;
use crate::visit::Visit;

/// A route with the cursor that the address has for a list, and with the number of its rows.
pub(crate) fn asked(visit: &Visit, target: Target, list: &str, most: &str) -> Target {
    let cursor = visit.parameter(&cursor(list));
    target.with("limit", most).maybe("after", cursor)
}

/// A page with the following rows of a list.
pub(crate) fn next(own: Target, list: &str, next: Option<&str>) -> Option<Target> {
    next.map(|next| own.with(&cursor(list), next))
}

fn cursor(list: &str) -> String {
    format!("{list}-after")
}
