//! How much a charge bills: so many seconds more, a window, a total, or an amount as given
//! (ledger.md 2.8, decisions 7 and 8).

use crate::amount::Amount;
use crate::command::Charge;
use crate::directory::Directory;
use crate::exact::to_amount;
use crate::model::Instance;
use crate::price::{Priced, price};
use crate::refusal::Refusal;
use crate::rules::instance::check_duration;
use crate::terms::{ITEMISATION_BYTES_MAX, Overlap, SPANS_MAX, Span};
use crate::time::{MICROS, Seconds, Timestamp};
use crate::view::{Context, View};

/// How far the clock of a caller may be ahead of the bank's.
const SKEW: Seconds = Seconds(300);

/// A stretch of time that is priced.
struct Piece {
    /// The rates in force at this instant count.
    at: Timestamp,
    /// When it began: the hours of rates with a calendar are read from here on.
    from: Timestamp,
    length: Seconds,
}

/// What a charge bills of what it reports.
pub(super) struct Measured {
    /// The time that is priced, in pieces that lie apart.
    pieces: Vec<Piece>,
    /// The seconds that the usage row counts; for a total the difference, which may be negative.
    pub(super) counted: Seconds,
    /// The instance's billed windows afterwards, where the caller sent one.
    pub(super) windows: Option<Vec<Span>>,
}

impl Measured {
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

/// What no instance needs to be known for: that the charge says how long, once, and within bounds.
pub(super) fn check(charge: &Charge) -> Result<(), Refusal> {
    let terms = &charge.terms;
    if terms.amount.is_some_and(|amount| amount < Amount::ZERO) {
        return Err(Refusal::NegativeCharge);
    }
    let text = &terms.itemisation;
    if text.len() > ITEMISATION_BYTES_MAX || text.chars().any(char::is_control) {
        return Err(Refusal::BadValue {
            field: "itemisation",
            expected: "one line of at most 1024 bytes",
        });
    }
    if let Some(window) = terms.window {
        if terms.total {
            return Err(Refusal::BadValue {
                field: "total",
                expected: "a duration, not start and end",
            });
        }
        if window.start >= window.end {
            return Err(Refusal::BadWindow);
        }
        let whole = |at: Timestamp| at.0.rem_euclid(MICROS) == 0;
        if !(whole(window.start) && whole(window.end)) {
            return Err(Refusal::BadDuration);
        }
        if charge.duration.is_some_and(|d| d != window.length()) {
            return Err(Refusal::BadValue {
                field: "duration",
                expected: "nothing, or the time from start to end",
            });
        }
    }
    reported(charge).and_then(check_duration).map(|_| ())
}

/// How long the use was, as the caller says it.
fn reported(charge: &Charge) -> Result<Seconds, Refusal> {
    let window = charge.terms.window.map(|window| window.length());
    // An amount as given may stand without a time.
    let none = charge.terms.amount.map(|_| Seconds(0));
    let said = window.or(charge.duration).or(none);
    said.ok_or(Refusal::MissingField { field: "duration" })
}

/// When an instance begins that this charge is the first to name.
pub(super) fn began(charge: &Charge, at: Timestamp) -> Timestamp {
    charge
        .terms
        .window
        .map_or(at, |window| window.start.min(at))
}

/// What of it is billed.
pub(super) fn measure(
    charge: &Charge,
    instance: &Instance,
    view: &View,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Result<Measured, Refusal> {
    let duration = reported(charge)?;
    if let Some(window) = charge.terms.window {
        return in_window(charge, window, instance, view, ctx);
    }
    // A duration without a window began when it can have begun at the earliest.
    let began = at.minus(duration).max(instance.opened);
    let before = if charge.terms.total {
        instance.charged.0
    } else {
        0
    };
    Ok(Measured {
        pieces: vec![Piece {
            at: began,
            from: at.minus(duration),
            length: duration,
        }],
        counted: Seconds(duration.0.saturating_sub(before)),
        windows: None,
    })
}

/// The part of a window that was not billed yet, or the refusal where the site wants it.
fn in_window(
    charge: &Charge,
    window: Span,
    instance: &Instance,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Measured, Refusal> {
    if window.end > ctx.now.plus(SKEW) {
        return Err(Refusal::BadValue {
            field: "end",
            expected: "a time that has passed",
        });
    }
    let of_instance = view.windows.iter().find(|(id, _)| *id == instance.id);
    let billed = of_instance.map_or(&[][..], |(_, spans)| spans.as_slice());
    let rest = window.without(billed);
    if let Some(known) = billed.iter().find(|known| known.meets(&window)) {
        // An amount as given cannot be split.
        let split = charge.terms.amount.is_some() && !rest.is_empty();
        if split || ctx.directory.policy.overlap == Overlap::Reject {
            return Err(Refusal::Overlap {
                start: known.start.max(window.start),
                end: known.end.min(window.end),
            });
        }
    }
    let windows = window.joined(billed);
    if windows.len() > SPANS_MAX {
        return Err(Refusal::BadValue {
            field: "start",
            expected: "a window next to one billed before: a job can have 500 that lie apart",
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
    })
}

/// What this charge adds to the running exact sum, and what is billed now: the rounded sum less
/// what was billed before, so that the number of charges changes nothing (decision 7). Negative
/// where a reported total fell. `None` where exact arithmetic ends; else also whether no rate counted.
pub(super) fn billed_now(
    instance: &mut Instance,
    charge: &Charge,
    measured: &Measured,
    ctx: &Context<'_>,
) -> Option<(Amount, bool)> {
    let before = instance.billed.plus(instance.shadow_billed).ok()?;
    if let Some(amount) = charge.terms.amount {
        let given = as_given(instance, charge, measured, amount, before, ctx.directory)?;
        return Some((given, false));
    }
    let name = &charge.request.whose.machine;
    let machine = ctx.directory.machine_named(name).map(|m| m.id);
    let total = charge.terms.total;
    let mut exact_sum = if total { 0 } else { instance.exact_sum };
    let mut once_sum = if total { 0 } else { instance.once_sum };
    let mut last = None;
    for piece in &measured.pieces {
        let asked = Priced {
            usage: &instance.facts.usage,
            duration: piece.length,
            machine,
            machine_name: name,
            named: instance.facts.named(),
            at: instance.rates_at.unwrap_or(piece.at),
            from: piece.from,
        };
        let price = price(&asked, ctx.directory.rates_at(asked.at))?;
        exact_sum = exact_sum.checked_add(price.metered)?;
        once_sum = once_sum.max(price.once);
        last = Some(price);
    }
    // A window that was billed wholly adds nothing.
    let Some(price) = last else {
        return Some((Amount::ZERO, false));
    };
    let policy = &ctx.directory.policy;
    let precision = ctx.directory.bank.precision;
    let bounded = price.bounded(exact_sum.checked_add(once_sum)?);
    let rounded = to_amount(bounded, precision, policy.rounding)?;
    let now = rounded.minus(before).ok()?;
    // Only a total that falls gives money back: a bound that came later, or lies below amounts that
    // were given, bills nothing more.
    let now = if total { now } else { now.max(Amount::ZERO) };
    instance.exact_sum = exact_sum;
    instance.once_sum = once_sum;
    Some((now, price.unpriced))
}

/// An amount that the caller gives, exactly; a window that was billed wholly adds nothing.
fn as_given(
    instance: &mut Instance,
    charge: &Charge,
    measured: &Measured,
    amount: Amount,
    before: Amount,
    directory: &Directory,
) -> Option<Amount> {
    let minor = i128::from(directory.bank.precision.minor_per_credit());
    let exact = i128::from(amount.0).checked_mul(crate::exact::TRILLIONTHS.checked_div(minor)?)?;
    if charge.terms.total {
        instance.exact_sum = exact;
        instance.once_sum = 0;
        return amount.minus(before).ok();
    }
    if measured.windows.is_some() && measured.pieces.is_empty() {
        return Some(Amount::ZERO);
    }
    instance.exact_sum = instance.exact_sum.checked_add(exact)?;
    Some(amount)
}
