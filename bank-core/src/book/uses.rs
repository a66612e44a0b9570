//! Finished uses, as commands ask for them.

use super::Book;
use crate::command::Identity;
use crate::effects::{KnownUse, OtherUse, ReturnedUse, UseRow};
use crate::ids::InstanceId;
use crate::model::{Instance, InstanceKey, ObjectType};
use crate::need::{INSTANCES_MAX, Need};
use crate::reconcile::is_same_id;
use crate::view::View;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether two keys are those of one object.
fn is_alike(one: &InstanceKey, other: &InstanceKey) -> bool {
    let is_same = is_same_id(&one.object_id, &other.object_id);
    is_same && one.machine == other.machine && one.object_type == other.object_type
}

impl Book {
    /// Whether an object was ever used, with or without the name of a server after its id.
    pub(super) fn is_used(&self, key: &InstanceKey) -> bool {
        self.instances.values().any(|i| is_alike(&i.key, key))
    }

    /// Takes an undone assignment of a finished use back, or does it again.
    pub(super) fn give_back(&mut self, row: &ReturnedUse) {
        let of_row = |known: &&mut UseRow| known.instance == Some(row.instance);
        for known in self.uses.values_mut().filter(of_row) {
            let whose = &mut Arc::make_mut(&mut known.report).request.whose;
            whose.project = Some(row.project.clone());
            whose.user = Some(row.user.clone());
            known.given = !row.waits;
            known.amount = Some(row.amount);
        }
    }

    /// The finished uses of an object, from any source.
    pub(super) fn others_of(&self, key: &InstanceKey) -> Vec<OtherUse> {
        let own = self.uses.values();
        let own = own.filter(|u| is_alike(&u.report.request.key(), key));
        own.map(UseRow::other).collect()
    }

    /// The finished uses that a command asks for, with their instances.
    pub(super) fn add_others(&self, need: &Need, view: &mut View) {
        if let Some(key) = &need.alias {
            let own = self.instances.values();
            let own = own.filter(|i| i.key != *key && is_alike(&i.key, key));
            let mut own: Vec<&Instance> = own.collect();
            own.sort_by_key(|i| Reverse((&i.key.object_id, i.number)));
            own.truncate(INSTANCES_MAX);
            own.retain(|i| view.instances.iter().all(|known| known.id != i.id));
            view.instances
                .extend(own.into_iter().map(|i| self.with_lien(i)));
        }
        if let Some(key) = &need.others {
            view.others = self.others_of(key);
            let own = self.uses.values();
            let aliases = own.filter(|u| u.report.request.key() != *key);
            for id in aliases.filter_map(|u| u.instance) {
                let is_meant = view.others.iter().any(|other| other.instance == Some(id));
                let is_known = view.instances.iter().any(|i| i.id == id);
                let missing = self.instances.get(&id.0);
                let missing = missing.filter(|_| is_meant && !is_known);
                view.instances.extend(missing.map(|i| self.with_lien(i)));
            }
        }
    }

    /// Whether a job was charged on a machine, other than by records of a source.
    pub(super) fn is_charged(&self, machine: &str, source: &str) -> bool {
        let own = self.uses.values().filter(|u| u.report.source == source);
        let own: BTreeSet<InstanceId> = own.filter_map(|u| u.instance).collect();
        let is_job = |i: &Instance| i.key.object_type == ObjectType::Job && i.last_usage.is_some();
        let mut jobs = self.instances.values().filter(|i| is_job(i));
        jobs.any(|i| i.key.machine == machine && !own.contains(&i.id))
    }

    /// The stored use of an identity, compared with a new record.
    pub(super) fn known(&self, identity: &Identity) -> Option<KnownUse> {
        let key = (identity.source.clone(), identity.id.clone(), identity.start);
        let own = self.uses.get(&key)?;
        // Equal texts differ in the reservation that they name.
        let is_equal = own.report.canonical() == identity.record;
        let earlier = self.earlier.get(&key);
        let earlier = earlier.filter(|_| !is_equal && !identity.is_present);
        Some(KnownUse {
            is_earlier: earlier.is_some_and(|all| all.contains(&identity.record)),
            ..own.known(identity)
        })
    }

    /// Stores a finished use. A record that it replaces is remembered, unless it is a run of samples.
    pub(super) fn take_use(&mut self, row: &UseRow) {
        let identity = row.report.identity();
        let key = (identity.source, identity.id, identity.start);
        let replaced = self.uses.insert(key.clone(), row.clone());
        if let Some(replaced) = replaced.filter(|_| !row.report.is_of_samples()) {
            let earlier = self.earlier.entry(key).or_default();
            earlier.push(replaced.report.canonical());
        }
    }

    /// The finished use of an identity, and its instance.
    pub(super) fn add_known(&self, identity: &Identity, view: &mut View) {
        view.known = self.known(identity);
        let instance = view.known.as_ref().and_then(|known| known.instance);
        let missing = instance.filter(|id| view.instances.iter().all(|i| i.id != *id));
        let found = missing.and_then(|id| self.instances.get(&id.0));
        view.instances.extend(found.map(|i| self.with_lien(i)));
    }
}
