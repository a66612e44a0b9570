//! What differs between two ways to a figure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use serde_json::Value;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Which comparison.
    pub(super) what: String,
    pub(super) key: String,
    /// What a reader of the bank sees.
    pub(super) seen: String,
    /// The sum of the journal's rows, or another way to the same figure.
    pub(super) wanted: String,
}

/// All that were found.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub(super) found: Vec<Difference>,
}

impl Differences {
    pub(super) fn push(&mut self, what: &str, key: &str, seen: String, wanted: String) {
        self.found.push(Difference {
            what: what.to_owned(),
            key: key.to_owned(),
            seen,
            wanted,
        });
    }

    pub(super) fn same<T: PartialEq + Debug>(&mut self, what: &str, key: &str, seen: T, wanted: T) {
        if seen != wanted {
            self.push(what, key, format!("{seen:?}"), format!("{wanted:?}"));
        }
    }

    /// Compares key by key; one that is missing counts as nothing.
    pub(super) fn maps<K, V>(&mut self, what: &str, seen: &BTreeMap<K, V>, wanted: &BTreeMap<K, V>)
    where
        K: Ord + Debug,
        V: PartialEq + Debug + Default + Copy,
    {
        let keys: BTreeSet<&K> = seen.keys().chain(wanted.keys()).collect();
        for key in keys {
            let of = |map: &BTreeMap<K, V>| map.get(key).copied().unwrap_or_default();
            self.same(what, &format!("{key:?}"), of(seen), of(wanted));
        }
    }
}

/// An amount in minor units.
pub(super) fn minor(value: &Value, places: u32) -> i128 {
    number(value.as_str().unwrap_or("0"), places)
}

/// An exact decimal times a power of ten; digits beyond are an error.
pub(super) fn number(text: &str, places: u32) -> i128 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let width = usize::try_from(places).unwrap();
    let part = part.trim_end_matches('0');
    assert!(part.len() <= width, "{text} has more than {places} places");
    let joined = format!("{whole}{part:0<width$}");
    let number: i128 = joined
        .parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"));
    if negative { -number } else { number }
}
