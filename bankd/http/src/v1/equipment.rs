//! Hardware with its downtimes, contributions and contributors. Everybody sees what clusters are made of; who paid for it
//! is for auditors; administrators change both.

mod contributor;
mod downtime;

pub(super) use contributor::{
    add as add_contributor, list as list_contributors, remove as remove_contributor,
    set as set_contributor, show as show_contributor,
};
pub(super) use downtime::{
    add as add_downtime, list as list_downtimes, remove as remove_downtime, set as set_downtime,
    show as show_downtime,
};

use axum::response::IntoResponse;
use bank_api::v1::{self, List, NewContribution, NewHardware, PatchContribution, PatchHardware};
use bank_core::command::{Command, Equipment, SetContribution, SetHardware};
use bank_core::contribution::host::Pattern;
use bank_core::decimal::Decimal;
use bank_core::effects::Outcome;
use bank_core::ids::{ContributionId, HardwareId};
use bank_core::model::{Contribution, Hardware};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;
use bankd_store::read::money;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::json::{self, cleared};
use super::pages::Turn;
use super::path::Path;
use super::share::whole;
use crate::error::Failure;

/// `GET /api/v1/hardware`: in the order in which it is asked for the factor of a host.
pub(super) async fn list_hardware(call: Call) -> Handled {
    let turn = Turn::read(&call)?;
    let all = call.directory().equipment.all_hardware();
    let page = turn.behind(all, |own| own.id.0);
    let (all, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List {
        items: all.into_iter().map(hardware).collect(),
        next,
    })
}

/// `GET /api/v1/hardware/{id}`
pub(super) async fn show_hardware(Path(id): Path<String>, call: Call) -> Handled {
    let number = HardwareId(number(&call, "hardware", &id)?);
    let known = call.directory().equipment.hardware(number);
    let unknown = || call.refused(&Refusal::not_found("hardware", &id));
    ok(&hardware(known.ok_or_else(unknown)?))
}

/// `POST /api/v1/hardware`
pub(super) async fn add_hardware(call: Call) -> Handled {
    let new: NewHardware = call.json()?;
    let patch = PatchHardware {
        name: Some(new.name),
        machine: new.machine,
        hosts: Some(new.hosts),
        factor: new.factor,
        processors: Some(new.processors),
        nodes: Some(new.nodes),
        counts: new.counts,
        from: new.from,
        until: new.until,
        priority: new.priority,
        description: new.description,
    };
    let set = read_hardware(patch).map_err(|r| call.refused(&r))?;
    let command = asked(Equipment::AddHardware(set));
    Ok(call.write(command, hardware_added).await?.into_response())
}

/// `PATCH /api/v1/hardware/{id}`
pub(super) async fn set_hardware(Path(id): Path<String>, call: Call) -> Handled {
    let id = HardwareId(number(&call, "hardware", &id)?);
    let set = read_hardware(call.json()?).map_err(|r| call.refused(&r))?;
    let command = asked(Equipment::SetHardware(id, set));
    Ok(call.write(command, hardware_changed).await?.into_response())
}

/// `DELETE /api/v1/hardware/{id}`: reports are as if it never had been there.
pub(super) async fn remove_hardware(Path(id): Path<String>, call: Call) -> Handled {
    let id = HardwareId(number(&call, "hardware", &id)?);
    let command = asked(Equipment::RemoveHardware(id));
    Ok(call.write(command, removed).await?.into_response())
}

/// `GET /api/v1/contributions`: by number.
pub(super) async fn list_contributions(call: Call) -> Handled {
    whole(&call)?;
    let turn = Turn::read(&call)?;
    let all: Vec<&Contribution> = call.directory().equipment.all_contributions().collect();
    let page = turn.by(all, |own| own.id.0);
    let (all, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List {
        items: all.into_iter().map(contribution).collect(),
        next,
    })
}

/// `GET /api/v1/contributions/{id}`
pub(super) async fn show_contribution(Path(id): Path<String>, call: Call) -> Handled {
    whole(&call)?;
    let number = ContributionId(number(&call, "contribution", &id)?);
    let known = call.directory().equipment.contribution(number);
    let unknown = || call.refused(&Refusal::not_found("contribution", &id));
    ok(&contribution(known.ok_or_else(unknown)?))
}

/// `POST /api/v1/contributions`
pub(super) async fn add_contribution(call: Call) -> Handled {
    let new: NewContribution = call.json()?;
    let patch = PatchContribution {
        contributor: Some(new.contributor),
        paid_by: new.paid_by,
        what: new.what,
        processors: Some(new.processors),
        split: new.split,
        factor: new.factor,
        from: new.from,
        until: new.until,
        description: new.description,
    };
    let set = read_contribution(patch).map_err(|r| call.refused(&r))?;
    let command = asked(Equipment::AddContribution(set));
    Ok(call
        .write(command, contribution_added)
        .await?
        .into_response())
}

/// `PATCH /api/v1/contributions/{id}`
pub(super) async fn set_contribution(Path(id): Path<String>, call: Call) -> Handled {
    let id = ContributionId(number(&call, "contribution", &id)?);
    let set = read_contribution(call.json()?).map_err(|r| call.refused(&r))?;
    let command = asked(Equipment::SetContribution(id, set));
    Ok(call
        .write(command, contribution_changed)
        .await?
        .into_response())
}

/// `DELETE /api/v1/contributions/{id}`: reports are as if it never had been there.
pub(super) async fn remove_contribution(Path(id): Path<String>, call: Call) -> Handled {
    let id = ContributionId(number(&call, "contribution", &id)?);
    let command = asked(Equipment::RemoveContribution(id));
    Ok(call.write(command, removed).await?.into_response())
}

fn asked(equipment: Equipment) -> Command {
    Command::Equipment(Box::new(equipment))
}

fn number(call: &Call, kind: &'static str, id: &str) -> Result<i64, Failure> {
    let unknown = |_| call.refused(&Refusal::not_found(kind, id));
    id.parse().map_err(unknown)
}

fn read_hardware(patch: PatchHardware) -> Result<SetHardware, Refusal> {
    let pattern = |text: &String| {
        Pattern::parse(text).ok_or(Refusal::BadValue {
            field: "hosts",
            expected: "patterns of at most 128 bytes such as node[0-9]*, ? for one letter",
        })
    };
    let hosts = patch.hosts.as_deref();
    let hosts = hosts.map(|hosts| hosts.iter().map(pattern).collect());
    Ok(SetHardware {
        priority: patch.priority,
        name: patch.name,
        machine: patch.machine.map(cleared),
        hosts: hosts.transpose()?,
        factor: decimal(patch.factor, "factor")?,
        processors: patch.processors,
        nodes: patch.nodes,
        counts: patch.counts,
        from: bound(patch.from, "from")?,
        until: bound(patch.until, "until")?,
        description: patch.description,
    })
}

fn read_contribution(patch: PatchContribution) -> Result<SetContribution, Refusal> {
    Ok(SetContribution {
        contributor: patch.contributor,
        paid_by: patch.paid_by,
        what: patch.what,
        processors: patch.processors,
        split: decimal(patch.split, "split")?,
        factor: decimal(patch.factor, "factor")?,
        from: bound(patch.from, "from")?,
        until: bound(patch.until, "until")?,
        description: patch.description,
    })
}

fn decimal(text: Option<String>, field: &'static str) -> Result<Option<Decimal>, Refusal> {
    let read = |text: String| {
        Decimal::parse(&text).ok_or(Refusal::BadValue {
            field,
            expected: "a decimal number such as 1.5",
        })
    };
    text.map(read).transpose()
}

/// An end of a window; none is without a bound.
type Bound = Option<Timestamp>;

/// A time, or the empty text for no bound.
fn bound(text: Option<String>, field: &'static str) -> Result<Option<Bound>, Refusal> {
    text.map(|text| {
        let text = cleared(text);
        text.map(|text| json::read_time(&text, field)).transpose()
    })
    .transpose()
}

fn hardware(own: &Hardware) -> v1::Hardware {
    v1::Hardware {
        id: own.id.0,
        priority: own.priority,
        name: own.name.clone(),
        machine: json::some(&own.machine),
        hosts: own
            .hosts
            .iter()
            .map(|host| host.text().to_owned())
            .collect(),
        factor: Decimal::from_billionths(own.factor.into()).to_string(),
        processors: own.processors,
        nodes: own.nodes,
        counts: own.counts,
        from: own.valid.start.map(json::time),
        until: own.valid.end.map(json::time),
        description: json::some(&own.description),
    }
}

fn contribution(own: &Contribution) -> v1::Contribution {
    v1::Contribution {
        id: own.id.0,
        contributor: own.contributor.clone(),
        paid_by: json::some(&own.paid_by),
        what: json::some(&own.what),
        processors: own.processors,
        split: money::hundredths(own.split.into()),
        factor: Decimal::from_billionths(own.factor.into()).to_string(),
        from: own.valid.start.map(json::time),
        until: own.valid.end.map(json::time),
        description: json::some(&own.description),
    }
}

fn hardware_written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Hardware(own) => Some(new_state(hardware(own), decided)),
        _ => None,
    })
}

fn hardware_added(decided: &Decided<'_>) -> Answer {
    hardware_written(decided, 201)
}

fn hardware_changed(decided: &Decided<'_>) -> Answer {
    hardware_written(decided, 200)
}

fn contribution_written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Contribution(own) => Some(new_state(contribution(own), decided)),
        _ => None,
    })
}

fn contribution_added(decided: &Decided<'_>) -> Answer {
    contribution_written(decided, 201)
}

fn contribution_changed(decided: &Decided<'_>) -> Answer {
    contribution_written(decided, 200)
}
