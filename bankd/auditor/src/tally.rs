//! Incremental counts of records (decision 0042): each request for metrics reads the records since the last
//! one.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bankd_config::AuditorMetrics;
use bankd_intake::auditor::looked;
use bankd_store::read::auditor::behind;

use super::access::{Access, Reach};
use super::metrics::{Figures, Meter};
use super::read::Readers;

/// Maximum number of records in one database query.
const ONCE: i64 = 10_000;
/// Maximum time of one count.
const PATIENCE: Duration = Duration::from_secs(8);

/// State of the metrics.
#[derive(Debug)]
pub(super) struct Tally {
    figures: Mutex<Figures>,
    /// Lock of the counting task. Others wait for its result.
    turn: tokio::sync::Mutex<()>,
    pub(super) meter: Meter,
}

impl Tally {
    /// Nothing counted yet.
    pub(super) fn new(keys: AuditorMetrics) -> Self {
        Self {
            figures: Mutex::new(Figures::new(keys, &Access::default())),
            turn: tokio::sync::Mutex::new(()),
            meter: Meter::default(),
        }
    }

    /// The present metrics for an unrestricted or a restricted reader; `None` if the database does not
    /// answer.
    pub(super) async fn text(
        &self,
        access: &Access,
        readers: &Readers,
        reach: Option<&Reach>,
    ) -> Option<String> {
        self.catch_up(access, readers).await?;
        let figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        Some(figures.text(reach, &self.meter))
    }

    /// Counts new records, or all of them if the visible parts of readers have changed.
    pub(super) async fn catch_up(&self, access: &Access, readers: &Readers) -> Option<()> {
        let _turn = self.turn.lock().await;
        self.divide(access);
        loop {
            let last = self.last();
            let answer = readers.ask(PATIENCE, move |connection| {
                let mut found = Vec::new();
                behind(connection, last, ONCE, |place, head| {
                    // An unreadable record has no values but still counts.
                    let looked = looked(head).ok().and_then(|looked| looked.meta);
                    found.push((place, looked.unwrap_or_default()));
                })?;
                Ok(found)
            });
            let found = answer.await?;
            let is_all = i64::try_from(found.len()).is_ok_and(|count| count < ONCE);
            let mut figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
            for (place, meta) in &found {
                figures.add(*place, meta);
            }
            if is_all {
                return Some(());
            }
        }
    }

    /// Restarts the count if the visible parts of readers have changed.
    fn divide(&self, access: &Access) {
        let mut figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        figures.divide(access);
    }

    fn last(&self) -> i64 {
        let figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        figures.last()
    }
}
