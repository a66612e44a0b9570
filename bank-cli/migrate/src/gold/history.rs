//! Charged jobs. Gold's schedulers often send a duration and no times: the journal of Gold has the duration
//! of each charge, and its time.

use std::collections::{BTreeMap, BTreeSet};

use super::{Tables, time};
use crate::{
    fault::Fault,
    old::{Job, Old},
    table::Row,
};

/// The charges of a job in Gold's journal.
#[derive(Debug, Default)]
struct Charges {
    /// Requests: a charge has a row for each allocation.
    requests: BTreeSet<String>,
    seconds: i64,
    last: Option<i64>,
}

pub(super) fn read(tables: &Tables, old: &mut Old) -> Result<(), Fault> {
    let charges = charges(tables)?;
    if !tables.has("g_transaction") {
        old.notes.push(
            "g_transaction is missing: jobs without times get no duration, and end with their last \
             change"
                .to_owned(),
        );
    }
    for row in tables.rows("g_job")? {
        let charge = row.figure("g_charge")?.unwrap_or_default();
        let is_charged = row.text("g_stage").eq_ignore_ascii_case("Charge");
        if !is_charged && charge.is_zero() {
            continue;
        }
        let own = charges.get(row.text("g_id"));
        let job = job(&row, own)?;
        old.at(format!("job {}", job.key), &row);
        if charge.is_negative() {
            let reason = "jobs with a charge below zero";
            old.skipped
                .add(reason, format!("job {}: {charge}", job.key));
            continue;
        }
        old.jobs.push(Job { charge, ..job });
    }
    Ok(())
}

fn charges(tables: &Tables) -> Result<BTreeMap<String, Charges>, Fault> {
    let mut charges: BTreeMap<String, Charges> = BTreeMap::new();
    for row in tables.rows("g_transaction")? {
        if row.text("g_object") != "Job" || row.text("g_action") != "Charge" {
            continue;
        }
        let own = charges.entry(row.text("g_name").to_owned()).or_default();
        let request = row.text("g_request_id");
        let is_new = request.is_empty() || own.requests.insert(request.to_owned());
        if is_new {
            let seconds = duration(row.text("g_details"));
            own.seconds = own.seconds.saturating_add(seconds.unwrap_or(0));
        }
        own.last = own.last.max(time(&row, "g_creation_time")?);
    }
    Ok(charges)
}

/// `WallDuration` among the details of a charge: as an option `:=`, or as a property `=`.
fn duration(details: &str) -> Option<i64> {
    let values = details.split(',');
    let pairs = values.filter_map(|part| part.trim().split_once('='));
    let mut own = pairs.filter(|(name, _)| name.trim_end_matches(':') == "WallDuration");
    own.next_back()?.1.trim().parse().ok().filter(|s| *s >= 0)
}

fn job(row: &Row<'_>, charges: Option<&Charges>) -> Result<Job, Fault> {
    let (start, end) = (time(row, "g_start_time")?, time(row, "g_end_time")?);
    let seconds = row.whole("g_wall_duration")?.filter(|s| *s > 0);
    let sum = charges.map(|own| own.seconds).filter(|s| *s > 0);
    let seconds = seconds.or(sum).unwrap_or(0);
    let length = seconds.saturating_mul(1_000_000);
    let charged_at = charges.and_then(|own| own.last);
    let changed = match charged_at {
        Some(at) => Some(at),
        None => time(row, "g_modification_time")?.or(time(row, "g_creation_time")?),
    };
    let is_estimated = start.zip(end).is_none();
    let end = match (end, start) {
        (Some(end), _) => end,
        (None, Some(start)) if seconds > 0 => start.saturating_add(length),
        (None, start) => changed
            .or(start)
            .ok_or_else(|| row.fault("g_end_time", "is empty, and the job has no other time"))?,
    };
    let start = start.filter(|start| *start <= end);
    Ok(Job {
        key: row.text("g_id").to_owned(),
        id: row.text("g_job_id").to_owned(),
        project: row.text("g_project").to_owned(),
        user: row.text("g_user").to_owned(),
        machine: row.text("g_machine").to_owned(),
        class: row.text("g_queue").to_owned(),
        qos: row.text("g_quality_of_service").to_owned(),
        start: start.unwrap_or_else(|| end.saturating_sub(length)),
        end,
        is_estimated,
        processors: row.whole("g_processors")?.filter(|count| *count > 0),
        nodes: row.whole("g_nodes")?.filter(|count| *count > 0),
        ..Job::default()
    })
}
