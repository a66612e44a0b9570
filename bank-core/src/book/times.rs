//! Time of reservations, as commands ask for it.

use super::Book;
use crate::ids::InstanceId;
use crate::need::Need;
use crate::reservation::ReservationTime;
use crate::view::View;
use std::collections::BTreeSet;

impl Book {
    /// The rows of a reservation, of the instances in view, and of those of a transaction that is reversed.
    pub(super) fn add_times(&self, need: &Need, view: &mut View) {
        let target = view.past.first().map(|past| past.id);
        let of_target = self.times.iter().filter(|time| Some(time.tx) == target);
        let reversed: BTreeSet<InstanceId> = of_target.map(|time| time.instance).collect();
        let is_asked = |time: &&ReservationTime| {
            let of_key = need.times.as_ref().is_some_and(|query| {
                let meets = query.span.is_none_or(|span| time.span.meets(&span));
                query.key == time.key && meets
            });
            let of_instance =
                need.own_times && view.instances.iter().any(|i| i.id == time.instance);
            of_key || of_instance || reversed.contains(&time.instance)
        };
        view.times = self.times.iter().filter(is_asked).cloned().collect();
    }
}
