//! One term of a query: `key[sub][sub]=value`, with its escapes undone.

use super::fault;

/// A path of names and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// `meta`, `site_id`, `c`, `0`.
    pub(super) path: Vec<String>,
    pub(super) value: String,
}

/// Longest path: `meta[KEY][c][0]`.
const PATH_MAX: usize = 4;

impl Term {
    /// Reads one piece between two `&`. Brackets may be encoded, as many clients send them. If one bracket
    /// is plain, encoded ones belong to a name.
    pub(super) fn parse(piece: &str) -> Result<Self, String> {
        let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
        let plain;
        let key = if key.contains(['[', ']']) {
            key
        } else {
            let open = key.replace("%5B", "[").replace("%5b", "[");
            plain = open.replace("%5D", "]").replace("%5d", "]");
            &plain
        };
        let path = path(key).ok_or_else(|| format!("{}: brackets do not fit", shown(key)))?;
        let path = path.into_iter().map(decoded).collect::<Option<Vec<_>>>();
        let pieces = path.zip(decoded(value));
        let (path, value) =
            pieces.ok_or_else(|| format!("{}: not UTF-8 in percent encoding", shown(key)))?;
        Ok(Self { path, value })
    }

    /// `meta[site_id][c]`, cut if it is long.
    pub(super) fn name(&self) -> String {
        let mut name = String::new();
        for (place, part) in self.path.iter().enumerate() {
            let part = shown(part);
            if place == 0 {
                name.push_str(&part);
            } else {
                name.push('[');
                name.push_str(&part);
                name.push(']');
            }
        }
        name
    }

    /// Whether it is the next item of a list, at any position: `meta[KEY][c][]`.
    pub(super) fn is_next(&self) -> bool {
        self.path.len() == PATH_MAX && self.path.last().is_some_and(String::is_empty)
    }

    pub(super) fn unknown(&self) -> String {
        let known = "record_id, start_time[…], stop_time[…], runtime[…], meta[…][c|dnc][…], \
                     component[…][…], sort_by[asc|desc], limit";
        format!("{}: unknown; use one of {known}", self.name())
    }

    /// A number of 0 or above.
    pub(super) fn as_number(&self) -> Result<u64, String> {
        let digits = !self.value.is_empty() && self.value.bytes().all(|b| b.is_ascii_digit());
        let number = digits.then(|| self.value.parse().ok()).flatten();
        number.ok_or_else(|| format!("{}: a number from 0 to 2^64-1 expected", self.name()))
    }

    pub(super) fn as_name(&self) -> Result<String, String> {
        match fault(&self.value) {
            None => Ok(self.value.clone()),
            Some(why) => Err(format!("{}: {why}", self.name())),
        }
    }
}

/// `a[b][]` as `a`, `b`, and nothing.
fn path(key: &str) -> Option<Vec<&str>> {
    let Some((first, rest)) = key.split_once('[') else {
        return (!key.contains(']')).then(|| vec![key]);
    };
    let mut path = vec![first];
    let inside = rest.strip_suffix(']')?;
    for part in inside.split("][") {
        if part.contains(['[', ']']) || path.len() == PATH_MAX {
            return None;
        }
        path.push(part);
    }
    (!first.contains(']')).then_some(path)
}

/// A text with `+` and `%XX` decoded; `None` for invalid UTF-8, or a `%` without digits.
fn decoded(text: &str) -> Option<String> {
    super::super::escape::decoded(&text.replace('+', " "))
}

/// A key, shortened for messages.
fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}
