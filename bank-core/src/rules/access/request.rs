//! Requests: proposals of people who have no right to the command. Here is who may ask for what; the rest is
//! that of proposals (decision 0179).

use super::guard::{Eyes, guard, moved};
use crate::access::{Held, held, holds};
use crate::amount::Amount;
use crate::command::{Command, Deposit, Propose, RecordAction, RecordChange, SetMember, Start};
use crate::directory::Directory;
use crate::effects::{DirectoryRow, Effects};
use crate::ids::ProjectId;
use crate::kind::{Key, Value};
use crate::model::{Account, Dimension, Member, MemberRole, MoneyKind, ProposalKind, User};
use crate::refusal::Refusal;
use crate::role::{Role, Who};
use crate::rules::by_family;
use crate::select;
use crate::view::{Context, View};

/// The most open requests of one person.
pub const REQUESTS_MAX: i64 = 20;
/// Longest reason of a request, in bytes.
pub const ASKED_MAX: usize = 1000;

/// Those who ask for a project of theirs.
const LEADERS: [Role; 3] = [Role::Operator, Role::Manager, Role::Pi];

/// What is asked for, and how much. Refuses what the caller may not ask for; what can be tried now is tried.
pub(super) fn check(
    propose: &Propose,
    reason: &str,
    view: &View,
    ctx: &Context<'_>,
) -> Result<(ProposalKind, Amount), Refusal> {
    if reason.trim().is_empty() || reason.len() > ASKED_MAX {
        return Err(Refusal::bad_value(
            "reason",
            "a reason of at most 1000 bytes",
        ));
    }
    let asker = Asker::of(ctx);
    let (command, start) = (&*propose.command, &propose.start);
    let (kind, amount, is_known) = match command {
        Command::Deposit(deposit) => {
            asker.account(&deposit.name)?;
            let kind = ProposalKind::Money(MoneyKind::Deposit);
            (kind, deposit.amount, true)
        }
        Command::SetAllocation(set) => {
            let allocation = view.allocation(set.id).filter(|allocation| {
                let account = ctx.directory.account(allocation.account);
                account.is_some_and(|account| asker.is_of(account))
            });
            let allocation = allocation.ok_or_else(|| asker.no_allocation(set.id.0))?;
            let is_later = allocation
                .window
                .end
                .is_some_and(|end| set.end.is_some_and(|new| new.is_none_or(|new| new > end)));
            if !is_later {
                return Err(Refusal::bad_value(
                    "until",
                    "a time after the end of the allocation, which must have one",
                ));
            }
            (ProposalKind::Extension, Amount::ZERO, true)
        }
        Command::SetMember(SetMember { project, user, .. })
        | Command::RemoveMember(project, user) => {
            asker.member(project, user)?;
            (ProposalKind::Member, Amount::ZERO, asker.sees(user))
        }
        Command::Record(change) => {
            let is_known = asker.founds(change, start)?;
            let amount = start.deposit.as_ref().map_or(Amount::ZERO, |d| d.amount);
            (ProposalKind::Project, amount, is_known)
        }
        _ => {
            return Err(Refusal::bad_value(
                "kind",
                "a deposit, an extension, a member or a project",
            ));
        }
    };
    if view.open_requests >= REQUESTS_MAX {
        return Err(Refusal::TooManyRequests { most: REQUESTS_MAX });
    }
    // The answer must not reveal names that the asker does not see: those are checked at the approval.
    if is_known {
        run(command, start, None, view, ctx)?;
    }
    Ok((kind, amount))
}

/// Decides a command and what a project starts with, as one; for an approval, within the limits of the caller.
pub(super) fn run(
    command: &Command,
    start: &Start,
    eyes: Option<Eyes>,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let mut effects = by_family(command, view, ctx)?;
    if let Some(eyes) = eyes {
        guard(command, eyes, &mut effects, view, ctx)?;
    }
    let Some(project) = project_of(&effects).filter(|_| *start != Start::default()) else {
        return Ok(effects);
    };
    if let Some(name) = &start.pi {
        let user = ctx.directory.user_named(name);
        let user = user.ok_or_else(|| Refusal::not_found("user", name))?;
        effects.directory.push(DirectoryRow::Member(Member {
            project,
            user: user.id,
            active: true,
            role: MemberRole::Pi,
        }));
    }
    if let Some(deposit) = &start.deposit {
        let mut directory = Directory::clone(ctx.directory);
        for row in &effects.directory {
            directory.put(row);
        }
        let ctx = &Context {
            directory: &directory,
            ..*ctx
        };
        let view = &View {
            next: effects.next,
            moved: view.moved,
            ..View::default()
        };
        first_deposit(deposit, eyes, &mut effects, view, ctx)?;
    }
    Ok(effects)
}

fn first_deposit(
    deposit: &Deposit,
    eyes: Option<Eyes>,
    effects: &mut Effects,
    view: &View,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let command = Command::Deposit(deposit.clone());
    let mut more = by_family(&command, view, ctx)?;
    if let Some(eyes) = eyes {
        guard(&command, eyes, &mut more, view, ctx)?;
    }
    effects.transactions.append(&mut more.transactions);
    effects.allocations.append(&mut more.allocations);
    effects.reshaped.append(&mut more.reshaped);
    effects.moved = more.moved;
    effects.next = more.next;
    Ok(())
}

/// The project that a command adds.
fn project_of(effects: &Effects) -> Option<ProjectId> {
    effects.directory.iter().find_map(|row| match row {
        DirectoryRow::Record(record) if record.kind == "project" => Some(ProjectId(record.id)),
        _ => None,
    })
}

/// The kind and the largest amount of a command that moves money.
pub(super) fn largest(
    command: &Command,
    effects: &Effects,
    view: &View,
) -> Option<(MoneyKind, Amount)> {
    let parts = moved(command, effects, view);
    parts.into_iter().max_by_key(|(_, amount)| *amount)
}

/// The caller who asks.
struct Asker<'a> {
    who: Option<&'a Who>,
    /// The registered user, if it is an active one.
    user: Option<&'a User>,
    held: Vec<Held>,
    ctx: &'a Context<'a>,
}

impl<'a> Asker<'a> {
    fn of(ctx: &'a Context<'a>) -> Asker<'a> {
        let who = ctx.scope.who.as_deref();
        // As the view has it: a person, or the client of a key of a user.
        let name = who.and_then(|who| {
            let own = who.roles.has(Role::User).then_some(who.client.as_str());
            who.person.as_deref().or(own)
        });
        let user = name.and_then(|name| ctx.directory.user_named(name));
        Asker {
            who,
            user: user.filter(|user| user.active),
            held: who.map_or_else(Vec::new, |who| held(ctx.scope, who, ctx.directory, ctx.now)),
            ctx,
        }
    }

    /// Whether the caller may do anything in the scope of the key.
    fn is_admin(&self) -> bool {
        let everywhere = |held: &Held| held.role == Role::Admin && held.projects.is_empty();
        let everywhere = self.who.is_none() || self.held.iter().any(everywhere);
        everywhere && self.ctx.scope.projects.is_empty()
    }

    /// Whether the caller leads a project, or one above it.
    fn leads(&self, name: &str) -> bool {
        let project = self.ctx.directory.project_named(name);
        let Some(project) = project.filter(|p| self.ctx.may_touch(Some(p.id), name)) else {
            return false;
        };
        self.is_admin() || holds(&self.held, &LEADERS, self.ctx.directory, &project.name)
    }

    /// Whether the caller is a member of a project.
    fn belongs(&self, name: &str) -> bool {
        let project = self.ctx.directory.project_named(name);
        let project = project.filter(|p| self.ctx.may_touch(Some(p.id), name));
        let found = project.zip(self.user);
        let found = found.and_then(|(p, user)| self.ctx.directory.membership(p.id, user.id));
        found.is_some_and(|member| member.active)
    }

    fn project(&self, name: &str) -> Result<(), Refusal> {
        if self.leads(name) || self.belongs(name) {
            return Ok(());
        }
        Err(Refusal::out_of_scope("project", name))
    }

    /// Whether an account is of projects of the caller only.
    fn is_of(&self, account: &Account) -> bool {
        let rows = account.constraints.iter();
        let rows = rows.filter(|c| c.dimension == Dimension::Project && c.allow);
        let mut names = rows.map(|c| c.value.as_str()).peekable();
        let is_own = |name: &str| self.leads(name) || self.belongs(name);
        self.is_admin() || (names.peek().is_some() && names.all(is_own))
    }

    fn account(&self, name: &str) -> Result<(), Refusal> {
        match select::account_by_name(self.ctx.directory, name) {
            Ok(account) if self.is_of(account) => Ok(()),
            Err(unknown) if self.project(name).is_ok() || self.is_admin() => Err(unknown),
            // The same of an account that is not there.
            _ => Err(Refusal::out_of_scope("account", name)),
        }
    }

    /// Numbers of others and guessed ones are alike.
    fn no_allocation(&self, number: i64) -> Refusal {
        if self.is_admin() {
            return Refusal::not_found("allocation", &number.to_string());
        }
        Refusal::NotAllowed {
            what: format!("allocation {number}"),
        }
    }

    /// Who leads the project asks for others; a member for themselves.
    fn member(&self, project: &str, user: &str) -> Result<(), Refusal> {
        self.project(project)?;
        let is_self = self.user.is_some_and(|own| own.name == user);
        if is_self || self.leads(project) {
            return Ok(());
        }
        Err(Refusal::NotAllowed {
            what: "a member asks for themselves; the pi or a manager asks for others".to_owned(),
        })
    }

    /// Whether the caller sees a user: themselves, or a member of one of their projects.
    fn sees(&self, name: &str) -> bool {
        let directory = self.ctx.directory;
        let Some(user) = directory.user_named(name) else {
            return self.is_admin();
        };
        let theirs = directory.memberships_of(user.id).into_iter();
        let mut theirs = theirs.filter_map(|id| directory.project(id));
        let is_own = |name: &str| self.leads(name) || self.belongs(name);
        self.is_admin()
            || self.user.is_some_and(|own| own.id == user.id)
            || theirs.any(|project| is_own(&project.name))
    }

    /// A new project: for users of the bank, below a project of theirs. Whether all names can be checked now.
    fn founds(&self, change: &RecordChange, start: &Start) -> Result<bool, Refusal> {
        let RecordAction::Add(Some(Key::Name(name)), set) = &change.action else {
            return Err(Refusal::MissingField { field: "name" });
        };
        if self.user.is_none() && !self.is_admin() {
            return Err(Refusal::NotAllowed {
                what: "only an active user of the bank may ask for a project".to_owned(),
            });
        }
        let parent = set.iter().find(|(field, _)| field == "parent");
        if let Some((_, Value::Text(parent))) = parent {
            self.project(parent)?;
        }
        let directory = self.ctx.directory;
        let is_taken = directory.any_project_named(name).is_some()
            || directory.any_account_named(name).is_some();
        let sees_pi = start.pi.as_ref().is_none_or(|name| self.sees(name));
        let sees_name = !is_taken || self.is_admin() || self.leads(name) || self.belongs(name);
        Ok(sees_pi && sees_name)
    }
}
