//! The one transaction of a chunk: counts, totals and digest under its hash, and what it moves.

use super::Worth;
use super::who::Who;
use crate::command::{Chunk, UsageReport};
use crate::effects::{Became, Delta, Effects, EntryKind, Fate, Outcome};
use crate::ids::{AllocationId, TxId};
use crate::policy::Quantity;
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::record;
use crate::time::Seconds;
use crate::view::{Context, View};
use std::collections::{BTreeMap, BTreeSet};

/// The totals of a chunk.
#[derive(Default)]
pub(super) struct Sums {
    counts: Vec<(&'static str, u64)>,
    /// Microseconds used by what is new or other than before.
    wall_us: i128,
    /// Billionths of processor-seconds that were priced.
    processor_s: i128,
    /// Amounts and refusals of records with the same names, by the numbers of their names: most allocations
    /// and names occur many times.
    named: Vec<Named>,
    /// By allocation, project and machine.
    moved: BTreeMap<Option<AllocationId>, BTreeMap<String, BTreeMap<String, i64>>>,
    /// By project and machine.
    refused: BTreeMap<String, BTreeMap<String, u64>>,
}

/// The totals of records with the same names.
#[derive(Default)]
struct Named {
    moved: Vec<(Option<AllocationId>, i64)>,
    refused: u64,
}

impl Sums {
    /// Moves a shadow total of a record. Totals of repeated names are [added](Sums::tell) at the end.
    pub(super) fn post(&mut self, who: &Who, on: Option<AllocationId>, amount: i64) {
        let Some(named) = self.named(who) else {
            return self.shift(on, &who.project, &who.machine_name, amount);
        };
        match named.moved.iter_mut().find(|(known, _)| *known == on) {
            Some((_, sum)) => *sum = sum.saturating_add(amount),
            None => named.moved.push((on, amount)),
        }
    }

    /// Strict enforcement would have refused a record.
    pub(super) fn refuse(&mut self, who: &Who) {
        match self.named(who) {
            Some(named) => named.refused = named.refused.saturating_add(1),
            None => self.count_refused(&who.project, &who.machine_name, 1),
        }
    }

    fn named(&mut self, who: &Who) -> Option<&mut Named> {
        let names = who.names?;
        if self.named.len() <= names {
            self.named
                .resize_with(names.saturating_add(1), Named::default);
        }
        self.named.get_mut(names)
    }

    /// Adds the totals of records with those names.
    pub(super) fn tell(&mut self, who: &Who) {
        let named = who.names.and_then(|names| self.named.get_mut(names));
        let named = named.map(std::mem::take).unwrap_or_default();
        for (on, amount) in named.moved {
            self.shift(on, &who.project, &who.machine_name, amount);
        }
        if named.refused > 0 {
            self.count_refused(&who.project, &who.machine_name, named.refused);
        }
    }

    /// Counts the result of one record.
    pub(super) fn count(&mut self, fate: &Fate) {
        let word = fate.word();
        match self.counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => self.counts.push((word, 1)),
        }
    }

    /// Adds the duration of an accepted use.
    pub(super) fn measure(&mut self, report: &UsageReport, worth: &Worth) {
        if worth.became != Became::Unused {
            let us = i128::from(lasted(report).0);
            self.wall_us = self.wall_us.saturating_add(us);
        }
    }

    /// Adds the priced quantity of it.
    pub(super) fn counted(&mut self, quantity: &Quantity) {
        let total = quantity
            .total()
            .and_then(crate::exact::Fraction::billionths);
        self.processor_s = self.processor_s.saturating_add(total.unwrap_or(0));
    }

    /// Moves a shadow total.
    pub(super) fn shift(
        &mut self,
        on: Option<AllocationId>,
        project: &str,
        machine: &str,
        amount: i64,
    ) {
        let on = self.moved.entry(on).or_default();
        let sum = if let Some(known) = on.get_mut(project).and_then(|of| of.get_mut(machine)) {
            known
        } else {
            let of = on.entry(project.to_owned()).or_default();
            of.entry(machine.to_owned()).or_default()
        };
        *sum = sum.saturating_add(amount);
    }

    /// Every shadow total that moves: where, for which project on which machine, by how much.
    fn moves(&self) -> Vec<(Option<AllocationId>, &str, &str, i64)> {
        let mut moves = Vec::new();
        for (on, projects) in &self.moved {
            for (project, machines) in projects {
                for (machine, amount) in machines {
                    moves.push((*on, project.as_str(), machine.as_str(), *amount));
                }
            }
        }
        moves
    }

    fn count_refused(&mut self, project: &str, machine: &str, more: u64) {
        let known = self.refused.get_mut(project);
        let count = if let Some(known) = known.and_then(|of| of.get_mut(machine)) {
            known
        } else {
            let of = self.refused.entry(project.to_owned()).or_default();
            of.entry(machine.to_owned()).or_default()
        };
        *count = count.saturating_add(more);
    }

    /// Writes the totals; machines that the chunk claims follow, each in a separate transaction.
    pub(super) fn journal(
        &self,
        chunk: &Chunk,
        view: &View,
        ctx: &Context<'_>,
        claims: &BTreeSet<String>,
    ) -> Result<(Option<TxId>, Effects), Refusal> {
        let mut postings = Postings::new(view);
        let tx = postings.begin("import", ctx.now);
        postings.remark(&self.reason(chunk));
        let moves = self.moves();
        for (on, project, machine, amount) in &moves {
            let about = About {
                project: (*project).to_owned(),
                machine: (*machine).to_owned(),
                ..About::default()
            };
            let Some(allocation) = on else {
                postings.note(EntryKind::ChargeNotional, &about);
                continue;
            };
            let delta = Delta {
                shadow: amount.saturating_neg(),
                ..Delta::default()
            };
            postings.post(EntryKind::ChargeNotional, *allocation, delta, &about)?;
        }
        let refused = self.refused.iter();
        for (project, machine) in refused.flat_map(|(of, on)| on.keys().map(move |on| (of, on))) {
            let about = About {
                project: project.clone(),
                machine: machine.clone(),
                ..About::default()
            };
            postings.note(EntryKind::WouldRefuse, &about);
        }
        for name in claims {
            record::claim(&mut postings, name, &chunk.source, ctx);
        }
        Ok((Some(tx), postings.finish(Outcome::Swept)))
    }

    /// `digest=… lines=… charged=… amount=… wall_us=… processor_s=… source=…`: figures of what is in
    /// this transaction. The source is last: it comes from outside, with blanks.
    fn reason(&self, chunk: &Chunk) -> String {
        let mut text = format!("lines={}", chunk.lines);
        if !chunk.digest.is_empty() {
            text = format!("digest={} {text}", chunk.digest);
        }
        for (word, count) in self.counts.iter().copied().collect::<BTreeMap<_, _>>() {
            text = format!("{text} {word}={count}");
        }
        let moves = self.moves().into_iter().filter(|(on, ..)| on.is_some());
        let amount = moves.fold(0_i128, |sum, (.., part)| {
            sum.saturating_add(i128::from(part))
        });
        let refused = self.refused.values().flat_map(BTreeMap::values);
        let refused = refused.fold(0_u64, |sum, n| sum.saturating_add(*n));
        format!(
            "{text} amount={amount} would_refuse={refused} wall_us={} processor_ns={} source={}",
            self.wall_us, self.processor_s, chunk.source
        )
    }
}

/// The duration of a use, for the sums of a chunk.
fn lasted(report: &UsageReport) -> Seconds {
    let facts = &report.request.facts;
    let (start, end) = (
        facts.start.unwrap_or_default(),
        facts.end.unwrap_or_default(),
    );
    let us = end.0.saturating_sub(start.0).max(0);
    Seconds(report.figures.wall_us.unwrap_or(us))
}
