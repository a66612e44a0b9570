//! Sums of uses in one period: shares by name, busy processor time, and buckets by machine. The figures are
//! from rollups. They are from records if the hardware factor applies to a measure other than processor
//! time, or if a whole job counts at its end.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use bank_api::v1::{
    ContributionPeriod, ContributionRow, ContributionTotal, Utilisation, UtilisationBucket,
};
use bank_core::directory::Directory;
use bank_core::kind::UNASSIGNED;
use bank_core::time::Timestamp;
use bank_core_figures::contribution::hardware::{FACTOR_ONE, Kind};
use bank_core_figures::contribution::utilisation::{Bucket, Buckets};
use bank_core_figures::contribution::{
    Credit, Row, Span, Sums, USAGE_UNITS, decimal, percent, positive, signed, usage,
};
use bank_core_figures::records::{installed, nodes};
use bank_core_figures::rollup::grid::{Grid, shown};
use bank_core_figures::rollup::{HOUR, Measure, hour_of};
use bankd_store::Error;
use bankd_store::read::report::{About, Figures, Owner, ReportRequest};
use rusqlite::Connection;

use super::super::json;
use super::{Basis, By, Question};

/// Sums so far.
pub(super) struct Count<'q> {
    question: &'q Question,
    span: Span,
    edges: Vec<Timestamp>,
    now: Timestamp,
    kinds: Vec<Kind>,
    sums: Sums,
    /// Busy processor time, and held processor time of the uses that report busy time.
    busy: BTreeMap<Option<String>, (i128, i128)>,
    machines: BTreeMap<String, Buckets>,
    all: Buckets,
    uses: u64,
    /// `None` if the single uses were not read.
    unmeasured: Option<u64>,
    from_rollups: bool,
}

/// Prefix of a group's name, to distinguish an empty name from no group.
const NAMED: &str = "=";

impl<'q> Count<'q> {
    /// Counts all uses of a period; `None` on overflow of a sum.
    pub(super) fn of(
        connection: &Connection,
        question: &'q Question,
        (span, edges): (Span, Vec<Timestamp>),
        now: Timestamp,
    ) -> Result<Option<Count<'q>>, Error> {
        let mut count = Count {
            question,
            span,
            kinds: nodes(&question.directory.records),
            sums: Sums::default(),
            busy: BTreeMap::new(),
            machines: BTreeMap::new(),
            all: Buckets::new(edges.clone()).until(now),
            edges,
            now,
            uses: 0,
            unmeasured: None,
            from_rollups: false,
        };
        let (measure, weighed) = count.measures();
        let mut edges = count.edges.clone();
        if let Some(last) = edges.last_mut().filter(|last| **last >= now) {
            // Of the hour that runs, all counts that there is: nothing is used in the future.
            let hours = last.0.saturating_add(HOUR).saturating_sub(1);
            *last = Timestamp(hour_of(hours).saturating_mul(HOUR));
        }
        let labels = vec![String::new(); edges.len().saturating_sub(1)];
        let request = ReportRequest {
            grid: Grid { edges, labels },
            place: Box::new(place(question)),
            at_end: question.credit == Credit::End,
            users: false,
            top: None,
            weighed,
        };
        let answer = request.answer(connection)?;
        count.from_rollups = answer.from_rollups;
        if !answer.from_rollups && question.basis != Basis::Su {
            count.unmeasured = Some(0);
        }
        for ((bucket, values), figures) in &answer.rows {
            if count.add(*bucket, values, figures, measure).is_none() {
                return Ok(None);
            }
        }
        let fits = question.by != By::Contributor || count.contributions().is_some();
        Ok(fits.then_some(count))
    }

    /// The shown measure, and the measure to multiply by the hardware factor. Charges already contain their
    /// rates.
    fn measures(&self) -> (Measure, Measure) {
        let weighed = match self.question.basis {
            Basis::Slots => return (Measure::Factored, Measure::Core),
            Basis::Su => return (Measure::Charge, Measure::Core),
            Basis::Cpu => Measure::Cpu,
            Basis::Gpu => Measure::Gpu,
        };
        if self.kinds.iter().all(|kind| kind.factor == FACTOR_ONE) {
            return (weighed, Measure::Core);
        }
        (Measure::Factored, weighed)
    }

    /// Includes groups without usage and without contributions.
    fn contributions(&mut self) -> Option<()> {
        let records = &self.question.directory.records;
        for own in records.all("contributor") {
            let standing = self.sums.groups.entry(own.name().to_owned()).or_default();
            standing.exempt = own.flag("exempt");
        }
        for (contributor, own) in installed(records) {
            let counted = own.over(self.span)?;
            self.sums.add_contribution(contributor, counted)?;
        }
        Some(())
    }

    /// Adds the figures of a group and machine in a bucket; `None` on overflow of a sum.
    fn add(
        &mut self,
        bucket: usize,
        values: &[String],
        figures: &Figures,
        measure: Measure,
    ) -> Option<()> {
        let [group, machine] = values else {
            return Some(());
        };
        let group = group.strip_prefix(NAMED).map(str::to_owned);
        let sums = &figures.sums;
        // A use in several buckets counts once: in the bucket of its start, or in the first.
        let is_once = bucket == 0 || self.question.credit == Credit::End;
        let jobs = sums.get(if is_once {
            Measure::Running
        } else {
            Measure::Started
        });
        let jobs = u64::try_from(jobs).unwrap_or(0);
        self.uses = self.uses.saturating_add(jobs);
        if let Some(unmeasured) = &mut self.unmeasured {
            *unmeasured = unmeasured.saturating_add(figures.unmeasured);
        }
        let (busy, held) = (sums.get(Measure::Cpu), sums.get(Measure::Measured));
        if held != 0 {
            let sum = self.busy.entry(group.clone()).or_default();
            sum.0 = sum.0.checked_add(busy)?;
            sum.1 = sum.1.checked_add(held)?;
        }
        // A share of credits is one of usage: it counts even if no funds moved.
        let used = match measure {
            Measure::Charge => {
                self.charged(sums.get(measure).checked_add(sums.get(Measure::Shadow))?)?
            }
            _ => usage(sums.get(measure))?,
        };
        self.sums.add_usage(group.as_deref(), used)?;
        if self.has_capacity(machine) {
            self.all.add(bucket, used)?;
        }
        let own = self.machines.entry(machine.clone());
        let own = own.or_insert_with(|| Buckets::new(self.edges.clone()).until(self.now));
        own.add(bucket, used)
    }

    /// Whether hardware is declared for a machine, or for all of them. Usage of other machines has no part in the used part
    /// of the capacity.
    fn has_capacity(&self, machine: &str) -> bool {
        let is_own = |kind: &Kind| kind.machine.is_empty() || kind.machine == machine;
        self.kinds.is_empty() || self.kinds.iter().any(is_own)
    }

    /// Charges, in the units of usage.
    fn charged(&self, amount: i128) -> Option<i128> {
        let minor = self.question.directory.bank.precision.minor_per_credit();
        let each = USAGE_UNITS.checked_div(u128::try_from(minor).ok()?)?;
        amount.checked_mul(i128::try_from(each).ok()?)
    }

    /// The period in the answer; `None` on overflow of a sum.
    pub(super) fn shaped(self) -> Option<ContributionPeriod> {
        let table = self.sums.table(self.span, self.question.units.each())?;
        let zone = &self.question.zone;
        let rows = table.rows.iter().map(|row| self.row(row)).collect();
        let (counted, all) = (total(table.counted), total(table.all));
        Some(ContributionPeriod {
            from: json::time(self.span.from()),
            to: json::time(self.span.to()),
            shown_from: shown(self.span.from(), zone),
            shown_to: shown(self.span.to(), zone),
            rows,
            counted,
            all,
            utilisation: self.utilisation()?,
            uses: self.uses,
            unmeasured: self.unmeasured,
            from_what: if self.from_rollups {
                "rollups"
            } else {
                "records"
            }
            .to_owned(),
        })
    }

    fn row(&self, row: &Row) -> ContributionRow {
        let of_contributors = self.question.by == By::Contributor;
        let text_of = |text: &String| {
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
            contribution: text_of(&row.contribution),
            contribution_share: text_of(&row.contribution_share),
            subscription: text_of(&row.subscription),
            cpu_efficiency: busy.map(|(busy, held)| percent(positive(*busy), positive(*held))),
        }
    }

    /// By machine, those without usage too, then all of them together.
    fn utilisation(&self) -> Option<Vec<Utilisation>> {
        let only = self.question.machine.as_deref();
        let with_hardware = self.kinds.iter().map(|kind| kind.machine.as_str());
        let known = with_hardware.chain(self.machines.keys().map(String::as_str));
        let known = known.filter(|name| !name.is_empty() && only.is_none_or(|own| own == *name));
        let names: BTreeSet<&str> = known.collect();
        let mut found = Vec::with_capacity(names.len().saturating_add(1));
        for name in names {
            let none = Buckets::new(self.edges.clone());
            let own = self.machines.get(name).unwrap_or(&none);
            found.push(self.shown(own, Some(name))?);
        }
        if only.is_none() {
            found.push(self.shown(&self.all, None)?);
        }
        Some(found)
    }

    fn shown(&self, buckets: &Buckets, machine: Option<&str>) -> Option<Utilisation> {
        let held = self.question.basis == Basis::Slots;
        let parts = buckets.shown(&self.kinds, machine, held)?;
        let whole = buckets.whole(&self.kinds, machine, held)?;
        let each = self.question.units.each();
        let text_of = |usage| decimal(usage, each, 2);
        let zone = &self.question.zone;
        let running = self.question.running;
        let bucket = |bucket: Bucket| UtilisationBucket {
            // A part that a period cuts off before the present is over.
            unfinished: bucket.span.to() >= self.now
                && running.is_some_and(|start| bucket.span.from() >= start),
            from: json::time(bucket.span.from()),
            to: json::time(bucket.span.to()),
            shown_from: shown(bucket.span.from(), zone),
            shown_to: shown(bucket.span.to(), zone),
            used: signed(bucket.used, text_of),
            capacity: text_of(bucket.capacity),
            percent: bucket.percent,
        };
        Some(Utilisation {
            machine: machine.map(str::to_owned),
            whole: bucket(whole),
            buckets: left_out(parts.into_iter().map(bucket).collect()),
        })
    }
}

/// Usage is counted when it is reported, after the end of a job. In a bucket that is not over it is too low, so that
/// such a bucket has no percentage beside others.
fn left_out(mut buckets: Vec<UtilisationBucket>) -> Vec<UtilisationBucket> {
    for bucket in buckets.iter_mut().skip(1).filter(|own| own.unfinished) {
        bucket.percent = None;
    }
    buckets
}

/// Returns the filter, the group and the machine of a use.
fn place(
    question: &Question,
) -> impl Fn(&Owner<'_>, Option<&About<'_>>) -> Option<(Vec<String>, String)> + Send + '_ {
    // Cache of the owner and the filter result of each project.
    let known: RefCell<HashMap<String, (Option<String>, bool)>> = RefCell::default();
    move |owner, _| {
        let only = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|w| w == is);
        if !only(&question.user, owner.user) || !only(&question.machine, owner.machine) {
            return None;
        }
        let mut known = known.borrow_mut();
        let (whose, is_requested) = if let Some(found) = known.get(owner.project) {
            found.clone()
        } else {
            let directory = &question.directory;
            let whose = directory.contributor_of(owner.project);
            let wanted = question.project.as_deref();
            let is_requested = wanted.is_none_or(|top| is_under(directory, owner.project, top));
            let found = (whose.map(|own| own.name().to_owned()), is_requested);
            known.insert(owner.project.to_owned(), found.clone());
            found
        };
        let group = match question.by {
            By::Contributor => whose,
            By::Project => json::some(owner.project),
            By::User => json::some(owner.user),
        };
        let group = group.map_or_else(String::new, |name| format!("{NAMED}{name}"));
        is_requested.then(|| (vec![group, owner.machine.to_owned()], String::new()))
    }
}

fn total((usage, contribution): (String, String)) -> ContributionTotal {
    ContributionTotal {
        usage,
        contribution,
    }
}

/// Whether a project is another one or its subproject.
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
