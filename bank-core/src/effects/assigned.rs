//! Finished usage that got its project after all.

use super::Charged;
use crate::amount::Amount;
use crate::command::Identity;
use crate::ids::AllocationId;
use crate::refusal::Refusal;

/// What changes of a finished use that gets its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedUse {
    /// Which one.
    pub identity: Identity,
    /// The project that it is for from now on.
    pub project: String,
    /// Who ran it, where somebody else than before.
    pub user: Option<String>,
    /// What it comes to, where it was charged.
    pub amount: Option<Amount>,
    /// Where that lies in the shadow totals, if it was taken in with a chunk.
    pub on: Option<AllocationId>,
}

/// The answer to an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// The charge; none where nothing waited for a project, and for use that was never charged.
    pub charged: Option<Charged>,
    /// Whether anything changed.
    pub changed: bool,
    /// Why it stays as it is although it waits still: nothing of the project can pay for it.
    pub stays: Option<Refusal>,
    /// What went back, from `#unbilled` or in shadow figures.
    pub was: Amount,
    /// What it comes to now, in shadow figures too.
    pub amount: Amount,
}
