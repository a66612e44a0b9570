//! Charge: bills what was used, and never loses any of it (ledger.md 2.8, decision 14).

mod paying;

use crate::amount::Amount;
use crate::command::{Charge, Request};
use crate::decimal::Decimal;
use crate::effects::{
    Billing, Charged, Delta, DirectoryRow, Effects, EntryKind, InstanceChange, Outcome,
    RecordEvent, UsageRow,
};
use crate::exact::to_amount;
use crate::ids::{AllocationId, TxId, UsageId};
use crate::model::{Account, Closing, Instance, LienState, Mode, Standing};
use crate::postings::{About, Postings};
use crate::price::{Priced, price};
use crate::refusal::Refusal;
use crate::rules::instance::{
    check_duration, check_object, close_instance, end_lien, event_time, in_scope, keep_facts,
    new_instance, wait_for_more,
};
use crate::rules::money::figures;
use crate::rules::promise::{Binding, bind};
use crate::select::{self, Payer};
use crate::time::{Seconds, Timestamp};
use crate::usage;
use crate::view::{Context, Next, View};

/// Bills an instance for the time since its last charge. What exact arithmetic or an account's
/// range cannot hold is unbilled with amount 0, never refused (ledger.md 1.3, 2.8).
pub(super) fn charge(charge: &Charge, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    match bill(charge, view, ctx, true) {
        Err(Refusal::AmountOverflow) => bill(charge, view, ctx, false),
        decided => decided,
    }
}

fn bill(
    charge: &Charge,
    view: &View,
    ctx: &Context<'_>,
    has_price: bool,
) -> Result<Effects, Refusal> {
    let request = &charge.request;
    let duration = charge
        .duration
        .ok_or(Refusal::MissingField { field: "duration" })?;
    let duration = check_duration(duration)?;
    check_object(request)?;
    let at = event_time(request.event_time, ctx);
    let mut postings = Postings::new(view);
    let mut instance = match charged_instance(view, at, ctx) {
        Some(known) => in_scope(known, ctx)?.clone(),
        None => new_instance(&mut postings, view, request, at),
    };
    let before = instance.standing();
    let facts_changed = keep_facts(&mut instance.facts, request, ctx);
    let payer = payer(&instance, request, ctx);
    let mode = ctx.directory.mode(payer.project, payer.machine);
    let tx = postings.begin_for("charge", at, instance.id);
    let binding = bind(&mut postings, &mut instance, request, view, at, ctx);
    let bill = if has_price {
        billed_now(&mut instance, request, duration, at, ctx)
    } else {
        None
    };
    let priced = bill.map(|(amount, _)| amount);
    let mut billing = Bill {
        usage: UsageId(Next::take(&mut postings.next.usage)),
        postings,
        tx,
        at,
        payer,
        amount: priced.unwrap_or(Amount::ZERO),
        unpriced: bill.is_some_and(|(_, unpriced)| unpriced),
        late: !instance.is_open(),
        lien: if instance.lien.is_some() {
            LienUse::Unused
        } else {
            LienUse::Missing
        },
        debt: Amount::ZERO,
        outcome: Billing::Billed,
        first: None,
        facts_changed,
        binding,
        before,
        instance,
    };
    if mode.is_shadow() {
        billing.in_shadow(ctx)?;
    } else if priced.is_none() {
        billing.postings.remark("price_overflow");
        billing.debit_suspense(ctx)?;
    } else {
        billing.for_real(ctx)?;
    }
    let first = billing.first;
    billing
        .binding
        .journal(&mut billing.postings, &billing.instance, first)?;
    billing.finish(charge.closes, duration, mode, ctx)
}

/// The instance a charge is about: the newest one open at the event time, else the newest one
/// closed at most the grace before, else whichever is open now (nami.md 1.4).
fn charged_instance<'a>(view: &'a View, at: Timestamp, ctx: &Context<'_>) -> Option<&'a Instance> {
    let grace = ctx.directory.policy.close_grace;
    let just_closed = |i: &&Instance| {
        i.closed
            .is_some_and(|(closed, _)| closed <= at && at <= closed.plus(grace))
    };
    let open_then = view.instances.iter().find(|i| i.was_open(at));
    let closed_then = || view.instances.iter().find(just_closed);
    let open_now = || view.instances.iter().find(|i| i.is_open());
    open_then.or_else(closed_then).or_else(open_now)
}

/// Whom the request names; where it names nobody, whom the instance knows.
fn payer(instance: &Instance, request: &Request, ctx: &Context<'_>) -> Payer {
    let payer = select::find(ctx.directory, &request.whose);
    if payer.project.is_some() || request.whose.project.is_some() {
        return payer;
    }
    let project = ctx.directory.project_named(&instance.facts.project);
    Payer {
        project: project.map(|p| p.id),
        project_name: instance.facts.project.clone(),
        ..payer
    }
}

/// What this document adds to the running exact sum, and what is billed now: the rounded sum less
/// what was billed before, so that the number of flushes changes nothing (decision 7). `None`
/// where exact arithmetic ends; else also whether no rate counted.
fn billed_now(
    instance: &mut Instance,
    request: &Request,
    duration: Seconds,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Option<(Amount, bool)> {
    let machine = ctx
        .directory
        .machine_named(&request.whose.machine)
        .map(|m| m.id);
    // A duration without a window began when it can have begun at the earliest.
    let window_start = at.minus(duration).max(instance.opened);
    let asked = Priced {
        usage: &instance.facts.usage,
        duration,
        machine,
        machine_name: &request.whose.machine,
        named: instance.facts.named(),
        at: instance.rates_at.unwrap_or(window_start),
        from: at.minus(duration),
    };
    let price = price(&asked, ctx.directory.rates_at(asked.at))?;
    let exact_sum = instance.exact_sum.checked_add(price.metered)?;
    let once_sum = instance.once_sum.max(price.once);
    let policy = &ctx.directory.policy;
    let precision = ctx.directory.bank.precision;
    let bounded = price.bounded(exact_sum.checked_add(once_sum)?);
    let total = to_amount(bounded, precision, policy.rounding)?;
    let before = instance.billed.plus(instance.shadow_billed).ok()?;
    let now = total.minus(before).ok()?;
    instance.exact_sum = exact_sum;
    instance.once_sum = once_sum;
    Some((now, price.unpriced))
}

/// A charge on its way.
struct Bill {
    postings: Postings,
    instance: Instance,
    tx: TxId,
    usage: UsageId,
    at: Timestamp,
    payer: Payer,
    amount: Amount,
    late: bool,
    lien: LienUse,
    debt: Amount,
    outcome: Billing,
    /// The allocation that carries what nothing covers, and an amount of zero.
    first: Option<AllocationId>,
    facts_changed: bool,
    binding: Binding,
    unpriced: bool,
    /// The instance's standing before.
    before: Standing,
}

/// What the instance's lien had to do with a charge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LienUse {
    /// There was none.
    Missing,
    /// It was there, and paid nothing.
    Unused,
    /// It paid, at least in part.
    Paid,
}

impl Bill {
    fn finish(
        mut self,
        closes: bool,
        duration: Seconds,
        mode: Mode,
        ctx: &Context<'_>,
    ) -> Result<Effects, Refusal> {
        self.mark(ctx);
        self.count(duration)?;
        let paying = self.paying_account();
        let own = paying.and_then(|id| ctx.directory.account(id));
        if self.outcome == Billing::Billed {
            self.instance.account = self.instance.account.or(paying);
        }
        if let (Mode::Fast, Some(account)) = (mode, own) {
            self.block_if_below_zero(account);
        }
        self.keep_lien(closes)?;
        self.record(duration, mode, ctx);
        if closes && self.instance.is_open() {
            // Not before it began, whenever the use that closes it ended.
            let end = self.at.max(self.instance.opened);
            close_instance(
                &mut self.postings,
                &mut self.instance,
                end,
                Closing::End,
                ctx,
            );
        } else {
            wait_for_more(&mut self.instance, self.at, ctx);
        }
        self.correct_expiries()?;
        let balance = paying.map_or(0, |account| figures(&self.postings, account).balance());
        let outcome = Outcome::Charged(Charged {
            instance: self.instance.id,
            tx: self.tx,
            amount: if mode == Mode::Track {
                Amount::ZERO
            } else {
                self.amount
            },
            debt: self.debt,
            billing: self.outcome,
            account: paying,
            balance: Amount::clamped(balance),
            project: self.payer.project_name.clone(),
            lien_missing: self.lien == LienUse::Missing,
            late: self.late,
            quote_invalid: self.binding.invalid,
            unpriced: self.unpriced,
        });
        let standing_changed = self.before != self.instance.standing();
        let change = InstanceChange {
            instance: self.instance,
            facts_changed: self.facts_changed,
            standing_changed,
        };
        self.postings.instances.push(change);
        Ok(self.postings.finish(outcome))
    }

    /// What was special about it, for the journal.
    fn mark(&mut self, ctx: &Context<'_>) {
        if self.lien == LienUse::Missing {
            self.postings.remark("lien_missing");
        }
        if self.binding.invalid {
            self.postings.remark("quote_invalid");
        }
        if self.outcome == Billing::Unbilled {
            self.postings.remark("unbilled");
        }
        let from = self
            .instance
            .fallback_from
            .and_then(|id| ctx.directory.account(id));
        if let Some(from) = from {
            self.postings
                .remark(&format!("fallback_from={}", from.name));
        }
    }

    fn count(&mut self, duration: Seconds) -> Result<(), Refusal> {
        let instance = &mut self.instance;
        let total = match self.outcome {
            Billing::Shadow => &mut instance.shadow_billed,
            Billing::Billed | Billing::Unbilled => &mut instance.billed,
        };
        *total = total.plus(self.amount)?;
        instance.charged = instance.charged.plus(duration);
        let processors = instance.facts.usage.processors.unwrap_or(Decimal::ZERO);
        let more = processors
            .billionths()
            .saturating_mul(i128::from(duration.0));
        instance.processor_seconds = instance.processor_seconds.saturating_add(more);
        instance.record = instance.record.or(Some(self.usage));
        Ok(())
    }

    fn paying_account(&self) -> Option<crate::ids::AccountId> {
        self.first
            .and_then(|id| self.postings.allocation(id))
            .map(|a| a.account)
    }

    fn block_if_below_zero(&mut self, account: &Account) {
        if !account.blocked && figures(&self.postings, account.id).amount < 0 {
            let blocked = Account {
                blocked: true,
                ..account.clone()
            };
            self.postings.directory.push(DirectoryRow::Account(blocked));
        }
    }

    /// A closing charge gives back what is left of the lien; one that it used up is settled.
    fn keep_lien(&mut self, closes: bool) -> Result<(), Refusal> {
        let Some(lien) = &self.instance.lien else {
            return Ok(());
        };
        if !closes {
            self.postings.liens.push(lien.clone());
            return Ok(());
        }
        if lien.remaining() == 0 && self.lien == LienUse::Paid {
            let mut settled = lien.clone();
            settled.state = LienState::Settled;
            settled.portions.clear();
            self.postings.liens.push(settled);
            self.instance.lien = None;
            return Ok(());
        }
        end_lien(&mut self.postings, &mut self.instance, LienState::Released)
    }

    fn record(&mut self, duration: Seconds, mode: Mode, ctx: &Context<'_>) {
        let processors = self.instance.facts.usage.processors;
        let row = UsageRow {
            id: self.usage,
            prev: self.instance.last_usage,
            instance: self.instance.id,
            tx: self.tx,
            at: self.at,
            charged: duration,
            processors: processors.unwrap_or(Decimal::ZERO),
            amount: self.amount,
            billing: self.outcome,
            late: self.late,
            facts: usage::text::write(&self.instance.facts.usage),
            rates_at: self.instance.rates_at,
        };
        if ctx.directory.policy.records {
            let amount = if mode == Mode::Track {
                Amount::ZERO
            } else {
                self.amount
            };
            let instance = Box::new(self.instance.clone());
            let usage = row.clone();
            let charged = RecordEvent::Charged {
                instance,
                usage,
                amount,
                created: ctx.now,
            };
            self.postings.records.push(charged);
        }
        self.instance.last_usage = Some(self.usage);
        self.postings.usages.push(row);
    }

    /// What was charged to allocations that have expired is active money no more: each is
    /// corrected at its boundary, in a transaction of its own (decision 14).
    fn correct_expiries(&mut self) -> Result<(), Refusal> {
        let charged = self.postings.taken_from_expired(self.tx);
        for (allocation, end, amount) in charged {
            self.postings.begin_for("boundary", end, self.instance.id);
            self.postings.correct(self.tx);
            let delta = Delta {
                active: amount,
                ..Delta::default()
            };
            let about = About::instance(&self.instance);
            self.postings
                .post(EntryKind::Expire, allocation, delta, &about)?;
        }
        Ok(())
    }
}
