//! Charge: bills what was used, and never loses any of it (ledger.md 2.8, decision 14).

mod ceiling;
mod find;
mod measure;
mod paying;
mod shortfall;
mod source;

use crate::amount::Amount;
use crate::command::{Charge, Request};
use crate::decimal::Decimal;
use crate::effects::{
    Billing, Charged, Delta, DirectoryRow, Effects, EntryKind, InstanceChange, Outcome,
    RecordEvent, UsageRow,
};
use crate::ids::{AllocationId, TxId, UsageId};
use crate::model::{Account, Closing, Instance, Lien, LienState, Mode, Standing};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::fallback;
use crate::rules::instance::{
    check_object, close_instance, end_lien, in_scope, keep_facts, new_instance, note_start,
    remark_asserted, wait_for_more,
};
use crate::rules::money::figures;
use crate::rules::promise::{Binding, bind};
use crate::select::{self, Payer};
use crate::terms::{self, Shortfall};
use crate::time::{Seconds, Timestamp};
use crate::usage;
use crate::view::{Context, Next, View};
use ceiling::Plausible;
use find::charged_instance;

/// Bills an instance for the time since its last charge. What exact arithmetic or an account's
/// range cannot hold is unbilled with amount 0, never refused (ledger.md 1.3, 2.8).
pub(super) fn charge(charge: &Charge, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let charge = &*source::admitted(charge, ctx);
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
    let Begun {
        mut bill,
        mode,
        counted,
        priced,
    } = begin(charge, view, ctx, has_price)?;
    match priced {
        Some(amount) if amount < Amount::ZERO => bill.give_back(&view.paid, ctx)?,
        _ if mode.is_shadow() => bill.in_shadow(ctx)?,
        Some(_) => bill.for_real(ctx)?,
        None => {
            bill.postings.remark("price_overflow");
            bill.debit_suspense(ctx)?;
        }
    }
    let first = bill.first;
    bill.binding
        .journal(&mut bill.postings, &bill.instance, first)?;
    bill.finish(charge, counted, mode, ctx)
}

/// Whether a reported total is worth less than what was billed.
pub(super) fn falls(charge: &Charge, view: &View, ctx: &Context<'_>) -> bool {
    let begun = begin(&source::admitted(charge, ctx), view, ctx, true);
    begun.is_ok_and(|begun| begun.priced.is_some_and(|amount| amount < Amount::ZERO))
}

/// A charge whose amount is known and whose payers are not.
struct Begun {
    bill: Bill,
    mode: Mode,
    /// The seconds that it counts.
    counted: Seconds,
    /// None where exact arithmetic ended.
    priced: Option<Amount>,
}

fn begin(
    charge: &Charge,
    view: &View,
    ctx: &Context<'_>,
    has_price: bool,
) -> Result<Begun, Refusal> {
    let request = &charge.request;
    measure::check(charge)?;
    check_object(request)?;
    let at = charge.happened(ctx.now);
    let mut postings = Postings::new(view);
    let mut instance = match charged_instance(view, charge, at, ctx) {
        Some(known) => in_scope(known, ctx)?.clone(),
        None => new_instance(&mut postings, view, request, measure::began(charge, at)),
    };
    let before = instance.standing();
    let known = instance.facts.project.clone();
    note_start(&mut instance, request.facts.start);
    let reported = measure::reported(charge)?;
    let plausible = ceiling::check(charge, reported, &instance, at, ctx)?;
    let measured = measure::measure(charge, plausible, &instance, view, at, ctx)?;
    let facts_changed = keep_facts(&mut instance.facts, request, ctx);
    let payer = payer(&instance, request, ctx);
    let mode = ctx.directory.mode(payer.project, payer.machine);
    let tx = postings.begin_for(source::op(charge), at, instance.id);
    // The first words of the reason: what else stands there comes from outside.
    postings.remark(&terms::written(&measured.billed_windows()));
    remark_asserted(&mut postings, request);
    let binding = bind(&mut postings, &mut instance, request, view, at, ctx);
    let had_lien = instance.lien.is_some();
    give_back_other_money(&mut postings, &mut instance, mode)?;
    other_project(&mut postings, &mut instance, &known, &payer, charge)?;
    let price = || measure::billed_now(&mut instance, charge, &measured, ctx);
    let priced = has_price.then(price).flatten();
    if let Some(added) = priced.as_ref().and_then(|billed| billed.bounded) {
        postings.remark(&terms::written_exact(added));
    }
    source::remark(&mut postings, charge, ctx);
    if let Some(windows) = measured.windows {
        postings.windows.push((instance.id, windows));
    }
    let bill = Bill {
        usage: UsageId(Next::take(&mut postings.next.usage)),
        postings,
        tx,
        at,
        payer,
        amount: priced.as_ref().map_or(Amount::ZERO, |p| p.amount),
        unpriced: priced.as_ref().is_some_and(|p| p.unpriced),
        given: charge.terms.given(),
        late: !instance.is_open(),
        lien: LienUse::before(had_lien),
        debt: Amount::ZERO,
        against_liens: Amount::ZERO,
        by_fallback: Amount::ZERO,
        shortfall: shortfall(charge, ctx),
        outcome: Billing::Billed,
        first: None,
        facts_changed,
        binding,
        before,
        plausible,
        instance,
    };
    Ok(Begun {
        bill,
        mode,
        counted: measured.counted,
        priced: priced.map(|p| p.amount),
    })
}

/// Who covers what is short: what the charge says, else the site.
fn shortfall(charge: &Charge, ctx: &Context<'_>) -> Shortfall {
    let site = ctx.directory.policy.shortfall;
    charge.terms.shortfall.unwrap_or(site)
}

/// After a switch between a mode that moves money and one that does not, a lien holds what no charge
/// of this instance will take: it is given back (decision 18).
fn give_back_other_money(
    postings: &mut Postings,
    instance: &mut Instance,
    mode: Mode,
) -> Result<(), Refusal> {
    let fits = |lien: &Lien| lien.shadow == mode.is_shadow();
    if instance.lien.as_ref().is_none_or(fits) {
        return Ok(());
    }
    end_lien(postings, instance, LienState::Released)
}

/// Where the charge names another project than the one that the instance was for, the journal says so,
/// and if only the named one may pay, what the instance holds is given back (gold-wire.md 4).
fn other_project(
    postings: &mut Postings,
    instance: &mut Instance,
    known: &str,
    payer: &Payer,
    charge: &Charge,
) -> Result<(), Refusal> {
    let is_other = charge.request.whose.project.is_some() && known != payer.project_name;
    if !is_other || (instance.account.is_none() && instance.lien.is_none()) {
        return Ok(());
    }
    postings.remark(&format!("project_was={known}"));
    if charge.terms.named_only {
        end_lien(postings, instance, LienState::Released)?;
        instance.account = None;
        instance.fallback_from = None;
    }
    Ok(())
}

/// Whom the request names; where it names nobody, whom the instance knows.
fn payer(instance: &Instance, request: &Request, ctx: &Context<'_>) -> Payer {
    let facts = &instance.facts;
    let whose = request.whose.or_of(facts);
    select::find(ctx.directory, &whose).knowing(ctx.directory, &facts.usage, &facts.group)
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
    /// The part of the debt that comes from under other liens.
    against_liens: Amount,
    /// What the fallback account covered.
    by_fallback: Amount,
    /// Who covers what is short.
    shortfall: Shortfall,
    outcome: Billing,
    /// The allocation that carries what nothing covers, and an amount of zero.
    first: Option<AllocationId>,
    facts_changed: bool,
    binding: Binding,
    unpriced: bool,
    /// What the caller says of an amount as given.
    given: Option<String>,
    /// The instance's standing before.
    before: Standing,
    plausible: Plausible,
}

/// What becomes of the instance after a charge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// It stays as it is: an interim charge.
    Stays,
    /// Its lien gives back what is left: a pause.
    Paused,
    /// It closes, and its lien gives back what is left.
    Closed,
}

impl After {
    fn of(charge: &Charge) -> After {
        match (charge.closes, charge.releases) {
            (true, _) => After::Closed,
            (false, true) => After::Paused,
            (false, false) => After::Stays,
        }
    }
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

impl LienUse {
    /// Before anything was taken.
    fn before(had_lien: bool) -> LienUse {
        if had_lien {
            LienUse::Unused
        } else {
            LienUse::Missing
        }
    }
}

impl Bill {
    fn finish(
        mut self,
        asked: &Charge,
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
        if let (Mode::Fast, Billing::Billed, Some(account)) = (mode, self.outcome, own) {
            self.block_if_below_zero(account);
        }
        let after = After::of(asked);
        self.keep_lien(after)?;
        self.record(duration, mode, ctx);
        if after == After::Closed {
            self.close(ctx);
        } else {
            let idle = asked.terms.idle.unwrap_or(ctx.directory.policy.idle);
            wait_for_more(&mut self.instance, self.at, idle);
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
            against_liens: self.against_liens,
            by_fallback: self.by_fallback,
            counted: duration,
            disputed: self.plausible.disputed,
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

    /// The use has ended. An end that comes after the close is what ended it all the same: what comes
    /// later still is absorbed (decision 13).
    fn close(&mut self, ctx: &Context<'_>) {
        let (postings, instance) = (&mut self.postings, &mut self.instance);
        if let Some((_, by)) = &mut instance.closed {
            *by = Closing::End;
            return;
        }
        // Not before it began, whenever the use that closes it ended.
        let end = self.at.max(instance.opened);
        close_instance(postings, instance, end, Closing::End, ctx);
    }

    /// What was special about it, for the journal.
    fn mark(&mut self, ctx: &Context<'_>) {
        if self.plausible.disputed.0 > 0 {
            self.postings.remark(&self.plausible.remark());
            let about = self.about();
            self.postings.note(EntryKind::Disputed, &about);
        }
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
        // The last: it comes from outside, with blanks.
        if let Some(text) = &self.given {
            self.postings.remark(&terms::written_given(text));
        }
    }

    fn count(&mut self, duration: Seconds) -> Result<(), Refusal> {
        let instance = &mut self.instance;
        let total = match self.outcome {
            Billing::Shadow => &mut instance.shadow_billed,
            Billing::Billed | Billing::Unbilled | Billing::Refund => &mut instance.billed,
        };
        *total = total.plus(self.amount)?;
        instance.charged = instance.charged.plus(duration);
        instance.disputed = instance.disputed.plus(self.plausible.disputed);
        let until = instance
            .used_until
            .map_or(self.at, |known| known.max(self.at));
        instance.used_until = Some(until);
        let more = instance.facts.usage.processor_seconds(duration);
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

    /// A closing charge and a pause give back what is left of the lien; one that it used up is settled.
    fn keep_lien(&mut self, after: After) -> Result<(), Refusal> {
        let Some(lien) = &self.instance.lien else {
            return Ok(());
        };
        if after == After::Stays {
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
            facts: usage::text::write(&fallback::priced(&self.instance, ctx)),
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
