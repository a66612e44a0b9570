//! Questions in the query language (ledger.md 6; docs/reference/query.md): read-only, over the views
//! of `catalogue` and no tables, in the view of whoever asks.
//!
//! [`Plan::read`] takes a text apart (`words`), finds what its names mean and of what kind its values
//! are (`plan`, `names`, `columns`), and makes one statement of it in which every value is bound and every name is one of
//! the catalogue's (`compile`); [`Plan::run`] asks it, and sums exactly what is to be summed (`sums`).
//! Nothing that a caller wrote becomes a part of the statement.

mod catalogue;
mod columns;
mod compile;
mod declared;
mod names;
mod plan;
mod sums;
mod values;

#[cfg(test)]
mod tests;

pub use bank_api::query::{Mistake, Op, Setting, TEXT_MAX, Term, Text};
pub use catalogue::{Attribute, Kind, Object};
pub use names::Sum;
pub use plan::{Plan, Question};
pub use sums::{Average, Cell};

use bank_core::ids::{AccountId, RateId};
use bank_core::kind::{Readers, Records};

/// Rows of an answer where the query names no limit.
pub const LIMIT_DEFAULT: usize = 1_000;
/// Most rows of an answer.
pub const LIMIT_MAX: usize = 10_000;
/// Most rows that can be passed over.
pub const OFFSET_MAX: usize = 10_000_000;
/// Most columns of an answer.
pub const COLUMNS_MAX: usize = 64;
/// Most groups that are held at a time.
pub const GROUPS_MAX: usize = 100_000;
/// Longest pattern, in characters, and most stars in one.
pub const PATTERN_MAX: (usize, usize) = (128, 8);

/// What a caller sees of the bank, by names. `None` is: nothing of it is hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// Projects in view.
    pub projects: Option<Vec<String>>,
    /// What work may name in place of a project to be in view: projects, and accounts of one.
    pub payers: Option<Vec<String>>,
    /// The caller as work names them, whose own work is in view too, of these payers.
    pub own: Vec<String>,
    /// What their own work may name in place of a project.
    pub own_payers: Vec<String>,
    /// Accounts in view, by number.
    pub accounts: Option<Vec<AccountId>>,
    /// Users in view.
    pub users: Option<Vec<String>>,
    /// Machines in view.
    pub machines: Option<Vec<String>>,
    /// Rates in view, by number.
    pub rates: Option<Vec<RateId>>,
    /// Whether what collectors recorded is in view.
    pub sources: bool,
    /// The records that the caller may see: those for these readers, and for all others.
    pub readers: Readers,
}

impl Sight {
    /// Whether nothing at all is hidden.
    fn is_unlimited(&self) -> bool {
        self.payers.is_none() && self.machines.is_none() && self.accounts.is_none()
    }
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, such as `Sum(Amount)`.
    pub name: String,
    /// Of what kind its values are.
    pub kind: Kind,
}

/// Rows that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The rows; each has a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// How many rows to pass over for the next ones, if there are any.
    pub next: Option<usize>,
}

/// The views that clients of Gold ask for, under Gold's names (`gold-wire.md` 3.7), and those of kinds that the
/// site added.
pub fn objects_of_gold(records: &Records) -> Vec<&'static Object> {
    let own = catalogue::gold::OBJECTS.iter();
    let named = |object: &&Object| {
        own.clone()
            .all(|o| !o.name.eq_ignore_ascii_case(object.name))
    };
    let site = declared::site(records).into_iter().filter(named);
    own.clone().chain(site).collect()
}

/// Every view by name: those of the ledger, and one for each kind in force.
pub fn objects(records: &Records) -> Vec<&'static Object> {
    let mut all: Vec<&Object> = catalogue::OBJECTS.iter().collect();
    all.extend(declared::objects(records));
    all.sort_by_key(|object| object.name);
    all
}
