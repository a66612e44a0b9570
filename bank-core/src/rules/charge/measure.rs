//! The billed quantity of a charge: a number of further seconds, a window, a total, or a given amount
//! (ledger.md 2.8, decisions.md 7 and 8).

use super::ceiling::Plausible;
use super::reserved::{self, Change};
use crate::amount::{Amount, Precision};
use crate::command::{Charge, check_duration};
use crate::directory::Directory;
use crate::exact::{TRILLIONTHS, to_amount};
use crate::model::Instance;
use crate::price::{Priced, price, priced_from};
use crate::refusal::Refusal;
use crate::reservation::ReservationTime;
use crate::rules::billed_time::BilledTime;
use crate::rules::fallback;
use crate::rules::instance::SKEW;
use crate::terms::{Added, ITEMISATION_BYTES_MAX, Overlap, SPANS_MAX, Span};
use crate::time::{MICROS, Seconds, Timestamp};
use crate::usage::IdleTime;
use crate::view::{Context, View};

/// A stretch of time that is priced.
struct Piece {
    /// The rates in force at this instant count.
    at: Timestamp,
    /// When it began: the hours of rates with a calendar are read from here on.
    from: Timestamp,
    length: Seconds,
}

/// The billed part of the reported use.
pub(super) struct Measured {
    /// The priced time, in separate pieces.
    pieces: Vec<Piece>,
    /// The seconds that the usage row counts; for a total the difference, which may be negative.
    pub(super) counted: Seconds,
    /// The instance's billed windows afterwards, where the caller sent one.
    pub(super) windows: Option<Vec<Span>>,
    /// The counted part of the report, if that is not all of it: a given amount counts in proportion.
    part: Option<(Seconds, Seconds)>,
}

impl Measured {
    /// Nothing new: a total that is older than the last one.
    fn nothing() -> Measured {
        Measured {
            pieces: Vec::new(),
            counted: Seconds(0),
            windows: None,
            part: None,
        }
    }

    /// The length of the priced time, none if nothing new is reported; and its windows, where the caller sent one.
    pub(super) fn time(&self) -> (Option<Seconds>, Vec<Span>) {
        let lengths = self.pieces.iter().map(|piece| piece.length);
        (lengths.reduce(Seconds::plus), self.billed_windows())
    }

    /// The windows that it bills, where the caller sent one.
    pub(super) fn billed_windows(&self) -> Vec<Span> {
        let span = |piece: &Piece| Span {
            start: piece.from,
            end: piece.from.plus(piece.length),
        };
        let pieces = self.pieces.iter().filter(|_| self.windows.is_some());
        pieces.map(span).collect()
    }
}

/// Checks without an instance: that the charge states the duration, once, and within bounds.
pub(super) fn check(charge: &Charge) -> Result<(), Refusal> {
    let terms = &charge.terms;
    let may_return = terms.delivered.is_some();
    if terms.amount.is_some_and(|amount| amount < Amount::ZERO) && !may_return {
        return Err(Refusal::NegativeCharge);
    }
    if terms.amount.is_none() && !terms.itemisation.is_empty() {
        return Err(Refusal::bad_value("itemisation", "an amount beside it"));
    }
    let text = &terms.itemisation;
    if text.len() > ITEMISATION_BYTES_MAX || text.chars().any(char::is_control) {
        return Err(Refusal::bad_value(
            "itemisation",
            "one line of at most 1024 bytes",
        ));
    }
    if let Some(window) = terms.window {
        if terms.total {
            return Err(Refusal::bad_value("total", "a duration, not start and end"));
        }
        if window.start >= window.end {
            return Err(Refusal::BadWindow);
        }
        let whole = |at: Timestamp| at.0.rem_euclid(MICROS) == 0;
        if !(whole(window.start) && whole(window.end)) {
            return Err(Refusal::BadDuration);
        }
        if charge.duration.is_some_and(|d| d != window.length()) {
            return Err(Refusal::bad_value(
                "duration",
                "nothing, or the time from start to end",
            ));
        }
    }
    let mut duration = reported(charge)?;
    if may_return && terms.amount.is_some_and(|amount| amount < Amount::ZERO) {
        // A return takes time back.
        duration = Seconds(duration.0.saturating_abs());
    }
    check_duration(duration).map(|_| ())
}

/// The duration of the use, as the caller reports it.
pub(super) fn reported(charge: &Charge) -> Result<Seconds, Refusal> {
    let window = charge.terms.window.map(|window| window.length());
    // A given amount needs no time.
    let none = charge.terms.amount.map(|_| Seconds(0));
    let duration = window.or(charge.duration).or(none);
    duration.ok_or(Refusal::MissingField { field: "duration" })
}

/// When an instance begins that this charge is the first to name: with the time that is charged, but not
/// before the use before it was closed.
pub(super) fn began(charge: &Charge, view: &View, at: Timestamp) -> Result<Timestamp, Refusal> {
    let finished = charge.terms.finished.as_ref().map(|whole| whole.began);
    let window = charge.terms.window.map(|window| window.start);
    if let Some(start) = finished.or(window) {
        return Ok(start.min(at));
    }
    let closed = view.instances.iter().filter_map(|i| i.closed);
    let before = closed.map(|(closed, _)| closed).max();
    let start = at.minus(reported(charge)?);
    Ok(before.map_or(start, |closed| start.max(closed)).min(at))
}

/// The billed part of it.
pub(super) fn measure(
    charge: &Charge,
    plausible: Plausible,
    instance: &Instance,
    view: &View,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Result<Measured, Refusal> {
    if let Some(window) = charge.terms.window {
        return in_window(charge, window, instance, view, ctx);
    }
    let Some(duration) = plausible.counts else {
        return Ok(Measured::nothing());
    };
    let (began, from) = match &charge.terms.finished {
        Some(whole) => {
            let rest = whole.began.plus(billed_before(charge, instance));
            (rest, rest)
        }
        None => (
            priced_from(at, duration, instance.opened),
            at.minus(duration),
        ),
    };
    let before = if charge.terms.total {
        instance.charged.0
    } else {
        0
    };
    Ok(Measured {
        pieces: vec![Piece {
            at: began,
            from,
            length: duration,
        }],
        // A return takes back no more time than was charged.
        counted: Seconds(
            duration
                .0
                .saturating_sub(before)
                .max(instance.charged.0.saturating_neg()),
        ),
        windows: None,
        part: Some((duration, plausible.reported)).filter(|(counts, all)| counts < all),
    })
}

/// The seconds of a finished use that were billed before its first record came.
fn billed_before(charge: &Charge, instance: &Instance) -> Seconds {
    if charge.terms.total {
        Seconds(0)
    } else {
        instance.charged
    }
}

/// The part of a window that was not billed yet, or the refusal if the site requires it.
fn in_window(
    charge: &Charge,
    window: Span,
    instance: &Instance,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Measured, Refusal> {
    if window.end > ctx.now.plus(SKEW) {
        return Err(Refusal::bad_value("end", "a time that has passed"));
    }
    let billed = BilledTime::of(instance, view);
    let rest = window.without(&billed.all());
    if let Some(Span { start, end }) = billed.within(&window) {
        // An amount as given cannot be split.
        let split = charge.terms.amount.is_some() && !rest.is_empty();
        if split || ctx.directory.policy.overlap == Overlap::Reject {
            return Err(Refusal::Overlap { start, end });
        }
    }
    let add = |windows: Vec<Span>, span: &Span| span.joined(&windows);
    let windows = rest.iter().fold(billed.windows, add);
    if windows.len() > SPANS_MAX {
        return Err(Refusal::BadValue {
            field: "start",
            expected: "a window next to one billed before: a job can have 500 separate ones",
        });
    }
    let piece = |span: &Span| Piece {
        at: span.start,
        from: span.start,
        length: span.length(),
    };
    let pieces: Vec<Piece> = rest.iter().map(piece).collect();
    let counted = pieces
        .iter()
        .fold(Seconds(0), |sum, piece| sum.plus(piece.length));
    Ok(Measured {
        pieces,
        counted,
        windows: Some(windows),
        part: None,
    })
}

/// The price of a charge.
pub(super) struct Billed {
    /// Negative where a reported total fell.
    pub(super) amount: Amount,
    /// No rate counted.
    pub(super) unpriced: bool,
    /// The addition to the running exact sums, if it differs from the billed amount by more than rounding, has a fee,
    /// or is the idle part of a reservation.
    pub(super) added: Option<Added>,
    /// The part of a reservation's time that was idle, if the bank computes it.
    pub(super) idle: Option<Change>,
}

impl Billed {
    fn plain(amount: Amount) -> Billed {
        Billed {
            amount,
            unpriced: false,
            added: None,
            idle: None,
        }
    }
}

/// The addition of this charge to the running exact sum, and the amount to bill now. That amount is the
/// rounded sum less the earlier bills, so that the number of charges changes nothing (decisions.md 7). `None`
/// if the sum exceeds exact arithmetic.
pub(super) fn billed_now(
    instance: &mut Instance,
    charge: &Charge,
    (measured, times): (&Measured, &[ReservationTime]),
    view: &View,
    ctx: &Context<'_>,
) -> Option<Billed> {
    let before = instance.billed.plus(instance.shadow_billed).ok()?;
    instance.facts.usage.idle = None;
    if let Some(amount) = charge.terms.amount {
        let given = as_given(instance, charge, measured, amount, before, ctx.directory)?;
        return Some(Billed::plain(given));
    }
    let name = &charge.request.whose.machine;
    let machine = ctx.directory.any_machine_named(name).map(|m| m.id);
    let total = charge.terms.total;
    let mut exact_sum = if total { 0 } else { instance.exact_sum };
    let mut once_sum = if total { 0 } else { instance.once_sum };
    let usage = fallback::priced(instance, ctx);
    let mut last = None;
    for piece in &measured.pieces {
        let priced = Priced {
            usage: &usage,
            duration: piece.length,
            machine,
            machine_name: name,
            named: instance.facts.named(),
            at: instance.rates_at.unwrap_or(piece.at),
            from: piece.from,
        };
        let price = price(&priced, ctx.directory.rates_at(priced.at))?;
        exact_sum = exact_sum.checked_add(price.metered)?;
        once_sum = once_sum.max(price.once);
        last = Some(price);
    }
    // A window that was billed wholly adds nothing.
    let Some(price) = last else {
        return Some(Billed::plain(Amount::ZERO));
    };
    let idle = idle_part(instance, charge, (measured, times), view, ctx)?;
    if let Some(idle) = &idle {
        exact_sum = instance.exact_sum.checked_add(idle.metered)?;
    }
    let policy = &ctx.directory.policy;
    let precision = ctx.directory.bank.precision;
    let sum = exact_sum.checked_add(once_sum)?;
    let rounded = to_amount(price.bounded(sum), precision, policy.rounding)?;
    let amount = rounded.minus(before).ok()?;
    // Only a total that falls gives money back. A bound that was added later, or is below given amounts,
    // bills nothing more.
    let amount = if total {
        amount
    } else {
        amount.max(Amount::ZERO)
    };
    let known = instance.exact_sum.checked_add(instance.once_sum)?;
    let added = Added {
        sum: sum.checked_sub(known)?,
        once: once_sum.checked_sub(instance.once_sum)?,
    };
    instance.exact_sum = exact_sum;
    instance.once_sum = once_sum;
    let is_noted = idle.is_some() || is_noted(added, amount, precision)?;
    Some(Billed {
        amount,
        unpriced: price.unpriced,
        added: is_noted.then_some(added),
        idle,
    })
}

/// Whether an undo needs the addition itself: it has a fee, or the amount differs from it by more than rounding, which
/// makes no more than one minor unit of difference. The outer `None` as in [`billed_now`].
fn is_noted(added: Added, amount: Amount, precision: Precision) -> Option<bool> {
    let unit = TRILLIONTHS.checked_div(i128::from(precision.minor_per_credit()))?;
    let billed = unit.checked_mul(i128::from(amount.0))?;
    let is_bounded = billed.abs_diff(added.sum) > unit.unsigned_abs() && amount >= Amount::ZERO;
    Some(is_bounded || added.once > 0)
}

/// The idle part of a reservation that pays for nothing else; its usage counts that part. The outer `None` if the
/// price exceeds exact arithmetic.
#[expect(
    clippy::option_option,
    reason = "the outer one is a failure, the inner one another kind of charge"
)]
fn idle_part(
    instance: &mut Instance,
    charge: &Charge,
    (measured, times): (&Measured, &[ReservationTime]),
    view: &View,
    ctx: &Context<'_>,
) -> Option<Option<Change>> {
    if !reserved::pays_for_idle_time(charge, instance, ctx) {
        return Some(None);
    }
    let idle = reserved::change_by(times, instance, view, ctx)?;
    let usage = &mut instance.facts.usage;
    usage.counted = reserved::counted(idle.idle_seconds, measured.counted);
    usage.idle = Some(IdleTime {
        processor_seconds: idle.idle_seconds,
        span: None,
    });
    Some(Some(idle))
}

/// An amount that the caller gives, exactly; a window that was billed wholly, or a total older than
/// the last one adds nothing.
fn as_given(
    instance: &mut Instance,
    charge: &Charge,
    measured: &Measured,
    amount: Amount,
    before: Amount,
    directory: &Directory,
) -> Option<Amount> {
    if measured.pieces.is_empty() {
        return Some(Amount::ZERO);
    }
    let amount = match measured.part {
        Some((counts, all)) => {
            let share = i128::from(amount.0).checked_mul(counts.0.into())?;
            Amount::from_sum(share.checked_div(all.0.into())?).ok()?
        }
        None => amount,
    };
    let minor = i128::from(directory.bank.precision.minor_per_credit());
    let exact = i128::from(amount.0).checked_mul(TRILLIONTHS.checked_div(minor)?)?;
    if charge.terms.total {
        instance.exact_sum = exact;
        instance.once_sum = 0;
        return amount.minus(before).ok();
    }
    // A partner returns no more than was billed.
    let least = before.negate().ok()?;
    if amount < least {
        instance.exact_sum = 0;
        return Some(least);
    }
    instance.exact_sum = instance.exact_sum.checked_add(exact)?;
    Some(amount)
}
