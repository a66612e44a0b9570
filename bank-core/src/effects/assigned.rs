//! Finished usage that got its project after all.

use super::Charged;
use crate::amount::Amount;
use crate::command::Identity;
use crate::ids::{AllocationId, InstanceId};
use crate::refusal::Refusal;

/// The change of a finished use that gets its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedUse {
    /// Which one.
    pub identity: Identity,
    /// The project that it is for from now on.
    pub project: String,
    /// The new user; none if unchanged.
    pub user: Option<String>,
    /// The new principal investigator; none if unchanged.
    pub pi: Option<String>,
    /// Its price, if it was charged.
    pub amount: Option<Amount>,
    /// The allocation with its shadow total, if it came with a chunk.
    pub on: Option<AllocationId>,
}

/// The finished use of an instance after its assignment was undone, or done again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnedUse {
    /// Which instance was charged for it.
    pub instance: InstanceId,
    /// The project that it is for now.
    pub project: String,
    /// The user that it is for now.
    pub user: String,
    /// Its price now.
    pub amount: Amount,
    /// Whether it waits for a project.
    pub waits: bool,
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
    /// The returned amount, from `#unbilled` or in shadow figures.
    pub was: Amount,
    /// The new price, in shadow figures too.
    pub amount: Amount,
}
