//! Projects, users, machines and members.

use super::{Answer, Instance, Machine, Naive, Project, User};
use crate::ledger::reply::refused;
use bank_core::command::{RecordAction, RecordChange, SetMember};
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

    fn add_project(&mut self, name: &str, set: &[(String, Value)]) -> Answer {
        if self.project(name).is_some() {
            return Err(refused("already_exists"));
        }
        // One that was removed comes again as a new one.
        let before = self.projects.clone();
        self.projects.retain(|p| p.name != name);
        self.projects.push(Project {
            name: name.to_owned(),
            is_active: true,
            ..Project::default()
        });
        if let Err(refusal) = self.change_project(name, set) {
            self.projects = before;
            return Err(refusal);
        }
        Ok(self.registered("project_add", "done"))
    }

    pub(super) fn project_at(&self, name: &str) -> Result<usize, String> {
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

    pub(super) fn machine_at(&self, name: &str) -> Result<usize, String> {
        let found = self
            .machines
            .iter()
            .position(|m| m.name == name && !m.is_gone);
        found.ok_or_else(|| refused("not_found"))
    }

    fn change_project(&mut self, name: &str, set: &[(String, Value)]) -> Result<(), String> {
        let at = self.project_at(name)?;
        for (field, value) in set {
            match (field.as_str(), value) {
                ("parent", Value::Text(parent)) => {
                    self.project_at(parent)?;
                }
                ("machines", Value::List(names)) => {
                    for name in names {
                        self.machine_at(name)?;
                    }
                }
                _ => {}
            }
        }
        for (field, value) in set {
            let text = match value {
                Value::Text(text) => Some(text.clone()).filter(|text| text != "default"),
                _ => None,
            };
            if let ("parent", Some(parent)) = (field.as_str(), &text)
                && self.line_of(parent).contains(&name.to_owned())
            {
                return Err(refused("cycle"));
            }
            let project = &mut self.projects[at];
            match (field.as_str(), value) {
                ("active", Value::Flag(active)) => project.is_active = *active,
                ("parent", _) => project.parent = text,
                ("mode", _) => project.mode = text.as_deref().and_then(Mode::parse),
                ("organization", _) => project.organization = text.unwrap_or_default(),
                ("machines", Value::List(names)) => project.machines.clone_from(names),
                ("no_account", Value::Flag(true)) => {}
                _ => panic!("the scripts have no {field} of projects"),
            }
        }
        Ok(())
    }

    pub(super) fn has_open(&self, is: impl Fn(&Instance) -> bool) -> bool {
        let mut open = self.instances.iter().filter(|i| i.closed.is_none());
        open.any(is)
    }

    /// Whether a project is referred to, or open work names it.
    pub(super) fn is_project_used(&self, name: &str) -> bool {
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
        let is_named = || self.has_open(|i| i.facts.project == name);
        has_child() || is_listed() || is_default() || is_named()
    }

    fn remove_project(&mut self, name: &str) -> Answer {
        let at = self.project_at(name)?;
        if self.is_project_used(name) {
            return Err(refused("in_use"));
        }
        self.projects[at].is_gone = true;
        Ok(self.registered("project_rm", "removed"))
    }

    fn add_user(&mut self, name: &str, set: &[(String, Value)]) -> Answer {
        if self.user_at(name).is_ok() {
            return Err(refused("already_exists"));
        }
        let before = self.users.clone();
        self.users.retain(|u| u.name != name);
        self.users.push(User {
            name: name.to_owned(),
            is_active: true,
            ..User::default()
        });
        if let Err(refusal) = self.change_user(name, set) {
            self.users = before;
            return Err(refusal);
        }
        Ok(self.registered("user_add", "done"))
    }

    fn change_user(&mut self, name: &str, set: &[(String, Value)]) -> Result<(), String> {
        let at = self.user_at(name)?;
        for (field, value) in set {
            let text = match value {
                Value::Text(text) => Some(text.clone()),
                _ => None,
            };
            if let ("default_project", Some(project)) = (field.as_str(), &text) {
                self.project_at(project)?;
            }
            let user = &mut self.users[at];
            match (field.as_str(), value) {
                ("active", Value::Flag(active)) => user.is_active = *active,
                ("default_project", _) => user.default_project = text,
                ("organization", _) => user.organization = text.unwrap_or_default(),
                _ => panic!("the scripts have no {field} of users"),
            }
        }
        Ok(())
    }

    fn remove_user(&mut self, name: &str) -> Answer {
        let at = self.user_at(name)?;
        if self.has_open(|i| i.facts.user == name) {
            return Err(refused("in_use"));
        }
        self.users[at].is_gone = true;
        for project in &mut self.projects {
            project.members.retain(|(user, _)| user != name);
        }
        Ok(self.registered("user_rm", "removed"))
    }

    /// Projects, users, machines and attributes: the other kinds move no money, and the scripts have none.
    pub(super) fn change_record(&mut self, change: &RecordChange) -> Answer {
        let before = self.objects();
        let answer = self.change_named(change)?;
        if matches!(change.action, RecordAction::Set(..)) {
            if self.objects() == before {
                // What changes nothing is no transaction.
                return Ok(answer);
            }
            let op = match change.kind.as_str() {
                "project" => "project_set",
                "user" => "user_set",
                _ => "machine_set",
            };
            self.begin(op, self.now);
        }
        let (RecordAction::Add(Some(key), _)
        | RecordAction::Set(key, _)
        | RecordAction::Remove(key)) = &change.action
        else {
            panic!("the scripts have no numbered records");
        };
        self.note_changes((&change.kind, &key.to_string()), &before);
        Ok(answer)
    }

    fn change_named(&mut self, change: &RecordChange) -> Answer {
        let name = |key: &Key| key.to_string();
        match (change.kind.as_str(), &change.action) {
            ("project", RecordAction::Add(Some(key), set)) => self.add_project(&name(key), set),
            ("project", RecordAction::Set(key, set)) => {
                self.change_project(&name(key), set)?;
                Ok("done".to_owned())
            }
            ("project", RecordAction::Remove(key)) => self.remove_project(&name(key)),
            ("user", RecordAction::Add(Some(key), set)) => self.add_user(&name(key), set),
            ("user", RecordAction::Set(key, set)) => {
                self.change_user(&name(key), set)?;
                Ok("done".to_owned())
            }
            ("user", RecordAction::Remove(key)) => self.remove_user(&name(key)),
            ("machine", RecordAction::Add(Some(key), set)) => self.add_machine(&name(key), set),
            ("machine", RecordAction::Set(key, set)) => {
                self.change_machine(&name(key), set)?;
                Ok("done".to_owned())
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
        if self.has_open(|i| i.machine == name) {
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
        let own = (set.user.clone(), set.active.unwrap_or(true));
        let members = &mut self.projects[at].members;
        if members.contains(&own) {
            return Ok("done".to_owned());
        }
        members.retain(|(user, _)| *user != set.user);
        members.push(own);
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
