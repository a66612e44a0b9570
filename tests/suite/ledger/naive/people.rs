//! Projects, users, machines and members.

use super::{Answer, Machine, Naive, Project, User};
use crate::ledger::reply::refused;
use bank_core::command::{AddProject, RecordAction, RecordChange, SetMember, SetProject, SetUser};
use bank_core::kind::{Key, Value};
use bank_core::model::Dimension;
use bank_core::model::Mode;
use bank_core::policy::ChargePolicy;

impl Naive {
    /// A change of what is registered: a transaction without entries.
    pub(super) fn registered(&mut self, op: &'static str, answer: &str) -> String {
        self.begin(op, self.now);
        answer.to_owned()
    }

    pub(super) fn add_project(&mut self, add: &AddProject) -> Answer {
        if self.project(&add.name).is_some() {
            return Err(refused("already_exists"));
        }
        if add
            .parent
            .as_deref()
            .is_some_and(|name| self.project(name).is_none())
        {
            return Err(refused("not_found"));
        }
        // One that was removed comes again as a new one.
        self.projects.retain(|p| p.name != add.name);
        self.projects.push(Project {
            name: add.name.clone(),
            parent: add.parent.clone(),
            is_active: true,
            mode: add.mode,
            organization: add.organization.clone(),
            ..Project::default()
        });
        Ok(self.registered("project_add", "done"))
    }

    fn project_at(&self, name: &str) -> Result<usize, String> {
        let found = self
            .projects
            .iter()
            .position(|p| p.name == name && !p.is_gone);
        found.ok_or_else(|| refused("not_found"))
    }

    fn user_at(&self, name: &str) -> Result<usize, String> {
        let found = self.users.iter().position(|u| u.name == name && !u.is_gone);
        found.ok_or_else(|| refused("not_found"))
    }

    fn machine_at(&self, name: &str) -> Result<usize, String> {
        let found = self
            .machines
            .iter()
            .position(|m| m.name == name && !m.is_gone);
        found.ok_or_else(|| refused("not_found"))
    }

    pub(super) fn set_project(&mut self, set: &SetProject) -> Answer {
        let at = self.project_at(&set.name)?;
        if let Some(parent) = &set.parent {
            if let Some(name) = parent {
                self.project_at(name)?;
                if self.line_of(name).contains(&set.name) {
                    return Err(refused("cycle"));
                }
            }
            self.projects[at].parent.clone_from(parent);
        }
        if let Some(names) = &set.machines {
            for name in names {
                self.machine_at(name)?;
            }
            self.projects[at].machines.clone_from(names);
        }
        let project = &mut self.projects[at];
        project.is_active = set.active.unwrap_or(project.is_active);
        project.mode = set.mode.unwrap_or(project.mode);
        if let Some(organization) = &set.organization {
            project.organization.clone_from(organization);
        }
        Ok(self.registered("project_set", "done"))
    }

    pub(super) fn remove_project(&mut self, name: &str) -> Answer {
        let at = self.project_at(name)?;
        let has_child = || {
            let mut there = self.projects.iter().filter(|p| !p.is_gone);
            there.any(|p| p.parent.as_deref() == Some(name))
        };
        let is_listed = || {
            let there = self.accounts.iter().filter(|a| !a.is_gone);
            let mut rows = there.flat_map(|a| &a.lists);
            rows.any(|c| c.dimension == Dimension::Project && c.value == name)
        };
        let is_default = || {
            let mut there = self.users.iter().filter(|u| !u.is_gone);
            there.any(|u| u.default_project.as_deref() == Some(name))
        };
        let is_used = || {
            let mut open = self.instances.iter().filter(|i| i.closed.is_none());
            open.any(|i| i.facts.project == name)
        };
        if has_child() || is_listed() || is_default() || is_used() {
            return Err(refused("in_use"));
        }
        self.projects[at].is_gone = true;
        Ok(self.registered("project_rm", "removed"))
    }

    pub(super) fn add_user(&mut self, set: &SetUser) -> Answer {
        if self.user_at(&set.name).is_ok() {
            return Err(refused("already_exists"));
        }
        self.users.retain(|u| u.name != set.name);
        self.users.push(User {
            name: set.name.clone(),
            is_active: true,
            ..User::default()
        });
        self.change_user(set)?;
        Ok(self.registered("user_add", "done"))
    }

    pub(super) fn set_user(&mut self, set: &SetUser) -> Answer {
        self.change_user(set)?;
        Ok(self.registered("user_set", "done"))
    }

    fn change_user(&mut self, set: &SetUser) -> Result<(), String> {
        let at = self.user_at(&set.name)?;
        if let Some(Some(project)) = &set.default_project {
            self.project_at(project)?;
        }
        let user = &mut self.users[at];
        user.is_active = set.active.unwrap_or(user.is_active);
        if let Some(project) = &set.default_project {
            user.default_project.clone_from(project);
        }
        if let Some(organization) = &set.organization {
            user.organization.clone_from(organization);
        }
        Ok(())
    }

    pub(super) fn remove_user(&mut self, name: &str) -> Answer {
        let at = self.user_at(name)?;
        let mut open = self.instances.iter().filter(|i| i.closed.is_none());
        if open.any(|i| i.facts.user == name) {
            return Err(refused("in_use"));
        }
        self.users[at].is_gone = true;
        for project in &mut self.projects {
            project.members.retain(|(user, _)| user != name);
        }
        Ok(self.registered("user_rm", "removed"))
    }

    /// Machines and attributes: the other kinds move no money, and the scripts have none.
    pub(super) fn change_record(&mut self, change: &RecordChange) -> Answer {
        let name = |key: &Key| key.to_string();
        match (change.kind.as_str(), &change.action) {
            ("machine", RecordAction::Add(Some(key), set)) => self.add_machine(&name(key), set),
            ("machine", RecordAction::Set(key, set)) => {
                self.change_machine(&name(key), set)?;
                Ok(self.registered("machine_set", "done"))
            }
            ("machine", RecordAction::Remove(key)) => self.remove_machine(&name(key)),
            ("attribute", RecordAction::Add(Some(key), set)) => self.add_attribute(&name(key), set),
            ("attribute", RecordAction::Remove(key)) => self.remove_attribute(&name(key)),
            (kind, _) => panic!("the scripts have no {kind}"),
        }
    }

    fn add_machine(&mut self, name: &str, set: &[(String, Value)]) -> Answer {
        if self.machine_at(name).is_ok() {
            return Err(refused("already_exists"));
        }
        self.machines.retain(|m| m.name != name);
        self.machines.push(Machine {
            name: name.to_owned(),
            is_active: true,
            flush_seconds: 3600,
            ..Machine::default()
        });
        self.change_machine(name, set)?;
        Ok(self.registered("machine_add", "done"))
    }

    fn change_machine(&mut self, name: &str, set: &[(String, Value)]) -> Result<(), String> {
        let at = self.machine_at(name)?;
        for (field, value) in set {
            let text = match value {
                Value::Text(text) => Some(text.clone()).filter(|text| text != "default"),
                _ => None,
            };
            if let ("fallback", Some(fallback)) = (field.as_str(), &text) {
                self.check_fallback(None, fallback)?;
            }
            let machine = &mut self.machines[at];
            match (field.as_str(), value) {
                ("active", Value::Flag(active)) => machine.is_active = *active,
                ("mode", _) => machine.mode = text.as_deref().and_then(Mode::parse),
                ("flush_interval_s", Value::Whole(seconds)) => machine.flush_seconds = *seconds,
                ("fallback", _) => machine.fallback = text,
                ("source", _) => machine.source = text,
                ("fallback_qos", _) => machine.fallback_qos = text,
                ("charge_policy", _) => {
                    machine.policy = text.as_deref().and_then(ChargePolicy::parse);
                }
                ("test", Value::Flag(is_test)) => machine.is_test = *is_test,
                _ => panic!("the scripts have no {field} of machines"),
            }
        }
        Ok(())
    }

    fn remove_machine(&mut self, name: &str) -> Answer {
        let at = self.machine_at(name)?;
        let mut open = self.instances.iter().filter(|i| i.closed.is_none());
        if open.any(|i| i.machine == name) {
            return Err(refused("in_use"));
        }
        self.machines[at].is_gone = true;
        for project in &mut self.projects {
            project.machines.retain(|machine| machine != name);
        }
        Ok(self.registered("machine_rm", "removed"))
    }

    pub(super) fn set_member(&mut self, set: &SetMember) -> Answer {
        let at = self.project_at(&set.project)?;
        self.user_at(&set.user)?;
        let members = &mut self.projects[at].members;
        members.retain(|(user, _)| *user != set.user);
        let active = set.active.unwrap_or(true);
        members.push((set.user.clone(), active));
        Ok(self.registered("member_set", "done"))
    }

    pub(super) fn remove_member(&mut self, project: &str, user: &str) -> Answer {
        let at = self.project_at(project)?;
        self.user_at(user)?;
        let members = &mut self.projects[at].members;
        let known = members.iter().position(|(name, _)| name == user);
        members.remove(known.ok_or_else(|| refused("not_found"))?);
        Ok(self.registered("member_rm", "removed"))
    }
}
