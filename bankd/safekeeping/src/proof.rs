//! Verifications while the bank is served: one at a time, in a thread of its own, on a connection of
//! its own. Each of its steps is a short read transaction, so that the writer is never stopped and its
//! log never grows for longer than a step takes (decision note 0058).
//!
//! It must never write.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bank_api::text::format_rfc3339;
use bank_api::v1::{ProofFinding, Verification};
use bankd_ledger::clock::{self, Stopwatch};
use bankd_store as store;
use bankd_store::background;
use bankd_store::verify::{Finding, Progress, Report};
use tokio::sync::watch;

/// Result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Everything that cannot be rebuilt is valid, up to this transaction.
    Sound(i64),
    /// Something does not: the first finding.
    Broken(String),
    /// The verification did not finish.
    Failed(String),
    /// The daemon was stopped before it was done.
    Stopped,
}

/// Message for a verification that the daemon's stop interrupted.
const STOPPED: &str = "the daemon was stopped before the verification finished";
/// Steps of the database's machine between two looks at whether the daemon is stopping.
const LOOK: i32 = 10_000;

/// How long one look at a running verification lasts.
const WAIT: Duration = Duration::from_secs(10);

/// Starts verifications and reports their state. A cheap handle.
#[derive(Clone)]
pub struct Prover {
    shared: Arc<Shared>,
}

struct Shared {
    database: PathBuf,
    is_over: AtomicBool,
    state: Mutex<Verification>,
    /// Result of the last finished verification, and its time.
    found: Mutex<Option<(Proof, Stopwatch)>>,
    /// Counts endings, for whoever waits for one.
    ended: watch::Sender<u64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Prover {
    /// For a database that is served.
    pub fn new(database: &Path) -> Prover {
        let none = Verification {
            state: "none".to_owned(),
            ..Verification::default()
        };
        Prover {
            shared: Arc::new(Shared {
                database: database.to_owned(),
                is_over: AtomicBool::new(false),
                state: Mutex::new(none),
                found: Mutex::default(),
                ended: watch::Sender::new(0),
                thread: Mutex::default(),
            }),
        }
    }

    /// Starts a verification unless one is running; returns its state.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn start(&self) -> std::io::Result<Verification> {
        let mut state = self.shared.state();
        if state.state == "running" {
            return Ok(state.clone());
        }
        let before = std::mem::replace(
            &mut *state,
            Verification {
                state: "running".to_owned(),
                started: Some(now()),
                doing: "journal".to_owned(),
                ..Verification::default()
            },
        );
        let prover = self.clone();
        match background::spawn("verify", move || prover.run()) {
            Ok(thread) => {
                *lock(&self.shared.thread) = Some(thread);
                Ok(state.clone())
            }
            Err(error) => {
                *state = before;
                Err(error)
            }
        }
    }

    /// State of the running verification, else of the last one.
    pub fn standing(&self) -> Verification {
        self.shared.state().clone()
    }

    /// The same after its end, or after so long.
    pub async fn wait(&self, longest: Duration) -> Verification {
        let mut ended = self.shared.ended.subscribe();
        if self.standing().state == "running" {
            // Either the verification ends or the time is over: the caller gets the state at that
            // moment.
            let _ = tokio::time::timeout(longest, ended.changed()).await;
        }
        self.standing()
    }

    /// The last result, unless it is older than `longest` or a verification is running.
    pub fn fresh(&self, longest: Duration) -> Option<Proof> {
        if self.standing().state == "running" {
            return None;
        }
        let found = lock(&self.shared.found);
        let (proof, since) = found.as_ref()?;
        (since.elapsed() <= longest).then(|| proof.clone())
    }

    /// Verifies the bank, or waits for the running verification; returns the result.
    pub async fn prove(&self) -> Proof {
        let started = self.start();
        if let Err(error) = started {
            return Proof::Failed(error.to_string());
        }
        while self.wait(WAIT).await.state == "running" {}
        let none = || Proof::Failed("it did not finish".to_owned());
        self.fresh(Duration::MAX).unwrap_or_else(none)
    }

    /// Ends a running one, also within a step, for the daemon goes down. Does not wait for its end.
    pub fn stop(&self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }

    /// Waits until a running one has ended, after [`Prover::stop`].
    pub fn join(&self) {
        let thread = lock(&self.shared.thread).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of a verification failed");
        }
    }

    fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed)
    }

    fn run(&self) {
        let done = self.verify();
        let is_stopped = done.is_err() && self.is_over();
        let proof = if is_stopped {
            Proof::Stopped
        } else {
            Proof::of(&done)
        };
        *lock(&self.shared.found) = Some((proof, Stopwatch::start()));
        let mut state = self.shared.state();
        match done {
            Ok(report) => {
                if !report.is_sound() {
                    let first = report.lines().into_iter().next().unwrap_or_default();
                    tracing::error!(finding = first, "verify found something wrong");
                }
                fill(&mut state, &report);
            }
            Err(_) if is_stopped => {
                tracing::info!("stopped before the verification finished");
                "stopped".clone_into(&mut state.state);
                state.error = Some(STOPPED.to_owned());
            }
            Err(error) => {
                tracing::error!(%error, "verify did not finish");
                "failed".clone_into(&mut state.state);
                state.error = Some(error.to_string());
            }
        }
        state.ended = Some(now());
        drop(state);
        self.shared
            .ended
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    fn verify(&self) -> Result<Report, store::Error> {
        let mut connection = store::open_reader(&self.shared.database)?;
        let prover = self.clone();
        // One check of a large table is one statement: it ends there too.
        connection.progress_handler(LOOK, Some(move || prover.is_over()))?;
        let mut verification = store::verify::Verification::new(&connection);
        while verification.step()? {
            if self.is_over() {
                return Err(store::Error::NotABank(STOPPED.to_owned()));
            }
            let progress = verification.progress()?;
            shown(&mut self.shared.state(), progress);
        }
        Ok(verification.report())
    }
}

impl Proof {
    fn of(done: &Result<Report, store::Error>) -> Proof {
        match done {
            // Derived tables can be rebuilt: findings in them are reported and stop nothing.
            Ok(report) => match report.serious() {
                None => Proof::Sound(report.transactions),
                Some(finding) => Proof::Broken(finding.to_string()),
            },
            Err(error) => Proof::Failed(error.to_string()),
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, Verification> {
        lock(&self.state)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The machine's time as text.
fn now() -> String {
    format_rfc3339(clock::real_us())
}

fn shown(state: &mut Verification, progress: Progress) {
    progress.doing.clone_into(&mut state.doing);
    state.transactions = progress.transactions;
    state.of_transactions = progress.of_transactions;
    state.checks = whole(progress.checks);
    state.of_checks = whole(progress.of_checks);
}

/// Copies a report into the response structure.
pub fn fill(state: &mut Verification, report: &Report) {
    "done".clone_into(&mut state.state);
    state.doing.clear();
    state.sound = Some(report.is_sound());
    state.transactions = report.transactions;
    state.of_transactions = report.transactions;
    state.checks = state.of_checks;
    state.entries = report.entries;
    state.allocations = report.allocations;
    state.sealed = report.sealed;
    state.findings = report.findings.iter().map(finding).collect();
    state.more = i64::try_from(report.more).unwrap_or(i64::MAX);
    state.notes.clone_from(&report.notes);
    state.advice = report.advice().into_iter().map(str::to_owned).collect();
}

fn finding(finding: &Finding) -> ProofFinding {
    ProofFinding {
        table: finding.table.to_owned(),
        row: finding.row.clone(),
        text: finding.text.clone(),
        expected: finding.expected.clone(),
        found: finding.found.clone(),
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::{Choices, init};
    use bank_core::amount::Precision;
    use bankd_config::data_dir::DataDir;

    /// Also within a step: an interruption by the daemon's stop is no failure, and signs nothing.
    #[test]
    fn ends_that_the_daemon_caused_are_distinguished() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::new(&folder.path().join("data"));
        let choices = Choices {
            precision: Precision::DEFAULT,
            unit: "SU".to_owned(),
            test: false,
        };
        init(&data, &choices).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let prove = |prover: &Prover| runtime.block_on(prover.prove());
        let prover = Prover::new(&data.database());
        let sound = prove(&prover);
        assert!(matches!(sound, Proof::Sound(_)), "{sound:?}");
        prover.stop();
        assert_eq!(prove(&prover), Proof::Stopped);
        prover.join();
        let standing = prover.standing();
        assert_eq!((standing.state.as_str(), standing.sound), ("stopped", None));
        assert_eq!(standing.error.as_deref(), Some(STOPPED));
        // A file that is none is a failure all the same.
        let failed = prove(&Prover::new(&folder.path().join("none.db")));
        assert!(matches!(failed, Proof::Failed(_)), "{failed:?}");
    }
}
