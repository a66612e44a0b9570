//! An allocation's entries are a chain, newest first; each of them is a step of it.

use super::super::super::{Error, codec};
use bank_core::effects::{Delta, EntryKind};
use bank_core::ids::EntryId;
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

/// One entry of an allocation's chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub entry: i64,
    /// Its transaction.
    pub tx: i64,
    /// The entry before.
    pub prev: Option<EntryId>,
    /// The kind of change.
    pub kind: EntryKind,
    /// When it counts.
    pub effective: Timestamp,
    /// When it was written.
    pub recorded: Timestamp,
    /// The changed amounts.
    pub delta: Delta,
    /// Whether it belongs to a usage row: a charge, or its reversal.
    pub is_use: bool,
    /// The lien that it is about.
    pub lien: Option<i64>,
}

/// Walks a chain from its newest entry back while `visit` returns true. Returns whether it reached
/// the end.
pub(in crate::read) fn walk(
    connection: &Connection,
    newest: Option<EntryId>,
    mut visit: impl FnMut(&Step) -> bool,
) -> Result<bool, Error> {
    let mut next = newest;
    while let Some(id) = next {
        let step = step(connection, id)?;
        if !visit(&step) {
            return Ok(false);
        }
        next = step.prev;
    }
    Ok(true)
}

/// One step by its number.
pub(super) fn step(connection: &Connection, id: EntryId) -> Result<Step, Error> {
    let sql = "SELECT e.tx, e.prev, e.kind, e.delta_amount, e.delta_held, e.delta_active,
                   e.delta_shadow, e.delta_shadow_held, t.at_effective, t.at_recorded,
                   e.usage IS NOT NULL, e.lien
               FROM entry e JOIN tx t ON t.id = e.tx WHERE e.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id.0], |row| {
        let step = Step {
            entry: id.0,
            tx: row.get(0)?,
            prev: row.get::<_, Option<i64>>(1)?.map(EntryId),
            kind: EntryKind::Modify,
            effective: Timestamp(row.get(8)?),
            recorded: Timestamp(row.get(9)?),
            is_use: row.get(10)?,
            lien: row.get(11)?,
            delta: Delta {
                amount: row.get(3)?,
                held: row.get(4)?,
                active: row.get(5)?,
                shadow: row.get(6)?,
                shadow_held: row.get(7)?,
            },
        };
        Ok((step, row.get::<_, String>(2)?))
    });
    let (step, kind) = found
        .optional()?
        .ok_or_else(|| codec::broken("entry.prev", id.0))?;
    let kind = codec::word("entry.kind", &kind, EntryKind::parse)?;
    Ok(Step { kind, ..step })
}

/// Whether an entry gives back what was charged to another allocation, or takes such a refund back.
pub(super) fn is_reissued(
    connection: &Connection,
    entry: i64,
    kind: EntryKind,
) -> Result<bool, Error> {
    if !matches!(kind, EntryKind::Refund | EntryKind::Reverse) {
        return Ok(false);
    }
    let sql = "SELECT c.of, o.allocation IS NOT e.allocation
               FROM correction c JOIN entry e ON e.id = c.entry JOIN entry o ON o.id = c.of
               WHERE c.entry = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut next = Some(entry);
    while let Some(entry) = next {
        let of = statement.query_row([entry], |row| Ok((row.get(0)?, row.get(1)?)));
        match of.optional()? {
            Some((_, true)) => return Ok(true),
            of => next = of.map(|(of, _)| of).filter(|of: &i64| *of < entry),
        }
    }
    Ok(false)
}

/// Whether an entry is a deposit, or takes one back, or puts it there again.
pub(super) fn is_deposit(
    connection: &Connection,
    entry: i64,
    kind: EntryKind,
    amount: i64,
    is_use: bool,
) -> Result<bool, Error> {
    if is_use || kind != EntryKind::Reverse {
        return Ok(kind.deposits(amount));
    }
    let sql = "SELECT c.of, e.kind, e.delta_amount
               FROM correction c JOIN entry e ON e.id = c.of WHERE c.entry = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut entry = entry;
    loop {
        let of = statement.query_row([entry], |row| {
            let of: (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(of)
        });
        let Some((of, word, amount)) = of.optional()? else {
            return Ok(false);
        };
        let kind = codec::word("entry.kind", &word, EntryKind::parse)?;
        if kind != EntryKind::Reverse {
            return Ok(kind.deposits(amount));
        }
        entry = of;
    }
}
