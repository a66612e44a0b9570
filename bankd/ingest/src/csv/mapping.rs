//! The mapping file: the meaning of each column. An unknown key is rejected with the nearest valid
//! name.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use toml::{Table, Value};

use super::condition::Condition;
use super::field::{Field, Kind};
use super::keys::{in_key, known_keys, optional, string, strings, whole};
use crate::options::Options;

/// Keys of the file itself.
const KEYS: [&str; 12] = [
    "attributes",
    "charge_if",
    "columns",
    "comment",
    "delimiter",
    "fields",
    "header",
    "origin",
    "quantities",
    "quote",
    "skip_lines",
    "timezone",
];

/// Fields of a record, with their types.
const FIELDS: [(&str, Kind); 24] = [
    ("account", Kind::Text),
    ("cluster", Kind::Text),
    ("cpu", Kind::Duration),
    ("disk", Kind::Size),
    ("end", Kind::Time),
    ("exit", Kind::Text),
    ("gpu_type", Kind::Text),
    ("gpus", Kind::Count),
    ("group", Kind::Text),
    ("hosts", Kind::Text),
    ("id", Kind::Text),
    ("limit", Kind::Duration),
    ("memory", Kind::Size),
    ("name", Kind::Text),
    ("nodes", Kind::Count),
    ("procs", Kind::Count),
    ("project", Kind::Text),
    ("qos", Kind::Text),
    ("queue", Kind::Text),
    ("start", Kind::Time),
    ("state", Kind::Text),
    ("submit", Kind::Time),
    ("user", Kind::Text),
    ("wait", Kind::Duration),
];

/// The run time that the source states: beside the others, since it repairs the times.
const WALL: (&str, Kind) = ("wall", Kind::Duration);

/// Attributes and quantities together that a mapping may name.
const NAMES_MAX: usize = 200;

/// Separator of two cells.
#[derive(Debug)]
pub(super) enum Delimiter {
    /// One byte.
    Byte(u8),
    /// Several.
    Text(Vec<u8>),
    /// Any blanks and tabs.
    Whitespace,
}

/// Where the names of the columns are.
#[derive(Debug)]
pub(super) enum Names {
    /// In the first line.
    Header,
    /// In the mapping.
    Columns(Vec<String>),
}

/// A mapping file.
#[derive(Debug)]
pub(super) struct Mapping {
    pub(super) delimiter: Delimiter,
    pub(super) quote: Option<u8>,
    pub(super) names: Names,
    /// Prefix of a comment line; empty for none.
    pub(super) comment: String,
    pub(super) skip_lines: u64,
    pub(super) zone: Tz,
    /// Seconds since 1970 from which epoch times count.
    pub(super) origin: i64,
    pub(super) fields: BTreeMap<String, Field>,
    pub(super) attributes: BTreeMap<String, Field>,
    pub(super) quantities: BTreeMap<String, Field>,
    pub(super) charge_if: Option<Condition>,
}

impl Mapping {
    /// Reads one. Delimiter and columns of the options win over those of the file; its zone wins over
    /// theirs.
    ///
    /// # Errors
    /// If it is invalid: the position, the error, and the valid values.
    pub(super) fn read(text: &str, options: &Options) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|e: toml::de::Error| {
            let why = e.message().lines().next().unwrap_or_default().to_owned();
            let line = e.span().map_or(1, |span| {
                let before = text.get(..span.start).unwrap_or_default();
                before.matches('\n').count().saturating_add(1)
            });
            format!("mapping: line {line}: {why}")
        })?;
        known_keys("mapping", &table, &KEYS)?;
        let zone = match table.get("timezone") {
            None => options.zone,
            Some(zone) => {
                let name = string("timezone", zone)?;
                let zone = name.parse();
                zone.map_err(|_| {
                    format!("mapping: timezone: no zone {name:?}; the format is Area/City")
                })?
            }
        };
        let delimiter = delimiter(&table, options)?;
        let quote = quote(&table, &delimiter)?;
        let mapping = Self {
            delimiter,
            quote,
            names: names(&table, options)?,
            comment: optional(&table, "comment")?.unwrap_or_default(),
            skip_lines: whole(&table, "skip_lines", 0..=1_000_000)?.unsigned_abs(),
            zone,
            origin: whole(&table, "origin", -100_000_000_000..=100_000_000_000)?,
            fields: fields(&table)?,
            attributes: free(&table, "attributes", Kind::Text)?,
            quantities: free(&table, "quantities", Kind::Duration)?,
            charge_if: match optional(&table, "charge_if")? {
                Some(text) => Some(Condition::read(&text).map_err(|e| in_key("charge_if", &e))?),
                None => None,
            },
        };
        mapping.checked()
    }

    /// A job has an id, and two of start, end and run time; the start may be the submission and a wait.
    fn checked(self) -> Result<Self, String> {
        let has = |name: &str| self.fields.contains_key(name);
        if !has("id") {
            return Err("mapping: fields.id: missing; it must identify a job".to_owned());
        }
        let start = has("start") || (has("submit") && has("wait"));
        let times = [start, has("end"), has("wall")];
        if times.iter().filter(|there| **there).count() < 2 {
            return Err(
                "mapping: two of fields.start (or submit and wait), fields.end and fields.wall \
                 must be there"
                    .to_owned(),
            );
        }
        if self.charge_if.is_some() && !has("state") && !has("exit") {
            return Err("mapping: charge_if: there is no fields.state, nor an exit".to_owned());
        }
        Ok(self)
    }

    /// Every column that it names.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        let all = [&self.fields, &self.attributes, &self.quantities];
        all.into_iter()
            .flat_map(BTreeMap::values)
            .flat_map(Field::columns)
    }
}

fn delimiter(table: &Table, options: &Options) -> Result<Delimiter, String> {
    let stated = match &options.delimiter {
        Some(delimiter) => Some(delimiter.clone()),
        None => optional(table, "delimiter")?,
    };
    match stated.as_deref() {
        None => Ok(Delimiter::Byte(b',')),
        Some("whitespace") => Ok(Delimiter::Whitespace),
        Some(text) if text.is_empty() || text.contains(['\n', '\r']) => {
            Err("mapping: delimiter: empty, or a line break".to_owned())
        }
        Some(text) => Ok(match text.as_bytes() {
            [byte] => Delimiter::Byte(*byte),
            bytes => Delimiter::Text(bytes.to_vec()),
        }),
    }
}

fn quote(table: &Table, delimiter: &Delimiter) -> Result<Option<u8>, String> {
    let stated = optional(table, "quote")?;
    let is_blank = matches!(delimiter, Delimiter::Whitespace);
    match stated.as_deref().map(str::as_bytes) {
        None => Ok((!is_blank).then_some(b'"')),
        Some([]) => Ok(None),
        Some([_]) if is_blank => {
            Err("mapping: quote: not with the delimiter \"whitespace\"".to_owned())
        }
        Some([quote]) if quote.is_ascii_graphic() && !is_same(delimiter, *quote) => {
            Ok(Some(*quote))
        }
        Some(_) => Err(
            "mapping: quote: one character, not the delimiter; \"\" where nothing quotes"
                .to_owned(),
        ),
    }
}

fn is_same(delimiter: &Delimiter, quote: u8) -> bool {
    match delimiter {
        Delimiter::Byte(byte) => *byte == quote,
        Delimiter::Text(text) => text.contains(&quote),
        Delimiter::Whitespace => false,
    }
}

fn names(table: &Table, options: &Options) -> Result<Names, String> {
    let header = match table.get("header") {
        None => None,
        Some(Value::Boolean(header)) => Some(*header),
        Some(_) => return Err("mapping: header: true or false".to_owned()),
    };
    if !options.columns.is_empty() {
        return Ok(Names::Columns(options.columns.clone()));
    }
    let Some(columns) = table.get("columns") else {
        return match header {
            Some(false) => Err("mapping: columns: missing where header = false".to_owned()),
            _ => Ok(Names::Header),
        };
    };
    if header == Some(true) {
        return Err("mapping: header = true and columns: name one of them".to_owned());
    }
    strings("columns", columns).map(Names::Columns)
}

fn fields(table: &Table) -> Result<BTreeMap<String, Field>, String> {
    let mut found = BTreeMap::new();
    let mut names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
    names.push(WALL.0);
    let Some(fields) = table.get("fields") else {
        return Ok(found);
    };
    let fields = fields.as_table().ok_or("mapping: fields: no table")?;
    known_keys("fields", fields, &names)?;
    for (name, value) in fields {
        let kind = FIELDS
            .iter()
            .chain([&WALL])
            .find(|(known, _)| known == name);
        if let Some((_, kind)) = kind {
            let field = Field::read(&format!("fields.{name}"), value, *kind)?;
            found.insert(name.clone(), field);
        }
    }
    Ok(found)
}

/// A table with names that the site chooses.
fn free(table: &Table, key: &str, kind: Kind) -> Result<BTreeMap<String, Field>, String> {
    let mut found = BTreeMap::new();
    let Some(values) = table.get(key) else {
        return Ok(found);
    };
    let values = values.as_table().ok_or_else(|| in_key(key, "no table"))?;
    for (name, value) in values {
        let plain =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !plain || found.len() >= NAMES_MAX {
            return Err(in_key(
                key,
                &format!("{name:?} is not a name of letters, digits and _"),
            ));
        }
        found.insert(
            name.clone(),
            Field::read(&format!("{key}.{name}"), value, kind)?,
        );
    }
    Ok(found)
}
