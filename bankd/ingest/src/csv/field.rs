//! One field of a mapping: the source of its value, and its parsing.

use std::collections::BTreeMap;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use chrono_tz::Tz;
use regex::Regex;
use toml::{Table, Value};

use super::condition::pattern;
use super::keys::{in_key, known_keys, strings};
use crate::instant::Instant;
use crate::number::Number;
use crate::text::{clock, in_zone, local, rfc3339};

/// Keys of a field.
const KEYS: [&str; 9] = [
    "column", "const", "format", "map", "null", "only_if", "require", "template", "unit",
];

/// Words for nothing, where a field has no list of its own; an empty cell is always nothing.
const NULLS: [&str; 6] = ["NONE", "[NONE]", "(null)", "N/A", "Unknown", "None"];

/// Units of a duration and their seconds, as a fraction of places.
const DURATIONS: [(&str, i128, u8); 7] = [
    ("d", 86_400, 0),
    ("h", 3_600, 0),
    ("min", 60, 0),
    ("s", 1, 0),
    ("ms", 1, 3),
    ("us", 1, 6),
    ("ns", 1, 9),
];

/// Units of a size and their bytes.
const SIZES: [(&str, i128); 17] = [
    ("B", 1),
    ("k", 1_000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
    ("t", 1_000_000_000_000),
    ("p", 1_000_000_000_000_000),
    ("K", 1 << 10),
    ("M", 1 << 20),
    ("G", 1 << 30),
    ("T", 1 << 40),
    ("P", 1 << 50),
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("Pi", 1 << 50),
    ("Ei", 1 << 60),
];

/// Type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any text.
    Text,
    /// A moment, read by `format`.
    Time,
    /// Seconds, read by `unit`.
    Duration,
    /// Bytes, read by `unit`.
    Size,
    /// A number that is not negative.
    Count,
}

/// Source of the value.
#[derive(Debug)]
enum From {
    /// The first nonempty one of these columns.
    Columns(Vec<String>),
    Const(String),
    Template(Vec<Piece>),
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Column(String),
}

/// How a time is written.
#[derive(Debug)]
enum Form {
    /// A number, so many places of a second.
    Epoch(u8),
    /// `YYYY-MM-DD`, `T` or a blank, the time, and perhaps a zone.
    Iso,
    /// In the format of the pattern.
    Pattern(String),
}

/// Unit of a number.
#[derive(Debug)]
enum Unit {
    /// Times this.
    Times(Number),
    /// `[N days, ][[H:]M:]S[.fff]`, `D-HH:MM:SS`.
    Clock,
}

/// A field.
#[derive(Debug)]
pub(super) struct Field {
    kind: Kind,
    from: From,
    form: Form,
    unit: Unit,
    null: Option<Vec<String>>,
    map: BTreeMap<String, String>,
    only_if: Option<Regex>,
    /// A record without it cannot be read.
    pub(super) is_required: bool,
}

impl Field {
    /// Reads the table of a field, or the name of its column alone.
    ///
    /// # Errors
    /// If it is invalid: the position and the error.
    pub(super) fn read(place: &str, value: &Value, kind: Kind) -> Result<Self, String> {
        let short;
        let table = match value {
            Value::Table(table) => table,
            Value::String(_) => {
                short = Table::from_iter([("column".to_owned(), value.clone())]);
                &short
            }
            _ => return Err(in_key(place, "the name of a column, or a table")),
        };
        known_keys(place, table, &KEYS)?;
        let key = |key: &str| format!("{place}.{key}");
        let text = |name: &str| match table.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(in_key(&key(name), "no text in quotes")),
        };
        for (name, kinds) in [
            ("format", &[Kind::Time][..]),
            ("unit", &[Kind::Duration, Kind::Size][..]),
        ] {
            if table.contains_key(name) && !kinds.contains(&kind) {
                return Err(in_key(&key(name), "has no meaning for this field"));
            }
        }
        let only_if = text("only_if")?.map(pattern).transpose();
        Ok(Self {
            kind,
            from: from(place, table)?,
            form: form(text("format")?).map_err(|e| in_key(&key("format"), &e))?,
            unit: unit(kind, text("unit")?).map_err(|e| in_key(&key("unit"), &e))?,
            null: match table.get("null") {
                Some(null) => Some(strings(&key("null"), null)?),
                None => None,
            },
            map: map(&key("map"), table.get("map"))?,
            only_if: only_if.map_err(|e| in_key(&key("only_if"), &e))?,
            is_required: match table.get("require") {
                None => false,
                Some(Value::Boolean(require)) => *require,
                Some(_) => return Err(in_key(&key("require"), "true or false")),
            },
        })
    }

    /// The columns that it reads.
    pub(super) fn columns(&self) -> Vec<&str> {
        match &self.from {
            From::Columns(names) => names.iter().map(String::as_str).collect(),
            From::Const(_) => Vec::new(),
            From::Template(pieces) => pieces
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Column(name) => Some(name.as_str()),
                    Piece::Text(_) => None,
                })
                .collect(),
        }
    }

    /// The value in a record, before `map`; `None` if it is a null word.
    pub(super) fn raw(&self, cell: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let known = |text: String| Some(text).filter(|text| !self.is_null(text));
        match &self.from {
            From::Columns(names) => names.iter().find_map(|name| known(cell(name)?)),
            From::Const(text) => Some(text.clone()),
            From::Template(pieces) => {
                let mut whole = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => whole.push_str(text),
                        Piece::Column(name) => whole.push_str(&known(cell(name)?)?),
                    }
                }
                Some(whole)
            }
        }
    }

    /// Whether a record passes the filter of this field, by its raw value.
    pub(super) fn passes(&self, raw: Option<&str>) -> bool {
        let filter = self.only_if.as_ref();
        filter.is_none_or(|filter| filter.is_match(raw.unwrap_or_default()))
    }

    /// The value of a record after `map`.
    pub(super) fn mapped(&self, raw: Option<String>) -> Option<String> {
        let raw = raw?;
        let value = self.map.get(&raw).cloned().unwrap_or(raw);
        (!value.is_empty()).then_some(value)
    }

    fn is_null(&self, text: &str) -> bool {
        text.is_empty()
            || match &self.null {
                Some(words) => words.iter().any(|word| word == text),
                None => NULLS.contains(&text),
            }
    }

    /// Seconds, bytes or a count.
    pub(super) fn number(&self, text: &str) -> Option<Number> {
        let text = text.trim();
        let number = match &self.unit {
            Unit::Times(unit) => Number::parse(text)?.times(*unit),
            Unit::Clock => days_and_clock(text),
        };
        let number = number.filter(|number| !number.is_negative())?;
        Some(if self.kind == Kind::Size {
            number.cut(0)
        } else {
            number
        })
    }

    /// A time. Epoch times count from `origin`; times without an offset are local times of `zone`.
    pub(super) fn time(&self, text: &str, zone: Tz, origin: i64) -> Option<Instant> {
        let text = text.trim();
        match &self.form {
            Form::Epoch(places) => {
                let seconds = Number::parse(text)?.times(Number::scaled(1, *places))?;
                let at = seconds.plus(Number::whole(origin))?.as_microseconds()?;
                Some(Instant::exact(at))
            }
            Form::Iso => rfc3339(text)
                .map(Instant::exact)
                .or_else(|| local(&text.replacen(' ', "T", 1), zone)),
            Form::Pattern(pattern) => {
                if let Ok(at) = chrono::DateTime::parse_from_str(text, pattern) {
                    return Some(Instant::exact(at.timestamp_micros()));
                }
                let naive = NaiveDateTime::parse_from_str(text, pattern);
                let day = || NaiveDate::parse_from_str(text, pattern).ok();
                let naive = naive.ok().or_else(|| Some(day()?.and_time(NaiveTime::MIN)));
                in_zone(naive?, zone)
            }
        }
    }
}

/// `1 day, 2:03:04.5`, and every format of [`clock`]; also plain seconds.
fn days_and_clock(text: &str) -> Option<Number> {
    let (days, rest) = match text.split_once(", ") {
        Some((days, rest)) => {
            let count = days.strip_suffix(" days").or(days.strip_suffix(" day"));
            (Number::parse(count?)?, rest)
        }
        None => (Number::ZERO, text),
    };
    let seconds = clock(rest).or_else(|| Number::parse(rest))?;
    days.times(Number::whole(86_400))?.plus(seconds)
}

fn from(place: &str, table: &Table) -> Result<From, String> {
    let stated = ["column", "const", "template"];
    let mut there = stated.iter().filter(|key| table.contains_key(**key));
    let (Some(key), None) = (there.next(), there.next()) else {
        return Err(in_key(
            place,
            "one of column, const and template must be there",
        ));
    };
    let place = format!("{place}.{key}");
    let value = table.get(*key);
    match (*key, value) {
        ("column", Some(Value::String(name))) => Ok(From::Columns(vec![name.clone()])),
        ("column", Some(list)) => match strings(&place, list)? {
            names if names.is_empty() => Err(in_key(&place, "an empty list")),
            names => Ok(From::Columns(names)),
        },
        ("const", Some(Value::String(text))) => Ok(From::Const(text.clone())),
        ("const", Some(Value::Integer(number))) => Ok(From::Const(number.to_string())),
        ("template", Some(Value::String(text))) => {
            template(text).map(From::Template).ok_or_else(|| {
                in_key(
                    &place,
                    "{COLUMN} is replaced by a column; write {{ and }} for braces",
                )
            })
        }
        _ => Err(in_key(&place, "no text in quotes")),
    }
}

/// `{namespace}/{pod}`; doubled braces are braces.
fn template(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let left = rest.get(first.len_utf8()..).unwrap_or_default();
        if (first == '{' || first == '}') && left.starts_with(first) {
            plain.push(first);
            rest = left.get(1..).unwrap_or_default();
        } else if first == '{' {
            let (name, left) = left.split_once('}')?;
            if name.is_empty() || name.contains('{') {
                return None;
            }
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::Column(name.to_owned()));
            rest = left;
        } else if first == '}' {
            return None;
        } else {
            plain.push(first);
            rest = left;
        }
    }
    pieces.push(Piece::Text(plain));
    Some(pieces)
}

fn form(format: Option<&str>) -> Result<Form, String> {
    let names = ["epoch_s", "epoch_ms", "epoch_us", "epoch_ns", "iso8601"];
    match format {
        None | Some("iso8601") => Ok(Form::Iso),
        Some("epoch_s") => Ok(Form::Epoch(0)),
        Some("epoch_ms") => Ok(Form::Epoch(3)),
        Some("epoch_us") => Ok(Form::Epoch(6)),
        Some("epoch_ns") => Ok(Form::Epoch(9)),
        Some(pattern) if pattern.contains('%') => {
            let items = chrono::format::StrftimeItems::new(pattern);
            let bad = |item| matches!(item, chrono::format::Item::Error);
            if items.into_iter().any(bad) {
                return Err(format!("{pattern:?} is not a pattern of times"));
            }
            Ok(Form::Pattern(pattern.to_owned()))
        }
        Some(other) => Err(match bank_api::text::suggest(other, &names) {
            Some(near) => format!("{other:?}; did you mean {near:?}?"),
            None => format!(
                "{other:?}; one of {}, or a pattern as %Y-%m-%d",
                names.join(", ")
            ),
        }),
    }
}

fn unit(kind: Kind, unit: Option<&str>) -> Result<Unit, String> {
    let one = Unit::Times(Number::whole(1));
    let Some(name) = unit else {
        return Ok(one);
    };
    let sizes = SIZES.iter().find(|(known, _)| *known == name);
    let durations = DURATIONS.iter().find(|(known, ..)| *known == name);
    match (kind, sizes, durations) {
        (Kind::Duration, _, _) if name == "hms" => Ok(Unit::Clock),
        (Kind::Duration, _, Some((_, units, places))) => {
            Ok(Unit::Times(Number::scaled(*units, *places)))
        }
        (Kind::Size, Some((_, bytes)), _) => Ok(Unit::Times(Number::whole(*bytes))),
        (Kind::Size, ..) => {
            let names: Vec<&str> = SIZES.iter().map(|(name, _)| *name).collect();
            Err(format!("{name:?}; one of {}", names.join(", ")))
        }
        _ => {
            let names: Vec<&str> = DURATIONS.iter().map(|(name, ..)| *name).collect();
            Err(format!("{name:?}; one of {}, hms", names.join(", ")))
        }
    }
}

fn map(place: &str, value: Option<&Value>) -> Result<BTreeMap<String, String>, String> {
    let Some(value) = value else {
        return Ok(BTreeMap::new());
    };
    let table = value.as_table().ok_or_else(|| in_key(place, "no table"))?;
    let pair = |(from, to): (&String, &Value)| {
        let to = to
            .as_str()
            .ok_or_else(|| in_key(place, "no text in quotes"))?;
        Ok((from.clone(), to.to_owned()))
    };
    table.iter().map(pair).collect()
}
