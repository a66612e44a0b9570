//! Uses counted for one period: shares by name, processors that were busy, and buckets by machine.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bank_api::v1::{
    ContributionPeriod, ContributionRow, ContributionTotal, Utilisation, UtilisationBucket,
};
use bank_core::contribution::hardware::{self, FACTOR_ONE, Kind};
use bank_core::contribution::utilisation::Buckets;
use bank_core::contribution::{
    Row, Span, Sums, UNASSIGNED, USAGE_UNITS, decimal, factored, part, percent,
};
use bank_core::directory::Directory;
use bank_core::time::Timestamp;

use super::super::shape;
use super::{Basis, By, Question};
use crate::store::read::uses::Used;

/// What was counted so far.
pub(super) struct Count<'q> {
    question: &'q Question,
    span: Span,
    edges: Vec<Timestamp>,
    kinds: Vec<Kind>,
    sums: Sums,
    /// Time that processors were busy, and that they were held where it is known how busy they were.
    busy: BTreeMap<Option<String>, (u128, u128)>,
    machines: BTreeMap<String, Buckets>,
    all: Buckets,
    /// Whose usage of a project is, and whether it is asked for: looked up once each.
    whose: HashMap<String, (Option<String>, bool)>,
    uses: u64,
    unmeasured: u64,
    /// A sum did not fit.
    broken: bool,
}

impl<'q> Count<'q> {
    pub(super) fn new(question: &'q Question, span: Span, edges: Vec<Timestamp>) -> Count<'q> {
        let equipment = &question.directory.equipment;
        let mut count = Count {
            question,
            span,
            kinds: equipment.kinds(),
            sums: Sums::default(),
            busy: BTreeMap::new(),
            machines: BTreeMap::new(),
            all: Buckets::new(edges.clone()),
            edges,
            whose: HashMap::new(),
            uses: 0,
            unmeasured: 0,
            broken: false,
        };
        if question.by == By::Contributor && count.contributions().is_none() {
            count.broken = true;
        }
        count
    }

    /// Everybody is there, whether they used or gave anything or not.
    fn contributions(&mut self) -> Option<()> {
        let equipment = &self.question.directory.equipment;
        for own in equipment.all_contributors() {
            let standing = self.sums.groups.entry(own.name.clone()).or_default();
            standing.exempt = own.exempt;
        }
        for own in equipment.all_contributions() {
            let counted = own.installed().over(self.span)?;
            self.sums.add_contribution(&own.contributor, counted)?;
        }
        Some(())
    }

    /// Counts one use.
    pub(super) fn take(&mut self, used: &Used) {
        if self.add(used).is_none() {
            self.broken = true;
        }
    }

    fn add(&mut self, used: &Used) -> Option<()> {
        let (credit, span) = (self.question.credit, self.span);
        let (group, is_asked) = self.group(used);
        let only = self.question.user.as_ref();
        if !is_asked || only.is_some_and(|name| *name != used.user) {
            return Some(());
        }
        let ran = (used.start, used.end);
        // Which of them lie in the period does not hang on what is counted of them: so much that some
        // of it falls into each microsecond.
        if part(u64::MAX.into(), ran, span, credit) == 0 {
            return Some(());
        }
        self.uses = self.uses.saturating_add(1);
        let held = used.millis.map(|millis| over_wall(millis, used));
        let busy = used.cpu_us.map(|cpu| u128::from(cpu).saturating_mul(1_000));
        if let (Some(held), Some(busy)) = (held, busy) {
            let sum = self.busy.entry(group.clone()).or_default();
            sum.0 = sum.0.checked_add(part(busy, ran, span, credit))?;
            sum.1 = sum.1.checked_add(part(held, ran, span, credit))?;
        }
        let total = match self.question.basis {
            Basis::Slots => held,
            Basis::Cpu => busy,
            Basis::Gpu => used
                .gpus
                .map(|gpus| over_wall(gpus.saturating_mul(1_000), used)),
            Basis::Su => Some(self.charged(used)?),
        };
        let Some(total) = total else {
            self.unmeasured = self.unmeasured.saturating_add(1);
            return Some(());
        };
        let factor = match self.question.basis {
            // What was charged has its rates already.
            Basis::Su => FACTOR_ONE,
            _ => hardware::factor(&self.kinds, &used.machine, used.host.as_deref(), used.start),
        };
        let usage = factored(part(total, ran, span, credit), factor)?;
        self.sums.add_usage(group.as_deref(), usage)?;
        self.all.add(total, ran, factor, credit)?;
        let own = self.machines.entry(used.machine.clone());
        let own = own.or_insert_with(|| Buckets::new(self.edges.clone()));
        own.add(total, ran, factor, credit)
    }

    /// What a use was charged, in the units of usage before the factor.
    fn charged(&self, used: &Used) -> Option<u128> {
        let minor = self.question.directory.bank.precision.minor_per_credit();
        let of_one = USAGE_UNITS.checked_div(u128::from(FACTOR_ONE))?;
        let each = of_one.checked_div(u128::try_from(minor).ok()?)?;
        u128::from(used.amount).checked_mul(each)
    }

    /// Whose it is, and whether its project is asked for.
    fn group(&mut self, used: &Used) -> (Option<String>, bool) {
        let (whose, is_asked) = if let Some(known) = self.whose.get(&used.project) {
            known.clone()
        } else {
            let directory = &self.question.directory;
            let whose = directory.contributor_of(&used.project);
            let whose = whose.map(|own| own.name.clone());
            let wanted = self.question.project.as_deref();
            let is_asked = wanted.is_none_or(|top| is_under(directory, &used.project, top));
            let found = (whose, is_asked);
            self.whose.insert(used.project.clone(), found.clone());
            found
        };
        let group = match self.question.by {
            By::Contributor => whose,
            By::Project => shape::some(&used.project),
            By::User => shape::some(&used.user),
        };
        (group, is_asked)
    }

    /// The period as it is told; none where a sum does not fit.
    pub(super) fn told(self) -> Option<ContributionPeriod> {
        if self.broken {
            return None;
        }
        let table = self.sums.table(self.span)?;
        let rows = table.rows.iter().map(|row| self.row(row)).collect();
        let (counted, all) = (total(table.counted), total(table.all));
        Some(ContributionPeriod {
            from: shape::time(self.span.from()),
            to: shape::time(self.span.to()),
            rows,
            counted,
            all,
            utilisation: self.utilisation()?,
            uses: self.uses,
            unmeasured: self.unmeasured,
        })
    }

    fn row(&self, row: &Row) -> ContributionRow {
        let of_contributors = self.question.by == By::Contributor;
        let told = |text: &String| {
            if of_contributors {
                text.clone()
            } else {
                String::new()
            }
        };
        let busy = self.busy.get(&row.group);
        let busy = busy.filter(|(_, held)| *held > 0);
        ContributionRow {
            group: row.group.clone().unwrap_or_else(|| UNASSIGNED.to_owned()),
            exempt: row.exempt,
            usage: row.usage.clone(),
            usage_share: row.usage_share.clone(),
            contribution: told(&row.contribution),
            contribution_share: told(&row.contribution_share),
            subscription: told(&row.subscription),
            cpu_efficiency: busy.map(|(busy, held)| percent(*busy, *held)),
        }
    }

    /// By machine, those without usage too, then all of them together.
    fn utilisation(&self) -> Option<Vec<Utilisation>> {
        let only = self.question.machine.as_deref();
        let with_hardware = self.kinds.iter().map(|kind| kind.machine.as_str());
        let known = with_hardware.chain(self.machines.keys().map(String::as_str));
        let known = known.filter(|name| !name.is_empty() && only.is_none_or(|own| own == *name));
        let names: BTreeSet<&str> = known.collect();
        let mut told = Vec::with_capacity(names.len().saturating_add(1));
        for name in names {
            let none = Buckets::new(self.edges.clone());
            let own = self.machines.get(name).unwrap_or(&none);
            told.push(self.shown(own, Some(name))?);
        }
        if only.is_none() {
            told.push(self.shown(&self.all, None)?);
        }
        Some(told)
    }

    fn shown(&self, buckets: &Buckets, machine: Option<&str>) -> Option<Utilisation> {
        let held = self.question.basis == Basis::Slots;
        let shown = buckets.shown(&self.kinds, machine, held)?;
        let hours = |usage| decimal(usage, USAGE_UNITS, 2);
        let buckets = shown.into_iter().map(|bucket| UtilisationBucket {
            from: shape::time(bucket.span.from()),
            to: shape::time(bucket.span.to()),
            used: hours(bucket.used),
            capacity: hours(bucket.capacity),
            percent: bucket.percent,
        });
        Some(Utilisation {
            machine: machine.map(str::to_owned),
            buckets: buckets.collect(),
        })
    }
}

fn over_wall(thousandths: u64, used: &Used) -> u128 {
    u128::from(thousandths).saturating_mul(u128::from(used.wall_us))
}

fn total((usage, contribution): (String, String)) -> ContributionTotal {
    ContributionTotal {
        usage,
        contribution,
    }
}

/// Whether a project is another, or lies below it.
pub(super) fn is_under(directory: &Directory, project: &str, top: &str) -> bool {
    let mut name = project;
    let mut met = BTreeSet::new();
    while met.insert(name) {
        if name == top {
            return true;
        }
        let above = directory.project_named(name).and_then(|own| own.parent);
        let Some(above) = above.and_then(|id| directory.project(id)) else {
            break;
        };
        name = &above.name;
    }
    false
}
