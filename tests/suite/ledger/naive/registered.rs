//! The undo of changes of projects, users, machines and attributes.

use super::{Machine, Naive, Project, User};
use crate::ledger::reply::refused;
use std::collections::{BTreeMap, BTreeSet};

/// Whether these operations change what is registered.
pub(super) fn is_registered(op: &str) -> bool {
    let (kind, verb) = op.split_once('_').unwrap_or((op, ""));
    ["attr", "machine", "project", "user"].contains(&kind) && ["add", "set", "rm"].contains(&verb)
}

/// An object by the word of its kind and its name.
type Named = (&'static str, String);

/// A project with a member, who may be inactive.
pub(super) type Membership = (String, (String, bool));

/// All objects, and all memberships.
type Registry = (BTreeMap<Named, Object>, BTreeSet<Membership>);

/// An object, without the members of a project.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    Attribute(bool),
    Machine(Machine),
    Project(Project),
    User(User),
}

impl Object {
    fn is_gone(&self) -> bool {
        match self {
            Object::Attribute(_) => false,
            Object::Machine(own) => own.is_gone,
            Object::Project(own) => own.is_gone,
            Object::User(own) => own.is_gone,
        }
    }
}

/// What a transaction changed of an object.
#[derive(Clone, Debug)]
pub(super) struct Change {
    of: Named,
    before: Option<Object>,
    after: Option<Object>,
}

impl Naive {
    /// All objects, and the members of all projects.
    pub(super) fn objects(&self) -> Registry {
        let attributes = self.attributes.iter();
        let attributes =
            attributes.map(|(name, own)| (("attribute", name.clone()), Object::Attribute(*own)));
        let machines = self.machines.iter();
        let machines =
            machines.map(|own| (("machine", own.name.clone()), Object::Machine(own.clone())));
        let projects = self.projects.iter().map(|own| {
            let members = Vec::new();
            let own = own.clone();
            let project = Project { members, ..own };
            (("project", project.name.clone()), Object::Project(project))
        });
        let users = self.users.iter();
        let users = users.map(|own| (("user", own.name.clone()), Object::User(own.clone())));
        let all = attributes.chain(machines).chain(projects).chain(users);
        let members = self.projects.iter().flat_map(|p| {
            let of = move |own: &(String, bool)| (p.name.clone(), own.clone());
            p.members.iter().map(of)
        });
        (all.collect(), members.collect())
    }

    /// Notes in the newest transaction what changed since, and the object that the command named.
    pub(super) fn note_changes(&mut self, named: (&str, &str), before: &Registry) {
        let after = self.objects();
        let mut keys: Vec<Named> = before.0.keys().chain(after.0.keys()).cloned().collect();
        keys.sort();
        keys.dedup();
        let changes = keys.into_iter().filter_map(|of| {
            let (was, is) = (before.0.get(&of).cloned(), after.0.get(&of).cloned());
            let is_named = (of.0, of.1.as_str()) == named;
            (is_named || was != is).then_some(Change {
                of,
                before: was,
                after: is,
            })
        });
        let changes: Vec<Change> = changes.collect();
        let who = |(project, (user, _)): &Membership| (project.clone(), user.clone());
        let there: BTreeSet<_> = after.1.iter().map(who).collect();
        let ended = before.1.iter().filter(|own| !there.contains(&who(own)));
        let ended = ended.cloned().collect();
        let more = !after.1.is_subset(&before.1);
        let tx = self.tx();
        tx.changed = changes;
        tx.ended_members = ended;
        tx.changed_members = more;
    }

    pub(super) fn undo_registered(&mut self, target: usize) -> Result<(), String> {
        let tx = &self.journal[target];
        if tx.changed_members {
            return Err(refused("not_reversible"));
        }
        let (changes, ended) = (tx.changed.clone(), tx.ended_members.clone());
        for change in &changes {
            let now = self.objects().0.get(&change.of).cloned();
            if now != change.after {
                return Err(refused("not_reversible"));
            }
            match change.before.as_ref().filter(|own| !own.is_gone()) {
                None => self.check_unused(&change.of, &changes)?,
                Some(before) => self.check_back(before, change, &changes)?,
            }
        }
        for change in &changes {
            self.put_back(change);
        }
        let is_there = |own: &User, name: &str| own.name == name && !own.is_gone;
        let mut came = false;
        for (project, member) in &ended {
            if !self.users.iter().any(|own| is_there(own, &member.0)) {
                continue;
            }
            let own = self.projects.iter_mut().find(|own| own.name == *project);
            let members = &mut own.unwrap().members;
            members.retain(|(user, _)| *user != member.0);
            members.push(member.clone());
            came = true;
        }
        self.begin("undo", self.now);
        let opposite = changes.into_iter().map(|change| Change {
            of: change.of.clone(),
            after: self.objects().0.get(&change.of).cloned(),
            before: change.after,
        });
        let opposite = opposite.collect();
        self.tx().reverses = Some(target);
        self.tx().changed = opposite;
        self.tx().changed_members = came;
        Ok(())
    }

    /// What an undo takes away may be neither referred to nor used.
    fn check_unused(&self, (kind, name): &Named, all: &[Change]) -> Result<(), String> {
        let is_listed = || {
            let comes = |p: &&Project| all.iter().any(|c| c.of == ("project", p.name.clone()));
            let there = self.projects.iter().filter(|p| !p.is_gone);
            let mut others = there.filter(|project| !comes(project));
            others.any(|project| project.machines.contains(name))
        };
        let is_member = || {
            let mut members = self.projects.iter().flat_map(|p| &p.members);
            members.any(|(user, _)| user == name)
        };
        let is_used = match *kind {
            "attribute" => self.is_rated(name),
            "machine" => self.has_open(|i| i.machine == *name) || is_listed(),
            "project" => self.is_project_used(name),
            _ => self.has_open(|i| i.facts.user == *name) || is_member(),
        };
        if is_used {
            return Err(refused("in_use"));
        }
        Ok(())
    }

    /// What comes back must find what it refers to.
    fn check_back(&self, own: &Object, change: &Change, all: &[Change]) -> Result<(), String> {
        let after = change.after.as_ref();
        let was_gone = after.is_none_or(Object::is_gone);
        match (own, after) {
            (Object::Project(own), Some(Object::Project(after))) => {
                let parent = own.parent.as_ref();
                if let Some(parent) = parent.filter(|_| was_gone || own.parent != after.parent) {
                    self.project_at(parent)?;
                }
                let comes = |name: &String| {
                    let mut others = all.iter().filter(|c| c.of == ("machine", name.clone()));
                    others.any(|c| c.before.as_ref().is_some_and(|own| !own.is_gone()))
                };
                if was_gone || own.machines != after.machines {
                    for machine in own.machines.iter().filter(|name| !comes(name)) {
                        self.machine_at(machine)?;
                    }
                }
                let line = parent
                    .map(|parent| self.line_of(parent))
                    .unwrap_or_default();
                if line.contains(&own.name) {
                    return Err(refused("cycle"));
                }
            }
            (Object::User(own), Some(Object::User(after))) => {
                let default = own.default_project.as_ref();
                let is_back = was_gone || own.default_project != after.default_project;
                if let Some(project) = default.filter(|_| is_back) {
                    self.project_at(project)?;
                }
            }
            (Object::Machine(own), Some(Object::Machine(after))) => {
                let is_back = was_gone || own.fallback != after.fallback;
                if let Some(fallback) = own.fallback.as_ref().filter(|_| is_back) {
                    self.check_fallback(None, fallback)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn put_back(&mut self, change: &Change) {
        let name = &change.of.1;
        match (&change.before, &change.after) {
            (Some(Object::Attribute(number)), _) => self.attributes.push((name.clone(), *number)),
            (None, Some(Object::Attribute(_))) => self.attributes.retain(|(own, _)| own != name),
            (Some(Object::Machine(own)), _) => {
                let at = self.machines.iter().position(|m| m.name == *name).unwrap();
                self.machines[at] = own.clone();
            }
            (Some(Object::User(own)), _) => {
                let at = self.users.iter().position(|u| u.name == *name).unwrap();
                self.users[at] = own.clone();
            }
            (Some(Object::Project(own)), _) => {
                let at = self.projects.iter().position(|p| p.name == *name).unwrap();
                let members = std::mem::take(&mut self.projects[at].members);
                self.projects[at] = Project {
                    members,
                    ..own.clone()
                };
            }
            (None, _) => {
                let machines = self.machines.iter_mut().filter(|own| own.name == *name);
                let is = |kind: &str| change.of.0 == kind;
                machines
                    .filter(|_| is("machine"))
                    .for_each(|own| own.is_gone = true);
                let users = self.users.iter_mut().filter(|own| own.name == *name);
                users
                    .filter(|_| is("user"))
                    .for_each(|own| own.is_gone = true);
                let projects = self.projects.iter_mut().filter(|own| own.name == *name);
                projects
                    .filter(|_| is("project"))
                    .for_each(|own| own.is_gone = true);
            }
        }
    }
}
