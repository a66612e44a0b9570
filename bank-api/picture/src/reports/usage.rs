//! Usage as charts: bars of each owner, and columns over time; and the time that jobs waited.

use std::collections::{BTreeMap, BTreeSet};

use bank_api::v1::{UsageFigures, UsageLine, UsageTable};

use super::span;
use crate::bounds::{POINTS_MAX, TooLarge, VALUES_MAX};
use crate::calendar::buckets;
use crate::data::{Beside, Chart, HIDDEN, NOBODY, OTHERS, Series, Span, Timed};
use crate::figure;
use crate::number::Number;
use crate::printable::printable;
use crate::section::Section;
use crate::zone::Zone;

/// Buckets that are columns; more of them are areas.
const COLUMNS: usize = 62;

/// A value of the figures as the API sent it; none if it is not known.
pub type Value = fn(&UsageFigures) -> Option<&str>;

/// A figure that is drawn.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Its name with its unit: `core-hours`.
    pub title: String,
    of: Value,
    /// Whether the value is in seconds and drawn in hours.
    in_hours: bool,
}

impl Measure {
    /// Seconds that are drawn in hours.
    pub fn hours(title: String, seconds: Value) -> Self {
        Self {
            title,
            of: seconds,
            in_hours: true,
        }
    }

    /// A value that is drawn as it is.
    pub fn plain(title: String, of: Value) -> Self {
        Self {
            title,
            of,
            in_hours: false,
        }
    }

    /// Charges, in the unit of the bank.
    pub fn charged(unit: &str) -> Self {
        Self::plain(format!("{unit} charged"), |figures| Some(&figures.charged))
    }

    /// Shadow charges, in the unit of the bank.
    pub fn shadow(unit: &str) -> Self {
        Self::plain(format!("{unit} of shadow charges"), |figures| {
            Some(&figures.shadow_charged)
        })
    }

    /// The value of a row.
    fn of(&self, figures: &UsageFigures) -> Option<Number> {
        let text = (self.of)(figures)?;
        if self.in_hours {
            Number::hours(text)
        } else {
            Number::read(text)
        }
    }

    /// The title at the start of a heading.
    fn heading(&self) -> String {
        let mut title = self.title.clone();
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        title
    }
}

/// A section for each figure, and each way to look at it.
pub fn sections(table: &UsageTable, measures: &[Measure]) -> Result<Vec<Section>, TooLarge> {
    let buckets = Buckets::of(table);
    let mut sections = Vec::new();
    for measure in measures {
        let timed = buckets.timed(table, measure)?;
        if !table.by.is_empty() || table.every == "all" {
            sections.push(bars(table, measure, &timed));
        }
        if table.every != "all" {
            sections.push(columns(table, measure, timed));
        }
    }
    sections.extend(buckets.waiting(table));
    Ok(sections)
}

/// One figure over time.
pub fn over_time(table: &UsageTable, measure: &Measure) -> Result<Section, TooLarge> {
    let timed = Buckets::of(table).timed(table, measure)?;
    Ok(columns(table, measure, timed))
}

/// The mean time from submission to start, where records were read: lines over time, or bars.
pub fn waiting(table: &UsageTable) -> Option<Section> {
    Buckets::of(table).waiting(table)
}

/// The period of a table.
pub fn period(table: &UsageTable) -> Option<Span> {
    span(&table.from, &table.until)
}

/// What there is to know about the figures.
pub fn remarks(table: &UsageTable) -> Vec<String> {
    let mut remarks = vec![format!(
        "{}. Jobs that span a period boundary are counted in each period for the time they ran in it. Hours \
         and amounts are rounded once, after adding.",
        figure::counted(&table.total.jobs, "job")
    )];
    if table.every != "all" {
        remarks.push(format!(
            "Boundaries of each {}: time zone {}.",
            table.every, table.tz
        ));
    }
    remarks
}

/// What a row has of a word of `by`.
pub fn value(row: &UsageLine, word: &str) -> String {
    match row.keys.get(word) {
        _ if row.others => OTHERS.to_owned(),
        Some(Some(value)) if value.is_empty() => NOBODY.to_owned(),
        Some(Some(value)) => printable(value),
        _ => HIDDEN.to_owned(),
    }
}

/// Whose a row is.
pub fn name(table: &UsageTable, row: &UsageLine) -> String {
    if row.others {
        return OTHERS.to_owned();
    }
    let words: Vec<String> = table.by.iter().map(|word| value(row, word)).collect();
    if words.is_empty() {
        return "all".to_owned();
    }
    words.join(" · ")
}

fn bars(table: &UsageTable, measure: &Measure, timed: &Timed) -> Section {
    let mut title = measure.heading();
    if !table.by.is_empty() {
        title = format!("{title} by {}", table.by.join(", "));
    }
    Section::chart(&title, Chart::Bars(timed.bars()))
}

fn columns(table: &UsageTable, measure: &Measure, timed: Timed) -> Section {
    let is_few = timed.spans.len() <= COLUMNS;
    let chart = if is_few { Chart::Columns } else { Chart::Area };
    let title = format!("{} by {}", measure.heading(), table.every);
    Section::chart(&title, chart(timed))
}

/// The buckets without gaps, and in which of them each row is.
struct Buckets<'a> {
    spans: Vec<Span>,
    rows: Vec<(usize, &'a UsageLine)>,
}

impl<'a> Buckets<'a> {
    /// Buckets in which nothing was used are not in the table; the picture has them, if it can.
    fn of(table: &'a UsageTable) -> Self {
        let Some(period) = period(table) else {
            return Self {
                spans: Vec::new(),
                rows: Vec::new(),
            };
        };
        let of = |row: &UsageLine| {
            if table.every == "all" {
                return Some(period);
            }
            span(&row.bucket_from, &row.bucket_until)
        };
        let mut found: Vec<Span> = table.rows.iter().filter_map(of).collect();
        found.sort_unstable();
        found.dedup();
        let (mut spans, mut at) = (Vec::with_capacity(found.len()), period.from);
        let zone = Zone::named(&table.tz).unwrap_or(Zone::Named(chrono_tz::UTC));
        let names: BTreeSet<_> = table.rows.iter().map(|row| &row.keys).collect();
        let most = POINTS_MAX.min(VALUES_MAX / names.len().max(1));
        let between = |spans: &mut Vec<Span>, from: i64, to: i64| {
            if from < to {
                let most = most.saturating_sub(spans.len().saturating_add(found.len()));
                spans.extend(buckets(Span { from, to }, &table.every, zone, most));
            }
        };
        for span in &found {
            let span = *span;
            between(&mut spans, at, span.from);
            at = span.to;
            spans.push(span);
        }
        between(&mut spans, at, period.to);
        let rows = table.rows.iter().filter_map(|row| {
            let place = spans.binary_search(&of(row)?).ok()?;
            Some((place, row))
        });
        let rows = rows.collect();
        Self { spans, rows }
    }

    fn timed(&self, table: &UsageTable, measure: &Measure) -> Result<Timed, TooLarge> {
        let amounts = self.rows.iter().map(|(at, row)| {
            let amount = measure.of(&row.figures).unwrap_or(Number::ZERO);
            (*at, name(table, row), amount)
        });
        let what = table.by.join(", ");
        Timed::gathered(&what, &measure.title, self.spans.clone(), amounts)
    }

    /// Means are never added up, and without a started job there is none.
    fn waiting(&self, table: &UsageTable) -> Option<Section> {
        let mut found: BTreeMap<String, Vec<Option<Number>>> = BTreeMap::new();
        for (at, row) in self.rows.iter().filter(|(_, row)| !row.others) {
            let mean = row.figures.wait_mean_s.as_deref().and_then(Number::hours);
            let Some(mean) = mean else { continue };
            let values = found.entry(name(table, row)).or_default();
            values.resize(self.spans.len(), None);
            if let Some(value) = values.get_mut(*at) {
                *value = Some(mean);
            }
        }
        if found.is_empty() {
            return None;
        }
        let (what, unit) = (table.by.join(", "), "hours".to_owned());
        let chart = if table.every == "all" {
            let mean = |(name, values): (String, Vec<Option<Number>>)| {
                (name, vec![values.into_iter().flatten().next()])
            };
            Chart::Beside(Beside {
                what,
                unit,
                series: vec!["mean".to_owned()],
                rows: found.into_iter().map(mean).collect(),
            })
        } else {
            let series = found.into_iter();
            let series = series.map(|(name, values)| Series { name, values });
            Chart::Lines(Timed {
                what,
                unit,
                spans: self.spans.clone(),
                series: series.collect(),
                limit: None,
            })
        };
        let section = Section::chart("Mean waiting time", chart);
        Some(section.note("Time from submission to start, of jobs that started."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(user: &str, day: u32, hours: &str) -> UsageLine {
        UsageLine {
            keys: [("user".to_owned(), Some(user.to_owned()))].into(),
            bucket: Some(format!("2026-10-{day:02}")),
            bucket_from: format!("2026-10-{day:02}T00:00:00Z"),
            bucket_until: format!("2026-10-{:02}T00:00:00Z", day + 1),
            figures: UsageFigures {
                core_seconds: hours.to_owned(),
                ..UsageFigures::default()
            },
            ..UsageLine::default()
        }
    }

    /// Several words of others are one name, so that a picture adds it to what it adds up itself.
    #[test]
    fn others_have_one_name() {
        let mut others = row("", 1, "4");
        others.others = true;
        let table = UsageTable {
            by: vec!["user".to_owned(), "queue".to_owned()],
            ..UsageTable::default()
        };
        assert_eq!(name(&table, &others), OTHERS);
    }

    /// Days without usage have their place on the axis.
    #[test]
    fn buckets_have_no_gaps() {
        let table = UsageTable {
            from: "2026-10-01T00:00:00Z".to_owned(),
            until: "2026-10-09T00:00:00Z".to_owned(),
            every: "day".to_owned(),
            by: vec!["user".to_owned()],
            rows: vec![row("amy", 2, "1.5"), row("bob", 2, "2"), row("amy", 5, "3")],
            ..UsageTable::default()
        };
        let day = |number: i64| (20_726 + number) * 86_400_000_000;
        let whole = Span {
            from: day(1),
            to: day(9),
        };
        assert_eq!(period(&table), Some(whole));
        let buckets = Buckets::of(&table);
        let edges: Vec<(i64, i64)> = buckets.spans.iter().map(|s| (s.from, s.to)).collect();
        let days: Vec<(i64, i64)> = (1..9).map(|from| (day(from), day(from + 1))).collect();
        assert_eq!(edges, days);
        let places: Vec<usize> = buckets.rows.iter().map(|(at, _)| *at).collect();
        assert_eq!(places, [1, 1, 4]);
        // Too many for a picture: the buckets beside the usage are zero, and the time between is one.
        let hour = |number: i64| day(1) + number * 3_600_000_000;
        let gap = Span {
            from: hour(3),
            to: hour(500),
        };
        let zone = Zone::Named(chrono_tz::UTC);
        let all = crate::calendar::buckets(gap, "hour", zone, 500);
        assert_eq!(
            (all.len(), all[0].to, all[496].from),
            (497, hour(4), hour(499))
        );
        let few = crate::calendar::buckets(gap, "hour", zone, 400);
        let few: Vec<(i64, i64)> = few.iter().map(|s| (s.from, s.to)).collect();
        let want = [(3, 4), (4, 499), (499, 500)];
        assert_eq!(few, want.map(|(from, to)| (hour(from), hour(to))));
    }

    /// A sum of means, and shares of it, are no figures.
    #[test]
    fn means_are_not_added_up() {
        let mut rows = vec![row("amy", 1, "1"), row("bob", 1, "1")];
        for (row, mean) in rows.iter_mut().zip(["3600", "10800"]) {
            row.figures.wait_mean_s = Some(mean.to_owned());
        }
        let table = UsageTable {
            from: "2026-10-01T00:00:00Z".to_owned(),
            until: "2026-10-02T00:00:00Z".to_owned(),
            every: "all".to_owned(),
            by: vec!["user".to_owned()],
            rows,
            ..UsageTable::default()
        };
        let section = format!("{:?}", waiting(&table).unwrap());
        assert!(section.contains("Beside"), "{section}");
    }
}
