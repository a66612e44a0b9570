//! Liens with their instances: the open ones first, each part newest first.

use super::super::{Error, codec};
use super::{Page, SCAN_MAX};
use bank_core::amount::Amount;
use bank_core::ids::{AccountId, AllocationId, InstanceId, LienId};
use bank_core::model::{Lien, LienState, ObjectType, Portion};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

/// A lien, and the instance that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LienRow {
    /// The lien with its remaining hold.
    pub lien: Lien,
    /// The accounts of the allocations that hold a part.
    pub accounts: Vec<AccountId>,
    /// The scheduler's object id.
    pub object_id: String,
    /// Its kind.
    pub object_type: ObjectType,
    /// Machine as named.
    pub machine: String,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
}

/// Filter of liens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Those that hold.
    Open,
    /// Those of one state that is not `open`.
    Ended(LienState),
    /// All.
    All,
}

/// Where a list goes on: below this number, among the open ones or among the ended ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// Among the open ones.
    Open(i64),
    /// Among the ended ones.
    Ended(i64),
}

impl Cursor {
    /// Its text, opaque to callers.
    pub fn text(self) -> String {
        match self {
            Cursor::Open(id) => format!("o{id}"),
            Cursor::Ended(id) => format!("e{id}"),
        }
    }

    /// From its text.
    pub fn parse(text: &str) -> Option<Cursor> {
        let number = |rest: &str| rest.parse().ok();
        match text.strip_prefix('o') {
            Some(rest) => number(rest).map(Cursor::Open),
            None => number(text.strip_prefix('e')?).map(Cursor::Ended),
        }
    }
}

/// Up to `limit` liens that `keep` accepts.
pub fn list(
    connection: &Connection,
    wanted: Wanted,
    after: Option<Cursor>,
    limit: usize,
    keep: impl Fn(&LienRow) -> bool,
) -> Result<Page<LienRow, Cursor>, Error> {
    let mut rows = Vec::new();
    let open_below = match after {
        None => Some(i64::MAX),
        Some(Cursor::Open(id)) => Some(id),
        Some(Cursor::Ended(_)) => None,
    };
    if let (Wanted::Open | Wanted::All, Some(below)) = (wanted, open_below) {
        let next = take_open(connection, below, limit, &keep, &mut rows)?;
        if let Some(id) = next {
            let next = Some(Cursor::Open(id));
            return Ok(Page { rows, next });
        }
    }
    if wanted == Wanted::Open {
        return Ok(Page { rows, next: None });
    }
    let below = match after {
        Some(Cursor::Ended(id)) => id,
        _ => i64::MAX,
    };
    let keep = |row: &LienRow| match wanted {
        Wanted::Ended(state) => row.lien.state == state && keep(row),
        _ => keep(row),
    };
    let next = take_ended(connection, below, limit, &keep, &mut rows)?.map(Cursor::Ended);
    Ok(Page { rows, next })
}

impl LienRow {
    /// The place behind this row in a list.
    pub fn cursor(&self) -> Cursor {
        let id = self.lien.id.0;
        if self.lien.state == LienState::Open {
            Cursor::Open(id)
        } else {
            Cursor::Ended(id)
        }
    }
}

/// One lien by number.
pub fn lien(connection: &Connection, id: i64) -> Result<Option<LienRow>, Error> {
    let sql = "SELECT l.instance, l.state, l.placed, l.start_at, l.end_at, l.shadow, i.object_id,
                   i.object_type, i.machine, i.project, i.user, l.lapsed
               FROM lien l JOIN instance i ON i.id = l.instance WHERE l.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id], |row| {
        let lien = Lien {
            id: LienId(id),
            instance: InstanceId(row.get(0)?),
            state: LienState::Open,
            placed: Amount(row.get(2)?),
            start: Timestamp(row.get(3)?),
            end: Timestamp(row.get(4)?),
            shadow: row.get(5)?,
            portions: Vec::new(),
            lapsed: Amount(row.get(11)?),
        };
        let found = LienRow {
            lien,
            accounts: Vec::new(),
            object_id: row.get(6)?,
            object_type: ObjectType::Job,
            machine: row.get(8)?,
            project: row.get(9)?,
            user: row.get(10)?,
        };
        Ok((found, row.get::<_, String>(1)?, row.get::<_, String>(7)?))
    });
    let Some((mut found, state, kind)) = found.optional()? else {
        return Ok(None);
    };
    found.lien.state = codec::word("lien.state", &state, LienState::parse)?;
    found.object_type = codec::word("instance.object_type", &kind, ObjectType::parse)?;
    portions(connection, &mut found)?;
    Ok(Some(found))
}

/// The last liens of jobs that are open although their lien expired, at most `limit`, and whether these are all. Their
/// account is that of the job. Such a job closes when the grace after its lien has passed.
pub fn outlived(connection: &Connection, limit: usize) -> Result<(Vec<LienRow>, bool), Error> {
    let sql = "SELECT (SELECT max(id) FROM lien WHERE instance = i.id), i.account
               FROM instance i
               WHERE i.due_at IS NOT NULL AND i.closed_at IS NULL AND i.lien IS NULL AND i.lien_expired = 1
                   AND i.account IS NOT NULL
               ORDER BY i.due_at, i.id LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query([most.saturating_add(1)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if found.len() == limit {
            return Ok((found, false));
        }
        let Some(last) = row.get::<_, Option<i64>>(0)? else {
            continue;
        };
        if let Some(mut one) = lien(connection, last)? {
            one.accounts = vec![AccountId(row.get(1)?)];
            found.push(one);
        }
    }
    Ok((found, true))
}

fn portions(connection: &Connection, found: &mut LienRow) -> Result<(), Error> {
    let sql = "SELECT p.allocation, p.amount, a.account
               FROM lien_allocation p JOIN allocation a ON a.id = p.allocation
               WHERE p.lien = ?1 ORDER BY p.n";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([found.lien.id.0])?;
    while let Some(row) = rows.next()? {
        found.lien.portions.push(Portion {
            allocation: AllocationId(row.get(0)?),
            amount: Amount(row.get(1)?),
        });
        let account = AccountId(row.get(2)?);
        if !found.accounts.contains(&account) {
            found.accounts.push(account);
        }
    }
    Ok(())
}

/// Only open liens have portions, so that their numbers are the list of the open ones.
fn take_open(
    connection: &Connection,
    below: i64,
    limit: usize,
    keep: &impl Fn(&LienRow) -> bool,
    rows: &mut Vec<LienRow>,
) -> Result<Option<i64>, Error> {
    let sql = "SELECT DISTINCT lien FROM lien_allocation WHERE lien < ?1 ORDER BY lien DESC";
    take(connection, sql, below, limit, rows, |row| {
        row.lien.state == LienState::Open && keep(row)
    })
}

fn take_ended(
    connection: &Connection,
    below: i64,
    limit: usize,
    keep: &impl Fn(&LienRow) -> bool,
    rows: &mut Vec<LienRow>,
) -> Result<Option<i64>, Error> {
    let sql = "SELECT id FROM lien WHERE id < ?1 ORDER BY id DESC";
    take(connection, sql, below, limit, rows, |row| {
        row.lien.state != LienState::Open && keep(row)
    })
}

/// Walks numbers downwards until the page is full or enough was looked at; gives the last number
/// looked at if more may follow.
fn take(
    connection: &Connection,
    sql: &str,
    below: i64,
    limit: usize,
    found: &mut Vec<LienRow>,
    keep: impl Fn(&LienRow) -> bool,
) -> Result<Option<i64>, Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([below])?;
    let (mut looked, mut last) = (0, None);
    while let Some(row) = rows.next()? {
        if found.len() >= limit || looked >= SCAN_MAX {
            return Ok(last.or(Some(below)));
        }
        let id: i64 = row.get(0)?;
        found.extend(lien(connection, id)?.filter(&keep));
        looked += 1;
        last = Some(id);
    }
    Ok(None)
}
