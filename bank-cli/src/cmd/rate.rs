//! `bank rate`: what use costs.

use bank_api::v1::{List, NewRate, Rate, Written};
use ureq::http::Method;

use super::Context;
use crate::{
    cli::{RateCommand, SetRate},
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: RateCommand) -> Result<String, Failure> {
    match command {
        RateCommand::Ls => {
            let list: List<Rate> = context.get(&["rates"], &())?;
            context.form.list(&list, &sheet(&list.items))
        }
        RateCommand::Set(args) => set(context, args),
        RateCommand::Rm { id, remove } => {
            let what = format!("remove rate {id}");
            let answer = context.remove(&["rates", &id.to_string()], &what, &remove)?;
            context.removed(&answer, &format!("rate {id} removed"))
        }
    }
}

fn set(context: &Context, args: SetRate) -> Result<String, Failure> {
    let (instance, rate) = match args.rate.as_slice() {
        [rate] => (String::new(), rate.clone()),
        [instance, rate] => (instance.clone(), rate.clone()),
        _ => return Err(Failure::usage("a rate is missing").hint("bank rate set KIND NAME RATE")),
    };
    let rate =
        crate::cli::amount(&rate).map_err(|why| Failure::usage(format!("rate {rate:?}: {why}")))?;
    let body = NewRate {
        from: context.time(args.from.as_ref())?,
        until: context.time(args.until.as_ref())?,
        kind: args.kind,
        name: args.name,
        instance,
        rate,
        per: args.per,
        machine: args.machine,
        description: args.description,
    };
    let answer: Written<Rate> = context.send(Method::POST, &["rates"], &body, &args.write)?;
    let rate = &answer.object;
    let instance = if rate.instance.is_empty() { "" } else { " " };
    let per = if rate.per == "none" {
        String::new()
    } else {
        format!(" per {}", rate.per)
    };
    let machine = rate
        .machine
        .as_ref()
        .map(|name| format!(" on {name}"))
        .unwrap_or_default();
    context.written(
        &answer,
        &format!(
            "rate {} set: {} {}{instance}{} {}{per}{machine}",
            rate.id, rate.kind, rate.name, rate.instance, rate.rate
        ),
    )
}

fn sheet(rates: &[Rate]) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("kind", "Type", Kind::Text),
        column("name", "Name", Kind::Text),
        column("instance", "Instance", Kind::Text),
        column("rate", "Rate", Kind::Number),
        column("per", "Per", Kind::Text),
        column("machine", "Machine", Kind::Text),
        column("from", "From", Kind::Date),
        column("until", "Until", Kind::Date),
        column("description", "Description", Kind::Text),
    ];
    Sheet::new(columns, rates, "no rates: everything is free")
}
