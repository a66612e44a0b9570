//! What a script reads in a drawing: groups of marks with their names and exact amounts, and links of marks.
//!
//! A drawing is complete without a script. Attributes only repeat what the table has.

use std::fmt::Write as _;

use super::canvas::{Canvas, px};
use super::number::Number;
use super::words::escaped;

/// Instants of one series whose amounts a script shows.
pub(super) const INSTANTS: usize = 120;

impl Canvas {
    /// Adds an attribute to the whole drawing.
    pub(super) fn fact(&mut self, name: &str, value: &str) {
        put(&mut self.facts, name, value);
    }

    /// Draws marks in a group of its own. Their hatching is part of it: they can be hidden together.
    pub(super) fn group(
        &mut self,
        class: &str,
        facts: &[(&str, &str)],
        draw: impl FnOnce(&mut Self),
    ) {
        let mut text = String::new();
        for (name, value) in facts {
            put(&mut text, name, value);
        }
        let _ = writeln!(self.body, "<g class=\"{class}\"{text}>");
        draw(self);
        self.hatch();
        self.body.push_str("</g>\n");
    }

    /// Draws the marks of a series.
    pub(super) fn series(
        &mut self,
        facts: &[(&'static str, String)],
        draw: impl FnOnce(&mut Self),
    ) {
        let facts: Vec<(&str, &str)> = facts.iter().map(|(k, v)| (*k, v.as_str())).collect();
        self.group("series", &facts, draw);
    }

    /// Draws a mark that is a link if there is an address. The table has the same link for the keyboard.
    pub(super) fn linked(&mut self, address: Option<String>, draw: impl FnOnce(&mut Self)) {
        let Some(address) = address else {
            return draw(self);
        };
        let _ = write!(
            self.body,
            "<a href=\"{}\" tabindex=\"-1\">",
            escaped(&address)
        );
        draw(self);
        self.body.push_str("</a>\n");
    }
}

fn put(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, " data-{name}=\"{}\"", escaped(value));
}

/// Places as a list for a script.
pub(super) fn places(all: impl Iterator<Item = i64>) -> String {
    all.map(px).collect::<Vec<_>>().join(" ")
}

/// Amounts as a list for a script, with all their decimals; `-` if unknown.
pub(super) fn values(all: impl Iterator<Item = Option<Number>>) -> String {
    all.map(|value| value.map_or_else(|| "-".to_owned(), Number::raw))
        .collect::<Vec<_>>()
        .join(" ")
}
