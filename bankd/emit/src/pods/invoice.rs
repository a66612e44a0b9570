//! The invoice: service units × hours of each project and kind in a month, and what they cost.

use std::collections::BTreeMap;

use bank_core::decimal::Decimal;

use super::{Kind, Run, fixed};
use crate::lines::cell;
use crate::text;

/// Microseconds of an hour.
const HOUR: i128 = 3_600_000_000;

/// The hourly rate of a unit of each kind, from a month on until another is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rates(BTreeMap<(Kind, String), Decimal>);

impl Rates {
    /// Reads settings such as `OpenShift CPU=0.013` and `2024-07 OpenShift CPU=0.015`.
    ///
    /// # Errors
    /// The fault of the first invalid setting.
    pub fn read(settings: &[String]) -> Result<Rates, String> {
        let mut rates = Rates::default();
        for setting in settings {
            let bad = || {
                format!(
                    "{setting:?} is not KIND=RATE, or MONTH KIND=RATE such as \
                     2024-07 OpenShift CPU=0.013"
                )
            };
            let (what, rate) = setting.rsplit_once('=').ok_or_else(bad)?;
            let rate = Decimal::parse(rate.trim()).filter(|rate| !rate.is_negative());
            let (month, kind) = if let Some(kind) = Kind::parse(what.trim()) {
                ("", Some(kind))
            } else {
                let (month, kind) = what.trim().split_once(' ').ok_or_else(bad)?;
                (month, Kind::parse(kind.trim()).filter(|_| is_month(month)))
            };
            let (kind, rate) = kind.zip(rate).ok_or_else(bad)?;
            let known = rates.0.insert((kind, month.to_owned()), rate);
            if known.is_some() {
                return Err(format!("{setting:?} sets a rate that is set already"));
            }
        }
        Ok(rates)
    }

    /// The rate of a kind in a month such as `2024-07`; none where nobody set one.
    pub fn of(&self, kind: Kind, month: &str) -> Option<Decimal> {
        let upto = self
            .0
            .range((kind, String::new())..=(kind, month.to_owned()));
        let found = upto.last().map(|(_, rate)| *rate);
        found.or_else(|| kind.is_free().then(Decimal::default))
    }
}

/// `2024-07`
fn is_month(text: &str) -> bool {
    let part = |part: &str, width: usize| {
        let is_number = part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| is_number)
    };
    let (year, month) = text.split_once('-').unwrap_or_default();
    part(year, 4).is_some() && part(month, 2).is_some_and(|month| (1..=12).contains(&month))
}

/// Units × time of one kind, by what is under their fractions: whole units, billionths of cores and
/// parts of memory. Microseconds.
type Times = BTreeMap<i128, i128>;

/// An invoice in the making: of each project in the order of appearance.
#[derive(Debug, Default)]
pub struct Invoice {
    projects: Vec<String>,
    places: BTreeMap<String, usize>,
    sums: BTreeMap<(usize, Kind), Times>,
}

/// The texts of a row beside its figures.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// The leader of the project.
    pub manager: String,
    /// The code of the institution.
    pub code: String,
}

impl Invoice {
    /// The header.
    pub const HEAD: &str = "Invoice Month,Project - Allocation,Project - Allocation ID,Manager (PI),\
                            Invoice Email,Invoice Address,Institution,Institution - Specific Code,\
                            SU Hours (GBhr or SUhr),SU Type,Rate,Cost\n";

    /// Adds a run to a project; false where its figures are beyond what can be counted.
    pub fn add(&mut self, project: &str, run: &Run) -> bool {
        let next = self.projects.len();
        let place = *self.places.entry(project.to_owned()).or_insert(next);
        if place == next {
            self.projects.push(project.to_owned());
        }
        let time = i128::from(run.time());
        let added = run.units().and_then(|units| {
            let more = units.count.over.checked_mul(time)?;
            let sum = self.sums.entry((place, units.kind)).or_default();
            let sum = sum.entry(units.count.under).or_default();
            *sum = sum.checked_add(more)?;
            Some(())
        });
        added.is_some()
    }

    /// The rows of a month: projects in the order of appearance, kinds in theirs, without unused kinds. With
    /// `round_up`, started hours count in full. `about` returns the facts of a project.
    ///
    /// # Errors
    /// The kind of which nobody set a rate; none where a sum is beyond what can be counted.
    pub fn rows(
        &self,
        month: &str,
        rates: &Rates,
        round_up: bool,
        is_safe: bool,
        about: impl Fn(&str) -> Line,
    ) -> Result<Vec<String>, Option<Kind>> {
        let mut rows = Vec::new();
        for ((place, kind), times) in &self.sums {
            let hours = Hours::of(times).ok_or(None)?;
            if hours.is_zero() {
                continue;
            }
            let hours = if round_up { hours.ceiling() } else { hours };
            let rate = rates.of(*kind, month).ok_or(Some(*kind))?;
            let cents = hours.cost(rate).ok_or(None)?;
            let project = self.projects.get(*place).map_or("", String::as_str);
            let line = about(project);
            let cells = [
                month.to_owned(),
                project.to_owned(),
                project.to_owned(),
                line.manager,
                String::new(),
                String::new(),
                String::new(),
                line.code,
                hours.text().ok_or(None)?,
                kind.word().to_owned(),
                text::decimal(rate.billionths(), 9),
                fixed(cents, 2),
            ];
            let cells: Vec<String> = cells.iter().map(|value| cell(value, is_safe)).collect();
            rows.push(cells.join(",") + "\n");
        }
        Ok(rows)
    }
}

/// Hours: whole ones, and a fraction of one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hours {
    whole: i128,
    over: i128,
    under: i128,
}

impl Hours {
    fn of(times: &Times) -> Option<Hours> {
        let mut sum = Hours {
            whole: 0,
            over: 0,
            under: 1,
        };
        for (under, over) in times {
            let under = under.checked_mul(HOUR)?;
            let (whole, rest) = (over.checked_div(under)?, over.checked_rem(under)?);
            sum = sum.plus(whole, lowest(rest, under))?;
        }
        Some(sum)
    }

    fn plus(self, whole: i128, (over, under): (i128, i128)) -> Option<Hours> {
        let shared = divisor(self.under, under);
        let (own, more) = (under.checked_div(shared)?, self.under.checked_div(shared)?);
        let over = self
            .over
            .checked_mul(own)?
            .checked_add(over.checked_mul(more)?)?;
        let under = self.under.checked_mul(own)?;
        let carried = over.checked_div(under)?;
        Some(Hours {
            whole: self.whole.checked_add(whole)?.checked_add(carried)?,
            over: over.checked_rem(under)?,
            under,
        })
    }

    fn is_zero(self) -> bool {
        self.whole == 0 && self.over == 0
    }

    fn ceiling(self) -> Hours {
        Hours {
            whole: self.whole.saturating_add(i128::from(self.over > 0)),
            over: 0,
            under: 1,
        }
    }

    /// With at most four decimals.
    fn text(self) -> Option<String> {
        let part = text::nearest(self.over.checked_mul(10_000)?, self.under);
        let all = self.whole.checked_mul(10_000)?.checked_add(part)?;
        Some(text::decimal(all, 4))
    }

    /// The cost in hundredths, rounded half up once.
    fn cost(self, rate: Decimal) -> Option<i128> {
        let rate = rate.billionths();
        let part = self.over.checked_mul(rate)?;
        let all = self.whole.checked_mul(rate)?;
        // The rest of the part is less than a billionth: it cannot reach a half by itself.
        Some(text::nearest(
            all.checked_add(part.checked_div(self.under)?)?,
            10_000_000,
        ))
    }
}

/// A fraction in its lowest terms.
fn lowest(over: i128, under: i128) -> (i128, i128) {
    let shared = divisor(over, under);
    let part = |number: i128| number.checked_div(shared).unwrap_or(number);
    (part(over), part(under))
}

/// The greatest common divisor of two numbers not below 0; 1 for two zeros.
fn divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    a.max(1)
}
