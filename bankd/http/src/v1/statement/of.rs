//! The subject of a statement, and its accounts.

use std::collections::BTreeSet;

use bank_api::v1::{StatementLineQuery, StatementQuery};
use bank_core::ids::{AccountId, ProjectId};
use bank_core::refusal::Refusal;
use bank_core::time::{Timestamp, Window};
use bankd_store as store;
use bankd_store::read::closes;
use bankd_store::read::statement::Whose;
use rusqlite::Connection;

use super::super::call::Call;
use super::super::historical;
use super::super::view::Lookup as _;
use super::super::view::View;
use crate::error::Failure;

/// The subject.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// A project's own accounts.
    Project {
        /// Which.
        id: ProjectId,
        name: String,
        /// With the projects below.
        tree: bool,
    },
    /// One account.
    Account(AccountId, String),
    /// Charges of a user, and whether the user is registered.
    User(String, bool),
    /// Charges on a machine, and whether it is registered.
    Machine(String, bool),
}

impl Subject {
    /// Its word.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Subject::Project { .. } => "project",
            Subject::Account(..) => "account",
            Subject::User(..) => "user",
            Subject::Machine(..) => "machine",
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Subject::Project { name, .. }
            | Subject::Account(_, name)
            | Subject::User(name, _)
            | Subject::Machine(name, _) => name,
        }
    }

    pub(super) fn tree(&self) -> bool {
        matches!(self, Subject::Project { tree: true, .. })
    }

    /// Whether it has accounts.
    pub(super) fn has_balances(&self) -> bool {
        matches!(self, Subject::Project { .. } | Subject::Account(..))
    }

    /// An unregistered name, which the journal must contain.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Subject::User(_, false) | Subject::Machine(_, false))
    }

    /// The owner of the entries in the statement.
    pub(super) fn whose(&self, accounts: &BTreeSet<AccountId>) -> Whose {
        match self {
            Subject::User(name, _) => Whose::User(name.clone()),
            Subject::Machine(name, _) => Whose::Machine(name.clone()),
            _ => Whose::Accounts(accounts.clone()),
        }
    }

    /// The accounts of the subject. For a project, the accounts that only it may use. For a closed period,
    /// the accounts stored at the close, because lists of accounts change.
    pub(super) fn accounts(
        &self,
        connection: &Connection,
        view: &View,
        period: &Window,
    ) -> Result<BTreeSet<AccountId>, store::Error> {
        let (id, name, tree) = match self {
            Subject::Project { id, name, tree } => (*id, name, *tree),
            Subject::Account(id, _) => return Ok(BTreeSet::from([*id])),
            _ => return Ok(BTreeSet::new()),
        };
        let directory = view.directory();
        let seen = |id: &AccountId| {
            let account = directory.account(*id);
            account.is_some_and(|account| view.saw_account(account))
        };
        let closed = match period.end {
            Some(end) => closes::standing(connection)?.covering(end).copied(),
            None => None,
        };
        if let Some(close) = closed {
            let totals = closes::totals(connection, close.tx)?;
            let own = totals.iter().filter(|total| {
                if tree {
                    total.projects.contains(name)
                } else {
                    total.projects.last() == Some(name)
                }
            });
            return Ok(own.map(|total| total.account).filter(seen).collect());
        }
        let own = directory.all_accounts().filter(|account| {
            let only = account.only_project();
            let only = only.and_then(|name| directory.project_named(name));
            only.is_some_and(|project| {
                project.id == id
                    || (tree && directory.lineage(project.id).iter().any(|p| p.id == id))
            })
        });
        Ok(own.map(|account| account.id).filter(seen).collect())
    }
}

/// A question that was read.
#[derive(Clone, Debug)]
pub(super) struct StatementRequest {
    pub(super) subject: Subject,
    pub(super) period: Window,
    /// Only entries that were recorded up to this moment count.
    pub(super) known: Option<Timestamp>,
}

impl StatementRequest {
    pub(super) fn read(call: &Call, query: &StatementQuery) -> Result<StatementRequest, Failure> {
        let period = super::period(query.from.as_deref(), query.until.as_deref());
        let mut period = period.map_err(|refusal| call.refused(&refusal))?;
        let at = historical::moment(call, query.at.as_deref(), query.recorded)?;
        if let Some(at) = at {
            let after = Timestamp(at.0.saturating_add(1));
            period.end = Some(period.end.map_or(after, |end| end.min(after)));
        }
        let request = StatementRequest {
            subject: subject(call, query)?,
            period,
            known: at.filter(|_| query.recorded),
        };
        let begins = request.period.start;
        if begins.is_some_and(|start| start > call.now()) {
            return Err(call.refused(&Refusal::bad_value("from", "a time that has passed")));
        }
        Ok(request)
    }

    /// A project without an account has no statement.
    pub(super) fn check(&self, accounts: &BTreeSet<AccountId>) -> Result<(), Failure> {
        if !accounts.is_empty() || !self.subject.has_balances() {
            return Ok(());
        }
        let project = self.subject.name();
        let hint = if self.subject.tree() {
            "its subprojects have none either: name an account with -a"
        } else {
            "`--tree` shows the projects below it, `-a NAME` shows an account that it shares"
        };
        let detail = format!("project {project:?} has no separate account");
        Err(Failure::new("no_usable_account", detail).hint(hint))
    }
}

/// Exactly one of them.
fn subject(call: &Call, query: &StatementQuery) -> Result<Subject, Failure> {
    let view = &call.view;
    let one = |field| {
        let expected = "exactly one of project, account, user and machine";
        call.refused(&Refusal::BadValue { field, expected })
    };
    let named = [&query.project, &query.account, &query.user, &query.machine];
    if named.iter().filter(|name| name.is_some()).count() != 1 {
        return Err(one("project"));
    }
    if query.tree && query.project.is_none() {
        return Err(one("tree"));
    }
    if let Some(name) = &query.project {
        let project = view.project_ever(name)?;
        return Ok(Subject::Project {
            id: project.id,
            name: project.name.clone(),
            tree: query.tree,
        });
    }
    if let Some(name) = &query.account {
        let account = view.account_ever(name)?;
        return Ok(Subject::Account(account.id, account.name.clone()));
    }
    if let Some(name) = &query.user {
        // A hidden user counts as unregistered: visible entries must contain the name.
        let known = view.user(name).is_ok();
        if !known && !view.sees_everything() {
            return Err(view.unknown("user", name));
        }
        return Ok(Subject::User(name.clone(), known));
    }
    let name = query.machine.clone().unwrap_or_default();
    let known = view.machine(&name).is_ok();
    if !known && !view.sees_everything() {
        return Err(view.unknown("machine", &name));
    }
    Ok(Subject::Machine(name, known))
}

/// The question for the whole of which lines are asked.
pub(super) fn summary(query: StatementLineQuery) -> StatementQuery {
    StatementQuery {
        project: query.project,
        account: query.account,
        user: query.user,
        machine: query.machine,
        tree: query.tree,
        from: query.from,
        until: query.until,
        at: query.at,
        recorded: query.recorded,
        samples: None,
    }
}
