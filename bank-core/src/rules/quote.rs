//! Quotes (ledger.md 2.9): a plain one writes nothing; one with a TID or a guarantee is a row.

use crate::amount::Amount;
use crate::attribute::check_usage;
use crate::command::{Promise, QuoteRequest};
use crate::directory::FallbackMode;
use crate::effects::{Effects, Outcome, Quoted};
use crate::exact::to_amount;
use crate::ids::QuoteId;
use crate::model::{Mode, Quote};
use crate::postings::Postings;
use crate::price::{Priced, price};
use crate::refusal::Refusal;
use crate::rules::funds::{funds, unblocked};
use crate::rules::instance::check_duration;
use crate::select::{self, Candidate, Payer};
use crate::time::{Seconds, Timestamp, Window};
use crate::view::{Context, Next, View};

/// A TID is valid for a day (decision 15).
const TID_VALID: Seconds = Seconds(86_400);
/// A guaranteed quote is valid for its duration and seven days (decision 15).
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
        return Err(Refusal::BadValue {
            field: "uses",
            expected: "1 to 1000",
        });
    }
    let lenient = select::find(ctx.directory, &request.whose);
    let mode = ctx.directory.mode(lenient.project, lenient.machine);
    let asked = Priced {
        usage: &request.usage,
        duration,
        machine: lenient.machine,
        machine_name: &request.whose.machine,
        named: request.named(&lenient.project_name),
        at: ctx.now,
        from: ctx.now,
    };
    let rates = ctx.directory.rates_at(ctx.now);
    let exact = price(&asked, rates).ok_or(Refusal::AmountOverflow)?;
    let total = exact.total().ok_or(Refusal::AmountOverflow)?;
    let policy = &ctx.directory.policy;
    let rounded = to_amount(total, ctx.directory.bank.precision, policy.rounding);
    let cost = rounded.ok_or(Refusal::AmountOverflow)?;
    let available = match may_pay(request, view, ctx, cost, mode) {
        Ok(available) => available,
        Err(_) if mode.is_shadow() => Amount::ZERO,
        Err(refusal) => return Err(refusal),
    };
    let mut postings = Postings::new(view);
    let written = match request.promise {
        Promise::None => None,
        _ => Some(write_row(
            &mut postings,
            request,
            &lenient,
            duration,
            cost,
            ctx.now,
        )?),
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
        unpriced: exact.unpriced,
    })))
}

/// What is there to pay a cost with; refused where nobody may pay or the money is short.
fn may_pay(
    request: &QuoteRequest,
    view: &View,
    ctx: &Context<'_>,
    cost: Amount,
    mode: Mode,
) -> Result<Amount, Refusal> {
    let payer = select::resolve(ctx.directory, &request.whose)?;
    let candidates = match request.whose.user.as_deref() {
        None if request.any_member => select::for_any_member(ctx.directory, &payer)?,
        user => select::candidates(ctx.directory, &payer, user.unwrap_or_default())?,
    };
    let open = unblocked(&candidates, ctx)?;
    let free = funds(
        view.allocations.as_slice(),
        &open,
        ctx.now,
        mode.is_shadow(),
    );
    let available = free
        .iter()
        .fold(0_i128, |sum, (_, f)| sum.saturating_add(*f));
    let short = i128::from(cost.0) > available;
    if short && fallback_pays(&open, &payer, view, ctx, cost) {
        return Ok(Amount::clamped(available));
    }
    if short && !request.cost_only && mode != Mode::Fast {
        return Err(Refusal::InsufficientFunds {
            needed: cost,
            available: Amount::clamped(available),
            whose: payer.project_name,
        });
    }
    Ok(Amount::clamped(available))
}

/// Whether the bank's own fallback would hold the money, as a reserve would find (nami.md 5).
fn fallback_pays(
    open: &[Candidate],
    payer: &Payer,
    view: &View,
    ctx: &Context<'_>,
    cost: Amount,
) -> bool {
    let short = open.first().and_then(|c| ctx.directory.account(c.account));
    let fallback = short.and_then(|a| ctx.directory.fallback_of(a, payer.machine));
    let Some(fallback) = fallback else {
        return false;
    };
    let only = Candidate {
        account: fallback.id,
        priority: 0,
        distance: 0,
        fit: [1, 1, 1],
    };
    let free = funds(&view.allocations, &[only], ctx.now, false);
    let there = free
        .iter()
        .fold(0_i128, |sum, (_, f)| sum.saturating_add(*f));
    ctx.directory.policy.fallback == FallbackMode::Bank && there >= i128::from(cost.0)
}

fn write_row(
    postings: &mut Postings,
    request: &QuoteRequest,
    payer: &Payer,
    duration: Seconds,
    amount: Amount,
    now: Timestamp,
) -> Result<Quote, Refusal> {
    let project = payer.project.ok_or(Refusal::NoDefaultProject)?;
    let validity = match request.promise {
        Promise::Guarantee => duration.plus(GUARANTEE_EXTRA),
        Promise::None | Promise::Tid => TID_VALID,
    };
    let quote = Quote {
        id: QuoteId(Next::take(&mut postings.next.quote)),
        tid: request.tid.clone(),
        project,
        user: payer.user,
        machine: payer.machine,
        amount,
        duration,
        window: Window {
            start: Some(now),
            end: Some(now.plus(validity)),
        },
        instance: None,
        uses: request.uses,
    };
    postings.begin("quote", now);
    postings.remark(&format!("tid={}", quote.tid));
    postings.quotes.push(quote.clone());
    Ok(quote)
}
