//! Result of a document, and its output: exit condition, standard output, one line on standard
//! error (`nami.md` 2.2).

use bank_api::error::{Problem, nami_exit_of_status, row, row_or_internal};
use bank_api::exit::nami as exit;
use bank_api::nami::Line;

use crate::event::Event;

/// Longest line on standard error, in bytes, with its line feed (`nami.md` 2).
const MAX_LINE: usize = 200;

/// Why a call ends as it does; each has a code of its own that a site may map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Done,
    Connect,
    Timeout,
    Document,
    Auth,
    Denied,
    Internal,
    Unsupported,
    Refused,
    Funds,
    Other,
}

impl Condition {
    /// The words of the exit map, `exit.WORD`.
    pub(crate) const MAPPED: [(Self, &'static str); 10] = [
        (Self::Funds, "funds"),
        (Self::Refused, "refused"),
        (Self::Connect, "connect"),
        (Self::Timeout, "timeout"),
        (Self::Document, "document"),
        (Self::Auth, "auth"),
        (Self::Denied, "denied"),
        (Self::Internal, "internal"),
        (Self::Unsupported, "unsupported"),
        (Self::Other, "other"),
    ];

    /// The condition of a word of the exit map.
    pub(crate) fn mapped(word: &str) -> Option<Self> {
        Self::MAPPED
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(condition, _)| *condition)
    }

    /// The exit code before the site's map.
    pub(crate) fn exit(self) -> u8 {
        match self {
            Self::Done => exit::DONE,
            Self::Connect => exit::CONNECT,
            Self::Timeout => exit::TIMEOUT,
            Self::Document => exit::DOCUMENT,
            Self::Auth => exit::AUTH,
            Self::Denied => exit::DENIED,
            Self::Internal => exit::INTERNAL,
            Self::Unsupported => exit::UNSUPPORTED,
            Self::Refused => exit::REFUSED,
            Self::Funds => exit::FUNDS,
            Self::Other => exit::OTHER,
        }
    }

    fn of_exit(code: u8) -> Self {
        let all = Self::MAPPED.iter().map(|(condition, _)| *condition);
        [Self::Done]
            .into_iter()
            .chain(all)
            .find(|known| known.exit() == code)
            .unwrap_or(Self::Other)
    }
}

/// Result of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) condition: Condition,
    /// The refusal code, where the bank gave one.
    pub(crate) code: String,
    /// Text for standard error, without the program's name; empty for none.
    pub(crate) text: String,
    /// Text for standard output: the cost of a quote, or the TID of a create if the site enables
    /// it; otherwise always empty.
    pub(crate) stdout: String,
    /// Whether one of several objects may be accepted later, regardless of the others.
    pub(crate) again: bool,
}

impl Outcome {
    pub(crate) fn new(condition: Condition, text: impl Into<String>) -> Self {
        Self {
            condition,
            code: String::new(),
            text: text.into(),
            stdout: String::new(),
            again: false,
        }
    }

    pub(crate) fn unreachable(why: &str) -> Self {
        Self::new(Condition::Connect, format!("bank unreachable: {why}"))
    }

    pub(crate) fn timed_out() -> Self {
        Self::new(Condition::Timeout, "bank unreachable: no answer in time")
    }

    /// Whether the bank has taken the document.
    pub(crate) fn is_done(&self) -> bool {
        self.condition == Condition::Done
    }

    /// Whether another document would fare no better now: this ends a drain.
    pub(crate) fn is_outage(&self) -> bool {
        use Condition::{Auth, Connect, Timeout};
        matches!(self.condition, Connect | Timeout | Auth)
            || ["busy", "database_moved", "disk_full"].contains(&self.code.as_str())
    }

    /// Whether sending the document again can never help (decisions.md 27).
    pub(crate) fn is_final(&self) -> bool {
        is_final(self.condition, &self.code) && !self.again
    }

    /// Meaning of an answer. It has been verified, if that is required.
    pub(crate) fn of_answer(event: Event, status: u16, body: &[u8]) -> Self {
        if status == 401 {
            let text = "not authenticated: the key, the time or the signature is wrong";
            return Self {
                code: "unauthorized".into(),
                ..Self::new(Condition::Auth, text)
            };
        }
        let lines = std::str::from_utf8(body)
            .ok()
            .and_then(|text| Line::parse_all(text).ok());
        if let Some(lines) = lines {
            return Self::of_lines(event, status, &lines);
        }
        let problem = Problem::from_json(body).filter(|problem| row(&problem.code).is_some());
        if let Some(problem) = problem {
            let text = problem.detail.as_deref().unwrap_or_default();
            return Self::refused(problem.row().nami, &problem.code, text);
        }
        if (200..300).contains(&status) {
            return Self::not_understood();
        }
        let condition = Condition::of_exit(nami_exit_of_status(status));
        Self::new(condition, format!("the bank answered with status {status}"))
    }

    fn not_understood() -> Self {
        Self::new(Condition::Other, "the bank's answer is not readable")
    }

    fn of_lines(event: Event, status: u16, lines: &[Line]) -> Self {
        let worst = Line::worst(lines);
        if let Some(Line::Refused { code, text } | Line::Error { code, text }) = worst {
            // A repeat does not undo finished objects: each object has a key of its own.
            return Self {
                again: lines.iter().any(may_be_taken),
                ..Self::of_refusal(code, text)
            };
        }
        let costs = lines.iter().all(|line| matches!(line, Line::Cost { .. }));
        let has_costs = lines.iter().any(|line| matches!(line, Line::Cost { .. }));
        let has_tids = lines.iter().any(|line| matches!(line, Line::Tid(_)));
        let fitting = match event {
            Event::Quote => costs,
            Event::Create => !has_costs,
            _ => !has_costs && !has_tids,
        };
        if !(200..300).contains(&status) || !fitting {
            return Self::not_understood();
        }
        let mut outcome = Self::new(Condition::Done, "");
        for line in lines {
            let printed = match line {
                Line::Cost { .. } => line.to_string(),
                Line::Tid(tid) => tid.clone(),
                _ => continue,
            };
            outcome.stdout.push_str(&printed);
            outcome.stdout.push('\n');
        }
        if let Some(Line::Warning { code, text }) = worst {
            outcome.text = format!("warning: {}: {text}", code.replace('_', " "));
            outcome.code.clone_from(code);
        }
        outcome
    }

    fn of_refusal(code: &str, text: &str) -> Self {
        Self::refused(row_or_internal(code).nami, code, text)
    }

    fn refused(exit: u8, code: &str, text: &str) -> Self {
        let condition = Condition::of_exit(exit);
        let title = match condition {
            Condition::Document => "bad document",
            _ => row(code).map_or("refused", |row| row.title),
        };
        let text = if text.is_empty() {
            title.to_owned()
        } else {
            format!("{title}: {text}")
        };
        Self {
            code: code.to_owned(),
            ..Self::new(condition, text)
        }
    }
}

/// Whether sending again can never help.
fn is_final(condition: Condition, code: &str) -> bool {
    use Condition::{Document, Funds, Refused};
    matches!(condition, Document | Funds | Refused) || code == "key_reused"
}

/// Whether the bank has not taken this object, and may yet.
fn may_be_taken(line: &Line) -> bool {
    match line {
        Line::Refused { code, .. } | Line::Error { code, .. } => {
            !is_final(Condition::of_exit(line.exit()), code)
        }
        _ => false,
    }
}

/// The line for standard error: `bank.EVENT: TEXT`, printable, at most 200 bytes with its line
/// feed, cut at a character's start.
pub(crate) fn stderr_line(program: &str, text: &str) -> String {
    let mut line = String::with_capacity(MAX_LINE);
    for letter in program.chars().chain(": ".chars()).chain(text.chars()) {
        let letter = if letter.is_control() { ' ' } else { letter };
        if line.len() + letter.len_utf8() >= MAX_LINE {
            break;
        }
        line.push(letter);
    }
    line.push('\n');
    line
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
