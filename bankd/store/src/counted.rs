//! The hours that a usage record adds to `bank usage`, so that the sum over all records of a project is the same.
//! They are read from the figures that the command has just added to rollups.

use super::Error;
use super::rollup::{Added, OwnerKey, Share, last_used};
use super::sqlite::SqliteStore;
use bank_core::amount::Amount;
use bank_core::decimal::Decimal;
use bank_core::effects::{Billing, Effects, RecordEvent, UsageRow};
use bank_core::ids::{AccountId, InstanceId, UsageId};
use bank_core::model::{Instance, Mode};
use bank_core::time::{MICROS, Seconds, Timestamp};
use bank_core::usage::kept;
use bank_core_figures::rollup::{Measure, Sign, Sums};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The usage that a record adds. Both figures are negative if it reverses usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Processors × wall time, in microseconds.
    pub core: i64,
    /// Wall time, in microseconds.
    pub wall: i64,
    /// It takes all back that records have of the use, or adds all of it for another project or user.
    pub is_whole: bool,
    /// It is what another project or user than the last one had of the use when it closed.
    pub is_part: bool,
}

impl Counted {
    fn of(sums: &Sums) -> Counted {
        Counted {
            core: figure(sums.get(Measure::Core)),
            wall: figure(sums.get(Measure::Wall)),
            is_whole: false,
            is_part: false,
        }
    }
}

fn figure(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

/// A record of a command, with the usage that it adds.
pub type CountedEvent<'e> = (Cow<'e, RecordEvent>, Counted);

impl SqliteStore {
    /// The records of a command with the usage that each of them adds. Call it when the command is written, before
    /// the next one.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn counted<'e>(&mut self, effects: &'e Effects) -> Result<Vec<CountedEvent<'e>>, Error> {
        let mut found = Vec::with_capacity(effects.records.len());
        for (place, event) in effects.records.iter().enumerate() {
            let RecordEvent::Closed { instance, .. } = event else {
                let moved = self.moved(effects, place);
                let event = moved.unwrap_or(Cow::Borrowed(event));
                found.push((event, self.change(effects, place)));
                continue;
            };
            let own = self.as_charged(event, &effects.usages)?;
            match self.whole_use(instance, &effects.usages)? {
                Some(all) => found.push((own, Counted::of(&all))),
                None => match self.rollups.shares(&self.connection, instance.id.0)? {
                    none if none.is_empty() => {
                        let all = self.rollups.use_of(&self.connection, instance.id.0)?;
                        found.push((own, Counted::of(&all)));
                    }
                    shares => found.extend(split(&own, shares)),
                },
            }
        }
        Ok(found)
    }

    /// The close with the quantities of the last charge. Documents that came after it and were not charged have others.
    fn as_charged<'e>(
        &self,
        event: &'e RecordEvent,
        written: &[UsageRow],
    ) -> Result<Cow<'e, RecordEvent>, Error> {
        let mut own = Cow::Borrowed(event);
        let RecordEvent::Closed { instance, .. } = event else {
            return Ok(own);
        };
        let last = instance.last_usage;
        if written.iter().any(|row| Some(row.id) == last) {
            return Ok(own);
        }
        if let Some(used) = last_used(&self.connection, last.map(|id| id.0))?
            && let RecordEvent::Closed { instance, .. } = own.to_mut()
        {
            instance.facts.usage.take_quantities(used);
        }
        Ok(own)
    }

    /// All that an instance used, if its only charge is the one that closes it, as mostly. Where there are more,
    /// the sums of the instance do not show the hours, because each charge has a rate and an owner of its own.
    fn whole_use(
        &mut self,
        instance: &Instance,
        written: &[UsageRow],
    ) -> Result<Option<Sums>, Error> {
        let id = instance.id.0;
        let is_only = |row: &&UsageRow| row.prev.is_none() && Some(row.id) == instance.last_usage;
        let only = written.iter().find(is_only);
        let added = self.rollups.added(id);
        if let Some(after) = added.and_then(|added| added.after)
            && only.is_some()
        {
            return Ok(Some(after));
        }
        let is_plain = instance.facts.usage.counted.is_none();
        let Some(row) = only.filter(|_| is_plain) else {
            return Ok(None);
        };
        if self.rollups.is_finished(&self.connection, id)? {
            return Ok(None);
        }
        let wall = i128::from(row.charged.0).saturating_mul(MICROS.into());
        let core = row.processors.billionths().max(0).saturating_mul(wall);
        let core = core.checked_div(1_000_000_000).unwrap_or(0);
        Ok(Some(
            Sums::default()
                .with(Measure::Core, core)
                .with(Measure::Wall, wall),
        ))
    }

    /// The usage that one of a command's changes after the close adds: the last record of each owner has all that the command
    /// adds to their usage.
    fn change(&self, effects: &Effects, place: usize) -> Counted {
        let Some(id) = effects.records.get(place).and_then(changed).map(|i| i.id) else {
            return Counted::default();
        };
        let Some(added) = self.rollups.added(id.0) else {
            return Counted::default();
        };
        let all = changes_of(effects, id);
        if added.by_owner.is_empty() {
            let is_last = all.last().is_some_and(|(n, _)| *n == place);
            let more = Some(added.more).filter(|_| is_last);
            return Counted::of(&more.unwrap_or_default());
        }
        let mut sums = Sums::default();
        for (owner, more) in &added.by_owner {
            if record_of(&all, owner) == Some(place) {
                sums.add(more, Sign::Plus);
            }
        }
        let named: BTreeSet<Owner<'_>> = all.iter().map(|(_, owner)| *owner).collect();
        Counted {
            is_whole: named.len() > 1 && is_whole(added, &sums),
            ..Counted::of(&sums)
        }
    }

    /// The change with the amount that it has by principal investigators, if an amended record names another one: the journal
    /// moves only the difference, and the rest of the cost goes along with the hours.
    fn moved<'e>(&self, effects: &'e Effects, place: usize) -> Option<Cow<'e, RecordEvent>> {
        let event = effects.records.get(place)?;
        let instance = changed(event)?;
        let all = changes_of(effects, instance.id);
        let (project, user, pi) = owner(instance);
        let own = || all.iter().filter(|(_, o)| (o.0, o.1) == (project, user));
        let (last, now) = *own().next_back()?;
        let (leaves, was) = *own().find(|(_, other)| other.2 != now.2)?;
        if place != last && place != leaves {
            return None;
        }
        let RecordEvent::Charged { usage, .. } = effects.records.get(last)? else {
            return None;
        };
        let measure = match usage.billing {
            Billing::Shadow => Measure::Shadow,
            Billing::Billed | Billing::Unbilled | Billing::Refund => Measure::Charge,
        };
        let by_owner = &self.rollups.added(instance.id.0)?.by_owner;
        let of = |pi: &str| -> Option<&Sums> {
            let owner: OwnerKey = [project, user, pi].map(str::to_owned).into();
            by_owner.get(&owner)
        };
        // What it had is in the figures of the one that it leaves.
        let mut rest = of(was.2).and(of(now.2))?.get(measure);
        let rows = own().filter(|(_, other)| *other == now);
        for row in rows.filter_map(|(n, _)| row_of(effects.records.get(*n)?)) {
            rest = rest.saturating_sub(row.amount.0.into());
        }
        let part = if pi == now.2 {
            rest
        } else {
            rest.saturating_neg()
        };
        let mut event = event.clone();
        match &mut event {
            RecordEvent::Charged {
                instance,
                usage,
                amount,
                ..
            } => {
                usage.amount = plus(usage.amount, part);
                if instance.mode != Some(Mode::Track) {
                    *amount = plus(*amount, part);
                }
            }
            RecordEvent::Adjusted { usage: own, .. } => {
                own.amount = plus(own.amount, part);
                own.billing = usage.billing;
            }
            RecordEvent::Closed { .. } => return None,
        }
        Some(Cow::Owned(event))
    }
}

fn plus(amount: Amount, part: i128) -> Amount {
    Amount(figure(i128::from(amount.0).saturating_add(part)))
}

/// The changes of an instance among the records of a command: their places and owners.
fn changes_of(effects: &Effects, id: InstanceId) -> Vec<(usize, Owner<'_>)> {
    let all = (0..).zip(&effects.records);
    let own = all.filter_map(|(n, event)| changed(event).map(|instance| (n, instance)));
    let own = own.filter(|(_, instance)| instance.id == id);
    own.map(|(n, instance)| (n, owner(instance))).collect()
}

/// The change that has what is added to an owner: their last one, else the last one of the same project and user, else the last.
fn record_of(all: &[(usize, Owner<'_>)], (project, user, pi): &OwnerKey) -> Option<usize> {
    let (project, user, pi) = (project.as_str(), user.as_str(), pi.as_str());
    let exact = all.iter().rfind(|(_, own)| *own == (project, user, pi));
    let named = || {
        all.iter()
            .rfind(|(_, own)| (own.0, own.1) == (project, user))
    };
    let (place, _) = exact.or_else(named).or(all.last())?;
    Some(*place)
}

/// Whether a change is all that a use has.
fn is_whole(added: &Added, sums: &Sums) -> bool {
    let Some(after) = added.after else {
        return false;
    };
    let wall = |sums: &Sums| sums.get(Measure::Wall);
    let before = wall(&after).saturating_sub(wall(&added.more));
    wall(sums) == wall(&after) || wall(sums) == before.saturating_neg()
}

/// Project, user and principal investigator.
type Owner<'e> = (&'e str, &'e str, &'e str);

/// The records of a close of which several projects or users have a part: that of the close, which the others change.
fn split(event: &RecordEvent, mut shares: Vec<Share>) -> Vec<CountedEvent<'static>> {
    let (
        RecordEvent::Closed {
            instance,
            amount,
            created,
        },
        Some(mut own),
    ) = (event, shares.pop())
    else {
        return Vec::new();
    };
    let record = instance.record.map_or(0, |id| id.0);
    // The record of the close has the number of the first row of all.
    let first = shares.iter_mut().find(|share| share.row == record);
    if let Some(first) = first {
        std::mem::swap(&mut first.row, &mut own.row);
    }
    // In mode `track` shadow charges cost nothing.
    let has_shadow = *amount != instance.billed;
    let at = instance.used_until.unwrap_or(instance.opened);
    let event = RecordEvent::Closed {
        instance: Box::new(of_share(instance, &own)),
        amount: own.amount(has_shadow),
        created: *created,
    };
    let mut found: Vec<CountedEvent<'static>> = vec![(Cow::Owned(event), Counted::of(&own.sums))];
    for share in &shares {
        let usage = part(instance, share, at);
        let amount = share.amount(has_shadow);
        let event = RecordEvent::Charged {
            instance: Box::new(of_share(instance, share)),
            usage,
            amount,
            created: *created,
        };
        let counted = Counted {
            is_part: true,
            ..Counted::of(&share.sums)
        };
        found.push((Cow::Owned(event), counted));
    }
    found
}

impl Share {
    fn seconds(&self) -> Seconds {
        let wall = self.sums.get(Measure::Wall);
        Seconds(figure(wall.checked_div(MICROS.into()).unwrap_or(0)))
    }

    fn amount(&self, has_shadow: bool) -> Amount {
        let shadow = if has_shadow { self.worth.shadow } else { 0 };
        Amount(figure(self.worth.real.saturating_add(shadow)))
    }
}

/// An instance with the sums of an owner.
fn of_share(instance: &Instance, share: &Share) -> Instance {
    let mut own = instance.clone();
    own.facts.project.clone_from(&share.project);
    own.facts.user.clone_from(&share.user);
    own.account = Some(AccountId(share.account)).filter(|_| share.account != 0);
    own.fallback_from = None;
    own.billed = Amount(figure(share.worth.real));
    own.shadow_billed = Amount(figure(share.worth.shadow));
    own.charged = share.seconds();
    own.processor_seconds = share.work;
    own
}

/// What another owner has, as one usage row.
fn part(instance: &Instance, share: &Share, at: Timestamp) -> UsageRow {
    let is_shadow = share.worth.real == 0 && share.worth.shadow != 0;
    let core = share.sums.get(Measure::Core).saturating_mul(1_000_000_000);
    let processors = core.checked_div(share.sums.get(Measure::Wall));
    UsageRow {
        id: UsageId(share.row),
        prev: None,
        instance: instance.id,
        tx: bank_core::ids::TxId(0),
        at,
        charged: share.seconds(),
        processors: Decimal::from_billionths(processors.unwrap_or(0)),
        amount: share.amount(true),
        billing: if is_shadow {
            Billing::Shadow
        } else {
            Billing::Billed
        },
        late: true,
        facts: String::new(),
        rates_at: None,
    }
}

/// The instance of a change that counts by itself. Changes before the close count with the close,
/// except refunds, which use no time.
fn changed(event: &RecordEvent) -> Option<&Instance> {
    match event {
        RecordEvent::Charged {
            instance, usage, ..
        } => usage.late.then_some(instance),
        RecordEvent::Adjusted { instance, .. } => (!instance.is_open()).then_some(instance),
        RecordEvent::Closed { .. } => None,
    }
}

/// The usage row of a change.
fn row_of(event: &RecordEvent) -> Option<&UsageRow> {
    match event {
        RecordEvent::Charged { usage, .. } | RecordEvent::Adjusted { usage, .. } => Some(usage),
        RecordEvent::Closed { .. } => None,
    }
}

/// The owner of the usage.
fn owner(instance: &Instance) -> Owner<'_> {
    let facts = &instance.facts;
    (&facts.project, &facts.user, kept::pi(&facts.other))
}
