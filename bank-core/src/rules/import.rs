//! A chunk of finished uses in one transaction, where none of them moves money (decisions.md 18 to 20).
//!
//! Each has the same result as a separate command: price, shadow totals, refusal of strict enforcement, and
//! identity. A use that moves money, or that has an instance, is left to a separate command.

mod journal;
mod who;

use crate::amount::Amount;
use crate::command::{Chunk, HISTORY, UsageReport};
use crate::effects::{Became, Effects, Fate, Imported, Outcome, UseRow};
use crate::exact::{Fraction, to_amount};
use crate::ids::{AllocationId, check_name};
use crate::model::Allocation;
use crate::policy::{Quantity, Verdict, verdict};
use crate::price::{Named, Priced, price};
use crate::refusal::{Refusal, short};
use crate::rules::would::{self, Needed};
use crate::rules::{report, same, scope};
use crate::time::Timestamp;
use crate::view::{Already, Context, View};
use journal::Sums;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use who::{Who, Whos, of_owners};

/// Takes a chunk in.
pub(super) fn import(chunk: &Chunk, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    check_name(&chunk.source)?;
    let mut taking = Taking {
        view,
        ctx,
        allocations: view.allocations.clone(),
        whos: Whos::default(),
        seen: HashMap::new(),
        rows: Vec::with_capacity(chunk.reports.len()),
        sums: Sums::default(),
        claims: BTreeSet::new(),
    };
    let none = Already::default();
    let mut fates = Vec::with_capacity(chunk.reports.len());
    let of_owners = of_owners(chunk, view, ctx);
    for (n, report) in chunk.reports.iter().enumerate() {
        let of_owner = of_owners.get(&n);
        let report = of_owner.unwrap_or(report);
        let record = Record {
            report,
            already: view.already.get(n).unwrap_or(&none),
            names: chunk.reports.names(n).filter(|_| of_owner.is_none()),
            comes_again: chunk.reports.comes_again(n),
            fault: chunk.reports.fault(n),
            digest: chunk.digests.get(n).copied(),
            given: of_owner.is_some(),
            place: chunk.places.get(n).copied(),
        };
        let fate = if report.source == chunk.source {
            taking.one(&record)
        } else {
            Fate::Alone
        };
        taking.sums.count(&fate);
        fates.push(fate);
    }
    taking.finish(chunk, fates)
}

/// A record of the chunk, with what is known beside it.
struct Record<'a> {
    report: &'a Arc<UsageReport>,
    already: &'a Already,
    /// The number of its names in the chunk.
    names: Option<usize>,
    /// Whether its id occurs in the chunk more than once.
    comes_again: bool,
    /// The fault of the record by itself.
    fault: Option<&'a Refusal>,
    digest: Option<[u8; 16]>,
    /// A person gave it to its owner.
    given: bool,
    place: Option<u32>,
}

/// The stored state of an identity before a record.
struct Before {
    is_same: bool,
    /// The record was replaced by another one since.
    is_earlier: bool,
    became: Became,
    revision: i64,
    /// Its price, and the allocation with it.
    amount: Option<Amount>,
    on: Option<AllocationId>,
    refusal: Option<Cow<'static, str>>,
    project: String,
    machine: String,
}

/// The state of an identity within the chunk.
#[derive(Default)]
struct Seen {
    /// Its rows, the last of which counts; empty where it is left alone.
    rows: Vec<usize>,
}

struct Taking<'a> {
    view: &'a View,
    ctx: &'a Context<'a>,
    /// As they are after the records so far.
    allocations: Vec<Allocation>,
    whos: Whos,
    /// Identities with an id that occurs again.
    seen: HashMap<(&'a str, Timestamp), Seen>,
    rows: Vec<UseRow>,
    sums: Sums,
    /// Machines that are this source's from now on.
    claims: BTreeSet<String>,
}

/// The value of a use.
struct Worth {
    became: Became,
    counted: String,
    policy: &'static str,
    /// None where nothing was charged.
    amount: Option<Amount>,
    on: Option<AllocationId>,
    refusal: Option<Cow<'static, str>>,
    available: Option<Amount>,
}

impl<'a> Taking<'a> {
    fn one(&mut self, record: &Record<'a>) -> Fate {
        let report = record.report;
        let key = (report.request.object_id.as_str(), report.incarnation());
        let decided = self.decide(record);
        let (worth, before) = match decided {
            Ok(Ok(decided)) => decided,
            Ok(Err(fate)) => {
                if fate == Fate::Alone && record.comes_again {
                    self.seen.insert(key, Seen::default());
                }
                return fate;
            }
            Err(refusal) => return Fate::Refused(refusal),
        };
        let became = worth.became;
        self.sums.measure(report, &worth);
        self.rows.push(UseRow {
            report: Arc::clone(report),
            digest: record.digest,
            revision: before.map_or(0, |before| before.revision.saturating_add(1)),
            became,
            policy: worth.policy,
            counted: worth.counted,
            instance: None,
            amount: worth.amount,
            on: worth.on,
            refusal: worth.refusal,
            available: worth.available,
            place: record.place,
            given: record.given,
        });
        if record.comes_again {
            let row = self.rows.len().saturating_sub(1);
            self.seen.entry(key).or_default().rows.push(row);
        }
        Fate::Took(became)
    }

    /// The value and the earlier state; or the result of a record without a row.
    fn decide(
        &mut self,
        record: &Record<'a>,
    ) -> Result<Result<(Worth, Option<Before>), Fate>, Refusal> {
        let report = record.report;
        scope::whose(&report.request.whose, self.ctx)?;
        record.fault.map_or(Ok(()), |fault| Err(fault.clone()))?;
        report::check_times(report, self.ctx)?;
        if let Some(amount) = report.charged_before {
            return self.history(record, amount);
        }
        let machine = report::machine(report, self.ctx);
        let policy = machine.and_then(|m| m.charge_policy).unwrap_or_default();
        let verdict = verdict(policy, &report.finished())?;
        let Ok(before) = self.before(record) else {
            return Ok(Err(Fate::Alone));
        };
        if before.as_ref().is_some_and(|before| before.is_earlier) {
            return Ok(Err(Fate::Took(Became::Duplicate)));
        }
        let machines = &self.view.charged_machines;
        let is_charged = || machines.contains(&report.request.whose.machine);
        let foreign = report::foreign(report, is_charged, self.ctx);
        let counts = |b: &&Before| b.became.counts();
        if foreign.is_some() && before.as_ref().filter(counts).is_some_and(|b| !b.is_same) {
            // Another source charges the machine now: the charge of the use stays as it was.
            return Ok(Err(Fate::Took(Became::Kept)));
        }
        let stood = before.as_ref().filter(|before| before.amount.is_some());
        let others = &record.already.others;
        let facts = &report.request.facts;
        let by_other =
            || same::finished_by(facts, &report.source, (others, &[])).map(str::to_owned);
        let foreign = foreign.or_else(|| stood.is_none().then(by_other).flatten());
        let is_kept = |b: &Before| b.is_same && (b.became != Became::Kept || foreign.is_some());
        if before.as_ref().is_some_and(is_kept) {
            return Ok(Err(Fate::Took(Became::Duplicate)));
        }
        if foreign.is_some() {
            let worth = Worth::kept(before.as_ref());
            return Ok(Ok((worth, before)));
        }
        let who = self.whos.of(report, record.names, self.ctx);
        // A use in the shadow totals stays there, in any present mode (decisions.md 44).
        let needs_instance =
            || record.already.has_instance || report::uses_reservation(report, machine);
        if stood.is_none() && (!who.mode.is_shadow() || needs_instance()) {
            return Ok(Err(Fate::Alone));
        }
        if machine.is_some_and(|m| m.source.is_none() && !m.deleted)
            && !matches!(verdict, Verdict::Unused(_))
        {
            self.claims.insert(report.request.whose.machine.clone());
        }
        let mut worth = self.worth(report, &who, verdict, stood)?;
        worth.policy = policy.word();
        if worth.amount.is_some() {
            if let Some(before) = stood {
                worth.refusal.clone_from(&before.refusal);
            } else {
                let (refusal, available) = self.refused(report, &who, &worth).unzip();
                worth.refusal = refusal.map(Cow::Borrowed);
                worth.available = available.flatten();
            }
            self.lay(report, &who, &mut worth, stood);
        }
        Ok(Ok((worth, before)))
    }

    /// A use from before this bank opened: it counts with the amount that another bank charged for it.
    fn history(
        &mut self,
        record: &Record<'a>,
        amount: Amount,
    ) -> Result<Result<(Worth, Option<Before>), Fate>, Refusal> {
        let before = self.before(record);
        let Ok(before) = before else {
            return Err(Refusal::already_exists(
                "charge of the job",
                &record.report.request.object_id,
            ));
        };
        if before.as_ref().is_some_and(|b| b.is_same || b.is_earlier) {
            return Ok(Err(Fate::Took(Became::Duplicate)));
        }
        let stood = before.as_ref().filter(|before| before.amount.is_some());
        if let Some(stood) = stood {
            self.give_back(stood);
        }
        let became = match stood {
            Some(_) => Became::Adjusted,
            None => Became::Charged,
        };
        let mut worth = Worth::of(became, String::new(), amount);
        worth.policy = HISTORY;
        let who = self.whos.of(record.report, record.names, self.ctx);
        self.sums.post(&who, None, amount.0);
        Ok(Ok((worth, before)))
    }

    /// The charge of a use by the verdict of the policy; `stood` is its earlier record, if that was charged.
    fn worth(
        &mut self,
        report: &UsageReport,
        who: &Who,
        verdict: Verdict,
        stood: Option<&Before>,
    ) -> Result<Worth, Refusal> {
        Ok(match verdict {
            Verdict::Charged(quantity) => {
                let amount = self.price(report, who, &quantity).unwrap_or(Amount::ZERO);
                let total = quantity.total().ok_or(Refusal::AmountOverflow)?;
                let became = match stood {
                    Some(_) => Became::Adjusted,
                    None => Became::Charged,
                };
                self.sums.counted(&quantity);
                Worth::of(became, counted(quantity.metric.word(), total), amount)
            }
            Verdict::Unused(why) if stood.is_none() => Worth {
                amount: None,
                ..Worth::of(Became::Unused, why.to_owned(), Amount::ZERO)
            },
            Verdict::Free(why) | Verdict::Unused(why) => {
                Worth::of(Became::Free, why.to_owned(), Amount::ZERO)
            }
        })
    }

    /// The stored state of the identity; an error if it is left to a separate command.
    fn before(&self, record: &Record<'a>) -> Result<Option<Before>, ()> {
        let report = record.report;
        let key = (report.request.object_id.as_str(), report.incarnation());
        let seen = record.comes_again.then(|| self.seen.get(&key));
        if let Some(seen) = seen.flatten() {
            let mut rows = seen.rows.iter().rev().filter_map(|row| self.rows.get(*row));
            let row = rows.next().ok_or(())?;
            let is_same = report.repeats(&row.report);
            let known = record.already.known.as_ref();
            let is_earlier = known.is_some_and(|known| known.is_same || known.is_earlier)
                || rows.any(|row| report.repeats(&row.report));
            return Ok(Some(Before {
                is_same,
                is_earlier: is_earlier && !is_same,
                became: row.became,
                revision: row.revision,
                amount: row.amount,
                on: row.on,
                refusal: row.refusal.clone(),
                project: row.project().to_owned(),
                machine: row.report.request.whose.machine.clone(),
            }));
        }
        let Some(known) = &record.already.known else {
            return Ok(None);
        };
        // A charge on an instance is adjusted there.
        if known.instance.is_some() && !known.is_same && !known.is_earlier {
            return Err(());
        }
        Ok(Some(Before {
            is_same: known.is_same,
            is_earlier: known.is_earlier,
            became: known.became,
            revision: known.revision,
            amount: known.amount,
            on: known.on,
            refusal: known.refusal.clone(),
            project: known.project.clone(),
            machine: known.key.machine.clone(),
        }))
    }

    /// The price of it, in minor units; none where exact arithmetic ends.
    fn price(&self, report: &UsageReport, who: &Who, quantity: &Quantity) -> Option<Amount> {
        let request = &report.request;
        let mut usage = Cow::Borrowed(&request.facts.usage);
        // Mostly a policy counts the processors that the record names, as rates do by themselves.
        let own = usage.processors.map(Fraction::of);
        if usage.counted.is_some() || own != Some(quantity.processors) {
            usage.to_mut().counted = Some(quantity.processors);
        }
        let began = request.facts.start.unwrap_or_default();
        let user = short(request.whose.user.as_deref().unwrap_or_default());
        let priced = Priced {
            usage: &usage,
            duration: quantity.seconds,
            machine: who.machine,
            machine_name: &request.whose.machine,
            named: Named {
                user: &user,
                project: &who.project,
                group: &request.facts.group,
            },
            at: began,
            from: began,
        };
        let policy = &self.ctx.directory.policy;
        let price = price(&priced, self.ctx.directory.rates_at(began))?;
        let sum = price.metered.checked_add(price.once)?;
        let precision = self.ctx.directory.bank.precision;
        let amount = to_amount(price.bounded(sum), precision, policy.rounding)?;
        Some(amount.max(Amount::ZERO))
    }

    /// The refusal of strict enforcement, and the available amount if money was short.
    fn refused(
        &mut self,
        report: &UsageReport,
        who: &Who,
        worth: &Worth,
    ) -> Option<(&'static str, Option<Amount>)> {
        let facts = &report.request.facts;
        let starters = match &who.starters {
            Ok(starters) => starters,
            Err(refusal) => return Some((refusal.code(), None)),
        };
        let began = facts.start.unwrap_or_default();
        let needed = Needed {
            cost: worth.amount.unwrap_or_default(),
            began,
            ended: facts.end.unwrap_or(began),
            machine: who.machine,
        };
        let short = would::short(needed, starters, &self.allocations, self.ctx);
        short.map(|available| ("insufficient_funds", Some(available)))
    }

    /// Moves the shadow totals: the earlier amount goes back to its allocation, and the new one goes to the
    /// allocation that a charge of it would use.
    fn lay(&mut self, report: &UsageReport, who: &Who, worth: &mut Worth, before: Option<&Before>) {
        let facts = &report.request.facts;
        let began = facts.start.unwrap_or_default();
        let ended = facts.end.map_or(began, |end| end.max(began));
        let at = ended.min(self.ctx.now);
        if let Some(before) = before {
            self.give_back(before);
        }
        worth.on = who.pays(&self.allocations, at);
        let mut amount = worth.amount.unwrap_or_default().0;
        if !self.shift(worth.on, amount) {
            // Beyond the range of an account: it counts nothing, like a separate charge.
            amount = 0;
            worth.amount = Some(Amount::ZERO);
        }
        self.sums.post(who, worth.on, amount);
        if worth.refusal.is_some() && before.is_none() {
            self.sums.refuse(who);
        }
    }

    /// Takes the amount of an earlier record out of the shadow totals.
    fn give_back(&mut self, before: &Before) {
        let back = before.amount.unwrap_or_default().0.saturating_neg();
        self.shift(before.on, back);
        self.sums
            .shift(before.on, &before.project, &before.machine, back);
    }

    /// Adds to the shadow total of an allocation, if that can be.
    fn shift(&mut self, on: Option<AllocationId>, amount: i64) -> bool {
        let Some(id) = on else { return true };
        let Some(allocation) = self.allocations.iter_mut().find(|a| a.id == id) else {
            return true;
        };
        // Shadow totals are counted downwards, as charges are.
        let after = allocation.shadow.minus(Amount(amount));
        if let Ok(after) = after {
            allocation.shadow = after;
        }
        after.is_ok()
    }

    fn finish(mut self, chunk: &Chunk, fates: Vec<Fate>) -> Result<Effects, Refusal> {
        self.whos.each().for_each(|who| self.sums.tell(who));
        let (tx, mut effects) = if self.rows.is_empty() {
            let postings = crate::postings::Postings::new(self.view);
            (None, postings.finish(Outcome::Swept))
        } else {
            self.sums
                .journal(chunk, self.view, self.ctx, &self.claims)?
        };
        effects.uses = self.rows;
        effects.outcome = Outcome::Imported(Box::new(Imported { tx, fates }));
        Ok(effects)
    }
}

impl Worth {
    /// Another source charges the machine. What was counted before it had the machine stays.
    fn kept(before: Option<&Before>) -> Worth {
        Worth {
            became: Became::Kept,
            counted: String::new(),
            policy: "",
            amount: before.and_then(|before| before.amount),
            on: before.and_then(|before| before.on),
            refusal: before.and_then(|before| before.refusal.clone()),
            available: None,
        }
    }

    fn of(became: Became, counted: String, amount: Amount) -> Worth {
        Worth {
            became,
            counted,
            policy: "",
            amount: Some(amount),
            on: None,
            refusal: None,
            available: None,
        }
    }
}

/// The counted quantity as text: the same as the format `{metric} {total}`, in a fraction of the time.
fn counted(metric: &str, total: Fraction) -> String {
    let Some(total) = total.as_decimal() else {
        return format!("{metric} {total}");
    };
    let mut text = String::with_capacity(metric.len().saturating_add(21));
    text.push_str(metric);
    text.push(' ');
    total.push_to(&mut text);
    text
}
