//! A section of a report: a chart, its table and sentences about both.

use std::fmt::Write as _;

use super::data::{Chart, Table};
use super::draw::inline;
use super::table::of_chart;
use super::ways::Ways;
use super::words::escaped;
use crate::zone::Zone;

/// A chart with its table and what there is to know about it.
#[derive(Debug, Clone)]
pub struct Section {
    title: String,
    chart: Option<Chart>,
    table: Option<Table>,
    notes: Vec<String>,
    ways: Ways,
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
            ways: Ways::default(),
        }
    }

    /// A table without a chart.
    pub fn table(title: &str, table: Table) -> Self {
        Self {
            title: title.to_owned(),
            chart: None,
            table: Some(table),
            notes: Vec::new(),
            ways: Ways::default(),
        }
    }

    /// With a table of the caller's in place of the chart's own.
    #[must_use]
    pub fn with_table(mut self, table: Table) -> Self {
        self.table = Some(table);
        self
    }

    /// Without a table, where another one on the page has the amounts of the chart.
    #[must_use]
    pub fn without_table(mut self) -> Self {
        self.table = None;
        self
    }

    /// Whether it is a pie: shares of a whole.
    pub fn is_pie(&self) -> bool {
        matches!(self.pictured(), Some((_, Chart::Pie(_))))
    }

    /// With a sentence of explanation.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// With a link behind each mark that is one row: an address of the page's own site with `{name}`, and over
    /// time `{from}` and `{until}`, which are replaced by the encoded values.
    #[must_use]
    pub fn linked(mut self, address: impl Into<String>) -> Self {
        self.ways.link = Some(address.into());
        self
    }

    /// Without a link behind the marks of some names, such as that of a sum.
    #[must_use]
    pub fn unlinked(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.ways.plain.extend(names);
        self
    }

    /// With a period that a reader can select in the chart, where the script runs: the names of the parameters
    /// of the page's address that contain its start and its end.
    #[must_use]
    pub fn zoomed(mut self, from: &str, until: &str) -> Self {
        self.ways.zoom = Some((from.to_owned(), until.to_owned()));
        self
    }

    /// The chart, where there is one.
    pub(super) fn pictured(&self) -> Option<(&str, &Chart)> {
        self.chart
            .as_ref()
            .map(|chart| (self.title.as_str(), chart))
    }

    /// Its title.
    pub(super) fn heading(&self) -> &str {
        &self.title
    }

    /// Its sentences of explanation.
    pub(super) fn remarks(&self) -> &[String] {
        &self.notes
    }

    /// The table, where there is one.
    pub fn shown_table(&self) -> Option<&Table> {
        self.table.as_ref()
    }

    /// As HTML; `id` is unique on the page, `level` that of its heading, 2 to 6. A `class` places its parts.
    pub(super) fn html(&self, id: &str, level: u8, zone: Zone, class: &str) -> String {
        let title = escaped(&self.title);
        let mut out = format!("<section{class}>\n<h{level}>{title}</h{level}>\n");
        if let Some(chart) = &self.chart {
            match chart.obstacle() {
                Some(why) => {
                    let _ = writeln!(out, "<p class=\"absent\">{}</p>", escaped(&why));
                }
                None => {
                    let _ = writeln!(
                        out,
                        "<figure>\n{}</figure>",
                        inline(chart, &self.title, id, zone, &self.ways)
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
