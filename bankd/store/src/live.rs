//! Instances whose lien holds money, as they were written last, so that a charge need not ask the database for the two
//! rows that its reserve wrote.
//!
//! There is one writer, and all writes go through `append`: the remembered values are those of the database inside the
//! open transaction. A rollback clears them. The tests compare each one with its rows.

use bank_core::effects::InstanceChange;
use bank_core::ids::InstanceId;
use bank_core::model::{Instance, InstanceKey, Lien};
use foldhash::HashMap;

/// Instances remembered at most, some 25 MB. Further ones are read from the database.
const INSTANCES_MAX: usize = 16_384;

/// The only instance of its key.
#[derive(Debug)]
struct Only {
    id: InstanceId,
    /// None while a command has it, and after that, unless the command wrote it.
    value: Option<Box<Instance>>,
}

/// The cache.
#[derive(Debug, Default)]
pub(super) struct Live(HashMap<InstanceKey, Only>);

impl Live {
    /// The only instance of a key, for the command that asks for it first.
    pub(super) fn take(&mut self, key: &InstanceKey) -> Option<Instance> {
        let only = self.0.get_mut(key)?;
        only.value.take().map(|value| *value)
    }

    /// Takes over the instances that a command wrote beside these liens. Numbers of new ones begin with `fresh`.
    pub(super) fn wrote<'l>(
        &mut self,
        changes: &[InstanceChange],
        mut liens: impl Iterator<Item = &'l Lien>,
        fresh: i64,
    ) {
        let is_written = |id| changes.iter().any(|change| change.instance.id == id);
        if liens.any(|lien| !is_written(lien.instance)) {
            self.forget();
            return;
        }
        for InstanceChange { instance, .. } in changes {
            self.wrote_one(instance, instance.id.0 >= fresh);
        }
    }

    fn wrote_one(&mut self, instance: &Instance, is_new: bool) {
        let is_live = instance.is_open() && instance.lien.is_some();
        let has_room = self.0.len() < INSTANCES_MAX;
        match self.0.get_mut(&instance.key) {
            Some(only) if only.id == instance.id && is_live => only.value = Some(stored(instance)),
            Some(_) => {
                self.0.remove(&instance.key);
            }
            // The first use of an id is its only one.
            None if is_new && is_live && has_room && instance.number == 1 => {
                let only = Only {
                    id: instance.id,
                    value: Some(stored(instance)),
                };
                self.0.insert(instance.key.clone(), only);
            }
            None => {}
        }
    }

    /// Clears it: the transaction was rolled back, or rows changed that no instance was written with.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

/// An instance as its row has it: two quantities are those of a single charge.
fn stored(instance: &Instance) -> Box<Instance> {
    let mut stored = Box::new(instance.clone());
    stored.facts.usage.counted = None;
    stored.facts.usage.idle = None;
    stored
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core::amount::Amount;
    use bank_core::ids::LienId;
    use bank_core::model::{Closing, LienState, ObjectType};
    use bank_core::time::Timestamp;

    fn key() -> InstanceKey {
        InstanceKey {
            machine: "m".to_owned(),
            object_type: ObjectType::Job,
            object_id: "1".to_owned(),
        }
    }

    fn lien(instance: InstanceId) -> Lien {
        Lien {
            id: LienId(1),
            instance,
            state: LienState::Open,
            placed: Amount(5),
            start: Timestamp(0),
            end: Timestamp(9),
            shadow: false,
            portions: Vec::new(),
            lapsed: Amount::ZERO,
        }
    }

    fn instance(id: i64, number: i64) -> Instance {
        let id = InstanceId(id);
        Instance {
            lien: Some(lien(id)),
            ..Instance::new(id, key(), number, Timestamp(0))
        }
    }

    /// Writes an instance, which is new from the number 7 on.
    fn write(live: &mut Live, instance: &Instance) {
        let change = InstanceChange {
            instance: instance.clone(),
            facts_changed: true,
            standing_changed: true,
        };
        live.wrote(&[change], instance.lien.iter(), 7);
    }

    #[test]
    fn the_only_use_of_an_id_is_remembered_while_it_holds_money() {
        let mut live = Live::default();
        let mut own = instance(7, 1);
        write(&mut live, &own);
        assert_eq!(live.take(&key()), Some(own.clone()));
        assert_eq!(live.take(&key()), None);
        own.billed = Amount(3);
        write(&mut live, &own);
        assert_eq!(live.take(&key()), Some(own.clone()));
        own.lien = None;
        write(&mut live, &own);
        assert_eq!(live.take(&key()), None);
        own.lien = Some(lien(own.id));
        live.forget();
        write(&mut live, &own);
        own.closed = Some((Timestamp(1), Closing::End));
        write(&mut live, &own);
        assert_eq!(live.take(&key()), None);
    }

    #[test]
    fn an_id_that_was_used_before_is_read_from_the_database() {
        let mut live = Live::default();
        // Not new: there may be others.
        write(&mut live, &instance(6, 1));
        assert_eq!(live.take(&key()), None);
        write(&mut live, &instance(7, 2));
        assert_eq!(live.take(&key()), None);
        write(&mut live, &instance(7, 1));
        write(&mut live, &instance(8, 2));
        assert_eq!(live.take(&key()), None);
    }

    #[test]
    fn a_lien_without_its_instance_clears_everything() {
        let mut live = Live::default();
        write(&mut live, &instance(7, 1));
        live.wrote(&[], [lien(InstanceId(7))].iter(), 8);
        assert_eq!(live.take(&key()), None);
    }
}
