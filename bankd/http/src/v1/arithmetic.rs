//! The calculation of past charges (ledger.md 3.1), repeated from the priced usage and the versions of the
//! rates. The result is not stored.

use bank_api::v1::ChargeRow;
use bank_core::directory::Directory;
use bank_core::price::{Named, Once, Priced, counted, itemise, price, priced_from};
use bankd_store::read::charges::Charge;
use bankd_store::read::jobs::JobRow;

/// The names in the usage of a job.
pub(super) fn named(job: &JobRow) -> Named<'_> {
    Named {
        user: &job.user,
        project: &job.project,
        group: &job.group,
    }
}

/// Adds the calculation to each charge, oldest first. Fees and per-use charges appear at the first charge,
/// at each increase, and with each total.
pub(super) fn add(directory: &Directory, job: &JobRow, charges: &[Charge], rows: &mut [ChargeRow]) {
    let machine = directory.any_machine_named(&job.machine).map(|m| m.id);
    let mut once_before = None;
    for (charge, row) in charges.iter().zip(rows) {
        if charge.correction == Some("settle") {
            continue;
        }
        if let Some(idle) = &charge.idle {
            row.itemisation = Some(idle.clone());
            continue;
        }
        if let Some(text) = &charge.given {
            row.itemisation = Some(text.clone()).filter(|text| !text.is_empty());
            continue;
        }
        let duration = charge.priced();
        let from = charge.at.minus(duration);
        let priced = Priced {
            usage: &charge.usage,
            duration,
            machine,
            machine_name: &job.machine,
            named: named(job),
            at: charge
                .rates_at
                .unwrap_or(priced_from(charge.at, duration, job.opened)),
            from,
        };
        let rates = directory.rates_at(priced.at);
        let Some(exact) = price(&priced, rates) else {
            continue;
        };
        let once = match once_before.filter(|_| charge.total.is_none()) {
            None => Once::Whole,
            Some(before) => Once::Growth(exact.once.saturating_sub(before).max(0)),
        };
        once_before = Some(exact.once.max(once_before.unwrap_or(0)));
        row.itemisation = itemise(&priced, rates, once);
        row.rates = counted(&priced, rates).map(|rate| rate.id.0).collect();
    }
}
