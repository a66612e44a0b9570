//! The same as pictures: bars of means, and lines over time that break where nobody looked.

use std::collections::BTreeMap;

use bank_api::v1::{SampledFigures, SampledLine, SampledTable};
use bank_picture::{
    Bars, Chart, Number, Report, Section, Series, Span, Timed, printable::printable, total,
};

use super::{is_gap, shown};
use crate::{context::Context, when};

/// Lines of one picture; the others are added up, as means may be.
const LINES: usize = 12;

/// What is drawn of a row.
type Figure = fn(&SampledFigures) -> Option<&str>;

/// The figures with their names.
const FIGURES: [(&str, Figure); 2] = [
    ("Running", |f| f.running_sampled_mean.as_deref()),
    ("Queued", |f| f.queued_sampled_mean.as_deref()),
];

/// The page: running and queued jobs by whose they are, over time where there are buckets.
pub(super) fn report(context: &Context, table: &SampledTable) -> Report {
    let period = when::read(&table.from).zip(when::read(&table.until));
    let period = period.map(|(from, to)| Span { from, to });
    let what = table.by.join(", ");
    let mut sections = Vec::new();
    for (title, of) in FIGURES {
        let by = |word: &str| match word {
            "" => format!("{title}, sampled"),
            word => format!("{title} by {word}, sampled"),
        };
        if table.every == "all" {
            let bars = Chart::Bars(bars(table, &what, of));
            sections.push(Section::chart(&by(&what), bars));
        } else {
            let lines = Chart::Lines(timed(table, &what, of, period));
            sections.push(Section::chart(&by(&table.every), lines));
        }
    }
    let seen: u64 = table
        .sources
        .iter()
        .fold(0, |sum, source| sum.saturating_add(source.snapshots));
    let mut remarks = vec![format!(
        "Jobs, on average over {seen} snapshots of collectors. Periods without a snapshot have no \
         value."
    )];
    if table.every != "all" {
        remarks.push(format!(
            "Boundaries of each {}: time zone {}.",
            table.every, table.tz
        ));
    }
    let mut made = context.report("Running and queued jobs", remarks, sections);
    made.period = period;
    made
}

/// Whose a row is.
fn name(table: &SampledTable, line: &SampledLine) -> String {
    let words: Vec<String> = table
        .by
        .iter()
        .map(|word| printable(&shown(line, word)))
        .collect();
    if words.is_empty() {
        return "all".to_owned();
    }
    words.join(" · ")
}

fn bars(table: &SampledTable, what: &str, of: Figure) -> Bars {
    let rows = table.rows.iter().filter(|line| !is_gap(line));
    let rows = rows.map(|line| {
        (
            name(table, line),
            Number::or_zero(of(&line.figures).unwrap_or("0")),
        )
    });
    Bars {
        what: what.to_owned(),
        unit: "jobs".to_owned(),
        rows: rows.collect(),
    }
}

/// A line for each name: nothing where nobody looked, 0 where somebody did and saw nothing of it.
fn timed(table: &SampledTable, what: &str, of: Figure, period: Option<Span>) -> Timed {
    let spans = spans(table, period);
    let place = |line: &SampledLine| spans.binary_search(&span(line)?).ok();
    let mut blank = vec![Some(Number::ZERO); spans.len()];
    for line in table.rows.iter().filter(|line| is_gap(line)) {
        if let Some(value) = place(line).and_then(|at| blank.get_mut(at)) {
            *value = None;
        }
    }
    let mut found: BTreeMap<String, Vec<Option<Number>>> = BTreeMap::new();
    for line in table.rows.iter().filter(|line| !is_gap(line)) {
        let values = found
            .entry(name(table, line))
            .or_insert_with(|| blank.clone());
        let value = place(line).and_then(|at| values.get_mut(at));
        if let Some((value, mean)) = value.zip(of(&line.figures).and_then(Number::read)) {
            *value = Some(mean);
        }
    }
    let mut series: Vec<Series> = found
        .into_iter()
        .map(|(name, values)| Series { name, values })
        .collect();
    let sum = |series: &Series| total(series.values.iter().flatten().copied());
    series.sort_by(|a, b| sum(b).compare(sum(a)));
    Timed {
        what: what.to_owned(),
        unit: "jobs".to_owned(),
        series: folded(series, &blank),
        spans,
        limit: None,
    }
}

/// The largest lines, and those behind them as one.
fn folded(mut series: Vec<Series>, blank: &[Option<Number>]) -> Vec<Series> {
    if series.len() <= LINES {
        return series;
    }
    let rest = series.split_off(LINES.saturating_sub(1));
    let at = |(place, known): (usize, &Option<Number>)| {
        let own = rest
            .iter()
            .filter_map(|s| s.values.get(place).copied().flatten());
        known.map(|_| total(own))
    };
    series.push(Series {
        name: format!("{} others", rest.len()),
        values: blank.iter().enumerate().map(at).collect(),
    });
    series
}

fn span(line: &SampledLine) -> Option<Span> {
    let (from, to) = when::read(&line.bucket_from).zip(when::read(&line.bucket_until))?;
    Some(Span { from, to })
}

/// The spans of the rows, and between them those in which somebody looked and nothing was.
fn spans(table: &SampledTable, period: Option<Span>) -> Vec<Span> {
    let Some(period) = period else {
        return Vec::new();
    };
    let mut known: Vec<Span> = table.rows.iter().filter_map(span).collect();
    known.sort_unstable();
    known.dedup();
    let (mut all, mut at) = (Vec::with_capacity(known.len()), period.from);
    let end = Span {
        from: period.to,
        to: period.to,
    };
    for span in known.into_iter().chain([end]) {
        if at < span.from {
            all.push(Span {
                from: at,
                to: span.from,
            });
        }
        if span.from < span.to {
            all.push(span);
        }
        at = span.to;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(project: Option<&str>, day: i64, mean: Option<&str>) -> SampledLine {
        let keys = [("project".to_owned(), project.map(ToOwned::to_owned))];
        SampledLine {
            keys: keys.into(),
            bucket_from: format!("2026-10-{day:02}T00:00:00Z"),
            bucket_until: format!("2026-10-{:02}T00:00:00Z", day + 1),
            figures: SampledFigures {
                snapshots: u64::from(mean.is_some()),
                running_sampled_mean: mean.map(ToOwned::to_owned),
                ..SampledFigures::default()
            },
            ..SampledLine::default()
        }
    }

    fn table(rows: Vec<SampledLine>) -> SampledTable {
        SampledTable {
            from: "2026-10-01T00:00:00Z".to_owned(),
            until: "2026-10-06T00:00:00Z".to_owned(),
            every: "day".to_owned(),
            by: vec!["project".to_owned()],
            rows,
            ..SampledTable::default()
        }
    }

    fn drawn(table: &SampledTable) -> Vec<(String, Vec<Option<String>>)> {
        let period = when::read(&table.from).zip(when::read(&table.until));
        let period = period.map(|(from, to)| Span { from, to });
        let (_, of) = FIGURES[0];
        let timed = timed(table, "project", of, period);
        let shown = |series: &Series| {
            let values = series.values.iter();
            values.map(|value| value.map(Number::shown)).collect()
        };
        timed
            .series
            .iter()
            .map(|series| (series.name.clone(), shown(series)))
            .collect()
    }

    /// The first and the third day were looked at, the second was not; on the third only bob had something; the
    /// fourth and fifth were looked at in vain.
    #[test]
    fn lines_break_where_nobody_looked_and_are_zero_where_nothing_was() {
        let rows = vec![
            line(Some("amy"), 1, Some("2.500")),
            line(None, 2, None),
            line(Some("bob"), 3, Some("1.000")),
        ];
        let drawn = drawn(&table(rows));
        let text = |text: &str| Some(text.to_owned());
        let zero = || Some(Number::ZERO.shown());
        assert_eq!(
            drawn[0],
            ("amy".to_owned(), vec![text("2.500"), None, zero(), zero()])
        );
        assert_eq!(
            drawn[1],
            ("bob".to_owned(), vec![zero(), None, text("1.000"), zero()])
        );
    }

    #[test]
    fn many_lines_end_in_one_of_all_others() {
        let rows = (1..=20).map(|n| line(Some(&format!("p{n:02}")), 1, Some("1.000")));
        let drawn = drawn(&table(rows.collect()));
        assert_eq!(drawn.len(), LINES);
        let (name, values) = drawn.last().unwrap();
        assert_eq!(
            (name.as_str(), values[0].as_deref()),
            ("9 others", Some("9.000"))
        );
    }
}
