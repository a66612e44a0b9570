//! The interface of a store, and the steps of a command over it.
//!
//! The trait is synchronous and independent of databases: `SQLite` implements it in the daemon, and
//! [`crate::book::Book`] in memory for the tests and the model.

use crate::command::{Access, After, Chunk, Command, RecordAction, Scope};
use crate::directory::Directory;
use crate::effects::{Became, Effects, Outcome, RefusedReserve, Settings, Shortage};
use crate::history::PastRecord;
use crate::ids::AllocationId;
use crate::kind::{self, Key};
use crate::need::{Need, further, moved_by, need, of_change, of_correction};
use crate::refusal::Refusal;
use crate::reservation;
use crate::rules;
use crate::rules::sweep::Stuck;
use crate::time::Timestamp;
use crate::view::{Already, Context, View};
use std::collections::BTreeSet;

/// An open database transaction over the ledger.
pub trait Ledger {
    /// Why the store itself failed; a refusal is not among the reasons.
    type Error;

    /// The reference data as this transaction sees it.
    fn directory(&mut self) -> Result<std::sync::Arc<Directory>, Self::Error>;

    /// The requested rows, as this transaction sees them.
    fn load(&mut self, need: &Need) -> Result<View, Self::Error>;

    /// Allocations and instances with a boundary at or before an instant, the earliest first; a
    /// bounded number of them, empty when nothing is due.
    fn load_due(&mut self, now: Timestamp) -> Result<Option<View>, Self::Error>;

    /// Open jobs of a project.
    fn open_instances(&mut self, project: &str) -> Result<i64, Self::Error>;

    /// Open jobs that name a user, or a machine.
    fn open_instances_of(&mut self, named: Named<'_>) -> Result<i64, Self::Error>;

    /// The stored data for the reports of a chunk, in their order, and those of these machines on which
    /// something was charged.
    fn load_chunk(
        &mut self,
        chunk: &Chunk,
        unclaimed: &BTreeSet<String>,
    ) -> Result<(Vec<Already>, BTreeSet<String>), Self::Error>;

    /// Writes what a command did: all of it, or an error and none.
    fn append(&mut self, effects: &Effects) -> Result<(), Self::Error>;

    /// Remembers that money was short for a reserve: the latest for each object and project.
    fn remember(&mut self, shortage: &Shortage) -> Result<(), Self::Error>;

    /// Remembers a refused reserve: the latest of each object.
    fn remember_refused(&mut self, refused: &RefusedReserve) -> Result<(), Self::Error>;
}

/// A user or a machine as open jobs name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// A user.
    User(&'a str),
    /// A machine.
    Machine(&'a str),
}

/// The result of one command.
pub type Decision = Result<Outcome, Refusal>;

/// Runs a command: boundaries that have passed are journalled first, then the rows are loaded, the
/// rules decide, and the effects are written. A refusal writes only those boundaries. A refused
/// reserve is recorded with its reason, and a shortage with its figures.
///
/// With `dry_run` the decision is made and nothing of it is written.
pub fn execute<L: Ledger>(
    ledger: &mut L,
    command: &Command,
    scope: &Scope,
    now: Timestamp,
    dry_run: bool,
) -> Result<Decision, L::Error> {
    sweep(ledger, now)?;
    let decision = decide(ledger, command, scope, now)?;
    match (&decision, dry_run) {
        (Ok(effects), false) => {
            ledger.append(effects)?;
            settle_reservations(ledger, effects, now)?;
        }
        (Err(refusal), false) => {
            let directory = ledger.directory()?;
            if let Some(short) = rules::fallback::shortage(command, refusal, &directory, now) {
                ledger.remember(&short)?;
            }
            if let Some(refused) = rules::refused::of(command, refusal, &directory, now) {
                ledger.remember_refused(&refused)?;
            }
        }
        (_, true) => {}
    }
    Ok(decision.map(|effects| effects.outcome))
}

/// Corrects the charges of reservations whose time a command changed: a charge of a job in it, or a reversal.
/// What cannot be corrected, because no number can hold it, stays as it is.
fn settle_reservations<L: Ledger>(
    ledger: &mut L,
    effects: &Effects,
    now: Timestamp,
) -> Result<(), L::Error> {
    for change in reservation::changes(&effects.times) {
        let view = ledger.load(&of_change(&change))?;
        for id in reservation::reserved_by(&view.times) {
            let directory = ledger.directory()?;
            let scope = Scope::default();
            let ctx = Context {
                directory: &directory,
                now,
                scope: &scope,
            };
            let view = ledger.load(&of_correction(&change, id, None, &directory, now))?;
            let instance = view.instances.first();
            let Some(instance) = instance.filter(|i| rules::owes(&change, i, &view, &ctx)) else {
                continue;
            };
            let at = rules::counts_at(&change, instance, &view, now);
            let all = of_correction(&change, id, Some((instance, at)), &directory, now);
            let view = ledger.load(&all)?;
            let corrected = rules::settle_reservation(&change, id, &view, &ctx);
            drop(directory);
            if let Ok(corrected) = corrected {
                ledger.append(&corrected)?;
            }
        }
    }
    Ok(())
}

/// Loads and decides; the reference data is let go before anything is written to it.
fn decide<L: Ledger>(
    ledger: &mut L,
    command: &Command,
    scope: &Scope,
    now: Timestamp,
) -> Result<Result<Effects, Refusal>, L::Error> {
    let directory = ledger.directory()?;
    let moved = || moved_by(scope, &directory, now);
    let proposed = || match command {
        Command::Access(Access::Approve(approve)) => {
            let proposer = approve.proposers.first()?;
            moved_by(proposer, &directory, now)
        }
        _ => None,
    };
    let mut first = need(command, &directory, now);
    (first.moved, first.moved_by_proposer) = (moved(), proposed());
    first.asked_by = asked_by(command, scope, now);
    let mut view = ledger.load(&first)?;
    if let Some(mut more) = further(command, &view, &directory, now) {
        (more.moved, more.moved_by_proposer) = (moved(), proposed());
        more.asked_by = asked_by(command, scope, now);
        view = ledger.load(&more)?;
    }
    view.open_instances = match removed_by(command, &view) {
        Some((kind, name)) => match kind.as_str() {
            "project" => ledger.open_instances(&name)?,
            "user" => ledger.open_instances_of(Named::User(&name))?,
            _ => ledger.open_instances_of(Named::Machine(&name))?,
        },
        None => 0,
    };
    if let Command::Import(chunk) = command {
        let unclaimed = unclaimed(chunk, &directory);
        (view.already, view.charged_machines) = ledger.load_chunk(chunk, &unclaimed)?;
    }
    add_laid(ledger, &mut view)?;
    let ctx = Context {
        directory: &directory,
        now,
        scope,
    };
    Ok(rules::decide(command, &view, &ctx))
}

/// The person whose open requests count: the caller who asks for something.
fn asked_by(command: &Command, scope: &Scope, now: Timestamp) -> Option<(String, Timestamp)> {
    match command {
        Command::Access(Access::Propose(propose)) if propose.asked.is_some() => {
            let who = scope.who.as_ref()?;
            Some((who.human().to_owned(), now))
        }
        _ => None,
    }
}

/// The kind and the name of the record of a kind that jobs name, which a command removes: itself, or as the
/// undo of its addition.
fn removed_by(command: &Command, view: &View) -> Option<(String, String)> {
    let is_of_jobs = |word: &str| kind::of(word).is_some_and(|kind| kind.of_jobs);
    match command {
        Command::Record(change) if is_of_jobs(&change.kind) => match &change.action {
            RecordAction::Remove(Key::Name(name)) => Some((change.kind.clone(), name.clone())),
            _ => None,
        },
        Command::After(After::Reverse(_)) => {
            let added = |past: &&PastRecord| past.before.as_ref().is_none_or(|own| own.deleted);
            let mut changed = view.past.first()?.changed.records.iter();
            let own = changed.find(|past| is_of_jobs(&past.after.kind) && added(past))?;
            Some((own.after.kind.clone(), own.after.name().to_owned()))
        }
        _ => None,
    }
}

/// Adds the allocations of amended records, and of kept records that may be charged now: their accounts may
/// be named nowhere now.
fn add_laid<L: Ledger>(ledger: &mut L, view: &mut View) -> Result<(), L::Error> {
    let already = view.already.iter().filter_map(|a| a.known.as_ref());
    let known = already
        .chain(&view.known)
        .filter(|known| !(known.is_same || known.is_earlier) || known.became == Became::Kept);
    let mut laid: BTreeSet<AllocationId> = known.filter_map(|known| known.on).collect();
    laid.retain(|id| view.allocation(*id).is_none());
    for id in laid {
        let need = Need {
            allocation: Some(id),
            ..Need::default()
        };
        let more = ledger.load(&need)?.allocations;
        view.allocations
            .extend(more.into_iter().filter(|a| a.id == id));
    }
    Ok(())
}

/// The machines of a chunk that no source has claimed.
fn unclaimed(chunk: &Chunk, directory: &Directory) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for first in chunk.reports.firsts() {
        let name = &first.request.whose.machine;
        let machine = directory.any_machine_named(name);
        if machine.is_some_and(|machine| machine.source.is_none()) {
            found.insert(name.clone());
        }
    }
    found
}

/// Journals every boundary up to now, a bounded number at a time. A boundary that the rules refuse is
/// returned, and stops nothing else.
pub fn sweep<L: Ledger>(ledger: &mut L, now: Timestamp) -> Result<Vec<Stuck>, L::Error> {
    let mut stuck = Vec::new();
    while let Some(view) = ledger.load_due(now)? {
        let directory = ledger.directory()?;
        let scope = Scope::default();
        let ctx = Context {
            directory: &directory,
            now,
            scope: &scope,
        };
        let effects = rules::sweep::sweep(&view, &ctx, &mut stuck);
        drop(directory);
        if effects.transactions.is_empty() {
            break;
        }
        ledger.append(&effects)?;
    }
    Ok(stuck)
}

/// Journals the settings of the site that decide which accounts pay: from here on they are those of
/// the directory.
pub fn note_settings<L: Ledger>(ledger: &mut L, now: Timestamp) -> Result<(), L::Error> {
    let view = ledger.load(&Need::default())?;
    let directory = ledger.directory()?;
    let effects = rules::settings::recorded(Settings::of(&directory.policy), &view, now);
    drop(directory);
    ledger.append(&effects)
}

/// Journals that the machine's clock stepped back to `shown`; `now` is the ledger's own time.
pub fn stepped_back<L: Ledger>(
    ledger: &mut L,
    shown: Timestamp,
    now: Timestamp,
) -> Result<(), L::Error> {
    let view = ledger.load(&Need::default())?;
    ledger.append(&rules::clock::stepped_back(shown, &view, now))
}
