//! What is said when something fails, and with which exit code.
//!
//! One line `bank: what failed: why`, then `hint:` with what helps, then the request id (ux.md
//! 2.2). Exit codes are those of decisions.md 24, taken from the table of `bank-api`.

use std::fmt;

use bank_api::{error, exit::bank as exit, text::own_words};
use bank_picture::{TooLarge, printable::printable};

/// What helps where a page or a picture would be too large.
const TO_DRAW_LESS: &str = "use --top N, longer intervals, a shorter period or fewer words of --by; --csv prints every row";

/// A failure on its way to standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Exit code of the program.
    pub(crate) exit: u8,
    /// The line after `bank: `.
    pub(crate) what: String,
    /// What would help.
    pub(crate) hint: Option<String>,
    /// For whoever reads the daemon's log.
    pub(crate) request_id: Option<String>,
    /// What goes to standard output before: a price that could be told although the money is short.
    pub(crate) before: Option<String>,
    /// The daemon's problem document, where it sent one.
    pub(crate) problem: Option<Box<error::Problem>>,
}

impl Failure {
    /// A failure with an exit code of the caller's choice.
    pub(crate) fn of(exit: u8, what: impl Into<String>) -> Self {
        Self {
            exit,
            what: what.into(),
            hint: None,
            request_id: None,
            before: None,
            problem: None,
        }
    }

    /// The command line or a settings file is wrong: exit 2.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::of(exit::USAGE, what)
    }

    /// What the parser of the command line says, on one line with what would help; none for help
    /// and for what answers with it.
    pub(crate) fn of_parser(error: &clap::Error) -> Option<Self> {
        use clap::error::ErrorKind as Kind;
        let is_help = matches!(
            error.kind(),
            Kind::DisplayHelp
                | Kind::DisplayVersion
                | Kind::DisplayHelpOnMissingArgumentOrSubcommand
        );
        if is_help {
            return None;
        }
        let text = error.render().to_string();
        let lines = || text.lines().map(str::trim);
        let first: Vec<&str> = lines().take_while(|line| !line.is_empty()).collect();
        let what = own_words(&first.join(" "));
        let hint = lines()
            .filter(|line| !line.starts_with("tip: to pass "))
            .find_map(|line| {
                line.strip_prefix("tip: ")
                    .map(str::to_owned)
                    .or_else(|| Some(format!("usage: {}", line.strip_prefix("Usage: ")?)))
            });
        let failure = Self::usage(printable(what.strip_prefix("error: ").unwrap_or(&what)));
        Some(failure.hint(hint.unwrap_or_else(|| "--help lists the options".to_owned())))
    }

    /// The daemon is not there, is busy, or somebody else answered: exit 5.
    pub(crate) fn unreachable(what: impl Into<String>) -> Self {
        Self::of(exit::UNAVAILABLE, what)
    }

    /// This side cannot prove who it is: exit 6.
    pub(crate) fn access(what: impl Into<String>) -> Self {
        Self::of(exit::DENIED, what)
    }

    /// A bug of this program or of the daemon: exit 70.
    pub(crate) fn internal(what: impl Into<String>) -> Self {
        Self::of(exit::INTERNAL, what)
    }

    /// With a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What the daemon's problem document says.
    pub(crate) fn problem(problem: error::Problem) -> Self {
        let (exit, what) = (problem.row().bank, problem.message());
        Self {
            hint: problem.hint.clone(),
            request_id: problem.request_id.clone(),
            problem: Some(Box::new(problem)),
            ..Self::of(exit, what)
        }
    }

    /// True where the daemon refused with this code.
    pub(crate) fn is(&self, code: &str) -> bool {
        self.problem
            .as_ref()
            .is_some_and(|problem| problem.code == code)
    }
}

impl From<TooLarge> for Failure {
    fn from(error: TooLarge) -> Self {
        Self::usage(error.to_string()).hint(TO_DRAW_LESS)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "bank: {}", printable(&self.what))?;
        if let Some(hint) = &self.hint {
            writeln!(f, "hint: {}", printable(hint))?;
        }
        if let Some(id) = &self.request_id {
            writeln!(f, "request {id}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_that_is_too_large_is_a_usage_failure_with_what_helps() {
        let (names, spans) = (1001, 100);
        let failure = Failure::from(TooLarge::Chart { names, spans });
        assert_eq!(failure.exit, 2);
        assert!(
            failure
                .what
                .starts_with("too many values for a picture: 1,001 names")
        );
        let page = Failure::from(TooLarge::Page { bytes: 17 << 20 });
        assert_eq!(page.exit, 2);
        assert!(
            page.what
                .starts_with("the page is too large: it would have")
        );
        for hint in [failure.hint, page.hint] {
            let hint = hint.unwrap();
            assert!(hint.contains("--top N") && hint.contains("--csv"), "{hint}");
        }
    }
}
