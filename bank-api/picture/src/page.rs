//! A report as one page: nothing is fetched, nothing runs, and it prints well.

use std::fmt::Write as _;

use super::calendar::offsets;
use super::data::Span;
use super::layout::{Row, rows};
use super::section::Section;
use super::style;
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

impl Report {
    /// Every section, in order.
    pub(super) fn sections(&self) -> impl Iterator<Item = &Section> {
        self.parts.iter().flat_map(|part| &part.sections)
    }

    /// The page; fails where it would be longer than [`PAGE_MAX`].
    pub(super) fn html(&self) -> Result<String, TooLarge> {
        let beside = self.parts.len() > 1;
        let mut out = head(&self.title);
        let _ = writeln!(out, "<h1>{}</h1>", escaped(&self.title));
        if let Some(period) = self.period {
            let _ = writeln!(out, "<p>{}</p>", escaped(&period_text(period, self.zone)));
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
            let _ = writeln!(out, "<p>{}</p>", escaped(&period_text(period, self.zone)));
        }
        let level = if part.heading.is_some() { 3 } else { 2 };
        let id = format!("p{at}");
        if beside {
            for (number, section) in part.sections.iter().enumerate() {
                out.push_str(&section.html(&format!("{id}s{number}"), level, self.zone, ""));
                within_limit(out)?;
            }
        } else {
            let mut number = 0;
            for row in rows(&part.sections) {
                out.push_str(&placed(&row, &id, &mut number, level, self.zone));
                within_limit(out)?;
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

fn within_limit(page: &str) -> Result<(), TooLarge> {
    if page.len() > PAGE_MAX {
        return Err(TooLarge::Page { bytes: page.len() });
    }
    Ok(())
}

/// A row of sections as HTML; `number` counts the sections of the page.
fn placed(row: &Row<'_>, id: &str, number: &mut usize, level: u8, zone: Zone) -> String {
    let (begin, class, end) = match row {
        Row::Whole(_) => ("", " class=\"whole\"", ""),
        Row::Pair { is_small: true, .. } => ("<div class=\"pair small\">\n", "", "</div>\n"),
        Row::Pair { .. } => ("<div class=\"pair\">\n", "", "</div>\n"),
    };
    let mut out = begin.to_owned();
    for section in row.sections() {
        out.push_str(&section.html(&format!("{id}s{number}"), level, zone, class));
        *number += 1;
    }
    out + end
}

/// Sections within a page that is made elsewhere, two beside each other where there is room.
pub fn figures(sections: &[Section], level: u8, zone: Zone) -> String {
    let mut number = 0;
    rows(sections)
        .iter()
        .map(|row| placed(row, "f", &mut number, level, zone))
        .collect()
}

/// A section within a page that is made elsewhere; `id` is unique on the page.
pub fn embedded(section: &Section, id: &str, level: u8, zone: Zone) -> String {
    section.html(id, level, zone, "")
}

/// `from 2026-10-01 to 2026-11-01 (exclusive), +0100`.
pub(super) fn period_text(period: Span, zone: Zone) -> String {
    let (from, to) = (zone.date(period.from), zone.date(period.to));
    let zone = offsets(period.from, period.to, zone);
    format!("Period: from {from} to {to} (exclusive), {zone}.")
}

/// What begins every page, up to the body.
///
/// The policy allows nothing but the one style, which is named by its digest.
pub fn head(title: &str) -> String {
    let style = [style::CHART, style::FIGURE, style::PAGE].concat();
    let style = format!("\n{style}");
    let digest = bank_api::sign::content_digest(style.as_bytes());
    let digest = digest.trim_start_matches("sha-256=:").trim_end_matches(':');
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{}</title>\n<style>{style}</style></head><body>\n<main>\n",
        escaped(title)
    )
}

/// What ends every page.
pub fn foot() -> &'static str {
    "</main></body></html>\n"
}
