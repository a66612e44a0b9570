//! Errors of calls: refusals of the bank, and calls whose outcome is unknown.

use std::{fmt, time::Duration};

use bank_api::error::Problem;

/// Why a call returned no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bank answered with another status than success.
    Refused(Box<Refused>),
    /// No server answered.
    Unreachable {
        /// The server that was tried last.
        server: String,
        /// Reason of the failure.
        why: String,
        /// The key of a command that was sent, and may have been executed: the same command with this key is
        /// executed at most once.
        key: Option<String>,
    },
    /// An answer without a valid signature: another program listens on the port, or the daemon has another
    /// secret for this key.
    Unverified {
        /// The server that answered.
        server: String,
        /// Reason of the distrust.
        why: String,
    },
    /// The bank answered with success, but this program cannot read the answer.
    Unreadable {
        /// The server that answered.
        server: String,
        /// The first mistake in the answer.
        why: String,
        /// The answer to a command as it came. It may contain a secret that is given once.
        answer: Option<String>,
    },
    /// A setting of the client, or an argument, cannot be used.
    Settings {
        /// The value and the reason.
        what: String,
        /// A remedy.
        hint: Option<String>,
    },
    /// The file of the signing key cannot be used.
    Key(String),
    /// This program cannot do it, such as without random numbers.
    Internal(String),
}

/// How a caller is identified to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// By an API token.
    Token,
    /// By a signature.
    Key,
    /// By the kernel, on a Unix socket.
    Socket,
    /// Not at all.
    None,
}

/// An answer outside of success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The server that answered.
    pub server: String,
    /// HTTP status.
    pub status: u16,
    /// The problem document; `None` if the answer has another form.
    pub problem: Option<Problem>,
    /// The answer as it came, at most 64 KiB of it.
    pub text: String,
    /// Idempotency key of the call.
    pub key: Option<String>,
    /// How the caller was identified.
    pub identity: Identity,
    /// The server's `Retry-After`.
    pub retry_after: Option<Duration>,
}

impl Refused {
    /// True if the same call can succeed later, unchanged: the server was busy, or this client may send again
    /// only after a wait.
    pub fn is_passing(&self) -> bool {
        matches!(self.status, 429 | 502 | 503 | 504)
    }
}

impl Error {
    pub(crate) fn settings(what: impl Into<String>) -> Self {
        let (what, hint) = (what.into(), None);
        Self::Settings { what, hint }
    }

    pub(crate) fn hinted(what: impl Into<String>, hint: &str) -> Self {
        let (what, hint) = (what.into(), Some(hint.to_owned()));
        Self::Settings { what, hint }
    }

    /// The refusal code, a row of `docs/reference/refusals.md`; `None` if the bank sent none.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(refused) => refused
                .problem
                .as_ref()
                .map(|problem| problem.code.as_str()),
            _ => None,
        }
    }

    /// True if the same call, with the same key, can succeed later: no server answered, one answered without a
    /// valid signature, or one was busy.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused(refused) => refused.is_passing(),
            Self::Unreachable { .. } | Self::Unverified { .. } => true,
            _ => false,
        }
    }

    /// The shortest wait before the same call is sent again, where the server requires one.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused(refused) => refused.retry_after,
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Unreachable { server, why, .. } => {
                write!(f, "cannot reach the daemon at {server}: {why}")
            }
            Self::Unverified { server, why } => {
                write!(f, "the answer of {server} is not trusted: {why}")
            }
            Self::Unreadable { server, why, .. } => {
                write!(f, "cannot read the answer of {server}: {why}")
            }
            Self::Settings { what, .. } => f.write_str(what),
            Self::Key(why) | Self::Internal(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(problem) = &self.problem {
            return f.write_str(&problem.message());
        }
        let plain = self.text.chars().filter(|c| !c.is_control()).take(120);
        let text: String = plain.collect();
        write!(f, "{} answered {}: {text}", self.server, self.status)
    }
}

impl std::error::Error for Error {}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Self::Refused(Box::new(refused))
    }
}
