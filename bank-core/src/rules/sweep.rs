//! Boundaries that pass with time: windows begin and end, liens expire, instances close, cycles bring new
//! money. Each boundary is a separate transaction, effective when it was due (decisions.md 9).

use crate::effects::{Effects, InstanceChange, Outcome};
use crate::ids::{AllocationId, CycleId, InstanceId};
use crate::model::{Allocation, Closing, Cycle, Instance, LienState};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::rules::cycle;
use crate::rules::instance::{close_instance, end_lien};
use crate::rules::phase::cross;
use crate::time::Timestamp;
use crate::view::{Context, View};

/// Boundaries journalled in one go at most; the next go finds the rest.
const BOUNDARIES_MAX: usize = 1000;

/// Something with boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// An instance: its lien or its grace ends.
    Instance(InstanceId),
    /// A cycle.
    Cycle(CycleId),
    /// An allocation: its window begins or ends.
    Allocation(AllocationId),
}

/// A boundary that no rule lets be journalled. Those of others go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The object of the boundary.
    pub subject: Subject,
    /// When it was due.
    pub at: Timestamp,
    /// Why.
    pub refusal: Refusal,
}

/// Journals the boundaries that have passed of what is in view, the earliest first; those that are
/// stuck already and later ones of their subjects are left out, and those that get stuck now are
/// added to them.
pub fn sweep(view: &View, ctx: &Context<'_>, stuck: &mut Vec<Stuck>) -> Effects {
    loop {
        match attempt(view, ctx, stuck) {
            Ok(effects) => return effects,
            // Without it from the start: what it has changed must not stay.
            Err(new) => stuck.push(new),
        }
    }
}

fn attempt(view: &View, ctx: &Context<'_>, stuck: &[Stuck]) -> Result<Effects, Stuck> {
    let mut postings = Postings::new(view);
    let mut instances = view.instances.clone();
    let mut cycles = view.cycles.clone();
    for _ in 0..BOUNDARIES_MAX {
        let Some((at, subject)) = next_due(&postings, &instances, &cycles, stuck, ctx.now) else {
            break;
        };
        let done = match subject {
            Subject::Allocation(id) => cross(&mut postings, id, at),
            Subject::Instance(id) => match instances.iter_mut().find(|i| i.id == id) {
                Some(instance) => advance(&mut postings, instance, ctx),
                None => Ok(()),
            },
            Subject::Cycle(id) => match cycles.iter_mut().find(|c| c.id == id) {
                Some(due) => cycle::run(&mut postings, due, ctx).map(|run| *due = run.cycle),
                None => Ok(()),
            },
        };
        done.map_err(|refusal| Stuck {
            subject,
            at,
            refusal,
        })?;
    }
    Ok(postings.finish(Outcome::Swept))
}

/// The earliest boundary that has passed; at one instant liens go before cycles, for what they give
/// back is free, and cycles before windows, for what they carry over must not expire.
fn next_due(
    postings: &Postings,
    instances: &[Instance],
    cycles: &[Cycle],
    stuck: &[Stuck],
    now: Timestamp,
) -> Option<(Timestamp, Subject)> {
    let windows = postings
        .allocations()
        .iter()
        .filter_map(|a: &Allocation| Some((a.next_boundary()?, Subject::Allocation(a.id))));
    let instances = instances
        .iter()
        .filter_map(|i| Some((i.due?, Subject::Instance(i.id))));
    let cycles = cycles
        .iter()
        .filter_map(|c| Some((c.due()?, Subject::Cycle(c.id))));
    let due = windows.chain(instances).chain(cycles);
    let passed = due.filter(|(at, _)| *at <= now);
    // Boundaries before a stuck one continue.
    let waits = |s: &Stuck, at: Timestamp, subject: Subject| s.subject == subject && s.at <= at;
    passed
        .filter(|(at, subject)| !stuck.iter().any(|s| waits(s, *at, *subject)))
        .min()
}

/// A lien expires at its end; the instance closes when the grace has passed (decisions.md 13).
fn advance(
    postings: &mut Postings,
    instance: &mut Instance,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let at = instance.due.unwrap_or(ctx.now);
    postings.begin_for("boundary", at, instance.id);
    if instance.lien.is_some() {
        end_lien(postings, instance, LienState::Expired)?;
        instance.lien_expired = true;
        let grace = ctx.directory.policy.close_grace;
        // One that its scheduler has ended waited for a record, and is closed already.
        instance.due = instance.is_open().then(|| at.plus(grace));
    } else {
        close_instance(postings, instance, at, Closing::Expiry, ctx);
    }
    postings.instances.retain(|c| c.instance.id != instance.id);
    postings.instances.push(InstanceChange {
        instance: instance.clone(),
        facts_changed: false,
        standing_changed: true,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::{Amount, Precision};
    use crate::book::Book;
    use crate::command::Scope;
    use crate::directory::{Bank, Policy};
    use crate::ids::AccountId;
    use crate::ledger::{self, Ledger};
    use crate::model::Phase;
    use crate::time::Window;

    fn ending(id: i64, amount: i64, end: i64) -> Allocation {
        Allocation {
            id: AllocationId(id),
            account: AccountId(1),
            window: Window {
                start: None,
                end: Some(Timestamp(end)),
            },
            amount: Amount(amount),
            ..crate::book::suspense_allocation()
        }
    }

    #[test]
    fn a_boundary_that_is_stuck_stops_no_later_one() {
        let bank = Bank {
            uuid: "u".into(),
            precision: Precision::new(0).unwrap(),
            unit: "credits".into(),
        };
        let mut book = Book::new(bank, Policy::default());
        // The amount that its end would take away is out of range.
        book.allocations.insert(2, ending(2, i64::MIN, 100));
        book.allocations.insert(3, ending(3, 50, 200));
        for expected in [1, 0] {
            let before = book.journal.len();
            let Ok(stuck) = ledger::sweep(&mut book, Timestamp(300));
            assert_eq!(book.journal.len() - before, expected);
            let [stuck] = stuck.as_slice() else {
                panic!("one is stuck: {stuck:?}");
            };
            assert_eq!(stuck.subject, Subject::Allocation(AllocationId(2)));
            assert_eq!(
                (stuck.at, stuck.refusal.code()),
                (Timestamp(100), "amount_overflow")
            );
        }
        assert_eq!(book.allocations[&3].phase, Phase::Expired);
        assert_eq!(book.allocations[&2].phase, Phase::Active);
        // Numbers have no gaps: what was attempted took none.
        let view = book.load_due(Timestamp(300)).unwrap().unwrap();
        assert_eq!(view.next.tx, 2);
        let ctx = Context {
            directory: &book.directory().unwrap(),
            now: Timestamp(300),
            scope: &Scope::default(),
        };
        let mut known = Vec::new();
        assert!(sweep(&view, &ctx, &mut known).transactions.is_empty());
        assert_eq!(known.len(), 1);
    }
}
