//! The factor of hardware where a use is counted (decision 0083): a use counts with the factor that
//! the hardware declared today had when its job began.

use super::super::{Error, kind};
use bank_core::time::Timestamp;
use bank_core_figures::contribution::{factored, hardware};
use bank_core_figures::records::nodes;
use bank_core_figures::rollup::{Measure, Sums};
use rusqlite::Connection;

/// Hardware factors of uses, and the measure that they weigh.
#[derive(Clone)]
pub(crate) struct Factors {
    of: hardware::Factors,
    weighed: Measure,
}

impl Factors {
    /// From the current hardware declarations. They weigh processor time, as in rollups, or another
    /// measure for a report.
    pub(crate) fn read(connection: &Connection, weighed: Measure) -> Result<Factors, Error> {
        let of = hardware::Factors::new(nodes(&kind::of(connection, "hardware")?));
        Ok(Factors { of, weighed })
    }

    /// Totals of a use weighted with the factor at its start.
    pub(crate) fn weigh(
        &mut self,
        totals: &Sums,
        machine: &str,
        host: Option<&str>,
        start: Timestamp,
    ) -> Sums {
        let factor = self.of.of(machine, host, start);
        totals.with(
            Measure::Factored,
            factored(totals.get(self.weighed), factor),
        )
    }
}
