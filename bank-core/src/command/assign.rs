//! Finished usage that gets its project after all.

use crate::command::Identity;
use crate::time::Timestamp;

/// Gives finished usage that no project could be found for to a project: what `#unbilled` carries of
/// it goes back, and the project is charged at the rates of its own time. In a mode that moves no
/// money the shadow figures of the project move. The same again changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assign {
    /// Which use; what it says is not asked for.
    pub identity: Identity,
    /// The project, or an account of one project.
    pub project: String,
    /// Who ran it; as it was where none is given.
    pub user: Option<String>,
    /// When the use ended, for use that no instance is of.
    pub ended: Option<Timestamp>,
    /// Why, such as `mapping=3`; kept in the journal.
    pub note: String,
}
