//! The keys of rollups that a report asks for, and where their figures go.

use super::super::super::Error;
use super::{Owner, ReportRequest};
use foldhash::{HashMap, HashMapExt as _};
use rusqlite::{Connection, OptionalExtension};

/// The first day on which anything counts.
pub fn first_day(connection: &Connection) -> Result<Option<i64>, Error> {
    let sql = "SELECT day FROM rollup ORDER BY day LIMIT 1";
    Ok(connection.query_row(sql, [], |r| r.get(0)).optional()?)
}

/// The keys that are asked for.
#[derive(Default)]
pub(super) struct Keys {
    /// Where each is in `all`.
    pub(super) places: HashMap<i64, usize>,
    pub(super) all: Vec<Asking>,
    pub(super) values: Vec<Vec<String>>,
    pub(super) users: Vec<String>,
}

/// Where the figures of a key go: the places of its values and of its user.
#[derive(Clone, Copy)]
pub(super) struct Asking {
    pub(super) values: usize,
    pub(super) user: usize,
}

/// Visits the owners of usage, each once, until the visitor is done.
///
/// # Errors
/// If the store cannot be read.
pub fn each_owner(
    connection: &Connection,
    mut visit: impl FnMut(&Owner<'_>) -> bool,
) -> Result<(), Error> {
    each_key(connection, |_, owner| visit(owner))
}

/// Likewise, with the number of the key.
fn each_key(
    connection: &Connection,
    mut visit: impl FnMut(i64, &Owner<'_>) -> bool,
) -> Result<(), Error> {
    let sql = "SELECT id, project, account, user, machine, queue, qos, pi FROM rollup_key";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = |place: usize| row.get_ref(place)?.as_str().map_err(rusqlite::Error::from);
        let owner = Owner {
            project: text(1)?,
            account: row.get(2)?,
            user: text(3)?,
            machine: text(4)?,
            queue: text(5)?,
            qos: text(6)?,
            pi: text(7)?,
        };
        if !visit(row.get(0)?, &owner) {
            break;
        }
    }
    Ok(())
}

pub(super) fn keys(connection: &Connection, request: &ReportRequest<'_>) -> Result<Keys, Error> {
    let mut keys = Keys::default();
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    each_key(connection, |id, owner| {
        let Some((values, user)) = (request.place)(owner, None) else {
            return true;
        };
        let next = keys.values.len();
        let place = *places.entry(values.clone()).or_insert(next);
        if place == next {
            keys.values.push(values);
        }
        let next = keys.users.len();
        let who = *names.entry(user.clone()).or_insert(next);
        if who == next {
            keys.users.push(user);
        }
        keys.places.insert(id, keys.all.len());
        keys.all.push(Asking {
            values: place,
            user: who,
        });
        true
    })?;
    Ok(keys)
}
