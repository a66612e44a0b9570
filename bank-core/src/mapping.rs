//! What the names of a source mean to the bank: which project pays, and who ran it.

use crate::directory::Directory;
use std::collections::BTreeMap;

/// How a source names whom a use is for; what it does not say is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Naming<'a> {
    /// The collector's name.
    pub source: &'a str,
    /// The machine.
    pub machine: &'a str,
    /// Who ran it.
    pub user: &'a str,
    /// Their group.
    pub group: &'a str,
    /// What selects the project.
    pub account: &'a str,
    /// Class, queue, partition.
    pub queue: &'a str,
    /// Annotations and the like, by the source's names.
    pub attributes: Option<&'a BTreeMap<String, String>>,
}

/// Whom a use is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    /// The project; empty where none is named.
    pub project: String,
    /// The user; empty where none is named.
    pub user: String,
    /// The rule that said so; none where the names are as they came.
    pub rule: Option<i64>,
}

impl Directory {
    /// Whom a use is for: the account names the project, the user is as named.
    pub fn mapped(&self, naming: &Naming<'_>) -> Mapped {
        Mapped {
            project: naming.account.to_owned(),
            user: naming.user.to_owned(),
            rule: None,
        }
    }
}
