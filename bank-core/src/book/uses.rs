//! Finished uses, as commands ask for them.

use super::Book;
use crate::effects::{OtherUse, UseRow};
use crate::model::InstanceKey;
use crate::need::{INSTANCES_MAX, Identity, Need};
use crate::reconcile::short_id;
use crate::view::View;

impl Book {
    /// Whether an object was ever used, with or without the name of a server after its id.
    pub(super) fn is_used(&self, key: &InstanceKey) -> bool {
        let short = short_id(&key.object_id);
        let is_own = |known: &InstanceKey| {
            let is_id = known.object_id == key.object_id || known.object_id == short;
            is_id && known.machine == key.machine && known.object_type == key.object_type
        };
        self.instances.values().any(|i| is_own(&i.key))
    }

    /// The finished uses of an object, from any source.
    pub(super) fn others_of(&self, key: &InstanceKey) -> Vec<OtherUse> {
        let is_meant = |known: &InstanceKey| {
            let (own, id) = (&known.object_id, &key.object_id);
            let is_same = own == id || short_id(own) == id.as_str() || short_id(id) == own.as_str();
            is_same && known.machine == key.machine && known.object_type == key.object_type
        };
        let own = self.uses.values();
        let own = own.filter(|u| is_meant(&u.report.request.key()));
        own.map(UseRow::other).collect()
    }

    /// The finished uses that a command asks for, with their instances.
    pub(super) fn add_others(&self, need: &Need, view: &mut View) {
        if let Some(key) = &need.alias {
            let own = self.instances.values().rev().filter(|i| i.key == *key);
            let own = own.take(INSTANCES_MAX).map(|i| self.with_lien(i));
            view.instances.extend(own);
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

    /// The finished use of an identity, and its instance.
    pub(super) fn add_known(&self, identity: &Identity, view: &mut View) {
        let Identity {
            source, id, start, ..
        } = identity.clone();
        let known = self.uses.get(&(source, id, start));
        view.known = known.map(|known| known.known(&identity.record));
        let instance = view.known.as_ref().and_then(|known| known.instance);
        let missing = instance.filter(|id| view.instances.iter().all(|i| i.id != *id));
        let found = missing.and_then(|id| self.instances.get(&id.0));
        view.instances.extend(found.map(|i| self.with_lien(i)));
    }
}
