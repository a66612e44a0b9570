//! Pictures: charts with their tables, for a page, a file of their own, and a terminal.
//!
//! Pure: numbers go in, text comes out, and the same numbers give the same bytes. A command that has
//! something to show builds a [`Report`] of [`Section`]s and says [`report`], [`drawing`] or
//! [`screen`], as the caller's `-O` and `--chart` ask. Amounts are exact decimals
//! ([`Number`]); places on a drawing are whole thousandths of a pixel. Nothing here asks the daemon.
//!
//! A page asks nobody for anything: no script, no address, one style that its own policy names by its
//! digest. Every chart has its table; series are told apart by patterns, dashes or signs, never by
//! colour alone.

mod bars;
mod beside;
mod bounds;
mod burn;
mod calendar;
mod canvas;
mod data;
mod draw;
pub mod figure;
mod frame;
mod layout;
mod marks;
mod number;
mod page;
pub mod personal;
mod plain;
pub mod printable;
pub mod reason;
pub mod reports;
mod scale;
mod section;
mod style;
mod table;
mod terminal;
#[cfg(test)]
mod tests;
mod timed;
mod ways;
mod words;
mod zone;

pub use bounds::{POINTS_MAX, TooLarge};
pub use burn::{spread, thinned, thinned_to};
pub use calendar::{offsets, span_of, spans};
pub use data::{
    Bars, Beside, Burn, Cell, Chart, HIDDEN, NOBODY, OTHERS, Series, Span, Table, Timed,
};
pub use number::{Number, total};
pub use page::{Part, Report, embedded, figures, foot, head};
pub use plain::Plain;
pub use section::Section;
pub use style::style;
pub use terminal::Terminal;
pub use words::escaped;
pub use zone::Zone;

/// The script for pages that are made elsewhere: amounts under the pointer and the keyboard's cursor, series that
/// are switched on and off, periods that are selected. Drawings are complete without it; files never contain it.
pub fn script() -> String {
    lean(include_str!("../assets/picture.js"))
}

/// A script without indents and lines of comments: the sources explain themselves, and browsers do not read that.
pub fn lean(script: &str) -> String {
    let lines = script.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    code.fold(String::new(), |text, line| text + line + "\n")
}

/// A report as one page of HTML.
///
/// ```text
/// use bank_picture::{self as picture, Chart, Number, Part, Report, Section, Span, Timed};
///
/// // Months of a year, and for each (place of the month, project, core-hours) as the daemon said it.
/// let spans: Vec<Span> = months.iter().map(|m| Span { from: m.from_us, to: m.to_us }).collect();
/// let rows = answer.rows.iter().map(|row| {
///     (place_of(&row.bucket), row.project.clone(), Number::or_zero(&row.core_hours))
/// });
/// let timed = Timed::gathered("project", "core-hours", spans, rows)?;
/// let report = Report {
///     title: "Usage by project".to_owned(),
///     period: Some(Span { from: from_us, to: to_us }),
///     zone: context.zone,
///     generated: context.now_us,
///     remarks: vec!["Core-hours; jobs are spread over the time that they ran.".to_owned()],
///     parts: vec![Part {
///         sections: vec![
///             Section::chart("Core-hours by month", Chart::Columns(timed))
///                 .note("The largest seven projects have a field of their own."),
///         ],
///         ..Part::default()
///     }],
/// };
/// picture::report(&report)
/// ```
///
/// The contribution report has two parts, one for each period, each with a heading and a period of its
/// own: they stand beside each other where there is room. So do two sections of a report of one part, unless
/// a table or a chart needs the whole width. A table of its own comes with [`Section::with_table`], or without
/// a chart with [`Section::table`]. A page has at most 16 MiB.
pub fn report(report: &Report) -> Result<String, TooLarge> {
    report.html()
}

/// The first chart of a report as an SVG document; where there is nothing to draw, it says so.
pub fn drawing(report: &Report) -> String {
    match report.sections().find_map(Section::pictured) {
        Some((title, chart)) => draw::alone(chart, title, report.zone),
        None => draw::nothing(&report.title, "No data in this period."),
    }
}

/// Every chart of a report in plain characters.
pub fn screen(report: &Report, terminal: Terminal) -> String {
    let charts = report.sections().filter_map(Section::pictured);
    let drawn = charts.map(|(title, chart)| terminal.chart(title, chart, report.zone));
    drawn.collect::<Vec<_>>().join("\n")
}

/// The lines above the sections of a report in plain text.
pub fn plain_head(report: &Report) -> String {
    plain::head(report)
}

/// The sections of a report in plain text, for a table of any width.
pub fn plain_sections(report: &Report) -> Vec<Plain> {
    plain::sections(report)
}

/// The amounts of a report, a row each: section, name, column, amount.
pub fn amounts(report: &Report) -> Vec<[String; 4]> {
    plain::figures(report)
}
