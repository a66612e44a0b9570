//! Finished uses of the old bank: they count in reports with the old charge, and move no money.

use std::collections::BTreeSet;

use bank_api::text::format_rfc3339;
use bank_api::v1::{NewUsage, Number};

use super::names::Names;
use crate::{
    Settings,
    figure::Figure,
    old::{Job, Machine, Old},
};

/// The records, oldest first. Every charge of the old bank is in one of them.
pub(super) fn records(old: &mut Old, names: &Names, settings: &Settings) -> Vec<NewUsage> {
    let mut jobs = std::mem::take(&mut old.jobs);
    jobs.sort_by(|a, b| (a.end, &a.key).cmp(&(b.end, &b.key)));
    let all = jobs.len();
    jobs.retain(|job| settings.since.is_none_or(|since| job.end >= since));
    if jobs.len() < all {
        let left = all - jobs.len();
        old.skipped
            .add("finished jobs before --since", format!("{left} jobs"));
    }
    let estimated = jobs.iter().filter(|job| job.is_estimated).count();
    if estimated > 0 {
        old.notes.push(format!(
            "{estimated} finished jobs have no start or end in the old bank: the end is the time of the \
             last charge, the start is the end less the charged time"
        ));
    }
    let mut seen = BTreeSet::new();
    let mut records = Vec::with_capacity(jobs.len());
    for job in &jobs {
        let mut record = record(job, names, settings);
        // The identity of a use is its id and start: two uses keep two.
        let identity = |record: &NewUsage| (record.id.clone(), record.start.clone());
        if !seen.insert(identity(&record)) {
            record.id = format!("{}#{}", record.id, job.key);
            seen.insert(identity(&record));
        }
        records.push(record);
    }
    old.jobs = jobs;
    records
}

fn record(job: &Job, names: &Names, settings: &Settings) -> NewUsage {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let of = |map: &std::collections::BTreeMap<String, String>, name: &str| {
        some(map.get(name).map_or(name, String::as_str))
    };
    let number = |count: Option<i64>| count.map(|count| Number(count.to_string()));
    let id = if job.id.is_empty() {
        format!("{}.{}", settings.source, job.key)
    } else {
        job.id.clone()
    };
    NewUsage {
        source: settings.source.clone(),
        id,
        project: of(&names.projects, &job.project),
        user: of(&names.users, &job.user),
        machine: of(&names.machines, &job.machine),
        charged_before: Some(job.charge.to_string()),
        qos: some(&job.qos),
        class: some(&job.class),
        start: Some(format_rfc3339(job.start.min(job.end))),
        end: Some(format_rfc3339(job.end)),
        processors: number(job.processors),
        nodes: number(job.nodes),
        memory_mb: number(job.memory_mb),
        ..NewUsage::default()
    }
}

/// The sum of the charges.
pub(super) fn sum(records: &[NewUsage]) -> String {
    let charges = records
        .iter()
        .filter_map(|own| own.charged_before.as_deref());
    let figures = charges.filter_map(Figure::parse);
    figures.fold(Figure::ZERO, Figure::plus).to_string()
}

/// Machines that only finished uses name, and one for uses without a machine: they are made inactive, so that
/// no use is lost.
pub(super) fn complete(old: &mut Old, settings: &Settings) {
    let known: BTreeSet<&str> = old.machines.iter().map(|own| own.name.as_str()).collect();
    let only = match old.machines.as_slice() {
        [only] => only.name.clone(),
        _ => settings.source.clone(),
    };
    let mut gone = BTreeSet::new();
    for job in &mut old.jobs {
        if job.machine.is_empty() {
            job.machine.clone_from(&only);
        }
        if !known.contains(job.machine.as_str()) {
            gone.insert(job.machine.clone());
        }
    }
    for name in gone {
        let note = format!("machine {name} is made inactive: only finished jobs name it");
        old.notes.push(note);
        old.machines.push(Machine {
            name,
            description: "only finished jobs of the old bank name it".to_owned(),
            ..Machine::default()
        });
    }
}
