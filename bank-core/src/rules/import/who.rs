//! Project and user of uses: looked up once for all records with the same names.

use crate::command::{Chunk, UsageReport, Whose};
use crate::ids::{AllocationId, MachineId};
use crate::model::{Allocation, Mode};
use crate::refusal::Refusal;
use crate::rules::{report, would};
use crate::select::{self, Candidate};
use crate::time::Timestamp;
use crate::view::{Context, View};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The records whose owner is the one to whom a person gave the use, by their places.
pub(super) fn of_owners(
    chunk: &Chunk,
    view: &View,
    ctx: &Context<'_>,
) -> HashMap<usize, Arc<UsageReport>> {
    let pairs = chunk.reports.iter().zip(&view.already).enumerate();
    let owned = pairs.filter_map(|(n, (report, already))| {
        let known = already.known.as_ref().filter(|k| k.instance.is_none())?;
        let of_owner = report::of_owner(report, known, None, ctx)?;
        Some((n, Arc::new(of_owner)))
    });
    owned.collect()
}

/// Project, user and payers of a use.
pub(super) struct Who {
    /// The number of its names, if these alone decide the payer.
    pub(super) names: Option<usize>,
    pub(super) mode: Mode,
    pub(super) project: String,
    pub(super) machine_name: String,
    pub(super) machine: Option<MachineId>,
    /// The accounts that could have started it, or the refusal.
    pub(super) starters: Result<Vec<Candidate>, Refusal>,
    /// The billed accounts, and the substitutes if those have nothing usable.
    billed: Vec<Candidate>,
    others: Vec<Candidate>,
}

/// Those that were met, by the numbers of their names.
#[derive(Default)]
pub(super) struct Whos(Vec<Option<Rc<Who>>>);

impl Whos {
    pub(super) fn of(
        &mut self,
        report: &UsageReport,
        names: Option<usize>,
        ctx: &Context<'_>,
    ) -> Rc<Who> {
        // If lists check classes, attributes and the like, names alone do not decide.
        let names = names.filter(|_| !ctx.directory.looks_at_traits());
        let more = names.map_or(0, |names| names.saturating_add(1));
        self.0.resize(self.0.len().max(more), None);
        match names.and_then(|names| self.0.get_mut(names)) {
            Some(Some(known)) => Rc::clone(known),
            Some(none) => Rc::clone(none.insert(Rc::new(Who::of(report, names, ctx)))),
            None => Rc::new(Who::of(report, None, ctx)),
        }
    }

    /// All that names alone decide.
    pub(super) fn each(&self) -> impl Iterator<Item = &Who> {
        self.0.iter().flatten().map(|who| &**who)
    }
}

impl Who {
    fn of(report: &UsageReport, names: Option<usize>, ctx: &Context<'_>) -> Who {
        let request = &report.request;
        let (usage, group) = (&request.facts.usage, &request.facts.group);
        let found = select::find(ctx.directory, &request.whose);
        // A charge's instance would have the project from here on.
        let known = Some(found.project_name).filter(|name| !name.is_empty());
        let whose = Whose {
            project: request.whose.project.clone().or(known),
            ..request.whose.clone()
        };
        let payer = select::find(ctx.directory, &whose).knowing(ctx.directory, usage, group);
        Who {
            names,
            machine_name: request.whose.machine.clone(),
            mode: ctx.directory.mode(payer.project, payer.machine),
            starters: would::starters(&request.whose, usage, group, ctx),
            billed: select::billable(ctx.directory, &payer),
            others: select::anybody(ctx.directory, &payer),
            machine: payer.machine,
            project: payer.project_name,
        }
    }

    /// The allocation that a charge at that time uses, in the shadow totals.
    pub(super) fn pays(&self, allocations: &[Allocation], at: Timestamp) -> Option<AllocationId> {
        let first = |candidates: &[Candidate]| {
            let order = select::paying_order(candidates, allocations, at);
            order.first().copied()
        };
        first(&self.billed).or_else(|| first(&self.others))
    }
}
