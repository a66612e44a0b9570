//! Money that moved as rows of FOCUS: charges, refunds and deposits, each in the month in which it is billed
//! (`usage-records.md` 5.4).
//!
//! Usage is billed in the month in which it ended. A row for a closed period, and a refund for an earlier
//! month, is a correction, billed in the month in which it is booked.

use bank_core::directory::Directory;
use bank_core::ids::{AccountId, TxId};
use bank_core::model::ObjectType;
use bank_core::period::Closes;
use bank_core::price::{Named, Priced, price, priced_from};
use bank_core::rate::{Rate, RateKind};
use bank_core::time::{Seconds, Timestamp};
use bankd_emit::focus::{Category, Row};
use bankd_store::read::costs::{Cost, Used, What};
use chrono::{DateTime, Datelike as _, Months, NaiveDate, Utc};

use super::job_name;

/// The project of a cost; empty for a deposit on an account of several ones.
pub fn project<'a>(directory: &'a Directory, cost: &'a Cost) -> &'a str {
    let own = || directory.account(AccountId(cost.account?))?.only_project();
    match cost.what {
        What::Deposit => own().unwrap_or_default(),
        What::Charged(_) | What::Back(_) => &cost.project,
    }
}

/// The row of a cost with the project at the top of its own; none where its times are beyond the calendar.
pub fn row(directory: &Directory, closes: &Closes, (cost, top): (&Cost, String)) -> Option<Row> {
    let account = cost.account.and_then(|id| directory.account(AccountId(id)));
    let base = Row {
        credits: cost.amount,
        top,
        project: project(directory, cost).to_owned(),
        account: account.map_or_else(String::new, |account| account.name.clone()),
        tx: cost.tx,
        ..Row::default()
    };
    match &cost.what {
        What::Deposit => deposit(closes, cost, base),
        What::Charged(used) => {
            let row = Row {
                description: if used.charge.late {
                    "Late charge"
                } else {
                    "Charge"
                },
                processor_seconds: Some(used.processor_seconds),
                ..about(directory, used, cost, base)
            };
            billed(closes, used, cost, true, row)
        }
        What::Back(used) => {
            let row = Row {
                description: "Refund",
                ..about(directory, used, cost, base)
            };
            billed(closes, used, cost, false, row)
        }
    }
}

fn deposit(closes: &Closes, cost: &Cost, base: Row) -> Option<Row> {
    let booked_at = closes.booked(TxId(cost.tx), cost.at);
    let (month, month_end) = month(booked_at)?;
    let is_out = cost.amount < 0;
    Some(Row {
        category: Category::Purchase,
        is_correction: booked_at != cost.at,
        description: if is_out { "Withdrawal" } else { "Deposit" },
        start: cost.at.0,
        end: cost.at.0,
        month,
        month_end,
        ..base
    })
}

/// When it is billed, and whether that changes a month that was invoiced.
fn billed(closes: &Closes, used: &Used, cost: &Cost, is_charge: bool, row: Row) -> Option<Row> {
    let booked = |at| closes.booked(TxId(cost.tx), at);
    let (start, end) = (Timestamp(row.start), Timestamp(row.end));
    // Usage that ends with a month belongs to that month.
    let last = if start < end {
        Timestamp(end.0.saturating_sub(1))
    } else {
        used.charge.at
    };
    let booked_at = booked(if is_charge { last } else { cost.at });
    let (month_of_use, _) = month(last)?;
    let (month, month_end) = month(booked_at)?;
    Some(Row {
        is_correction: booked(end) != end || month_of_use < month,
        month,
        month_end,
        ..row
    })
}

/// The charged object and its owner.
fn about(directory: &Directory, used: &Used, cost: &Cost, base: Row) -> Row {
    let (charge, job) = (&used.charge, &used.job);
    let of_job = &job.usage;
    Row {
        category: Category::Usage,
        list: list(directory, used),
        start: begun(used).0,
        end: charge.at.0,
        object_id: Some(job.object_id.clone()),
        object_type: match job.object_type {
            ObjectType::Job => "Job",
            ObjectType::Reservation => "Reservation",
        },
        machine: job.machine.clone(),
        job_name: job_name(&used.other, &of_job.attributes),
        user: Some(cost.user.clone()),
        qos: charge.usage.qos.clone(),
        class: charge.usage.class.clone(),
        record: Some(charge.id),
        ..base
    }
}

/// The start of the charged time. It is not before the start of the job: a charge has at least a second, also for a job
/// without any.
fn begun(used: &Used) -> Timestamp {
    let (charge, job) = (&used.charge, &used.job);
    // For an amended use the seconds are a difference, which may be below 0.
    let start = charge.at.minus(Seconds(charge.priced().0.max(0)));
    let of_job = job.start.filter(|at| *at <= charge.at);
    of_job.map_or(start, |at| at.max(start))
}

/// The UTC month of an instant: its start, and the start of the next.
fn month(at: Timestamp) -> Option<(i64, i64)> {
    let at = DateTime::<Utc>::from_timestamp_micros(at.0)?;
    let first = NaiveDate::from_ymd_opt(at.year(), at.month(), 1)?;
    let start = |day: NaiveDate| Some(day.and_hms_opt(0, 0, 0)?.and_utc().timestamp_micros());
    Some((
        start(first)?,
        start(first.checked_add_months(Months::new(1))?)?,
    ))
}

/// The amount of a charge without the factors of its rates, as a fraction of the charged amount: none if its
/// amount was given, or cannot be computed again.
fn list(directory: &Directory, used: &Used) -> Option<(i128, i128)> {
    let (charge, job) = (&used.charge, &used.job);
    if charge.given.is_some() || charge.correction.is_some() {
        return None;
    }
    let from = charge.at.minus(charge.seconds);
    let priced = Priced {
        usage: &charge.usage,
        duration: charge.seconds,
        machine: directory.any_machine_named(&job.machine).map(|m| m.id),
        machine_name: &job.machine,
        named: Named {
            user: &job.user,
            project: &job.project,
            group: &job.group,
        },
        at: charge
            .rates_at
            .unwrap_or(priced_from(charge.at, charge.seconds, job.opened)),
        from,
    };
    let rates = directory.rates_at(priced.at);
    let is_factor = |rate: &Rate| matches!(rate.kind, RateKind::Vbm | RateKind::Nbm);
    if !rates.iter().any(is_factor) {
        return None;
    }
    let plain: Vec<Rate> = rates
        .iter()
        .filter(|rate| !is_factor(rate))
        .cloned()
        .collect();
    let whole = |rates: &[Rate]| {
        let price = price(&priced, rates)?;
        // The part that counts once for an instance is in its first charge.
        let once = if charge.prev.is_none() { price.once } else { 0 };
        price.metered.checked_add(once)
    };
    let (list, paid) = (whole(&plain)?, whole(rates)?);
    (paid > 0 && list >= 0).then_some((list, paid))
}
