//! The journal's entries of an owner, forwards, a bounded number at a time.

use super::super::super::{Error, codec};
use super::super::{SCAN_MAX, journal, past};
use super::Frame;
use bank_core::effects::EntryKind;
use bank_core::ids::{AccountId, AllocationId, InstanceId, TxId};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row};
use std::collections::BTreeSet;

/// Owner of the entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Everything on these accounts.
    Accounts(BTreeSet<AccountId>),
    /// Uses of this user.
    User(String),
    /// Uses on this machine.
    Machine(String),
}

/// One entry that a statement looks at. Amounts are minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    /// Its number.
    pub entry: i64,
    /// Its transaction.
    pub tx: i64,
    /// Its kind.
    pub kind: EntryKind,
    /// The kind of the first entry of its chain: reversals, and reversals of reversals, belong to
    /// the entry reversed first.
    pub root: EntryKind,
    /// On which account.
    pub account: AccountId,
    /// On which allocation.
    pub allocation: AllocationId,
    /// When it counts.
    pub at: Timestamp,
    /// When it is in the books: later than it counts where that was closed already.
    pub booked: Timestamp,
    /// The moved active money.
    pub active: i64,
    /// The change of its allocation's amount.
    pub amount: i64,
    /// The change of its holds.
    pub held: i64,
    /// It belongs to a usage row: a charge, or its reversal.
    pub is_use: bool,
    /// The end of an allocation's window. Other expiries correct an end that is past.
    pub is_end: bool,
    /// The instance that it is about.
    pub instance: Option<InstanceId>,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// Machine as named.
    pub machine: String,
}

impl Movement {
    /// Whether it corrects a closed period.
    pub fn is_adjustment(&self) -> bool {
        self.booked > self.at
    }
}

/// The fields of an entry that [`movement`] reads, before its effective time.
pub(super) const FIELDS: &str = "e.id, e.tx, e.account, e.kind, e.allocation, e.delta_active,
    e.delta_amount, e.delta_held, e.usage IS NOT NULL, e.instance, e.project, e.user, e.machine";

/// Calls `visit` with the entries from a number on, in the order of the journal, until it returns
/// false or a bounded number was read. Returns the entry to continue at; none at the end.
///
/// # Errors
/// If the store cannot be read.
pub fn scan(
    connection: &Connection,
    frame: &Frame,
    whose: &Whose,
    from: i64,
    mut visit: impl FnMut(&Movement) -> bool,
) -> Result<Option<i64>, Error> {
    // A later piece of a journal in which the accounts have too many entries has too many, too.
    if from == frame.first
        && let Some(own) = Own::of(connection, frame, whose, from)?
    {
        return own.visit(connection, frame, visit);
    }
    let sql = format!(
        "SELECT {FIELDS}, t.at_effective FROM entry e JOIN tx t ON t.id = e.tx
         WHERE e.id >= ?1 AND e.id <= ?2 AND e.account IS NOT NULL ORDER BY e.id LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let most = i64::try_from(SCAN_MAX).unwrap_or(i64::MAX);
    let mut rows = statement.query((from, frame.last, most))?;
    let (mut looked, mut next) = (0_i64, None);
    while let Some(row) = rows.next()? {
        looked = looked.saturating_add(1);
        let entry: i64 = row.get(0)?;
        next = Some(entry.saturating_add(1));
        if !is_about(row, whose)? {
            continue;
        }
        if !visit(&movement(connection, row, frame)?) {
            return Ok(next.filter(|next| *next <= frame.last));
        }
    }
    Ok(next.filter(|next| looked == most && *next <= frame.last))
}

/// The entries of accounts that have few in the time of a statement, found along their allocations.
pub(super) struct Own(Vec<i64>);

impl Own {
    /// None for uses, and for accounts with many.
    pub(super) fn of(
        connection: &Connection,
        frame: &Frame,
        whose: &Whose,
        from: i64,
    ) -> Result<Option<Own>, Error> {
        let most = past::worth_it(from, frame.last);
        Own::up_to(connection, frame, whose, from, most)
    }

    /// None for uses, and for accounts with more than `most`.
    pub(super) fn up_to(
        connection: &Connection,
        frame: &Frame,
        whose: &Whose,
        from: i64,
        most: usize,
    ) -> Result<Option<Own>, Error> {
        let Whose::Accounts(accounts) = whose else {
            return Ok(None);
        };
        let own = past::entries_of(connection, accounts, (from, frame.last), most)?;
        Ok(own.map(Own))
    }

    /// Calls `visit` with each, in the order of the journal, until it returns false. Returns the entry to continue at;
    /// none at the end.
    fn visit(
        &self,
        connection: &Connection,
        frame: &Frame,
        mut visit: impl FnMut(&Movement) -> bool,
    ) -> Result<Option<i64>, Error> {
        for (n, movement) in self.movements(connection, frame)?.iter().enumerate() {
            if !visit(movement) {
                return Ok(self.0.get(n.saturating_add(1)).copied());
            }
        }
        Ok(None)
    }

    /// All of them, in the order of the journal.
    pub(super) fn movements(
        &self,
        connection: &Connection,
        frame: &Frame,
    ) -> Result<Vec<Movement>, Error> {
        let sql = format!(
            "SELECT {FIELDS}, t.at_effective FROM entry e JOIN tx t ON t.id = e.tx WHERE e.id = ?1"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut found = Vec::with_capacity(self.0.len());
        for number in &self.0 {
            let mut rows = statement.query([number])?;
            let row = rows.next()?;
            found.push(movement(
                connection,
                row.ok_or_else(|| codec::broken("entry", *number))?,
                frame,
            )?);
        }
        Ok(found)
    }
}

/// Whether a row is about whom the statement is: before its texts are copied.
pub(super) fn is_about(row: &Row<'_>, whose: &Whose) -> Result<bool, Error> {
    let account = AccountId(row.get(2)?);
    let names = |column: usize, name: &str| -> Result<bool, Error> {
        let is_use: bool = row.get(8)?;
        Ok(is_use && row.get_ref(column)?.as_str().is_ok_and(|text| text == name))
    };
    Ok(match whose {
        Whose::Accounts(accounts) => accounts.contains(&account),
        Whose::User(name) => names(11, name)?,
        Whose::Machine(name) => names(12, name)?,
    })
}

/// The kind of the first entry of a chain of reversals.
fn root(connection: &Connection, entry: i64, kind: EntryKind) -> Result<EntryKind, Error> {
    let sql =
        "SELECT c.of, e.kind FROM correction c JOIN entry e ON e.id = c.of WHERE c.entry = ?1";
    let (mut entry, mut kind) = (entry, kind);
    while kind == EntryKind::Reverse {
        let mut statement = connection.prepare_cached(sql)?;
        let found = statement.query_row([entry], |r| Ok((r.get(0)?, r.get::<_, String>(1)?)));
        // A correction goes back in time; one that does not is for `verify` to report.
        let Some((of, word)) = found.optional()?.filter(|(of, _)| *of < entry) else {
            break;
        };
        (entry, kind) = (of, codec::word("entry.kind", &word, EntryKind::parse)?);
    }
    Ok(kind)
}

/// Whether a transaction ends windows: at their boundary, or by an end that is moved to the present.
fn ends_windows(connection: &Connection, tx: i64) -> Result<bool, Error> {
    let sql = "SELECT op IN ('boundary', 'allocation_set') FROM tx WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([tx], |row| row.get(0));
    Ok(found.optional()?.unwrap_or(false))
}

/// The movement of a row of [`FIELDS`] and its effective time.
pub(super) fn movement(
    connection: &Connection,
    row: &Row<'_>,
    frame: &Frame,
) -> Result<Movement, Error> {
    let (entry, tx, at): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(13)?);
    let kind: String = row.get(3)?;
    let kind = codec::word("entry.kind", &kind, EntryKind::parse)?;
    let allocation: Option<i64> = row.get(4)?;
    let instance = row.get::<_, Option<i64>>(9)?.map(InstanceId);
    Ok(Movement {
        entry,
        tx,
        kind,
        root: root(connection, entry, kind)?,
        account: AccountId(row.get(2)?),
        allocation: AllocationId(allocation.unwrap_or_default()),
        at: Timestamp(at),
        booked: frame.closes.booked(TxId(tx), Timestamp(at)),
        active: row.get(5)?,
        amount: row.get(6)?,
        held: row.get(7)?,
        is_use: row.get(8)?,
        is_end: kind == EntryKind::Expire && instance.is_none() && ends_windows(connection, tx)?,
        instance,
        project: row.get(10)?,
        user: row.get(11)?,
        machine: row.get(12)?,
    })
}

/// The scheduler's name of a movement's object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its id.
    pub id: String,
    /// `job` or `reservation`.
    pub kind: String,
}

/// The scheduler's object of a movement; none if it has no job.
///
/// # Errors
/// If the store cannot be read.
pub fn object(connection: &Connection, movement: &Movement) -> Result<Option<Object>, Error> {
    let Some(instance) = movement.instance else {
        return Ok(None);
    };
    let found = journal::object(connection, instance.0)?;
    Ok(found.map(|(id, _, kind)| Object { id, kind }))
}
