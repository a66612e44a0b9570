//! Open reservations as liens.

use bank_api::text::format_rfc3339;
use bank_api::v1::OpeningLien;

use super::Names;
use crate::{
    Settings,
    figure::Figure,
    old::{Lien, Old},
};

/// A reservation without end is held so long: a year.
const NO_END_US: i64 = 366 * DAY_US;
const DAY_US: i64 = 86_400_000_000;

/// The reservations that are open, with their requests.
pub(super) fn open(old: &mut Old, names: &Names, settings: &Settings) -> Vec<(Lien, OpeningLien)> {
    let mut found: Vec<(Lien, OpeningLien)> = Vec::new();
    for lien in merged(old, settings) {
        let amount = lien.amount();
        let Some(project) = names.projects.get(&lien.project) else {
            continue;
        };
        let Some(machine) = names.machines.get(&lien.machine) else {
            continue;
        };
        // Without a start it begins at the opening. That time is not in the contents, which a repeat must not change.
        let began = lien.start.unwrap_or(settings.at);
        let end = lien.end.unwrap_or_else(|| began.saturating_add(NO_END_US));
        let body = OpeningLien {
            job: lien.job.clone(),
            machine: machine.clone(),
            project: project.clone(),
            user: names.users.get(&lien.user).cloned(),
            amount: amount.to_string(),
            start: lien.start.map(format_rfc3339),
            end: format_rfc3339(end),
            processors: lien.processors,
            nodes: lien.nodes,
            class: lien.class.clone(),
            qos: lien.qos.clone(),
        };
        found.push((lien, body));
    }
    found
}

/// Open reservations, those of one job together. The others are listed with their reason.
fn merged(old: &mut Old, settings: &Settings) -> Vec<Lien> {
    let mut open: Vec<Lien> = Vec::new();
    let only_machine = match old.machines.as_slice() {
        [only] => only.name.clone(),
        _ => String::new(),
    };
    for mut lien in old.liens.clone() {
        let what = shown(&lien);
        if lien.is_over(settings.now) {
            old.skipped.add("reservations that are over", what);
            continue;
        }
        if lien.machine.is_empty() {
            lien.machine.clone_from(&only_machine);
        }
        if let Some(reason) = unmovable(old, &lien) {
            old.skipped
                .add(format!("open reservations: {reason}"), what);
            continue;
        }
        let same = |own: &&mut Lien| own.job == lien.job && own.machine == lien.machine;
        match open.iter_mut().find(same) {
            Some(own) if own.project == lien.project && own.user == lien.user => {
                own.parts.extend(lien.parts);
                own.start = own.start.min(lien.start);
                own.end = own.end.zip(lien.end).map(|(a, b)| a.max(b));
                let key = &own.key;
                old.notes.push(format!(
                    "reservation {} is of the same job as {key}: one lien holds both",
                    lien.key
                ));
            }
            Some(_) => {
                let reason = "open reservations: another one is of the same job, for another project or user";
                old.skipped.add(reason, what);
            }
            None => open.push(lien),
        }
    }
    open
}

fn shown(lien: &Lien) -> String {
    let end = lien.end.map_or_else(
        || "without end".to_owned(),
        |end| format!("until {}", format_rfc3339(end)),
    );
    format!(
        "reservation {} of job {}: {} {end}",
        lien.key,
        lien.job,
        lien.amount()
    )
}

/// Why the rules of this bank refuse a lien.
fn unmovable(old: &Old, lien: &Lien) -> Option<&'static str> {
    let is_active = |found: Option<bool>| found == Some(true);
    let project = old.projects.iter().find(|own| own.name == lien.project);
    let machine = old.machines.iter().find(|own| own.name == lien.machine);
    let user = old.users.iter().find(|own| own.name == lien.user);
    if lien.job.is_empty() {
        return Some("they name no job");
    }
    if lien.amount() == Figure::ZERO {
        return Some("they hold nothing");
    }
    if !is_active(project.map(|own| own.active)) {
        return Some("their project does not exist or is inactive");
    }
    if !is_active(machine.map(|own| own.active)) {
        return Some("their machine does not exist or is inactive");
    }
    if !lien.user.is_empty() && !is_active(user.map(|own| own.active)) {
        return Some("their user does not exist or is inactive");
    }
    None
}
