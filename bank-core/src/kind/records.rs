//! All records of a bank, with the kinds that are in force: those of the program and those of the site.

use super::{Key, KeyType, Kind, Record, Type, declared, of, site};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The records of a kind by key, and their last number.
#[derive(Clone, Debug, Default)]
struct Rows {
    by_key: BTreeMap<Key, Arc<Record>>,
    last: i64,
}

/// Records by kind and key.
#[derive(Clone, Debug, Default)]
pub struct Records {
    rows: BTreeMap<String, Arc<Rows>>,
    /// Kinds that the site added, and kinds of the program with fields that it added.
    kinds: BTreeMap<String, Arc<Kind>>,
    /// Kinds that the site removed, as they were declared last: their removed records are still read.
    former: BTreeMap<String, Arc<Kind>>,
}

impl Records {
    /// Adds or replaces a record. A record of the kind `kind` changes the kinds in force.
    pub fn put(&mut self, record: Record) {
        if record.kind == site::WORD {
            let word = record.key.to_string();
            let kind = Arc::new(site::kind_of(&record));
            if record.deleted && of(&word).is_none() {
                self.kinds.remove(&word);
                self.former.insert(word, kind);
            } else {
                self.former.remove(&word);
                self.kinds.insert(word, kind);
            }
        }
        let rows = self.rows.entry(record.kind.clone()).or_default();
        let rows = Arc::make_mut(rows);
        rows.last = rows.last.max(record.number()).max(record.id);
        rows.by_key.insert(record.key.clone(), Arc::new(record));
    }

    /// A kind in force, by its word.
    pub fn kind(&self, word: &str) -> Option<&Kind> {
        let own = self.kinds.get(word).map(|kind| &**kind);
        own.or_else(|| of(word))
    }

    /// The declaration by which the records of a kind are read: of a removed kind its last one.
    pub fn declaration(&self, word: &str) -> Option<&Kind> {
        let former = || self.former.get(word).map(|kind| &**kind);
        self.kind(word).or_else(former)
    }

    /// Every kind in force, those of the program first.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        let own = declared().iter().filter_map(|kind| self.kind(&kind.word));
        own.chain(self.site_kinds())
    }

    /// The kinds that the site added, by word.
    pub fn site_kinds(&self) -> impl Iterator<Item = &Kind> {
        let all = self.kinds.values().map(|kind| &**kind);
        all.filter(|kind| of(&kind.word).is_none())
    }

    /// A record, unless it was removed, or the one that it belongs to was.
    pub fn get(&self, kind: &str, key: &Key) -> Option<&Record> {
        let record = self.ever(kind, key)?;
        self.is_there(record).then_some(record)
    }

    /// A record, removed or not.
    pub fn ever(&self, kind: &str, key: &Key) -> Option<&Record> {
        let rows = self.rows.get(kind)?;
        rows.by_key.get(key).map(|record| &**record)
    }

    /// A record by its name, unless it was removed.
    pub fn named(&self, kind: &str, name: &str) -> Option<&Record> {
        self.get(kind, &Key::Name(name.to_owned()))
    }

    /// The number of a record of [`KeyType::Object`], removed or not.
    pub fn number_of(&self, kind: &str, name: &str) -> Option<i64> {
        let record = self.ever(kind, &Key::Name(name.to_owned()))?;
        Some(record.id)
    }

    /// The key of a record, removed or not, in the spelling of that record; a new key as it is.
    pub fn spelled(&self, kind: &Kind, key: &Key) -> Key {
        if kind.key != KeyType::AnyCase {
            return key.clone();
        }
        let same = |known: &&Key| match (known, key) {
            (Key::Name(known), Key::Name(name)) => known.eq_ignore_ascii_case(name),
            _ => false,
        };
        let rows = self.rows.get(&kind.word).into_iter();
        let known = rows.flat_map(|rows| rows.by_key.keys()).find(same);
        known.unwrap_or(key).clone()
    }

    /// The records of a kind, by key.
    pub fn all<'a>(&'a self, kind: &str) -> impl Iterator<Item = &'a Record> + use<'a> {
        self.rows(kind).filter(|record| self.is_there(record))
    }

    /// The records of a kind, removed ones included.
    fn rows<'a>(&'a self, kind: &str) -> impl Iterator<Item = &'a Record> + use<'a> {
        let rows = self.rows.get(kind).into_iter();
        let rows = rows.flat_map(|rows| rows.by_key.values());
        rows.map(|record| &**record)
    }

    /// The records of a kind in the order of its list.
    pub fn listed(&self, kind: &Kind) -> Vec<&Record> {
        let mut all: Vec<&Record> = self.all(&kind.word).collect();
        if let Some(field) = kind.ordered_by {
            all.sort_by_key(|record| record.whole(field));
        }
        all
    }

    /// The records of a kind that were not removed themselves; the ones that they belong to may be.
    pub(super) fn kept<'a>(&'a self, kind: &str) -> impl Iterator<Item = &'a Record> + use<'a> {
        self.rows(kind).filter(|record| !record.deleted)
    }

    /// How many records of a kind there are, removed ones included.
    pub fn count(&self, kind: &str) -> usize {
        self.rows.get(kind).map_or(0, |rows| rows.by_key.len())
    }

    /// The number of the next record of a kind, whether it is the key or beside the name.
    pub fn next_number(&self, kind: &str) -> i64 {
        let last = self.rows.get(kind).map_or(0, |rows| rows.last);
        last.saturating_add(1)
    }

    /// A record of which another one is the owner is removed with it.
    fn is_there(&self, record: &Record) -> bool {
        if record.deleted {
            return false;
        }
        let owner = of(&record.kind).and_then(|kind| kind.fields.iter().find(|f| f.owner));
        let Some((field, Type::Reference(kind))) = owner.map(|f| (&f.name, &f.of)) else {
            return true;
        };
        let key = Key::Number(record.whole(field).unwrap_or(0));
        self.get(kind, &key).is_some()
    }

    /// The contributor that names a project itself.
    pub fn holder(&self, project: &str) -> Option<&Record> {
        let mut all = self.all("contributor");
        all.find(|own| own.list("projects").iter().any(|name| name == project))
    }
}
