//! A failure of a migration before anything is sent: what failed and where, and what to do.

/// A failure with its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What failed, with file, line and column where there are any.
    pub what: String,
    /// What to do, if anything helps.
    pub hint: Option<String>,
}

impl Fault {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
