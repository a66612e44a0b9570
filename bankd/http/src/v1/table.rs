//! The table of the JSON API: every route there is, one file for each kind of thing. The form of a
//! row is in [`route`](crate::route).
//!
//! A new route goes into the file of its kind, or into a new one that [`rows`] names, in the order of
//! nouns: all of them, one, what is done with it.

mod access;
mod attention;
mod books;
mod ledger;
mod partner;
mod proof;
mod record;
mod registry;
mod reports;
mod settings;
mod usage;
mod work;

use bank_api::v1::{Proposal, ProposeQuery, Written};
use utoipa::ToSchema;

use crate::route::Route;

/// Every route of the JSON API.
pub fn rows() -> Vec<Route> {
    [
        registry::rows(),
        ledger::rows(),
        books::rows(),
        work::rows(),
        usage::rows(),
        settings::rows(),
        record::rows(),
        reports::rows(),
        attention::rows(),
        access::rows(),
        partner::rows(),
        proof::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Route {
    /// The parameters of the query, whose values can be wrong.
    fn asks<T: ToSchema>(self) -> Route {
        self.query::<T>().refuses(&[QUERY])
    }

    /// The body of an operation that may need the approval of a second person, who is asked with `propose`.
    fn offers<T: ToSchema>(self) -> Route {
        let route = self.query::<ProposeQuery>().body::<T>();
        let route = route.gives::<Written<Proposal>>(202, "It waits for approval.");
        route.refuses(&[APPROVAL])
    }
}

/// What is wrong with parameters of a query.
const QUERY: &[&str] = &["bad_value"];
/// Why an operation needs another person.
const APPROVAL: &[&str] = &["approval_needed", "over_limit"];
/// What is wrong with the window of an allocation.
const WINDOW: &[&str] = &["allocation_overlap", "bad_window", "window_in_past"];
/// Why an account cannot give money.
const SHORT: &[&str] = &["account_blocked", "insufficient_funds"];
/// What is wrong with members of a body.
const VALUES: &[&str] = &["bad_name", "bad_value", "missing_field"];
/// What is wrong with amounts.
const AMOUNTS: &[&str] = &[
    "amount_overflow",
    "amount_too_large",
    "bad_amount",
    "bad_amount_syntax",
    "too_many_decimals",
];
/// Why a new thing cannot have its name.
const NEW: &[&str] = &["already_exists", "was_removed"];
/// Why a thing cannot go.
const HELD: &[&str] = &["balance_not_zero", "in_use", "live_liens"];
/// A name in a body or a query that nothing has, and what several have.
const NAMED: &[&str] = &["ambiguous", "not_found"];
/// Why somebody cannot spend.
const SPEND: &[&str] = &[
    "account_blocked",
    "insufficient_funds",
    "machine_inactive",
    "machine_unknown",
    "no_default_project",
    "no_usable_account",
    "not_a_member",
    "project_inactive",
    "project_unknown",
    "quote_invalid",
    "unknown_attribute",
    "user_inactive",
    "user_unknown",
];
