//! Times that contradict each other or lack one of three (`collectors.md` 0.4).

use super::instant::{Instant, readings};
use super::number::Number;

/// A start and an end, the end never before the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Microseconds since 1970 UTC.
    pub(super) start_us: i64,
    /// Microseconds since 1970 UTC.
    pub(super) end_us: i64,
    /// One of them was computed from the other and the run time.
    pub(super) is_repaired: bool,
    /// The local time of one of them has two readings, and nothing decides between them.
    pub(super) is_ambiguous: bool,
}

impl Span {
    /// No use: the end is the start.
    pub(super) fn empty(at_us: i64) -> Self {
        Self {
            start_us: at_us,
            end_us: at_us,
            is_repaired: false,
            is_ambiguous: false,
        }
    }
}

/// [`span`] of times that may have two readings.
pub(super) fn span_of(
    start: Option<Instant>,
    end: Option<Instant>,
    wall: Option<Number>,
) -> Result<Span, String> {
    let (start_us, end_us, is_ambiguous) = match (start, end) {
        (Some(start), Some(end)) => {
            let (start_us, end_us, is_open) = readings(start, end, wall);
            (Some(start_us), Some(end_us), is_open)
        }
        (start, end) => {
            let stated = start.or(end);
            let is_open = stated.is_some_and(Instant::is_ambiguous);
            (start.map(|at| at.us), end.map(|at| at.us), is_open)
        }
    };
    let span = span(start_us, end_us, wall)?;
    Ok(Span {
        is_ambiguous,
        ..span
    })
}

/// Flag of a job with repaired times.
pub(super) const REPAIRED: &str = "repaired";

/// Flag of a job with ambiguous local times.
pub(super) const AMBIGUOUS: &str = "ambiguous-time";

/// From start, end and the source's run time in seconds. A missing value is computed from the
/// others, and if the end is before the start the end is used. A run time of 0 counts as missing.
///
/// # Errors
/// If two are missing, or the run time that it takes.
pub(super) fn span(
    start_us: Option<i64>,
    end_us: Option<i64>,
    wall: Option<Number>,
) -> Result<Span, String> {
    let wall_us = wall
        .filter(|wall| wall.is_above_zero())
        .and_then(Number::as_microseconds);
    let beyond = || "a time beyond the supported range".to_owned();
    let repaired = |start_us: i64, end_us: i64| Span {
        start_us,
        end_us,
        is_repaired: true,
        is_ambiguous: false,
    };
    match (start_us, end_us, wall_us) {
        (Some(start_us), Some(end_us), _) if start_us <= end_us => Ok(Span {
            start_us,
            end_us,
            is_repaired: false,
            is_ambiguous: false,
        }),
        (_, Some(end), Some(wall)) => {
            let start = end.checked_sub(wall).ok_or_else(beyond)?;
            Ok(repaired(start, end))
        }
        (Some(start), None, Some(wall)) => {
            let end = start.checked_add(wall).ok_or_else(beyond)?;
            Ok(repaired(start, end))
        }
        (Some(_), Some(_), None) => Err("end before start".to_owned()),
        _ => Err("two of start, end and run time are missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_three_is_computed() {
        let (s, e) = (Some(10_000_000), Some(25_000_000));
        let wall = |text: &str| Number::parse(text);
        for (start, end, run, meant) in [
            (s, e, None, Ok((10_000_000, 25_000_000, false))),
            (s, e, wall("3"), Ok((10_000_000, 25_000_000, false))),
            (s, s, None, Ok((10_000_000, 10_000_000, false))),
            (None, e, wall("5"), Ok((20_000_000, 25_000_000, true))),
            (s, None, wall("0.5"), Ok((10_000_000, 10_500_000, true))),
            (e, s, wall("4"), Ok((6_000_000, 10_000_000, true))),
            (e, s, None, Err("end before start")),
            (e, s, wall("0"), Err("end before start")),
            (
                s,
                None,
                None,
                Err("two of start, end and run time are missing"),
            ),
            (
                None,
                None,
                wall("5"),
                Err("two of start, end and run time are missing"),
            ),
        ] {
            let found = span(start, end, run);
            let found = found.map(|span| (span.start_us, span.end_us, span.is_repaired));
            assert_eq!(
                found.as_ref().map_err(String::as_str),
                meant.as_ref().map_err(|e| *e)
            );
        }
    }
}
