//! Counts the charges that a command writes, without reading them again.

use super::super::Error;
use super::charge::{Charge, Class};
use super::charged::{self, Subject};
use super::pending::{Key, Pending};
use super::taken::{self, Taken};
use super::{Added, Rollups, Touched, ready};
use bank_core::effects::{Effects, Entry, UsageRow};
use bank_core_figures::rollup::Sign;
use rusqlite::Connection;

/// The usage rows of a command with their charges.
pub(super) fn charges(effects: &Effects) -> Result<Vec<(&UsageRow, Charge)>, Error> {
    let rows = effects.usages.iter();
    rows.map(|row| Ok((row, Charge::written(row)?))).collect()
}

/// Counts a command that only adds to an instance's usage, without reading the instance again.
pub(super) fn written(
    connection: &Connection,
    rollups: &mut Rollups,
    (effects, usages): (&Effects, &[(&UsageRow, Charge)]),
    id: i64,
    grown: Option<&Touched>,
) -> Result<(), Error> {
    let mut changes = effects.instances.iter().rev();
    let Some(change) = changes.find(|change| change.instance.id.0 == id) else {
        return Ok(());
    };
    let instance = &change.instance;
    let billed = usages.iter().filter(|(row, _)| row.instance == instance.id);
    let billed = billed.map(|(_, charge)| charge);
    let is_first = |charge: &&Charge| instance.record.is_some_and(|record| record.0 == charge.id);
    let (first, account, was) = if let Some(Touched::Grown {
        first,
        account,
        job,
        ..
    }) = grown
    {
        (&first.charge, *account, Some(job))
    } else {
        let Some(first) = billed.clone().find(is_first) else {
            return Ok(());
        };
        let paid = entry_of(effects, first).and_then(|entry| entry.account);
        let account = instance.account.or(paid).map_or(0, |account| account.0);
        (first, account, None)
    };
    let class = first.class();
    let key = Key {
        project: &instance.facts.project,
        account,
        user: &instance.facts.user,
        machine: &instance.key.machine,
        queue: &class.queue,
        qos: &class.qos,
        pi: &class.pi,
    };
    let began = first.window().0;
    let Rollups {
        pending,
        factors,
        added,
        ..
    } = rollups;
    let factors = ready(factors, connection)?;
    let mut own = Added::default();
    let owners = billed.map(|charge| (charge, key_of(effects, charge, &key)));
    let is_shared = owners.clone().any(|(_, owner)| !owner.is_of(&key));
    for (charge, key) in owners {
        let used = charge.used(factors, key.machine, began);
        if is_shared {
            own.of_owner(&key).add(used.totals(), Sign::Plus);
        }
        own.more.add(used.totals(), Sign::Plus);
        pending.spread(connection, &key, &used, Sign::Plus)?;
    }
    own.after = grown.is_none().then_some(own.more);
    added.insert(id, own);
    let (submit, end) = (instance.facts.submit, instance.used_until);
    let job = charged::job(first, submit, end, !instance.is_open());
    match was {
        Some(was) => pending.recount(connection, &key, was, &job),
        None => pending.count(connection, &key, &job, Sign::Plus),
    }
}

/// The first entry of a charge.
fn entry_of<'a>(effects: &'a Effects, charge: &Charge) -> Option<&'a Entry> {
    let mut entries = effects.transactions.iter().flat_map(|tx| &tx.entries);
    entries.find(|e| e.usage.is_some_and(|usage| usage.0 == charge.id))
}

/// Rollup key of the use of a charge: that of its instance, but the project and the user of the charge.
fn key_of<'a>(effects: &'a Effects, charge: &Charge, of_instance: &Key<'a>) -> Key<'a> {
    let is_other = |e: &&Entry| e.project != of_instance.project || e.user != of_instance.user;
    match entry_of(effects, charge).filter(is_other) {
        Some(entry) => Key {
            project: &entry.project,
            account: entry.account.map_or(0, |account| account.0),
            user: &entry.user,
            ..*of_instance
        },
        None => *of_instance,
    }
}

/// The class of the first charge of a usage row's instance.
pub(super) fn class_of(
    connection: &Connection,
    usage: &UsageRow,
    (effects, usages): (&Effects, &[(&UsageRow, Charge)]),
    touched: &[Touched],
) -> Result<Class, Error> {
    let id = usage.instance.0;
    let own = effects.instances.iter().rev();
    let record = own
        .filter(|change| change.instance.id == usage.instance)
        .find_map(|change| change.instance.record);
    let mut rows = usages.iter();
    if let Some((_, first)) = rows.find(|(row, _)| Some(row.id) == record) {
        return Ok(first.class());
    }
    let known = touched.iter().find_map(|one| match one {
        Touched::Grown { id: own, first, .. } if *own == id => Some(first.class.clone()),
        _ => None,
    });
    if let Some(class) = known {
        return Ok(class);
    }
    let subject = Subject::read(connection, id)?;
    let first = match &subject {
        Some(subject) => charged::first(connection, subject)?,
        None => None,
    };
    Ok(first.map(|first| first.class).unwrap_or_default())
}

/// Counts the amount of a charge.
pub(super) fn charge(
    connection: &Connection,
    pending: &mut Pending,
    effects: &Effects,
    (usage, row): (&UsageRow, &Charge),
    class: &Class,
) -> Result<(), Error> {
    let entries = effects.transactions.iter().flat_map(|tx| &tx.entries);
    let own = entries.filter(|entry| entry.usage == Some(usage.id));
    let mut parts: Vec<Taken> = own
        .map(|entry| Taken {
            account: entry.account.map_or(0, |account| account.0),
            project: entry.project.clone(),
            user: entry.user.clone(),
            machine: entry.machine.clone(),
            amount: taken::taken(entry.delta.amount, entry.delta.shadow),
            of: entry.takes_back.map(|of| of.0),
        })
        .collect();
    taken::complete(&mut parts, row.worth);
    for part in parts {
        let worth = part.worth(connection, row)?;
        pending.spread(connection, &part.key(class), &worth, Sign::Plus)?;
    }
    Ok(())
}
