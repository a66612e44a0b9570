//! Permissions: roles of people, limits of amounts, proposals.

use crate::amount::Amount;
use crate::ids::{GrantId, ProjectId, ProposalId, TxId};
use crate::role::{Role, human};
use crate::time::Timestamp;

/// The role of a member in a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemberRole {
    /// Spends, as the accounts allow.
    #[default]
    Member,
    /// Reads all of it.
    Pi,
    /// Reads all of it, and looks after its members and accounts.
    Manager,
}

/// Every place in a project with its word.
pub const MEMBER_ROLES: [(MemberRole, &str); 3] = [
    (MemberRole::Member, "member"),
    (MemberRole::Pi, "pi"),
    (MemberRole::Manager, "manager"),
];

crate::words!(MemberRole, MEMBER_ROLES, "member");

/// A role that a person was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its number.
    pub id: GrantId,
    /// The person's login name.
    pub name: String,
    /// The role.
    pub role: Role,
    /// Over this project and those below it; over the whole bank without one.
    pub project: Option<ProjectId>,
    /// When it ends by itself.
    pub until: Option<Timestamp>,
    /// It was taken back.
    pub revoked: bool,
}

/// The person, client, key or role of a limit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitOf {
    /// Each person with this role, separately.
    Role(Role),
    /// A person, a client, or one key or token by its id.
    Name(String),
}

/// A transaction limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The person, client, key or role that it limits.
    pub of: LimitOf,
    /// The most in one operation; no bound without.
    pub per_operation: Option<Amount>,
    /// The most in a UTC day of the ledger clock; no bound without.
    pub per_day: Option<Amount>,
}

/// The kinds of operations that limits count and that may need a second pair of eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoneyKind {
    /// Money into an account.
    Deposit,
    /// Money out of an account.
    Withdraw,
    /// Money from one account to another.
    Transfer,
    /// A refund to the accounts that paid for a job.
    Refund,
    /// A correction of an account.
    Adjust,
    /// A higher credit limit.
    CreditLimit,
}

/// Every kind with its word.
pub const MONEY_KINDS: [(MoneyKind, &str); 6] = [
    (MoneyKind::Deposit, "deposit"),
    (MoneyKind::Withdraw, "withdraw"),
    (MoneyKind::Transfer, "transfer"),
    (MoneyKind::Refund, "refund"),
    (MoneyKind::Adjust, "adjust"),
    (MoneyKind::CreditLimit, "credit_limit"),
];

crate::words!(MoneyKind, MONEY_KINDS, "deposit");

/// What a proposal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalKind {
    /// An operation that moves money.
    Money(MoneyKind),
    /// A later end of an allocation.
    Extension,
    /// A member more, or one less.
    Member,
    /// A new project.
    Project,
}

impl ProposalKind {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            ProposalKind::Money(kind) => kind.word(),
            ProposalKind::Extension => "extension",
            ProposalKind::Member => "member",
            ProposalKind::Project => "project",
        }
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<ProposalKind> {
        let other = [
            ProposalKind::Extension,
            ProposalKind::Member,
            ProposalKind::Project,
        ];
        let other = other.into_iter().find(|kind| kind.word() == word);
        other.or_else(|| MoneyKind::parse(word).map(ProposalKind::Money))
    }
}

/// The state of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalState {
    /// It waits for approval.
    Open,
    /// It was done.
    Approved,
    /// Nothing will come of it.
    Rejected,
    /// The asker of a request took it back.
    Withdrawn,
}

/// Every state with its word.
pub const PROPOSAL_STATES: [(ProposalState, &str); 4] = [
    (ProposalState::Open, "open"),
    (ProposalState::Approved, "approved"),
    (ProposalState::Rejected, "rejected"),
    (ProposalState::Withdrawn, "withdrawn"),
];

crate::words!(ProposalState, PROPOSAL_STATES, "open");

/// A request that somebody else has to approve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Its number.
    pub id: ProposalId,
    /// The kind of the operation.
    pub kind: ProposalKind,
    /// The amount that it moves; zero where it moves none.
    pub amount: Amount,
    /// The request, as the shell wrote it down: it is read again when it is approved.
    pub request: String,
    /// For a request of a person who may not do it: their reason.
    pub asked: Option<String>,
    /// The proposer, or the asker.
    pub proposer: String,
    /// Their client.
    pub client: String,
    /// When.
    pub at: Timestamp,
    /// When it can no longer be approved.
    pub until: Timestamp,
    /// The state of the proposal.
    pub state: ProposalState,
    /// The approver or rejecter.
    pub decider: String,
    /// The reason, if one was given.
    pub reason: String,
    /// The transaction that proposed it.
    pub tx: TxId,
    /// The first transaction of what was done, or the one that rejected it. Rejections of earlier versions have none.
    pub done: Option<TxId>,
    /// When it was approved, rejected or withdrawn.
    pub decided_at: Option<Timestamp>,
}

impl Proposal {
    /// Whether it is a request of a person that can still be answered.
    pub fn is_open_request_of(&self, person: &str, now: Timestamp) -> bool {
        let is_open = self.state == ProposalState::Open && now < self.until;
        self.asked.is_some() && is_open && human(&self.client) == person
    }
}
