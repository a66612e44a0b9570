//! Priorities of groups from their usage (reports.md 6, auditor-ecosystem.md 5): exact for numbers of any
//! size, and rounded once, half away from zero.

use crate::natural::Natural;
use bank_core::decimal::Decimal;
use bank_core::time::{Seconds, Timestamp, Window};
use std::collections::BTreeMap;

/// The method that converts resources to priorities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// By the share of the sum: nothing used gives the lowest, everything the highest.
    #[default]
    ScaledBySum,
    /// From the least used to the most used over the whole range.
    FullSpread,
}

/// Every mode with its word.
pub const MODES: [(Mode, &str); 2] = [
    (Mode::ScaledBySum, "scaled-by-sum"),
    (Mode::FullSpread, "full-spread"),
];

impl Mode {
    /// Its word.
    pub fn word(self) -> &'static str {
        let own = MODES.iter().find(|(mode, _)| *mode == self);
        own.map_or("scaled-by-sum", |(_, word)| word)
    }

    /// From its word; the words of the AUDITOR plug-in count too.
    pub fn parse(word: &str) -> Option<Mode> {
        let same = |known: &str| {
            let plain = |text: &str| text.replace('-', "").to_ascii_lowercase();
            plain(known) == plain(word)
        };
        let own = MODES.iter().find(|(_, known)| same(known));
        own.map(|(mode, _)| *mode)
    }
}

/// Which uses count (AUDITOR paper, equations 1 and 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// Equation 2, which the AUDITOR plug-in computes: each finished use that began within the window,
    /// whole.
    #[default]
    Started,
    /// Equation 1: of each use, running ones included, the part within the window.
    Overlap,
}

/// Every basis with its word.
pub const BASES: [(Basis, &str); 2] = [(Basis::Started, "started"), (Basis::Overlap, "overlap")];

bank_core::words!(Basis, BASES, "started");

impl Basis {
    /// The microseconds of a use that count within a window, or none if the use does not count. `ran_us`
    /// is its run time without suspensions; a part of the use has the same part of the run time.
    pub fn counted(self, span: Window, is_over: bool, ran_us: u64, window: Window) -> Option<u64> {
        let begins_inside = span.start.is_some_and(|start| window.contains(start));
        if self == Basis::Started {
            return (is_over && begins_inside).then_some(ran_us);
        }
        let length = |span: Window| {
            let (from, to) = (span.start?, span.end?);
            u64::try_from(to.0.checked_sub(from.0)?).ok()
        };
        let whole = length(span)?;
        if whole == 0 {
            return begins_inside.then_some(ran_us);
        }
        let part = length(Window {
            start: span.start.max(window.start),
            end: span.end.into_iter().chain(window.end).min(),
        })?;
        let counted = u128::from(ran_us)
            .checked_mul(u128::from(part))?
            .checked_div(u128::from(whole))?;
        u64::try_from(counted).ok().filter(|_| part > 0)
    }
}

/// The range of priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The lowest.
    pub min: i64,
    /// The highest.
    pub max: i64,
}

impl Default for Range {
    /// As the AUDITOR plug-in has it.
    fn default() -> Self {
        Range { min: 0, max: 1024 }
    }
}

/// The priority of each resource, in their order; all resources are in the same unit. Where all are
/// zero, or in `FullSpread` equal, everybody has the lowest. None where the highest is below the lowest.
pub fn priorities(resources: &[Natural], mode: Mode, range: Range) -> Option<Vec<i64>> {
    let width = Natural::from(u128::from(range.max.abs_diff(range.min)));
    if range.max < range.min {
        return None;
    }
    let (low, whole) = match mode {
        Mode::ScaledBySum => {
            let sum = resources.iter().fold(Natural::ZERO, |sum, v| sum.plus(v));
            (Natural::ZERO, sum)
        }
        Mode::FullSpread => {
            let low = resources.iter().min().cloned().unwrap_or_default();
            let high = resources.iter().max().cloned().unwrap_or_default();
            let whole = high.minus(&low).unwrap_or_default();
            (low, whole)
        }
    };
    let of = |resource: &Natural| {
        if whole.is_zero() {
            return Some(range.min);
        }
        raised(&resource.minus(&low)?.times(&width), &whole, range.min)
    };
    resources.iter().map(of).collect()
}

/// A fraction on top of the lowest priority, rounded half away from zero.
fn raised(over: &Natural, under: &Natural, min: i64) -> Option<i64> {
    let base = Natural::from(u128::from(min.unsigned_abs())).times(under);
    if min >= 0 {
        let number = over.plus(&base).nearest(under)?.as_u128()?;
        return i64::try_from(number).ok();
    }
    // Away from zero is down where the sum is below it.
    if let Some(below) = base.minus(over) {
        let number = i128::try_from(below.nearest(under)?.as_u128()?).ok()?;
        return i64::try_from(number.checked_neg()?).ok();
    }
    let number = over.minus(&base)?.nearest(under)?.as_u128()?;
    i64::try_from(number).ok()
}

/// Which components count, and how much.
pub type Scores = Vec<(String, Decimal)>;

/// One record as the formula sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The microseconds that count ([`Basis::counted`]); none if the use does not count.
    pub ran_us: Option<u64>,
    /// The used amounts, by component.
    pub amounts: &'a [(&'a str, Decimal)],
}

/// Resources of groups, all in the same unit.
#[derive(Clone, Debug)]
pub struct Resources {
    scores: Scores,
    groups: BTreeMap<String, Natural>,
    /// Whether groups outside of the requested ones count.
    open: bool,
}

impl Resources {
    /// Of these groups only; of all that have records where none is named.
    pub fn new(scores: Scores, groups: &[String]) -> Resources {
        Resources {
            scores,
            open: groups.is_empty(),
            groups: groups.iter().map(|g| (g.clone(), Natural::ZERO)).collect(),
        }
    }

    /// Adds the usage of a record of a group: its time, times the amount and the score of each counted
    /// component in the record. Returns whether it counted. It does not without a run time, without any of
    /// the components, or for a group that was not requested.
    pub fn add(&mut self, group: &str, record: &Record<'_>) -> bool {
        let Some(ran) = record.ran_us else {
            return false;
        };
        if !self.open && !self.groups.contains_key(group) {
            return false;
        }
        let amount = |name: &str| record.amounts.iter().find(|(known, _)| *known == name);
        let mut product = Natural::from(u128::from(ran));
        let mut met = self.scores.is_empty();
        let billion = Natural::from(BILLION);
        for (name, score) in &self.scores {
            // One without the component is as long by it as by a factor of one, in the same unit.
            let factors = match amount(name) {
                Some((_, amount)) => {
                    met = true;
                    size(*amount).times(&size(*score))
                }
                None => billion.times(&billion),
            };
            product = product.times(&factors);
        }
        if !met {
            return false;
        }
        let sum = self.groups.entry(group.to_owned()).or_default();
        *sum = sum.plus(&product);
        true
    }

    /// The groups by name with their resources.
    pub fn groups(&self) -> &BTreeMap<String, Natural> {
        &self.groups
    }

    /// The value of one second with factors of one: the divisor to show [`groups`](Resources::groups).
    pub fn unit(&self) -> Natural {
        let each = Natural::from(BILLION).times(&BILLION.into());
        let second = Natural::from(1_000_000);
        self.scores.iter().fold(second, |unit, _| unit.times(&each))
    }
}

const BILLION: u128 = 1_000_000_000;

/// A quantity in billionths; what is below zero counts as nothing.
fn size(value: Decimal) -> Natural {
    u128::try_from(value.billionths()).unwrap_or(0).into()
}

/// The start of the window of a duration up to now. (The plug-in's description selects by *finish*, its
/// program by start, as [`Basis::Started`] does.)
pub fn since(now: Timestamp, duration: Option<Seconds>) -> Option<Timestamp> {
    duration.map(|duration| now.minus(duration))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(resources: &[u128], mode: Mode, min: i64, max: i64) -> Vec<i64> {
        let resources: Vec<Natural> = resources.iter().map(|v| (*v).into()).collect();
        priorities(&resources, mode, Range { min, max }).unwrap()
    }

    /// Resources, and what both modes make of them (data/reports/priority.json).
    #[test]
    fn priorities_are_those_of_the_vectors() {
        let big = 9_007_199_254_740_992;
        let cases: [(&[u128], &[i64], &[i64]); 11] = [
            (&[100, 300, 600], &[6534, 19601, 39201], &[1, 26135, 65335]),
            (&[0, 1, 2], &[1, 21779, 43557], &[1, 32668, 65335]),
            (&[1, 3], &[16335, 49002], &[1, 65335]),
            (&[0, 1, 4], &[1, 13068, 52268], &[1, 16335, 65335]),
            (&[5, 5, 10], &[16335, 16335, 32668], &[1, 1, 65335]),
            (&[7, 7], &[32668, 32668], &[1, 1]),
            (&[0, 0], &[1, 1], &[1, 1]),
            (&[3], &[65335], &[1]),
            (&[big + 1, big], &[32668, 32668], &[65335, 1]),
            (&[10, 20, 5], &[18668, 37335, 9334], &[21779, 65335, 1]),
            (
                &[302_400, 352_800, 0],
                &[30155, 35181, 1],
                &[56002, 65335, 1],
            ),
        ];
        for (resources, by_sum, spread) in cases {
            assert_eq!(of(resources, Mode::ScaledBySum, 1, 65335), by_sum);
            assert_eq!(of(resources, Mode::FullSpread, 1, 65335), spread);
        }
        assert_eq!(of(&[1, 2, 4], Mode::ScaledBySum, 0, 1024), [146, 293, 585]);
        assert_eq!(of(&[1, 2, 4], Mode::FullSpread, 0, 1024), [0, 341, 1024]);
        assert_eq!(
            priorities(&[], Mode::FullSpread, Range::default()),
            Some(vec![])
        );
        let upside_down = Range { min: 1, max: 0 };
        assert_eq!(priorities(&[], Mode::FullSpread, upside_down), None);
    }

    #[test]
    fn below_zero_a_half_goes_down() {
        // -2 + 1/2 of 1: -1.5; -1 + 1/2: -0.5.
        assert_eq!(of(&[1, 1], Mode::ScaledBySum, -2, -1), [-2, -2]);
        assert_eq!(of(&[1, 1], Mode::ScaledBySum, -1, 0), [-1, -1]);
        assert_eq!(of(&[1, 3], Mode::ScaledBySum, -2, 4), [-1, 3]);
        let (min, max) = (i64::MIN, i64::MAX);
        assert_eq!(of(&[0, 7], Mode::FullSpread, min, max), [min, max]);
    }

    #[test]
    fn a_record_counts_by_the_product_of_its_components() {
        let number = |text| Decimal::parse(text).unwrap();
        let scores = vec![
            ("cores".into(), number("10.5")),
            ("gpus".into(), number("2")),
        ];
        let groups = ["amy".to_owned(), "bob".to_owned()];
        let mut resources = Resources::new(scores, &groups);
        let mut add = |group: &str, ran_us, amounts: &[(&str, Decimal)]| {
            let record = Record { ran_us, amounts };
            resources.add(group, &record)
        };
        let hour = Some(3_600_000_000);
        assert!(add("amy", hour, &[("cores", number("8"))]));
        let both = [
            ("cores", number("1")),
            ("gpus", number("3")),
            ("rain", number("9")),
        ];
        assert!(add("bob", hour, &both));
        assert!(
            !add("amy", hour, &[("rain", number("8"))]),
            "none that counts"
        );
        assert!(!add("amy", None, &both), "it goes on");
        assert!(!add("erin", hour, &both), "nobody asked for them");
        let shown: Vec<Option<u128>> = resources
            .groups()
            .values()
            .map(|v| {
                v.divided(&resources.unit())
                    .and_then(|(whole, rest)| rest.is_zero().then_some(whole)?.as_u128())
            })
            .collect();
        assert_eq!(shown, [Some(302_400), Some(226_800)]);
    }

    /// Windows and uses in hours: a use from 1 to 5 that ran for 2 of its 4 hours.
    #[test]
    fn a_use_counts_whole_or_by_its_part_in_the_window() {
        const HOUR: u64 = 3_600_000_000;
        let window = |from: Option<i64>, to: Option<i64>| {
            let at = |hour: i64| Timestamp(hour * 3_600_000_000);
            Window {
                start: from.map(at),
                end: to.map(at),
            }
        };
        let span = window(Some(1), Some(5));
        for (from, is_over, started, overlap) in [
            (None, true, Some(2 * HOUR), Some(2 * HOUR)),
            (Some(0), true, Some(2 * HOUR), Some(2 * HOUR)),
            (Some(1), false, None, Some(2 * HOUR)),
            (Some(2), true, None, Some(3 * HOUR / 2)),
            (Some(4), false, None, Some(HOUR / 2)),
            (Some(5), true, None, None),
        ] {
            let counted = |basis: Basis| basis.counted(span, is_over, 2 * HOUR, window(from, None));
            assert_eq!(counted(Basis::Started), started, "{from:?}");
            assert_eq!(counted(Basis::Overlap), overlap, "{from:?}");
        }
        let moment = window(Some(3), Some(3));
        let all = Basis::Overlap.counted(moment, true, HOUR, window(Some(2), None));
        assert_eq!(
            all,
            Some(HOUR),
            "a use without a length counts where it began"
        );
    }

    proptest! {
        #[test]
        fn more_use_is_never_a_lower_number(
            mut resources in prop::collection::vec(0..u128::MAX, 1..9),
            min in -70_000..70_000_i64, width in 0..70_000_i64, spread in any::<bool>(),
        ) {
            resources.sort_unstable();
            let mode = if spread { Mode::FullSpread } else { Mode::ScaledBySum };
            let got = of(&resources, mode, min, min + width);
            prop_assert!(got.is_sorted(), "{:?}", got);
            prop_assert!(got.iter().all(|p| (min..=min + width).contains(p)));
            let scaled: Vec<u128> = resources.iter().map(|v| v / 1_000).collect();
            let larger: Vec<u128> = scaled.iter().map(|v| v * 1_000).collect();
            prop_assert_eq!(of(&scaled, mode, min, min + width), of(&larger, mode, min, min + width));
        }
    }
}
