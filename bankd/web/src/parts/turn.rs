//! Pages of lists. A page with several lists has a cursor for each in its address.

use crate::target::Target;
use crate::visit::Visit;

/// The name of the only list of a page: its cursor is `after`.
pub(crate) const ONLY: &str = "";

/// A route with the cursor that the address has for a list, and with the number of its rows. With a route below
/// `/data` it has the rows that the page shows.
pub(crate) fn asked(visit: &Visit, target: Target, list: &str, most: &str) -> Target {
    let cursor = visit.parameter(&cursor(list));
    target.with("limit", most).maybe("after", cursor)
}

/// A page with the following rows of a list.
pub(crate) fn next(own: Target, list: &str, next: Option<&str>) -> Option<Target> {
    next.map(|next| own.with(&cursor(list), next))
}

/// Whether a parameter of an address is a place in a list.
pub(crate) fn is_cursor(name: &str) -> bool {
    name == "after" || name == "before" || name.ends_with("-after")
}

/// Whether data begin behind the first row of a list.
pub(crate) fn is_later(data: &Target) -> bool {
    let names = data.as_str().split(['?', '&']).skip(1);
    let mut names = names.filter_map(|pair| pair.split('=').next());
    names.any(is_cursor)
}

fn cursor(list: &str) -> String {
    match list {
        ONLY => "after".to_owned(),
        list => format!("{list}-after"),
    }
}
