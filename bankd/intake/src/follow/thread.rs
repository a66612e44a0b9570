//! The threads of the followed files: one each, so that one that cannot be read holds up no other.

use std::io;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use bank_api::v1::ReadOptions;
use bank_core::command::Scope;
use bankd_config::Follow;
use bankd_config::follow::names::Names;
use bankd_config::follow::{Shape, shape};
use bankd_ingest::{Found, Options, Record, formats};
use bankd_ledger::clock::{self, LedgerClock};
use bankd_ledger::hooks;
use bankd_ledger::writer::{Caller, Origin, SubmitError, Writer};
use bankd_store::background;
use bankd_store::{self as store, FollowFile, FollowMark};

use super::board::{Board, LeftOut, Post};
use super::input::{Look, Node};
use super::open::Mark;
use super::shelf::{Known, Shelf, Why};
use super::tracker::{Finding, Plan, Step, Taker, Tracker};
use crate::{Feed, Intake};

/// Records taken at once, about: one transaction (limits.md 6.8).
const TAKEN_AT_ONCE: usize = 4000;
/// Bytes of a file's beginning that its mark covers.
const HEAD: u64 = 4096;
/// The longest wait after a failure.
const RETRY_MAX: Duration = Duration::from_mins(1);
/// Maximum time that the daemon's start waits until existing files are noted at the first start.
const PREPARED_MAX: Duration = Duration::from_secs(10);
/// Prefix of a mark's state that contains the files beside it.
const WITH_FILES: &str = "2 ";

/// The running threads.
#[derive(Debug)]
pub struct Followers {
    board: Board,
    threads: Vec<JoinHandle<()>>,
}

impl Followers {
    /// Stops the threads: each finishes its current transaction. The writer must still run.
    pub fn stop(self) {
        self.board.end();
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// Starts a thread for each followed file of the settings, which the board is for.
///
/// # Errors
/// If a mapping file is none, the database cannot be read, or the system has no thread to give.
pub fn start(
    followed: &[Follow],
    data: &Path,
    database: &Path,
    board: &Board,
    writer: &Writer,
    clock: &Arc<dyn LedgerClock>,
) -> anyhow::Result<Followers> {
    let mut ready = Vec::new();
    let connection = store::open_reader(database)?;
    for (follow, post) in followed.iter().zip(&board.posts) {
        let plan = plan(follow, data).map_err(anyhow::Error::msg)?;
        let reading = reading(&plan.options)?;
        let known = store::follow_mark(&connection, &follow.source, &follow.path)?;
        let files = known.as_ref().and_then(restored_shelf);
        ready.push(Worker {
            tracker: Tracker::new(plan, known.as_ref().and_then(restored), files),
            taker: Teller {
                writer: writer.clone(),
                follow: follow.clone(),
                since_us: follow.since_us().map_err(anyhow::Error::msg)?,
                reading: Some(reading),
                kept: 0,
            },
            post: Arc::clone(post),
            clock: Arc::clone(clock),
            poll: Duration::from_secs(follow.poll_s),
            shown: None,
        });
    }
    drop(connection);
    let mut followers = Followers {
        board: board.clone(),
        threads: Vec::new(),
    };
    let (prepared, all_prepared) = mpsc::channel::<()>();
    for mut worker in ready {
        let name = format!("follow {}", worker.post.source);
        let prepared = prepared.clone();
        let thread = background::spawn(name, move || {
            worker.prepare();
            drop(prepared);
            worker.run();
        })?;
        followers.threads.push(thread);
    }
    drop(prepared);
    // Whoever sees the daemon serve can rotate: nothing counts as older than the first start any more.
    let _ = all_prepared.recv_timeout(PREPARED_MAX);
    Ok(followers)
}

fn plan(follow: &Follow, data: &Path) -> Result<Plan, String> {
    let since = follow.since_us()?;
    let since = since.and_then(chrono::DateTime::from_timestamp_micros);
    Ok(Plan {
        names: Names::read(&follow.path)?,
        format: formats::named(&follow.format)
            .ok_or_else(|| format!("no format {:?}", follow.format))?,
        options: follow.read_options(data)?,
        needs_context: shape(&follow.format) == Shape::Headed,
        settle_us: follow.settle_s.saturating_mul(1_000_000),
        limit: TAKEN_AT_ONCE,
        since: since.map(|time| time.date_naive()),
    })
}

/// The read options of a file, for reading a line of it again.
fn reading(options: &Options) -> anyhow::Result<String> {
    Ok(serde_json::to_string(&ReadOptions {
        layout: options.layout.clone(),
        columns: options.columns.clone(),
        delimiter: options.delimiter.clone(),
        tz: Some(options.zone.name().to_owned()),
        mapping: options.mapping.clone(),
        gpus_per_slot: options.gpus_per_slot,
    })?)
}

struct Worker {
    tracker: Tracker,
    taker: Teller,
    post: Arc<Post>,
    clock: Arc<dyn LedgerClock>,
    poll: Duration,
    /// The version of the shelf that the board shows.
    shown: Option<u64>,
}

impl Worker {
    /// Notes existing files at the first start. After a failure the first look tries again.
    fn prepare(&mut self) {
        if let Err(error) = self.tracker.prepare(&mut self.taker) {
            let Post { source, path, .. } = &*self.post;
            tracing::warn!(%source, %path, "the files beside a followed file are not listed: {error}");
        }
        self.tell();
    }

    /// Logs the findings.
    fn tell(&mut self) {
        for finding in self.tracker.findings() {
            self.report(&finding);
        }
        let Some(files) = self.tracker.shelf() else {
            return;
        };
        if self.shown != Some(files.version()) {
            self.shown = Some(files.version());
            let left_out = files.left_out().map(left_out).collect();
            self.post.change(|standing| standing.left_out = left_out);
        }
    }

    fn run(&mut self) {
        let mut wait = self.poll;
        while !self.post.is_over() {
            wait = match self.round() {
                Ok(()) => self.poll,
                Err(error) => {
                    let wait = RETRY_MAX.min(wait * 2).max(self.poll);
                    self.failed(&error, wait);
                    wait
                }
            };
            self.post.wait(wait);
        }
    }

    /// Takes everything that is there.
    fn round(&mut self) -> io::Result<()> {
        while !self.post.is_over() {
            // Quiet time is measured on the steady clock, not by the time of day.
            let now_us = self.clock.reading().steady.0;
            let step = self.tracker.look(now_us, &mut self.taker);
            self.tell();
            let step = step?;
            let (mark, behind) = (self.tracker.mark(), self.tracker.behind());
            self.post.change(|standing| {
                standing.file = mark.map(|mark| mark.file.display().to_string());
                standing.offset = mark.map_or(0, |mark| mark.offset);
                standing.behind = behind;
                standing.error = None;
                standing.is_waiting = step == Step::Waiting;
            });
            if step != Step::More {
                break;
            }
        }
        Ok(())
    }

    fn failed(&self, error: &io::Error, wait: Duration) {
        let (source, path) = (&self.post.source, &self.post.path);
        let wait_s = wait.as_secs();
        tracing::error!(%source, %path, wait_s, "a followed file waits: {error}");
        self.post.change(|standing| {
            standing.failures = standing.failures.saturating_add(1);
            standing.error = Some(error.to_string());
        });
    }

    fn report(&self, finding: &Finding) {
        let source = &self.post.source;
        match finding {
            Finding::Rotated { from, to } => {
                let (from, to) = (from.display(), to.display());
                tracing::info!(%source, %from, %to, "a followed file was read to its end");
            }
            Finding::Copied { from, to } => {
                let (from, to) = (from.display(), to.display());
                tracing::info!(%source, %from, %to, "a followed file goes on in a copy of it");
            }
            Finding::Rewritten { file, read } => {
                let path = file.display();
                tracing::warn!(
                    %source, %path, read,
                    "a followed file was emptied in place: what was written to it since the last \
                     look is lost; it is read from its beginning"
                );
            }
            Finding::Lost { file, read } => {
                let path = file.display();
                tracing::warn!(
                    %source, %path, read,
                    "a followed file is gone: later lines in it are not read; \
                     `bank import` takes it if it is found"
                );
            }
            Finding::LeftOut { file, why } => {
                let (path, why) = (file.display(), why.word());
                tracing::warn!(
                    %source, %path, why,
                    "a file beside a followed file is not read; use `bank import` for it"
                );
            }
        }
    }
}

fn left_out(known: &Known) -> LeftOut {
    LeftOut {
        file: known.file.display().to_string(),
        why: known.why,
        read: if known.why == Why::Earlier {
            0
        } else {
            known.length
        },
    }
}

/// Gives records to the bank.
struct Teller {
    writer: Writer,
    follow: Follow,
    since_us: Option<i64>,
    /// How the file is read, for lines out of the quarantine; until it is kept.
    reading: Option<String>,
    /// The version of the shelf that is kept.
    kept: u64,
}

impl Taker for Teller {
    fn take(&mut self, records: Vec<Record>, mark: &Mark, files: &Shelf) -> io::Result<()> {
        let Follow { source, path, .. } = &self.follow;
        let mut row = kept(source, path, mark);
        if self.kept != files.version() {
            row.files = Some(files.rows().iter().map(kept_file).collect());
        }
        if mark.node == Node::default() {
            // Nothing is read yet: the collector has not reported anything.
            hooks::point("follow_preparing");
            self.writer.mark_blocking(row).map_err(failed)?;
            hooks::point("follow_prepared");
            self.kept = files.version();
            return Ok(());
        }
        let feed = Feed {
            source: source.clone(),
            format: self.follow.format.clone(),
            machine: Some(self.follow.machine.clone()).filter(|name| !name.is_empty()),
            caller: Caller {
                actor: "follow".to_owned(),
                client: "follow".to_owned(),
                origin: Origin::System,
                scope: Scope::default(),
            },
            request_id: clock::request_id(),
            dry_run: false,
            keep_raw: self.follow.raw,
        };
        // One chunk, for any number of array jobs: the mark belongs to all of them.
        let mut intake = Intake::new(self.writer.clone(), feed, usize::MAX);
        intake.place(&mark.file.display().to_string());
        for record in records {
            intake.take(left(record, self.since_us))?;
        }
        intake.mark(row);
        hooks::point("follow_taking");
        intake.flush()?;
        self.kept = files.version();
        hooks::point("follow_taken");
        if let Some(reading) = self.reading.take()
            && let Err(error) = self.writer.keep_reading(source.clone(), reading)
        {
            // Only a repeated read of a line uses it.
            tracing::warn!(%source, %error, "cannot store the read options of a followed file");
        }
        Ok(())
    }
}

/// A record without the jobs that ended before a time.
fn left(mut record: Record, since_us: Option<i64>) -> Record {
    if let (Found::Jobs(jobs), Some(since_us)) = (&mut record.found, since_us) {
        jobs.retain(|job| job.end_us >= since_us);
        if jobs.is_empty() {
            record.found = Found::Skipped("before_since".into());
        }
    }
    record
}

/// A mark as the store keeps it.
fn kept(source: &str, path: &str, mark: &Mark) -> FollowMark {
    FollowMark {
        source: source.to_owned(),
        path: path.to_owned(),
        device: mark.node.device,
        inode: mark.node.inode,
        head: mark.print.to_vec(),
        head_length: mark.offset.min(HEAD),
        offset: mark.offset,
        line: mark.line,
        state: format!("{WITH_FILES}{} {}", mark.written, mark.file.display()),
        files: None,
    }
}

fn kept_file(known: &Known) -> FollowFile {
    FollowFile {
        file: known.file.display().to_string(),
        why: known.why.word().to_owned(),
        device: known.node.device,
        inode: known.node.inode,
        size: known.look.size,
        written: known.look.written,
        length: known.length,
        line: known.line,
        print: known.print.to_vec(),
        is_raw: known.is_raw,
    }
}

/// A mark as it was kept.
fn restored(kept: &FollowMark) -> Option<Mark> {
    let state = &kept.state;
    let state = state.strip_prefix(WITH_FILES).unwrap_or(state);
    let (written, file) = state.split_once(' ')?;
    Some(Mark {
        file: file.into(),
        written: written.parse().ok()?,
        node: Node {
            device: kept.device,
            inode: kept.inode,
        },
        offset: kept.offset,
        line: kept.line,
        print: kept.head.as_slice().try_into().ok()?,
    })
}

/// The files beside it; `None` where they were not kept yet.
fn restored_shelf(kept: &FollowMark) -> Option<Shelf> {
    if !kept.state.starts_with(WITH_FILES) {
        return None;
    }
    let files = kept.files.as_deref().unwrap_or_default();
    Some(Shelf::of(files.iter().filter_map(restored_file).collect()))
}

fn restored_file(kept: &FollowFile) -> Option<Known> {
    Some(Known {
        file: kept.file.clone().into(),
        why: Why::of(&kept.why)?,
        node: Node {
            device: kept.device,
            inode: kept.inode,
        },
        look: Look {
            size: kept.size,
            written: kept.written,
        },
        length: kept.length,
        line: kept.line,
        print: kept.print.as_slice().try_into().ok()?,
        is_raw: kept.is_raw,
        is_gone: false,
    })
}

fn failed(error: SubmitError) -> io::Error {
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_comes_back_as_it_was() {
        let mark = Mark {
            file: "/var/acct/20261122 x".into(),
            written: 1_790_000_000_123_456_789,
            node: Node {
                device: u64::MAX,
                inode: 7,
            },
            offset: 9000,
            line: 100,
            print: [7; 32],
        };
        let kept = kept("pbs:colony", "/var/acct/%Y%m%d", &mark);
        assert_eq!(
            (kept.head_length, kept.path.as_str()),
            (HEAD, "/var/acct/%Y%m%d")
        );
        assert_eq!(restored(&kept), Some(mark.clone()));
        assert_eq!(restored_shelf(&kept), Some(Shelf::default()));
        let known = Known::read(
            &mark,
            Look {
                size: 7,
                written: 8,
            },
        );
        assert_eq!(restored_file(&kept_file(&known)), Some(known));
        let earlier = FollowMark {
            state: kept.state[WITH_FILES.len()..].to_owned(),
            ..kept.clone()
        };
        assert_eq!(restored(&earlier), Some(mark));
        assert_eq!(restored_shelf(&earlier), None);
        let torn = FollowMark {
            head: vec![7; 31],
            ..kept
        };
        assert_eq!(restored(&torn), None);
    }
}
