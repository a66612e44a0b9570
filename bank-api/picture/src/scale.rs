//! The axis of values: where a number stands on it, and round numbers to mark it with.

use super::number::Number;
use crate::figure;

/// How many steps an axis has at most, of those above zero or below it.
const STEPS: i128 = 5;
/// From here on whole units are told in millions and more.
const LARGE: i128 = 10_000_000;

/// An axis from a round number to a round number; zero lies always on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scale {
    lo: i128,
    hi: i128,
    step: i128,
    decimals: u32,
    exponent: u32,
}

impl Scale {
    /// The axis for these numbers; where all are zero, or there are none, it goes from 0 to 1.
    pub(super) fn of(numbers: impl IntoIterator<Item = Number>) -> Self {
        let numbers: Vec<Number> = numbers.into_iter().collect();
        let decimals = numbers.iter().map(|n| n.decimals()).max().unwrap_or(0);
        let minor = || numbers.iter().map(|n| n.minor(decimals));
        let lo = minor().min().unwrap_or(0).min(0);
        let mut hi = minor().max().unwrap_or(0).max(0);
        if lo == hi {
            hi = 10_i128.pow(decimals);
        }
        let step = round_step(hi - lo);
        let (lo, hi) = (lo.div_euclid(step) * step, -(-hi).div_euclid(step) * step);
        let whole = lo.abs().max(hi) / 10_i128.pow(decimals);
        let exponent = if whole < LARGE {
            0
        } else {
            whole.checked_ilog10().unwrap_or(0) / 3 * 3
        };
        Self {
            lo,
            hi,
            step,
            decimals,
            exponent,
        }
    }

    /// How far from the lower end a number stands on an axis of this length.
    pub(super) fn at(&self, number: Number, length: i64) -> i64 {
        self.place(number.minor(self.decimals), length)
    }

    /// Where zero stands.
    pub(super) fn zero(&self, length: i64) -> i64 {
        self.place(0, length)
    }

    fn place(&self, minor: i128, length: i64) -> i64 {
        // A chart is some million thousandths of a pixel: so many digits are enough, and fit.
        let grain = ((self.hi - self.lo) / 10_i128.pow(15)).max(1);
        let range = ((self.hi - self.lo) / grain).max(1);
        let at = (minor.clamp(self.lo, self.hi) - self.lo) / grain;
        i64::try_from(at * i128::from(length) / range).unwrap_or(length)
    }

    /// The marks from the lowest to the highest: how far each stands, and what is written there.
    pub(super) fn ticks(&self, length: i64) -> Vec<(i64, String)> {
        let mut ticks = Vec::new();
        let mut at = self.lo;
        while at <= self.hi {
            ticks.push((self.place(at, length), self.label(at)));
            at += self.step;
        }
        ticks
    }

    /// What the marks count, with the power of ten that they leave out.
    pub(super) fn unit(&self, unit: &str) -> String {
        let power = match self.exponent {
            0 => return unit.to_owned(),
            6 => "million".to_owned(),
            n => format!("10{}", superscript(n)),
        };
        format!("{power} {unit}").trim_end().to_owned()
    }

    fn label(&self, minor: i128) -> String {
        let decimals = usize::try_from(self.decimals + self.exponent).unwrap_or(0);
        let text = figure::grouped(&figure::plain(minor, decimals));
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    }
}

/// The smallest of 1, 2, 5, 10, 20, … that needs no more than the steps.
fn round_step(range: i128) -> i128 {
    let least = (range + STEPS - 1) / STEPS;
    let mut power = 1_i128;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if step >= least || step == i128::MAX {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

fn superscript(number: u32) -> String {
    let raised = |c: char| match c {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    number.to_string().chars().map(raised).collect()
}
