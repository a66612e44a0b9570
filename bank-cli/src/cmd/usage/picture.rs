//! `bank usage` as pictures: bars of each owner, and over time where there are buckets.

use std::collections::BTreeMap;

use bank_api::v1::{UsageFigures, UsageLine, UsageTable};
use bank_picture::{Bars, Chart, Number, OTHERS, Report, Section, Series, Span, Timed, figure};

use super::figures::{has_shadow, unit, used};
use super::{Resource, value};
use crate::{context::Context, fail::Failure, out::Form, when};

/// Buckets that are columns; more of them are areas.
const COLUMNS: usize = 62;

/// The page of a table of usage: a section for each figure, and each way to look at it.
pub(in crate::cmd) fn report(
    context: &Context,
    table: &UsageTable,
    resources: &[Resource],
) -> Result<Report, Failure> {
    let period = when::read(&table.from).zip(when::read(&table.until));
    let period = period.map(|(from, to)| Span { from, to });
    let (spans, rows) = spans(table, period);
    let mut sections = Vec::new();
    for (title, of) in drawn(&context.form, table, resources) {
        let amounts = rows.iter().map(|(at, row)| {
            let amount = of(&row.figures).unwrap_or(Number::ZERO);
            (*at, name(table, row), amount)
        });
        let what = table.by.join(", ");
        let timed = Timed::gathered(&what, &title, spans.clone(), amounts)?;
        let mut called = title.clone();
        if let Some(first) = called.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        if !table.by.is_empty() || table.every == "all" {
            let by = if what.is_empty() {
                called.clone()
            } else {
                format!("{called} by {what}")
            };
            sections.push(Section::chart(&by, Chart::Bars(timed.bars())));
        }
        if table.every != "all" {
            let is_few = timed.spans.len() <= COLUMNS;
            let chart = if is_few { Chart::Columns } else { Chart::Area };
            let by = format!("{called} by {}", table.every);
            sections.push(Section::chart(&by, chart(timed)));
        }
    }
    sections.extend(waiting(table, &spans, &rows));
    let mut remarks = vec![format!(
        "{} jobs. Jobs that span a period boundary are counted in each period for the time they ran in it. Hours \
         and amounts are rounded once, after adding.",
        figure::grouped(&table.total.jobs)
    )];
    if table.every != "all" {
        remarks.push(format!(
            "Boundaries of each {}: time zone {}.",
            table.every, table.tz
        ));
    }
    let mut made = context.report("Usage", remarks, sections);
    made.period = period;
    Ok(made)
}

/// The mean time from submission to start, where records were read: lines over time, or bars. Means are never
/// added up, and without a started job there is none.
fn waiting(table: &UsageTable, spans: &[Span], rows: &[(usize, &UsageLine)]) -> Option<Section> {
    let mut found: BTreeMap<String, Vec<Option<Number>>> = BTreeMap::new();
    for (at, row) in rows.iter().filter(|(_, row)| !row.others) {
        let mean = row.figures.wait_mean_s.as_deref().and_then(Number::hours);
        let Some(mean) = mean else { continue };
        let values = found.entry(name(table, row)).or_default();
        values.resize(spans.len(), None);
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
            Some((name, values.into_iter().flatten().next()?))
        };
        let rows = found.into_iter().filter_map(mean).collect();
        Chart::Bars(Bars { what, unit, rows })
    } else {
        let series = found.into_iter();
        let series = series.map(|(name, values)| Series { name, values });
        Chart::Lines(Timed {
            what,
            unit,
            spans: spans.to_vec(),
            series: series.collect(),
            limit: None,
        })
    };
    let section = Section::chart("Mean waiting time", chart);
    Some(section.note("Time from submission to start, of jobs that started."))
}

/// Says what a row has of a figure.
type Figure = Box<dyn Fn(&UsageFigures) -> Option<Number>>;

/// Which figures, each with its name: those of the resources that were asked for, else processors and what
/// they cost.
fn drawn(form: &Form, table: &UsageTable, resources: &[Resource]) -> Vec<(String, Figure)> {
    let read = if form.in_seconds() {
        Number::read
    } else {
        Number::hours
    };
    let of = |resource: &Resource| {
        let (stem, of) = used(*resource);
        let figure: Figure = Box::new(move |f| read(of(f)?));
        (format!("{stem}{}", unit(form)), figure)
    };
    if resources.is_empty() {
        let charged: Figure = Box::new(|f| Number::read(&f.charged));
        let title = format!("{} charged", table.unit);
        let mut all = vec![of(&Resource::Cpu), (title, charged)];
        if has_shadow(table) {
            let shadow: Figure = Box::new(|f| Number::read(&f.shadow_charged));
            all.push((format!("{} shadow charges", table.unit), shadow));
        }
        return all;
    }
    resources.iter().map(of).collect()
}

/// The buckets without gaps, and in which of them each row is. Buckets in which nothing was are not in
/// the table.
fn spans(table: &UsageTable, period: Option<Span>) -> (Vec<Span>, Vec<(usize, &UsageLine)>) {
    let Some(period) = period else {
        return (Vec::new(), Vec::new());
    };
    let span = |row: &UsageLine| {
        if table.every == "all" {
            return Some(period);
        }
        let (from, to) = (&row.bucket_from, &row.bucket_until);
        when::read(from)
            .zip(when::read(to))
            .map(|(from, to)| Span { from, to })
    };
    let mut found: Vec<Span> = table.rows.iter().filter_map(span).collect();
    found.sort_unstable();
    found.dedup();
    let (mut all, mut at) = (Vec::with_capacity(found.len()), period.from);
    let between = |all: &mut Vec<Span>, from: i64, to: i64| {
        if from < to {
            all.push(Span { from, to });
        }
    };
    for span in found {
        between(&mut all, at, span.from);
        at = span.to;
        all.push(span);
    }
    between(&mut all, at, period.to);
    let rows = table.rows.iter().filter_map(|row| {
        let place = all.binary_search(&span(row)?).ok()?;
        Some((place, row))
    });
    let rows = rows.collect();
    (all, rows)
}

/// Whose a row is.
fn name(table: &UsageTable, row: &UsageLine) -> String {
    if row.others {
        return OTHERS.to_owned();
    }
    let words: Vec<String> = table.by.iter().map(|word| value(row, word)).collect();
    if words.is_empty() {
        return "all".to_owned();
    }
    words.join(" · ")
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

    /// A year of days of many people is refused with numbers, in every form that draws.
    #[test]
    fn a_picture_of_too_much_is_refused_before_it_is_drawn() {
        let one = |n: u32| {
            let mut own = row(&format!("user{n}"), 1 + n % 20, "1.5");
            own.bucket_until = format!("2026-10-{:02}T00:00:00Z", 2 + n % 20);
            own
        };
        let table = |names: u32| UsageTable {
            from: "2026-10-01T00:00:00Z".to_owned(),
            until: "2026-10-21T00:00:00Z".to_owned(),
            every: "day".to_owned(),
            by: vec!["user".to_owned()],
            rows: (0..names).map(one).collect(),
            ..UsageTable::default()
        };
        let context = crate::context::test_context();
        assert!(report(&context, &table(5_000), &[]).is_ok());
        let failure = report(&context, &table(5_001), &[]).unwrap_err();
        assert_eq!(failure.exit, 2);
        let message = "5,001 names in 20 time intervals are 100,020 values";
        assert!(failure.what.contains(message), "{failure:?}");
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

    /// Days in which nothing was have their place on the axis.
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
        let period = Span {
            from: day(1),
            to: day(9),
        };
        assert_eq!(when::read(&table.from), Some(period.from));
        let (spans, rows) = spans(&table, Some(period));
        let edges: Vec<(i64, i64)> = spans.iter().map(|span| (span.from, span.to)).collect();
        let days = [(1, 2), (2, 3), (3, 5), (5, 6), (6, 9)];
        assert_eq!(edges, days.map(|(from, to)| (day(from), day(to))));
        let places: Vec<usize> = rows.iter().map(|(at, _)| *at).collect();
        assert_eq!(places, [1, 1, 3]);
    }
}
