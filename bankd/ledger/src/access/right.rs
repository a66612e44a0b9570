//! Rights: one for each kind of action of a route, and the roles that have each.
//!
//! Every row of the table of routes names exactly one right, and one layer checks it; routes without a row
//! are refused. Rights do not cover *single objects*: the view hides other people's objects, and the rules
//! check the caller's scope.

use bank_core::refusal::Refusal;

use super::{ROLES, Role, Roles};

macro_rules! rights {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// One thing that can be allowed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Right {
            $($(#[$doc])* $name,)*
        }

        /// Every right with its word.
        pub const RIGHTS: &[(Right, &str)] = &[$((Right::$name, $word),)*];
    };
}

rights! {
    /// Routes that need no caller at all: health of the daemon, and description of its API. No role has it. A
    /// route for authenticated callers with this right is for administrators.
    Anybody = "anybody",
    /// The state of the daemon.
    SeeStatus = "see_status",
    /// Projects, members, users, machines, accounts, as far as they are in view.
    SeeRegistry = "see_registry",
    /// Allocations, balances, liens, jobs, the journal and what is made of them, as far as they are
    /// in view.
    SeeLedger = "see_ledger",
    /// Rates, attributes and cycles.
    SeeSettings = "see_settings",
    /// The state of collectors, and what they recorded beside what was charged.
    SeeSources = "see_sources",
    /// Imports that are under way.
    SeeImports = "see_imports",
    /// The quarantine, usage without a project, and mappings.
    SeeIntake = "see_intake",
    /// Usage records as lines.
    SeeRecords = "see_records",
    /// Contributions to the clusters, usage by contributors, and priorities from both.
    SeeShares = "see_shares",
    /// Pending notices and scheduled reports.
    SeeOutbox = "see_outbox",
    /// Signing keys, without their secrets, and the settings in force.
    SeeKeys = "see_keys",
    /// Prove the bank, and fetch signed checkpoints of it.
    Verify = "verify",
    /// Prices of past usage with other rates: no separate route.
    PriceThePast = "price_the_past",
    /// Quotes.
    Quote = "quote",
    /// Documents of the scheduler's scripts.
    Nami = "nami",
    /// Hold money by hand, move the end of what is held, give it back.
    Hold = "hold",
    /// Bill by hand.
    Charge = "charge",
    /// Hand in finished usage.
    ReportUsage = "report_usage",
    /// Send files of usage.
    Import = "import",
    /// Bring money in.
    Deposit = "deposit",
    /// Take money out.
    Withdraw = "withdraw",
    /// Move money between accounts.
    Transfer = "transfer",
    /// Give back what was charged.
    Refund = "refund",
    /// Correct an allocation.
    Adjust = "adjust",
    /// Take a transaction back.
    Reverse = "reverse",
    /// Bill unbilled usage to a project.
    Settle = "settle",
    /// Add, switch and remove members.
    ChangeMembers = "change_members",
    /// Make, change, remove and bring back accounts.
    ChangeAccounts = "change_accounts",
    /// Change windows and limits of allocations, and remove them.
    ChangeAllocations = "change_allocations",
    /// End quotes that were given.
    EndQuotes = "end_quotes",
    /// Change collectors, and take them off the list.
    ChangeSources = "change_sources",
    /// Empty the quarantine, or read again what is in it.
    ChangeQuarantine = "change_quarantine",
    /// Give usage to a project after all.
    AssignUsage = "assign_usage",
    /// Set and end rates.
    ChangeRates = "change_rates",
    /// Add, change and remove projects, users and other records, and kinds and fields of the site.
    ChangeReference = "change_reference",
    /// Add, change and remove records of kinds that operators may change.
    ChangeOpenReference = "change_open_reference",
    /// Make, change and remove signing keys.
    ChangeKeys = "change_keys",
    /// Roles of people, and limits.
    SeeAccess = "see_access",
    /// Give and take roles, set and remove limits.
    ChangeAccess = "change_access",
    /// Proposals within view.
    SeeProposals = "see_proposals",
    /// Approve and reject proposals: anybody who could run the proposed command.
    DecideProposals = "decide_proposals",
    /// Ask for a deposit, an extension, a member or a project, and take the request back.
    Ask = "ask",
    /// Make, change, remove and run cycles.
    ChangeCycles = "change_cycles",
    /// Close periods of the books, and open the last one again.
    ClosePeriods = "close_periods",
    /// Open the bank with the contents of another.
    Migrate = "migrate",
    /// Acknowledge alerts, switch the alerts of a project, retry a notice, have a scheduled report made.
    ChangeAttention = "change_attention",
    /// Confirm a jump of the clock.
    ConfirmClock = "confirm_clock",
    /// Settlements with partner banks.
    SeePartners = "see_partners",
    /// Messages of the calling partner bank.
    SeeOwnMessages = "see_own_messages",
    /// Hold and charge for jobs at a partner bank.
    Deliver = "deliver",
}

impl Right {
    /// Its word, for the log and for documents.
    pub fn word(self) -> &'static str {
        let row = RIGHTS.iter().find(|(right, _)| *right == self);
        row.map_or("", |(_, word)| word)
    }

    /// The roles that have it, in their order.
    pub fn roles(self) -> impl Iterator<Item = Role> {
        let all = ROLES.iter().map(|(role, _)| *role);
        all.filter(move |role| self.is_of(*role))
    }

    /// The one mapping from role to rights.
    pub fn is_of(self, role: Role) -> bool {
        let own: &[Right] = match role {
            Role::Admin => return true,
            Role::Collector => return OF_COLLECTORS.contains(&self),
            Role::Partner => return matches!(self, Right::SeeOwnMessages | Right::Deliver),
            Role::Operator => OF_OPERATORS,
            Role::Manager => OF_MANAGERS,
            Role::Scheduler => OF_SCHEDULERS,
            Role::Auditor => OF_AUDITORS,
            Role::Pi | Role::User => &[Right::Ask],
        };
        OF_ALL.contains(&self) || own.contains(&self)
    }

    /// Whether one of the roles has it.
    pub fn is_held(self, roles: Roles) -> bool {
        self.roles().any(|role| roles.has(role))
    }

    /// Refuses with `not_allowed` unless one of the roles has it.
    ///
    /// # Errors
    /// [`Refusal::NotAllowed`], which names the roles that would do.
    pub fn demand(self, roles: Roles) -> Result<(), Refusal> {
        if self.is_held(roles) {
            return Ok(());
        }
        let others = self.roles().filter(|role| *role != Role::Admin);
        let words: Vec<&str> = others.map(Role::word).collect();
        let needed = match words.as_slice() {
            [] => Role::Admin.word().to_owned(),
            _ => words.join(" or "),
        };
        Err(Refusal::NotAllowed {
            what: format!("this needs the role {needed}"),
        })
    }
}

/// The rights of everybody with any role but that of a collector or a partner: they see the objects in their view.
const OF_ALL: &[Right] = &[
    Right::SeeStatus,
    Right::SeeRegistry,
    Right::SeeLedger,
    Right::SeeSettings,
    Right::Quote,
];

/// The rights of collectors: reporting usage, and nothing else.
const OF_COLLECTORS: &[Right] = &[
    Right::SeeStatus,
    Right::SeeImports,
    Right::ReportUsage,
    Right::Import,
];

/// The rights of operators, over their projects.
const OF_OPERATORS: &[Right] = &[
    Right::Deposit,
    Right::Withdraw,
    Right::Transfer,
    Right::ChangeMembers,
    Right::ChangeAccounts,
    Right::SeeProposals,
    Right::DecideProposals,
    Right::Ask,
    Right::ChangeOpenReference,
];

/// The rights of managers, over their own projects.
const OF_MANAGERS: &[Right] = &[
    Right::Transfer,
    Right::ChangeMembers,
    Right::ChangeAccounts,
    Right::SeeProposals,
    Right::DecideProposals,
    Right::Ask,
];

const OF_SCHEDULERS: &[Right] = &[
    Right::SeeSources,
    Right::SeeImports,
    Right::Nami,
    Right::Hold,
    Right::Charge,
    Right::ReportUsage,
    Right::Import,
];

const OF_AUDITORS: &[Right] = &[
    Right::SeeSources,
    Right::SeeImports,
    Right::SeeIntake,
    Right::SeeRecords,
    Right::SeeShares,
    Right::SeeOutbox,
    Right::SeePartners,
    Right::Verify,
    Right::SeeAccess,
    Right::SeeProposals,
    Right::PriceThePast,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_right_has_a_word_of_its_own_and_an_administrator() {
        let mut words: Vec<&str> = RIGHTS.iter().map(|(right, _)| right.word()).collect();
        assert!(RIGHTS.iter().all(|(right, _)| right.is_of(Role::Admin)));
        words.sort_unstable();
        let count = words.len();
        words.dedup();
        assert_eq!(words.len(), count);
        assert!(!words.contains(&""));
    }

    #[test]
    fn no_role_has_no_right() {
        for (right, word) in RIGHTS {
            assert!(!right.is_held(Roles::default()), "{word}");
        }
    }

    #[test]
    fn several_roles_add_up() {
        let both = Roles::of(&[Role::Manager, Role::Scheduler]);
        assert!(Right::Transfer.is_held(both) && Right::Nami.is_held(both));
        assert!(!Right::SeeRecords.is_held(both) && !Right::Deposit.is_held(both));
    }

    #[test]
    fn a_refusal_names_the_roles_that_would_do() {
        let user = Roles::of(&[Role::User]);
        for (right, needed) in [
            (Right::Refund, "admin"),
            (Right::Deposit, "operator"),
            (Right::Nami, "scheduler"),
            (Right::SeeSources, "auditor or scheduler"),
        ] {
            let Err(Refusal::NotAllowed { what }) = right.demand(user) else {
                panic!("{right:?}");
            };
            assert_eq!(what, format!("this needs the role {needed}"));
        }
    }
}
