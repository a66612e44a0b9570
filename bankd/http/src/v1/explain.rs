//! The calculation of a price, line by line with the running amount (ux.md 2.3, third sample).
//!
//! It explains and never decides: the amounts are those of `bank_core::price` over the rates up to
//! each line.

use bank_api::text::format_clock;
use bank_api::v1::QuoteLine;
use bank_core::directory::Directory;
use bank_core::exact::to_amount;
use bank_core::price::{Priced, counted, price, quantity};
use bank_core::rate::{Per, Rate, RateKind, RateValue};

use super::json;

/// A rate of one per unit of time.
const ONE: RateValue = RateValue(1_000_000_000);

/// The lines of a price; the last one's amount is the price.
pub(super) fn lines(directory: &Directory, priced: &Priced<'_>) -> Vec<QuoteLine> {
    let bank = &directory.bank;
    let mut rates: Vec<Rate> = counted(priced, directory.rates_at(priced.at))
        .cloned()
        .collect();
    rates.sort_by_key(|rate| step(rate.kind));
    let mut lines = Vec::with_capacity(rates.len());
    let alone = rates.len() == 1;
    for count in 1..=rates.len() {
        let so_far = rates.get(..count).unwrap_or_default();
        let (Some(rate), Some(exact)) = (so_far.last(), price(priced, so_far)) else {
            continue;
        };
        let rounding = directory.policy.rounding;
        let total = exact
            .total()
            .and_then(|total| to_amount(total, bank.precision, rounding));
        let unit = match (count, time_unit(rate)) {
            // Alone it is the price.
            (1, Some(unit)) if !alone => unit.to_owned(),
            _ => bank.unit.clone(),
        };
        lines.push(QuoteLine {
            text: text(rate, priced, count == 1),
            amount: total.map(|t| json::amount(t, bank)).unwrap_or_default(),
            unit,
        });
    }
    lines
}

/// Order of the parts in the formula (ledger.md 3.1).
fn step(kind: RateKind) -> u8 {
    match kind {
        RateKind::Vbr | RateKind::Nbr | RateKind::Mvbr => 0,
        RateKind::Vbu | RateKind::Nbu => 1,
        RateKind::Vbm | RateKind::Nbm => 2,
        RateKind::Vbf | RateKind::Nbf => 3,
        RateKind::Min | RateKind::Max => 4,
    }
}

/// Label of the unit, if one processor costs one for each unit of time.
pub(super) fn time_unit(rate: &Rate) -> Option<&'static str> {
    let plain = rate.kind == RateKind::Vbr && rate.value == ONE;
    if !(plain && rate.name.eq_ignore_ascii_case("Processors")) {
        return None;
    }
    Some(match rate.per {
        Per::Second => "core-seconds",
        Per::Minute => "core-minutes",
        Per::Hour => "core-hours",
        Per::Day => "core-days",
    })
}

fn text(rate: &Rate, priced: &Priced<'_>, first: bool) -> String {
    let value = priced.usage.rated(&rate.name);
    let value = value.map(|v| quantity(rate, priced, v).to_string());
    let value = value.unwrap_or_default();
    let Rate { name, instance, .. } = rate;
    let what = match rate.kind {
        RateKind::Min | RateKind::Max => String::new(),
        RateKind::Vbr | RateKind::Vbu | RateKind::Vbm | RateKind::Vbf => {
            format!("{value} {}", short(name))
        }
        RateKind::Mvbr => format!("{value} {} on {instance}", short(name)),
        _ if instance.is_empty() => short(name),
        _ => format!("{} {instance}", short(name)),
    };
    let what = match rate.hours() {
        "" => what,
        hours => format!("{what} ({hours})"),
    };
    let number = rate.value.to_string();
    let clock = format_clock(priced.duration.0);
    match step(rate.kind) {
        0 => {
            let sign = if first { "" } else { "+ " };
            let rate = match (time_unit(rate), rate.value == ONE) {
                (Some(_), _) => String::new(),
                (None, true) => format!(" per {}", rate.per.word()),
                (None, false) => format!(" × {number} per {}", rate.per.word()),
            };
            format!("{sign}{what} × {clock}{rate}")
        }
        1 if first => format!("{what} × {number}"),
        1 => format!("+ {what} × {number}"),
        2 => format!("× {what} {number}"),
        4 if rate.kind == RateKind::Min => format!("at least {number}"),
        4 => format!("at most {number}"),
        _ => format!("+ fee {what} {number}"),
    }
}

/// The everyday word for a property.
pub(super) fn short(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "processors" => "procs".to_owned(),
        "qualityofservice" => "qos".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{directory, rate};
    use super::*;
    use bank_core::decimal::Decimal;
    use bank_core::time::{Seconds, Timestamp};
    use bank_core::usage::Usage;

    #[test]
    fn each_line_has_the_amount_so_far() {
        let mut directory = Directory::clone(&directory());
        directory.rates.clear();
        for (id, kind, name, instance, value, per) in [
            (1, RateKind::Vbr, "Processors", "", "1", Per::Hour),
            (
                2,
                RateKind::Nbm,
                "QualityOfService",
                "high",
                "1.5",
                Per::Second,
            ),
            (3, RateKind::Nbm, "QualityOfService", "", "1", Per::Second),
            (4, RateKind::Nbf, "Class", "big", "5", Per::Second),
        ] {
            directory.put_rate(rate(id, kind, name, instance, value, per));
        }
        let usage = Usage {
            processors: Some(Decimal::whole(64)),
            qos: Some("high".into()),
            class: Some("big".into()),
            ..Usage::default()
        };
        let priced = Priced {
            usage: &usage,
            duration: Seconds(43_200),
            machine: None,
            machine_name: "",
            at: Timestamp(0),
            from: Timestamp(0),
            named: bank_core::price::Named::default(),
        };
        let lines = lines(&directory, &priced);
        let shown: Vec<String> = lines
            .iter()
            .map(|l| format!("{} = {} {}", l.text, l.amount, l.unit))
            .collect();
        assert_eq!(
            shown,
            [
                "64 procs × 12:00:00 = 768.000 core-hours",
                "× qos high 1.5 = 1152.000 SU",
                "+ fee class big 5 = 1157.000 SU",
            ]
        );
    }
}
