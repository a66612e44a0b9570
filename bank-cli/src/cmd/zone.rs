//! `--tz`: one zone for all times that a command reads and shows, on pages and pictures too.

use bank_picture::Zone;

use crate::{
    cli::{Command, ReportCommand},
    fail::Failure,
};

/// The zone that a command asks for, else that of the machine. Where the daemon cuts days, it refuses a
/// name that it does not know.
pub(crate) fn of(command: &Command) -> Result<Zone, Failure> {
    let (name, is_set) = match command {
        Command::Usage(args) => (args.tz.as_ref(), true),
        Command::Statement(args) => (args.zone.tz.as_ref(), false),
        Command::Report(report) => match &report.command {
            ReportCommand::Contribution(args) | ReportCommand::Utilization(args) => {
                (args.tz.as_ref(), true)
            }
            ReportCommand::Top(args) => (args.of.tz.as_ref(), true),
            ReportCommand::Monthly(args) => (args.zone.tz.as_ref(), true),
            ReportCommand::Fallback(args) => (args.zone.tz.as_ref(), false),
            ReportCommand::BalanceSheet(args) => (args.zone.tz.as_ref(), false),
            ReportCommand::Efficiency(args) => (args.zone.tz.as_ref(), false),
            ReportCommand::Personal(args) => (args.of.zone.tz.as_ref(), false),
            ReportCommand::EfficiencyLetter(args) => (args.of.zone.tz.as_ref(), false),
            _ => (None, false),
        },
        _ => (None, false),
    };
    let Some(name) = name else {
        return Ok(Zone::Local);
    };
    match Zone::named(name) {
        Some(zone) => Ok(zone),
        None if is_set => Ok(Zone::Local),
        None => Err(
            Failure::usage(format!("--tz: there is no time zone {name:?}"))
                .hint("write an area and a city, such as Europe/Berlin, or UTC"),
        ),
    }
}
