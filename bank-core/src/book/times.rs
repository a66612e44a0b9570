//! Time of reservations, as commands ask for it.

use super::Book;
use crate::need::Need;
use crate::reservation::ReservationTime;
use crate::view::View;

impl Book {
    /// The rows of a reservation, of the instances in view, and of a transaction that is reversed.
    pub(super) fn add_times(&self, need: &Need, view: &mut View) {
        let target = view.past.first().map(|past| past.id);
        let is_asked = |time: &&ReservationTime| {
            let of_key = need.times.as_ref().is_some_and(|query| {
                let meets = query.span.is_none_or(|span| time.span.meets(&span));
                query.key == time.key && meets
            });
            let of_instance =
                need.own_times && view.instances.iter().any(|i| i.id == time.instance);
            of_key || of_instance || Some(time.tx) == target
        };
        view.times = self.times.iter().filter(is_asked).cloned().collect();
    }
}
