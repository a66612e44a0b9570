//! Instants and half-open windows. The time itself is always handed in.

/// Microseconds since 1970-01-01T00:00:00Z (ledger.md 1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// A duration in whole seconds, at most ten years (nami.md 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub i64);

/// Microseconds in a second.
pub const MICROS: i64 = 1_000_000;

/// Ten years of 365 days in seconds.
pub const TEN_YEARS_S: i64 = 315_360_000;

impl Timestamp {
    /// The end of the range.
    pub const MAX: Timestamp = Timestamp(i64::MAX);

    /// From whole seconds since 1970, held at the ends of the range.
    pub fn from_seconds(seconds: i64) -> Timestamp {
        Timestamp(seconds.saturating_mul(MICROS))
    }

    /// Whole seconds since 1970, rounded down.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(MICROS)
    }

    /// Later by a duration, held at the ends of the range.
    #[must_use]
    pub fn plus(self, duration: Seconds) -> Timestamp {
        Timestamp(self.0.saturating_add(duration.0.saturating_mul(MICROS)))
    }

    /// Earlier by a duration, held at the ends of the range.
    #[must_use]
    pub fn minus(self, duration: Seconds) -> Timestamp {
        Timestamp(self.0.saturating_sub(duration.0.saturating_mul(MICROS)))
    }
}

impl Seconds {
    /// The sum, held at the ends of the range.
    #[must_use]
    pub fn plus(self, other: Seconds) -> Seconds {
        Seconds(self.0.saturating_add(other.0))
    }
}

/// A half-open window `[start, end)`; `None` means unbounded on that side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// First instant inside.
    pub start: Option<Timestamp>,
    /// First instant after it.
    pub end: Option<Timestamp>,
}

impl Window {
    /// The window without bounds.
    pub const ALWAYS: Window = Window {
        start: None,
        end: None,
    };

    /// The window from an instant on; without one, the window without bounds.
    pub fn since(start: Option<Timestamp>) -> Window {
        Window { start, end: None }
    }

    /// Whether an instant is inside.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.start.is_none_or(|s| s <= at) && self.end.is_none_or(|e| at < e)
    }

    /// Whether the start is before the end.
    pub fn is_proper(&self) -> bool {
        match (self.start, self.end) {
            (Some(start), Some(end)) => start < end,
            _ => true,
        }
    }

    /// Whether it is over at an instant.
    pub fn is_over(&self, at: Timestamp) -> bool {
        self.end.is_some_and(|e| e <= at)
    }
}
