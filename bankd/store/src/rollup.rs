//! Rollups: usage by UTC hour and day, updated in the transaction of the usage (reports.md 7,
//! decisions.md 31).
//!
//! Three sources count. A finished use without an instance counts with its own figures and its
//! shadow amount. An instance counts with the usage of its charges. If a finished use was charged
//! for it, that use's figures and the total amount count; an amended record replaces the previous
//! one. Other amounts of a charge count for the owner in their journal entries, over the charge's
//! own time. Reversals count there too, so that usage is net of refunds; balances and statements
//! show when money moved.
//!
//! Most charges only add to existing rows. If more changes (such as the owner of an instance,
//! whether a finished use replaces its usage, or a reversal of a charge), the whole instance is
//! subtracted in its state before the command and added in its state after it: `before` and `after`
//! see both.
//!
//! [`rebuild`] makes the same of the rows alone; `verify` compares.

mod blocks;
mod chain;
mod charge;
mod charged;
mod factors;
mod finished;
mod hardware;
mod owners;
mod payments;
mod pending;
mod rebuild;
mod shares;
mod taken;
mod written;

pub use bank_core_figures::rollup::block::{UNITS, Unit};
pub(crate) use bank_core_figures::rollup::pack::{pull, push};
pub use blocks::{BlockSums, add_up, is_stored, next_missing};
pub(crate) use blocks::{bytes, each_day, next_stored, of_bytes, read};
pub(crate) use charged::{
    First, Owned, Part, Source, Subject, jobs_of, last_used, names_by, owned,
};
pub(crate) use finished::{COLUMNS, Finished};
pub(crate) use payments::{Payment, payments};
pub(crate) use pending::{Key, Pending};
pub use rebuild::{Compared, compare, rebuild};
pub(crate) use rebuild::{Counted, Within, each, each_weighed, each_within};
pub(crate) use shares::Share;

use super::Error;
use bank_core::effects::{Effects, InstanceChange, UseRow};
use bank_core_figures::rollup::{Measure, Presence, Sign, Sums, pack};
use factors::Factors;
use finished::Owners;
use hardware::Changing;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, BTreeSet};
use written::{charge, class_of, written};

/// Gives each hour of a row with its figures.
///
/// # Errors
/// If the bytes are none that are written here.
pub(crate) fn each_hour(bytes: &[u8], visit: impl FnMut(u8, &Sums)) -> Result<(), Error> {
    pack::each(bytes, visit).ok_or_else(|| broken("rollup.hours", bytes))
}

fn broken(what: &'static str, bytes: &[u8]) -> Error {
    Error::Value {
        what,
        value: format!("{} bytes", bytes.len()),
    }
}

/// The writer's state for rollups.
#[derive(Default)]
pub(super) struct Rollups {
    pub(super) pending: Pending,
    owners: Owners,
    /// None until they are needed, or needed again.
    factors: Option<Factors>,
    /// Finished uses name no instance with a greater number; none until that is asked for.
    named: Option<i64>,
    /// Usage that the last command added to instances.
    added: BTreeMap<i64, Added>,
}

/// Project, user and principal investigator.
pub(super) type OwnerKey = (String, String, String);

/// Usage that the last command added to an instance.
#[derive(Clone, Default)]
pub(crate) struct Added {
    /// The difference.
    pub(super) more: Sums,
    /// The use afterwards, where all of it was looked at.
    pub(super) after: Option<Sums>,
    /// The difference by owner, where all of it was looked at, or where others than the present owner have a part. Those of
    /// a use whose hours its record states include its charges.
    pub(super) by_owner: BTreeMap<OwnerKey, Sums>,
}

impl Added {
    fn of_owner(&mut self, key: &Key<'_>) -> &mut Sums {
        let owner = [key.project, key.user, key.pi].map(str::to_owned);
        self.by_owner.entry(owner.into()).or_default()
    }
}

/// The rows that a command changes, in their previous state.
pub(super) struct Before {
    touched: Vec<Touched>,
    hardware: Option<Changing>,
}

/// An instance that a command changes, as it was before.
enum Touched {
    /// It had no charges: all that it gives is in the command.
    Fresh(i64),
    /// It had some, and only gets more.
    Grown {
        id: i64,
        job: Presence,
        first: Box<First>,
        account: i64,
    },
    /// It was taken away, and is added as a whole.
    Anew {
        id: i64,
        /// Its usage came from a finished use.
        was_finished: bool,
    },
}

/// The instances that finished uses of a command are or were charged on.
fn instances_of_uses(connection: &Connection, effects: &Effects) -> Result<BTreeSet<i64>, Error> {
    let own = effects.uses.iter().filter_map(|row| row.instance);
    let mut found: BTreeSet<i64> = own.map(|id| id.0).collect();
    let amended = effects.uses.iter().filter(|row| row.revision != 0);
    let keys = amended.map(|row| {
        let report = &row.report;
        (
            report.source.as_str(),
            report.request.object_id.as_str(),
            report.incarnation().0,
        )
    });
    let assigned = effects.assigned.iter().map(|row| {
        let identity = &row.identity;
        (
            identity.source.as_str(),
            identity.id.as_str(),
            identity.start.0,
        )
    });
    let sql = "SELECT u.instance FROM source s JOIN usage_identity u ON u.source = s.id
               WHERE s.name = ?1 AND u.object_id = ?2 AND u.start_at = ?3
                   AND u.instance IS NOT NULL";
    for key in keys.chain(assigned) {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(key)?;
        if let Some(row) = rows.next()? {
            found.insert(row.get(0)?);
        }
    }
    Ok(found)
}

impl Rollups {
    /// Reads the rows that a command changes before it is written. `fresh` is the number of the
    /// next new instance.
    pub(super) fn before(
        &mut self,
        connection: &Connection,
        fresh: i64,
        effects: &Effects,
    ) -> Result<Before, Error> {
        let hardware = Changing::look(connection, &effects.directory)?;
        self.added.clear();
        let mut touched = Vec::new();
        let turns = effects.transactions.iter().any(|tx| tx.reverses.is_some());
        let moves = effects.transactions.iter().any(|tx| tx.op == "settle");
        let is_plain = effects.uses.is_empty() && effects.assigned.is_empty() && !turns && !moves;
        let mut seen = BTreeSet::new();
        // The last one is how it is afterwards.
        for change in effects.instances.iter().rev() {
            let id = change.instance.id.0;
            if seen.insert(id)
                && let Some(one) =
                    self.look(connection, (change, id >= fresh), effects, is_plain)?
            {
                touched.push(one);
            }
        }
        for id in instances_of_uses(connection, effects)? {
            if seen.insert(id) {
                touched.push(self.take_away(connection, id)?);
            }
        }
        // After the last check: names read for the first time are from before the command.
        self.note_named(&effects.uses);
        Ok(Before { touched, hardware })
    }

    /// Counts the rows that a command wrote.
    pub(super) fn after(
        &mut self,
        connection: &Connection,
        effects: &Effects,
        before: Before,
    ) -> Result<(), Error> {
        let charges = written::charges(effects)?;
        let mut finished = BTreeSet::new();
        for one in &before.touched {
            match one {
                Touched::Anew { id, was_finished } => {
                    self.whole(connection, *id, Sign::Plus)?;
                    let is = charged::is_finished(connection, *id)?;
                    if is {
                        finished.insert(*id);
                    }
                    if is != *was_finished {
                        self.retake(connection, effects, *id, Sign::Plus.turned(is))?;
                    }
                }
                Touched::Fresh(id) => written(connection, self, (effects, &charges), *id, None)?,
                Touched::Grown { id, .. } => {
                    written(connection, self, (effects, &charges), *id, Some(one))?;
                }
            }
        }
        let own = charges.iter();
        for (usage, own) in own.filter(|(usage, _)| !finished.contains(&usage.instance.0)) {
            let class = class_of(connection, usage, (effects, &charges), &before.touched)?;
            charge(connection, &mut self.pending, effects, (usage, own), &class)?;
        }
        if let Some(changing) = before.hardware {
            self.factors = None;
            changing.recount(connection, &mut self.pending)?;
        }
        Ok(())
    }

    /// Looks at an instance that a command changes, new or not; none where nothing of it counts.
    fn look(
        &mut self,
        connection: &Connection,
        (change, is_new): (&InstanceChange, bool),
        effects: &Effects,
        is_plain: bool,
    ) -> Result<Option<Touched>, Error> {
        let now = &change.instance;
        let id = now.id.0;
        let mut own = effects
            .usages
            .iter()
            .filter(|usage| usage.instance == now.id);
        let is_other = change.facts_changed || change.standing_changed;
        if now.record.is_none() || !(is_other || own.clone().next().is_some()) {
            return Ok(None);
        }
        let is_first = own.any(|usage| Some(usage.id) == now.record);
        if is_first && is_plain && (is_new || !self.is_finished(connection, id)?) {
            return Ok(Some(Touched::Fresh(id)));
        }
        let was = Subject::read(connection, id)?;
        let first = match &was {
            Some(was) => charged::first(connection, was)?,
            None => None,
        };
        let (Some(was), Some(first)) = (was, first) else {
            return self.take_away(connection, id).map(Some);
        };
        let stays = was.project == now.facts.project
            && was.user == now.facts.user
            && was.account == now.account.map(|account| account.0);
        // A job of which every charge was undone is not counted, and counts again from its next charge on.
        let only_grows = is_plain && stays && !charged::ends_with_undo(connection, &was)?;
        if only_grows && !self.is_finished(connection, id)? {
            let account = charged::account_of(connection, &was, &first)?;
            return Ok(Some(Touched::Grown {
                id,
                job: was.job(&first.charge),
                first: Box::new(first),
                account,
            }));
        }
        self.take_away(connection, id).map(Some)
    }

    /// Whether finished uses define the usage of an instance.
    pub(super) fn is_finished(&mut self, connection: &Connection, id: i64) -> Result<bool, Error> {
        let named = match self.named {
            Some(named) => named,
            None => charged::last_named(connection)?,
        };
        self.named = Some(named);
        // Most instances of a scheduler are newer than those that collectors reported.
        Ok(id <= named && charged::is_finished(connection, id)?)
    }

    /// All that an instance used.
    pub(super) fn use_of(&mut self, connection: &Connection, id: i64) -> Result<Sums, Error> {
        let factors = ready(&mut self.factors, connection)?;
        let mut all = Sums::default();
        charged::each_part(connection, factors, id, &mut |_, _, part| {
            if let Part::Used(used, sign) = part {
                all.add(used.totals(), sign);
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Takes away all that an instance gives.
    fn take_away(&mut self, connection: &Connection, id: i64) -> Result<Touched, Error> {
        self.whole(connection, id, Sign::Minus)?;
        let was_finished = self.is_finished(connection, id)?;
        Ok(Touched::Anew { id, was_finished })
    }

    /// Checks the instances of finished uses that are about to be written. After a rollback an
    /// instance remains noted, which only costs a lookup.
    fn note_named(&mut self, uses: &[UseRow]) {
        if let Some(named) = &mut self.named {
            let own = uses.iter().filter_map(|row| row.instance);
            *named = own.fold(*named, |named, instance| named.max(instance.0));
        }
    }

    /// Counts finished uses as they are written; those with an instance count with that.
    pub(super) fn count_uses<'r>(
        &mut self,
        connection: &Connection,
        rows: impl IntoIterator<Item = &'r UseRow>,
    ) -> Result<(), Error> {
        for row in rows {
            self.of_use(connection, &Finished::written(row), Sign::Plus)?;
        }
        Ok(())
    }

    /// Counts new finished uses without the database. Gives the places of those that it would have to be
    /// asked for, and of all behind the last that there was room for.
    pub(super) fn count_known(&mut self, rows: &[UseRow]) -> Vec<usize> {
        let mut left = Vec::new();
        for (n, row) in rows.iter().enumerate() {
            if self.pending.is_full() || !self.count_one(row) {
                left.push(n);
            }
        }
        left
    }

    /// Counts a new finished use; false, and not, where its account or its key was not met before.
    fn count_one(&mut self, row: &UseRow) -> bool {
        let finished = Finished::written(row);
        if finished.instance.is_some() {
            return true;
        }
        let (Some(account), Some(factors)) =
            (self.owners.known(finished.allocation), &mut self.factors)
        else {
            return false;
        };
        let Some(key) = self.pending.known(&finished.key(account)) else {
            return false;
        };
        self.pending.add(key, finished.gives(factors), Sign::Plus);
        true
    }

    /// Takes a finished use away as it is stored, or adds it.
    pub(super) fn stored_use(
        &mut self,
        connection: &Connection,
        (source, id, start): (&str, &str, i64),
        sign: Sign,
    ) -> Result<(), Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM usage_identity
             WHERE source = (SELECT id FROM source WHERE name = ?1)
                 AND object_id = ?2 AND start_at = ?3"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![source, id, start])?;
        match rows.next()? {
            Some(row) => self.of_use(connection, &Finished::of_row(row)?, sign),
            None => Ok(()),
        }
    }

    fn of_use(
        &mut self,
        connection: &Connection,
        finished: &Finished<'_>,
        sign: Sign,
    ) -> Result<(), Error> {
        if finished.instance.is_some() {
            return Ok(());
        }
        let account = self.owners.of(connection, finished.allocation)?;
        let key = finished.key(account);
        let gives = finished.gives(ready(&mut self.factors, connection)?);
        self.pending.finished(connection, &key, gives, sign)
    }

    /// Moves the amounts of an instance's earlier charges: from now on they count by their entries,
    /// or with the finished use that now defines the usage.
    fn retake(
        &mut self,
        connection: &Connection,
        effects: &Effects,
        id: i64,
        sign: Sign,
    ) -> Result<(), Error> {
        let new: BTreeSet<i64> = effects.usages.iter().map(|usage| usage.id.0).collect();
        charged::each_taken(connection, id, &new, |key, worth| {
            self.pending.spread(connection, key, worth, sign)
        })
    }

    /// Adds or subtracts everything of an instance; amounts separately if no finished use defines
    /// its usage.
    fn whole(&mut self, connection: &Connection, id: i64, sign: Sign) -> Result<(), Error> {
        let Rollups {
            pending, factors, ..
        } = self;
        let factors = ready(factors, connection)?;
        let mut all = Sums::default();
        let added = self.added.entry(id).or_default();
        charged::each_part(connection, factors, id, &mut |key, _, part| match part {
            Part::Used(used, own) => {
                let turned = sign.turned(own == Sign::Minus);
                all.add(used.totals(), own);
                added.of_owner(key).add(used.totals(), turned);
                pending.spread(connection, key, &used, turned)
            }
            Part::Job(job) => pending.count(connection, key, &job, sign),
        })?;
        added.more.add(&all, sign);
        added.after = Some(all).filter(|_| sign == Sign::Plus);
        Ok(())
    }

    /// Usage that the last command added to an instance.
    pub(super) fn added(&self, id: i64) -> Option<&Added> {
        self.added.get(&id)
    }

    /// What each owner has of an instance, the present one last; nothing if that one has all of it.
    pub(super) fn shares(&mut self, connection: &Connection, id: i64) -> Result<Vec<Share>, Error> {
        let stated = if self.is_finished(connection, id)? {
            Some(self.use_of(connection, id)?)
        } else {
            None
        };
        let Some(subject) = Subject::read(connection, id)? else {
            return Ok(Vec::new());
        };
        let Some(first) = charged::first(connection, &subject)? else {
            return Ok(Vec::new());
        };
        let factors = ready(&mut self.factors, connection)?;
        let began = first.charge.window().0;
        shares::shares_of(connection, factors, (&subject, began), stated.as_ref())
    }

    /// Discards unwritten changes.
    pub(super) fn forget(&mut self) {
        self.pending.forget();
        self.owners = Owners::default();
        self.factors = None;
    }
}

/// The factors of today: read once, and when hardware has changed.
fn ready<'f>(
    factors: &'f mut Option<Factors>,
    connection: &Connection,
) -> Result<&'f mut Factors, Error> {
    Ok(match factors {
        Some(factors) => factors,
        none => none.insert(Factors::read(connection, Measure::Core)?),
    })
}
