//! How a command is executed: its idempotency key, and whether it is a dry run.

use bank_api::v1::{ProposeQuery, WriteQuery};

use crate::path::query;

/// The idempotency key of a command, and whether the command is a dry run. Text converts to a key.
///
/// ```
/// use bank_client::{Write, new_key};
///
/// # fn main() -> Result<(), bank_client::Error> {
/// let write = Write::new(new_key()?).dry_run();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Write {
    /// The bank executes commands with the same key and the same content once.
    pub key: String,
    /// The command is checked and answered, but nothing is written.
    pub dry_run: bool,
}

impl Write {
    /// A command that is executed.
    pub fn new(key: impl Into<String>) -> Self {
        let (key, dry_run) = (key.into(), false);
        Self { key, dry_run }
    }

    /// The same as a dry run.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// A path with the query of this command.
    pub(crate) fn target(&self, path: String) -> String {
        let dry_run = self.dry_run;
        path + &query(&WriteQuery { dry_run })
    }

    /// The same of a proposal.
    pub(crate) fn proposed(&self, path: String) -> String {
        let (dry_run, propose) = (self.dry_run, true);
        path + &query(&ProposeQuery { dry_run, propose })
    }
}

impl<T: Into<String>> From<T> for Write {
    fn from(key: T) -> Self {
        Self::new(key)
    }
}
