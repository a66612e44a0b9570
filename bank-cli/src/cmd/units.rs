//! `--units`: amounts as hours or seconds, where a unit of the bank is a span of time.

use bank_api::v1::{List, Rate};

use super::Context;
use crate::{
    cli::{AccountCommand, AllocationCommand, Command, LienCommand, Units},
    fail::Failure,
    out::{Scale, Time},
};

/// Makes the amounts of lists be shown in other units. A bank counts in time where one processor
/// costs one for each second, minute, hour or day on every machine.
pub(crate) fn apply(
    context: &mut Context,
    units: Option<Units>,
    command: &Command,
) -> Result<(), Failure> {
    let units = match units {
        None | Some(Units::Raw) => return Ok(()),
        Some(units) => units,
    };
    // What was used is time in every bank.
    if matches!(command, Command::Usage(_)) && !context.is_json() {
        if units == Units::Seconds {
            context.form.time = Time::Seconds;
        }
        return Ok(());
    }
    let is_list = match command {
        Command::Balance(_) | Command::Journal(_) => true,
        Command::Jobs(args) => args.job.is_none(),
        Command::Account(command) => {
            matches!(command, AccountCommand::Ls(_) | AccountCommand::Show { .. })
        }
        Command::Allocation(command) => matches!(
            command,
            AllocationCommand::Ls { .. } | AllocationCommand::Show { .. }
        ),
        Command::Lien(command) => matches!(command, LienCommand::Ls { .. }),
        _ => false,
    };
    if !is_list || context.is_json() {
        return Err(Failure::usage("--units is for tables and separated lists")
            .hint("balance, usage, journal, jobs, account ls, allocation ls and lien ls take it"));
    }
    let rates: List<Rate> = context.all(&["rates"], &())?;
    let general = |rate: &&Rate| {
        let is_one = crate::figure::scaled(&rate.rate, 1, 1, 9).as_deref() == Some("1.000000000");
        rate.kind == "VBR" && rate.name == "Processors" && rate.machine.is_none() && is_one
    };
    let seconds = match rates
        .items
        .iter()
        .find(general)
        .map(|rate| rate.per.as_str())
    {
        Some("second") => 1,
        Some("minute") => 60,
        Some("hour") => 3600,
        Some("day") => 86_400,
        _ => {
            return Err(Failure::usage("the amounts of this bank are no time")
                .hint("they are where a rate VBR Processors 1 holds on every machine"));
        }
    };
    context.form.scale = Some(match units {
        Units::Hours => Scale {
            word: "hours",
            up: seconds,
            down: 3600,
            decimals: 2,
        },
        Units::Seconds | Units::Raw => Scale {
            word: "seconds",
            up: seconds,
            down: 1,
            decimals: 0,
        },
    });
    Ok(())
}
