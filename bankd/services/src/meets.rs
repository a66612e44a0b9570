//! The objects that the settings name: targets of notices, scheduled reports and record files.

use anyhow::Result;
use bank_core::time::Timestamp;
use bankd_config as config;
use bankd_notices::{deliver, schedule};
use bankd_records as records;
use bankd_store::SqliteStore;

/// The objects that the settings name.
pub(super) struct Meets {
    notices: config::Notices,
    sinks: Vec<(String, String)>,
}

impl Meets {
    pub(super) fn new(notices: &config::Notices, files: &records::Files) -> Self {
        let sinks = files.sinks().iter();
        let sinks = sinks.map(|sink| (sink.name.clone(), sink.settings.clone()));
        Self {
            notices: notices.clone(),
            sinks: sinks.collect(),
        }
    }

    /// Stores them, in the open database transaction.
    pub(super) fn store(
        &self,
        store: &SqliteStore,
        now: Timestamp,
    ) -> Result<(), bankd_store::Error> {
        store.meet_targets(&deliver::targets(&self.notices), now)?;
        store.meet_schedules(&schedule::rows(&self.notices.scheduled_report, now))?;
        for (name, settings) in &self.sinks {
            store.meet_sink(name, settings)?;
        }
        Ok(())
    }

    /// The same in a database transaction of its own.
    pub(super) fn alone(&self, store: &mut SqliteStore, now: Timestamp) -> Result<()> {
        store.begin()?;
        let done = self.store(store, now).and_then(|()| store.commit());
        if done.is_err() {
            store.rollback();
        }
        Ok(done?)
    }
}
