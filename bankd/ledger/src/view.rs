//! The bank as one caller sees it. A hidden object does not exist for the caller: the same 404, and no hint
//! names it.
//!
//! Administrators, schedulers and auditors see everything within the scope of their key. A plain user sees
//! the projects of which they are a member, and the objects of these.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use bank_api::text::suggest;
use bank_core::access::{self, Held};
use bank_core::command::Scope;
use bank_core::directory::Directory;
use bank_core::ids::{AccountId, ProjectId, UNBILLED};
use bank_core::kind::{Kind, Readers, Writers};
use bank_core::model::{Account, Constraint, Dimension, Machine, Project, User};
use bank_core::rate::{Owner, Rate};
use bank_core::time::Timestamp;
use bankd_query::Sight;

use crate::access::right::Right;
use crate::access::{Role, Roles};
use crate::usable::{By, usable};
use crate::writer::Decided;

/// A caller's view. A cheap handle that read queries copy.
#[derive(Clone)]
pub struct View {
    directory: Arc<Directory>,
    everything: bool,
    /// Projects that are seen whole, with all below them.
    led: Vec<String>,
    user: Option<String>,
    scope: Scope,
    /// Computed on first use, and only for restricted callers.
    seen: Arc<OnceLock<Seen>>,
    /// The view of today, if the directory is an earlier one. It determines the rights.
    today: Option<Arc<View>>,
}

/// The visible objects of a restricted caller.
struct Seen {
    projects: HashSet<ProjectId>,
    accounts: HashSet<AccountId>,
}

/// The roles with full read access in their scope.
const READERS: [Role; 6] = [
    Role::Admin,
    Role::Operator,
    Role::Manager,
    Role::Pi,
    Role::Auditor,
    Role::Scheduler,
];

impl View {
    /// The bank after a command, in the view of its caller.
    pub fn of_caller(decided: &Decided<'_>) -> View {
        let who = decided.scope.who.as_deref();
        let user = who.and_then(|who| {
            let own = who.roles.has(Role::User).then(|| who.client.clone());
            who.person.clone().or(own)
        });
        View::of(decided.directory, decided.scope, user, decided.now)
    }

    /// The view of a caller at an instant: the scope of their key, and the user that it is for.
    pub fn of(
        directory: &Arc<Directory>,
        scope: &Scope,
        user: Option<String>,
        now: Timestamp,
    ) -> View {
        let held = match &scope.who {
            Some(who) => access::held(scope, who, directory, now),
            None => Vec::new(),
        };
        let reading = || held.iter().filter(|held| READERS.contains(&held.role));
        let whole = |held: &Held| held.projects.is_empty() || held.projects == scope.projects;
        let everything = scope.who.is_none() || reading().any(whole);
        let led = reading().flat_map(|held| held.projects.iter().cloned());
        View {
            everything,
            led: led.collect(),
            directory: Arc::clone(directory),
            user,
            scope: scope.clone(),
            seen: Arc::default(),
            today: None,
        }
    }

    /// The same without roles over the whole bank: the projects that a person leads or belongs to.
    #[must_use]
    pub fn of_own_projects(self) -> View {
        View {
            everything: false,
            seen: Arc::default(),
            ..self
        }
    }

    /// The bank after a command, in the view of the administrator who sent it: within the key's scope.
    pub fn of_administrator(decided: &Decided<'_>) -> View {
        View {
            directory: Arc::clone(decided.directory),
            everything: true,
            led: Vec::new(),
            user: None,
            scope: decided.scope.clone(),
            seen: Arc::default(),
            today: None,
        }
    }

    /// The view of a plain user, or of somebody who sees everything.
    pub fn of_user(directory: Arc<Directory>, user: Option<&str>) -> View {
        View {
            directory,
            everything: user.is_none(),
            led: Vec::new(),
            user: user.map(str::to_owned),
            scope: Scope::default(),
            seen: Arc::default(),
            today: None,
        }
    }

    /// The view of an earlier state, limited to objects that the caller may see today.
    #[must_use]
    pub fn then(&self, directory: Arc<Directory>) -> View {
        View {
            directory,
            today: Some(Arc::new(self.clone())),
            ..self.clone()
        }
    }

    pub fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    /// Whether only the key's scope restricts the view.
    pub fn sees_everything(&self) -> bool {
        self.everything
    }

    /// Whether the view is unrestricted.
    pub fn is_unlimited(&self) -> bool {
        self.everything && self.scope.projects.is_empty() && self.scope.machines.is_empty()
    }

    /// Whether the caller is limited to some projects, and whether to some machines.
    pub fn limits(&self) -> [bool; 2] {
        let every_project = self.everything && self.scope.projects.is_empty();
        [!every_project, !self.scope.machines.is_empty()]
    }

    /// The registered user of the caller.
    pub fn own_user(&self) -> Option<&User> {
        self.directory.user_named(self.user.as_deref()?)
    }

    /// Whether a project is visible.
    pub fn sees_project(&self, project: &Project) -> bool {
        if let Some(today) = &self.today {
            return today.sees_project(project);
        }
        self.is_unlimited() || self.seen().projects.contains(&project.id)
    }

    /// Whether an account is visible: a visible project may spend from it.
    pub fn sees_account(&self, account: &Account) -> bool {
        if let Some(today) = &self.today {
            // It may be gone since.
            let known = today.directory.account(account.id);
            return known.is_some_and(|account| today.saw_account(account));
        }
        let everything = self.everything && self.scope.projects.is_empty();
        everything || self.seen().accounts.contains(&account.id)
    }

    /// Whether an account, possibly a removed one, is visible: a visible project could spend from it.
    pub fn saw_account(&self, account: &Account) -> bool {
        if !account.deleted || self.today.is_some() {
            return self.sees_account(account);
        }
        if self.everything && self.scope.projects.is_empty() {
            return true;
        }
        let all = self.directory.projects();
        let projects: Vec<&Project> = all.filter(|p| self.sees_project(p)).collect();
        self.finds_account(account, &projects)
    }

    fn seen(&self) -> &Seen {
        self.seen.get_or_init(|| {
            let all = self.directory.projects();
            let projects: Vec<&Project> = all.filter(|p| self.finds_project(p)).collect();
            let mut seen = Seen {
                accounts: HashSet::new(),
                projects: projects.iter().map(|p| p.id).collect(),
            };
            for project in projects {
                let around = self.directory.accounts_around(project.id).into_iter();
                let around = around.filter_map(|id| self.directory.account(id));
                for account in around.filter(|account| !account.deleted) {
                    if !seen.accounts.contains(&account.id)
                        && self.finds_account(account, &[project])
                    {
                        seen.accounts.insert(account.id);
                    }
                }
            }
            seen
        })
    }

    fn finds_project(&self, project: &Project) -> bool {
        let directory = &self.directory;
        let own = || {
            let user = self.own_user();
            user.is_some_and(|user| directory.is_member(project.id, user.id))
        };
        let allowed = &self.scope.projects;
        let line = || directory.lineage(project.id);
        let in_scope = allowed.is_empty() || line().iter().any(|p| allowed.contains(&p.name));
        in_scope && (self.everything || self.leads(project) || own())
    }

    /// Whether all data of a project is visible, not only that for a member.
    pub fn leads(&self, project: &Project) -> bool {
        let line = || self.directory.lineage(project.id);
        self.everything
            || (!self.led.is_empty() && line().iter().any(|p| self.led.contains(&p.name)))
    }

    fn finds_account(&self, account: &Account, projects: &[&Project]) -> bool {
        let own = self.own_user();
        let usable = |project: &&Project| {
            let user = own.filter(|_| !self.leads(project));
            let is_open = user.is_some() || self.leads(project);
            is_open && self.usable(account, Some(project), user, None)
        };
        account.name != UNBILLED && projects.iter().any(usable)
    }

    /// Whether a user is visible: the caller, and the members of visible projects.
    pub fn sees_user(&self, user: &User) -> bool {
        if let Some(today) = &self.today {
            return today.sees_user(user);
        }
        let everybody = self.everything && self.scope.projects.is_empty();
        if everybody || self.user.as_ref() == Some(&user.name) {
            return true;
        }
        let mut projects = self.seen().projects.iter();
        projects.any(|project| self.directory.membership(*project, user.id).is_some())
    }

    /// Whether a machine is visible, by its name in a document.
    pub fn sees_machine(&self, name: &str) -> bool {
        let allowed = &self.scope.machines;
        allowed.is_empty() || allowed.iter().any(|m| m == name)
    }

    /// Whether a rate is visible: all projects, users and machines that it names are.
    pub fn sees_rate(&self, rate: &Rate) -> bool {
        let directory = &self.directory;
        let [in_projects, in_machines] = self.limits();
        let mut names = rate.names();
        let of_names = match Owner::of(rate.property()) {
            Some(Owner::Project) if in_projects => {
                names.all(|name| self.meant(name).is_some_and(|p| self.sees_project(p)))
            }
            Some(Owner::User) if in_projects => names.all(|name| {
                let user = directory.user_named(name);
                self.is_own(name) || user.is_some_and(|user| self.sees_user(user))
            }),
            Some(Owner::Machine) if in_machines => names.all(|name| self.sees_machine(name)),
            _ => true,
        };
        let machine = rate.machine.and_then(|id| directory.machine(id));
        of_names && machine.is_none_or(|machine| self.sees_machine(&machine.name))
    }

    /// Whether work is visible, by its project (or account), user and machine. A plain member sees their
    /// own work only.
    pub fn sees_work(&self, project: &str, user: &str, machine: &str) -> bool {
        if self.is_unlimited() {
            return true;
        }
        let seen = match self.meant(project) {
            Some(project) => {
                self.sees_project(project) && (self.leads(project) || self.is_own(user))
            }
            None => self.everything && self.scope.projects.is_empty(),
        };
        seen && self.sees_machine(machine)
    }

    /// Whether the work of a user may be visible: the caller's own, and that in projects that the caller
    /// leads.
    pub fn may_see_work_of(&self, user: &str) -> bool {
        self.everything || !self.led.is_empty() || self.is_own(user)
    }

    /// Whether a user in a document is the caller.
    fn is_own(&self, user: &str) -> bool {
        if user.is_empty() {
            return false;
        }
        let is_alias = |own: &User| own.aliases.iter().any(|alias| alias == user);
        self.user.as_deref() == Some(user) || self.own_user().is_some_and(is_alias)
    }

    /// The project that a document means: by its name, else by that of an account with one project
    /// (decisions.md 16).
    pub fn meant(&self, name: &str) -> Option<&Project> {
        if let Some(project) = self.directory.any_project_named(name) {
            return Some(project);
        }
        let account = self.directory.account_named(name)?;
        self.directory.project_named(account.only_project()?)
    }

    /// Whether these may spend from an account. An absent name matches everything.
    pub fn usable(
        &self,
        account: &Account,
        project: Option<&Project>,
        user: Option<&User>,
        machine: Option<&Machine>,
    ) -> bool {
        let by = By {
            project,
            user,
            machine,
        };
        usable(&self.directory, account, by)
    }

    /// A visible account that fits, by name, else by number.
    pub fn find_account(&self, name: &str, fits: fn(&Account) -> bool) -> Option<&Account> {
        let by_number = || {
            let id = name.parse().ok().map(AccountId)?;
            self.directory.account(id)
        };
        let found = self.directory.any_account_named(name);
        let found = found.filter(|a| fits(a)).or_else(by_number);
        found.filter(|a| fits(a) && self.saw_account(a))
    }

    /// Whether a name that the caller may not use is reported as missing. A number is refused in both cases
    /// (decisions.md 23).
    pub fn hides(&self, kind: &str, name: &str) -> bool {
        if kind == "user" {
            let user = self.directory.user_named(name);
            return user.is_none_or(|user| !self.sees_user(user));
        }
        if !["project", "account"].contains(&kind) {
            return true;
        }
        let project = self.directory.project_named(name);
        let account = self.directory.account_named(name);
        let account = account.filter(|_| kind == "account");
        let is_number = kind == "account" && name.parse::<i64>().is_ok();
        !is_number
            && project.is_none_or(|project| !self.sees_project(project))
            && account.is_none_or(|account| !self.sees_account(account))
    }

    /// The hint for a name that is not there.
    pub fn did_you_mean(&self, kind: &str, name: &str) -> Option<String> {
        let names: Vec<&str> = match kind {
            "project" => {
                let all = self.directory.projects();
                all.filter(|p| self.sees_project(p))
                    .map(|p| p.name.as_str())
                    .collect()
            }
            "user" => {
                let all = self.directory.users();
                all.filter(|u| self.sees_user(u))
                    .map(|u| u.name.as_str())
                    .collect()
            }
            "machine" => {
                let all = self.directory.machines();
                all.filter(|m| self.sees_machine(&m.name))
                    .map(|m| m.name.as_str())
                    .collect()
            }
            "account" => {
                let all = self.directory.accounts();
                all.filter(|a| self.sees_account(a))
                    .map(|a| a.name.as_str())
                    .collect()
            }
            _ => return None,
        };
        let list = format!("`bank {kind} ls` shows yours");
        Some(match suggest(name, &names) {
            Some(near) => format!("did you mean {near:?}? {list}"),
            None => list,
        })
    }

    /// The visible names, for filters in the database.
    pub fn sight(&self, sources: bool, readers: Readers) -> Sight {
        if self.is_unlimited() {
            return Sight {
                sources,
                readers,
                ..Sight::default()
            };
        }
        let directory = &self.directory;
        let projects = directory.projects().filter(|p| self.sees_project(p));
        let projects: Vec<String> = projects.map(|p| p.name.clone()).collect();
        let every_project = self.everything && self.scope.projects.is_empty();
        // Work is shown of projects that the caller leads: who only is a member sees their own.
        let payers = self.payers(|p| self.sees_project(p) && self.leads(p));
        let own = self.own_user();
        let own = own.map(|user| [std::slice::from_ref(&user.name), &user.aliases].concat());
        let own_payers = self.payers(|p| self.sees_project(p));
        let accounts = directory.accounts().filter(|a| self.sees_account(a));
        let users = directory.users().filter(|u| self.sees_user(u));
        let rates = directory.rates.iter().filter(|r| self.sees_rate(r));
        let machines = &self.scope.machines;
        Sight {
            payers: (!every_project).then_some(payers),
            own: own.unwrap_or_default(),
            own_payers,
            projects: (!every_project).then_some(projects),
            accounts: (!every_project).then(|| accounts.map(|a| a.id).collect()),
            users: (!every_project).then(|| users.map(|u| u.name.clone()).collect()),
            machines: (!machines.is_empty()).then(|| machines.clone()),
            rates: Some(rates.map(|r| r.id).collect()),
            sources,
            readers,
        }
    }

    /// Names that select certain projects in work: the projects, and accounts with exactly one of them.
    fn payers(&self, wanted: impl Fn(&Project) -> bool) -> Vec<String> {
        let directory = &self.directory;
        let accounts = directory.accounts();
        let meant = accounts.filter(|a| self.meant(&a.name).is_some_and(&wanted));
        let projects = directory.projects().filter(|p| wanted(p));
        let names = meant.map(|a| &a.name).chain(projects.map(|p| &p.name));
        names.cloned().collect()
    }

    /// The rows of an account's list that the caller may read.
    pub fn readable(&self, row: &Constraint) -> bool {
        let directory = &self.directory;
        if self.is_unlimited() || row.value == "ANY" || row.value == "MEMBERS" {
            return true;
        }
        match row.dimension {
            Dimension::Project => directory
                .project_named(&row.value)
                .is_some_and(|p| self.sees_project(p)),
            Dimension::User => directory
                .user_named(&row.value)
                .is_some_and(|u| self.sees_user(u)),
            Dimension::Machine => self.sees_machine(&row.value),
            _ => true,
        }
    }
}

/// The most guarded kinds whose records a caller with these roles may see.
pub fn readers(roles: Roles) -> Readers {
    if Right::ChangeReference.is_held(roles) {
        Readers::Administrators
    } else if Right::SeeShares.is_held(roles) {
        Readers::Auditors
    } else {
        Readers::Everyone
    }
}

/// The right to change the records of a kind.
pub fn change(kind: &Kind) -> Right {
    match kind.writers {
        Writers::Administrators => Right::ChangeReference,
        Writers::Operators => Right::ChangeOpenReference,
    }
}
