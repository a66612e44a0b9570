//! A failure of a migration before anything is sent: what failed and where, and what to do.

/// A failure with its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What failed: file or table, line or row, and column, as far as there are any.
    pub what: String,
    /// The remedy.
    pub hint: String,
}

impl Fault {
    /// A failure. None is without a remedy.
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// With another remedy.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

/// The failure about a table that is too large.
pub(crate) fn too_large(name: &str) -> Fault {
    Fault::new(
        format!("{name}: larger than 1 GiB"),
        "export fewer finished jobs, or move without them: --no-history",
    )
}
