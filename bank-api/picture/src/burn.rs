//! The burn-down: what there was, what of it was held, what came in, what is to come.

use super::bounds::POINTS_MAX;
use super::calendar::Axis;
use super::canvas::{Anchor, Canvas};
use super::data::Burn;
use super::frame::{EDGE, Entry, Frame, LINE, Sign, Size, deposit, legend};
use super::number::Number;
use super::scale::Scale;
use super::words::width;
use crate::zone::Zone;

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
    let scale = Scale::of(amounts.chain(ideal).chain(free));
    let top = legend(canvas, size, EDGE, &entries(burn));
    let axis = Axis::new(burn.from, burn.to, zone);
    let frame = Frame::draw(canvas, size, top, (scale, axis), &burn.unit);
    let at = |(us, number): &(i64, Number)| (frame.x(*us), frame.y(*number));
    let amounts = thinned(&burn.amount);
    if burn.held.len() > 1 {
        let upper = steps(&frame, &amounts, burn.now);
        let lower = steps_below(&frame, &amounts, burn);
        let band: Vec<_> = upper.into_iter().chain(lower.into_iter().rev()).collect();
        canvas.shape("band", &band);
    }
    if let Some(ends) = &burn.ideal {
        canvas.pieces("ideal", &ends.iter().map(at).collect::<Vec<_>>());
    }
    canvas.pieces("main", &steps(&frame, &amounts, burn.now));
    let coming: Vec<_> = burn.forecast.iter().map(at).collect();
    canvas.pieces("coming", &coming);
    now(canvas, &frame, burn, zone);
    let mut largest = burn.deposits.clone();
    largest.sort_by(|(_, a), (_, b)| b.compare(*a));
    largest.truncate(DEPOSITS_MAX);
    for (us, _) in &largest {
        deposit(canvas, (frame.x(*us), frame.bottom()));
    }
    frame.end()
}

/// What the legend explains: what there is of it.
fn entries(burn: &Burn) -> Vec<Entry> {
    let all = [
        (Sign::Stroke("main"), "amount", !burn.amount.is_empty()),
        (Sign::Field("band"), "held of it", burn.held.len() > 1),
        (Sign::Stroke("ideal"), "spent evenly", burn.ideal.is_some()),
        (Sign::Stroke("coming"), "forecast", burn.forecast.len() > 1),
        (Sign::Deposit, "deposit", !burn.deposits.is_empty()),
    ];
    let there = all.into_iter().filter(|(_, _, is)| *is);
    there
        .map(|(sign, name, _)| (sign, name.to_owned(), String::new()))
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
    let (Some((first, _)), Some((last, _))) = (amounts.first(), amounts.last()) else {
        return Vec::new();
    };
    if amounts.len() <= POINTS_MAX {
        return amounts.to_vec();
    }
    let parts = i128::try_from(POINTS_MAX - 1).unwrap_or(1);
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
