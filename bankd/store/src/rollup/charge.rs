//! A charge by its usage row: its time, its usage, and its value.

use super::super::{Error, codec};
use super::factors::Factors;
use bank_core::decimal::Decimal;
use bank_core::effects::{Billing, UsageRow};
use bank_core::time::{MICROS, Timestamp};
use bank_core::usage::{Usage, text};
use bank_core_figures::rollup::worth::Worth;
use bank_core_figures::rollup::{Measure, Sums, Use};
use rusqlite::{Connection, Row};

/// Queue and quality of service, as the first charge had them, or as a finished use has them, with its
/// principal investigator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) queue: String,
    pub(crate) qos: String,
    pub(crate) pi: String,
}

/// A usage row.
#[derive(Clone, Debug)]
pub(crate) struct Charge {
    pub(crate) id: i64,
    pub(crate) tx: i64,
    pub(crate) at: Timestamp,
    pub(crate) seconds: i64,
    pub(crate) worth: Worth,
    pub(crate) usage: Usage,
    /// The transaction that its own takes back.
    pub(crate) reverses: Option<i64>,
    /// It is of a settlement.
    pub(crate) settles: bool,
    /// It is of a refund, or takes one back.
    pub(crate) is_refund: bool,
}

impl Charge {
    /// Out of a row of the columns that [`Charge::find`] reads.
    pub(super) fn read(r: &Row<'_>) -> Result<Charge, Error> {
        let (processors, facts): (String, String) = (r.get(5)?, r.get(6)?);
        Ok(Charge {
            id: r.get(0)?,
            tx: r.get(1)?,
            at: Timestamp(r.get(2)?),
            seconds: r.get(3)?,
            worth: Worth::of(r.get(4)?, r.get(8)?),
            usage: codec::usage(&processors, &facts)?,
            reverses: r.get(7)?,
            settles: r.get(9)?,
            is_refund: r.get(10)?,
        })
    }

    /// One row.
    pub(crate) fn of(connection: &Connection, id: i64) -> Result<Charge, Error> {
        Charge::find(connection, id)?.ok_or_else(|| codec::broken("usage", id))
    }

    /// One row, if it is there.
    pub(crate) fn find(connection: &Connection, id: i64) -> Result<Option<Charge>, Error> {
        let sql =
            "SELECT u.id, u.tx, u.at, u.charged_s, u.amount, u.processors, u.facts, t.reverses,
                       u.billing = 'shadow', t.op IS 'settle', u.billing = 'refund'
                   FROM usage u LEFT JOIN tx t ON t.id = u.tx WHERE u.id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([id])?;
        rows.next()?.map(Charge::read).transpose()
    }

    /// As a command writes it; it takes nothing back.
    pub(crate) fn written(row: &UsageRow) -> Result<Charge, Error> {
        let usage = codec::word("usage.facts", &row.facts, |facts| {
            text::read(facts, Some(row.processors))
        })?;
        Ok(Charge {
            id: row.id.0,
            tx: row.tx.0,
            at: row.at,
            seconds: row.charged.0,
            worth: Worth::of(row.amount.0, row.billing == Billing::Shadow),
            usage,
            reverses: None,
            settles: false,
            is_refund: row.billing == Billing::Refund,
        })
    }

    /// The time of the charge; its instant if it has no duration.
    pub(crate) fn window(&self) -> (Timestamp, Timestamp) {
        let length = self.seconds.saturating_abs().saturating_mul(MICROS);
        (Timestamp(self.at.0.saturating_sub(length)), self.at)
    }

    /// The usage without its cost, negative for a row that reverses time. Hosts are unknown; the
    /// factor is that of its machine at the job's start. Of a reservation that pays for idle time, all quantities
    /// count in proportion to its idle processors.
    pub(crate) fn used(&self, factors: &mut Factors, machine: &str, began: Timestamp) -> Use {
        let idle = self.usage.idle;
        let (start, end) = self.span();
        let seconds = i128::from(self.seconds);
        let micros = i128::from(MICROS);
        let reserved = self.usage.processors.map_or(0, Decimal::billionths);
        // A quantity in billionths times seconds, in thousandths of its unit and milliseconds.
        let times = |size: Option<Decimal>, unit: i128| {
            let size = size.map_or(0, Decimal::billionths).max(0);
            let over_time = match idle {
                Some(idle) if reserved > 0 => size
                    .saturating_mul(idle.processor_seconds)
                    .checked_div(reserved)
                    .unwrap_or(0),
                _ => size.saturating_mul(seconds),
            };
            let product = over_time.saturating_mul(unit);
            product.checked_div(1_000_000_000).unwrap_or(0)
        };
        let usage = &self.usage;
        let totals = Sums::default()
            .with(Measure::Core, times(usage.processors, micros))
            .with(Measure::Gpu, times(usage.gpus(), micros))
            .with(Measure::Node, times(usage.nodes, micros))
            .with(Measure::Wall, seconds.saturating_mul(micros))
            .with(Measure::Memory, times(usage.memory_mb, 1000))
            .with(Measure::Disk, times(usage.disk_mb, 1000));
        Use::new(start, end, factors.weigh(&totals, machine, None, began))
    }

    /// The time over which it counts: a correction of idle time counts over the time of the job.
    fn span(&self) -> (Timestamp, Timestamp) {
        let idle = self.usage.idle.and_then(|idle| idle.span);
        idle.unwrap_or_else(|| self.window())
    }

    /// An amount over its time.
    pub(crate) fn worth(&self, amount: Worth) -> Use {
        let (start, end) = self.span();
        Use::new(start, end, amount.sums())
    }

    pub(crate) fn class(&self) -> Class {
        Class {
            queue: self.usage.class.clone().unwrap_or_default(),
            qos: self.usage.qos.clone().unwrap_or_default(),
            pi: String::new(),
        }
    }
}
