//! The burn-down: what there was, what of it was held, what came in, what is to come.

use super::bounds::POINTS_MAX;
use super::calendar::{Axis, spans};
use super::canvas::{Anchor, Canvas};
use super::data::{Burn, Span};
use super::frame::{EDGE, Entry, Frame, LINE, Sign, Size, deposit, legend};
use super::marks::{INSTANTS, places, values};
use super::number::Number;
use super::scale::Scale;
use super::words::width;
use crate::zone::Zone;

/// One day, µs.
const DAY: i64 = 86_400_000_000;
/// One minute, µs.
const MINUTE: i64 = 60_000_000;
/// Parts of a forecast between whose ends its spread is straight.
const FAN: i64 = 24;
/// Signs of deposits at most; of more the largest.
const DEPOSITS_MAX: usize = 40;

/// The chart; gives the height.
pub(super) fn burn(canvas: &mut Canvas, size: &Size, burn: &Burn, zone: Zone) -> i64 {
    let amounts = burn.amount.iter().chain(&burn.forecast).map(|(_, n)| *n);
    let ideal = burn.ideal.iter().flatten().map(|(_, n)| *n);
    let free = burn
        .held
        .iter()
        .map(|(_, amount, held)| amount.minus(*held));
    let spread = burn.spread.iter().flat_map(|(_, low, high)| [*low, *high]);
    let scale = Scale::of(amounts.chain(ideal).chain(free).chain(spread));
    let top = legend(canvas, size, EDGE, &entries(burn));
    let axis = Axis::new(burn.from, burn.to, zone);
    let frame = Frame::draw(canvas, size, top, (scale, axis), &burn.unit);
    canvas.fact("unit", &burn.unit);
    let period = Span {
        from: burn.from,
        to: burn.to,
    };
    frame.edges(canvas, &spans(period, zone), zone);
    let amounts = thinned(&burn.amount);
    bands(canvas, &frame, burn, &amounts, zone);
    let at = |(us, number): &(i64, Number)| (frame.x(*us), frame.y(*number));
    let mut draw = |class: &'static str, points: &[(i64, i64)], known: &[(i64, Number)]| {
        if points.len() > 1 {
            let facts = facts(&frame, Sign::Stroke(class), known, zone);
            canvas.series(&facts, |canvas| canvas.pieces(class, points));
        }
    };
    if let Some(ends) = &burn.ideal {
        draw("ideal", &ends.iter().map(at).collect::<Vec<_>>(), ends);
    }
    draw("main", &steps(&frame, &amounts, burn.now), &amounts);
    let coming: Vec<_> = burn.forecast.iter().map(at).collect();
    draw("coming", &coming, &burn.forecast);
    now(canvas, &frame, burn, zone);
    let mut largest = burn.deposits.clone();
    largest.sort_by(|(_, a), (_, b)| b.compare(*a));
    largest.truncate(DEPOSITS_MAX);
    if !largest.is_empty() {
        let facts = facts(&frame, Sign::Deposit, &largest, zone);
        canvas.series(&facts, |canvas| {
            for (us, _) in &largest {
                deposit(canvas, (frame.x(*us), frame.bottom()));
            }
        });
    }
    frame.end()
}

/// The areas below the lines: what was held, and what may come.
fn bands(canvas: &mut Canvas, frame: &Frame, burn: &Burn, amounts: &[(i64, Number)], zone: Zone) {
    if burn.held.len() > 1 {
        let upper = steps(frame, amounts, burn.now);
        let lower = steps_below(frame, amounts, burn);
        let band: Vec<_> = upper.into_iter().chain(lower.into_iter().rev()).collect();
        let known: Vec<_> = burn.held.iter().map(|(us, _, held)| (*us, *held)).collect();
        let facts = facts(frame, Sign::Field("band"), &known, zone);
        canvas.series(&facts, |canvas| canvas.shape("band", &band));
    }
    if burn.spread.len() > 1 {
        let place = |us: i64, amount: Number| (frame.x(us), frame.y(amount));
        let upper = burn.spread.iter().map(|(us, _, high)| place(*us, *high));
        let lower = burn.spread.iter().rev();
        let lower = lower.map(|(us, low, _)| place(*us, *low));
        let area: Vec<_> = upper.chain(lower).collect();
        let facts = facts(frame, Sign::Field("spread"), &[], zone);
        canvas.series(&facts, |canvas| canvas.shape("spread", &area));
    }
}

/// The attributes of a series of instants.
fn facts(
    frame: &Frame,
    sign: Sign,
    known: &[(i64, Number)],
    zone: Zone,
) -> [(&'static str, String); 5] {
    let all = ENTRIES.iter().find(|(own, _)| *own == sign);
    let mut known = known.to_vec();
    known.sort_by_key(|(us, _)| *us);
    let known = thinned_to(&known, INSTANTS);
    let shown: Vec<String> = known.iter().map(|(us, _)| zone.date(*us)).collect();
    [
        ("series", sign.series()),
        ("name", all.map_or("", |(_, name)| *name).to_owned()),
        ("x", places(known.iter().map(|(us, _)| frame.x(*us)))),
        ("at", shown.join("|")),
        ("values", values(known.iter().map(|(_, n)| Some(*n)))),
    ]
}

/// What will be at the slowest and the fastest of recent speeds, an amount for a day, along a forecast at the
/// speed between them. Nothing falls below the end of the forecast. Behind that end it goes on at the slowest speed
/// until nothing is left, or until the end of the money.
pub fn spread(
    forecast: &[(i64, Number)],
    a_day: Number,
    (slow, fast): (Number, Number),
    end: i64,
) -> Vec<(i64, Number, Number)> {
    let (Some((from, _)), Some((to, last))) = (forecast.first(), forecast.last()) else {
        return Vec::new();
    };
    let length = to.saturating_sub(*from);
    let mut found = Vec::new();
    for n in 0..=FAN {
        let us = from.saturating_add(length / FAN * n);
        let Some(middle) = along(forecast, us) else {
            continue;
        };
        let passed = |speed: Number| speed.part(us.saturating_sub(*from), DAY);
        let at = |speed: Number| middle.plus(passed(a_day)).minus(passed(speed));
        let low = larger(at(fast), smaller(*last, middle));
        found.push((us, smaller(low, middle), larger(at(slow), middle)));
    }
    if let Some((_, _, high)) = found.last().copied() {
        found.extend(behind((*to, high), *last, slow, end));
    }
    found
}

/// The upper edge behind a forecast, from its last amount down to the least, or to the end of the money.
fn behind(
    (from, high): (i64, Number),
    least: Number,
    slow: Number,
    end: i64,
) -> Option<(i64, Number, Number)> {
    let rest = high.minus(least);
    if end <= from || !rest.compare(Number::ZERO).is_gt() {
        return None;
    }
    let spent = slow.part(end.saturating_sub(from), DAY);
    if !spent.compare(rest).is_gt() {
        return Some((end, least, high.minus(spent)));
    }
    // The minute in which the rest is spent: amounts cannot be divided by a speed.
    let (mut low, mut up) = (from, end);
    while up.saturating_sub(low) > MINUTE {
        let middle = low.saturating_add(up.saturating_sub(low) / 2);
        let spent = slow.part(middle.saturating_sub(from), DAY);
        if spent.compare(rest).is_lt() {
            low = middle;
        } else {
            up = middle;
        }
    }
    Some((up, least, least))
}

fn smaller(a: Number, b: Number) -> Number {
    if a.compare(b).is_lt() { a } else { b }
}

fn larger(a: Number, b: Number) -> Number {
    if a.compare(b).is_gt() { a } else { b }
}

/// The amount of straight pieces at an instant; the later one where they jump.
fn along(line: &[(i64, Number)], us: i64) -> Option<Number> {
    let after = line.partition_point(|(at, _)| *at <= us);
    let (from, a) = line.get(after.checked_sub(1)?)?;
    let Some((to, b)) = line.get(after) else {
        return Some(*a);
    };
    Some(a.plus(b.minus(*a).part(us - from, to - from)))
}

/// What the legend explains.
const ENTRIES: [(Sign, &str); 6] = [
    (Sign::Stroke("main"), "amount"),
    (Sign::Field("band"), "held of it"),
    (Sign::Stroke("ideal"), "spent evenly"),
    (Sign::Stroke("coming"), "forecast"),
    (Sign::Field("spread"), "slow to fast week"),
    (Sign::Deposit, "deposit"),
];

/// The entries of what there is.
fn entries(burn: &Burn) -> Vec<Entry> {
    let there = [
        !burn.amount.is_empty(),
        burn.held.len() > 1,
        burn.ideal.is_some(),
        burn.forecast.len() > 1,
        burn.spread.len() > 1,
        !burn.deposits.is_empty(),
    ];
    let all = ENTRIES.into_iter().zip(there).filter(|(_, is)| *is);
    all.map(|((sign, name), _)| (sign, name.to_owned(), String::new()))
        .collect()
}

/// The amount changes at an instant: level until then, then up or down.
fn steps(frame: &Frame, amounts: &[(i64, Number)], until: i64) -> Vec<(i64, i64)> {
    let mut points: Vec<(i64, i64)> = Vec::new();
    for (us, amount) in amounts {
        let (x, y) = (frame.x(*us), frame.y(*amount));
        if let Some((_, level)) = points.last().copied() {
            points.push((x, level));
        }
        points.push((x, y));
    }
    points.extend(points.last().map(|(_, y)| (frame.x(until), *y)));
    points.dedup();
    points
}

/// The steps of the amount less what was held of it: between two instants at which that is known, it
/// is taken to have changed evenly.
fn steps_below(frame: &Frame, amounts: &[(i64, Number)], burn: &Burn) -> Vec<(i64, i64)> {
    let mut instants: Vec<i64> = amounts.iter().map(|(us, _)| *us).collect();
    instants.extend(burn.held.iter().map(|(us, ..)| *us));
    instants.push(burn.now);
    let first = amounts.first().map_or(burn.now, |(us, _)| *us);
    instants.retain(|us| (first..=burn.now).contains(us));
    instants.sort_unstable();
    instants.dedup();
    let mut points = Vec::new();
    let (mut at, mut level) = (0, None);
    for us in instants {
        let held = held_at(burn, us);
        let mut put = |amount: Number| {
            points.push((frame.x(us), frame.y(amount.minus(held))));
        };
        if let Some(level) = level {
            put(level);
        }
        while let Some((_, amount)) = amounts.get(at).filter(|(when, _)| *when <= us) {
            (at, level) = (at + 1, Some(*amount));
        }
        if let Some(level) = level {
            put(level);
        }
    }
    points.dedup();
    points
}

/// What was held at an instant.
fn held_at(burn: &Burn, us: i64) -> Number {
    let after = burn.held.partition_point(|(at, ..)| *at <= us);
    let sample = |at: Option<usize>| at.and_then(|at| burn.held.get(at)).copied();
    match (sample(after.checked_sub(1)), sample(Some(after))) {
        (Some((from, _, a)), Some((to, _, b))) => a.plus(b.minus(a).part(us - from, to - from)),
        (Some((_, _, held)), None) | (None, Some((_, _, held))) => held,
        (None, None) => Number::ZERO,
    }
}

/// At most as many instants as a chart takes: of each of as many equal parts of the time the last.
pub fn thinned(amounts: &[(i64, Number)]) -> Vec<(i64, Number)> {
    thinned_to(amounts, POINTS_MAX)
}

/// At most so many instants, in the same way.
pub fn thinned_to(amounts: &[(i64, Number)], most: usize) -> Vec<(i64, Number)> {
    let (Some((first, _)), Some((last, _))) = (amounts.first(), amounts.last()) else {
        return Vec::new();
    };
    if amounts.len() <= most {
        return amounts.to_vec();
    }
    let parts = i128::try_from(most - 1).unwrap_or(1);
    let range = (i128::from(*last) - i128::from(*first)).max(1);
    let part = |us: i64| (i128::from(us) - i128::from(*first)) * parts / range;
    let mut kept: Vec<(i64, Number)> = Vec::new();
    for (us, amount) in amounts {
        match kept.last_mut() {
            Some(last) if part(last.0) == part(*us) => *last = (*us, *amount),
            _ => kept.push((*us, *amount)),
        }
    }
    kept
}

/// Where what is known ends, if something is drawn behind it.
fn now(canvas: &mut Canvas, frame: &Frame, burn: &Burn, zone: Zone) {
    if burn.forecast.len() < 2 || burn.now >= burn.to {
        return;
    }
    let x = frame.x(burn.now);
    canvas.line("now", (x, frame.top()), (x, frame.bottom()));
    let text = zone.day(burn.now);
    let (left, right) = frame.sides();
    let half = width(&text) / 2;
    let place = (
        x.clamp(left + half, (right - half).max(left + half)),
        frame.top() - LINE / 4,
    );
    canvas.text("t faint", place, Anchor::Middle, &text, width(&text));
}
