//! Gold's commands, and the names by which this program acts as one of them.

use std::{ffi::OsStr, path::Path};

/// One of Gold's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// What accounts have.
    Balance,
    /// What the caller's accounts have.
    MyBalance,
    /// Money into an account.
    Deposit,
    /// Money out of an account.
    Withdraw,
    /// Money from one account to another.
    Transfer,
    /// What a job was charged, given back.
    Refund,
    /// The price of a job.
    Quote,
    /// Money held for a job.
    Reserve,
    /// What a job used, billed.
    Charge,
    /// The projects.
    Projects,
    /// The accounts.
    Accounts,
    /// The allocations.
    Allocations,
    /// The reservations, which are liens here.
    Reservations,
    /// What came and went on accounts.
    Statement,
    /// What users were charged.
    Usage,
}

/// The names, in the order of the manual.
pub(crate) const TOOLS: [(&str, Tool); 15] = [
    ("gbalance", Tool::Balance),
    ("gcharge", Tool::Charge),
    ("gdeposit", Tool::Deposit),
    ("glsaccount", Tool::Accounts),
    ("glsalloc", Tool::Allocations),
    ("glsproject", Tool::Projects),
    ("glsres", Tool::Reservations),
    ("gquote", Tool::Quote),
    ("grefund", Tool::Refund),
    ("greserve", Tool::Reserve),
    ("gstatement", Tool::Statement),
    ("gtransfer", Tool::Transfer),
    ("gusage", Tool::Usage),
    ("gwithdraw", Tool::Withdraw),
    ("mybalance", Tool::MyBalance),
];

impl Tool {
    /// The tool that a program's own name means; none for `bank` and everything else.
    pub(crate) fn of(argv0: &OsStr) -> Option<Self> {
        let name = Path::new(argv0).file_name()?.to_str()?;
        let known = TOOLS.iter().find(|(known, _)| *known == name)?;
        Some(known.1)
    }

    /// The name.
    pub(crate) fn name(self) -> &'static str {
        let known = TOOLS.iter().find(|(_, tool)| *tool == self);
        known.map_or("bank", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_selects_the_command() {
        for (name, tool) in TOOLS {
            assert_eq!(Tool::of(OsStr::new(name)), Some(tool));
            let path = format!("/usr/bin/{name}");
            assert_eq!(Tool::of(OsStr::new(&path)), Some(tool));
            assert_eq!(tool.name(), name);
        }
        for name in ["bank", "/usr/bin/bank", "gbalance.sh", "", "gusagex"] {
            assert_eq!(Tool::of(OsStr::new(name)), None, "{name}");
        }
    }
}
