//! Parts of buckets outside full hours: read from the records of these pieces only.

use super::super::super::Error;
use super::super::super::rollup::{Counted, Within, each_within};
use super::records::{Job, owner};
use super::{Active, Answer, ReportRequest};
use bank_core::time::Timestamp;
use bank_core_figures::rollup::{DAY, Sign, Sums};
use rusqlite::Connection;

/// A piece of a bucket within an hour, or shorter than a full hour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    bucket: usize,
    from: Timestamp,
    until: Timestamp,
    /// The bucket begins with it: jobs that run count, not only those that begin.
    is_first: bool,
}

impl Piece {
    pub(super) fn new(bucket: usize, from: Timestamp, until: Timestamp, is_first: bool) -> Piece {
        Piece {
            bucket,
            from,
            until,
            is_first,
        }
    }
}

/// Adds the usage of pieces. Pieces are in order; adjacent ones are read together.
pub(super) fn add(
    connection: &Connection,
    request: &ReportRequest<'_>,
    pieces: &[Piece],
    answer: &mut Answer,
) -> Result<(), Error> {
    let mut active = Active::default();
    let is_near = |a: &Piece, b: &Piece| b.from.0.saturating_sub(a.until.0) < 7 * DAY;
    for run in pieces.chunk_by(is_near) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            continue;
        };
        let within = Within {
            since: first.from,
            until: last.until,
        };
        each_within(connection, within, &mut |key, source, counted| {
            // Most rows touch no piece.
            let (start, end) = match &counted {
                Counted::Sums(whole, _) => (whole.start(), whole.end()),
                Counted::Job(job) => (job.first(), Timestamp(job.end.0.saturating_add(1))),
            };
            let own = touched(run, start, end);
            if own.is_empty() {
                return Ok(());
            }
            let about = Job::of(source).about();
            let Some((values, user)) = (request.place)(&owner(key), Some(&about)) else {
                return Ok(());
            };
            for piece in own {
                let (sums, sign) = match &counted {
                    Counted::Sums(whole, sign) => (whole.between(piece.from, piece.until), *sign),
                    Counted::Job(job) => (job.between(piece.from, piece.until), Sign::Plus),
                };
                if request.users {
                    active.note((piece.bucket, &values), &user, (&sums, sign));
                }
                put(answer, *piece, &values, (sums, sign));
            }
            Ok(())
        })?;
    }
    active.count_in(answer);
    Ok(())
}

fn put(answer: &mut Answer, piece: Piece, values: &Vec<String>, (sums, sign): (Sums, Sign)) {
    let sums = sums.of_span(piece.is_first);
    let figures = answer.at(piece.bucket, Some(values));
    figures.sums.add(&sums, sign);
}

/// The pieces that a time may touch.
fn touched(pieces: &[Piece], start: Timestamp, end: Timestamp) -> &[Piece] {
    let first = pieces.partition_point(|piece| piece.until <= start);
    let behind = pieces.partition_point(|piece| piece.from < end || piece.from <= start);
    pieces.get(first..behind).unwrap_or_default()
}
