//! `charge_if`: which states are charged, as one line of text.
//!
//! `state in ("DONE", "EXIT") and not state = "EXIT" or state =~ "^FAIL"`; `and` binds closer than
//! `or`, parentheses group.

use regex::{Regex, RegexBuilder};

/// Conditions inside conditions.
const DEPTH_MAX: usize = 20;

/// Bytes that a compiled pattern may take.
const PATTERN_MAX: usize = 1 << 20;

/// A test of a state.
#[derive(Debug)]
pub(super) enum Condition {
    /// The state is one of these.
    In(Vec<String>),
    /// The state matches the pattern.
    Like(Regex),
    /// It does not hold.
    Not(Box<Condition>),
    /// All hold.
    All(Vec<Condition>),
    /// One of them holds.
    Any(Vec<Condition>),
}

impl Condition {
    /// Reads one.
    ///
    /// # Errors
    /// If it is not a condition: the offending part.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut words = words(text)?;
        words.reverse();
        let found = any(&mut words, 0)?;
        match words.pop() {
            None => Ok(found),
            Some(word) => Err(format!("{} is too much", word.shown())),
        }
    }

    /// Whether it holds of a state; of none as of an empty one.
    pub(super) fn holds(&self, state: &str) -> bool {
        match self {
            Condition::In(states) => states.iter().any(|one| one == state),
            Condition::Like(pattern) => pattern.is_match(state),
            Condition::Not(inner) => !inner.holds(state),
            Condition::All(parts) => parts.iter().all(|part| part.holds(state)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(state)),
        }
    }
}

/// A pattern of bounded size.
///
/// # Errors
/// If it is none.
pub(super) fn pattern(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(PATTERN_MAX).build();
    built.map_err(|_| format!("{text:?} is no regular expression, or too large"))
}

/// A word, a sign, or a text in quotes.
#[derive(Debug, PartialEq, Eq)]
enum Word {
    Plain(String),
    Text(String),
}

impl Word {
    fn shown(&self) -> String {
        match self {
            Word::Plain(text) | Word::Text(text) => format!("{text:?}"),
        }
    }
}

fn words(text: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let left = if first == '"' || first == '\'' {
            let inner = rest.get(1..).unwrap_or_default();
            let (quoted, left) = inner
                .split_once(first)
                .ok_or("a text in quotes has no end")?;
            words.push(Word::Text(quoted.to_owned()));
            left
        } else {
            let sign = ["==", "!=", "=~", "!~", "=", "(", ")", ","];
            let sign = sign.into_iter().find(|sign| rest.starts_with(sign));
            let end = match sign {
                Some(sign) => sign.len(),
                None => rest
                    .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .unwrap_or(rest.len()),
            };
            if end == 0 {
                return Err(format!("{first:?} has no meaning here"));
            }
            let (word, left) = rest.split_at_checked(end).unwrap_or((rest, ""));
            words.push(Word::Plain(word.to_owned()));
            left
        };
        rest = left.trim_start();
    }
    Ok(words)
}

/// The next word, if it is this one.
fn takes(words: &mut Vec<Word>, word: &str) -> bool {
    let is_next = matches!(words.last(), Some(Word::Plain(next)) if next == word);
    if is_next {
        words.pop();
    }
    is_next
}

fn any(words: &mut Vec<Word>, depth: usize) -> Result<Condition, String> {
    let mut parts = vec![all(words, depth)?];
    while takes(words, "or") {
        parts.push(all(words, depth)?);
    }
    Ok(Condition::Any(parts))
}

fn all(words: &mut Vec<Word>, depth: usize) -> Result<Condition, String> {
    let mut parts = vec![one(words, depth)?];
    while takes(words, "and") {
        parts.push(one(words, depth)?);
    }
    Ok(Condition::All(parts))
}

fn one(words: &mut Vec<Word>, depth: usize) -> Result<Condition, String> {
    let deeper = depth.saturating_add(1);
    if deeper > DEPTH_MAX {
        return Err("too many conditions inside each other".to_owned());
    }
    if takes(words, "not") {
        return one(words, deeper).map(|inner| Condition::Not(Box::new(inner)));
    }
    if takes(words, "(") {
        let inner = any(words, deeper)?;
        let is_closed = takes(words, ")");
        return is_closed
            .then_some(inner)
            .ok_or_else(|| "a parenthesis is not closed".to_owned());
    }
    if !takes(words, "state") {
        return Err("a comparison begins with state, as state in (\"DONE\", \"EXIT\")".to_owned());
    }
    let is_not = takes(words, "not");
    if takes(words, "in") {
        let states = Condition::In(list(words)?);
        return Ok(turned(states, is_not));
    }
    for (sign, turn) in [("==", false), ("=", false), ("!=", true)] {
        if !is_not && takes(words, sign) {
            return Ok(turned(Condition::In(vec![text(words)?]), turn));
        }
    }
    for (sign, turn) in [("=~", false), ("!~", true)] {
        if !is_not && takes(words, sign) {
            return Ok(turned(Condition::Like(pattern(&text(words)?)?), turn));
        }
    }
    Err("after state, in, not in, =, !=, =~ or !~ is expected".to_owned())
}

fn turned(condition: Condition, turn: bool) -> Condition {
    if turn {
        return Condition::Not(Box::new(condition));
    }
    condition
}

fn text(words: &mut Vec<Word>) -> Result<String, String> {
    match words.pop() {
        Some(Word::Text(text)) => Ok(text),
        _ => Err("a state must be in quotes".to_owned()),
    }
}

fn list(words: &mut Vec<Word>) -> Result<Vec<String>, String> {
    let mut states = Vec::new();
    if !takes(words, "(") {
        return Err("after in, a list is expected: (\"DONE\", \"EXIT\")".to_owned());
    }
    loop {
        states.push(text(words)?);
        if takes(words, ")") {
            return Ok(states);
        }
        if !takes(words, ",") {
            return Err("a list of states has commas, and ends with )".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_or_not() {
        for (condition, state, holds) in [
            (r#"state in ("DONE", "EXIT")"#, "EXIT", true),
            (r#"state in ("DONE","EXIT")"#, "RUN", false),
            (r#"state not in ("RUN")"#, "RUN", false),
            (r#"state = "0""#, "0", true),
            ("state != ''", "", false),
            (r#"state =~ "^CANCELLED""#, "CANCELLED by 7", true),
            (r#"state !~ "^CANCELLED""#, "CANCELLED by 7", false),
            (r#"state = "a" or state = "b" and state = "c""#, "a", true),
            (
                r#"(state = "a" or state = "b") and not state = "a""#,
                "a",
                false,
            ),
        ] {
            let read = Condition::read(condition).unwrap();
            assert_eq!(read.holds(state), holds, "{condition}: {state:?}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        let deep = format!("{}state = \"a\"{}", "(".repeat(50), ")".repeat(50));
        for text in [
            "",
            "state",
            "state in",
            "state in ()",
            "state in (\"a\"",
            "state = done",
            "state = \"a",
            "status = \"a\"",
            "state = \"a\" state",
            "state =~ \"(\"",
            "state =~ \"(a{1000}){1000}\"",
            "state ; \"a\"",
            &deep,
        ] {
            assert!(Condition::read(text).is_err(), "{text}");
        }
    }
}
