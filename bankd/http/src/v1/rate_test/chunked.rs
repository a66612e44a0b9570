//! Uses of chunks in a replay of rates: their rows have the quantities that most rates count, but no attributes.

use std::collections::BTreeMap;

use bank_core::directory::Directory;
use bank_core::exact::to_amount;
use bank_core::price::{Named, Priced, price};
use bank_core::rate::{Owner, Rate, RateKind};
use bank_core::time::Seconds;
use bank_core::usage::Usage;
use bankd_store::read::chunked::{Basis, ChunkUse};

use super::tally::Sums;

/// The properties that a row has beside its names.
const KEPT: [&str; 9] = [
    "Processors",
    "Nodes",
    "Memory",
    "Disk",
    "GPU",
    "QualityOfService",
    "QOS",
    "Class",
    "Queue",
];

/// The replayed uses.
pub(super) struct Replayed<'a> {
    directory: &'a Directory,
    rates: &'a [Rate],
    /// Whether rows have what the proposed rates count.
    is_kept: bool,
    /// By project and user.
    pub(super) owners: BTreeMap<(String, String), Sums>,
    /// Uses that cannot be priced.
    pub(super) left_out: i64,
}

impl<'a> Replayed<'a> {
    /// Prices by the tested rates, the proposed ones among them.
    pub(super) fn new(directory: &'a Directory, rates: &'a [Rate], proposed: &[Rate]) -> Self {
        Replayed {
            directory,
            rates,
            is_kept: proposed.iter().all(is_kept),
            owners: BTreeMap::new(),
            left_out: 0,
        }
    }

    /// Counts a use for its owner.
    pub(super) fn count(&mut self, one: ChunkUse) {
        let Some(cost) = self.cost(&one) else {
            self.left_out += 1;
            return;
        };
        let sums = self.owners.entry((one.project, one.user)).or_default();
        sums.0 += 1;
        sums.1 = sums.1.saturating_add(one.amount.0.into());
        sums.2 = sums.2.saturating_add(cost);
    }

    /// The cost by the tested rates, if the row explains the amount by the rates of its time: otherwise it lacks
    /// quantities that these count.
    fn cost(&self, one: &ChunkUse) -> Option<i128> {
        let amount = i128::from(one.amount.0);
        let (usage, seconds) = match &one.basis {
            Basis::Fixed => return Some(amount),
            Basis::Unknown => return None,
            Basis::Counted(usage, seconds) => (usage, *seconds),
        };
        let stored = self.directory.rates_at(one.start);
        let is_explained = self.priced(one, (usage, seconds), stored)? == amount;
        if !(self.is_kept && is_explained) {
            return None;
        }
        self.priced(one, (usage, seconds), self.rates)
    }

    /// The price of a use, as its import made it.
    fn priced(
        &self,
        one: &ChunkUse,
        (usage, duration): (&Usage, Seconds),
        rates: &[Rate],
    ) -> Option<i128> {
        let directory = self.directory;
        let priced = Priced {
            usage,
            duration,
            machine: directory.any_machine_named(&one.machine).map(|m| m.id),
            machine_name: &one.machine,
            named: Named {
                user: &one.user,
                project: &one.project,
                group: &one.group,
            },
            at: one.start,
            from: one.start,
        };
        let total = price(&priced, rates)?.total()?;
        let amount = to_amount(total, directory.bank.precision, directory.policy.rounding)?;
        Some(i128::from(amount.0.max(0)))
    }
}

/// Whether rows have what a rate counts.
fn is_kept(rate: &Rate) -> bool {
    let known = |name: &str| {
        let is_own = || KEPT.iter().any(|own| own.eq_ignore_ascii_case(name));
        Owner::of(name).is_some() || is_own()
    };
    let is_limit = matches!(rate.kind, RateKind::Min | RateKind::Max);
    is_limit || (known(&rate.name) && known(rate.property()))
}
