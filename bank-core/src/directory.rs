//! Who and what there is: projects, users, machines, accounts' lists and rates.
//!
//! The directory is reference data. It holds no balance (decisions.md 3): a shell may keep it in
//! memory and load it anew whenever a command changed it.

mod access;
mod fallback;
mod mapped;
mod tree;

pub use access::Approval;
pub use partner::There;
pub use policy::{FALLBACK_MODES, FallbackMode, ORDERS, Policy, SelectionOrder};
pub use tree::DEPTH_MAX;

mod contributor;
mod cycle;
mod mode;
mod names;
mod partner;
mod policy;
mod quiet;
mod rows;

use crate::amount::Precision;
use crate::attribute::Attribute;
use crate::ids::{AccountId, CycleId, GrantId, MachineId, ProjectId, UNBILLED, UserId};
use crate::kind::{Key as RecordKey, Record, Records, mapping_of};
use crate::mapping::Mappings;
use crate::model::{
    Account, Cycle, Dimension, Grant, Key, Limit, LimitOf, Machine, Member, MemberRole, Project,
    User,
};
use crate::rate::Rate;
use crate::time::Timestamp;
use names::Names;
use rows::Rows;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What was chosen at `bankd init` and never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    /// The bank's UUID.
    pub uuid: String,
    /// Decimal places of its unit.
    pub precision: Precision,
    /// The label of its unit, such as `credits`.
    pub unit: String,
}

/// The reference data of a bank, with its look-ups.
#[derive(Clone, Debug)]
pub struct Directory {
    /// What never changes.
    pub bank: Bank,
    /// What the configuration says.
    pub policy: Policy,
    /// Rates, old ones too: those without an end first, then the latest end first.
    pub rates: Vec<Rate>,
    /// Declared usage attributes, by name.
    pub attributes: Vec<Attribute>,
    /// Whom usage is for, where its source says it in names of its own.
    pub mappings: Mappings,
    /// Records of declared kinds.
    pub records: Records,
    /// Other names of users, as sources have them, with the users.
    aliases: BTreeMap<String, UserId>,
    projects: Rows<ProjectId, Project>,
    users: Rows<UserId, User>,
    machines: Rows<MachineId, Machine>,
    accounts: Rows<AccountId, Account>,
    keys: BTreeMap<String, Key>,
    cycles: BTreeMap<CycleId, Cycle>,
    members: BTreeMap<(ProjectId, UserId), (bool, MemberRole)>,
    /// Active members that are more than members, by user.
    leaders: BTreeMap<UserId, BTreeMap<ProjectId, MemberRole>>,
    grants: BTreeMap<GrantId, Grant>,
    limits: BTreeMap<LimitOf, Limit>,
    project_names: Names<ProjectId>,
    user_names: Names<UserId>,
    machine_names: Names<MachineId>,
    account_names: Names<AccountId>,
    /// Accounts by the project names of their allow rows.
    accounts_of: Names<Vec<AccountId>>,
    /// Accounts that no project name narrows down.
    accounts_open: Vec<AccountId>,
    /// Accounts whose lists look at more than project, user and machine.
    accounts_by_traits: BTreeSet<AccountId>,
    /// Accounts by the account above them.
    children: BTreeMap<AccountId, BTreeSet<AccountId>>,
    /// Projects of which nothing is watched.
    quiet: BTreeSet<ProjectId>,
}

impl Directory {
    /// An empty directory.
    pub fn new(bank: Bank, policy: Policy) -> Self {
        Directory {
            bank,
            policy,
            rates: Vec::new(),
            attributes: Vec::new(),
            mappings: Mappings::default(),
            records: Records::default(),
            aliases: BTreeMap::new(),
            projects: Rows::default(),
            users: Rows::default(),
            machines: Rows::default(),
            accounts: Rows::default(),
            keys: BTreeMap::new(),
            cycles: BTreeMap::new(),
            members: BTreeMap::new(),
            leaders: BTreeMap::new(),
            grants: BTreeMap::new(),
            limits: BTreeMap::new(),
            project_names: Names::default(),
            user_names: Names::default(),
            machine_names: Names::default(),
            account_names: Names::default(),
            accounts_of: Names::default(),
            accounts_open: Vec::new(),
            accounts_by_traits: BTreeSet::new(),
            children: BTreeMap::new(),
            quiet: BTreeSet::new(),
        }
    }

    /// Adds or replaces a project without its record.
    pub fn put_project(&mut self, project: Project) {
        self.project_names.insert(project.name.clone(), project.id);
        self.projects.insert(project.id, project);
    }

    /// Adds or replaces a user without their record.
    pub fn put_user(&mut self, user: User) {
        self.put_aliases(&user);
        self.user_names.insert(user.name.clone(), user.id);
        self.users.insert(user.id, user);
    }

    /// Adds or replaces a record, and the object that is made of it.
    pub fn put_record(&mut self, record: Record) {
        self.put_records([record]);
    }

    /// Adds or replaces records, which may refer to each other in any order.
    pub fn put_records(&mut self, records: impl IntoIterator<Item = Record>) {
        let put = records.into_iter().map(|record| {
            let own = (record.kind.clone(), record.key.clone());
            self.records.put(record);
            own
        });
        for (kind, key) in put.collect::<Vec<_>>() {
            self.put_object(&kind, &key);
        }
    }

    fn put_object(&mut self, kind: &str, key: &RecordKey) {
        let Some(record) = self.records.ever(kind, key) else {
            return;
        };
        match kind {
            "project" => self.put_project(Project::of(record, &self.records)),
            "user" => self.put_user(User::of(record, &self.records)),
            "machine" => self.put_machine(Machine::of(record)),
            "mapping" => self.mappings.put(mapping_of(record)),
            "attribute" => self.put_attribute(Attribute::of(record)),
            _ => {}
        }
    }

    fn put_machine(&mut self, machine: Machine) {
        self.machine_names.insert(machine.name.clone(), machine.id);
        self.machines.insert(machine.id, machine);
    }

    /// Adds or replaces an account with its lists.
    pub fn put_account(&mut self, account: Account) {
        let id = account.id;
        self.accounts_open.retain(|a| *a != id);
        self.accounts_by_traits.remove(&id);
        self.relink(&account);
        for of in self.accounts_of.values_mut() {
            of.retain(|a| *a != id);
        }
        if !account.deleted && account.name != UNBILLED {
            self.index_account(&account);
        }
        self.account_names.insert(account.name.clone(), id);
        self.accounts.insert(id, account);
    }

    fn index_account(&mut self, account: &Account) {
        if account
            .constraints
            .iter()
            .any(|c| !c.dimension.is_ordinary())
        {
            self.accounts_by_traits.insert(account.id);
        }
        let rows = account.constraints.iter();
        let mut allowed = rows
            .filter(|c| c.dimension == Dimension::Project && c.allow)
            .peekable();
        if allowed.peek().is_none() {
            self.accounts_open.push(account.id);
            return;
        }
        for row in allowed {
            if row.value == "ANY" || row.value == "MEMBERS" {
                self.accounts_open.push(account.id);
            } else {
                self.accounts_of
                    .entry(row.value.clone())
                    .or_default()
                    .push(account.id);
            }
        }
    }

    /// Adds or replaces a membership.
    pub fn put_member(&mut self, member: Member) {
        self.lead(&member);
        self.members
            .insert((member.project, member.user), (member.active, member.role));
    }

    /// Takes a membership away.
    pub fn remove_member(&mut self, project: ProjectId, user: UserId) {
        self.members.remove(&(project, user));
        if let Some(led) = self.leaders.get_mut(&user) {
            led.remove(&project);
        }
    }

    /// Adds or replaces a rate.
    pub fn put_rate(&mut self, rate: Rate) {
        self.rates.retain(|r| r.id != rate.id);
        let end = |r: &Rate| (r.window.end.unwrap_or(Timestamp::MAX), Reverse(r.id));
        let own = end(&rate);
        let place = self.rates.partition_point(|r| end(r) > own);
        self.rates.insert(place, rate);
    }

    /// The rates that were not over at an instant: all that can count there. What ended before costs
    /// nothing to pass over, however much of it there is.
    pub fn rates_at(&self, at: Timestamp) -> &[Rate] {
        let over = self.rates.partition_point(|r| !r.window.is_over(at));
        self.rates.get(..over).unwrap_or(&self.rates)
    }

    fn put_attribute(&mut self, attribute: Attribute) {
        self.attributes
            .retain(|a| !a.name.eq_ignore_ascii_case(&attribute.name));
        let place = self.attributes.partition_point(|a| a.name < attribute.name);
        self.attributes.insert(place, attribute);
    }

    /// A declared attribute by name, in any case, unless it was taken back.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        let own = |a: &&Attribute| !a.deleted && a.name.eq_ignore_ascii_case(name);
        self.attributes.iter().find(own)
    }

    /// Adds or replaces a key's public half.
    pub fn put_key(&mut self, key: Key) {
        self.keys.insert(key.id.clone(), key);
    }

    /// A project by number.
    pub fn project(&self, id: ProjectId) -> Option<&Project> {
        self.projects.get(&id)
    }

    /// A user by number.
    pub fn user(&self, id: UserId) -> Option<&User> {
        self.users.get(&id)
    }

    /// A machine by number.
    pub fn machine(&self, id: MachineId) -> Option<&Machine> {
        self.machines.get(&id)
    }

    /// An account by number.
    pub fn account(&self, id: AccountId) -> Option<&Account> {
        self.accounts.get(&id)
    }

    /// A project by name, unless it was removed.
    pub fn project_named(&self, name: &str) -> Option<&Project> {
        self.any_project_named(name).filter(|p| !p.deleted)
    }

    /// A project by name, removed or not: for usage that must find its payer.
    pub fn any_project_named(&self, name: &str) -> Option<&Project> {
        self.project_names
            .get(name)
            .and_then(|id| self.projects.get(id))
    }

    /// A user by name, unless they were removed.
    pub fn user_named(&self, name: &str) -> Option<&User> {
        let user = self.user_names.get(name).and_then(|id| self.users.get(id));
        user.filter(|u| !u.deleted)
    }

    /// A machine by name, unless it was removed.
    pub fn machine_named(&self, name: &str) -> Option<&Machine> {
        self.any_machine_named(name).filter(|m| !m.deleted)
    }

    /// A machine by name, removed or not: usage that comes late has its rates, mode and source.
    pub fn any_machine_named(&self, name: &str) -> Option<&Machine> {
        let id = self.machine_names.get(name)?;
        self.machines.get(id)
    }

    /// An account by name, unless it was removed.
    pub fn account_named(&self, name: &str) -> Option<&Account> {
        self.any_account_named(name).filter(|a| !a.deleted)
    }

    /// An account by name, removed or not.
    pub fn any_account_named(&self, name: &str) -> Option<&Account> {
        let id = self.account_names.get(name)?;
        self.accounts.get(id)
    }

    /// The number of a new object: that of a removed one of the same name, which comes back, else
    /// the next. `None` where one of that name is there. A removed key never comes back.
    pub fn number_for(&self, kind: &str, name: &str) -> Option<i64> {
        let known = match kind {
            "account" => self.any_account_named(name).map(|a| (a.id.0, a.deleted)),
            _ => self.keys.get(name).map(|_| (0, false)),
        };
        match known {
            None => Some(self.next_id(kind)),
            Some((number, true)) => Some(number),
            Some((_, false)) => None,
        }
    }

    /// A key's public half, unless it was removed.
    pub fn key(&self, id: &str) -> Option<&Key> {
        self.keys.get(id).filter(|k| !k.deleted)
    }

    /// Every project that was not removed, by number.
    pub fn projects(&self) -> impl Iterator<Item = &Project> {
        self.projects.values().filter(|p| !p.deleted)
    }

    /// Every user that was not removed, by number.
    pub fn users(&self) -> impl Iterator<Item = &User> {
        self.users.values().filter(|u| !u.deleted)
    }

    /// Every machine that was not removed, by number.
    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.machines.values().filter(|m| !m.deleted)
    }

    /// Every account that was not removed, by number, the suspense account too.
    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.all_accounts().filter(|a| !a.deleted)
    }

    /// Every account by number, removed ones too.
    pub fn all_accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values()
    }

    /// A key's or a token's public half, removed ones too: no id is used twice.
    pub fn key_ever(&self, id: &str) -> Option<&Key> {
        self.keys.get(id)
    }

    /// Every key that was not removed, by id.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.values().filter(|k| !k.deleted)
    }

    /// The members of all projects, in no order.
    pub fn members(&self) -> impl Iterator<Item = Member> {
        self.members.iter().map(member)
    }

    /// The members of a project, by user number.
    pub fn members_of(&self, project: ProjectId) -> Vec<Member> {
        let all = (project, UserId(i64::MIN))..=(project, UserId(i64::MAX));
        self.members.range(all).map(member).collect()
    }

    /// The projects that a user is a member of, removed ones included, by number.
    pub fn memberships_of(&self, user: UserId) -> Vec<ProjectId> {
        let of = self.members.iter().filter(|((_, own), _)| *own == user);
        let mut projects: Vec<ProjectId> = of.map(|((project, _), _)| *project).collect();
        projects.sort_unstable();
        projects
    }

    /// Whether a user is an active member of a project.
    pub fn is_member(&self, project: ProjectId, user: UserId) -> bool {
        let member = self.members.get(&(project, user));
        member.is_some_and(|(active, _)| *active)
    }

    /// Whether a user has a place in a project, active or not.
    pub fn membership(&self, project: ProjectId, user: UserId) -> Option<Member> {
        let found = self.members.get_key_value(&(project, user));
        found.map(member)
    }

    /// The number that the next object of a kind gets.
    pub fn next_id(&self, kind: &str) -> i64 {
        let last = match kind {
            "account" => self.accounts.last_number().map(|id| id.0),
            "cycle" => return self.next_cycle_id(),
            "grant" => self.grants.last_key_value().map(|(id, _)| id.0),
            _ => self.rates.iter().map(|r| r.id.0).max(),
        };
        last.unwrap_or(0).saturating_add(1)
    }

    /// A project and those above it, nearest first; a broken chain of parents ends it.
    pub fn lineage(&self, project: ProjectId) -> Vec<&Project> {
        let mut line: Vec<&Project> = Vec::new();
        let mut next = self.projects.get(&project);
        while let Some(project) = next {
            if line.iter().any(|p| p.id == project.id) {
                break;
            }
            line.push(project);
            next = project.parent.and_then(|id| self.projects.get(&id));
        }
        line
    }

    /// Accounts whose project lists may match a project: a superset, in no special order.
    pub(crate) fn accounts_near<'a>(&'a self, lineage: &[&Project]) -> Vec<&'a Account> {
        let named = lineage
            .iter()
            .filter_map(|p| self.accounts_of.get(&p.name))
            .flatten();
        let mut ids: Vec<AccountId> = named.chain(&self.accounts_open).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids.iter().filter_map(|id| self.accounts.get(id)).collect()
    }

    /// Accounts that may pay for a project, itself or after an account below it: a superset, by number.
    pub fn accounts_around(&self, project: ProjectId) -> BTreeSet<AccountId> {
        let near = self.accounts_near(&self.lineage(project));
        let mut found: BTreeSet<AccountId> = near.iter().map(|account| account.id).collect();
        let mut above: Vec<AccountId> = found.iter().copied().collect();
        while let Some(id) = above.pop() {
            let link = self.accounts.get(&id).and_then(|account| account.link);
            if let Some(link) = link.filter(|link| !found.contains(&link.parent)) {
                found.insert(link.parent);
                above.push(link.parent);
            }
        }
        found
    }

    /// The suspense account, made with the bank.
    pub fn suspense(&self) -> Option<&Account> {
        self.account_names
            .get(UNBILLED)
            .and_then(|id| self.accounts.get(id))
    }
}

/// A place in a project, as it is kept.
fn member(
    ((project, user), (active, role)): (&(ProjectId, UserId), &(bool, MemberRole)),
) -> Member {
    Member {
        project: *project,
        user: *user,
        active: *active,
        role: *role,
    }
}
