//! The factor of hardware where a use is counted (decision 0083): a use counts with the factor that
//! the hardware declared today had when its job began.

use super::super::{Error, kind};
use bank_core::contribution::{factored, hardware};
use bank_core::rollup::{Measure, Sums};
use bank_core::time::Timestamp;
use rusqlite::Connection;

/// The factors of uses, and what they weigh.
#[derive(Clone)]
pub(crate) struct Factors {
    of: hardware::Factors,
    weighed: Measure,
}

impl Factors {
    /// By the hardware that stands. They weigh the time of processors, as rollups do, or something else
    /// for a report.
    pub(crate) fn read(connection: &Connection, weighed: Measure) -> Result<Factors, Error> {
        let of = hardware::Factors::new(kind::of(connection, "hardware")?.nodes());
        Ok(Factors { of, weighed })
    }

    /// The totals of a use with what they come to by the factor of where it began.
    pub(crate) fn weigh(
        &mut self,
        totals: Sums,
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
