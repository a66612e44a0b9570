//! Quotes (ledger.md 2.9): a plain one writes nothing; one with a TID or a guarantee is a row.

use crate::amount::Amount;
use crate::attribute::check_usage;
use crate::command::{Create, Promise, QuoteRequest, check_duration};
use crate::directory::FallbackMode;
use crate::effects::{Effects, Outcome, Quoted};
use crate::exact::to_amount;
use crate::ids::{AccountId, Next, QuoteId};
use crate::model::{Instance, Mode, Quote};
use crate::postings::Postings;
use crate::price::{Price, Priced, price};
use crate::refusal::Refusal;
use crate::rules::funds::{covering, funds, reach, unblocked};
use crate::rules::lien::{self, PricedAt, lien_grace};
use crate::select::{self, Candidate, Payer};
use crate::time::{Seconds, Timestamp, Window};
use crate::usage::Usage;
use crate::view::{Context, View};

/// A TID is valid for a day (decisions.md 15).
const TID_VALID: Seconds = Seconds(86_400);
/// A guaranteed quote is valid for its duration and seven days (decisions.md 15).
const GUARANTEE_EXTRA: Seconds = Seconds(7 * 86_400);

/// Most instances that one quote is for.
const USES_MAX: i64 = 1000;

/// Prices a request and tests the balance.
pub(super) fn quote(
    request: &QuoteRequest,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let duration = request
        .duration
        .ok_or(Refusal::MissingField { field: "duration" })?;
    let duration = check_duration(duration)?;
    if request.usage.has_negative() {
        return Err(Refusal::NegativeCharge);
    }
    check_usage(&request.usage, &ctx.directory.attributes)?;
    if !(1..=USES_MAX).contains(&request.uses) {
        return Err(Refusal::bad_value("uses", "1 to 1000"));
    }
    let lenient = select::find(ctx.directory, &request.whose);
    let mode = ctx.directory.mode(lenient.project, lenient.machine);
    let (exact, own) = cost(request, &request.usage, &lenient, duration, ctx)?;
    let on_fallback = |usage: &Usage| {
        let priced = cost(request, usage, &lenient, duration, ctx);
        priced.map(|(_, amount)| amount)
    };
    let needs = Needs {
        cost: own,
        on_fallback: &on_fallback,
        mode,
        until: lasting(request, duration, ctx),
    };
    let (available, account, cost) = match may_pay(request, view, ctx, &needs) {
        Ok(there) => there,
        Err(_) if mode.is_shadow() => (Amount::ZERO, None, own),
        Err(refusal) => return Err(refusal),
    };
    let mut postings = Postings::new(view);
    let written = if request.promise == Promise::None {
        None
    } else {
        postings.begin("quote", ctx.now);
        let row = Row::of(request, &lenient, duration, cost);
        Some(row.write(&mut postings, ctx.now)?)
    };
    Ok(postings.finish(Outcome::Quoted(Quoted {
        cost: if mode == Mode::Track {
            Amount::ZERO
        } else {
            cost
        },
        available,
        quote: written,
        at: ctx.now,
        undefined_instance: exact.undefined_instance,
        account,
        unpriced: exact.unpriced,
    })))
}

/// The price of a request with its own usage or another's quality of service.
fn cost(
    request: &QuoteRequest,
    usage: &Usage,
    payer: &Payer,
    duration: Seconds,
    ctx: &Context<'_>,
) -> Result<(Price, Amount), Refusal> {
    let priced = Priced {
        usage,
        duration,
        machine: payer.machine,
        machine_name: &request.whose.machine,
        named: request.named(&payer.project_name),
        at: ctx.now,
        from: ctx.now,
    };
    let exact = price(&priced, ctx.directory.rates_at(ctx.now)).ok_or(Refusal::AmountOverflow)?;
    let total = exact.total().ok_or(Refusal::AmountOverflow)?;
    let policy = &ctx.directory.policy;
    let rounded = to_amount(total, ctx.directory.bank.precision, policy.rounding);
    Ok((exact, rounded.ok_or(Refusal::AmountOverflow)?))
}

/// The required amounts for a job to start.
struct Needs<'a> {
    cost: Amount,
    /// Its price on a fallback account, with another quality of service.
    on_fallback: &'a dyn Fn(&Usage) -> Result<Amount, Refusal>,
    mode: Mode,
    /// When its lien would end.
    until: Timestamp,
}

/// When the lien of such a job would end.
fn lasting(request: &QuoteRequest, duration: Seconds, ctx: &Context<'_>) -> Timestamp {
    // A person's quote is the one that any member will do for; the other comes from a scheduler.
    let grace = lien_grace(&request.whose.machine, !request.any_member, ctx);
    ctx.now.plus(duration).plus(grace)
}

/// The available money for a cost, and the account that pays first. Refused if no account may pay or the
/// money is short.
fn may_pay(
    request: &QuoteRequest,
    view: &View,
    ctx: &Context<'_>,
    needs: &Needs<'_>,
) -> Result<(Amount, Option<AccountId>, Amount), Refusal> {
    let Needs {
        cost, mode, until, ..
    } = *needs;
    let payer = select::resolve(ctx.directory, ctx.scope, &request.whose)?;
    let payer = payer.knowing(ctx.directory, &request.usage, &request.group);
    let candidates = match request.whose.user.as_deref() {
        None if request.any_member => select::for_any_member(ctx.directory, &payer)?,
        user => select::candidates(ctx.directory, &payer, user.unwrap_or_default())?,
    };
    let open = unblocked(&candidates, ctx)?;
    let available = there(&open, view, ctx, mode.is_shadow(), until);
    let first = select::first_payer(&open, &view.allocations, ctx.now);
    let short = i128::from(cost.0) > available;
    let covered = (Amount::clamped(available), first, cost);
    if short && ctx.directory.policy.fallback == FallbackMode::Bank {
        let qos = ctx.directory.fallback_qos(&request.whose.machine);
        let priced = qos.map(|qos| Usage {
            qos: Some(qos.to_owned()),
            ..request.usage.clone()
        });
        let there_too = priced.map_or(Ok(cost), |usage| (needs.on_fallback)(&usage))?;
        if fallback_pays(first, &payer, view, ctx, there_too, until) {
            return Ok((covered.0, covered.1, there_too));
        }
    }
    if short && !request.cost_only && mode != Mode::Fast {
        return Err(Refusal::insufficient_funds(
            cost,
            available,
            payer.project_name,
        ));
    }
    Ok(covered)
}

/// The most that a lien could have of these accounts now.
fn there(
    candidates: &[Candidate],
    view: &View,
    ctx: &Context<'_>,
    shadow: bool,
    until: Timestamp,
) -> i128 {
    let mut free = funds(&view.allocations, candidates, ctx.now, shadow);
    if ctx.directory.policy.require_cover {
        covering(&mut free, &view.allocations, until);
    }
    reach(&free, candidates, &view.allocations)
}

/// Whether the bank's own fallback would hold the money, as a reserve would find (nami.md 5).
fn fallback_pays(
    first: Option<AccountId>,
    payer: &Payer,
    view: &View,
    ctx: &Context<'_>,
    cost: Amount,
    until: Timestamp,
) -> bool {
    let short = first.and_then(|id| ctx.directory.account(id));
    let fallback = short.and_then(|a| ctx.directory.fallback_of(a, payer.machine));
    let Some(fallback) = fallback else {
        return false;
    };
    let Ok(open) = unblocked(&[Candidate::only(fallback)], ctx) else {
        return false;
    };
    there(&open, view, ctx, false, until) >= i128::from(cost.0)
}

/// The TID in the answer to a create (nami.md 2): the one in its document if that is a quote of this bank.
/// Else that of a new quote, whose price holds once a reserve or a charge names it. Money is not tested: a
/// create holds none. None if no quote is needed, or nothing can be priced.
pub(super) fn promise_tid(
    create: &Create,
    instance: &Instance,
    view: &View,
    postings: &mut Postings,
    ctx: &Context<'_>,
) -> Result<Option<String>, Refusal> {
    let (Some(tid), request) = (&create.tid, &create.request) else {
        return Ok(None);
    };
    if let Some(known) = &view.quote {
        return Ok(Some(known.tid.clone()));
    }
    let payer = select::find(ctx.directory, &request.whose);
    let (Some(duration), Some(_)) = (create.duration, payer.project) else {
        return Ok(None);
    };
    let duration = check_duration(duration)?;
    let row = Row {
        tid,
        payer: &payer,
        validity: TID_VALID,
        duration,
        cost: lien::cost(instance, &PricedAt::new(duration, ctx.now, ctx.now), ctx)?,
        uses: 1,
    };
    row.write(postings, ctx.now).map(|quote| Some(quote.tid))
}

/// A quote before it has its number.
struct Row<'a> {
    tid: &'a str,
    payer: &'a Payer,
    validity: Seconds,
    duration: Seconds,
    cost: Amount,
    uses: i64,
}

impl<'a> Row<'a> {
    /// From a requested quote.
    fn of(request: &'a QuoteRequest, payer: &'a Payer, duration: Seconds, cost: Amount) -> Self {
        Row {
            tid: &request.tid,
            payer,
            validity: match request.promise {
                Promise::Guarantee => duration.plus(GUARANTEE_EXTRA),
                Promise::None | Promise::Tid => TID_VALID,
            },
            duration,
            cost,
            uses: request.uses,
        }
    }

    /// Writes it in the current transaction.
    fn write(self, postings: &mut Postings, now: Timestamp) -> Result<Quote, Refusal> {
        let quote = Quote {
            id: QuoteId(Next::take(&mut postings.next.quote)),
            tid: self.tid.to_owned(),
            project: self.payer.project.ok_or(Refusal::NoDefaultProject)?,
            user: self.payer.user,
            machine: self.payer.machine,
            amount: self.cost,
            duration: self.duration,
            window: Window {
                start: Some(now),
                end: Some(now.plus(self.validity)),
            },
            instance: None,
            uses: self.uses,
        };
        postings.remark(&format!("tid={}", quote.tid));
        postings.quotes.push(quote.clone());
        Ok(quote)
    }
}
