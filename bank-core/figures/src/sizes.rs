//! Quantities of a finished use in the units of its columns.

use bank_core::command::UsageReport;
use bank_core::decimal::Decimal;

/// Truncated to whole units; none if missing or beyond the range of the column.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Thousandths of processors.
    pub millis: Option<i64>,
    /// Nodes.
    pub nodes: Option<i64>,
    /// Graphics processors.
    pub gpus: Option<i64>,
    /// Bytes.
    pub memory: Option<i64>,
    /// Bytes.
    pub disk: Option<i64>,
    /// Wall time, microseconds: the reported time, else from start to end.
    pub wall: Option<i64>,
    /// How long its processors were busy, microseconds.
    pub cpu: Option<i64>,
}

impl Sizes {
    /// Those of a report.
    pub fn of(report: &UsageReport) -> Sizes {
        let (facts, figures) = (&report.request.facts, &report.figures);
        let usage = &facts.usage;
        let gpus = usage.gres.iter().find(|(name, _)| name == "gpu");
        let lasted = || Some(facts.end?.0.saturating_sub(facts.start?.0));
        let whole =
            |number: Option<Decimal>, unit: i64| number.and_then(|number| in_units(number, unit));
        Sizes {
            millis: whole(usage.processors, 1_000),
            nodes: whole(usage.nodes, 1),
            gpus: whole(gpus.map(|(_, number)| *number), 1),
            memory: whole(usage.memory_mb, 1 << 20),
            disk: whole(usage.disk_mb, 1 << 20),
            wall: figures.wall_us.or_else(lasted),
            cpu: whole(figures.cpu_s, 1_000_000),
        }
    }
}

/// A quantity in a smaller unit, truncated; none if it exceeds the range of the column.
fn in_units(number: Decimal, unit: i64) -> Option<i64> {
    let billionths = number.billionths();
    // Where it is short, 64 bits do, and are many times faster.
    let short = i64::try_from(billionths).ok();
    if let Some(units) = short.and_then(|short| short.checked_mul(unit)) {
        return units.checked_div(1_000_000_000);
    }
    let units = billionths.checked_mul(unit.into())?;
    i64::try_from(units.checked_div(1_000_000_000)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_cut_to_their_units() {
        for (number, unit, units) in [
            ("0.0019", 1_000, Some(1)),
            ("-0.0019", 1_000, Some(-1)),
            ("9007199254740993", 1, Some(9_007_199_254_740_993)),
            ("20000000000", 1, Some(20_000_000_000)),
            ("8000000000000", 1 << 20, Some(8_388_608_000_000_000_000)),
            ("9000000000000", 1 << 20, None),
        ] {
            let number = Decimal::parse(number).unwrap();
            assert_eq!(in_units(number, unit), units, "{number} {unit}");
        }
    }
}
