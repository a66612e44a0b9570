//! The daemon's own backups: whether it is time, and a thread that makes one.
//!
//! The daemon does not wait for the thread when it stops. It leaves a partial folder, as after any
//! other abort, and the next backup removes that folder.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bank_api::text::parse_rfc3339;
use bankd_config as config;
use bankd_config::data_dir::DataDir;
use bankd_ledger::clock::{self, Stopwatch};
use bankd_store::background;

use super::{Plan, Reason, last, make, note_failure};

/// An hour in microseconds.
const HOUR_US: i64 = 3_600_000_000;
/// How long to wait after one that failed.
const AGAIN: Duration = Duration::from_mins(10);

/// Handle that starts the daemon's own backups.
#[derive(Clone, Debug)]
pub struct Clerk(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    data: DataDir,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    settings: config::Backup,
    at_work: bool,
    /// When the last one failed, and why.
    failed: Option<(Stopwatch, String)>,
    /// When the last one of this process was made, in microseconds: the note of it may be missing.
    made_us: Option<i64>,
}

impl Clerk {
    /// For a bank; makes nothing before [`Clerk::look`].
    pub fn new(data: &DataDir, settings: config::Backup) -> Self {
        let state = Mutex::new(State {
            settings,
            at_work: false,
            failed: None,
            made_us: None,
        });
        let data = data.clone();
        Self(Arc::new(Shared { data, state }))
    }

    /// Other settings from now on.
    pub fn set(&self, settings: config::Backup) {
        self.state().settings = settings;
    }

    /// The data directory.
    pub fn data(&self) -> &DataDir {
        &self.0.data
    }

    /// Why the last try failed, if it did.
    pub fn error(&self) -> Option<String> {
        let state = self.state();
        state.failed.as_ref().map(|(_, why)| why.clone())
    }

    /// Begins a backup if it is time for one. Never waits for it.
    pub fn look(&self) {
        let mut state = self.state();
        if state.at_work || state.settings.every_h == 0 {
            return;
        }
        if state
            .failed
            .as_ref()
            .is_some_and(|(since, _)| since.elapsed() < AGAIN)
        {
            return;
        }
        let noted = last(&self.0.data).and_then(|last| parse_rfc3339(&last.made_at));
        let before = noted.max(state.made_us);
        if !is_due(before, state.settings.every_h, clock::real_us()) {
            return;
        }
        let plan = Plan::of(&self.0.data, &state.settings, Reason::Timer);
        let clerk = self.clone();
        let started = background::spawn("backup", move || clerk.work(&plan));
        match started {
            Ok(_) => state.at_work = true,
            Err(error) => tracing::error!(%error, "no thread for a backup"),
        }
    }

    fn work(&self, plan: &Plan) {
        let since = Stopwatch::start();
        let made = make(&self.0.data, plan);
        let mut state = self.state();
        state.at_work = false;
        state.failed = match made {
            Ok(made) => {
                let path = made.path.display();
                let seconds = since.elapsed().as_secs();
                tracing::info!(%path, seconds, "backup made");
                made.warn();
                state.made_us = parse_rfc3339(&made.manifest.made_at);
                None
            }
            Err(error) => {
                let why = format!("{error:#}");
                tracing::error!(error = %why, "no backup was made");
                note_failure(&self.0.data, Some(&why));
                Some((Stopwatch::start(), why))
            }
        };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether so many hours have passed since the last one. One of the future counts for nothing: the
/// clock was wrong then.
fn is_due(before_us: Option<i64>, every_h: i64, now_us: i64) -> bool {
    let every_us = every_h.saturating_mul(HOUR_US);
    before_us.is_none_or(|before| {
        let passed = now_us.saturating_sub(before);
        passed < 0 || passed >= every_us
    })
}

#[cfg(test)]
mod tests {
    use bank_core::amount::Precision;

    use super::*;
    use crate::backup::failure;
    use crate::init::{self, init};

    fn bank() -> (tempfile::TempDir, DataDir) {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::new(&folder.path().join("data"));
        let choices = init::Choices {
            precision: Precision::DEFAULT,
            unit: "SU".to_owned(),
            test: false,
        };
        init(&data, &choices).unwrap();
        (folder, data)
    }

    #[test]
    fn a_failed_backup_is_reported_until_one_is_made() {
        let (folder, data) = bank();
        let clerk = Clerk::new(&data, config::Backup::default());
        let mut plan = Plan::of(&data, &config::Backup::default(), Reason::Timer);
        plan.out = "/dev/null/nowhere".into();
        clerk.work(&plan);
        let why = failure(&data).unwrap();
        assert!(why.contains("/dev/null/nowhere"), "{why}");
        plan.out = folder.path().join("out");
        clerk.work(&plan);
        assert_eq!((failure(&data), clerk.error()), (None, None));
    }

    #[test]
    fn a_backup_without_a_note_is_not_repeated_at_once() {
        let (folder, data) = bank();
        std::fs::create_dir(data.last_backup()).unwrap();
        let settings = config::Backup {
            every_h: 24,
            ..config::Backup::default()
        };
        let clerk = Clerk::new(&data, settings.clone());
        let mut plan = Plan::of(&data, &settings, Reason::Timer);
        plan.out = folder.path().join("out");
        clerk.work(&plan);
        assert_eq!(clerk.error(), None);
        clerk.look();
        assert!(!clerk.state().at_work);
    }

    #[test]
    fn one_is_due_when_its_hours_have_passed() {
        let day = 24 * HOUR_US;
        for (before, now, due) in [
            (None, 0, true),
            (Some(0), day - 1, false),
            (Some(0), day, true),
            (Some(day), 0, true),
        ] {
            assert_eq!(is_due(before, 24, now), due, "{before:?} {now}");
        }
    }
}
