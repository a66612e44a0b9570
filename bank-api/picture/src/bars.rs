//! Horizontal bars with their names, and a pie.

use super::canvas::{Anchor, Canvas, SERIES, px};
use super::data::{Bars, OTHERS};
use super::frame::{EDGE, LINE, MIDDLE, Sign, Size, legend};
use super::number::Number;
use super::scale::Scale;
use super::words::width;

/// The bars; gives the height. On a page their unit is not repeated below a heading that has it.
pub(super) fn bars(canvas: &mut Canvas, size: &Size, bars: &Bars, heading: &str) -> i64 {
    let scale = Scale::of(bars.rows.iter().map(|(_, amount)| *amount));
    let amounts = bars.rows.iter().map(|(_, amount)| width(&amount.shown()));
    let amounts = amounts.max().unwrap_or(0);
    // The amounts stand behind the bars: names and bars leave them room, but not all of it.
    let beside = 2 * EDGE + 14_000 + amounts;
    let most = (size.width - beside - size.width / 8).clamp(60_000, size.width * 2 / 5);
    let names = bars.rows.iter().map(|(name, _)| width(name)).max();
    let names = names.unwrap_or(0).min(most);
    let left = EDGE + names + 8_000;
    let room = (size.width - names - beside).max(size.width / 8);
    let row = if bars.rows.len() > 60 { 20_000 } else { 24_000 };
    let unit = if bars.unit.is_empty() {
        "count"
    } else {
        &bars.unit
    };
    let head = format!("{unit} by {}", bars.what);
    let is_alone = size.class == Size::ALONE.class;
    let top = if is_alone || !head.eq_ignore_ascii_case(heading) {
        let place = (EDGE, EDGE + LINE / 2 + MIDDLE);
        let most = size.width - 2 * EDGE;
        canvas.text("t faint", place, Anchor::Start, &head, most);
        EDGE + LINE
    } else {
        EDGE
    };
    let zero = left + scale.zero(room);
    let mut y = top + 4_000;
    canvas.fact("unit", &bars.unit);
    for (name, amount) in &bars.rows {
        let middle = y + row / 2;
        let end = left + scale.at(*amount, room);
        let label = format!("{name}: {} {}", amount.shown(), bars.unit);
        let (from, to) = (zero.min(end), zero.max(end));
        // What is there is seen, be it ever so little.
        let long = (to - from).max(if amount.is_zero() { 0 } else { 1_000 });
        let series = usize::from(amount.is_below_zero());
        let extent = (long, row - 8_000);
        let address = canvas.ways.of(name, None, false);
        let facts = [("name", name.as_str()), ("values", &amount.raw())];
        canvas.group("row", &facts, |canvas| {
            canvas.linked(address, |canvas| {
                let place = (left - 8_000, middle + MIDDLE);
                canvas.text("t", place, Anchor::End, name, names);
                canvas.bar(series, (from, y + 4_000), extent, label.trim_end());
                let place = (to.max(from + long) + 6_000, middle + MIDDLE);
                canvas.text("t tick", place, Anchor::Start, &amount.shown(), size.width);
            });
        });
        y += row;
    }
    canvas.line("zero", (zero, top), (zero, y + 4_000));
    y + EDGE
}

/// The pie with its legend; shares that are zero have no slice, and the smallest are added up where
/// there are more than can be told apart.
pub(super) fn pie(canvas: &mut Canvas, size: &Size, all: &Bars) -> i64 {
    let mut shown = all.clone();
    shown.rows.retain(|(_, amount)| !amount.is_zero());
    let is_rest = |name: &str| name == OTHERS;
    shown
        .rows
        .sort_by(|(a, of_a), (b, of_b)| is_rest(a).cmp(&is_rest(b)).then(of_b.compare(*of_a)));
    let shown = shown.folded(SERIES);
    let whole = shown.sum();
    let share = |amount: Number| amount.share(whole).unwrap_or(Number::ZERO);
    let label = |name: &str, amount: Number| {
        let (share, amount) = (share(amount).shown(), amount.shown());
        format!("{name}: {share} % ({amount} {})", all.unit)
    };
    let radius = size.plot / 2;
    let center = (size.width / 2, EDGE + radius);
    let (x, y) = center;
    let within = ((x - radius, y - radius), (x + radius, y + radius));
    let mut before = Number::ZERO;
    let alone = shown.rows.len() == 1;
    canvas.fact("unit", &all.unit);
    for (at, (name, amount)) in shown.rows.iter().enumerate() {
        let after = before.plus(*amount);
        let path = if alone {
            circle(center, radius)
        } else {
            slice(center, radius, turn(before, whole), turn(after, whole))
        };
        let is_sum = !all.rows.iter().any(|(own, _)| own == name);
        let address = canvas.ways.of(name, None, is_sum);
        let facts = [
            ("series", at.to_string()),
            ("name", name.clone()),
            ("values", amount.raw()),
        ];
        canvas.series(&facts, |canvas| {
            canvas.linked(address, |canvas| {
                canvas.area(at, &path, within, &label(name, *amount));
            });
        });
        before = after;
    }
    let entry = |(at, (name, amount)): (usize, &(String, Number))| {
        let share = share(*amount).shown();
        (Sign::Fill(at), name.clone(), format!(" {share} %"))
    };
    let entries: Vec<_> = shown.rows.iter().enumerate().map(entry).collect();
    legend(canvas, size, EDGE + size.plot + 8_000, &entries) + EDGE
}

/// One whole turn, in the unit of [`turn`].
const TURN: i128 = 4_800_000;

/// Which part of a turn an amount of a whole is.
fn turn(part: Number, whole: Number) -> i128 {
    let decimals = part.decimals().max(whole.decimals());
    let (part, whole) = (part.minor(decimals), whole.minor(decimals).max(1));
    let grain = (whole / 10_i128.pow(20)).max(1);
    (part / grain) * TURN / (whole / grain)
}

/// A slice from one direction to another, clockwise from the top.
fn slice((x, y): (i64, i64), radius: i64, from: i128, to: i128) -> String {
    let at = |turn: i128| {
        let (sine, cosine) = direction(turn);
        let part = |of: i128| i64::try_from(i128::from(radius) * of / ONE).unwrap_or(0);
        (x + part(sine), y - part(cosine))
    };
    let ((x1, y1), (x2, y2)) = (at(from), at(to));
    let large = u8::from(to - from > TURN / 2);
    let radius = px(radius);
    format!(
        "M{} {}L{} {}A{radius} {radius} 0 {large} 1 {} {}Z",
        px(x),
        px(y),
        px(x1),
        px(y1),
        px(x2),
        px(y2)
    )
}

/// A whole turn, which a slice cannot be: its two ends would be one.
fn circle((x, y): (i64, i64), radius: i64) -> String {
    let (left, right, y) = (px(x - radius), px(x + radius), px(y));
    let radius = px(radius);
    let half = |x: &str| format!("A{radius} {radius} 0 1 1 {x} {y}");
    format!("M{left} {y}{}{}Z", half(&right), half(&left))
}

/// One, in the fixed point of [`direction`].
const ONE: i128 = 1_000_000_000_000;
/// A quarter of a circle's way round a radius of one: π ÷ 2.
const QUARTER: i128 = 1_570_796_326_795;

/// Sine and cosine of a part of a turn, in parts of [`ONE`]: whole numbers only, so that every
/// machine draws the same.
fn direction(turn: i128) -> (i128, i128) {
    let turn = turn.rem_euclid(TURN);
    let (quarter, rest) = (turn / (TURN / 4), turn % (TURN / 4));
    let angle = QUARTER * rest / (TURN / 4);
    let (sine, cosine) = (series(angle, angle, 1), series(ONE, angle, 0));
    match quarter {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// The sum `first − first·x²/((n+1)(n+2)) + …`: the sine for `first` = x and n = 1, the cosine for
/// one and 0.
fn series(first: i128, x: i128, n: i128) -> i128 {
    let (mut term, mut sum, mut n) = (first, first, n);
    for _ in 0..12 {
        term = -term * x / ONE * x / ONE / ((n + 1) * (n + 2));
        sum += term;
        n += 2;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_those_of_a_circle() {
        let near = |a: i128, b: i128| (a - b).abs() < 1_000;
        for (turn, sine, cosine) in [
            (0, 0, ONE),
            (TURN / 4, ONE, 0),
            (TURN / 2, 0, -ONE),
            (TURN * 3 / 4, -ONE, 0),
            (TURN / 12, ONE / 2, 866_025_403_784),
            (TURN / 8, 707_106_781_187, 707_106_781_187),
            (TURN * 5 / 8, -707_106_781_187, -707_106_781_187),
        ] {
            let (s, c) = direction(turn);
            assert!(near(s, sine) && near(c, cosine), "{turn}: {s} {c}");
        }
        for turn in 0..1000 {
            let (s, c) = direction(turn * TURN / 1000);
            assert!(near((s * s + c * c) / ONE, ONE), "{turn}");
        }
    }
}
