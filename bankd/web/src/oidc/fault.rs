//! Failed sign-ins.

/// Why nobody is signed in.
#[derive(Debug)]
pub(super) enum Fault {
    /// The provider does not answer, or not as a provider does.
    Away(String),
    /// The answer does not count.
    Refused(String),
}
