//! The row that identifies this bank, and the reference data.

use super::{Error, access, attention, codec, cycle, kind};
use bank_core::amount::Precision;
use bank_core::calendar::{Calendar, Zone};
use bank_core::directory::{Bank, Directory, Policy};
use bank_core::ids::{AccountId, MachineId, ProjectId, RateId, UserId};
use bank_core::model::{Account, Constraint, Key, Link, Member, Overflow};
use bank_core::rate::{Per, Rate, RateKind, RateValue};
use bank_core::time::{Timestamp, Window};
use rusqlite::{Connection, Row};
use std::sync::Arc;

/// Properties that `bankd init` writes once.
#[derive(Clone, Debug)]
pub struct NewBank {
    /// A fresh UUID.
    pub uuid: String,
    /// Decimal places, 0 to 6.
    pub precision: Precision,
    /// The unit's label.
    pub unit: String,
    /// A test bank: its ledger clock may be read from a file.
    pub test: bool,
    /// The user that ran `init`: admin on the socket.
    pub init_uid: u32,
    /// When.
    pub created_at: Timestamp,
}

#[cfg(test)]
impl NewBank {
    /// A test bank.
    pub(crate) fn of_test() -> NewBank {
        NewBank {
            uuid: "00000000-0000-4000-8000-000000000000".into(),
            precision: Precision::DEFAULT,
            unit: "SU".into(),
            test: true,
            init_uid: 0,
            created_at: Timestamp(0),
        }
    }
}

/// Properties that `bankd init` wrote.
#[derive(Clone, Debug)]
pub struct BankRow {
    /// UUID, precision and unit.
    pub bank: Bank,
    /// Whether it is a test bank.
    pub test: bool,
    /// The user that ran `init`.
    pub init_uid: u32,
}

/// Writes the bank's own row, the suspense account and its allocation.
pub(super) fn insert(connection: &Connection, new: &NewBank) -> Result<(), Error> {
    connection.execute(
        "INSERT INTO bank (id, uuid, precision, unit, test, init_uid, created_at)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)",
        (
            &new.uuid,
            new.precision.places(),
            &new.unit,
            new.test,
            new.init_uid,
            new.created_at.0,
        ),
    )?;
    let account = bank_core::book::suspense_account();
    connection.execute(
        "INSERT INTO account (id, name, priority, fallback, blocked, deleted, description)
         VALUES (?1, ?2, 0, NULL, 0, 0, ?3)",
        (account.id.0, &account.name, &account.description),
    )?;
    let allocation = bank_core::book::suspense_allocation();
    connection.execute(
        "INSERT INTO allocation (id, account, start_at, end_at, phase, amount, held, credit_limit,
             deposited, shadow, shadow_held, last_entry)
         VALUES (?1, ?2, NULL, NULL, 'active', 0, 0, 0, 0, 0, 0, NULL)",
        (allocation.id.0, allocation.account.0),
    )?;
    Ok(())
}

/// Reads the bank's own row.
pub fn read(connection: &Connection) -> Result<BankRow, Error> {
    let sql = "SELECT uuid, precision, unit, test, init_uid FROM bank WHERE id = 1";
    let (uuid, places, unit, test, init_uid) = connection.query_row(sql, [], |r| {
        Ok((
            r.get(0)?,
            r.get::<_, u8>(1)?,
            r.get(2)?,
            r.get(3)?,
            r.get(4)?,
        ))
    })?;
    let bad = || Error::Value {
        what: "bank.precision",
        value: places.to_string(),
    };
    let precision = Precision::new(places).ok_or_else(bad)?;
    Ok(BankRow {
        bank: Bank {
            uuid,
            precision,
            unit,
        },
        test,
        init_uid,
    })
}

/// Reads all reference data.
pub fn directory(connection: &Connection, policy: Policy) -> Result<Directory, Error> {
    let mut directory = Directory::new(read(connection)?.bank, policy);
    attention::put_quiet(connection, &mut directory)?;
    each(connection, MEMBERS, |r| {
        directory.put_member(member(r)?);
        Ok(())
    })?;
    for account in accounts(connection)? {
        directory.put_account(account);
    }
    each(connection, RATES, |r| {
        directory.put_rate(rate(r)?);
        Ok(())
    })?;
    each(connection, KEYS, |r| {
        directory.put_key(key(r)?);
        Ok(())
    })?;
    each(connection, cycle::CYCLES, |r| {
        directory.put_cycle(cycle::read(r)?);
        Ok(())
    })?;
    kind::add_all(connection, &mut directory)?;
    access::add_all(connection, &mut directory)?;
    Ok(directory)
}

/// All accounts with their constraints.
fn accounts(connection: &Connection) -> Result<Vec<Account>, Error> {
    let mut accounts: Vec<Account> = Vec::new();
    each(connection, ACCOUNTS, |r| {
        accounts.push(account(r)?);
        Ok(())
    })?;
    each(connection, CONSTRAINTS, |r| {
        let owner = AccountId(r.get(0)?);
        let row = constraint(r)?;
        let found = accounts.binary_search_by_key(&owner, |a| a.id);
        if let Some(account) = found.ok().and_then(|at| accounts.get_mut(at)) {
            account.constraints.push(row);
        }
        Ok(())
    })?;
    Ok(accounts)
}

fn member(r: &Row<'_>) -> Result<Member, Error> {
    Ok(Member {
        project: ProjectId(r.get(0)?),
        user: UserId(r.get(1)?),
        active: r.get(2)?,
        role: access::member_role(&r.get::<_, String>(3)?)?,
    })
}

const MEMBERS: &str = "SELECT project, user, active, role FROM member";
const ACCOUNTS: &str = "SELECT id, name, priority, fallback, blocked, deleted, description, parent,
    share, overflow, discrete FROM account ORDER BY id";
const CONSTRAINTS: &str =
    "SELECT account, dimension, value, allow, subtree FROM account_constraint ORDER BY account, n";
const RATES: &str = "SELECT id, kind, name, instance, billionths, per_s, machine, from_at,
    until_at, description, hours, zone FROM rate ORDER BY id";
const KEYS: &str = "SELECT id, client, roles, projects, machines, from_at, until_at, disabled,
    deleted, token FROM auth_key";

fn each(
    connection: &Connection,
    sql: &str,
    mut row: impl FnMut(&Row<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(r) = rows.next()? {
        row(r)?;
    }
    Ok(())
}

pub(super) fn account(r: &Row<'_>) -> Result<Account, Error> {
    Ok(Account {
        id: AccountId(r.get(0)?),
        name: r.get(1)?,
        priority: r.get(2)?,
        fallback: r.get(3)?,
        blocked: r.get(4)?,
        deleted: r.get(5)?,
        description: r.get(6)?,
        constraints: Vec::new(),
        link: link(r)?,
        discrete: r.get(10)?,
    })
}

fn link(r: &Row<'_>) -> Result<Option<Link>, Error> {
    let Some(parent) = r.get::<_, Option<i64>>(7)? else {
        return Ok(None);
    };
    let overflow = r.get::<_, String>(9)?;
    Ok(Some(Link {
        parent: AccountId(parent),
        share: r.get(8)?,
        overflow: codec::word("account.overflow", &overflow, Overflow::parse)?,
    }))
}

fn constraint(r: &Row<'_>) -> Result<Constraint, Error> {
    Ok(Constraint {
        dimension: codec::word("dimension", &r.get::<_, String>(1)?, codec::dimension)?,
        value: r.get(2)?,
        allow: r.get(3)?,
        subtree: r.get(4)?,
    })
}

fn window(r: &Row<'_>, start: usize, end: usize) -> Result<Window, Error> {
    Ok(Window {
        start: r.get::<_, Option<i64>>(start)?.map(Timestamp),
        end: r.get::<_, Option<i64>>(end)?.map(Timestamp),
    })
}

pub(super) fn rate(r: &Row<'_>) -> Result<Rate, Error> {
    Ok(Rate {
        id: RateId(r.get(0)?),
        kind: codec::word("rate.kind", &r.get::<_, String>(1)?, RateKind::parse)?,
        name: r.get(2)?,
        instance: r.get(3)?,
        value: RateValue(r.get(4)?),
        per: Per::from_seconds(r.get(5)?).unwrap_or_default(),
        machine: r.get::<_, Option<i64>>(6)?.map(MachineId),
        window: window(r, 7, 8)?,
        when: calendar(&r.get::<_, String>(10)?, &r.get::<_, String>(11)?)?,
        description: r.get(9)?,
    })
}

/// The hours of a rate with the offsets that were kept with them; empty text for none.
fn calendar(hours: &str, zone: &str) -> Result<Option<Arc<Calendar>>, Error> {
    if hours.is_empty() {
        return Ok(None);
    }
    let read = Calendar::read(hours, |_| Zone::parse(zone)).ok();
    let bad = || Error::Value {
        what: "rate.hours",
        value: format!("{hours} {zone}"),
    };
    read.map(Arc::new).map(Some).ok_or_else(bad)
}

pub(super) fn key(r: &Row<'_>) -> Result<Key, Error> {
    let list = |text: String| codec::lines(&text);
    Ok(Key {
        id: r.get(0)?,
        client: r.get(1)?,
        roles: list(r.get(2)?),
        projects: list(r.get(3)?),
        machines: list(r.get(4)?),
        window: window(r, 5, 6)?,
        disabled: r.get(7)?,
        deleted: r.get(8)?,
        token: r
            .get::<_, Option<String>>(9)?
            .map(|text| codec::word("auth_key.token", &text, codec::read_hash))
            .transpose()?,
    })
}
