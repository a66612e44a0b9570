//! What comes beside jobs: reservations that pay for their idle time, and history of another bank.

use serde_json::{Value, json};

use super::house::time;
use super::steps::{MACHINES, PROJECTS, USERS};

/// The reservation that all jobs on the first machine name.
pub(super) const RESERVATION: &str = "r1";

/// Time of the reservation, as its scheduler reports it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserved {
    pub(super) processors: i64,
    pub(super) length: i64,
    /// Seconds from its end to the document.
    pub(super) late: i64,
    pub(super) project: usize,
    /// It is the last document of this use of the reservation.
    pub(super) closes: bool,
}

/// A finished job that another bank charged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    pub(super) job: u64,
    pub(super) age: i64,
    pub(super) length: i64,
    pub(super) charge: i64,
    pub(super) project: usize,
}

/// The event and the document of time of the reservation.
pub(super) fn document(own: Reserved, now: i64) -> (&'static str, String) {
    let (end, length) = (now - own.late, own.length);
    let event = if own.closes { "end" } else { "charge" };
    let document = format!(
        "<Reservation><ObjectID>{RESERVATION}</ObjectID><User>amy</User><Account>{}</Account>\
         <Machine>{}</Machine><Processors>{}</Processors><ChargeDuration>{length}</ChargeDuration>\
         <StartTime>{}</StartTime><EndTime>{end}</EndTime></Reservation>",
        PROJECTS[own.project],
        MACHINES[0],
        own.processors,
        end - length,
    );
    (event, document)
}

/// The record of a job of the other bank.
pub(super) fn record(own: Past, now: i64) -> Value {
    let start = now - own.age - own.length;
    json!({
        "source": "oldbank", "id": format!("old.{}", own.job), "machine": MACHINES[2],
        "project": PROJECTS[own.project], "user": USERS[0], "processors": 2,
        "start": time(start), "end": time(start + own.length),
        "charged_before": own.charge.to_string(),
    })
}
