//! The language of queries (ledger.md 6): a text, or the parts that a client of Gold sends, as objects, a condition and
//! options. What the names mean is decided by whoever answers.

mod condition;
mod words;

pub use condition::{Comparison, Condition, Op, Term, Text, of_terms};
pub use words::{OBJECTS_MAX, Setting, Shown, TEXT_MAX, Written, read, shown};

/// Most conditions and options.
pub const TERMS_MAX: usize = 64;
/// Parentheses that stand in each other.
pub const DEPTH_MAX: usize = 16;

/// What is wrong with a query, in words for whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What and where.
    pub what: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// Nothing is wrong with it, but it is not for whoever asks.
    pub denied: bool,
}

impl Mistake {
    /// A mistake without a hint.
    pub fn new(what: impl Into<String>) -> Mistake {
        Mistake {
            what: what.into(),
            hint: None,
            denied: false,
        }
    }

    /// The same with what to do instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Mistake {
        self.hint = Some(hint.into());
        self
    }
}
