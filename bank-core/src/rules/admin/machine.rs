//! Machines.

use super::{Change, check_fallback, check_listed_name};
use crate::command::SetMachine;
use crate::domain::is_domain_name;
use crate::effects::{DirectoryRow, Outcome};
use crate::ids::{MachineId, check_name};
use crate::model::{ChargeDuration, FLUSH_INTERVAL, Machine, Project};
use crate::policy::ChargePolicy;
use crate::refusal::Refusal;
use crate::select;
use crate::view::{Context, View};

/// Maui's and Moab's flush interval is between a second and a day (nami.md 1.3).
const FLUSH_MAX: i64 = 86_400;

pub(super) fn add(set: &SetMachine, ctx: &Context<'_>) -> Result<Change, Refusal> {
    check_listed_name(&set.name)?;
    let taken = || Refusal::AlreadyExists {
        kind: "machine".into(),
        name: set.name.clone(),
    };
    let id = ctx.directory.number_for("machine", &set.name);
    let id = MachineId(id.ok_or_else(taken)?);
    let machine = Machine {
        id,
        name: set.name.clone(),
        active: true,
        deleted: false,
        mode: None,
        flush_interval: FLUSH_INTERVAL,
        fallback: None,
        description: String::new(),
        architecture: String::new(),
        operating_system: String::new(),
        source: None,
        charge_policy: None,
        fallback_qos: None,
        fqdn: String::new(),
        reservation_account: None,
        test: false,
        charge_duration: None,
    };
    change(machine, set, ctx)
}

pub(super) fn set(set: &SetMachine, ctx: &Context<'_>) -> Result<Change, Refusal> {
    change(named(&set.name, ctx)?.clone(), set, ctx)
}

pub(super) fn remove(name: &str, view: &View, ctx: &Context<'_>) -> Result<Change, Refusal> {
    named(name, ctx)?;
    super::no_open_jobs(name, view)?;
    let gone = Machine {
        deleted: true,
        active: false,
        ..named(name, ctx)?.clone()
    };
    let id = gone.id;
    let with = ctx
        .directory
        .projects()
        .filter(|p| p.machines.contains(&id));
    let without = |project: &Project| {
        let mut project = project.clone();
        project.machines.retain(|m| *m != id);
        DirectoryRow::Project(project)
    };
    let mut rows: Vec<DirectoryRow> = with.map(without).collect();
    rows.push(DirectoryRow::Machine(gone));
    Ok(Change {
        rows,
        outcome: Outcome::Removed(name.to_owned()),
        detail: format!("machine={name}"),
    })
}

fn change(mut machine: Machine, set: &SetMachine, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let mut detail = format!("machine={}", set.name);
    if let Some(active) = set.active {
        machine.active = active;
        detail = format!("{detail} active={active}");
    }
    if let Some(mode) = set.mode {
        detail = format!("{detail} mode={}", super::switched(machine.mode, mode));
        machine.mode = mode;
    }
    if let Some(interval) = set.flush_interval {
        if !(1..=FLUSH_MAX).contains(&interval.0) {
            let expected = "1 to 86400 seconds";
            return Err(Refusal::BadValue {
                field: "flush_interval",
                expected,
            });
        }
        machine.flush_interval = interval;
        detail = format!("{detail} flush_interval={}", interval.0);
    }
    if let Some(fallback) = &set.fallback {
        if let Some(value) = fallback {
            check_fallback(None, value, ctx)?;
        }
        machine.fallback.clone_from(fallback);
        detail = format!(
            "{detail} fallback={}",
            fallback.as_deref().unwrap_or("none")
        );
    }
    scheduler(&mut machine, set, &mut detail, ctx)?;
    if let Some(description) = &set.description {
        machine.description.clone_from(description);
    }
    if let Some(architecture) = &set.architecture {
        machine.architecture.clone_from(architecture);
    }
    if let Some(system) = &set.operating_system {
        machine.operating_system.clone_from(system);
    }
    charging(&mut machine, set, &mut detail)?;
    if let Some(fqdn) = &set.fqdn {
        if !fqdn.is_empty() && !is_domain_name(fqdn) {
            let expected =
                "a domain name such as ia.example.org, each label of two or more characters";
            return Err(Refusal::BadValue {
                field: "fqdn",
                expected,
            });
        }
        machine.fqdn.clone_from(fqdn);
    }
    let rows = vec![DirectoryRow::Machine(machine.clone())];
    Ok(Change {
        rows,
        outcome: Outcome::Machine(machine),
        detail,
    })
}

/// The settings for charging its usage.
fn charging(machine: &mut Machine, set: &SetMachine, detail: &mut String) -> Result<(), Refusal> {
    if let Some(source) = &set.source {
        if let Some(source) = source {
            check_name(source)?;
        }
        machine.source.clone_from(source);
        detail.push_str(" source=");
        detail.push_str(source.as_deref().unwrap_or("none"));
    }
    if let Some(policy) = set.charge_policy {
        machine.charge_policy = policy;
        detail.push_str(" charge_policy=");
        detail.push_str(policy.map_or("default", ChargePolicy::word));
    }
    if let Some(qos) = &set.fallback_qos {
        if let Some(qos) = qos {
            check_name(qos)?;
        }
        machine.fallback_qos.clone_from(qos);
        detail.push_str(" fallback_qos=");
        detail.push_str(qos.as_deref().unwrap_or("none"));
    }
    Ok(())
}

/// The settings for reading its scheduler's documents.
fn scheduler(
    machine: &mut Machine,
    set: &SetMachine,
    detail: &mut String,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    if let Some(payer) = &set.reservation_account {
        if let Some(name) = payer.as_deref() {
            let known = select::named(ctx.directory, name);
            known.ok_or_else(|| Refusal::not_found("project or account", name))?;
        }
        machine.reservation_account.clone_from(payer);
        let word = payer.as_deref().unwrap_or("none");
        *detail = format!("{detail} reservation_account={word}");
    }
    if let Some(test) = set.test {
        machine.test = test;
        *detail = format!("{detail} test={test}");
    }
    if let Some(meaning) = set.charge_duration {
        machine.charge_duration = meaning;
        let word = meaning.map_or("default", ChargeDuration::word);
        *detail = format!("{detail} charge_duration={word}");
    }
    Ok(())
}

fn named<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a Machine, Refusal> {
    ctx.directory
        .machine_named(name)
        .ok_or_else(|| Refusal::not_found("machine", name))
}
