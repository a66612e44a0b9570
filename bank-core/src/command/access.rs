//! Commands about permissions: roles, limits, proposals, new secrets for old keys.

use super::{Command, Deposit, Scope};
use crate::amount::Amount;
use crate::ids::ProposalId;
use crate::model::{Key, LimitOf};
use crate::role::Role;
use crate::time::{Seconds, Timestamp};

/// A command about access (ledger.md 8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Gives a person a role.
    Grant(GrantRole),
    /// Takes a role back.
    Revoke(RevokeRole),
    /// Sets how much somebody may move.
    SetLimit(SetLimit),
    /// Removes a limit.
    RemoveLimit(LimitOf),
    /// Asks for what somebody else has to approve.
    Propose(Propose),
    /// Does what was proposed.
    Approve(Approve),
    /// Rejects a proposal.
    Reject(Reject),
    /// Adds a second key of a client, and ends the first.
    RotateKey(Box<RotateKey>),
}

impl Access {
    /// The word for it in the journal's `op` column.
    pub fn op(&self) -> &'static str {
        match self {
            Access::Grant(_) => "role_grant",
            Access::Revoke(_) => "role_revoke",
            Access::SetLimit(_) => "limit_set",
            Access::RemoveLimit(_) => "limit_rm",
            Access::Propose(_) => "propose",
            Access::Approve(approve) => approve.command.op(),
            Access::Reject(_) => "reject",
            Access::RotateKey(_) => "key_rotate",
        }
    }

    /// The command inside, which needs what it needs by itself.
    pub fn inner(&self) -> Option<&Command> {
        match self {
            Access::Propose(propose) => Some(&propose.command),
            Access::Approve(approve) => Some(&approve.command),
            _ => None,
        }
    }
}

/// A role for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRole {
    /// Their login name; nobody of that name need be registered.
    pub name: String,
    /// The role; not `user`, which everybody is.
    pub role: Role,
    /// Over this project and those below it; operator, manager and pi name one.
    pub project: Option<String>,
    /// When it ends by itself.
    pub until: Option<Timestamp>,
}

/// A role that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokeRole {
    /// Their login name.
    pub name: String,
    /// The role.
    pub role: Role,
    /// The project that it was given for, if it was.
    pub project: Option<String>,
}

/// A transaction limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetLimit {
    /// The person, client, key or role that it limits.
    pub of: LimitOf,
    /// The most in one operation, or no bound; as it is without.
    pub per_operation: Option<Option<Amount>>,
    /// The most in a UTC day of the ledger clock, or no bound; as it is without.
    pub per_day: Option<Option<Amount>>,
}

/// A request that needs approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Propose {
    /// The request as the shell wrote it down, at most [`crate::rules::REQUEST_MAX`] bytes.
    pub request: String,
    /// The proposed command.
    pub command: Box<Command>,
    /// Time for which it can be approved.
    pub keep: Seconds,
    /// For a request of a person who may not do it: their reason.
    pub asked: Option<String>,
    /// What a requested project starts with.
    pub start: Start,
}

/// What a requested project starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Its principal investigator.
    pub pi: Option<String>,
    /// The first deposit.
    pub deposit: Option<Deposit>,
}

/// The approval of a proposal by somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approve {
    /// Which proposal.
    pub id: ProposalId,
    /// Its request, as the shell wrote it down.
    pub request: String,
    /// The proposed command, read again from the request.
    pub command: Box<Command>,
    /// What a requested project starts with, likewise.
    pub start: Start,
    /// For a request: time for which it waits as a proposal of the approver, where a second person has to
    /// approve it too.
    pub propose: Option<Seconds>,
    /// The current scopes of the proposer, one of which must allow the command; none if the proposer has no
    /// access any more.
    pub proposers: Vec<Scope>,
    /// Kept in the journal.
    pub reason: String,
}

/// The rejection of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// Which proposal.
    pub id: ProposalId,
    /// The proposed command, read again from the request; none if the request is unreadable.
    pub command: Option<Box<Command>>,
    /// The asker of a request takes it back.
    pub is_withdrawal: bool,
    /// Kept in the journal.
    pub reason: String,
}

/// A new key for the client of an old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotateKey {
    /// The old key, or an old token.
    pub id: String,
    /// The new one; its client, roles and scope are those of the old one.
    pub new: Key,
    /// When the old one ends, unless it ends before.
    pub until: Timestamp,
}
