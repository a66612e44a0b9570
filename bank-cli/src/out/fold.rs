//! How a table fits the terminal (docs/reference/cli.md, "Tables").
//!
//! The first of these that is no wider than the terminal: all columns; all columns, with the last text
//! column wrapped between words; the same two without columns that are empty in every row; the same two
//! without the secondary columns either; each row as a record.
//!
//! A list that is printed in parts keeps the [`Layout`] of its first part as long as the values of the next
//! ones fit in it.

use super::{Column, Kind, width};

/// The width of a text column that is wrapped, at least.
const WRAPPED_MIN: usize = 12;
/// Spaces between two columns.
const GAP: usize = 2;

/// A table as it is printed.
pub(super) struct Folded {
    /// Its lines.
    pub(super) text: String,
    /// The titles of the columns that were left out.
    pub(super) left_out: Vec<String>,
    /// False if the rows continue those of the part before.
    pub(super) is_new: bool,
}

/// How the rows of a table are laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layout {
    /// Columns, by their index, and the width of each.
    Columns(Vec<usize>, Vec<usize>),
    /// A record for each row.
    Records,
}

/// The lines of a table, or of the next part of one. `rows` have a cell for each of `columns`; `keeps_all`
/// if no column may be left out. `layout` is that of the part before, and becomes that of this part.
pub(super) fn folded(
    rows: &[Vec<String>],
    columns: &[&Column],
    limit: usize,
    header: bool,
    keeps_all: bool,
    layout: &mut Option<Layout>,
) -> Folded {
    let table = Table {
        rows,
        columns,
        limit,
        header,
    };
    let kept = layout.as_ref().and_then(|layout| table.kept(layout));
    let is_new = kept.is_none();
    let used = kept.unwrap_or_else(|| table.layout(keeps_all));
    let (text, left_out) = match &used {
        Layout::Columns(chosen, widths) => (
            table.text(chosen, widths, header && is_new),
            table.left_out(chosen),
        ),
        Layout::Records => (table.records(), Vec::new()),
    };
    // An empty line is between two records, and above a part that is laid out again.
    let is_apart = layout.is_some() && (is_new || used == Layout::Records);
    *layout = Some(used);
    Folded {
        text: if is_apart { format!("\n{text}") } else { text },
        left_out,
        is_new,
    }
}

/// One row, a value on each line behind the title of its column.
pub(super) fn record(cells: &[String], columns: &[&Column], limit: usize) -> String {
    let titles = columns.iter().map(|column| width(column.title.trim()));
    let title = titles.max().unwrap_or(0);
    let room = limit.saturating_sub(title + GAP).max(1);
    let mut out = String::new();
    // A mark has no title, and no line where there is none.
    let marked =
        |(column, cell): &(&&Column, &String)| !column.title.is_empty() || !cell.trim().is_empty();
    for (column, cell) in columns.iter().zip(cells).filter(marked) {
        let value = cell.trim_start();
        let parts = if column.is_text() {
            wrapped(value, room)
        } else {
            vec![value.to_owned()]
        };
        let name = column.title.trim();
        let mut head = format!("{name}{:blank$}", "", blank = title - width(name));
        for part in parts {
            let line = format!("{head}{:GAP$}{part}", "");
            out.push_str(line.trim_end());
            out.push('\n');
            head = " ".repeat(title);
        }
    }
    out
}

struct Table<'a> {
    rows: &'a [Vec<String>],
    columns: &'a [&'a Column],
    limit: usize,
    header: bool,
}

impl Table<'_> {
    /// The layout of a part without one before it.
    fn layout(&self, keeps_all: bool) -> Layout {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        if let Some(widths) = self.widths(&all) {
            return Layout::Columns(all, widths);
        }
        if keeps_all {
            return Layout::Records;
        }
        let is_primary = |at: &usize| self.columns.get(*at).is_some_and(|own| !own.is_secondary);
        let filled: Vec<usize> = all.into_iter().filter(|at| self.is_filled(*at)).collect();
        let primary: Vec<usize> = filled.iter().copied().filter(is_primary).collect();
        for chosen in [filled, primary] {
            if let Some(widths) = self.widths(&chosen).filter(|_| !chosen.is_empty()) {
                return Layout::Columns(chosen, widths);
            }
        }
        Layout::Records
    }

    /// Whether a row has something in a column.
    fn is_filled(&self, at: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|cells| cells.get(at));
        cells.any(|cell| !cell.trim().is_empty())
    }

    /// The layout of the part before, with columns as wide as these rows require; none if they do not fit.
    fn kept(&self, layout: &Layout) -> Option<Layout> {
        let Layout::Columns(chosen, before) = layout else {
            return Some(Layout::Records);
        };
        // A column that was left out because it was empty is not any more.
        let mut columns = self.columns.iter().enumerate();
        let is_missed = |(at, own): (usize, &&Column)| {
            !own.is_secondary && !chosen.contains(&at) && self.is_filled(at)
        };
        if columns.any(is_missed) {
            return None;
        }
        let natural = chosen.iter().map(|at| self.natural(*at));
        let widths: Vec<usize> = natural
            .zip(before)
            .map(|(natural, before)| natural.max(*before))
            .collect();
        let widths = self.fitting(chosen, widths)?;
        Some(Layout::Columns(chosen.clone(), widths))
    }

    /// The widths of some columns, if they fit. A single column always does.
    fn widths(&self, chosen: &[usize]) -> Option<Vec<usize>> {
        let natural: Vec<usize> = chosen.iter().map(|at| self.natural(*at)).collect();
        let least = |at: &usize| {
            self.columns
                .get(*at)
                .map_or(0, |column| column.width.into())
        };
        let wide: Vec<usize> = chosen
            .iter()
            .zip(&natural)
            .map(|(at, natural)| least(at).max(*natural))
            .collect();
        if total(&wide) <= self.limit {
            return Some(wide);
        }
        self.fitting(chosen, natural)
    }

    /// These widths, with the last text column narrower if they do not fit.
    fn fitting(&self, chosen: &[usize], mut widths: Vec<usize>) -> Option<Vec<usize>> {
        if chosen.len() == 1 || total(&widths) <= self.limit {
            return Some(widths);
        }
        let is_text = |(at, width): (&usize, &usize)| {
            let column = self.columns.get(*at);
            column.is_some_and(|c| c.kind == Kind::Text) && *width > WRAPPED_MIN
        };
        let text = chosen.iter().zip(&widths).rposition(is_text)?;
        let whole = std::mem::take(widths.get_mut(text)?);
        let room = self.limit.checked_sub(total(&widths))?;
        let needed = self.longest_word(*chosen.get(text)?).max(WRAPPED_MIN);
        *widths.get_mut(text)? = room.min(whole);
        (room >= needed).then_some(widths)
    }

    /// The width of the widest cell of a column.
    fn natural(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|cells| cells.get(at));
        let widest = cells.map(|cell| width(cell)).max().unwrap_or(0);
        widest.max(self.head(at))
    }

    fn head(&self, at: usize) -> usize {
        let title = self.columns.get(at).filter(|_| self.header);
        title.map_or(0, |column| width(&column.title))
    }

    fn longest_word(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|cells| cells.get(at));
        let words = cells.flat_map(|cell| words(cell));
        let longest = words.map(|word| width(word.trim_end())).max().unwrap_or(0);
        longest.max(self.head(at))
    }

    /// The titles of the columns that are not among the chosen ones.
    fn left_out(&self, chosen: &[usize]) -> Vec<String> {
        let columns = self.columns.iter().enumerate();
        columns
            .filter(|(at, column)| !chosen.contains(at) && !column.title.trim().is_empty())
            .map(|(_, column)| column.title.trim().to_owned())
            .collect()
    }

    fn records(&self) -> String {
        let record = |cells: &Vec<String>| record(cells, self.columns, self.limit);
        self.rows.iter().map(record).collect::<Vec<_>>().join("\n")
    }

    fn text(&self, chosen: &[usize], widths: &[usize], header: bool) -> String {
        let mut out = String::new();
        if header {
            let heads = self.columns.iter().map(|column| column.title.to_string());
            self.push(&mut out, &heads.collect::<Vec<_>>(), chosen, widths);
        }
        for cells in self.rows {
            self.push(&mut out, cells, chosen, widths);
        }
        out
    }

    /// One row; values that are wider than their column go on below themselves.
    fn push(&self, out: &mut String, cells: &[String], chosen: &[usize], widths: &[usize]) {
        let places: Vec<(Vec<String>, usize, bool)> = chosen
            .iter()
            .zip(widths)
            .filter_map(|(at, own)| {
                let (cell, column) = (cells.get(*at)?, self.columns.get(*at)?);
                let lines = if column.kind == Kind::Text && chosen.len() > 1 {
                    wrapped(cell, *own)
                } else {
                    vec![cell.clone()]
                };
                Some((lines, *own, column.is_right()))
            })
            .collect();
        let lines = places.iter().map(|(lines, ..)| lines.len()).max();
        for n in 0..lines.unwrap_or(1) {
            let parts = places.iter().map(|(lines, own, is_right)| {
                let part = lines.get(n).map_or("", String::as_str);
                let blank = " ".repeat(own.saturating_sub(width(part)));
                if *is_right {
                    blank + part
                } else {
                    part.to_owned() + &blank
                }
            });
            let line = parts.collect::<Vec<_>>().join(&" ".repeat(GAP));
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}

/// The width of a line of columns.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// A text as lines that are no wider than `room`: broken between words, and inside a word only if it is
/// wider than the room.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    if width(text) <= room {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words(text) {
        if !line.is_empty() && width(&line) + width(word.trim_end()) > room {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
        }
        if width(word.trim_end()) <= room {
            line.push_str(word);
            continue;
        }
        for letter in word.chars() {
            let own = width(letter.encode_utf8(&mut [0; 4]));
            if own > 0 && !line.is_empty() && width(&line) + own > room {
                lines.push(std::mem::take(&mut line));
            }
            line.push(letter);
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// The words of a text, each with the space or comma behind it. A comma between two digits is part of a number.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let bytes = rest.as_bytes();
        let ends = |(at, byte): (usize, &u8)| match byte {
            b' ' => Some(at + 1),
            b',' => {
                let before = at.checked_sub(1).and_then(|at| bytes.get(at));
                let is_in_number = digit(before) && digit(bytes.get(at + 1));
                (!is_in_number).then_some(at + 1)
            }
            _ => None,
        };
        let end = bytes.iter().enumerate().find_map(ends);
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_break_between_words_and_inside_them_only_if_they_must() {
        for (text, room, lines) in [
            ("", 5, &[""][..]),
            ("amy bob", 7, &["amy bob"]),
            ("amy bob", 6, &["amy", "bob"]),
            ("amy,bob,eve", 8, &["amy,bob,", "eve"]),
            ("now 16,000.000 left", 8, &["now", "16,000.0", "00 left"]),
            ("now 16,000.000 left", 10, &["now", "16,000.000", "left"]),
            ("chem, 7,amy", 6, &["chem,", "7,amy"]),
            ("a abcdefgh", 4, &["a", "abcd", "efgh"]),
            ("日本語", 5, &["日本", "語"]),
            ("u\u{308}u\u{308}", 1, &["u\u{308}", "u\u{308}"]),
        ] {
            assert_eq!(wrapped(text, room), lines, "{text:?} {room}");
        }
    }
}
