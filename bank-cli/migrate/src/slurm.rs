//! Slurm: the associations of `sacctmgr dump`, with limits in `GrpTRESMins` and what is used of them.

mod dump;
mod usage;

use std::collections::BTreeMap;
use std::path::PathBuf;

use self::dump::{Dump, Held};
use crate::{
    fault::Fault,
    figure::Figure,
    folder,
    old::{Account, Allocation, Entry, Machine, Member, Old, Project, User},
};

/// Where the associations are, and what a minute of a limit is worth.
#[derive(Debug, Clone)]
pub struct Slurm {
    /// The file of `sacctmgr dump`.
    pub dump: PathBuf,
    /// The output of `scontrol -o show assoc_mgr` or `sshare -P`.
    pub usage: Option<PathBuf>,
    /// The resource of the limit, such as `cpu`.
    pub tres: String,
    /// Credits for a minute of it.
    pub per_minute: String,
}

pub(crate) fn read(slurm: &Slurm) -> Result<Old, Fault> {
    let per_minute = Figure::parse(&slurm.per_minute);
    let per_minute = per_minute.filter(|own| !own.is_negative() && !own.is_zero());
    let bad = || {
        Fault::new(
            format!(
                "--per-minute {:?} is not a number of credits above zero",
                slurm.per_minute
            ),
            "--per-minute 60 is one credit for each second of a processor",
        )
    };
    let per_minute = per_minute.ok_or_else(bad)?;
    let name = slurm.dump.display().to_string();
    let dump = dump::read(&name, &folder::bytes(&slurm.dump)?, &slurm.tres)?;
    let used = match &slurm.usage {
        Some(path) => {
            let name = path.display().to_string();
            usage::read(&name, &folder::bytes(path)?, slurm, &dump)?
        }
        None => BTreeMap::new(),
    };
    let mut old = Old::default();
    if slurm.usage.is_none() {
        old.notes
            .push("no --usage: every limit is moved as if nothing of it were used".to_owned());
    }
    objects(&dump, &mut old);
    money(&dump, &used, slurm, per_minute, &mut old)?;
    for (what, places) in &dump.unmoved {
        for place in places {
            old.skipped
                .add(format!("limits of Slurm: {what}"), place.clone());
        }
    }
    Ok(old)
}

fn objects(dump: &Dump, old: &mut Old) {
    old.machines.push(Machine {
        name: dump.cluster.clone(),
        active: true,
        description: "cluster of Slurm".to_owned(),
        ..Machine::default()
    });
    places(dump, old);
    for held in &dump.accounts {
        old.projects.push(Project {
            name: held.name.clone(),
            active: true,
            parent: held.parent.clone(),
            organization: held.value("Organization").to_owned(),
            description: held.value("Description").to_owned(),
            machines: vec![dump.cluster.clone()],
        });
    }
    let mut users: BTreeMap<&str, User> = BTreeMap::new();
    for held in &dump.users {
        let own = users.entry(&held.name).or_insert_with(|| User {
            name: held.name.clone(),
            active: true,
            ..User::default()
        });
        let default = held.value("DefaultAccount");
        if !default.is_empty() {
            default.clone_into(&mut own.default_project);
        }
        let coordinates = held
            .value("Coordinator")
            .split(',')
            .any(|own| own == held.parent);
        old.members.push(Member {
            project: held.parent.clone(),
            user: held.name.clone(),
            active: true,
            role: coordinates.then(|| "manager".to_owned()),
        });
        if !["", "None"].contains(&held.value("AdminLevel")) {
            let level = held.value("AdminLevel");
            let reason = "levels of administrators: `bank role grant` gives a role";
            old.skipped.add(reason, format!("{level} of {}", held.name));
        }
    }
    old.users = users.into_values().collect();
    // A coordinator of a project that they are no member of.
    for held in &dump.users {
        for project in held
            .value("Coordinator")
            .split(',')
            .filter(|own| !own.is_empty())
        {
            let is_member = dump
                .users
                .iter()
                .any(|own| own.name == held.name && own.parent == project);
            if !is_member {
                old.skipped.add(
                    "coordinators who are not members",
                    format!("{} of {project}", held.name),
                );
            }
        }
    }
}

/// Notes the lines of all objects.
fn places(dump: &Dump, old: &mut Old) {
    for held in &dump.accounts {
        for kind in ["project", "account", "allocation"] {
            let id = format!("{kind} {}", held.name);
            old.places.insert(id, held.place.clone());
        }
    }
    for held in &dump.users {
        let user = format!("user {}", held.name);
        let member = format!("member {} {}", held.parent, held.name);
        for id in [user, member] {
            old.places.entry(id).or_insert_with(|| held.place.clone());
        }
    }
}

/// The account of a project, for its members. With a limit, projects below it pay from it too, except those with
/// a limit of their own.
fn account(held: &Held, has_limit: bool, apart: &[&str]) -> Account {
    let entry = |value: &str, allow, subtree| Entry {
        value: value.to_owned(),
        allow,
        subtree,
    };
    let mut projects = vec![entry(&held.name, true, has_limit)];
    projects.extend(apart.iter().map(|below| entry(below, false, true)));
    let users = vec![entry("MEMBERS", true, false)];
    let lists = [("project", projects), ("user", users)];
    Account {
        key: held.name.clone(),
        name: held.name.clone(),
        description: held.value("Description").to_owned(),
        lists: lists.map(|(name, list)| (name.to_owned(), list)).into(),
        ..Account::default()
    }
}

/// An account for each project, and an allocation for each limit. Money is where the limit is: usage below it
/// counts in it, and projects below it without a limit pay from it.
fn money(
    dump: &Dump,
    used: &BTreeMap<String, Figure>,
    slurm: &Slurm,
    per_minute: Figure,
    old: &mut Old,
) -> Result<(), Fault> {
    let mut apart = dump.limited_below(&slurm.tres)?;
    let mut without = Vec::new();
    for held in &dump.accounts {
        let limit = held.limit(&slurm.tres)?;
        let apart = apart.remove(held.name.as_str()).unwrap_or_default();
        old.accounts.push(account(held, limit.is_some(), &apart));
        let Some(minutes) = limit else {
            without.push(held.name.clone());
            continue;
        };
        let too_large = || {
            Fault::new(
                format!(
                    "{}: GrpTRESMins {}={minutes} of account {} is too large",
                    held.place, slurm.tres, held.name
                ),
                "use a smaller --per-minute, or remove the limit in Slurm and make the dump again",
            )
        };
        let credits = |minutes: Figure| minutes.times(per_minute).ok_or_else(too_large);
        let gone = used.get(&held.name).copied().unwrap_or_default();
        if !used.is_empty() && !used.contains_key(&held.name) {
            old.notes.push(format!(
                "the file of usage has no account {}: 0 is used",
                held.name
            ));
        }
        let deposited = credits(minutes)?;
        old.allocations.push(Allocation {
            key: held.name.clone(),
            account: held.name.clone(),
            start: None,
            end: None,
            amount: deposited.minus(credits(gone)?),
            deposited: Some(deposited),
            credit_limit: Figure::ZERO,
            note: format!("GrpTRESMins {}={minutes}, {gone} used", slurm.tres),
            place: held.place.clone(),
        });
    }
    let users = dump.users.iter().filter(|own| own.has_limits());
    for own in users {
        let what = format!("user {} of {}: {}", own.name, own.parent, own.limits());
        old.skipped.add("limits of single users", what);
    }
    for name in without {
        let reason = format!(
            "Slurm accounts without a limit of {}: no allocation",
            slurm.tres
        );
        old.skipped.add(reason, name);
    }
    Ok(())
}
