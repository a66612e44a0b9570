//! Finished usage that gets its project after all.

use crate::command::Identity;
use crate::time::Timestamp;

/// Assigns finished usage without a project to a project. The charge on `#unbilled` goes back, and the
/// project is charged at the rates of the time of the use. In a mode that moves no money, the shadow figures
/// of the project move. A repeat changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assign {
    /// The use; its reported facts are not needed.
    pub identity: Identity,
    /// The project, or an account of one project.
    pub project: String,
    /// The user; unchanged if none is given.
    pub user: Option<String>,
    /// The principal investigator; unchanged if none is given.
    pub pi: Option<String>,
    /// When the use ended, for use that no instance is of.
    pub ended: Option<Timestamp>,
    /// Why, such as `mapping=3`; kept in the journal.
    pub note: String,
}
