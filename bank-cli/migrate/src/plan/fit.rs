//! Values that this bank keeps: decimals of amounts, windows, references to objects that exist.

use std::collections::{BTreeMap, BTreeSet};

use bank_api::text::format_rfc3339;
use bank_core_values::domain::is_address;

use crate::{
    Settings,
    fault::Fault,
    figure::Figure,
    old::{Member, Old},
};

/// Checks every amount and time, and leaves out references to objects that do not exist.
pub(super) fn check(old: &mut Old, settings: &Settings) -> Result<(), Fault> {
    amounts(old, settings)?;
    times(old, settings)?;
    references(old);
    members_once(old);
    Ok(())
}

/// A finished job has ended, and a reservation ends after it starts.
fn times(old: &Old, settings: &Settings) -> Result<(), Fault> {
    if let Some(job) = old.jobs.iter().find(|job| job.end > settings.now) {
        let end = format_rfc3339(job.end);
        let name = if job.id.is_empty() { &job.key } else { &job.id };
        let place = old.place(&format!("job {}", job.key));
        let what = format!("{place}finished job {name} ends at {end}, which is later than now");
        let hint = "correct the time of its end, or the time zone with --tz";
        return Err(Fault::new(what, hint));
    }
    let mut liens = old.liens.iter();
    let wrong = liens.find(|own| {
        own.start
            .zip(own.end)
            .is_some_and(|(start, end)| end < start)
    });
    match wrong {
        Some(lien) => {
            let place = old.place(&format!("lien {}", lien.key));
            let (key, job) = (&lien.key, &lien.job);
            Err(Fault::new(
                format!("{place}reservation {key} of job {job} ends before it starts"),
                "correct one of the times, or move without reservations: --no-reservations",
            ))
        }
        None => Ok(()),
    }
}

fn amounts(old: &mut Old, settings: &Settings) -> Result<(), Fault> {
    let precision = settings.precision;
    let places = &old.places;
    let mut noisy = 0_usize;
    let mut fit = |figure: &mut Figure, what: &dyn Fn() -> String| {
        let rounded = figure.rounded(precision);
        if rounded == *figure {
            return Ok(());
        }
        if !rounded.is_near(*figure) {
            let places = figure.places();
            return Err(Fault::new(
                format!(
                    "{}: {figure} has {places} decimals; this bank keeps {precision} (precision = {precision})",
                    what()
                ),
                format!(
                    "move into a bank made with `bankd init --precision {}`, or change the amount in the old bank",
                    places.min(6)
                ),
            ));
        }
        noisy += 1;
        *figure = rounded;
        Ok(())
    };
    for own in &mut old.allocations {
        let (key, place) = (own.key.clone(), own.place.clone());
        let what = |field: &str| format!("{place}: {field} of allocation {key}");
        fit(&mut own.amount, &|| what("amount"))?;
        fit(&mut own.credit_limit, &|| what("credit limit"))?;
        if let Some(deposited) = &mut own.deposited {
            fit(deposited, &|| what("deposited"))?;
        }
    }
    for lien in &mut old.liens {
        let (key, place) = (lien.key.clone(), places.get(&format!("lien {}", lien.key)));
        let place = place.map_or_else(String::new, |place| format!("{place}: "));
        for part in &mut lien.parts {
            let what = || format!("{place}amount of reservation {key}");
            fit(&mut part.amount, &what)?;
        }
    }
    let mut rounded_charges = 0_usize;
    for job in &mut old.jobs {
        let rounded = job.charge.rounded(precision);
        if rounded != job.charge && !rounded.is_near(job.charge) {
            rounded_charges += 1;
        }
        job.charge = rounded;
    }
    if noisy > 0 {
        old.notes.push(format!(
            "{noisy} amounts differ from {precision} decimals by less than a millionth: the noise of \
             binary numbers, rounded away"
        ));
    }
    if rounded_charges > 0 {
        old.notes.push(format!(
            "charges of {rounded_charges} finished jobs have more than {precision} decimals: they were \
             rounded"
        ));
    }
    Ok(())
}

/// A user is one member of a project, however often the old bank lists it, as Slurm does for each partition. It is active
/// if one of the lines is, and manager likewise.
fn members_once(old: &mut Old) {
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut once: Vec<Member> = Vec::new();
    for member in std::mem::take(&mut old.members) {
        let key = (member.project.clone(), member.user.clone());
        let place = places.get(&key).copied();
        if let Some(first) = place.and_then(|place| once.get_mut(place)) {
            let what = format!("{} of project {}", member.user, member.project);
            old.skipped
                .add("further lines of members that are moved once", what);
            first.active |= member.active;
            first.role = first.role.take().or(member.role);
        } else {
            places.insert(key, once.len());
            once.push(member);
        }
    }
    old.members = once;
}

/// A name in a list that no object has matches nothing. A list without its names excludes everything still.
fn references(old: &mut Old) {
    let names = |names: Vec<&String>| -> BTreeSet<String> { names.into_iter().cloned().collect() };
    let users = names(old.users.iter().map(|own| &own.name).collect());
    let machines = names(old.machines.iter().map(|own| &own.name).collect());
    let projects = names(old.projects.iter().map(|own| &own.name).collect());
    let skipped = &mut old.skipped;
    for user in &mut old.users {
        let default = &mut user.default_project;
        if !default.is_empty() && !projects.contains(default) {
            let what = format!("{default} of user {}", user.name);
            skipped.add("default projects that do not exist", what);
            default.clear();
        }
        let mail = user.email.trim();
        if !mail.is_empty() && !is_address(mail) {
            let what = format!("{mail} of user {}", user.name);
            skipped.add("mail addresses that no mail can be sent to", what);
            user.email.clear();
        }
    }
    for project in &mut old.projects {
        let name = project.name.clone();
        project.machines.retain(|machine| {
            let is_known = machines.contains(machine);
            if !is_known {
                let what = format!("{machine} of project {name}");
                skipped.add("machines of projects that do not exist", what);
            }
            is_known
        });
    }
    old.members.retain(|member| {
        let is_known = projects.contains(&member.project) && users.contains(&member.user);
        if !is_known {
            let what = format!("{} of project {}", member.user, member.project);
            skipped.add("members whose user or project does not exist", what);
        }
        is_known
    });
    for account in &mut old.accounts {
        let key = account.key.clone();
        for (dimension, list) in &mut account.lists {
            let known = match dimension.as_str() {
                "project" => &projects,
                "user" => &users,
                "machine" => &machines,
                _ => continue,
            };
            list.retain(|entry| {
                let is_word = ["ANY", "MEMBERS"].contains(&entry.value.as_str());
                let is_known = is_word || known.contains(&entry.value);
                if !is_known {
                    let what = format!("{dimension} {} of account {key}", entry.value);
                    skipped.add("names in lists of accounts that do not exist", what);
                }
                is_known
            });
        }
    }
}
