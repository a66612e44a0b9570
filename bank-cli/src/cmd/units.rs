//! `--units`: amounts as hours or seconds, where a unit of the bank is a span of time.

use bank_api::v1::{List, PastQuery, Rate, RateQuery};
use bank_picture::figure::{self, Scale};

use crate::{
    cli::{
        AccountCommand, AllocationCommand, AtArgs, Basis, Command, LienCommand, ReportCommand,
        ShareArgs, Units,
    },
    context::Context,
    fail::Failure,
    out::Time,
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
    let of = measured(command)?;
    if context.is_json() || of == Of::Nothing {
        return Err(Failure::usage("--units is for tables, pages and separated lists").hint(
            "balance, usage, reports, journal, jobs, account ls, allocation ls and lien ls take it",
        ));
    }
    if matches!(of, Of::Use | Of::Charged) && units == Units::Seconds {
        context.form.time = Time::Seconds;
    }
    if of == Of::Use {
        return Ok(());
    }
    let scale = scale(context, units, &at_of(command))?;
    if of == Of::List {
        context.form.scale = Some(scale);
    } else {
        context.form.report_scale = Some(scale);
    }
    Ok(())
}

/// What the figures of a command are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Nothing that has a unit.
    Nothing,
    /// Amounts of a list.
    List,
    /// Amounts of a report.
    Report,
    /// Time that was used, which is time in every bank.
    Use,
    /// What was charged, beside a capacity in time.
    Charged,
}

fn measured(command: &Command) -> Result<Of, Failure> {
    let shares = |args: &ShareArgs| {
        if args.basis == Basis::Su {
            Of::Charged
        } else {
            Of::Use
        }
    };
    let report = match command {
        Command::Usage(_) => return Ok(Of::Use),
        Command::Report(args) => &args.command,
        command => return Ok(list(command)),
    };
    Ok(match report {
        ReportCommand::Fallback(_)
        | ReportCommand::Forecast(_)
        | ReportCommand::Expiring(_)
        | ReportCommand::Negative(_)
        | ReportCommand::BalanceSheet(_)
        | ReportCommand::Personal(_) => Of::Report,
        ReportCommand::EfficiencyLetter(_) => Of::Nothing,
        ReportCommand::Monthly(_) | ReportCommand::Efficiency(_) => Of::Use,
        ReportCommand::Contribution(args) | ReportCommand::Utilization(args) => shares(args),
        ReportCommand::Top(args) => shares(&args.of),
        ReportCommand::Scheduled | ReportCommand::Run(_) => {
            return Err(
                Failure::usage("--units: this report has no amounts and no hours")
                    .hint("give it to the report itself, in its `options`"),
            );
        }
    })
}

fn list(command: &Command) -> Of {
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
    if is_list { Of::List } else { Of::Nothing }
}

/// The instant that a list is about; empty for the present.
fn at_of(command: &Command) -> AtArgs {
    let at = match command {
        Command::Balance(args) => Some(&args.then),
        Command::Account(AccountCommand::Ls(then) | AccountCommand::Show { then, .. })
        | Command::Allocation(
            AllocationCommand::Ls { then, .. } | AllocationCommand::Show { then, .. },
        )
        | Command::Lien(LienCommand::Ls { then, .. }) => Some(then),
        _ => None,
    };
    at.cloned().unwrap_or_default()
}

/// The factor from amounts to hours or seconds, by the rate in force at an instant.
fn scale(context: &Context, units: Units, at: &AtArgs) -> Result<Scale, Failure> {
    let PastQuery { at, recorded } = context.past(at)?;
    let query = RateQuery {
        in_force: true,
        at,
        recorded,
        ..RateQuery::default()
    };
    let rates: List<Rate> = context.all(&["rates"], &query)?;
    let general = |rate: &&Rate| {
        let is_one = figure::scaled(&rate.rate, 1, 1, 9).as_deref() == Some("1.000000000");
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
            return Err(
                Failure::usage("the amounts of this bank are not units of time")
                    .hint("they are while a rate VBR Processors 1 is in force on every machine"),
            );
        }
    };
    Ok(match units {
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
    })
}
