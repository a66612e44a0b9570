//! The figures that cover a range of hours: months if they have blocks, days, and hours if the range begins
//! or ends within a day. If it begins shortly after the start of a month or ends shortly before its end,
//! the whole month is added and the outside part is subtracted, likewise of a day with a block: time zones are a few
//! hours from UTC.

use super::block::Unit;
use super::{HOURS, Sign, day_of, month};
use std::ops::Range;

/// Rows of one kind, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Months, counted from January 1970.
    Months(Range<i64>),
    /// Days, counted from 1970.
    Days(Range<i64>),
    /// Hours of one day.
    Hours(i64, Range<i64>),
}

/// The parts of a range, in the order of time except for subtracted ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Rows that are added, or taken away.
    pub parts: Vec<(Sign, Rows)>,
    /// Whether the added part begins where the range does. Otherwise, jobs that run at the start
    /// are those that ran in its first hour and did not begin in it.
    pub begins: bool,
}

/// Covers the hours from one until another, exclusive.
///
/// # Errors
/// If the existence of a block cannot be read.
pub fn cover<E>(
    range: (i64, i64),
    mut is_stored: impl FnMut(Unit, i64) -> Result<bool, E>,
) -> Result<Cover, E> {
    let cover = months(range, |month| is_stored(Unit::Month, month))?;
    cover.without_long_hours(|day| is_stored(Unit::Day, day))
}

fn months<E>(
    (from, until): (i64, i64),
    mut is_stored: impl FnMut(i64) -> Result<bool, E>,
) -> Result<Cover, E> {
    let (begin, end) = (Edge::of(from), Edge::of(until));
    let takes_all = begin.into != 0 && begin.into < begin.left && is_stored(begin.month)?;
    let first = begin.nearest(takes_all || begin.into == 0);
    let takes_more = end.left < end.into && is_stored(end.month)?;
    let last = end.nearest(!takes_more);
    let mut cover = Cover {
        parts: Vec::new(),
        begins: true,
    };
    if first >= last {
        cover.plain(Sign::Plus, from, until);
        return Ok(cover);
    }
    let (inner, outer) = (hour_of_month(first), hour_of_month(last));
    cover.begins = inner >= from;
    cover.plain(Sign::Minus, inner, from);
    cover.plain(Sign::Plus, from, inner);
    for month in first..last {
        if is_stored(month)? {
            cover.month(month);
        } else {
            let (begin, end) = month::days(month);
            cover.parts.push((Sign::Plus, Rows::Days(begin..end)));
        }
    }
    cover.plain(Sign::Plus, outer, until);
    cover.plain(Sign::Minus, until, outer);
    Ok(cover)
}

/// Where a stretch begins or ends: the month, and the hours to both ends of it.
struct Edge {
    month: i64,
    into: i64,
    left: i64,
}

impl Edge {
    fn of(hour: i64) -> Edge {
        let month = month::of_day(day_of(hour).0);
        let next = month.saturating_add(1);
        Edge {
            month,
            into: hour.saturating_sub(hour_of_month(month)),
            left: hour_of_month(next).saturating_sub(hour),
        }
    }

    /// The month that begins at or before it, or the next one.
    fn nearest(&self, is_before: bool) -> i64 {
        self.month.saturating_add(i64::from(!is_before))
    }
}

/// The hour in which a month begins.
fn hour_of_month(number: i64) -> i64 {
    month::first_day(number).saturating_mul(HOURS)
}

impl Cover {
    /// Days, and hours before and behind these; nothing where the stretch ends before it begins.
    fn plain(&mut self, sign: Sign, from: i64, until: i64) {
        if from >= until {
            return;
        }
        let ((first, head), (last, tail)) = (day_of(from), day_of(until));
        if first == last {
            self.parts.push((sign, Rows::Hours(first, head..tail)));
            return;
        }
        let mut day = first;
        if head > 0 {
            self.parts.push((sign, Rows::Hours(first, head..HOURS)));
            day = first.saturating_add(1);
        }
        if day < last {
            self.parts.push((sign, Rows::Days(day..last)));
        }
        if tail > 0 {
            self.parts.push((sign, Rows::Hours(last, 0..tail)));
        }
    }

    /// The same, where most hours of a day with a block are all of them less the others.
    fn without_long_hours<E>(
        self,
        mut is_stored: impl FnMut(i64) -> Result<bool, E>,
    ) -> Result<Cover, E> {
        let mut cover = Cover {
            parts: Vec::with_capacity(self.parts.len()),
            begins: self.begins,
        };
        for (n, (sign, rows)) in self.parts.into_iter().enumerate() {
            let (day, hours) = match rows {
                Rows::Hours(day, hours)
                    if hours.end.saturating_sub(hours.start) > HOURS / 2 && is_stored(day)? =>
                {
                    (day, hours)
                }
                rows => {
                    cover.parts.push((sign, rows));
                    continue;
                }
            };
            if n == 0 && hours.start > 0 {
                cover.begins = false;
            }
            let others = [0..hours.start, hours.end..HOURS];
            let next = day.saturating_add(1);
            cover.parts.push((sign, Rows::Days(day..next)));
            for other in others.into_iter().filter(|other| !other.is_empty()) {
                let sign = sign.turned(true);
                cover.parts.push((sign, Rows::Hours(day, other)));
            }
        }
        Ok(cover)
    }

    fn month(&mut self, month: i64) {
        if let Some((_, Rows::Months(months))) = self.parts.last_mut()
            && months.end == month
        {
            months.end = month.saturating_add(1);
            return;
        }
        let own = month..month.saturating_add(1);
        self.parts.push((Sign::Plus, Rows::Months(own)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Puts together which hours are read how often.
    fn hours(parts: &[(Sign, Rows)]) -> std::collections::BTreeMap<i64, i32> {
        let mut read = std::collections::BTreeMap::new();
        for (sign, rows) in parts {
            let span = match rows {
                Rows::Months(months) => hour_of_month(months.start)..hour_of_month(months.end),
                Rows::Days(days) => days.start * HOURS..days.end * HOURS,
                Rows::Hours(day, hours) => day * HOURS + hours.start..day * HOURS + hours.end,
            };
            for hour in span {
                *read.entry(hour).or_default() += if *sign == Sign::Plus { 1 } else { -1 };
            }
        }
        read.retain(|_, times| *times != 0);
        read
    }

    fn covered(from: i64, until: i64, standing: &[i64]) -> Cover {
        // Of the days, those with an even number.
        let is_stored = |unit: Unit, number: i64| {
            Ok::<_, Infallible>(match unit {
                Unit::Month => standing.contains(&number),
                Unit::Day => number % 2 == 0,
            })
        };
        cover((from, until), is_stored).unwrap()
    }

    /// Every range is read once, with any set of months.
    #[test]
    fn every_hour_counts_once() {
        let base = hour_of_month(649);
        let edges = [
            -745, -744, -2, -1, 0, 1, 25, 400, 695, 696, 697, 1_430, 1_440, 2_200,
        ];
        for standing in [
            &[][..],
            &[649],
            &[648, 649, 650],
            &[648, 650, 651],
            &[649, 650],
        ] {
            for from in edges {
                for until in edges.into_iter().filter(|until| *until > from) {
                    let (from, until) = (base + from, base + until);
                    let cover = covered(from, until, standing);
                    let want = (from..until).map(|hour| (hour, 1)).collect();
                    assert_eq!(hours(&cover.parts), want, "{from} {until} {standing:?}");
                }
            }
        }
    }

    /// A month in a zone an hour east: the hour before, the month, without its last hour.
    #[test]
    fn a_month_of_a_zone_is_its_month_and_two_hours() {
        let (from, until) = (hour_of_month(649) - 1, hour_of_month(650) - 1);
        let cover = covered(from, until, &[649]);
        let (begin, end) = month::days(649);
        let want = vec![
            (Sign::Plus, Rows::Hours(begin - 1, 23..24)),
            (Sign::Plus, Rows::Months(649..650)),
            (Sign::Minus, Rows::Hours(end - 1, 23..24)),
        ];
        assert_eq!((cover.parts, cover.begins), (want, true));
        // An hour west, it begins with a subtracted part.
        let cover = covered(from + 2, until + 2, &[649]);
        let want = vec![
            (Sign::Minus, Rows::Hours(begin, 0..1)),
            (Sign::Plus, Rows::Months(649..650)),
            (Sign::Plus, Rows::Hours(end, 0..1)),
        ];
        assert_eq!((cover.parts, cover.begins), (want, false));
    }
}
