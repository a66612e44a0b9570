//! What each project and user has of an instance, for its records.

use super::super::Error;
use super::chain::{chain, standing};
use super::charged::Subject;
use super::factors::Factors;
use super::owners::owners_of;
use super::taken::parts_of;
use bank_core::time::{Seconds, Timestamp};
use bank_core_figures::rollup::worth::Worth;
use bank_core_figures::rollup::{Measure, Sign, Sums};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Billionths of a processor-second in the microseconds of the figures.
const BILLIONTHS_PER_MICRO: i128 = 1_000;

/// What an owner has of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) project: String,
    pub(crate) user: String,
    /// The account that paid the last of it.
    pub(crate) account: i64,
    /// The first of its usage rows.
    pub(crate) row: i64,
    /// Its hours.
    pub(crate) sums: Sums,
    /// Processor-seconds by their consumption, in billionths.
    pub(crate) work: i128,
    /// What it was charged, without refunds.
    pub(crate) worth: Worth,
}

/// What each owner has of an instance that began at an instant, the present one last; nothing if that one has all of it.
/// The usage that a finished use states is all of the present owner.
pub(super) fn shares_of(
    connection: &Connection,
    factors: &mut Factors,
    (subject, began): (&Subject, Timestamp),
    stated: Option<&Sums>,
) -> Result<Vec<Share>, Error> {
    let chain = chain(connection, subject.last_usage)?;
    let owners = owners_of(connection, &chain)?;
    if owners
        .values()
        .all(|owner| owner.is(&subject.project, &subject.user))
    {
        return Ok(Vec::new());
    }
    let mut shares: BTreeMap<(String, String), Share> = BTreeMap::new();
    let own = (subject.project.clone(), subject.user.clone());
    let defines = stated.is_none();
    if let Some(sums) = stated {
        let share = shares.entry(own.clone()).or_default();
        share.work = sums.get(Measure::Core).saturating_mul(BILLIONTHS_PER_MICRO);
        share.sums = *sums;
    }
    for (charge, sign) in standing(&chain).into_iter().filter(|_| defines) {
        let owner = owners.get(&charge.id);
        let owner = owner.map(|owner| (owner.project.clone(), owner.user.clone()));
        let share = shares.entry(owner.unwrap_or_else(|| own.clone()));
        let share = share.or_default();
        let used = charge.used(factors, &subject.machine, began);
        share.sums.add(used.totals(), sign);
        let work = charge.usage.processor_seconds(Seconds(charge.seconds));
        share.work = match sign {
            Sign::Plus => share.work.saturating_add(work),
            Sign::Minus => share.work.saturating_sub(work),
        };
    }
    for charge in chain.values().flatten().filter(|c| !c.is_refund) {
        for part in parts_of(connection, charge)? {
            let share = shares.entry((part.project.clone(), part.user.clone()));
            let share = share.or_default();
            if share.row == 0 {
                share.row = charge.id;
            }
            share.account = part.account;
            share.worth = share.worth.plus(part.amount);
        }
    }
    shares.retain(|_, share| !share.sums.is_zero() || share.worth != Worth::default());
    let mut all: Vec<Share> = shares
        .into_iter()
        .map(|((project, user), share)| Share {
            project,
            user,
            ..share
        })
        .collect();
    all.sort_by_key(|share| ((&share.project, &share.user) == (&own.0, &own.1), share.row));
    if let (1, Some(only)) = (all.len(), all.first())
        && (&only.project, &only.user) == (&own.0, &own.1)
    {
        return Ok(Vec::new());
    }
    Ok(all)
}
