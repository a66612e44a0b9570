//! A price as the arithmetic that made it (ledger.md 3.1): `( ( 16 [Processors] * 1
//! [ChargeRate{VBR}{Processors}] ) * 1234 [WallDuration] ) = 19744`.

use super::pieces::{Piece, pieces};
use super::{Priced, price, quantity, winner};
use crate::decimal::Decimal;
use crate::exact::{Fraction, TRILLIONTHS, split};
use crate::rate::{Per, Rate, RateKind};
use crate::time::Timestamp;
use std::fmt::Write as _;

/// The once-only part that a charge shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Once {
    /// All of it: the first charge of an instance, or a quote.
    Whole,
    /// Only what it has grown by, in trillionths: a later charge.
    Growth(i128),
}

/// The arithmetic of a price before rounding and limits; `None` where exact arithmetic ends.
pub fn itemise(priced: &Priced<'_>, rates: &[Rate], once: Once) -> Option<String> {
    let exact = price(priced, rates)?;
    let pieces = pieces(priced, rates);
    let mut terms = Vec::new();
    for (index, piece) in (0_usize..).zip(&pieces) {
        let with_use = index == 0 && once == Once::Whole;
        terms.extend(metered(priced, rates, piece, with_use));
    }
    let total = match once {
        Once::Whole => {
            terms.extend(parts(priced, rates, priced.from, is_fee));
            exact.metered.checked_add(exact.once)?
        }
        Once::Growth(growth) => {
            if growth > 0 {
                terms.push(format!("{} [GrowthOfUsage]", exact_text(growth)));
            }
            exact.metered.checked_add(growth)?
        }
    };
    if terms.is_empty() {
        terms.push("0".to_owned());
    }
    Some(format!("{} = {}", terms.join(" + "), exact_text(total)))
}

/// A sum of trillionths as a decimal number with as many places as it has.
pub fn exact_text(trillionths: i128) -> String {
    let sign = if trillionths < 0 { "-" } else { "" };
    let (whole, part) = split(trillionths.saturating_abs());
    if part == 0 {
        return format!("{sign}{whole}");
    }
    let places = format!("{:013}", part.saturating_add(TRILLIONTHS));
    let places = places.get(1..).unwrap_or_default();
    format!("{sign}{whole}.{}", places.trim_end_matches('0'))
}

/// `( ( Σ resources ) * seconds [WallDuration] + Σ usage ) * Π multipliers` of one piece.
fn metered(priced: &Priced<'_>, rates: &[Rate], piece: &Piece, with_use: bool) -> Option<String> {
    let resources = parts(priced, rates, piece.at, RateKind::is_metered);
    let mut sum = Vec::new();
    if !resources.is_empty() {
        let seconds = Decimal::from_billionths(i128::from(piece.micros).saturating_mul(1000));
        let consumption = priced.usage.consumption();
        let consumption = if consumption == Decimal::whole(1) {
            String::new()
        } else {
            format!(" * {consumption} [ConsumptionRate]")
        };
        sum.push(format!(
            "( {} ){consumption} * {seconds} [WallDuration]",
            resources.join(" + ")
        ));
    }
    if with_use {
        sum.extend(parts(priced, rates, piece.at, is_use));
    }
    if sum.is_empty() {
        return None;
    }
    let mut text = format!("( {} )", sum.join(" + "));
    for factor in parts(priced, rates, piece.at, is_multiplier) {
        text.push_str(" * ");
        text.push_str(&factor);
    }
    Some(text)
}

/// The quantities that the rates of some families count at an instant.
fn parts(
    priced: &Priced<'_>,
    rates: &[Rate],
    at: Timestamp,
    family: impl Fn(RateKind) -> bool,
) -> Vec<String> {
    let own = rates.iter().filter(|rate| family(rate.kind));
    let part = |rate: &Rate| {
        let value = winner(rate, priced, rates, at)?;
        Some(part(rate, quantity(rate, priced, value)))
    };
    own.filter_map(part).collect()
}

fn part(rate: &Rate, value: Fraction) -> String {
    let mut label = format!("ChargeRate{{{}}}{{{}}}", rate.kind.code(), rate.name);
    if !rate.instance.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(label, "{{{}}}", rate.instance);
    }
    let per = match rate.per {
        per if !rate.kind.is_metered() || per == Per::Second => String::new(),
        per => format!(" / {}", per.seconds()),
    };
    let own = format!("{}{per} [{label}]", rate.value);
    if rate.kind.is_name_based() {
        return own;
    }
    format!("{value} [{}] * {own}", rate.name)
}

fn is_use(kind: RateKind) -> bool {
    matches!(kind, RateKind::Vbu | RateKind::Nbu)
}

fn is_multiplier(kind: RateKind) -> bool {
    matches!(kind, RateKind::Vbm | RateKind::Nbm)
}

fn is_fee(kind: RateKind) -> bool {
    matches!(kind, RateKind::Vbf | RateKind::Nbf)
}
