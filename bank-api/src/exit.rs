//! Exit codes: those of `bank` (decisions.md 24) and those of the NAMI scripts (`nami.md` 2.2).
//!
//! All are below 126, to avoid the statuses of shells and signals. The table in [`crate::error`] maps
//! refusals to exit codes.

/// Exit codes of the command line `bank`.
pub mod bank {
    /// Done.
    pub const DONE: u8 = 0;
    /// Refused by a rule; also a strict import with bad lines.
    pub const REFUSED: u8 = 1;
    /// Usage error: the command line is invalid.
    pub const USAGE: u8 = 2;
    /// Insufficient funds.
    pub const FUNDS: u8 = 3;
    /// No such object.
    pub const NOT_FOUND: u8 = 4;
    /// Daemon unreachable or busy: try again.
    pub const UNAVAILABLE: u8 = 5;
    /// Not authenticated or not allowed.
    pub const DENIED: u8 = 6;
    /// Conflict with the present state.
    pub const CONFLICT: u8 = 7;
    /// An internal error.
    pub const INTERNAL: u8 = 70;
}

/// Exit codes of the NAMI scripts, before the map of `nami.conf`.
pub mod nami {
    /// Done.
    pub const DONE: u8 = 0;
    /// Cannot connect to the daemon, or something else answered in its place.
    pub const CONNECT: u8 = 22;
    /// No answer in time.
    pub const TIMEOUT: u8 = 23;
    /// The document is unusable.
    pub const DOCUMENT: u8 = 31;
    /// Not authenticated: key, time or signature.
    pub const AUTH: u8 = 42;
    /// Authenticated, and not allowed.
    pub const DENIED: u8 = 44;
    /// Internal error of the daemon, or busy.
    pub const INTERNAL: u8 = 70;
    /// Not supported.
    pub const UNSUPPORTED: u8 = 71;
    /// Refused by a rule other than money.
    pub const REFUSED: u8 = 74;
    /// Insufficient funds: the code that makes a scheduler try its fallback account.
    pub const FUNDS: u8 = 78;
    /// Anything else.
    pub const OTHER: u8 = 99;
}
