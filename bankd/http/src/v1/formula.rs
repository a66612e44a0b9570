//! The price of a job in one line, if it is processors × time × factors (ux.md 2.3): `64 × 39,730 s ÷ 3600
//! × 1.5 (qos high)`.

use std::fmt::Write as _;

use bank_core::price::{Priced, counted, quantity};
use bank_core::rate::{Per, Rate, RateKind, RateValue};

use super::explain;

/// The line, or `None` if the price has other parts, which need a list.
pub(super) fn line(rates: &[Rate], priced: &Priced<'_>) -> Option<String> {
    let mut rates: Vec<&Rate> = counted(priced, rates).collect();
    rates.sort_by_key(|rate| is_factor(rate));
    let (metered, factors) = rates.split_first()?;
    let plain = metered.kind == RateKind::Vbr
        && metered.name.eq_ignore_ascii_case("Processors")
        && factors.iter().all(|rate| is_factor(rate));
    if !plain {
        return None;
    }
    let processors = quantity(metered, priced, priced.usage.rated(&metered.name)?);
    let mut line = format!("{processors} × {} s", grouped(priced.duration.0));
    if metered.per != Per::Second {
        let _ = write!(line, " ÷ {}", metered.per.seconds());
    }
    if metered.value != RateValue(1_000_000_000) {
        let _ = write!(line, " × {}", metered.value);
    }
    for factor in factors {
        let name = explain::short(&factor.name);
        let instance = [" ", &factor.instance].concat();
        let what = [name.as_str(), instance.trim_end()].concat();
        let _ = write!(line, " × {} ({what})", factor.value);
    }
    Some(line)
}

/// Factors by name. A factor by value has a number that the line would need too.
fn is_factor(rate: &Rate) -> bool {
    rate.kind == RateKind::Nbm
}

fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "−" } else { "" });
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::rate;
    use super::*;
    use bank_core::decimal::Decimal;
    use bank_core::price::Named;
    use bank_core::time::{Seconds, Timestamp};
    use bank_core::usage::Usage;

    #[test]
    fn processors_times_time_times_factors() {
        let usage = Usage {
            processors: Some(Decimal::whole(64)),
            qos: Some("high".into()),
            ..Usage::default()
        };
        let priced = Priced {
            usage: &usage,
            duration: Seconds(39_730),
            machine: None,
            machine_name: "",
            named: Named::default(),
            at: Timestamp(0),
            from: Timestamp(0),
        };
        let hours = rate(1, RateKind::Vbr, "Processors", "", "1", Per::Hour);
        let dear = rate(1, RateKind::Vbr, "Processors", "", "0.04", Per::Second);
        let high = rate(
            2,
            RateKind::Nbm,
            "QualityOfService",
            "high",
            "1.5",
            Per::Second,
        );
        let fee = rate(
            3,
            RateKind::Nbf,
            "QualityOfService",
            "high",
            "5",
            Per::Second,
        );
        for (rates, want) in [
            (
                vec![high.clone(), hours.clone()],
                Some("64 × 39,730 s ÷ 3600 × 1.5 (qos high)"),
            ),
            (vec![hours.clone()], Some("64 × 39,730 s ÷ 3600")),
            (vec![dear], Some("64 × 39,730 s × 0.04")),
            (vec![hours, fee], None),
            (vec![high], None),
            (vec![], None),
        ] {
            assert_eq!(line(&rates, &priced).as_deref(), want);
        }
    }
}
