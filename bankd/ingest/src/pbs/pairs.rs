//! The `key=value` words of a message.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::text::known;

/// Keys that decide the payer and the amount. The account, the name and some requested resources are texts of the user
/// and could contain one of them, so a record is rejected that has two different values of one, or has one in
/// such a text only.
const DECIDING: [&str; 8] = [
    "user", "group", "account", "project", "queue", "ctime", "start", "end",
];

/// Further ones, with all that begins so.
const FIGURES: [&str; 4] = [USED, REQUESTED, "total_execution_slots", "exec_host"];

/// Texts of the user, and the keys that the servers print behind them. The last word with the first of these keys ends
/// the text. Without any of them the order of the keys is free.
const TEXTS: [(&str, &[&str]); 3] = [
    ("account", &["jobname", "queue", "ctime"]),
    ("jobname", &["queue", "ctime"]),
    (REQUESTED, &["session"]),
];

/// The beginning of keys of requested resources.
const REQUESTED: &str = "Resource_List.";

/// The beginning of keys of used resources.
const USED: &str = "resources_used.";

/// Figures behind the requested resources, in every order of the servers.
const GRANTED: [&str; 2] = [USED, "total_execution_slots"];

/// The `key=value` words of a message; a value may be quoted, and then contain blanks.
pub(super) struct Pairs<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Pairs<'a> {
    pub(super) fn read(message: &'a str) -> Result<Self, String> {
        let texts = texts(message);
        let mut words = BTreeMap::new();
        // Deciding keys that are in a text of the user so far, and nowhere else.
        let mut doubtful = BTreeSet::new();
        let mut rest = message.trim_start();
        while let Some((key, after)) = rest.split_once('=') {
            // Text before the last blank of a key is a word without a value.
            let at = message.len().saturating_sub(after.len());
            let key = key.rsplit(char::is_whitespace).next().unwrap_or(key);
            let quoted = after
                .strip_prefix('"')
                .and_then(|inner| inner.split_once('"'));
            let (value, left) = match quoted {
                Some(parts) => parts,
                None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
            };
            let is_figure = FIGURES.iter().any(|figure| key.starts_with(figure));
            let before = words.insert(key, value);
            if is_figure || DECIDING.contains(&key) {
                if before.is_some_and(|before| before != value) {
                    return Err(format!("{key}= twice, with different values"));
                }
                let in_text = |text: &Text| text.span.contains(&at) && !text.has(key);
                if !texts.iter().any(in_text) {
                    doubtful.remove(key);
                } else if before.is_none() {
                    doubtful.insert(key);
                }
            }
            rest = left.trim_start();
        }
        match doubtful.first() {
            Some(key) => Err(format!("{key}= in a text of the user only")),
            None => Ok(Self(words)),
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).copied().filter(|value| !value.is_empty())
    }

    pub(super) fn known(&self, key: &str) -> Option<String> {
        self.text(key).and_then(known)
    }

    /// A count of processors or GPUs; none if it is missing or not above zero.
    pub(super) fn count(&self, key: &str) -> Result<Option<i128>, String> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let count: Result<i128, _> = text.parse();
        count
            .map(|count| Some(count).filter(|count| *count > 0))
            .map_err(|_| format!("{key}: {text:?} is not a count"))
    }

    /// Epoch seconds; 0 if missing.
    pub(super) fn seconds(&self, key: &str) -> Result<i64, String> {
        let Some(text) = self.text(key) else {
            return Ok(0);
        };
        text.parse()
            .map_err(|_| format!("{key}: {text:?} is not a time"))
    }
}

/// Where a text of the user may be.
struct Text {
    /// Its first key.
    key: &'static str,
    span: Range<usize>,
    is_quoted: bool,
}

impl Text {
    /// Whether a key belongs to this part of a message.
    fn has(&self, key: &str) -> bool {
        if self.key == REQUESTED {
            return !GRANTED.iter().any(|granted| key.starts_with(granted));
        }
        // PBS Pro quotes the account, and prints the project behind it.
        key == self.key || (self.is_quoted && key == "project")
    }
}

/// The texts of the user in a message.
fn texts(message: &str) -> Vec<Text> {
    let words = words(message);
    let is = |word: &str, key: &str| word.split_once('=').is_some_and(|(own, _)| own == key);
    let text = |(key, ends): &(&'static str, &[&str])| {
        let begins = |word: &str| is(word, key) || (*key == REQUESTED && word.starts_with(key));
        let first = words.iter().position(|(_, word)| begins(word))?;
        let (before, behind) = words.split_at_checked(first)?;
        let (start, word) = behind.first()?;
        let last = |end: &&str| {
            let mut behind = behind.iter().rev();
            behind.find(|(_, word)| is(word, end)).map(|(at, _)| *at)
        };
        // Some versions of TORQUE print the account last, behind all figures.
        let is_last = before.iter().any(|(_, word)| word.starts_with(USED));
        let end = ends.iter().find_map(last);
        Some(Text {
            key,
            span: *start..end.or(is_last.then_some(message.len()))?,
            is_quoted: word.contains("=\""),
        })
    };
    TEXTS.iter().filter_map(text).collect()
}

/// The words of a message, with their places.
fn words(message: &str) -> Vec<(usize, &str)> {
    let place = |word: &str| word.as_ptr().addr().saturating_sub(message.as_ptr().addr());
    let words = message.split_whitespace();
    words.map(|word| (place(word), word)).collect()
}
