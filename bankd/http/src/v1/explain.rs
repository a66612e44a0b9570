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
    together(&mut rates);
    let mut lines = Vec::with_capacity(rates.len());
    let mut behind = 0;
    while let Some(rate) = rates.get(behind).cloned() {
        // Rates of one quantity at different hours have one price.
        let is_same = |other: &&Rate| is_hourly(&rate, other);
        let from = behind;
        let rest = rates.get(from..).unwrap_or_default();
        behind += rest.iter().take_while(is_same).count().max(1);
        let (same, so_far) = (rates.get(from..behind), rates.get(..behind));
        let (same, so_far) = (same.unwrap_or_default(), so_far.unwrap_or_default());
        let Some(exact) = price(priced, so_far) else {
            continue;
        };
        let rounding = directory.policy.rounding;
        let total = exact
            .total()
            .and_then(|total| to_amount(total, bank.precision, rounding));
        let unit = match time_unit(&rate) {
            // Alone it is the price.
            Some(unit) if behind == 1 && rates.len() > 1 => unit.to_owned(),
            _ => bank.unit.clone(),
        };
        lines.push(QuoteLine {
            text: text(same, priced, from == 0),
            amount: total.map(|t| json::amount(t, bank)).unwrap_or_default(),
            unit,
        });
    }
    lines
}

/// Moves metered rates of the same quantity behind the first of them.
fn together(rates: &mut [Rate]) {
    let first: Vec<Rate> = rates.to_vec();
    rates.sort_by_key(|rate| {
        first
            .iter()
            .position(|one| one == rate || is_hourly(one, rate))
    });
}

/// Whether two metered rates are for the same quantity, as those of different hours are.
fn is_hourly(one: &Rate, other: &Rate) -> bool {
    step(one.kind) == 0
        && (one.kind, &one.name, &one.instance) == (other.kind, &other.name, &other.instance)
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

/// The text of a line: of one rate, or of several for different hours.
fn text(same: &[Rate], priced: &Priced<'_>, first: bool) -> String {
    let Some((rate, others)) = same.split_first() else {
        return String::new();
    };
    let value = priced.usage.rated(&rate.name);
    let value = value.map(|v| quantity(rate, priced, v).to_string());
    let value = value.unwrap_or_default();
    let Rate { name, instance, .. } = rate;
    let what = match rate.kind {
        RateKind::Min | RateKind::Max => String::new(),
        RateKind::Vbr | RateKind::Vbu | RateKind::Vbm | RateKind::Vbf => with_word(&value, name),
        RateKind::Mvbr => format!("{} on {instance}", with_word(&value, name)),
        _ if instance.is_empty() => short(name),
        _ => format!("{} {instance}", short(name)),
    };
    let what = match rate.hours() {
        "" => what,
        hours if others.is_empty() => format!("{what} ({hours})"),
        _ => what,
    };
    let number = rate.value.to_string();
    let clock = format_clock(priced.duration.0);
    match step(rate.kind) {
        0 => {
            let sign = if first { "" } else { "+ " };
            if !others.is_empty() {
                let each: Vec<String> = same.iter().map(at_hours).collect();
                return format!("{sign}{what} × {clock} × {}", each.join(", "));
            }
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

/// `0.5 per hour (22:00-06:00)`
fn at_hours(rate: &Rate) -> String {
    let each = format!("{} per {}", rate.value, rate.per.word());
    match rate.hours() {
        "" => each,
        hours => format!("{each} ({hours})"),
    }
}

/// `64 procs`, `1 proc`: a quantity of a property.
fn with_word(value: &str, name: &str) -> String {
    let word = short(name);
    let word = match word.strip_suffix("procs") {
        Some("") if value == "1" => "proc",
        _ => &word,
    };
    format!("{value} {word}")
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

    /// The lines of twelve hours.
    fn shown(directory: &Directory, usage: &Usage) -> Vec<String> {
        let priced = Priced {
            usage,
            duration: Seconds(43_200),
            machine: None,
            machine_name: "",
            at: Timestamp(0),
            from: Timestamp(0),
            named: bank_core::price::Named::default(),
        };
        let lines = lines(directory, &priced);
        lines
            .iter()
            .map(|l| format!("{} = {} {}", l.text, l.amount, l.unit))
            .collect()
    }

    /// A rate in force at some hours replaces the other one there: one line has the price of both.
    #[test]
    fn rates_of_hours_are_one_line() {
        let mut directory = Directory::clone(&directory());
        directory.rates.clear();
        let mut night = rate(2, RateKind::Vbr, "Processors", "", "0.5", Per::Hour);
        let utc = |_: &str| Some(bank_core::calendar::Zone::default());
        night.when = Some(
            bank_core::calendar::Calendar::read("00:00-06:00 UTC", utc)
                .unwrap()
                .into(),
        );
        directory.put_rate(rate(1, RateKind::Vbr, "Processors", "", "1", Per::Hour));
        directory.put_rate(rate(3, RateKind::Vbr, "Nodes", "", "1", Per::Hour));
        directory.put_rate(night);
        let usage = Usage {
            processors: Some(Decimal::whole(10)),
            nodes: Some(Decimal::whole(1)),
            ..Usage::default()
        };
        assert_eq!(
            shown(&directory, &usage),
            [
                "10 procs × 12:00:00 × 1 per hour, 0.5 per hour (00:00-06:00 UTC) = 90.000 SU",
                "+ 1 nodes × 12:00:00 per hour = 102.000 SU",
            ]
        );
    }

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
        assert_eq!(
            shown(&directory, &usage),
            [
                "64 procs × 12:00:00 = 768.000 core-hours",
                "× qos high 1.5 = 1152.000 SU",
                "+ fee class big 5 = 1157.000 SU",
            ]
        );
    }
}
