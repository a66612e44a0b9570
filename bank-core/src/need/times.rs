//! Rows of time of reservations that commands need (decision 0171).

use super::{Need, late};
use crate::command::{Charge, Request, Whose};
use crate::directory::Directory;
use crate::ids::InstanceId;
use crate::model::{Instance, ObjectType, ReservationCharge};
use crate::reservation::{ReservationKey, TimeChange, TimeQuery, before, whole_days};
use crate::select;
use crate::time::{Seconds, Timestamp};

/// Whether the scheduler of a machine reports all time of reservations.
pub(super) fn are_reported(request: &Request, directory: &Directory) -> bool {
    let machine = directory.any_machine_named(&request.whose.machine);
    machine.is_some_and(|m| m.reservation_charge == ReservationCharge::Reported)
}

/// The time of a reservation on the days of its charge. A total replaces all of it.
pub(super) fn of_charge(
    charge: &Charge,
    at: Timestamp,
    directory: &Directory,
) -> Option<TimeQuery> {
    let facts = &charge.request.facts;
    let mut query = of_request(&charge.request, directory)?;
    if !charge.terms.total {
        let window = charge.terms.window;
        let end = facts.end.filter(|end| *end <= at).unwrap_or(at);
        let duration = charge.duration.unwrap_or(Seconds(0));
        query.span = Some(whole_days(window.unwrap_or_else(|| before(end, duration))));
    }
    Some(query)
}

/// All time of the reservation that a request is about, if its scheduler reports all of it.
pub(super) fn of_request(request: &Request, directory: &Directory) -> Option<TimeQuery> {
    let is_reserved = request.object_type == ObjectType::Reservation;
    (is_reserved && are_reported(request, directory)).then(|| TimeQuery {
        key: ReservationKey {
            machine: request.whose.machine.clone(),
            reservation: request.object_id.clone(),
        },
        span: None,
    })
}

/// The time of a reservation on the days of a change.
fn query(change: &TimeChange) -> TimeQuery {
    TimeQuery {
        key: change.key.clone(),
        span: Some(whole_days(change.span)),
    }
}

/// The time of the changed reservation.
pub(crate) fn of_change(change: &TimeChange) -> Need {
    Need {
        times: Some(query(change)),
        ..Need::default()
    }
}

/// The rows that correct a charge of a reservation after a change: the use of its id, its payments, and the
/// accounts that may pay, once the use and the instant are known at which the correction counts.
pub(crate) fn of_correction(
    change: &TimeChange,
    id: InstanceId,
    known: Option<(&Instance, Timestamp)>,
    directory: &Directory,
    now: Timestamp,
) -> Need {
    let payers = |instance: &Instance| {
        let nobody = Whose {
            machine: instance.key.machine.clone(),
            for_reservation: true,
            ..Whose::default()
        };
        let mut accounts = select::possible_payers(directory, &nobody.or_of(&instance.facts));
        accounts.extend(directory.suspense().map(|a| a.id));
        let kept = instance.account.and_then(|id| directory.account(id));
        let machine = directory
            .any_machine_named(&instance.key.machine)
            .map(|m| m.id);
        let fallback = kept.and_then(|account| directory.fallback_of(account, machine));
        accounts.extend(fallback.map(|account| account.id));
        accounts
    };
    let at = known.map_or(now, |(_, at)| at);
    Need {
        use_of: Some(id),
        times: Some(query(change)),
        accounts: known.map(|(own, _)| payers(own)).unwrap_or_default(),
        ending_after: Some(change.span.start.min(at)),
        came_after: late(at, directory, now),
        paid: known.is_some(),
        history: known.is_some(),
        ..Need::default()
    }
}
