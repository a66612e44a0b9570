//! Charts over time: columns, areas on top of each other, lines.

use super::calendar::Axis;
use super::canvas::{Anchor, Canvas, SERIES, path_of};
use super::data::{Series, Span, Timed};
use super::frame::{EDGE, Entry, Frame, MIDDLE, Sign, Size, legend};
use super::marks::values;
use super::number::Number;
use super::scale::Scale;
use super::words::width;
use crate::zone::Zone;

/// Lines have their signs as long as they do not touch each other.
const MARKERS: usize = 32;

/// Columns; gives the height.
pub(super) fn columns(canvas: &mut Canvas, size: &Size, all: &Timed, zone: Zone) -> i64 {
    let timed = all.folded(SERIES);
    let spans = 0..timed.spans.len();
    let sums = spans.clone().flat_map(|at| {
        let (above, below) = sides(&timed, at);
        [above, below]
    });
    let frame = begin(canvas, size, &timed, Scale::of(sums), zone);
    let mut bases = vec![(Number::ZERO, Number::ZERO); timed.spans.len()];
    for (number, series) in timed.series.iter().enumerate() {
        let is_sum = !all.series.iter().any(|own| own.name == series.name);
        canvas.series(&facts(number, series), |canvas| {
            for ((at, span), base) in timed.spans.iter().enumerate().zip(&mut bases) {
                let Some(value) = series.value(at).filter(|value| !value.is_zero()) else {
                    continue;
                };
                let text = label(&timed, series, *span, value, zone);
                let address = canvas.ways.of(&series.name, Some(*span), is_sum);
                canvas.linked(address, |canvas| {
                    column(canvas, &frame, number, (*span, value, &text), base);
                });
            }
            // A script moves columns down when one below them is hidden.
            canvas.reaches(number, frame.top(), frame.bottom());
        });
    }
    limit(canvas, &frame, &timed);
    frame.end()
}

/// One field of a column, above or below those before.
fn column(
    canvas: &mut Canvas,
    frame: &Frame,
    number: usize,
    (span, value, text): (Span, Number, &str),
    (above, below): &mut (Number, Number),
) {
    let (left, right) = (frame.x(span.from), frame.x(span.to));
    let gap = ((right - left) / 6).min(3_000);
    let base = if value.is_below_zero() { below } else { above };
    let from = frame.y(*base);
    *base = base.plus(value);
    let to = frame.y(*base);
    let place = (left + gap / 2, from.min(to));
    let extent = (right - left - gap, (from - to).abs());
    canvas.bar(number, place, extent, text);
}

/// Stacked areas; gives the height. Amounts below zero have no place in a stack: with
/// such, columns are drawn.
pub(super) fn area(canvas: &mut Canvas, size: &Size, all: &Timed, zone: Zone) -> i64 {
    if all.values().any(Number::is_below_zero) {
        return columns(canvas, size, all, zone);
    }
    let timed = all.folded(SERIES);
    let sums = (0..timed.spans.len()).map(|at| timed.sum_at(at));
    let frame = begin(canvas, size, &timed, Scale::of(sums), zone);
    let (left, right) = frame.sides();
    let within = ((left, frame.top()), (right, frame.bottom()));
    let mut base = vec![Number::ZERO; timed.spans.len()];
    for (number, series) in timed.series.iter().enumerate() {
        let lower = base.clone();
        for (at, sum) in base.iter_mut().enumerate() {
            *sum = sum.plus(series.value(at).unwrap_or(Number::ZERO));
        }
        let mut points = along(&frame, &timed.spans, &base);
        points.extend(along(&frame, &timed.spans, &lower).into_iter().rev());
        let sum = series.sum().shown();
        let text = format!("{}: {sum} {} in all", series.name, timed.unit);
        let upper = along(&frame, &timed.spans, &base);
        canvas.series(&facts(number, series), |canvas| {
            canvas.area(number, &(path_of(&points) + "Z"), within, &text);
            canvas.hatch();
            canvas.pieces("edge", &upper);
        });
    }
    limit(canvas, &frame, &timed);
    frame.end()
}

/// Lines, each with dashes and signs of its own; gives the height.
pub(super) fn lines(canvas: &mut Canvas, size: &Size, all: &Timed, zone: Zone) -> i64 {
    let mut timed = all.clone();
    timed.series.truncate(SERIES);
    let limits = timed.limit.iter().map(|(_, value)| *value);
    let scale = Scale::of(timed.values().chain(limits));
    let mut entries = names(&timed, Sign::Line);
    let left_out = all.series.len() - timed.series.len();
    if left_out > 0 {
        entries.push((
            Sign::Field("none"),
            format!("{left_out} more in the table"),
            String::new(),
        ));
    }
    let top = legend(canvas, size, EDGE, &entries);
    let frame = framed(canvas, size, top, &timed, scale, zone);
    limit(canvas, &frame, &timed);
    for (number, series) in timed.series.iter().enumerate() {
        canvas.series(&facts(number, series), |canvas| {
            line(canvas, &frame, &timed, number, zone);
        });
    }
    frame.end()
}

/// The line of one series, in pieces where nothing is known.
fn line(canvas: &mut Canvas, frame: &Frame, timed: &Timed, number: usize, zone: Zone) {
    let Some(series) = timed.series.get(number) else {
        return;
    };
    let few = timed.spans.len() <= MARKERS;
    for part in unbroken(&timed.spans, series) {
        let points: Vec<_> = part
            .iter()
            .map(|(span, value)| (middle(frame, *span), frame.y(*value)))
            .collect();
        canvas.pieces(&format!("line l{number}"), &points);
        // What stands alone has no line, and must be seen too.
        if few || part.len() == 1 {
            for ((span, value), place) in part.iter().zip(points) {
                let text = label(timed, series, *span, *value, zone);
                let address = canvas.ways.of(&series.name, Some(*span), false);
                canvas.linked(address, |canvas| canvas.marker(number, place, &text));
            }
        }
    }
}

/// The attributes of a series: its name, and its amounts by span.
fn facts(number: usize, series: &Series) -> [(&'static str, String); 3] {
    [
        ("series", number.to_string()),
        ("name", series.name.clone()),
        ("values", values(series.values.iter().copied())),
    ]
}

/// The axes, with the edges of the spans for a script.
fn framed(
    canvas: &mut Canvas,
    size: &Size,
    top: i64,
    timed: &Timed,
    scale: Scale,
    zone: Zone,
) -> Frame {
    let range = timed.range();
    let axis = Axis::new(range.from, range.to, zone);
    let frame = Frame::draw(canvas, size, top, (scale, axis), &timed.unit);
    canvas.fact("unit", &timed.unit);
    frame.edges(canvas, &timed.spans, zone);
    frame
}

/// Legend and axes.
fn begin(canvas: &mut Canvas, size: &Size, timed: &Timed, scale: Scale, zone: Zone) -> Frame {
    let top = legend(canvas, size, EDGE, &names(timed, Sign::Fill));
    framed(canvas, size, top, timed, scale, zone)
}

/// The entries of the legend; a series that stands alone needs none.
fn names(timed: &Timed, sign: impl Fn(usize) -> Sign) -> Vec<Entry> {
    if timed.series.len() < 2 {
        return Vec::new();
    }
    let series = timed.series.iter().enumerate();
    series
        .map(|(at, s)| (sign(at), s.name.clone(), String::new()))
        .collect()
}

/// What is above zero in a span, and what is below.
fn sides(timed: &Timed, at: usize) -> (Number, Number) {
    let values = timed.series.iter().filter_map(|series| series.value(at));
    values.fold((Number::ZERO, Number::ZERO), |(above, below), value| {
        if value.is_below_zero() {
            (above, below.plus(value))
        } else {
            (above.plus(value), below)
        }
    })
}

/// The line that the amounts are held against, with its name.
fn limit(canvas: &mut Canvas, frame: &Frame, timed: &Timed) {
    let Some((name, value)) = &timed.limit else {
        return;
    };
    let (left, right) = frame.sides();
    let y = frame.y(*value);
    canvas.line("limit", (left, y), (right, y));
    let below = y + MIDDLE * 4;
    let text = format!("{name}: {} {}", value.shown(), timed.unit);
    let place = (
        right - 4_000,
        if y < frame.top() + 24_000 {
            below
        } else {
            y - MIDDLE
        },
    );
    canvas.text("t halo", place, Anchor::End, text.trim_end(), width(&text));
}

/// The points of an area's edge: each amount in the middle of its span, level to the ends.
fn along(frame: &Frame, spans: &[Span], values: &[Number]) -> Vec<(i64, i64)> {
    let mut points = Vec::with_capacity(spans.len() + 2);
    let pairs = || spans.iter().zip(values);
    points.extend(pairs().next().map(|(s, v)| (frame.x(s.from), frame.y(*v))));
    points.extend(pairs().map(|(span, value)| (middle(frame, *span), frame.y(*value))));
    points.extend(
        pairs()
            .next_back()
            .map(|(s, v)| (frame.x(s.to), frame.y(*v))),
    );
    points
}

fn middle(frame: &Frame, span: Span) -> i64 {
    i64::midpoint(frame.x(span.from), frame.x(span.to))
}

/// The stretches of a series without a gap.
fn unbroken(spans: &[Span], series: &Series) -> Vec<Vec<(Span, Number)>> {
    let mut parts = vec![Vec::new()];
    for (at, span) in spans.iter().enumerate() {
        match (series.value(at), parts.last_mut()) {
            (Some(value), Some(part)) => part.push((*span, value)),
            _ => parts.push(Vec::new()),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// What a pointer is told of one amount.
fn label(timed: &Timed, series: &Series, span: Span, value: Number, zone: Zone) -> String {
    let from = zone.date(span.from);
    let name = if timed.series.len() > 1 {
        format!("{}, ", series.name)
    } else {
        String::new()
    };
    let text = format!("{name}from {from}: {} {}", value.shown(), timed.unit);
    text.trim_end().to_owned()
}
