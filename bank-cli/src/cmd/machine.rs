//! `bank machine`.

use bank_api::v1::{List, Machine, NewMachine, PatchMachine, Written};
use ureq::http::Method;

use super::nothing_to_set;
use crate::{
    cli::{AddMachine, MachineCommand, SetMachine},
    context::Context,
    fail::Failure,
    moab,
    out::{Kind, Sheet, column},
    when,
};

/// The charge policy of a machine that has none of its own.
const USUAL_POLICY: &str = "DEBITALLWC";

pub(super) fn run(context: &Context, command: MachineCommand) -> Result<String, Failure> {
    match command {
        MachineCommand::Add(args) => add(context, args),
        MachineCommand::Ls(then) => {
            let list: List<Machine> = context.all(&["machines"], &context.past(&then)?)?;
            context.form.list(&list, &sheet(&list.items))
        }
        MachineCommand::Show { name, then } => {
            let query = context.past(&then)?;
            let machine: Machine = context.get(&["machines", &name], &query)?;
            context
                .form
                .one(&machine, &sheet(std::slice::from_ref(&machine)))
        }
        MachineCommand::Set(args) => set(context, args),
        MachineCommand::Rm { name, remove } => {
            let what = format!("remove machine {name:?}");
            let answer = context.remove(&["machines", &name], &what, &remove)?;
            context.removed(&answer, &format!("machine {name:?} removed"))
        }
    }
}

fn add(context: &Context, args: AddMachine) -> Result<String, Failure> {
    let body = NewMachine {
        flush_interval_s: args
            .flush_interval
            .as_deref()
            .map(flush_interval)
            .transpose()?,
        name: args.name,
        mode: args.mode,
        fallback: args.fallback,
        description: args.description,
        architecture: args.arch,
        operating_system: args.opsys,
        source: args.source,
        charge_policy: args.charge_policy,
        fallback_qos: args.fallback_qos,
        fqdn: args.fqdn,
        reservation_account: args.reservation_account,
        test: args.test.map(bool::from),
        charge_duration: args.charge_duration,
    };
    let answer: Written<Machine> = context.send(Method::POST, &["machines"], &body, &args.write)?;
    context.written(&answer, &format!("machine {:?} added", body.name))
}

fn set(context: &Context, args: SetMachine) -> Result<String, Failure> {
    let machine = args.machine;
    let body = PatchMachine {
        active: args.active.map(bool::from),
        flush_interval_s: machine
            .flush_interval
            .as_deref()
            .map(flush_interval)
            .transpose()?,
        mode: machine.mode,
        fallback: machine.fallback,
        description: machine.description,
        architecture: machine.arch,
        operating_system: machine.opsys,
        source: machine.source,
        charge_policy: machine.charge_policy,
        fallback_qos: machine.fallback_qos,
        fqdn: machine.fqdn,
        reservation_account: machine.reservation_account,
        test: machine.test.map(bool::from),
        charge_duration: machine.charge_duration,
    };
    if body == PatchMachine::default() {
        return Err(nothing_to_set());
    }
    let answer: Written<Machine> = context.send(
        Method::PATCH,
        &["machines", &machine.name],
        &body,
        &machine.write,
    )?;
    context.written(&answer, &format!("machine {:?} changed", machine.name))
}

/// Seconds of a flush interval: as FLUSHINTERVAL has it in a scheduler's configuration (`nami.md`
/// 1.3), or as any other duration.
fn flush_interval(text: &str) -> Result<i64, Failure> {
    moab::flush_interval(text).map_or_else(
        || {
            when::seconds(text).map_err(|failure| {
                failure
                    .hint("minute, hour, day, 12:00:00, 1:12:00:00 with days, 36h, 90m, or seconds")
            })
        },
        Ok,
    )
}

fn sheet(machines: &[Machine]) -> Sheet {
    let columns = vec![
        column("name", "Name", Kind::Text),
        column("active", "Active", Kind::Text),
        column("mode", "Mode", Kind::Text),
        column("flush_interval_s", "Flush s", Kind::Number).secondary(),
        column("fallback", "Fallback", Kind::Text),
        column("source", "Source", Kind::Text)
            .secondary()
            .on_screen_if(machines.iter().any(|m| m.source.is_some())),
        column("charge_policy", "Charge policy", Kind::Text)
            .on_screen_if(machines.iter().any(|m| m.charge_policy != USUAL_POLICY)),
        column("fallback_qos", "Fallback QOS", Kind::Text)
            .secondary()
            .on_screen_if(machines.iter().any(|m| m.fallback_qos.is_some())),
        column("architecture", "Architecture", Kind::Text)
            .secondary()
            .on_screen_if(machines.iter().any(|m| m.architecture.is_some())),
        column("operating_system", "Operating system", Kind::Text)
            .secondary()
            .on_screen_if(machines.iter().any(|m| m.operating_system.is_some())),
        column("fqdn", "Domain name", Kind::Text)
            .secondary()
            .on_screen_if(machines.iter().any(|m| m.fqdn.is_some())),
        column("reservation_account", "Reservations", Kind::Text)
            .secondary()
            .on_screen_if(machines.iter().any(|m| m.reservation_account.is_some())),
        column("test", "Test", Kind::Text).on_screen_if(machines.iter().any(|m| m.test)),
        column("charge_duration", "ChargeDuration", Kind::Text)
            .secondary()
            .on_screen_if(machines.iter().any(|m| m.charge_duration != "default")),
        column("description", "Description", Kind::Text),
    ];
    Sheet::new(columns, machines, "no machines")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flush_intervals_in_words_and_as_durations() {
        for (text, seconds) in [
            ("minute", 60),
            ("Hour", 3600),
            ("DAY", 86_400),
            ("1:00:00", 3600),
            ("01:00:00:00", 86_400),
            ("30m", 1800),
            ("3600", 3600),
            ("0", 0),
        ] {
            assert_eq!(flush_interval(text).ok(), Some(seconds), "{text}");
        }
        for text in ["soon", "hours", "1 hour", ""] {
            assert_eq!(flush_interval(text).unwrap_err().exit, 2, "{text}");
        }
    }
}
