//! Rollup contributions of a finished use, from its row.

use super::super::{Error, codec};
use super::charge::Class;
use super::factors::Factors;
use super::pending::Key;
use bank_core::effects::{Became, UseRow};
use bank_core::time::Timestamp;
use bank_core_figures::rollup::worth::Worth;
use bank_core_figures::rollup::{Measure, Presence, Sums, Use};
use bank_core_figures::sizes::{Sizes, processor_time};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashMap;

/// The columns that are read, in the order in which the table is written.
pub(crate) const COLUMNS: &str = "source, object_id, start_at, end_at, submit_at, machine,
    object_type, account, login, project, user, group_name, queue, qos, state, exit_code, flags,
    millis, nodes, gpus, memory_bytes, wall_us, cpu_us, requested_s, revision, became, policy,
    counted, instance, amount, allocation, NULL, NULL, NULL, NULL, NULL, host, disk_bytes, more, pi";

/// Number of columns: the host is after five unused ones.
const COUNT: usize = 40;

/// A row of `usage_identity`, as far as rollups look at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished<'a> {
    start: Option<i64>,
    end: Option<i64>,
    /// When it was submitted.
    pub(crate) submit: Option<i64>,
    machine: &'a str,
    project: &'a str,
    user: &'a str,
    /// Its group, as its source names it.
    pub(crate) group: &'a str,
    queue: &'a str,
    qos: &'a str,
    /// How it ended.
    pub(crate) state: &'a str,
    /// Thousandths of processors.
    pub(crate) millis: Option<i64>,
    nodes: Option<i64>,
    /// Graphics processors.
    pub(crate) gpus: Option<i64>,
    memory: Option<i64>,
    disk: Option<i64>,
    wall: Option<i64>,
    /// How long its processors were busy, in microseconds.
    pub(crate) cpu: Option<i64>,
    became: Became,
    /// The instance that was charged for it.
    pub(crate) instance: Option<i64>,
    amount: Option<i64>,
    /// The allocation of the amount, for a use without an instance.
    pub(crate) allocation: Option<i64>,
    /// The first of its hosts.
    host: Option<&'a str>,
    /// Those of its attributes that are kept.
    pub(crate) more: &'a str,
    /// The principal investigator; empty for none.
    pi: &'a str,
}

impl<'a> Finished<'a> {
    /// Out of the cells of a row, in the order of [`COLUMNS`].
    fn read(cells: &[ValueRef<'a>]) -> Result<Finished<'a>, Error> {
        let cell = |place: usize| cells.get(place).copied().unwrap_or(ValueRef::Null);
        let text = |place: usize| cell(place).as_str().map_err(rusqlite::Error::from);
        let number = |place: usize| match cell(place) {
            ValueRef::Integer(number) => Some(number),
            _ => None,
        };
        Ok(Finished {
            start: number(2).filter(|start| *start != 0),
            end: number(3),
            submit: number(4),
            machine: text(5)?,
            project: text(9)?,
            user: text(10)?,
            group: text(11)?,
            queue: text(12)?,
            qos: text(13)?,
            state: text(14)?,
            millis: number(17),
            nodes: number(18),
            gpus: number(19),
            memory: number(20),
            wall: number(21),
            cpu: number(22),
            became: codec::word("usage_identity.became", text(25)?, Became::parse)?,
            instance: number(28),
            amount: number(29),
            allocation: number(30),
            host: match cell(36) {
                ValueRef::Null => None,
                _ => Some(text(36)?),
            },
            disk: number(37),
            more: match cell(38) {
                ValueRef::Null => "",
                _ => text(38)?,
            },
            pi: text(39)?,
        })
    }

    /// From a row about to be written; equal to reading it back.
    pub(crate) fn written(row: &'a UseRow) -> Finished<'a> {
        let report = &row.report;
        let facts = &report.request.facts;
        let sizes = Sizes::of(report);
        let key = key_of(row, 0);
        Finished {
            start: Some(report.incarnation().0).filter(|start| *start != 0),
            end: facts.end.map(|end| end.0),
            submit: facts.submit.map(|submit| submit.0),
            machine: key.machine,
            project: key.project,
            user: key.user,
            group: &facts.group,
            queue: key.queue,
            qos: key.qos,
            state: &facts.state,
            millis: sizes.millis,
            nodes: sizes.nodes,
            gpus: sizes.gpus,
            memory: sizes.memory,
            disk: sizes.disk,
            wall: sizes.wall,
            cpu: sizes.cpu,
            became: row.became,
            instance: row.instance.map(|instance| instance.0),
            amount: row.amount.map(|amount| amount.0),
            allocation: row.on.map(|on| on.0),
            host: report.host.as_deref(),
            more: report.more.as_deref().unwrap_or_default(),
            pi: key.pi,
        }
    }

    /// Out of a row that was read with [`COLUMNS`].
    pub(crate) fn of_row(row: &'a Row<'_>) -> Result<Finished<'a>, Error> {
        let mut cells = [ValueRef::Null; COUNT];
        for (place, cell) in cells.iter_mut().enumerate() {
            *cell = row.get_ref(place)?;
        }
        Finished::read(&cells)
    }

    /// Whether its usage counts: false if it used nothing, or if another source charges the
    /// machine.
    pub(crate) fn counts(&self) -> bool {
        self.became.counts()
    }

    /// Start and end. If the source reports no start, the wall time defines it.
    pub(crate) fn window(&self) -> (Timestamp, Timestamp) {
        let wall = self.wall.unwrap_or(0).max(0);
        let (start, end) = match (self.start, self.end) {
            (Some(start), Some(end)) => (start, end.max(start)),
            (Some(start), None) => (start, start.saturating_add(wall)),
            (None, Some(end)) => (end.saturating_sub(wall), end),
            (None, None) => (0, 0),
        };
        (Timestamp(start), Timestamp(end))
    }

    /// Wall time in microseconds.
    pub(crate) fn wall(&self) -> i64 {
        let (start, end) = self.window();
        let lasted = end.0.saturating_sub(start.0);
        self.wall.unwrap_or(lasted).max(0)
    }

    /// Its usage without amounts.
    pub(crate) fn used(&self, factors: &mut Factors) -> Use {
        let (start, end) = self.window();
        let wall = i128::from(self.wall());
        let times = |size: Option<i64>, unit: i128| {
            let product = i128::from(size.unwrap_or(0).max(0)).saturating_mul(wall);
            product.checked_div(unit).unwrap_or(0)
        };
        let core = processor_time(self.millis, self.more, self.wall());
        let totals = Sums::default()
            .with(Measure::Core, core)
            .with(Measure::Gpu, times(self.gpus, 1))
            .with(Measure::Node, times(self.nodes, 1))
            .with(Measure::Wall, wall)
            .with(Measure::Cpu, self.cpu.unwrap_or(0).max(0).into())
            .with(Measure::Memory, times(self.memory, (1 << 20) * 1000))
            .with(Measure::Disk, times(self.disk, (1 << 20) * 1000))
            .with(Measure::Measured, self.cpu.map_or(0, |_| core));
        let totals = factors.weigh(&totals, self.machine, self.host, start);
        Use::new(start, end, totals)
    }

    /// An amount over its time.
    pub(crate) fn worth(&self, amount: Worth) -> Use {
        let (start, end) = self.window();
        Use::new(start, end, amount.sums())
    }

    /// Its queue, quality of service and principal investigator.
    pub(crate) fn class(&self) -> Class {
        Class {
            queue: self.queue.to_owned(),
            qos: self.qos.to_owned(),
            pi: self.pi.to_owned(),
        }
    }

    /// Contribution of a use without an instance: its usage, if that counts, and its shadow charge.
    /// None if both are empty.
    pub(crate) fn all(&self, counts: bool, factors: &mut Factors) -> Option<Use> {
        let amount = self.amount.filter(|_| self.instance.is_none());
        let charge = i128::from(amount.unwrap_or(0));
        if counts {
            let used = self.used(factors);
            let totals = used.totals().with(Measure::Shadow, charge);
            return Some(Use::new(used.start(), used.end(), totals));
        }
        let (start, end) = self.window();
        let totals = Sums::default().with(Measure::Shadow, charge);
        (charge != 0).then(|| Use::new(start, end, totals))
    }

    /// Its contribution to rollups, and its job if that counts.
    pub(super) fn gives(&self, factors: &mut Factors) -> (Option<Use>, Option<Presence>) {
        let counts = self.counts();
        let all = self.all(counts, factors);
        let all = all.filter(|all| !all.totals().is_zero());
        (all, counts.then(|| self.job()))
    }

    /// The job that it is.
    pub(crate) fn job(&self) -> Presence {
        let (start, end) = self.window();
        Presence::new(start, end, true).queued(self.submit.map(Timestamp), self.wall())
    }

    /// Rollup key of the use, paid by an account.
    pub(crate) fn key(&self, account: i64) -> Key<'a> {
        Key {
            project: self.project,
            account,
            user: self.user,
            machine: self.machine,
            queue: self.queue,
            qos: self.qos,
            pi: self.pi,
        }
    }
}

/// Rollup key of a use about to be written, paid by an account.
pub(super) fn key_of(row: &UseRow, account: i64) -> Key<'_> {
    let request = &row.report.request;
    let usage = &request.facts.usage;
    Key {
        project: row.project(),
        account,
        user: request.whose.user.as_deref().unwrap_or_default(),
        machine: &request.whose.machine,
        queue: usage.class.as_deref().unwrap_or_default(),
        qos: usage.qos.as_deref().unwrap_or_default(),
        pi: &row.report.pi,
    }
}

/// The accounts of allocations, remembered: an allocation never leaves its account.
#[derive(Default)]
pub(crate) struct Owners(HashMap<i64, i64>);

impl Owners {
    /// The account of an allocation; 0 for none.
    pub(crate) fn of(
        &mut self,
        connection: &Connection,
        allocation: Option<i64>,
    ) -> Result<i64, Error> {
        if let Some(account) = self.known(allocation) {
            return Ok(account);
        }
        let sql = "SELECT account FROM allocation WHERE id = ?1";
        // A missing account has no owner; `verify` reports it.
        let account = connection
            .prepare_cached(sql)?
            .query_row([allocation], |r| r.get(0))
            .optional()?
            .unwrap_or(0);
        if self.0.len() >= 10_000 {
            self.0.clear();
        }
        if let Some(allocation) = allocation {
            self.0.insert(allocation, account);
        }
        Ok(account)
    }

    /// The account of an allocation that was asked for before; 0 for none.
    pub(super) fn known(&self, allocation: Option<i64>) -> Option<i64> {
        allocation.map_or(Some(0), |allocation| self.0.get(&allocation).copied())
    }
}
