//! Quantities of a finished use in the units of its columns.

use bank_core::command::UsageReport;
use bank_core::decimal::Decimal;
use bank_core::usage::kept;

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
            memory: usage.memory_mb.and_then(bytes),
            disk: usage.disk_mb.and_then(bytes),
            wall: figures.wall_us.or_else(lasted),
            cpu: whole(figures.cpu_s, 1_000_000),
        }
    }
}

/// Processors × wall time, in microseconds: by thousandths of processors, cut, or by the processors with all their
/// places among the kept facts ([`kept::PROCESSORS`]), rounded.
pub fn processor_time(millis: Option<i64>, more: &str, wall: i64) -> i128 {
    let wall = i128::from(wall.max(0));
    if let Some(exact) = exact(more).and_then(|exact| exact.over(wall)) {
        return exact;
    }
    let millis = i128::from(millis.unwrap_or(0).max(0));
    millis
        .saturating_mul(wall)
        .checked_div(1000)
        .unwrap_or(i128::MAX)
}

/// Processors in millionths, cut, as [`processor_time`] finds them; none if nothing states them.
pub fn processors(millis: Option<i64>, more: &str) -> Option<i128> {
    let exact = exact(more).and_then(|exact| exact.millionths());
    exact.or_else(|| Some(i128::from(millis?.max(0)).saturating_mul(1000)))
}

/// 10^18: what the part behind the point counts.
const PARTS: i128 = 1_000_000_000_000_000_000;

/// Processors with up to 18 places.
struct Exact {
    whole: i128,
    part: i128,
}

/// The processors of kept facts; they are first.
fn exact(more: &str) -> Option<Exact> {
    let stated = more.strip_prefix(kept::PROCESSORS)?.strip_prefix('=')?;
    let stated = stated.lines().next()?;
    let (whole, places) = stated.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if places.is_empty() || places.len() > 18 || !digits(places) || !digits(whole) {
        return None;
    }
    Some(Exact {
        whole: i128::from(whole.parse::<i64>().ok()?),
        part: format!("{places:0<18}").parse().ok()?,
    })
}

impl Exact {
    fn millionths(&self) -> Option<i128> {
        let part = self.part.checked_div(PARTS / 1_000_000)?;
        self.whole.checked_mul(1_000_000)?.checked_add(part)
    }

    /// They times a number below 10^19, rounded half up.
    fn over(&self, number: i128) -> Option<i128> {
        let part = self.part.checked_mul(number)?.checked_add(PARTS / 2)?;
        let part = part.checked_div(PARTS)?;
        self.whole.checked_mul(number)?.checked_add(part)
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

/// Bytes in a number of megabytes. Its nine places were cut, so the nearest whole number is the stated one.
fn bytes(megabytes: Decimal) -> Option<i64> {
    let billionths = i64::try_from(megabytes.billionths()).ok();
    let nearest = |scaled: i64| scaled.checked_add(500_000_000);
    if let Some(scaled) = billionths
        .and_then(|short| short.checked_mul(1 << 20))
        .and_then(nearest)
    {
        return scaled.checked_div(1_000_000_000);
    }
    let scaled = megabytes.billionths().checked_mul(1 << 20)?;
    let scaled = scaled.checked_add(500_000_000)?;
    i64::try_from(scaled.checked_div(1_000_000_000)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_has_all_places_of_processors() {
        let hour = 3_600_000_000;
        for (millis, more, time) in [
            (Some(2), "", 7_200_000),
            (Some(2), "Processors=0.002176259166666667", 7_834_533),
            (
                Some(2),
                "Processors=0.002176259166666667\nJobName=a",
                7_834_533,
            ),
            (Some(0), "Processors=0.000483091787439613", 1_739_130),
            (Some(1622), "Processors=1.622746185852981969", 5_841_886_269),
            // Only the first fact, and a decimal.
            (Some(2), "JobName=a\nProcessors=0.5", 7_200_000),
            (Some(2), "Processors=x", 7_200_000),
            (Some(2), "Processors=0.-5", 7_200_000),
            (None, "JobName=a", 0),
        ] {
            assert_eq!(processor_time(millis, more, hour), time, "{more}");
        }
        let life = 3_605_000_000;
        let mean = "Processors=1.622746185852981969";
        assert_eq!(processor_time(Some(1622), mean, life), 5_850_000_000);
        assert_eq!(processors(Some(1622), mean), Some(1_622_746));
        assert_eq!(processors(Some(1622), ""), Some(1_622_000));
        assert_eq!(processors(None, ""), None);
    }

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
