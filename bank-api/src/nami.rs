//! The answer lines of the NAMI routes. The daemon writes one for each object of a document, and the
//! scripts read them.
//!
//! One line per object, LF-terminated, `text/plain; charset=utf-8`:
//!
//! | line | meaning |
//! |---|---|
//! | `57600`, `57600:TID` | the cost of a quote, and its TID if it is a row |
//! | `tid TID` | the TID of a create, if requested |
//! | `ok TEXT` | done |
//! | `warning CODE: TEXT` | done, with a warning |
//! | `refused CODE: TEXT` | refused by a rule |
//! | `error CODE: TEXT` | the object is unusable; a single line refers to the whole document, of which
//!   nothing was applied |
//!
//! A line never contains a control character, even if its source text does.

use std::fmt::{self, Write as _};

use crate::error::row_or_internal;
use crate::exit::nami as exit;
use crate::reason::bounded;

/// Longest text of a line in bytes. A longer text is cut at a character boundary.
const MAX_TEXT: usize = 160;

/// The answer to one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Cost of a quote.
    Cost {
        /// Plain decimal in credits: at most 6 places, no exponent, no separators (`nami.md` 2).
        cost: String,
        /// The quote's id, `[A-Za-z0-9_-]{1,32}`, if requested.
        tid: Option<String>,
    },
    /// A create's TID, `[A-Za-z0-9_-]{1,32}`.
    Tid(String),
    /// Done.
    Ok(String),
    /// Done, with something that the script shows on standard error.
    Warning {
        /// Kind of the warning, such as `unbilled`.
        code: String,
        /// For people.
        text: String,
    },
    /// Refused by a rule.
    Refused {
        /// The refusal code, a row of [`crate::error::TABLE`].
        code: String,
        /// For people.
        text: String,
    },
    /// The object, or the whole document, is unusable.
    Error {
        /// The refusal code, a row of [`crate::error::TABLE`].
        code: String,
        /// For people: names element and object number.
        text: String,
    },
}

/// A line that is none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an answer line of the bank")]
pub struct BadLine;

impl Line {
    /// A quote's answer.
    pub fn cost(cost: impl Into<String>, tid: Option<String>) -> Self {
        Self::Cost {
            cost: cost.into(),
            tid,
        }
    }

    /// Done.
    pub fn ok(text: impl Into<String>) -> Self {
        Self::Ok(text.into())
    }

    /// Done, with a warning.
    pub fn warning(code: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Warning {
            code: code.into(),
            text: text.into(),
        }
    }

    /// Refused by a rule.
    pub fn refused(code: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Refused {
            code: code.into(),
            text: bounded(text),
        }
    }

    /// An unusable document.
    pub fn error(code: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Error {
            code: code.into(),
            text: bounded(text),
        }
    }

    /// Reads one line, without its line feed.
    pub fn parse(line: &str) -> Result<Self, BadLine> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "tid" && is_tid(rest) {
            return Ok(Self::Tid(rest.to_owned()));
        }
        if word == "ok" {
            return Ok(Self::Ok(rest.to_owned()));
        }
        if matches!(word, "warning" | "refused" | "error") {
            let (code, text) = rest.split_once(':').unwrap_or((rest, ""));
            if !is_code(code) {
                return Err(BadLine);
            }
            let (code, text) = (code.to_owned(), text.trim_start().to_owned());
            return Ok(match word {
                "warning" => Self::Warning { code, text },
                "refused" => Self::Refused { code, text },
                _ => Self::Error { code, text },
            });
        }
        let (cost, tid) = line
            .split_once(':')
            .map_or((line, None), |(cost, tid)| (cost, Some(tid)));
        if !is_cost(cost) || !tid.is_none_or(is_tid) {
            return Err(BadLine);
        }
        Ok(Self::Cost {
            cost: cost.to_owned(),
            tid: tid.map(str::to_owned),
        })
    }

    /// Reads a whole answer: every line must be one of ours, and there must be one.
    pub fn parse_all(body: &str) -> Result<Vec<Self>, BadLine> {
        let lines: Vec<Self> = body.lines().map(Self::parse).collect::<Result<_, _>>()?;
        if lines.is_empty() {
            Err(BadLine)
        } else {
            Ok(lines)
        }
    }

    /// HTTP status of this line alone: 200 if done, else by the table.
    pub fn http_status(&self) -> u16 {
        match self {
            Self::Cost { .. } | Self::Tid(_) | Self::Ok(_) | Self::Warning { .. } => 200,
            Self::Refused { code, .. } | Self::Error { code, .. } => row_or_internal(code).http,
        }
    }

    /// Exit code of a script for this line alone, before the site's map.
    pub fn exit(&self) -> u8 {
        match self {
            Self::Cost { .. } | Self::Tid(_) | Self::Ok(_) | Self::Warning { .. } => exit::DONE,
            Self::Refused { code, .. } | Self::Error { code, .. } => row_or_internal(code).nami,
        }
    }

    /// The line that determines the status of the answer: the highest number, and the first of equal ones.
    /// A warning takes precedence over a plain success.
    pub fn worst(lines: &[Self]) -> Option<&Self> {
        let rank = |line: &Self| (line.http_status(), matches!(line, Self::Warning { .. }));
        lines.iter().reduce(|worst, line| {
            if rank(line) > rank(worst) {
                line
            } else {
                worst
            }
        })
    }

    /// The body of an answer.
    pub fn render(lines: &[Self]) -> String {
        lines
            .iter()
            .fold(String::with_capacity(64 * lines.len()), |mut body, line| {
                // Writing to a string cannot fail.
                let _ = writeln!(body, "{line}");
                body
            })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cost { cost, tid: None } => f.write_str(cost),
            Self::Cost {
                cost,
                tid: Some(tid),
            } => write!(f, "{cost}:{tid}"),
            Self::Tid(tid) => write!(f, "tid {tid}"),
            Self::Ok(text) => write!(f, "ok {}", OneLine(text)),
            Self::Warning { code, text } => write!(f, "warning {code}: {}", OneLine(text)),
            Self::Refused { code, text } => write!(f, "refused {code}: {}", OneLine(text)),
            Self::Error { code, text } => write!(f, "error {code}: {}", OneLine(text)),
        }
    }
}

/// Text without control characters and of bounded length.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Fast path: nearly every line consists of these characters only.
        let is_plain = |byte: u8| (b' '..=b'~').contains(&byte);
        if self.0.len() <= MAX_TEXT && self.0.bytes().all(is_plain) {
            return f.write_str(self.0);
        }
        let mut length = 0;
        for letter in self.0.chars() {
            length += letter.len_utf8();
            if length > MAX_TEXT {
                break;
            }
            let letter = if letter.is_control() { ' ' } else { letter };
            fmt::Write::write_char(f, letter)?;
        }
        Ok(())
    }
}

fn is_code(code: &str) -> bool {
    !code.is_empty()
        && code
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

/// Digits, and at most 6 more behind a point.
fn is_cost(cost: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match cost.split_once('.') {
        None => digits(cost) && cost.len() <= 19,
        Some((whole, part)) => {
            digits(whole) && digits(part) && part.len() <= 6 && whole.len() <= 19
        }
    }
}

fn is_tid(tid: &str) -> bool {
    (1..=32).contains(&tid.len())
        && tid
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_back_as_written() {
        for (line, text, status, exit) in [
            (Line::cost("57600", None), "57600", 200, 0),
            (
                Line::cost("3571.2", Some("q1001".into())),
                "3571.2:q1001",
                200,
                0,
            ),
            (Line::Tid("q-1".into()), "tid q-1", 200, 0),
            (
                Line::ok("lien 57600 credits"),
                "ok lien 57600 credits",
                200,
                0,
            ),
            (
                Line::warning("unbilled", "no project \"x\""),
                "warning unbilled: no project \"x\"",
                200,
                0,
            ),
            (
                Line::refused("insufficient_funds", "need 57600, have 42400 credits"),
                "refused insufficient_funds: need 57600, have 42400 credits",
                402,
                78,
            ),
            (
                Line::refused("not_a_member", "bob: chem"),
                "refused not_a_member: bob: chem",
                403,
                74,
            ),
            (
                Line::error("too_large", "above 1 MiB"),
                "error too_large: above 1 MiB",
                413,
                31,
            ),
            (
                Line::refused("from_the_future", "?"),
                "refused from_the_future: ?",
                500,
                70,
            ),
        ] {
            assert_eq!(line.to_string(), text);
            assert_eq!(Line::parse(text), Ok(line.clone()));
            assert_eq!((line.http_status(), line.exit()), (status, exit), "{text}");
        }
    }

    #[test]
    fn what_is_no_line_is_refused() {
        for text in [
            "",
            "<html>",
            "HTTP/1.1 200 OK",
            "-5",
            "1e6",
            "5.",
            "1.1234567",
            "5:",
            "5:a=b",
            "5:a:b",
            "tid",
            "tid a b",
            "refused",
            "refused : x",
            "error Bad: x",
            "12345678901234567890",
        ] {
            assert_eq!(Line::parse(text), Err(BadLine), "{text}");
        }
        assert_eq!(Line::parse_all(""), Err(BadLine));
        assert_eq!(Line::parse_all("ok a\n<html>\n"), Err(BadLine));
    }

    #[test]
    fn a_text_cannot_add_a_line() {
        let line = Line::ok("a\nrefused x: y\u{85}\u{7f}");
        assert_eq!(line.to_string(), "ok a refused x: y  ");
        assert_eq!(Line::ok("é".repeat(100)).to_string().len(), 3 + 160);
    }

    #[test]
    fn the_worst_line_decides() {
        let funds = Line::refused("insufficient_funds", "");
        let unknown = Line::refused("project_unknown", "");
        let busy = Line::refused("busy", "");
        let warned = Line::warning("unbilled", "");
        let fine = Line::ok("");
        for (lines, expected) in [
            (vec![fine.clone(), funds.clone()], &funds),
            (vec![unknown.clone(), funds.clone()], &unknown),
            (vec![unknown.clone(), busy.clone(), fine.clone()], &busy),
            (vec![fine.clone(), warned.clone(), fine], &warned),
        ] {
            assert_eq!(Line::worst(&lines), Some(expected));
        }
        assert_eq!(Line::worst(&[]), None);
        assert_eq!(
            Line::render(&[Line::cost("1", None), Line::ok("b")]),
            "1\nok b\n"
        );
    }
}
