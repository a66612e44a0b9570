//! Whose the usage of each charge of an instance is: the project and the user in its journal entries, or those of the
//! settlement that took these back. The names of the instance are those of its latest document, so they never move
//! the hours of an earlier charge.

use super::super::Error;
use super::charge::{Charge, Class};
use super::pending::Key;
use super::taken::{Taken, parts_of};
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, BTreeSet};

/// The owner of a charge, and the account that paid it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(super) account: i64,
    pub(super) project: String,
    pub(super) user: String,
}

impl Owner {
    fn of(part: &Taken) -> Owner {
        Owner {
            account: part.account,
            project: part.project.clone(),
            user: part.user.clone(),
        }
    }

    /// Whether it is this one.
    pub(super) fn is(&self, project: &str, user: &str) -> bool {
        self.project == project && self.user == user
    }

    /// Rollup key of what it used.
    pub(super) fn key<'a>(&'a self, machine: &'a str, class: &'a Class) -> Key<'a> {
        Key {
            project: &self.project,
            account: self.account,
            user: &self.user,
            machine,
            queue: &class.queue,
            qos: &class.qos,
            pi: &class.pi,
        }
    }
}

/// The owners of usage rows, by their numbers. A row without entries has none: it is the instance's.
pub(super) fn owners_of(
    connection: &Connection,
    chain: &BTreeMap<i64, Vec<Charge>>,
) -> Result<BTreeMap<i64, Owner>, Error> {
    let mut undone = BTreeSet::new();
    for (tx, rows) in chain.iter().rev().filter(|(_, rows)| !rows.is_empty()) {
        if !undone.contains(tx) {
            undone.extend(rows.iter().filter_map(|row| row.reverses));
        }
    }
    let mut found = BTreeMap::new();
    for (tx, rows) in chain {
        let mut parts = Vec::new();
        for row in rows {
            let own = parts_of(connection, row)?;
            found.extend(own.first().map(|first| (row.id, Owner::of(first))));
            parts.extend(own);
        }
        if !rows.iter().any(|row| row.settles) || undone.contains(tx) {
            continue;
        }
        let Some(to) = parts.iter().find(|part| part.of.is_none()).map(Owner::of) else {
            continue;
        };
        for of in parts.iter().filter_map(|part| part.of) {
            if let Some(row) = row_of(connection, of)? {
                found.insert(row, to.clone());
            }
        }
    }
    Ok(found)
}

/// The usage row of an entry.
fn row_of(connection: &Connection, entry: i64) -> Result<Option<i64>, Error> {
    let sql = "SELECT usage FROM entry WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let row = statement.query_row([entry], |r| r.get(0)).optional()?;
    Ok(row.flatten())
}
