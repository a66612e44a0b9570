//! Reports from rollups: whole UTC months and days from their blocks, the rest of a bucket from
//! hours, and partial hours from the records of that time.
//!
//! If only the largest are asked for, the first pass adds up the measure that ranks them, and the second one all
//! measures of these, and of the others together.
//!
//! A job that runs over several days is one job in each of them. In a bucket it is counted once: those
//! that ran in its first hour, day or month, and those that began later.

use super::super::super::Error;
use super::edges::{self, Piece};
use super::keys::{Keys, keys};
use super::reader::Reader;
use super::summing::{Slots, Span, Summing};
use super::{Answer, ReportRequest, Top};
use bank_core::time::Timestamp;
use bank_core_figures::rollup::{DAY, HOUR, HOURS, Measure, hour_of};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// Answers from rollups, and from records for buckets that begin or end within an hour. It runs
/// several queries: use one snapshot if another connection may write.
///
/// # Errors
/// If the store cannot be read.
pub fn from_rollups(connection: &Connection, request: &ReportRequest<'_>) -> Result<Answer, Error> {
    let keys = keys(connection, request)?;
    let (spans, pieces) = parts(request);
    let mut edges = Answer::default();
    edges::add(connection, request, &pieces, &mut edges)?;
    let mut reader = Reader::new(connection);
    let kept = match request.top {
        Some(top) => Some(largest(&mut reader, &keys, &spans, (&edges, top))?),
        None => None,
    };
    let slots = Slots::new(&keys, kept.as_ref());
    let mut answer = Answer {
        from_rollups: true,
        ..Answer::default()
    };
    for span in &spans {
        let mut summing = Summing::new(&keys, &slots, request.users);
        summing.span(&mut reader, span, &|_| true)?;
        for (values, figures) in slots.values.iter().zip(summing.end()) {
            if let Some(figures) = figures {
                answer.at(span.bucket, *values).add(&figures);
            }
        }
    }
    for ((bucket, values), figures) in &edges.rows {
        let is_kept = kept.as_ref().is_none_or(|kept| kept.contains(values));
        answer.at(*bucket, is_kept.then_some(values)).add(figures);
    }
    Ok(answer.trimmed())
}

/// The full hours of each bucket, and the rest of them.
fn parts(request: &ReportRequest<'_>) -> (Vec<Span>, Vec<Piece>) {
    let (mut spans, mut pieces) = (Vec::new(), Vec::new());
    for (bucket, (from, until)) in request.grid.buckets().enumerate() {
        let first = hour_of(from.0.saturating_add(HOUR).saturating_sub(1));
        let last = hour_of(until.0);
        let at = |hour: i64| Timestamp(hour.saturating_mul(HOUR));
        if first >= last {
            pieces.push(Piece::new(bucket, from, until, true));
            continue;
        }
        let is_first = from >= at(first);
        if !is_first {
            pieces.push(Piece::new(bucket, from, at(first), true));
        }
        spans.push(Span {
            bucket,
            first,
            last,
            is_first,
        });
        if at(last) < until {
            pieces.push(Piece::new(bucket, at(last), until, false));
        }
    }
    (spans, pieces)
}

/// The values with the largest sums over all buckets.
fn largest(
    reader: &mut Reader<'_>,
    keys: &Keys,
    spans: &[Span],
    (edges, top): (&Answer, Top),
) -> Result<BTreeSet<Vec<String>>, Error> {
    let slots = Slots::new(keys, None);
    let mut summing = Summing::new(keys, &slots, false);
    let ranks = top.measure.place();
    // Of jobs that ran, those that began count too.
    let started = (top.measure == Measure::Running).then_some(Measure::Started.place());
    for span in spans {
        summing.span(reader, span, &|place| {
            place == ranks || Some(place) == started
        })?;
    }
    let of = keys.values.iter().zip(&summing.of);
    let of = of.map(|(values, sums)| (values, sums.get(top.measure)));
    let mut sizes: BTreeMap<&Vec<String>, i128> = of.filter(|(_, size)| *size != 0).collect();
    for ((_, values), figures) in &edges.rows {
        let size = sizes.entry(values).or_default();
        *size = size.saturating_add(figures.sums.get(top.measure));
    }
    if sizes.values().filter(|size| **size > 0).count() < top.most {
        // Those that have other figures only are next.
        for values in present(reader, keys, spans)? {
            sizes.entry(values).or_default();
        }
    }
    Ok(top.of(sizes))
}

/// The values that have any figure in any bucket.
fn present<'k>(
    reader: &mut Reader<'_>,
    keys: &'k Keys,
    spans: &[Span],
) -> Result<BTreeSet<&'k Vec<String>>, Error> {
    let slots = Slots::new(keys, None);
    let mut found = BTreeSet::new();
    for span in spans {
        let mut summing = Summing::new(keys, &slots, false);
        summing.span(reader, span, &|_| true)?;
        let of = keys.values.iter().zip(&summing.of);
        found.extend(
            of.filter(|(_, sums)| !sums.is_zero())
                .map(|(values, _)| values),
        );
    }
    Ok(found)
}

/// An hour is a whole part of a day.
const _: () = assert!(DAY == HOUR * HOURS, "a day has whole hours");
