//! Finished usage that no scheduler has decided about (nami.md 4.3, decisions.md 19, note 0028).
//!
//! The scripts give every machine a source before it is used: who claims one is not modelled.

use super::history::Owner;
use super::{Answer, Naive};
use crate::ledger::reply::refused;
use bank_core::amount::Amount;
use bank_core::command::{Charge, Close, UsageReport};
use bank_core::model::Closing;
use bank_core::policy::{ChargePolicy, Ended, Metric, Whose};
use bank_core::terms::{Terms, Whole};
use bank_core::time::{Seconds, Timestamp};

/// How far the clock of a source may be ahead.
const SKEW: Seconds = Seconds(300);

/// A record that was taken in.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) report: UsageReport,
    /// What became of it; a kept one may be charged later.
    is_kept: bool,
    counted: String,
    pub(super) instance: Option<usize>,
    /// Neither kept nor unused.
    pub(super) counts: bool,
    /// A person gave it to its owner, and its source named nobody else since.
    pub(super) is_given: bool,
}

/// What a policy says of a use.
enum Verdict {
    /// Processors as a fraction, seconds, and the metric's word with the product of both.
    Charged((i128, i128), i64, String),
    Free(&'static str),
    Unused(&'static str),
}

impl Naive {
    pub(super) fn usage(&mut self, report: &UsageReport) -> Answer {
        let facts = &report.request.facts;
        if facts.usage.has_negative() {
            return Err(refused("negative_charge"));
        }
        let latest = self.now.plus(SKEW);
        if facts.start.max(facts.end).is_some_and(|at| at > latest) {
            return Err(refused("bad_value"));
        }
        let machine = self.machine(&report.request.whose.machine);
        let policy = machine.and_then(|m| m.policy).unwrap_or_default();
        let owner = machine.and_then(|m| m.source.clone());
        let is_foreign = owner.is_some_and(|owner| owner != report.source);
        let verdict = verdict(policy, report)?;
        let known = self.known(report);
        if let Some(known) = known.as_ref().filter(|_| self.is_replaced(report)) {
            return Ok(format!("duplicate {}", known.counted).trim_end().to_owned());
        }
        let same = known.as_ref().filter(|known| known.report == *report);
        // What was kept for another source is charged once the machine is this one's.
        if let Some(same) = same.filter(|same| !same.is_kept || is_foreign) {
            return Ok(format!("duplicate {}", same.counted).trim_end().to_owned());
        }
        let billed = known.as_ref().and_then(|known| known.instance);
        let elsewhere = |n: usize| self.instances[n].machine != report.request.whose.machine;
        if billed.is_some_and(elsewhere) {
            return Err(refused("bad_value"));
        }
        if is_foreign && known.as_ref().is_some_and(|known| known.counts) {
            // What was charged of it stays as it was.
            return Ok(format!("kept {}", known.unwrap().counted));
        }
        let before = known.as_ref().and_then(|known| known.instance);
        let same = self.same_as(report);
        if let (Some(n), Some(known), false) = (before, &known, is_foreign) {
            self.forget(n, &known.report, report);
        }
        let is_over = same.is_some_and(|n| self.is_billed(n));
        let is_billed = before.is_none() && (is_over || self.is_counted_elsewhere(report));
        if is_billed && let Some(known) = known.as_ref().filter(|k| k.report == *report) {
            return Ok(format!("duplicate {}", known.counted).trim_end().to_owned());
        }
        let as_reported = report;
        let of_owner = known
            .as_ref()
            .and_then(|known| self.of_owner(report, known));
        let is_given = of_owner.is_some();
        let report = of_owner.as_ref().unwrap_or(report);
        if is_foreign || is_billed {
            self.took(as_reported, true, "", before);
            self.uses.last_mut().unwrap().is_given = is_given;
            return Ok("kept".to_owned());
        }
        match verdict {
            Verdict::Charged(processors, seconds, counted) => {
                let mut charge = whole(report, before.is_some());
                charge.duration = Some(Seconds(seconds));
                let word = before.map_or("charged", |_| "adjusted");
                let (n, answer) = self.charge_whole(&charge, (before, same), Some(processors))?;
                self.took(as_reported, false, &counted, Some(n));
                self.uses.last_mut().unwrap().is_given = is_given;
                Ok(format!("{word} {counted}: {answer}"))
            }
            Verdict::Unused(why) if before.is_none() => {
                let closed = self.close_unused(report, same);
                self.took(as_reported, false, why, closed);
                self.uses.last_mut().unwrap().counts = false;
                Ok(format!("unused {why}"))
            }
            Verdict::Free(why) | Verdict::Unused(why) => {
                let mut charge = whole(report, before.is_some());
                charge.duration = Some(Seconds(0));
                charge.terms.amount = Some(Amount::ZERO);
                let (n, answer) = self.charge_whole(&charge, (before, same), None)?;
                self.took(as_reported, false, why, Some(n));
                self.uses.last_mut().unwrap().is_given = is_given;
                Ok(format!("free {why}: {answer}"))
            }
        }
    }

    /// Whether a later record of the same identity replaced this one.
    fn is_replaced(&self, report: &UsageReport) -> bool {
        let newest = self.known(report);
        let is_newest = newest.is_some_and(|known| known.report == *report);
        !is_newest && self.uses.iter().any(|known| known.report == *report)
    }

    /// An amended record in the names of the owner to whom a person gave the use, unless its source names another owner than
    /// before.
    fn of_owner(&self, report: &UsageReport, known: &Use) -> Option<UsageReport> {
        let facts = &self.instances[known.instance?].facts;
        let (own, before) = (&report.request.whose, &known.report.request.whose);
        let is_same = (&own.project, &own.user) == (&before.project, &before.user);
        if !known.is_given || !is_same || self.project(&facts.project).is_none() {
            return None;
        }
        let mut report = report.clone();
        report.request.whose.project = Some(facts.project.clone());
        report.request.whose.user = Some(facts.user.clone()).filter(|name| !name.is_empty());
        Some(report)
    }

    /// An amended record replaces the one before it, also what that one alone states.
    fn forget(&mut self, n: usize, old: &UsageReport, new: &UsageReport) {
        let (old, new) = (&old.request.facts, &new.request.facts);
        let facts = &mut self.instances[n].facts;
        if old.usage.qos.is_some() && new.usage.qos.is_none() {
            facts.usage.qos = None;
        }
        if old.usage.class.is_some() && new.usage.class.is_none() {
            facts.usage.class = None;
        }
        if old.usage.nodes.is_some() && new.usage.nodes.is_none() {
            facts.usage.nodes = None;
        }
        if old.usage.memory_mb.is_some() && new.usage.memory_mb.is_none() {
            facts.usage.memory_mb = None;
        }
        if old.usage.disk_mb.is_some() && new.usage.disk_mb.is_none() {
            facts.usage.disk_mb = None;
        }
    }

    /// Nothing was used: its lien holds nothing any more.
    fn close_unused(&mut self, report: &UsageReport, same: Option<usize>) -> Option<usize> {
        let close = Close {
            key: report.request.key(),
            by: Closing::Delete,
            event_time: report.request.facts.end,
        };
        let waits = |n: &usize| {
            let i = &self.instances[*n];
            i.closed.is_some() && i.lien.is_some()
        };
        let Some(n) = same.filter(waits) else {
            return self.close_found(&close, false).map(|(n, _)| n);
        };
        self.begin("delete", self.happened(close.event_time));
        self.end_lien(n, "released");
        (self.instances[n].due, self.instances[n].kept) = (None, 0);
        Some(n)
    }

    /// The whole of a finished use: on the instance of the record before it, else on the one of the same
    /// use.
    fn charge_whole(
        &mut self,
        charge: &Charge,
        (before, same): (Option<usize>, Option<usize>),
        processors: Option<(i128, i128)>,
    ) -> Result<(usize, String), String> {
        Naive::check_charge(charge)?;
        let request = &charge.request;
        let at = self.happened(request.event_time);
        let began = charge
            .terms
            .finished
            .as_ref()
            .map_or(at, |w| w.began.min(at));
        let known = before.or(same);
        let n = known.unwrap_or_else(|| self.new_instance(request, began));
        let op = if before.is_some() { "adjust" } else { "charge" };
        let answer = self.charge_on(charge, n, at, op, processors)?;
        Ok((n, answer))
    }

    /// An amended record names another project or user: what the old one paid goes back, whatever is left.
    pub(super) fn take_back(&mut self, n: usize, before: Owner) -> i64 {
        let mut back = [0, 0];
        let left = |parts: Vec<(usize, i64)>| parts.into_iter().filter(|(_, part)| *part > 0);
        let shadow: Vec<(usize, i64)> = left(self.paid(n, true)).collect();
        let real: Vec<(usize, i64)> = left(self.paid(n, false)).collect();
        let mut real = self.by_owner(n, &real, false);
        let shadow = self.by_owner(n, &shadow, true);
        let mut reissued = Vec::new();
        // Refunds that were not undone are granted again on their own allocations, not on those of the charges.
        for (place, allocation, part) in self.refunds(n) {
            let entry = &self.journal[place.0].entries[place.1];
            let owner = (entry.project.clone(), entry.user.clone());
            let is_reissued = self.is_reissued(entry);
            self.move_amount("reverse", allocation, -part);
            let reversal = (self.journal.len() - 1, self.tx().entries.len() - 1);
            let last = self.tx().entries.last_mut().unwrap();
            (last.project, last.user) = owner.clone();
            last.takes_back = Some(place);
            self.expire_beside(allocation, -part);
            if is_reissued {
                if !real.iter().any(|(own, _)| *own == owner) {
                    real.push((owner.clone(), Vec::new()));
                }
                reissued.push((owner, allocation, part, reversal));
                continue;
            }
            let known = real.iter_mut().find(|(own, _)| *own == owner);
            match known {
                Some((_, parts)) => match parts.iter_mut().find(|(on, _)| *on == allocation) {
                    Some((_, sum)) => *sum += part,
                    None => parts.push((allocation, part)),
                },
                None => real.push((owner, vec![(allocation, part)])),
            }
        }
        for (in_shadow, owners) in [(false, real), (true, shadow)] {
            for (owner, parts) in owners {
                for (allocation, part) in parts {
                    back[usize::from(in_shadow)] += part;
                    self.give_to(&owner, allocation, part, in_shadow);
                    let instance = &mut self.instances[n];
                    if in_shadow {
                        instance.shadow_billed -= part;
                    } else {
                        instance.billed -= part;
                    }
                }
                for (own, allocation, part, reversal) in &reissued {
                    if !in_shadow && *own == owner {
                        back[0] += part;
                        self.move_amount("refund", *allocation, *part);
                        let last = self.tx().entries.last_mut().unwrap();
                        (last.project, last.user) = owner.clone();
                        last.takes_back = Some(*reversal);
                        self.expire_beside(*allocation, *part);
                        self.instances[n].billed -= part;
                    }
                }
            }
        }
        let nowhere = self.instances[n].shadow_billed.max(0);
        self.instances[n].shadow_billed -= nowhere;
        let [real, shadow] = [back[0], back[1] + nowhere];
        if real + shadow > 0 {
            let facts = &self.instances[n].facts;
            let now = (facts.project.clone(), facts.user.clone());
            self.tx().went_back = Some((real, shadow, before, now));
        }
        real + shadow
    }

    /// The newest record of the same source, id and start.
    fn known(&self, report: &UsageReport) -> Option<Use> {
        let of = |r: &UsageReport| {
            let request = &r.request;
            (
                r.source.clone(),
                request.object_id.clone(),
                request.facts.start,
            )
        };
        let same = |known: &&Use| of(&known.report) == of(report);
        self.uses.iter().rev().find(same).cloned()
    }

    fn took(&mut self, report: &UsageReport, is_kept: bool, counted: &str, n: Option<usize>) {
        self.uses.push(Use {
            report: report.clone(),
            is_kept,
            counted: counted.to_owned(),
            instance: n,
            counts: !is_kept,
            is_given: false,
        });
    }
}

/// The charge of a whole use, which closes its instance; an amended record reports a total.
fn whole(report: &UsageReport, is_amended: bool) -> Charge {
    let facts = &report.request.facts;
    let began = facts.start.unwrap_or(Timestamp(0));
    let mut request = report.request.clone();
    request.event_time = Some(facts.end.map_or(began, |end| end.max(began)));
    Charge {
        request,
        closes: true,
        terms: Terms {
            total: is_amended,
            source: Some(report.source.clone()),
            finished: Some(Whole {
                began,
                instance: None,
                remark: String::new(),
            }),
            ..Terms::default()
        },
        ..Charge::default()
    }
}

fn verdict(policy: ChargePolicy, report: &UsageReport) -> Result<Verdict, String> {
    let (facts, figures) = (&report.request.facts, &report.figures);
    match figures.ended {
        Ended::Running => return Err(refused("bad_value")),
        Ended::Rejected => return Ok(Verdict::Unused("rejected")),
        Ended::Waiting => return Ok(Verdict::Unused("never_started")),
        _ => {}
    }
    let Some(start) = facts.start else {
        return Ok(Verdict::Unused("never_started"));
    };
    if figures.ended == Ended::Suspended {
        return Ok(Verdict::Free("suspended"));
    }
    let end = facts.end.ok_or_else(|| refused("missing_field"))?;
    let wall = (end.seconds() - start.seconds()).max(1);
    let is_successful = match figures.ended {
        Ended::Completed | Ended::Unknown => facts.exit_code.is_none_or(|code| code == 0),
        Ended::Timeout => true,
        Ended::Removed => facts.wall.is_some_and(|limit| wall >= limit.0),
        _ => false,
    };
    if policy.whose == Whose::Successful && !is_successful {
        return Ok(Verdict::Free("not_successful"));
    }
    let own = facts.usage.processors.map_or(1, whole_number).max(1);
    let by_wall = || Verdict::Charged((own, 1), wall, format!("wc {}", own * i128::from(wall)));
    Ok(match policy.metric {
        Metric::WallClock => by_wall(),
        Metric::Cpu => match figures.cpu_s.map(whole_number).filter(|cpu| *cpu > 0) {
            Some(cpu) => Verdict::Charged((cpu, i128::from(wall)), wall, format!("cpu {cpu}")),
            None => by_wall(),
        },
        Metric::Requested => match facts.wall.filter(|requested| requested.0 > 0) {
            Some(Seconds(requested)) => {
                let answer = format!("requested_wc {}", own * i128::from(requested));
                Verdict::Charged((own, 1), requested, answer)
            }
            None => by_wall(),
        },
        _ => panic!("the scripts set no such policy"),
    })
}

fn whole_number(number: bank_core::decimal::Decimal) -> i128 {
    number.billionths() / 1_000_000_000
}
