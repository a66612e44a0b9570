//! Contributions and usage as charts: for each period who used what, beside who contributed what, and how much of
//! the machines was used (reports.md 1.3 to 1.7).

use bank_api::text::parse_rfc3339;
use bank_api::v1::{
    ContributionPeriod, ContributionReport, ContributionRow, Utilisation, UtilisationBucket,
};

use super::span;
use crate::data::{Bars, Beside, Cell, Chart, Series, Span, Table, Timed};
use crate::number::Number;
use crate::section::Section;

/// The pictures of a period: shares, contributions beside usage, and utilisation.
pub fn sections(answer: &ContributionReport, period: &ContributionPeriod) -> Vec<Section> {
    let usage = Section::chart(
        "Shares of usage",
        Chart::Pie(bars(answer, period, |row| &row.usage)),
    );
    let mut sections = vec![usage.with_table(table(answer, period))];
    if answer.by == "contributor" {
        let given = Bars {
            unit: "processors × factor".to_owned(),
            ..bars(answer, period, |row| &row.contribution)
        };
        sections.push(Section::chart("Contributions", Chart::Bars(given)));
        sections.push(subscription(period));
    }
    sections.extend(utilisation(answer, period));
    sections
}

/// The share of usage beside the share of contributions of each group.
fn subscription(period: &ContributionPeriod) -> Section {
    let row = |row: &ContributionRow| {
        let shares = [&row.usage_share, &row.contribution_share].map(|share| Number::read(share));
        (row.group.clone(), shares.to_vec())
    };
    let beside = Beside {
        what: "contributor".to_owned(),
        unit: "%".to_owned(),
        series: vec!["usage".to_owned(), "contribution".to_owned()],
        rows: period.rows.iter().map(row).collect(),
    };
    Section::chart("Usage and contribution", Chart::Beside(beside))
        .note("Shares of all usage and of all contributions, exempt groups included.")
}

/// The lines of machines with a declared capacity; a sentence names the others.
pub fn utilisation(answer: &ContributionReport, period: &ContributionPeriod) -> Option<Section> {
    let spans = period.utilisation.iter().find_map(spans)?;
    let has_capacity = |of: &&Utilisation| of.buckets.iter().any(|b| b.percent.is_some());
    let (known, unknown): (Vec<_>, Vec<_>) = period.utilisation.iter().partition(has_capacity);
    if known.is_empty() {
        let words = "No capacity is declared for this period, or all of it was down. `bank hardware add` declares it.";
        return Some(Section::table("Utilization", used(answer, &unknown)).note(words));
    }
    let lines = Timed {
        what: "machine".to_owned(),
        unit: "%".to_owned(),
        series: known.iter().map(|of| series(of)).collect(),
        limit: Some(("capacity".to_owned(), Number::whole(100))),
        spans,
    };
    let section = Section::chart("Utilization", Chart::Lines(lines))
        .note("Usage as a percentage of the capacity of the hardware in service.");
    let is_left_out = |own: &UtilisationBucket| own.unfinished && own.percent.is_none();
    let mut buckets = period.utilisation.iter().flat_map(|of| &of.buckets);
    let section = match buckets.find(|own| is_left_out(own)) {
        Some(own) => section.note(format!(
            "Without the time from {}, which is not over: usage is reported after the end of a job.",
            own.shown_from
        )),
        None => section,
    };
    if unknown.is_empty() {
        return Some(section);
    }
    let names: Vec<&str> = unknown.iter().map(|of| machine(of)).collect();
    Some(section.note(format!(
        "No capacity is declared for {}, or all of it was down.",
        names.join(", ")
    )))
}

/// A share such as `96%` as all others are written, `96 %`. Words stay.
pub fn spaced(text: &str) -> String {
    let number = text.strip_suffix('%');
    number.map_or_else(|| text.to_owned(), |number| format!("{number} %"))
}

fn machine(of: &Utilisation) -> &str {
    of.machine.as_deref().unwrap_or("all")
}

/// What was used where there is no capacity to compare it with.
fn used(answer: &ContributionReport, all: &[&Utilisation]) -> Table {
    let rows = all.iter().flat_map(|of| {
        of.buckets.iter().map(|bucket| {
            let from = parse_rfc3339(&bucket.from).map_or(Cell::None, Cell::Time);
            vec![
                from,
                Cell::Text(machine(of).to_owned()),
                Cell::maybe(Number::read(&bucket.used)),
                Cell::Text("none declared".to_owned()),
            ]
        })
    });
    let head = |text: &str, is_number| (text.to_owned(), is_number);
    Table {
        caption: format!("Usage in {}, without capacity", answer.unit),
        columns: vec![
            head("from", false),
            head("machine", false),
            head("used", true),
            head("capacity", false),
        ],
        rows: rows.collect(),
        foot: Vec::new(),
    }
}

/// The buckets of a machine; none where it has none.
fn spans(of: &Utilisation) -> Option<Vec<Span>> {
    let spans = of.buckets.iter();
    let spans: Option<Vec<Span>> = spans.map(|bucket| span(&bucket.from, &bucket.to)).collect();
    spans.filter(|spans| !spans.is_empty())
}

fn series(of: &Utilisation) -> Series {
    let percent = of.buckets.iter().map(|bucket| bucket.percent.as_deref());
    let percent = percent.map(|percent| percent.and_then(Number::read));
    Series {
        name: machine(of).to_owned(),
        values: percent.collect(),
    }
}

/// The rows of a period with their sums.
pub fn table(answer: &ContributionReport, period: &ContributionPeriod) -> Table {
    let head = |text: &str, is_number| (text.to_owned(), is_number);
    let number = |text: &str| Cell::maybe(Number::read(text));
    let percent = |text: &str| Number::read(text).map_or(Cell::None, Cell::Percent);
    let row = |row: &ContributionRow| {
        vec![
            Cell::Text(row.group.clone()),
            number(&row.usage),
            percent(&row.usage_share),
            number(&row.contribution),
            percent(&row.contribution_share),
            Cell::Text(spaced(&row.subscription)),
            row.cpu_efficiency.as_deref().map_or(Cell::None, percent),
        ]
    };
    let total = |name: &str, usage: &str, contribution: &str| {
        vec![
            Cell::Text(name.to_owned()),
            number(usage),
            Cell::None,
            number(contribution),
            Cell::None,
            Cell::None,
            Cell::None,
        ]
    };
    let (counted, all) = (&period.counted, &period.all);
    Table {
        caption: format!("Usage in {}", answer.unit),
        columns: vec![
            head(&answer.by, false),
            head("usage", true),
            head("share", true),
            head("contribution", true),
            head("share", true),
            head("subscription", true),
            head("CPU", true),
        ],
        rows: period.rows.iter().map(row).collect(),
        foot: vec![
            total(
                "total without exempt",
                &counted.usage,
                &counted.contribution,
            ),
            total("total", &all.usage, &all.contribution),
        ],
    }
}

/// The periods in words, in the zone of the report.
pub fn periods(answer: &ContributionReport) -> String {
    let of = |period: &ContributionPeriod| {
        let (from, to) = (&period.shown_from, &period.shown_to);
        format!("from {from} to {to} (exclusive)")
    };
    let all: Vec<String> = answer.periods.iter().map(of).collect();
    format!(
        "Usage {}, times of {}",
        all.join("; compared with "),
        answer.zone
    )
}

/// One amount of each row.
pub fn bars(
    answer: &ContributionReport,
    period: &ContributionPeriod,
    of: fn(&ContributionRow) -> &str,
) -> Bars {
    let rows = period.rows.iter();
    Bars {
        what: answer.by.clone(),
        unit: answer.unit.clone(),
        rows: rows
            .map(|row| (row.group.clone(), Number::or_zero(of(row))))
            .collect(),
    }
}

/// The period as a span.
pub fn period(period: &ContributionPeriod) -> Option<Span> {
    span(&period.from, &period.to)
}
