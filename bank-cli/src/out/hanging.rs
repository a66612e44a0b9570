//! How lines that are no rows of a table fit the terminal (docs/reference/cli.md, "Tables").
//!
//! Screens such as that of `bank job` are lines of fields, with two spaces or more between two of them. A
//! line that is wider than the terminal continues below itself.

use anstream::adapter::strip_str;
use bank_picture::printable::screened;

use super::width;

/// The widest remark in brackets that is kept on one line.
const REMARK_MAX: usize = 40;
/// The room of a continuation, at least: a time and a large amount fit.
const ROOM_MIN: usize = 28;

/// Sentences above or below a table, folded between words at the width of the terminal.
pub(crate) fn sentences(text: &str, limit: usize) -> String {
    fitted(text, limit, |_| 0)
}

/// Each line of a text, no wider than the terminal. The continuations of a line begin behind the number of
/// columns that `indent` returns for it.
pub(crate) fn fitted(text: &str, limit: usize, indent: impl Fn(&str) -> usize) -> String {
    let most = limit.saturating_sub(ROOM_MIN);
    screened(text)
        .lines()
        .map(|line| hanging(line, indent(line).min(most), limit) + "\n")
        .collect()
}

/// One line; a field that fits on a line is not broken, and a time never is.
fn hanging(line: &str, indent: usize, limit: usize) -> String {
    if shown_width(line) <= limit {
        return line.to_owned();
    }
    let mut writer = Writer {
        done: String::new(),
        line: String::new(),
        indent,
        limit,
    };
    for (gap, field) in fields(line) {
        writer.field(gap, field);
    }
    writer.done + writer.line.trim_end()
}

struct Writer {
    done: String,
    line: String,
    indent: usize,
    limit: usize,
}

impl Writer {
    fn field(&mut self, gap: &str, field: &str) {
        let own = shown_width(field);
        if own + self.indent > self.limit {
            let mut gap = gap;
            for piece in pieces(field) {
                self.piece(gap, piece);
                gap = " ";
            }
            return;
        }
        if !self.takes(gap, own) {
            self.next();
            self.line.push_str(field);
            return;
        }
        self.line.push_str(gap);
        self.line.push_str(field);
    }

    /// A part of a field; broken inside only if no line is wide enough for it.
    fn piece(&mut self, gap: &str, piece: &str) {
        let own = shown_width(piece);
        if self.takes(gap, own) {
            self.line.push_str(gap);
            self.line.push_str(piece);
            return;
        }
        if !self.is_fresh() {
            self.next();
        }
        if own + self.indent <= self.limit {
            self.line.push_str(piece);
            return;
        }
        let mut is_style = false;
        for letter in piece.chars() {
            is_style |= letter == '\u{1b}';
            let own = if is_style {
                0
            } else {
                width(letter.encode_utf8(&mut [0; 4]))
            };
            is_style &= letter != 'm';
            if own > 0 && !self.takes("", own) {
                self.next();
            }
            self.line.push(letter);
        }
    }

    fn takes(&self, gap: &str, own: usize) -> bool {
        shown_width(&self.line) + gap.len() + own <= self.limit
    }

    fn is_fresh(&self) -> bool {
        self.line.trim_start().is_empty()
    }

    fn next(&mut self) {
        self.done.push_str(self.line.trim_end());
        self.done.push('\n');
        self.line = " ".repeat(self.indent);
    }
}

/// The width without colours.
fn shown_width(text: &str) -> usize {
    if text.contains('\u{1b}') {
        return width(&strip_str(text).to_string());
    }
    width(text)
}

/// The fields of a line, each with the spaces before it.
fn fields(line: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let field = rest.trim_start_matches(' ');
        let (gap, field) = rest.split_at(rest.len() - field.len());
        let end = field.find("  ").unwrap_or(field.len());
        let (field, behind) = field.split_at(end);
        if !field.is_empty() {
            found.push((gap, field));
        }
        rest = behind;
    }
    found
}

/// The parts of a field that are kept on one line: words, times, and short remarks in brackets.
fn pieces(field: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = field;
    while !rest.is_empty() {
        let end = piece_end(rest);
        let (piece, behind) = rest.split_at(end);
        found.push(piece);
        rest = behind.trim_start_matches(' ');
    }
    found
}

/// Where the first part of a text ends.
fn piece_end(text: &str) -> usize {
    let word = text.find(' ').unwrap_or(text.len());
    if text.starts_with('(')
        && let Some(end) = text.find(')')
    {
        let (_, rest) = text.split_at(end);
        let behind = rest.find(' ').map_or(text.len(), |more| end + more);
        let (remark, _) = text.split_at(behind);
        if shown_width(remark) <= REMARK_MAX {
            return behind;
        }
    }
    let is_moment = |text: &str| {
        let letters = text.bytes().zip("0000-00-00 00:00:00".bytes());
        text.len() >= 19
            && letters.take(19).all(|(is, form)| match form {
                b'0' => is.is_ascii_digit(),
                form => is == form,
            })
    };
    if is_moment(text) {
        let behind = text.get(11..).and_then(|time| time.find(' '));
        return behind.map_or(text.len(), |more| 11 + more);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_continues_below_itself() {
        for (line, indent, limit, want) in [
            ("short  line", 4, 20, "short  line"),
            ("", 4, 20, ""),
            // A field that fits on a line of its own is not broken.
            (
                "name  one two three  four five",
                6,
                22,
                "name  one two three\n      four five",
            ),
            // One that fits nowhere fills the lines.
            (
                "name  one two three four five",
                6,
                17,
                "name  one two\n      three four\n      five",
            ),
            (
                "  x 2026-11-19 08:00:12, y",
                4,
                24,
                "  x 2026-11-19 08:00:12,\n    y",
            ),
            (
                "cost is 1,152.000 (of 9 left) now",
                2,
                20,
                "cost is 1,152.000\n  (of 9 left) now",
            ),
            ("abcdefghij", 2, 6, "abcdef\n  ghij"),
            (
                "a \u{1b}[33mred red\u{1b}[0m b",
                2,
                10,
                "a \u{1b}[33mred red\u{1b}[0m\n  b",
            ),
        ] {
            let text = hanging(line, indent, limit);
            assert_eq!(text, want, "{line:?}");
        }
        let text = sentences("At 1,310.000 SU a day it is empty.\nEnd.", 20);
        assert_eq!(text, "At 1,310.000 SU a\nday it is empty.\nEnd.\n");
        assert_eq!(sentences("", 20), "");
        let text = fitted("at 2026-11-19 08:00:12\ncc\n", 20, |_| 10);
        assert_eq!(text, "at\n2026-11-19 08:00:12\ncc\n");
    }
}
