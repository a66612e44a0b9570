//! Whose the usage of each charge of an instance is: the project and the user in its journal entries, or those of the
//! settlement that took these back. The names of the instance are those of its latest document, so they never move
//! the hours of an earlier charge.

use super::super::Error;
use super::charge::{Charge, Class};
use super::charged::{Subject, chain, standing};
use super::factors::Factors;
use super::pending::Key;
use super::taken::{Taken, parts_of};
use super::worth::Worth;
use bank_core::time::{Seconds, Timestamp};
use bank_core_figures::rollup::{Sign, Sums};
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

    /// Whether it is the one that an instance names.
    pub(super) fn is(&self, subject: &Subject) -> bool {
        self.project == subject.project && self.user == subject.user
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

/// What an owner has of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) project: String,
    pub(crate) user: String,
    /// The account that paid the last of it.
    pub(crate) account: i64,
    /// The first of its usage rows.
    pub(crate) row: i64,
    /// Its hours.
    pub(crate) sums: Sums,
    /// Processor-seconds by their consumption, in billionths.
    pub(crate) work: i128,
    /// What it was charged, without refunds.
    pub(crate) worth: Worth,
}

/// What each owner has of an instance whose usage its charges define, the present one last; nothing if that one has
/// all of it.
pub(super) fn shares_of(
    connection: &Connection,
    factors: &mut Factors,
    subject: &Subject,
    began: Timestamp,
) -> Result<Vec<Share>, Error> {
    let chain = chain(connection, subject.last_usage)?;
    let owners = owners_of(connection, &chain)?;
    if owners.values().all(|owner| owner.is(subject)) {
        return Ok(Vec::new());
    }
    let mut shares: BTreeMap<(String, String), Share> = BTreeMap::new();
    let own = (subject.project.clone(), subject.user.clone());
    for (charge, sign) in standing(&chain) {
        let owner = owners.get(&charge.id);
        let owner = owner.map(|owner| (owner.project.clone(), owner.user.clone()));
        let share = shares.entry(owner.unwrap_or_else(|| own.clone()));
        let share = share.or_default();
        let used = charge.used(factors, &subject.machine, began);
        share.sums.add(used.totals(), sign);
        let work = charge.usage.processor_seconds(Seconds(charge.seconds));
        share.work = match sign {
            Sign::Plus => share.work.saturating_add(work),
            Sign::Minus => share.work.saturating_sub(work),
        };
    }
    for charge in chain.values().flatten().filter(|c| !c.is_refund) {
        for part in parts_of(connection, charge)? {
            let share = shares.entry((part.project.clone(), part.user.clone()));
            let share = share.or_default();
            if share.row == 0 {
                share.row = charge.id;
            }
            share.account = part.account;
            share.worth = share.worth.plus(part.amount);
        }
    }
    shares.retain(|_, share| !share.sums.is_zero() || share.worth != Worth::default());
    let mut all: Vec<Share> = shares
        .into_iter()
        .map(|((project, user), share)| Share {
            project,
            user,
            ..share
        })
        .collect();
    all.sort_by_key(|share| ((&share.project, &share.user) == (&own.0, &own.1), share.row));
    if let (1, Some(only)) = (all.len(), all.first())
        && (&only.project, &only.user) == (&own.0, &own.1)
    {
        return Ok(Vec::new());
    }
    Ok(all)
}
