//! A report as one page: nothing is fetched, nothing runs, and it prints well.

use std::fmt::Write as _;

use super::calendar::offsets;
use super::data::{Chart, Span, Table};
use super::draw::inline;
use super::style;
use super::table::of_chart;
use super::words::escaped;
use crate::bounds::{PAGE_MAX, TooLarge};
use crate::zone::Zone;

/// A report: what it is about, and its sections.
#[derive(Debug, Clone)]
pub struct Report {
    /// Its title, and that of the page.
    pub title: String,
    /// The period of the whole, where it has one: from inclusive, to exclusive.
    pub period: Option<Span>,
    /// The zone in which times are told.
    pub zone: Zone,
    /// When it was made, µs since 1970 UTC.
    pub generated: i64,
    /// Sentences below the title: what was asked for, in which unit, where it comes from.
    pub remarks: Vec<String>,
    /// The sections in order. Two parts stand beside each other where there is room.
    pub parts: Vec<Part>,
}

/// A column of a report: all of it, or one of two periods side by side.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// What it is; none where the report has one part only.
    pub heading: Option<String>,
    /// Its period, where it differs from that of the report.
    pub period: Option<Span>,
    /// Its sections.
    pub sections: Vec<Section>,
}

/// A chart with its table and what there is to know about it.
#[derive(Debug, Clone)]
pub struct Section {
    title: String,
    chart: Option<Chart>,
    table: Option<Table>,
    notes: Vec<String>,
}

impl Section {
    /// A chart; its table is made of what it shows.
    pub fn chart(title: &str, chart: Chart) -> Self {
        let table = of_chart(&chart, title);
        Self {
            title: title.to_owned(),
            chart: Some(chart),
            table: Some(table),
            notes: Vec::new(),
        }
    }

    /// A table without a chart.
    pub fn table(title: &str, table: Table) -> Self {
        Self {
            title: title.to_owned(),
            chart: None,
            table: Some(table),
            notes: Vec::new(),
        }
    }

    /// With a table of the caller's in place of the chart's own.
    #[must_use]
    pub fn with_table(mut self, table: Table) -> Self {
        self.table = Some(table);
        self
    }

    /// With a sentence of explanation.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// The chart, where there is one.
    pub(super) fn pictured(&self) -> Option<(&str, &Chart)> {
        self.chart
            .as_ref()
            .map(|chart| (self.title.as_str(), chart))
    }

    /// As HTML; `id` is unique on the page, `level` that of its heading, 2 to 6.
    pub fn html(&self, id: &str, level: u8, zone: Zone) -> String {
        let mut out = format!("<section>\n<h{level}>{}</h{level}>\n", escaped(&self.title));
        if let Some(chart) = &self.chart {
            match chart.obstacle() {
                Some(why) => {
                    let _ = writeln!(out, "<p class=\"absent\">{}</p>", escaped(&why));
                }
                None => {
                    let _ = writeln!(
                        out,
                        "<figure>\n{}</figure>",
                        inline(chart, &self.title, id, zone)
                    );
                }
            }
        }
        match &self.table {
            Some(table) if !table.rows.is_empty() => out.push_str(&table.html(&self.title, zone)),
            Some(_) if self.chart.is_none() => {
                out.push_str("<p class=\"absent\">No data in this period.</p>\n");
            }
            _ => {}
        }
        for note in &self.notes {
            let _ = writeln!(out, "<p>{}</p>", escaped(note));
        }
        out + "</section>\n"
    }
}

impl Report {
    /// Every section, in order.
    pub(super) fn sections(&self) -> impl Iterator<Item = &Section> {
        self.parts.iter().flat_map(|part| &part.sections)
    }

    /// The page; fails where it would be longer than [`PAGE_MAX`].
    pub(super) fn html(&self) -> Result<String, TooLarge> {
        let beside = self.parts.len() > 1;
        let class = if beside { "parts" } else { "" };
        let mut out = head(&self.title, class);
        let _ = writeln!(out, "<h1>{}</h1>", escaped(&self.title));
        if let Some(period) = self.period {
            let _ = writeln!(out, "<p>{}</p>", escaped(&told(period, self.zone)));
        }
        let made = self.zone.show(self.generated).format("%Y-%m-%d %H:%M %z");
        let _ = writeln!(out, "<p>Generated {made}.</p>");
        for remark in &self.remarks {
            let _ = writeln!(out, "<p>{}</p>", escaped(remark));
        }
        if beside {
            out.push_str("<div class=\"beside\">\n");
        }
        for (at, part) in self.parts.iter().enumerate() {
            self.part(&mut out, at, part, beside)?;
        }
        if beside {
            out.push_str("</div>\n");
        }
        Ok(out + foot())
    }

    fn part(&self, out: &mut String, at: usize, part: &Part, beside: bool) -> Result<(), TooLarge> {
        if beside {
            out.push_str("<section>\n");
        }
        if let Some(heading) = &part.heading {
            let _ = writeln!(out, "<h2>{}</h2>", escaped(heading));
        }
        if let Some(period) = part.period {
            let _ = writeln!(out, "<p>{}</p>", escaped(&told(period, self.zone)));
        }
        let level = if part.heading.is_some() { 3 } else { 2 };
        for (number, section) in part.sections.iter().enumerate() {
            let id = format!("p{at}s{number}");
            out.push_str(&section.html(&id, level, self.zone));
            if out.len() > PAGE_MAX {
                return Err(TooLarge::Page { bytes: out.len() });
            }
        }
        if part.sections.is_empty() {
            out.push_str("<p class=\"absent\">No data in this period.</p>\n");
        }
        if beside {
            out.push_str("</section>\n");
        }
        Ok(())
    }
}

/// `from 2026-10-01 to 2026-11-01 (exclusive), +0100`.
fn told(period: Span, zone: Zone) -> String {
    let (from, to) = (zone.date(period.from), zone.date(period.to));
    let zone = offsets(period.from, period.to, zone);
    format!("Period: from {from} to {to} (exclusive), {zone}.")
}

/// What begins every page, up to the body; `class` is that of the body.
///
/// The policy allows nothing but the one style, which is named by its digest.
pub fn head(title: &str, class: &str) -> String {
    let style = [style::CHART, style::PAGE].concat();
    let style = format!("\n{style}");
    let digest = bank_api::sign::content_digest(style.as_bytes());
    let digest = digest.trim_start_matches("sha-256=:").trim_end_matches(':');
    let class = if class.is_empty() {
        String::new()
    } else {
        format!(" class=\"{class}\"")
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{}</title>\n<style>{style}</style></head><body{class}>\n<main>\n",
        escaped(title)
    )
}

/// What ends every page.
pub fn foot() -> &'static str {
    "</main></body></html>\n"
}
