//! The size of charts and pages, and the failure of those that exceed it.

use std::fmt;

use crate::figure;

/// Marks on one axis at most: spans of time, bars, points.
pub const POINTS_MAX: usize = 400;
/// Values of one chart at most, drawn or not: its names times its spans of time.
pub(crate) const VALUES_MAX: usize = 100_000;
/// Bytes of a page at most: a browser should open it, and a mail carry it.
pub(crate) const PAGE_MAX: usize = 16 << 20;

/// A chart or a page exceeds its maximum size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooLarge {
    /// A chart: the number of its names and of its spans of time.
    Chart {
        /// Names.
        names: usize,
        /// Spans of time.
        spans: usize,
    },
    /// A page: its length so far.
    Page {
        /// Bytes.
        bytes: usize,
    },
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |count: usize| figure::grouped(&count.to_string());
        match self {
            Self::Chart { names, spans } => write!(
                f,
                "too many values for a picture: {} names in {} time intervals are {} values; the limit is {}",
                shown(*names),
                shown(*spans),
                shown(names.saturating_mul(*spans)),
                shown(VALUES_MAX)
            ),
            Self::Page { bytes } => write!(
                f,
                "the page is too large: it would have more than {} MiB; the limit is {} MiB",
                bytes >> 20,
                PAGE_MAX >> 20
            ),
        }
    }
}

impl std::error::Error for TooLarge {}
