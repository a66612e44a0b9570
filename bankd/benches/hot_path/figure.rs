//! Figures without floating point: millionths in an integer, medians, ratios, and how they are
//! printed.

use std::fmt;
use std::time::Duration;

/// Millionths in one.
const ONE: u128 = 1_000_000;

/// A measured figure, in millionths of its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Figure(u128);

impl Figure {
    /// A whole number.
    pub(crate) fn whole(value: u64) -> Self {
        Self(u128::from(value).saturating_mul(ONE))
    }

    /// So many in a time: how many that is in a second.
    pub(crate) fn per_second(count: u64, time: Duration) -> Self {
        let scaled = u128::from(count)
            .saturating_mul(1_000_000_000)
            .saturating_mul(ONE);
        Self(scaled.checked_div(time.as_nanos()).unwrap_or(0))
    }

    /// Nanoseconds as milliseconds.
    pub(crate) fn ms(nanos: u64) -> Self {
        Self(u128::from(nanos))
    }

    /// Nanoseconds as microseconds.
    pub(crate) fn us(nanos: u64) -> Self {
        Self(u128::from(nanos).saturating_mul(1000))
    }

    /// Both together.
    pub(crate) fn plus(self, other: Figure) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Without its fraction.
    pub(crate) fn floor(self) -> u64 {
        u64::try_from(self.0 / ONE).unwrap_or(u64::MAX)
    }

    /// How much of another one it is.
    pub(crate) fn over(self, other: Figure) -> Self {
        Self(self.0.saturating_mul(ONE).checked_div(other.0).unwrap_or(0))
    }

    /// The rate of two stages, one after the other on one core: `1 / (1/a + 1/b)`.
    pub(crate) fn in_series(self, other: Figure) -> Self {
        let sum = self.0.saturating_add(other.0);
        Self(self.0.saturating_mul(other.0).checked_div(sum).unwrap_or(0))
    }

    /// The time that one of a rate takes, in microseconds.
    pub(crate) fn cost_us(self) -> Self {
        Self(
            ONE.saturating_mul(ONE)
                .saturating_mul(ONE)
                .checked_div(self.0)
                .unwrap_or(0),
        )
    }
}

impl fmt::Display for Figure {
    /// At most six places, or as many as the precision says; trailing zeros are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(6).min(6);
        let cut = 10_u128.pow(u32::try_from(6 - places).unwrap_or(0));
        let half = cut / 2;
        let rounded = (self.0.saturating_add(half) / cut).saturating_mul(cut);
        let (whole, rest) = (rounded / ONE, rounded % ONE);
        let digits = format!("{rest:06}");
        let text = match digits.trim_end_matches('0') {
            "" => whole.to_string(),
            digits => format!("{whole}.{digits}"),
        };
        match f.width() {
            Some(width) => write!(f, "{text:>width$}"),
            None => f.write_str(&text),
        }
    }
}

/// The middle one; of an even number the lower of the two in the middle.
pub(crate) fn median(mut figures: Vec<Figure>) -> Figure {
    figures.sort_unstable();
    let middle = figures.len().saturating_sub(1) / 2;
    figures.get(middle).copied().unwrap_or_default()
}

/// The value below which so many hundredths of the sorted values lie.
pub(crate) fn percentile(sorted: &[u64], hundredths: usize) -> u64 {
    let index = sorted.len().saturating_mul(hundredths) / 100;
    let index = index.min(sorted.len().saturating_sub(1));
    sorted.get(index).copied().unwrap_or(0)
}
