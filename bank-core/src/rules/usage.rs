//! Finished usage without a decision by a scheduler: matched to the stored use, kept, or charged by the
//! machine's policy (nami.md 4.3, decisions.md 19).

use crate::amount::Amount;
use crate::command::{Charge, Chunk, UsageReport};
use crate::effects::{Became, Charged, Effects, Fate, KnownUse, Outcome, UseRow, Used};
use crate::ids::{AllocationId, InstanceId};
use crate::model::Instance;
use crate::policy::{ChargePolicy, Quantity, Verdict, verdict};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::rules::report::{self, check_times, foreign, machine};
use crate::rules::{charge, import, lifecycle, same};
use crate::select;
use crate::terms::{Terms, Whole};
use crate::time::Seconds;
use crate::view::{Already, Context, View};
use std::borrow::Cow;
use std::sync::Arc;

/// Takes a finished use in. The same record again changes nothing, for ever.
// `import` decides the same for a record of a chunk, without instances and postings: a chunk moves no money.
pub(super) fn take(
    report: &UsageReport,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    check(report, ctx)?;
    let is_history = report.charged_before.is_some();
    let is_again = |known: &&KnownUse| known.is_earlier || (is_history && known.is_same);
    let known = view.known.as_ref();
    if let Some(known) = known.filter(is_again) {
        return Ok(unchanged(known, None, view));
    }
    let of_owner = known.and_then(|known| {
        let own = view.instances.iter().find(|i| Some(i.id) == known.instance);
        report::of_owner(report, known, own, ctx)
    });
    let given = of_owner.is_some();
    let report = of_owner.as_ref().unwrap_or(report);
    if is_history {
        return in_chunk(report, view, ctx);
    }
    let policy = machine(report, ctx).and_then(|m| m.charge_policy);
    let policy = policy.unwrap_or_default();
    let verdict = verdict(policy, &report.finished())?;
    let foreign = foreign(report, || view.machine_charged, ctx);
    if let Some(known) = known.filter(|known| known.is_same) {
        // A use that was kept for another source is charged once this source charges the machine.
        if known.became != Became::Kept || foreign.is_some() {
            return Ok(unchanged(known, foreign, view));
        }
    }
    stays(report, known.and_then(|known| known.instance), view)?;
    if let Some(known) = known.filter(|known| known.became.counts())
        && foreign.is_some()
    {
        return Ok(left_alone(known, foreign, view));
    }
    let carried = known.and_then(carried);
    if carried.is_some() && foreign.is_none() {
        return in_chunk(report, view, ctx);
    }
    let is_first = known.is_none_or(|known| known.instance.is_none());
    let billed = is_first.then(|| billed_by(report, view)).flatten();
    let foreign = foreign.or(billed);
    if let Some(known) = known.filter(|known| known.is_same)
        && foreign.is_some()
    {
        return Ok(unchanged(known, foreign, view));
    }
    let taking = Taking {
        report,
        policy,
        carried,
        refusal: known.and_then(|known| known.refusal.clone()),
        revision: known.map_or(0, |known| known.revision.saturating_add(1)),
        before: known.and_then(|known| known.instance),
        given,
    };
    if let Some(source) = foreign {
        return Ok(taking.keep(source, view));
    }
    if report.track && taking.has_money(view) {
        return Ok(taking.keep("the source that charged it before".to_owned(), view));
    }
    match verdict {
        Verdict::Charged(quantity) => taking.charge(&quantity, view, ctx),
        Verdict::Free(why) => taking.free(why, view, ctx),
        Verdict::Unused(why) => taking.unused(why, view, ctx),
    }
}

/// Refuses another machine for a use with an instance, whose number, price and reservation are of its machine.
fn stays(report: &UsageReport, id: Option<InstanceId>, view: &View) -> Result<(), Refusal> {
    let own = view.instances.iter().find(|i| Some(i.id) == id);
    let machine = own.map(|i| &i.key.machine);
    match machine.filter(|machine| **machine != report.request.whose.machine) {
        Some(machine) => Err(Refusal::bad_field(
            "machine",
            format!(
                "{machine}, to which this use belongs; undo its charge there, and charge it on the other by hand"
            ),
        )),
        None => Ok(()),
    }
}

/// The amount that a chunk counted for it in the shadow totals, and its allocation.
fn carried(known: &KnownUse) -> Option<(Amount, Option<AllocationId>)> {
    let amount = known.amount.filter(|_| known.instance.is_none())?;
    Some((amount, known.on))
}

/// The source that has billed all of the same use already: another one, or the machine's scheduler. A use is
/// billed once, whichever source reports it (decisions.md 43).
fn billed_by(report: &UsageReport, view: &View) -> Option<String> {
    let facts = &report.request.facts;
    if let Some(source) = same::finished_by(facts, &report.source, (&view.others, &view.instances))
    {
        return Some(source.to_owned());
    }
    let same = same::instance_of(facts, Some(&report.source), view);
    let billed = same.filter(|i| i.is_billed())?;
    let source = same::collector(billed, view).unwrap_or("its scheduler");
    Some(source.to_owned())
}

/// Another source charges the machine now: the charge of the use stays as it was.
fn left_alone(known: &KnownUse, charged_by: Option<String>, view: &View) -> Effects {
    Postings::new(view).finish(Outcome::Used(Box::new(Used {
        became: Became::Kept,
        policy: known.policy.clone(),
        counted: known.counted.clone(),
        charged: None,
        charged_by,
    })))
}

/// A use from a chunk is amended like a chunk's records, and history is like them: it has no instance.
fn in_chunk(report: &UsageReport, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let chunk = Chunk {
        source: report.source.clone(),
        reports: std::iter::once(Arc::new(report.clone())).collect(),
        ..Chunk::default()
    };
    let already = Already {
        known: view.known.clone(),
        has_instance: false,
        others: Vec::new(),
    };
    let view = View {
        already: vec![already],
        ..view.clone()
    };
    let mut effects = import::import(&chunk, &view, ctx)?;
    if let Outcome::Imported(imported) = &effects.outcome
        && let Some(Fate::Refused(refusal)) = imported.fates.first()
    {
        return Err(refusal.clone());
    }
    let Some(row) = effects.uses.first() else {
        return Ok(effects);
    };
    effects.outcome = Outcome::Used(Box::new(Used {
        became: row.became,
        policy: row.policy.to_owned(),
        counted: row.counted.clone(),
        charged: None,
        charged_by: None,
    }));
    Ok(effects)
}

/// That it is a record at all, and of something that is over.
fn check(report: &UsageReport, ctx: &Context<'_>) -> Result<(), Refusal> {
    report.check()?;
    check_times(report, ctx)
}

/// The answer to what is known already.
fn unchanged(known: &KnownUse, charged_by: Option<String>, view: &View) -> Effects {
    Postings::new(view).finish(Outcome::Used(Box::new(Used {
        became: Became::Duplicate,
        policy: known.policy.clone(),
        counted: known.counted.clone(),
        charged: None,
        charged_by,
    })))
}

/// A use on its way in.
struct Taking<'a> {
    report: &'a UsageReport,
    policy: ChargePolicy,
    revision: i64,
    /// The instance of the record that this one replaces.
    before: Option<InstanceId>,
    /// Its price in the shadow totals, if it came with a chunk.
    carried: Option<(Amount, Option<AllocationId>)>,
    /// The refusal of strict enforcement for the record that this one replaces.
    refusal: Option<Cow<'static, str>>,
    /// A person gave it to its owner.
    given: bool,
}

impl Taking<'_> {
    /// Whether money was charged or is held for it: what comes where nobody is known leaves that
    /// alone.
    fn has_money(&self, view: &View) -> bool {
        let facts = &self.report.request.facts;
        let same = same::instance_of(facts, Some(&self.report.source), view);
        let same = same.map(|i| i.id);
        let of_use = |i: &&Instance| i.is_open() || Some(i.id) == self.before || Some(i.id) == same;
        let is_held = |i: &Instance| i.lien.as_ref().is_some_and(|lien| !lien.shadow);
        let mut instances = view.instances.iter().filter(of_use);
        instances.any(|i| !i.billed.is_zero() || is_held(i))
    }

    /// Another source charges the machine: kept for reconciliation, and nothing else.
    fn keep(self, charged_by: String, view: &View) -> Effects {
        let effects = Postings::new(view).finish(Outcome::Swept);
        let instance = self.before;
        self.taken(
            effects,
            Became::Kept,
            String::new(),
            instance,
            Some(charged_by),
        )
    }

    fn charge(
        self,
        quantity: &Quantity,
        view: &View,
        ctx: &Context<'_>,
    ) -> Result<Effects, Refusal> {
        let total = quantity.total().ok_or(Refusal::AmountOverflow)?;
        let counted = format!("{} {total}", quantity.metric.word());
        let mut charge = self.as_charge(&counted, ctx);
        charge.request.facts.usage.counted = Some(quantity.processors);
        charge.duration = Some(quantity.seconds);
        let became = if self.is_amended() {
            Became::Adjusted
        } else {
            Became::Charged
        };
        self.charged(&charge, became, counted, view, ctx)
    }

    /// Its use is on record, at no price.
    fn free(self, why: &str, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
        let mut charge = self.as_charge(why, ctx);
        charge.duration = Some(Seconds(0));
        charge.terms.amount = Some(Amount::ZERO);
        self.charged(&charge, Became::Free, why.to_owned(), view, ctx)
    }

    /// Nothing was used: what waits for it is released, and what was charged for an earlier record
    /// of it goes back.
    fn unused(self, why: &str, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
        if self.is_amended() {
            return self.free(why, view, ctx);
        }
        let effects = lifecycle::close_unused(self.report, view, ctx)?;
        let closed = match &effects.outcome {
            Outcome::Closed(closed) => closed.instance,
            _ => None,
        };
        Ok(self.taken(effects, Became::Unused, why.to_owned(), closed, None))
    }

    /// Something was made of an earlier record of it.
    fn is_amended(&self) -> bool {
        self.before.is_some()
    }

    /// The charge of a whole use, which closes its instance. An amended record reports a total: the
    /// difference is charged, or refunded to the payers (decisions.md 19).
    fn as_charge(&self, counted: &str, ctx: &Context<'_>) -> Charge {
        let facts = &self.report.request.facts;
        let began = facts.start.unwrap_or_default();
        let ended = facts.end.map_or(began, |end| end.max(began));
        let mut request = self.report.request.clone();
        request.event_time = Some(ended);
        request.facts.other = self.report.stated();
        if self.is_amended() && request.whose.project.is_none() {
            // Its user's own project, independent of the project of its instance.
            let found = select::find(ctx.directory, &request.whose).project_name;
            request.whose.project = Some(found).filter(|name| !name.is_empty());
        }
        let word = self.policy.word();
        Charge {
            request,
            duration: None,
            closes: true,
            terms: Terms {
                total: self.is_amended(),
                source: Some(self.report.source.clone()),
                track: self.report.track,
                finished: Some(Whole {
                    began,
                    instance: self.before,
                    remark: format!("policy={word} counted={}", counted.replace(' ', ":")),
                }),
                ..Terms::default()
            },
            ..Charge::default()
        }
    }

    fn charged(
        self,
        charge: &Charge,
        became: Became,
        counted: String,
        view: &View,
        ctx: &Context<'_>,
    ) -> Result<Effects, Refusal> {
        let effects = charge::charge(charge, view, ctx)?;
        let instance = match &effects.outcome {
            Outcome::Charged(charged) => Some(charged.instance),
            _ => None,
        };
        Ok(self.taken(effects, became, counted, instance, None))
    }

    /// Adds the row that identifies a repeat, and the answer.
    fn taken(
        self,
        mut effects: Effects,
        became: Became,
        counted: String,
        instance: Option<InstanceId>,
        charged_by: Option<String>,
    ) -> Effects {
        let policy = match became {
            Became::Kept => "",
            _ => self.policy.word(),
        };
        let after = effects.instances.last().map(|change| &change.instance);
        let sum = |i: &Instance| i.billed.plus(i.shadow_billed).ok();
        let (amount, refusal) = match &effects.outcome {
            // A first record has the result of its own charge, despite other charges on its instance.
            Outcome::Charged(charged) if !self.is_amended() => {
                let own = effects.usages.last().map(|usage| usage.amount);
                (own, charged.would_refuse)
            }
            Outcome::Charged(charged) => (after.and_then(sum), charged.would_refuse),
            // The count of a chunk stays in its place.
            _ => (self.carried.map(|(amount, _)| amount), None),
        };
        let on = self.carried.filter(|_| instance.is_none());
        effects.uses.push(UseRow {
            report: Arc::new(self.report.clone()),
            digest: None,
            revision: self.revision,
            became,
            policy,
            counted: counted.clone(),
            instance,
            amount,
            on: on.and_then(|(_, on)| on),
            refusal: refusal.map(Cow::Borrowed).or(self.refusal),
            available: None,
            place: None,
            given: self.given,
        });
        let charged: Option<Charged> = match effects.outcome {
            Outcome::Charged(charged) => Some(charged),
            _ => None,
        };
        effects.outcome = Outcome::Used(Box::new(Used {
            became,
            policy: policy.to_owned(),
            counted,
            charged,
            charged_by,
        }));
        effects
    }
}
