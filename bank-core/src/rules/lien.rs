//! Reserve: places or replaces the one live lien of an instance (ledger.md 2.7, decisions.md 12).

mod absorb;
mod partner;

use crate::amount::Amount;
use crate::attribute::check_usage;
use crate::command::{Reserve, check_duration};
use crate::effects::{Delta, Effects, EntryKind, InstanceChange, Outcome, Reserved, Shortage};
use crate::exact::to_amount;
use crate::ids::{AccountId, AllocationId, LienId, Next};
use crate::model::{Account, FLUSH_INTERVAL, Instance, Lien, LienState, Mode, Portion};
use crate::postings::{About, Postings};
use crate::price::{Priced, price};
use crate::refusal::Refusal;
use crate::rules::choice;
use crate::rules::fallback;
use crate::rules::funds::{covering, funds, lay, unblocked};
use crate::rules::instance::{
    end_lien_of, event_time, in_scope, keep_facts, mode_of, new_instance, note_start,
    remark_asserted, usable, would_refuse,
};
use crate::rules::promise::{Binding, bind};
use crate::select::{self, Candidate, Payer};
use crate::time::{Seconds, Timestamp};
use crate::view::{Context, View};
use absorb::{absorb, absorbing};

/// Places a lien; an older one of the same instance gives its money to it.
pub(super) fn reserve(
    reserve: &Reserve,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let request = &reserve.request;
    request.check_object()?;
    let at = event_time(request.event_time, ctx);
    let (wall, priced_for) = durations(reserve)?;
    if let Some(over) = absorbing(reserve, view, at, ctx) {
        return Ok(absorb(reserve, over, view));
    }
    let mut postings = Postings::new(view);
    let mut instance = match view.instances.first().filter(|i| i.is_open()) {
        Some(known) => in_scope(known, ctx)?.clone(),
        None => new_instance(&mut postings, view, request, at),
    };
    let mode = mode_of(&instance, request, ctx);
    let was = (instance.facts.project.clone(), instance.facts.user.clone());
    keep_facts(&mut instance.facts, request, ctx);
    // The account that was short is asked again.
    instance.fallback_from = None;
    note_start(&mut instance, Some(at));
    note_start(&mut instance, request.facts.start);
    let start = reserve.start.unwrap_or(at);
    let grace = || lien_grace(&request.whose.machine, reserve.flush_grace, ctx);
    let last = || start.plus(wall).plus(grace());
    let own_end = reserve.end.unwrap_or_else(last);
    check_end(reserve, (start, own_end), ctx)?;
    postings.begin_for("reserve", at, instance.id);
    remark_asserted(&mut postings, request);
    let binding = bind(&mut postings, &mut instance, request, view, at, ctx);
    let was = (was.0.as_str(), was.1.as_str());
    let (kept, end) = added_to(reserve, &instance, was.0, mode, own_end);
    end_lien_of(was, &mut postings, &mut instance, LienState::Replaced)?;
    let priced_at = PricedAt::new(priced_for, at, start);
    let cost = match reserve.amount {
        Some(amount) if amount < Amount::ZERO => return Err(Refusal::NegativeCharge),
        Some(amount) => amount,
        None => cost(&instance, &priced_at, ctx)?,
    };
    let cost = cost.plus(kept)?;
    let mut placing = Placing {
        postings,
        instance,
        start,
        end,
        cost,
        binding,
        touched: None,
        shortage: None,
        question: None,
        reserved: Reserved {
            added_to: kept,
            quote_invalid: binding.invalid,
            ..Reserved::nothing(crate::ids::InstanceId(0))
        },
    };
    if mode.is_shadow() {
        placing.in_shadow(reserve, &priced_at, ctx)?;
    } else {
        placing.for_real(reserve, &priced_at, mode, ctx)?;
    }
    partner::agreed(reserve, &mut placing, ctx)?;
    let first = placing.first_touched();
    placing
        .binding
        .journal(&mut placing.postings, &placing.instance, first)?;
    Ok(placing.finish(at, ctx))
}

/// The amount of the older lien of the instance, if this reserve adds to it, both are for the same project and hold the same
/// kind of money, and the end of the lien for both. The lien for another project moves to this one, so its amount is not added.
fn added_to(
    reserve: &Reserve,
    instance: &Instance,
    was: &str,
    mode: Mode,
    end: Timestamp,
) -> (Amount, Timestamp) {
    let adds = reserve.adds && instance.facts.project == was;
    let is_same = |lien: &&Lien| adds && lien.shadow == mode.is_shadow();
    match instance.lien.as_ref().filter(is_same) {
        Some(older) => (Amount::clamped(older.remaining()), end.max(older.end)),
        None => (Amount::ZERO, end),
    }
}

/// The longest duration of the use, and the priced duration (nami.md 3.1).
fn durations(reserve: &Reserve) -> Result<(Seconds, Seconds), Refusal> {
    let wall = reserve.request.facts.wall.or(reserve.charge_duration);
    let wall = check_duration(wall.ok_or(Refusal::MissingField {
        field: "wall duration",
    })?)?;
    let priced_for = check_duration(reserve.charge_duration.unwrap_or(wall))?;
    Ok((wall, priced_for))
}

/// Checks that a given end is after the start, and that a given end, or one that follows from a given start, has not passed.
fn check_end(
    reserve: &Reserve,
    (start, end): (Timestamp, Timestamp),
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    if reserve.end.is_some() && end <= start {
        return Err(Refusal::BadWindow);
    }
    let is_given = reserve.end.is_some() || reserve.start.is_some();
    if is_given && end <= ctx.now {
        return Err(Refusal::WindowInPast);
    }
    Ok(())
}

/// The grace after the wall duration: for NAMI with twice the machine's flush interval.
pub(super) fn lien_grace(machine: &str, with_flushes: bool, ctx: &Context<'_>) -> Seconds {
    let grace = ctx.directory.policy.lien_grace;
    if !with_flushes {
        return grace;
    }
    let flush = flush_interval(machine, ctx);
    grace.plus(flush).plus(flush)
}

/// A machine's flush interval; the default for an unknown machine.
pub(super) fn flush_interval(machine: &str, ctx: &Context<'_>) -> Seconds {
    let machine = ctx.directory.any_machine_named(machine);
    machine.map_or(FLUSH_INTERVAL, |m| m.flush_interval)
}

/// The priced times of a lien: duration, time of the rates, start.
pub(super) struct PricedAt {
    duration: Seconds,
    at: Timestamp,
    start: Timestamp,
}

impl PricedAt {
    pub(super) fn new(duration: Seconds, at: Timestamp, start: Timestamp) -> PricedAt {
        PricedAt {
            duration,
            at,
            start,
        }
    }
}

/// The price of a lien over a duration, by the rates in force or those of the bound quote.
pub(super) fn cost(
    instance: &Instance,
    priced_at: &PricedAt,
    ctx: &Context<'_>,
) -> Result<Amount, Refusal> {
    let usage = fallback::priced(instance, ctx);
    check_usage(&usage, &ctx.directory.attributes)?;
    cost_used(instance, priced_at, ctx)
}

/// The same for time that was used: a charge refuses no attribute.
pub(super) fn cost_used(
    instance: &Instance,
    priced_at: &PricedAt,
    ctx: &Context<'_>,
) -> Result<Amount, Refusal> {
    let usage = fallback::priced(instance, ctx);
    let machine = &instance.key.machine;
    let priced = Priced {
        usage: &usage,
        duration: priced_at.duration,
        machine: ctx.directory.any_machine_named(machine).map(|m| m.id),
        machine_name: machine,
        named: instance.facts.named(),
        at: instance.rates_at.unwrap_or(priced_at.at),
        from: priced_at.start,
    };
    let exact = price(&priced, ctx.directory.rates_at(priced.at)).and_then(|p| p.total());
    let exact = exact.ok_or(Refusal::AmountOverflow)?;
    let policy = &ctx.directory.policy;
    to_amount(exact, ctx.directory.bank.precision, policy.rounding).ok_or(Refusal::AmountOverflow)
}

/// The accounts of portions, in the order in which they pay.
pub(super) fn accounts_of(postings: &Postings, portions: &[Portion]) -> Vec<AccountId> {
    let mut accounts: Vec<AccountId> = Vec::new();
    let on = portions.iter().map(|p| postings.allocation(p.allocation));
    for account in on.flatten().map(|a| a.account) {
        if !accounts.contains(&account) {
            accounts.push(account);
        }
    }
    accounts
}

/// A lien on its way.
pub(super) struct Placing {
    pub(super) postings: Postings,
    pub(super) instance: Instance,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) cost: Amount,
    pub(super) binding: Binding,
    /// The account that would pay, if nothing is held.
    pub(super) touched: Option<AccountId>,
    /// The shortage before the bank's own fallback paid.
    pub(super) shortage: Option<Shortage>,
    /// The question whose lien at the partner is that of this reserve.
    pub(super) question: Option<String>,
    pub(super) reserved: Reserved,
}

impl Placing {
    /// Holds money, or is refused; in mode `fast` nothing is held (decisions.md 18).
    fn for_real(
        &mut self,
        reserve: &Reserve,
        priced_at: &PricedAt,
        mode: Mode,
        ctx: &Context<'_>,
    ) -> Result<(), Refusal> {
        let request = &reserve.request;
        let (payer, candidates) = usable(request, &self.instance.facts, ctx)?;
        let open = unblocked(&candidates, ctx)?;
        if mode == Mode::Fast || self.cost.is_zero() {
            // A lien of zero does not choose the paying account.
            self.touched = self.first_payer(&open);
            return Ok(());
        }
        let refusal = match self.portions(&open, &payer.project_name, false, ctx) {
            Ok(portions) => {
                self.hold(portions, false)?;
                self.record_choice(&payer, ctx);
                return Ok(());
            }
            Err(refusal) => refusal,
        };
        self.fall_back(reserve, priced_at, (&payer, &open, refusal), false, ctx)
    }

    /// If the bank decides, the fallback account holds what the first payer is short of; else the refusal stays.
    fn fall_back(
        &mut self,
        reserve: &Reserve,
        priced_at: &PricedAt,
        (payer, open, refusal): (&Payer, &[Candidate], Refusal),
        in_shadow: bool,
        ctx: &Context<'_>,
    ) -> Result<(), Refusal> {
        let bank_decides = ctx.directory.policy.fallback == crate::directory::FallbackMode::Bank;
        let short = self
            .first_payer(open)
            .and_then(|id| ctx.directory.account(id));
        let fallback = short.and_then(|a| ctx.directory.fallback_of(a, payer.machine));
        let (Some(short), Some(fallback), true) = (short, fallback, bank_decides) else {
            return Err(refusal);
        };
        self.instance.fallback_from = Some(short.id);
        if reserve.amount.is_none() {
            let cost = cost(&self.instance, priced_at, ctx)?;
            self.cost = cost.plus(self.reserved.added_to)?;
        }
        self.on_fallback(fallback, in_shadow, ctx)?;
        self.record_choice(payer, ctx);
        self.postings
            .remark(&format!("fallback_from={}", short.name));
        let shortage = fallback::of(reserve, &refusal, ctx.directory, ctx.now);
        self.shortage = shortage.filter(|_| !in_shadow);
        if let Some(shortage) = &self.shortage {
            let precision = ctx.directory.bank.precision;
            let (needed, there) = (shortage.needed, shortage.available);
            let (needed, there) = (needed.display(precision), there.display(precision));
            self.postings
                .remark(&format!("needed={needed} available={there}"));
        }
        Ok(())
    }

    /// Writes down what was asked, where something is held.
    fn record_choice(&mut self, payer: &Payer, ctx: &Context<'_>) {
        choice::tell(&mut self.postings, payer, None, &self.instance, ctx);
    }

    /// The first payer if nothing is held: the first account in paying order.
    fn first_payer(&self, open: &[Candidate]) -> Option<AccountId> {
        select::first_payer(open, self.postings.allocations(), self.start)
    }

    /// The fallback account holds the lien; it is short too: refused (nami.md 5).
    fn on_fallback(
        &mut self,
        account: &Account,
        in_shadow: bool,
        ctx: &Context<'_>,
    ) -> Result<(), Refusal> {
        self.reserved.fallback_from = self.instance.fallback_from;
        if self.cost.is_zero() {
            self.instance.account = Some(account.id);
            return Ok(());
        }
        let only = unblocked(&[Candidate::only(account)], ctx)?;
        let portions = self.portions(&only, &account.name, in_shadow, ctx)?;
        self.hold(portions, in_shadow)
    }

    /// Tests everything, refuses nothing, and holds shadow money only.
    fn in_shadow(
        &mut self,
        reserve: &Reserve,
        priced_at: &PricedAt,
        ctx: &Context<'_>,
    ) -> Result<(), Refusal> {
        let about = About::instance(&self.instance);
        let (payer, candidates) = match usable(&reserve.request, &self.instance.facts, ctx) {
            Ok(usable) => usable,
            Err(refusal) => {
                would_refuse(&mut self.postings, &about, &refusal, ctx);
                self.reserved.would_refuse = Some(refusal);
                return Ok(());
            }
        };
        if self.cost.is_zero() {
            return Ok(());
        }
        let refusal = match unblocked(&candidates, ctx) {
            Err(refusal) => refusal,
            Ok(open) => match self.portions(&open, &payer.project_name, true, ctx) {
                Ok(portions) => {
                    self.record_choice(&payer, ctx);
                    return self.hold(portions, true);
                }
                Err(refusal) => {
                    let own_cost = self.cost;
                    let held = (&payer, &open[..], refusal.clone());
                    if self.fall_back(reserve, priced_at, held, true, ctx).is_ok() {
                        return Ok(());
                    }
                    self.cost = own_cost;
                    self.instance.fallback_from = None;
                    self.reserved.fallback_from = None;
                    refusal
                }
            },
        };
        self.record_choice(&payer, ctx);
        would_refuse(&mut self.postings, &about, &refusal, ctx);
        self.reserved.would_refuse = Some(refusal);
        let allocations = self.postings.allocations();
        let order = select::paying_order(&candidates, allocations, self.start);
        let first = order.first().copied();
        let whole = first.map(|allocation| Portion {
            allocation,
            amount: self.cost,
        });
        self.hold(whole.into_iter().collect(), true)
    }

    /// Distributes the cost over the allocations usable at the lien's start.
    pub(super) fn portions(
        &self,
        candidates: &[Candidate],
        whose: &str,
        shadow: bool,
        ctx: &Context<'_>,
    ) -> Result<Vec<Portion>, Refusal> {
        let allocations = self.postings.allocations();
        let mut funds = funds(allocations, candidates, self.start, shadow);
        if ctx.directory.policy.require_cover {
            covering(&mut funds, allocations, self.end);
        }
        let cost = i128::from(self.cost.0);
        match lay(&funds, candidates, allocations, cost) {
            Ok(parts) => parts
                .into_iter()
                .map(|(allocation, part)| {
                    let amount = Amount::from_sum(part)?;
                    Ok(Portion { allocation, amount })
                })
                .collect(),
            Err(available) => Err(Refusal::insufficient_funds(self.cost, available, whose)),
        }
    }

    fn hold(&mut self, portions: Vec<Portion>, shadow: bool) -> Result<(), Refusal> {
        if portions.is_empty() {
            return Ok(());
        }
        let id = LienId(Next::take(&mut self.postings.next.lien));
        let first = portions.first().map(|p| p.allocation);
        self.binding
            .journal(&mut self.postings, &self.instance, first)?;
        let about = About {
            lien: Some(id),
            ..About::instance(&self.instance)
        };
        for portion in &portions {
            let delta = Delta::of_lien(portion.amount.0, shadow);
            self.postings
                .post(EntryKind::Lien, portion.allocation, delta, &about)?;
        }
        let on = |p: &Portion| self.postings.allocation(p.allocation);
        self.reserved.accounts = accounts_of(&self.postings, &portions);
        self.instance.account = portions.first().and_then(on).map(|a| a.account);
        self.reserved.outlives_allocation = portions
            .iter()
            .filter_map(on)
            .any(|a| a.window.end.is_some_and(|e| e < self.end));
        self.reserved.held = if shadow { Amount::ZERO } else { self.cost };
        let lien = Lien {
            id,
            instance: self.instance.id,
            state: LienState::Open,
            placed: self.cost,
            start: self.start,
            end: self.end,
            shadow,
            portions,
            lapsed: Amount::ZERO,
        };
        self.instance.lien = Some(lien);
        Ok(())
    }

    /// Where nothing is held, the first allocation of the account that would pay.
    fn first_touched(&self) -> Option<AllocationId> {
        if !self.binding.fresh {
            return None;
        }
        let account = self.touched.or(self.instance.account)?;
        let own = self.postings.allocations().iter();
        let usable = own.filter(|a| a.account == account && a.window.contains(self.start));
        let first = usable.min_by_key(|a| (a.window.end.map_or(i64::MAX, |end| end.0), a.id));
        first.map(|a| a.id)
    }

    fn finish(mut self, at: Timestamp, ctx: &Context<'_>) -> Effects {
        let lien = self.instance.lien.clone();
        let idle = at.plus(ctx.directory.policy.idle);
        self.instance.lien_expired = false;
        self.instance.due = Some(lien.as_ref().map_or(idle, |l| l.end));
        self.postings.liens.extend(lien.clone());
        self.reserved.instance = self.instance.id;
        self.reserved.number = self.instance.number;
        self.reserved.lien = lien;
        let change = InstanceChange {
            instance: self.instance,
            facts_changed: true,
            standing_changed: true,
        };
        self.postings.instances.push(change);
        let mut effects = self.postings.finish(Outcome::Reserved(self.reserved));
        effects.shortages.extend(self.shortage);
        effects.partners.held = self.question;
        effects
    }
}
