//! The answer: sorted, with rows for buckets without a snapshot. Means are rounded once.

use std::cmp::Reverse;

use bank_api::v1::{SampledFigures, SampledLine, SampledQuery, SampledSource, SampledTable};
use bank_core::time::Timestamp;
use bank_core_figures::natural::Natural;
use bank_core_figures::rollup::grid::{Grid, shown};
use bankd_store::read::report::{Held, Looks, Part, Sampled};

use super::super::json;
use super::super::owner::HIDDEN;
use super::Wanted;

/// Decimal places of means.
const PLACES: u32 = 3;

/// The whole answer.
pub(super) fn table(
    query: &SampledQuery,
    wanted: &Wanted,
    grid: &Grid,
    found: Sampled,
) -> SampledTable {
    let Sampled {
        looks,
        rows,
        buckets,
        total,
    } = found;
    let mut lines: Vec<(usize, SampledLine)> = Vec::new();
    let line = |bucket: usize, values: Option<&Vec<String>>, parts: &[Part]| {
        let key = |(place, word): (usize, &super::Word)| {
            let value = values.and_then(|values| values.get(place));
            let value = value.filter(|value| *value != HIDDEN).cloned();
            (word.text().to_owned(), value)
        };
        let mut edges = grid.edges.iter().skip(bucket);
        let mut edge = || edges.next().copied().map(json::time).unwrap_or_default();
        let label = grid.labels.get(bucket).filter(|label| !label.is_empty());
        let line = SampledLine {
            keys: wanted.by.iter().enumerate().map(key).collect(),
            bucket: label.cloned(),
            bucket_from: edge(),
            bucket_until: edge(),
            figures: figures(parts),
        };
        (bucket, line)
    };
    // Without row keys, each bucket has one row. Buckets without a snapshot always have one.
    for (bucket, parts) in buckets.iter().enumerate() {
        if wanted.by.is_empty() || parts.is_empty() {
            lines.push(line(bucket, None, parts));
        }
    }
    if !wanted.by.is_empty() {
        let mut own: Vec<_> = rows.into_iter().collect();
        own.sort_by_cached_key(|((bucket, values), parts)| {
            (*bucket, Reverse(mean(parts, running)), values.clone())
        });
        let own = own.iter();
        lines.extend(own.map(|((bucket, values), parts)| line(*bucket, Some(values), parts)));
    }
    lines.sort_by_key(|(bucket, _)| *bucket);
    let edge = |edge: Option<&Timestamp>| edge.copied().map(json::time).unwrap_or_default();
    let seen = |edge: Option<&Timestamp>| edge.map(|at| shown(*at, &wanted.zone));
    SampledTable {
        from: edge(grid.edges.first()),
        until: edge(grid.edges.last()),
        shown_from: seen(grid.edges.first()).unwrap_or_default(),
        shown_until: seen(grid.edges.last()).unwrap_or_default(),
        tz: query.tz.clone().unwrap_or_else(|| "UTC".to_owned()),
        every: wanted.every.word().to_owned(),
        by: wanted
            .by
            .iter()
            .map(|word| word.text().to_owned())
            .collect(),
        from_what: "snapshots".to_owned(),
        sources: looks.iter().map(source).collect(),
        rows: lines.into_iter().map(|(_, line)| line).collect(),
        total: figures(&total),
    }
}

fn source(looks: &Looks) -> SampledSource {
    let time = |at: Option<Timestamp>| at.map(json::time);
    let gap = looks.gap;
    SampledSource {
        source: looks.source.clone(),
        snapshots: looks.snapshots,
        first: time(looks.first),
        last: time(looks.last),
        gap_s: gap.map(|(from, until)| until.0.saturating_sub(from.0).div_euclid(1_000_000)),
        gap_from: time(gap.map(|(from, _)| from)),
        gap_until: time(gap.map(|(_, until)| until)),
    }
}

fn figures(parts: &[Part]) -> SampledFigures {
    let most = |of: fn(&Part) -> Held| match parts {
        [only] => Some(of(only).most),
        _ => None,
    };
    let shown = |of| mean(parts, of).map(|thousandths| decimal(&thousandths));
    SampledFigures {
        snapshots: parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(part.snapshots)),
        running_sampled_mean: shown(running),
        running_sampled_max: most(running),
        queued_sampled_mean: shown(queued),
        queued_sampled_max: most(queued),
    }
}

fn running(part: &Part) -> Held {
    part.running
}

fn queued(part: &Part) -> Held {
    part.queued
}

/// The sum of the means of collectors, in thousandths: exact until it is rounded, half away from zero; none
/// without a snapshot.
fn mean(parts: &[Part], of: fn(&Part) -> Held) -> Option<Natural> {
    let (mut over, mut under) = (Natural::ZERO, Natural::from(1));
    for part in parts {
        let count = Natural::from(u128::from(part.snapshots));
        let own = Natural::from(of(part).sum);
        over = over.times(&count).plus(&own.times(&under));
        under = under.times(&count);
    }
    let over = over.times(&Natural::ten_to(PLACES));
    (!parts.is_empty()).then(|| over.nearest(&under)).flatten()
}

fn decimal(thousandths: &Natural) -> String {
    let digits = thousandths.to_string();
    let places = usize::try_from(PLACES).unwrap_or(0);
    let digits = format!("{digits:0>width$}", width = places.saturating_add(1));
    let (whole, part) = digits
        .split_at_checked(digits.len().saturating_sub(places))
        .unwrap_or(("0", "000"));
    format!("{whole}.{part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(snapshots: u64, sum: u128, most: u64) -> Part {
        Part {
            snapshots,
            running: Held { sum, most },
            queued: Held::default(),
        }
    }

    /// By hand: 7 in 3 snapshots; an exact half, and a little less; 1/3 + 1/7 = 10/21 = 0.47619…; 1/6 + 1/6
    /// = 0.333…, where the sum of rounded values would be 0.334.
    #[test]
    fn means_are_added_and_rounded_once() {
        for (parts, text) in [
            (&[part(3, 7, 4)][..], "2.333"),
            (&[part(2000, 1, 1)], "0.001"),
            (&[part(2001, 1, 1)], "0.000"),
            (&[part(3, 1, 1), part(7, 1, 1)], "0.476"),
            (&[part(6, 1, 1), part(6, 1, 1)], "0.333"),
            (&[part(1, 12_345, 12_345)], "12345.000"),
            (&[part(4, 0, 0)], "0.000"),
        ] {
            let shown = figures(parts);
            assert_eq!(shown.running_sampled_mean.as_deref(), Some(text));
            assert_eq!(shown.queued_sampled_mean.as_deref(), Some("0.000"));
        }
    }

    #[test]
    fn what_nobody_looked_at_has_no_figure_and_of_several_there_is_no_most() {
        assert_eq!(figures(&[]), SampledFigures::default());
        let one = figures(&[part(3, 7, 4)]);
        assert_eq!((one.snapshots, one.running_sampled_max), (3, Some(4)));
        let two = figures(&[part(3, 7, 4), part(2, 2, 2)]);
        assert_eq!((two.snapshots, two.running_sampled_max), (5, None));
        assert_eq!(two.running_sampled_mean.as_deref(), Some("3.333"));
    }
}
