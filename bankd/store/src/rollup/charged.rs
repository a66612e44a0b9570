//! Rollup contributions of instances: the usage of their charges, unless a finished use defines it,
//! and the amounts of each charge by account.
//!
//! Hours and amount of a charge count for the owner in its journal entries, at its own time; usage that is
//! settled moves to the project of the settlement ([`super::owners`]). If a finished use states the usage of
//! an instance, that use counts for the current owner of the instance, and all its charges count in the time
//! of that use. An amended record replaces the previous one (collectors.md 0.1), and the journal contains only
//! the difference.

use super::super::Error;
use super::chain::{chain, remaining, standing};
use super::charge::{Charge, Class};
use super::factors::Factors;
use super::finished::{COLUMNS, Finished};
use super::owners::owners_of;
use super::pending::Key;
use super::taken::{Taken, parts_of};
use bank_core::time::Timestamp;
use bank_core::usage::Usage;
use bank_core_figures::rollup::{Presence, Sign, Use};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::{BTreeMap, BTreeSet};

/// An instance, as far as rollups look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) machine: String,
    pub(crate) project: String,
    pub(crate) user: String,
    pub(crate) account: Option<i64>,
    pub(crate) used_until: Option<i64>,
    pub(crate) is_closed: bool,
    /// The first usage row.
    pub(crate) record: Option<i64>,
    pub(crate) last_usage: Option<i64>,
    pub(crate) group: String,
    pub(crate) state: String,
    pub(crate) submit: Option<i64>,
}

impl Subject {
    /// That of a number.
    pub(crate) fn read(connection: &Connection, id: i64) -> Result<Option<Subject>, Error> {
        let sql =
            "SELECT machine, project, user, account, used_until, closed_at IS NOT NULL, record,
                       last_usage, group_name, state, submit_at FROM instance WHERE id = ?1";
        let read = |r: &Row<'_>| {
            Ok(Subject {
                machine: r.get(0)?,
                project: r.get(1)?,
                user: r.get(2)?,
                account: r.get(3)?,
                used_until: r.get(4)?,
                is_closed: r.get(5)?,
                record: r.get(6)?,
                last_usage: r.get(7)?,
                group: r.get(8)?,
                state: r.get(9)?,
                submit: r.get(10)?,
            })
        };
        let row = connection.prepare_cached(sql)?.query_row([id], read);
        Ok(row.optional()?)
    }

    /// The job that it is, given its first charge.
    pub(crate) fn job(&self, first: &Charge) -> Presence {
        let submit = self.submit.map(Timestamp);
        job(
            first,
            submit,
            self.used_until.map(Timestamp),
            self.is_closed,
        )
    }

    /// Rollup key of its use.
    pub(crate) fn key<'a>(&'a self, account: i64, class: &'a Class) -> Key<'a> {
        Key {
            project: &self.project,
            account,
            user: &self.user,
            machine: &self.machine,
            queue: &class.queue,
            qos: &class.qos,
            pi: &class.pi,
        }
    }
}

/// The job of an instance, given its first charge.
pub(crate) fn job(
    first: &Charge,
    submit: Option<Timestamp>,
    used_until: Option<Timestamp>,
    is_closed: bool,
) -> Presence {
    let start = first.window().0;
    let end = used_until.unwrap_or(first.at).max(start);
    let wall = end.0.saturating_sub(start.0);
    Presence::new(start, end, is_closed).queued(submit, wall)
}

/// Properties of the first charge of an instance.
#[derive(Clone, Debug)]
pub(crate) struct First {
    pub(crate) charge: Charge,
    pub(crate) class: Class,
}

/// The first charge of an instance; none before there is one.
pub(crate) fn first(connection: &Connection, subject: &Subject) -> Result<Option<First>, Error> {
    let Some(record) = subject.record else {
        return Ok(None);
    };
    let charge = Charge::of(connection, record)?;
    let class = charge.class();
    Ok(Some(First { charge, class }))
}

/// The account of the use: that of the instance, else the one of its first charge.
pub(crate) fn account_of(
    connection: &Connection,
    subject: &Subject,
    first: &First,
) -> Result<i64, Error> {
    if let Some(account) = subject.account {
        return Ok(account);
    }
    let parts = parts_of(connection, &first.charge)?;
    Ok(parts.first().map_or(0, |part| part.account))
}

/// A contribution of an instance other than amounts.
#[expect(
    clippy::large_enum_variant,
    reason = "given to a visitor at once and never kept: a box for each use would cost more"
)]
pub(crate) enum Part {
    /// Usage; negated for a reversal.
    Used(Use, Sign),
    /// The job.
    Job(Presence),
}

/// Source of a figure.
pub(crate) enum Source<'a> {
    /// A finished use. It replaces the usage of its instance, if it has one.
    Finished(&'a Finished<'a>),
    /// An instance whose usage no finished use defines, with its first charge.
    Instance(&'a Subject, &'a Charge),
    /// A charge of an instance that has no record.
    Unknown,
}

/// Receives the contributions of an instance.
pub(crate) type TakePart<'v> = dyn FnMut(&Key<'_>, &Source<'_>, Part) -> Result<(), Error> + 'v;

/// Whether finished uses define the usage of an instance.
pub(crate) fn is_finished(connection: &Connection, id: i64) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM usage_identity WHERE instance = ?1
                   AND became IN ('charged', 'adjusted', 'free') LIMIT 1";
    Ok(connection.prepare_cached(sql)?.exists([id])?)
}

/// The greatest number of an instance that a finished use names; 0 where none does.
pub(crate) fn last_named(connection: &Connection) -> Result<i64, Error> {
    let sql = "SELECT coalesce(max(instance), 0) FROM usage_identity WHERE instance IS NOT NULL";
    Ok(connection.query_row(sql, [], |r| r.get(0))?)
}

/// Visits all current contributions of an instance: with its amount if a finished use defines its
/// usage, else without amounts.
pub(crate) fn each_part(
    connection: &Connection,
    factors: &mut Factors,
    id: i64,
    visit: &mut TakePart<'_>,
) -> Result<(), Error> {
    let Some(subject) = Subject::read(connection, id)? else {
        return Ok(());
    };
    let Some(first) = first(connection, &subject)? else {
        return Ok(());
    };
    let mut account = account_of(connection, &subject, &first)?;
    let chain = chain(connection, subject.last_usage)?;
    let sql = format!("SELECT {COLUMNS} FROM usage_identity WHERE instance = ?1 ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([id])?;
    let mut is_reported = false;
    while let Some(row) = rows.next()? {
        let finished = Finished::of_row(row)?;
        if !finished.counts() {
            continue;
        }
        let class = finished.class();
        let source = Source::Finished(&finished);
        if !is_reported {
            let paid = come_to(connection, &chain)?;
            account = subject.account.or(payer(&paid)).unwrap_or(account);
            for part in paid {
                let worth = Part::Used(finished.worth(part.amount), Sign::Plus);
                visit(&part.key(&class), &source, worth)?;
            }
        }
        let key = subject.key(account, &class);
        let used = Part::Used(finished.used(factors), Sign::Plus);
        visit(&key, &source, used)?;
        visit(&key, &source, Part::Job(finished.job()))?;
        is_reported = true;
    }
    if is_reported {
        return Ok(());
    }
    let source = Source::Instance(&subject, &first.charge);
    let key = subject.key(account, &first.class);
    let began = first.charge.window().0;
    let owners = owners_of(connection, &chain)?;
    for (charge, sign) in standing(&chain) {
        let used = charge.used(factors, &subject.machine, began);
        let other = owners
            .get(&charge.id)
            .filter(|owner| !owner.is(&subject.project, &subject.user));
        let own = other.map(|owner| owner.key(&subject.machine, &first.class));
        let key = own.as_ref().unwrap_or(&key);
        visit(key, &source, Part::Used(used, sign))?;
    }
    if !remaining(&chain).is_empty() {
        let job = Part::Job(subject.job(&first.charge));
        visit(&key, &source, job)?;
    }
    Ok(())
}

/// The jobs as which rollups count an instance: those of its finished uses, else the one of its charges. None before
/// its first charge, and none if all of its charges are undone.
pub(crate) fn jobs_of(connection: &Connection, id: i64) -> Result<Vec<Presence>, Error> {
    let Some(subject) = Subject::read(connection, id)? else {
        return Ok(Vec::new());
    };
    let Some(first) = first(connection, &subject)? else {
        return Ok(Vec::new());
    };
    let sql = format!("SELECT {COLUMNS} FROM usage_identity WHERE instance = ?1 ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([id])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let finished = Finished::of_row(row)?;
        if finished.counts() {
            found.push(finished.job());
        }
    }
    if found.is_empty() && !remaining(&chain(connection, subject.last_usage)?).is_empty() {
        found.push(subject.job(&first.charge));
    }
    Ok(found)
}

/// A charge of an instance that remains in effect, with its owner.
pub(crate) struct Owned {
    pub(crate) charge: Charge,
    pub(crate) project: String,
    pub(crate) user: String,
}

/// The charges of an instance that remain in effect, each with its owner as rollups have it.
pub(crate) fn owned(connection: &Connection, id: i64) -> Result<Vec<Owned>, Error> {
    let Some(subject) = Subject::read(connection, id)? else {
        return Ok(Vec::new());
    };
    let chain = chain(connection, subject.last_usage)?;
    let owners = owners_of(connection, &chain)?;
    let own = |charge: &Charge| {
        let other = owners.get(&charge.id);
        let names = other.map_or((&subject.project, &subject.user), |o| (&o.project, &o.user));
        Owned {
            charge: charge.clone(),
            project: names.0.clone(),
            user: names.1.clone(),
        }
    };
    Ok(remaining(&chain).into_iter().map(own).collect())
}

/// The usage of the last charge that remains in effect, of the usage rows up to the last one.
pub(crate) fn last_used(
    connection: &Connection,
    last: Option<i64>,
) -> Result<Option<Usage>, Error> {
    let chain = chain(connection, last)?;
    let is_charge = |c: &&&Charge| c.seconds > 0 && c.usage.idle.is_none() && !c.settles;
    let found = remaining(&chain)
        .iter()
        .rfind(is_charge)
        .map(|c| c.usage.clone());
    Ok(found)
}

/// The project and the user of an instance by its usage rows up to one: those that the last remaining one of them
/// names, else the present ones.
pub(crate) fn names_by(
    connection: &Connection,
    id: i64,
    upto: i64,
) -> Result<(String, String), Error> {
    let Some(subject) = Subject::read(connection, id)? else {
        return Ok(Default::default());
    };
    let chain = chain(connection, subject.last_usage)?;
    let until = remaining(&chain).into_iter().rev();
    for charge in until.filter(|charge| charge.id <= upto) {
        let parts = parts_of(connection, charge)?;
        let gives = parts.iter().find(|part| part.of.is_none());
        if let Some(part) = gives.or(parts.first()) {
            return Ok((part.project.clone(), part.user.clone()));
        }
    }
    Ok((subject.project, subject.user))
}

/// Whether the last usage row of an instance takes an earlier one back, or corrects one: all of its charges may be
/// undone.
pub(crate) fn ends_with_undo(connection: &Connection, subject: &Subject) -> Result<bool, Error> {
    let Some(last) = subject.last_usage else {
        return Ok(false);
    };
    let sql = "SELECT t.reverses IS NOT NULL OR t.corrects IS NOT NULL
               FROM usage u JOIN tx t ON t.id = u.tx WHERE u.id = ?1";
    let found = connection
        .prepare_cached(sql)?
        .query_row([last], |r| r.get(0));
    Ok(found.optional()?.unwrap_or(false))
}

/// The sums of all charges of an instance, by the account that paid and the names in its entries.
fn come_to(
    connection: &Connection,
    chain: &BTreeMap<i64, Vec<Charge>>,
) -> Result<Vec<Taken>, Error> {
    let mut sums: Vec<Taken> = Vec::new();
    for charge in chain.values().flatten() {
        for part in parts_of(connection, charge)? {
            match sums.iter_mut().find(|own| own.is_of_same(&part)) {
                Some(own) => own.amount = own.amount.plus(part.amount),
                None => sums.push(part),
            }
        }
    }
    Ok(sums)
}

/// The account that paid most of the sums of an instance; none if nothing is left of them.
fn payer(paid: &[Taken]) -> Option<i64> {
    let sum = |part: &Taken| part.amount.real.saturating_add(part.amount.shadow);
    let positive = paid.iter().filter(|part| sum(part) > 0);
    positive
        .max_by_key(|part| sum(part))
        .map(|part| part.account)
}

/// Visits the amounts of each charge of an instance except the given ones, as they count if no
/// finished use defines its usage.
pub(crate) fn each_taken(
    connection: &Connection,
    id: i64,
    but: &BTreeSet<i64>,
    mut visit: impl FnMut(&Key<'_>, &Use) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(subject) = Subject::read(connection, id)? else {
        return Ok(());
    };
    let Some(first) = first(connection, &subject)? else {
        return Ok(());
    };
    let chain = chain(connection, subject.last_usage)?;
    for charge in chain.values().flatten().filter(|c| !but.contains(&c.id)) {
        for part in parts_of(connection, charge)? {
            visit(&part.key(&first.class), &part.worth(connection, charge)?)?;
        }
    }
    Ok(())
}
