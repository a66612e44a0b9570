//! Environment variables override the file; errors contain their position.

use bank_api::text::own_words;
use toml::{Table, Value};

use super::Config;
use super::place::variable_of;

/// Applies `BANKD_SECTION_KEY` over the values of the file. List items are separated by commas.
pub(super) fn apply(
    config: Config,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Config, String> {
    let mut table = Table::try_from(&config).map_err(|e| e.to_string())?;
    let defaults = Table::try_from(Config::default()).map_err(|e| e.to_string())?;
    let mut last = None;
    for (section, settings) in &mut table {
        let Value::Table(settings) = settings else {
            continue;
        };
        for (key, value) in settings.iter_mut() {
            let name = variable_of(&format!("{section}.{key}"));
            if let Some(text) = environment(&name) {
                // A list of the file may be empty, and then has no kind.
                let default = defaults.get(section).and_then(|own| own.get(key));
                *value = same_kind(default.unwrap_or(value), &text).ok_or_else(|| {
                    format!(
                        "{name}: {text:?} is not of type {}, which {section}.{key} requires",
                        value.type_str()
                    )
                })?;
                // A word that is none is found here, beside its variable.
                let single = Table::from_iter([(
                    section.clone(),
                    Value::Table(Table::from_iter([(key.clone(), value.clone())])),
                )]);
                let parsed = single.try_into::<Config>();
                parsed
                    .map_err(|e| format!("{name}: {section}.{key}: {}", own_words(e.message())))?;
                last = Some(name);
            }
        }
    }
    if last.is_none() {
        return Ok(config);
    }
    table.try_into().map_err(|e| own_words(e.message()))
}

/// Refuses variables that look like settings and are none: a misspelled one would be a silent
/// default. Those of the tests belong to builds that read them.
pub(super) fn no_strangers(names: impl Iterator<Item = String>) -> Result<(), String> {
    let hooks: &[&str] = if cfg!(feature = "test-hooks") {
        &["BANKD_TEST_CLOCK", "BANKD_TEST_SCHEMA", "BANKD_KILL_AT"]
    } else {
        &[]
    };
    let table = Table::try_from(Config::default()).map_err(|e| e.to_string())?;
    let mut ours = names
        .filter(|name| name.starts_with("BANKD_") && !hooks.contains(&name.as_str()))
        .collect::<Vec<_>>();
    ours.sort();
    let is_setting = |name: &String| {
        table.iter().any(|(section, settings)| {
            let keys = settings.as_table().into_iter().flat_map(Table::keys);
            let mut names = keys.map(|key| variable_of(&format!("{section}.{key}")));
            names.any(|known| known == *name)
        })
    };
    match ours.iter().find(|name| !is_setting(name)) {
        Some(name) => Err(format!(
            "{name}: no setting has this name: BANKD_SECTION_KEY, such as BANKD_HTTP_LISTEN"
        )),
        None => Ok(()),
    }
}

fn same_kind(default: &Value, text: &str) -> Option<Value> {
    Some(match default {
        Value::Integer(_) => Value::Integer(text.trim().parse().ok()?),
        Value::Boolean(_) => Value::Boolean(text.trim().parse().ok()?),
        Value::Array(known) => {
            let items = text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            let items = items.map(|item| match known.first() {
                Some(known) => same_kind(known, item),
                None => Some(Value::String(item.to_owned())),
            });
            Value::Array(items.collect::<Option<_>>()?)
        }
        // A table has more than one value: it can only be set in the file.
        Value::Table(_) => return None,
        _ => Value::String(text.to_owned()),
    })
}

/// The parser's message for a repeated key or table.
const DUPLICATE: &str = "duplicate key";

/// `bankd.toml line 3: [http] concurency: unknown field …`
pub(super) fn located(name: &str, text: &str, error: &toml::de::Error) -> String {
    let message = own_words(error.message());
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return format!("{name}: {message}");
    };
    let line = before.matches('\n').count() + 1;
    let source = text.lines().nth(line - 1).unwrap_or_default();
    if message == DUPLICATE {
        // The shipped file has every table already: a second one is the most likely mistake.
        let key = |source: &str| {
            source
                .split('=')
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let what = key(source);
        let above: Vec<&str> = before.lines().take(line - 1).collect();
        let first = above.iter().rposition(|other| key(other) == what);
        return match first.map(|at| at + 1) {
            Some(first) if what.starts_with('[') => {
                format!("{name} line {line}: {what} is in line {first} already: put all keys there")
            }
            Some(first) => {
                format!("{name} line {line}: {what} is in line {first} already: keep one of them")
            }
            None => format!("{name} line {line}: {what} appears above already: keep one of them"),
        };
    }
    let Some((key, _)) = source.split_once('=') else {
        return format!("{name} line {line}: {message}");
    };
    let key = key.trim();
    let heading = before.lines().rev().find(|line| line.starts_with('['));
    let section = heading.map(|heading| format!("{} ", heading.trim()));
    let section = section.unwrap_or_default();
    let others = if message.starts_with("unknown field") {
        sections_with(key)
    } else {
        String::new()
    };
    format!("{name} line {line}: {section}{key}: {message}{others}")
}

/// The sections that have a setting of this name, for one that is below another section.
fn sections_with(key: &str) -> String {
    let table = Table::try_from(Config::default()).unwrap_or_default();
    let has = |settings: &Value| settings.as_table().is_some_and(|own| own.contains_key(key));
    let all = table.iter().filter(|(_, settings)| has(settings));
    let all: Vec<String> = all.map(|(section, _)| format!("[{section}]")).collect();
    match all.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} has this setting"),
        all => format!("; {} have this setting", all.join(" and ")),
    }
}
