//! Delivery of alerts and reports: one thread for each `[[deliver]]` section of the settings, which
//! takes notices from the outbox in order (decision note 0061).
//!
//! A notice is retried until it is delivered or given up. It blocks later notices of the same
//! target only. Delivery is confirmed through the writer, so that after a crash the last notice may
//! be delivered again with the same number: at least once.

mod command;
mod folder;
mod mail;
mod message;
mod report;
#[cfg(test)]
mod tests;
mod webhook;

pub use folder::is_writable;
pub use message::shape;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bank_core::directory::Directory;
use bank_core::model::{Member, MemberRole};
use bank_core::time::{Seconds, Timestamp};
use bankd_config::{Deliver, DeliverWord, Notices, is_address, path_in};
use bankd_ledger::hooks;
use bankd_ledger::writer::Writer;
use bankd_store::read::attention::{EventRow, event_of};
use bankd_store::{self as store, Letter, NoticeChange, TargetRow, report_run, waiting_notice};
use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::Notify;

/// How often the outbox is looked at while nothing fails.
const POLL: Duration = Duration::from_secs(1);
/// The longest reason that is kept, in bytes.
const WHY_MAX: usize = 300;

/// An environment variable of a program.
type Fact = (&'static str, String);

/// Result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Attempt {
    /// It is there.
    Delivered,
    /// It is not, and may be later.
    Again(String),
    /// It never will be.
    Never(String),
}

/// The running threads.
#[derive(Debug)]
pub struct Deliveries {
    threads: Vec<(Arc<Notify>, JoinHandle<()>)>,
}

impl Deliveries {
    /// Ends the threads after the attempts under way. The writer must still run.
    pub fn stop(self) {
        for (stop, _) in &self.threads {
            stop.notify_one();
        }
        for (_, thread) in self.threads {
            let _ = thread.join();
        }
    }
}

/// The targets in the form that the store keeps.
pub fn targets(settings: &Notices) -> Vec<TargetRow> {
    let row = |deliver: &Deliver| TargetRow {
        name: deliver.name.clone(),
        all_at_once: !deliver.gets_digest(),
        clears: deliver.gets_cleared(),
        kinds: deliver.kinds(),
        events: settings.attention.on && deliver.receives_alerts(),
    };
    settings.targets_in_use().map(row).collect()
}

/// Recipients of a mail about a project, each once, in order: staff, and the PIs and managers with
/// an address. If none of these has an address, all members.
pub fn recipients(target: &Deliver, directory: &Directory, project: &str) -> Vec<String> {
    let mut found: Vec<String> = target.staff.clone();
    let project = directory.project_named(project);
    if let Some(project) = project.filter(|_| target.members) {
        let present = |member: &Member| {
            let user = directory.user(member.user);
            let user = user.filter(|user| member.active && user.active && !user.deleted);
            user.map(|user| (member.role != MemberRole::Member, user.email.clone()))
        };
        let all = directory.members_of(project.id);
        let all: Vec<_> = all.iter().filter_map(present).collect();
        let has_leaders = all.iter().any(|(leads, email)| *leads && is_address(email));
        let chosen = all.into_iter().filter(|(leads, _)| *leads || !has_leaders);
        found.extend(chosen.map(|(_, email)| email));
    }
    found.retain(|address| is_address(address));
    found.sort();
    found.dedup();
    found
}

/// Opens every target as the daemon does at its start.
///
/// # Errors
/// The first target whose secret or file of CAs cannot be used, and why.
pub fn check(settings: &Notices, data: &Path) -> Result<(), String> {
    let mut targets = settings.targets_in_use();
    targets.try_for_each(|target| Way::open(target, data).map(drop))
}

/// Starts a thread for each target. To be called inside the runtime that serves.
///
/// # Errors
/// If a secret or a file of CAs cannot be read, the database cannot be opened for reading, or the
/// system has no thread to give.
pub fn start(
    settings: &Notices,
    data: &Path,
    database: &Path,
    writer: &Writer,
) -> anyhow::Result<Deliveries> {
    let runtime = Handle::current();
    let mut deliveries = Deliveries {
        threads: Vec::new(),
    };
    // No thread starts before every target is open: a failed start has nothing to stop.
    let open = |target| Way::open(target, data).map(|way| (target, way));
    let open: Result<Vec<_>, String> = settings.targets_in_use().map(open).collect();
    for (target, way) in open.map_err(anyhow::Error::msg)? {
        let stop = Arc::new(Notify::new());
        let mut post = Post {
            connection: store::open_reader(database)?,
            target: target.clone(),
            way,
            writer: writer.clone(),
            runtime: runtime.clone(),
            stop: Arc::clone(&stop),
            failures: 0,
        };
        let name = std::thread::Builder::new().name(format!("deliver {}", target.name));
        let thread = name.spawn(move || post.run())?;
        deliveries.threads.push((stop, thread));
    }
    Ok(deliveries)
}

/// How a target is reached.
enum Way {
    Command,
    Mail,
    Webhook(Box<webhook::Webhook>),
    Folder(folder::Folder),
}

impl Way {
    fn open(target: &Deliver, data: &Path) -> Result<Way, String> {
        let of_target = |why: String| format!("deliver {}: {why}", target.name);
        Ok(match target.by {
            DeliverWord::Command => Way::Command,
            DeliverWord::Sendmail => Way::Mail,
            DeliverWord::Folder => Way::Folder(folder::Folder {
                path: path_in(data, &target.folder).unwrap_or_default(),
                mode: target.file_mode().unwrap_or(0o640),
                keep: target.keep,
            }),
            DeliverWord::Webhook => {
                let webhook = webhook::Webhook::open(target, data).map_err(of_target)?;
                Way::Webhook(Box::new(webhook))
            }
        })
    }
}

struct Post {
    connection: Connection,
    target: Deliver,
    way: Way,
    writer: Writer,
    runtime: Handle,
    stop: Arc<Notify>,
    /// Failures since something went well.
    failures: u32,
}

impl Post {
    fn run(&mut self) {
        loop {
            let wait = self.round();
            let (runtime, stop) = (self.runtime.clone(), Arc::clone(&self.stop));
            let stopped = runtime.block_on(async {
                tokio::select! {
                    () = stop.notified() => true,
                    () = tokio::time::sleep(wait) => false,
                }
            });
            if stopped {
                return;
            }
        }
    }

    /// Delivers pending notices until none is left, one fails, or the daemon stops. Returns the
    /// time to wait.
    fn round(&mut self) -> Duration {
        if !self.writer.is_writing() {
            return POLL;
        }
        loop {
            match self.one() {
                Ok(true) => self.failures = 0,
                Ok(false) if self.failures == 0 => return POLL,
                Ok(false) => return self.pause(),
                Err(error) => {
                    tracing::error!(deliver = %self.target.name, "the outbox waits: {error:#}");
                    self.failures = self.failures.saturating_add(1);
                    return self.pause();
                }
            }
        }
    }

    /// Delay after a number of failures: it doubles each time up to a limit. Up to a quarter is
    /// subtracted at random, so that retries do not coincide.
    fn pause(&self) -> Duration {
        let doublings = self.failures.saturating_sub(1).min(20);
        let seconds = self.target.retry_s.saturating_mul(1 << doublings);
        let longest = seconds.min(self.target.retry_max_s).max(1);
        let mut random = [0_u8; 1];
        // Without chance it is the whole wait.
        let _ = getrandom::fill(&mut random);
        let millis = longest.saturating_mul(1000);
        let less = millis.saturating_mul(u64::from(random[0])) / 1024;
        Duration::from_millis(millis.saturating_sub(less))
    }

    /// Tries the first notice that waits; false where there is none, or it has to wait.
    fn one(&mut self) -> anyhow::Result<bool> {
        let Some(letter) = waiting_notice(&self.connection, &self.target.name)? else {
            self.failures = 0;
            return Ok(false);
        };
        let attempt = if let Some(report) = letter.report {
            self.bring(&letter, report)?
        } else {
            let events: Vec<Option<EventRow>> = letter
                .events
                .iter()
                .map(|tx| event_of(&self.connection, *tx))
                .collect::<Result<_, _>>()?;
            let events: Vec<EventRow> = events.into_iter().flatten().collect();
            self.attempt(&letter, &events)
        };
        hooks::point("notice_tried");
        let change = match attempt {
            Attempt::Delivered => NoticeChange::Sent(letter.id),
            Attempt::Again(why) => {
                let dead = self.is_hopeless(&letter);
                self.failed(&letter, &why, dead)
            }
            Attempt::Never(why) => self.failed(&letter, &why, true),
        };
        // The recipient waits behind the previous notice; after giving up, it does not wait any
        // more.
        let goes_on = !matches!(change, NoticeChange::Failed(_, _, false));
        self.writer.settle_notice(change)?;
        hooks::point("notice_kept");
        Ok(goes_on)
    }

    fn failed(&mut self, letter: &Letter, why: &str, dead: bool) -> NoticeChange {
        // Not named `target`: the log uses that field for the module path.
        let (deliver, notice, attempts) = (&self.target.name, letter.id, letter.attempts + 1);
        if dead {
            tracing::error!(%deliver, notice, attempts, "a notice is given up: {why}");
        } else {
            tracing::warn!(%deliver, notice, attempts, "a notice is tried again later: {why}");
            self.failures = self.failures.saturating_add(1);
        }
        NoticeChange::Failed(letter.id, short(why), dead)
    }

    fn is_hopeless(&self, letter: &Letter) -> bool {
        let days = Seconds(self.target.give_up_days.saturating_mul(86_400));
        let old = letter.made_at.plus(days) <= self.now();
        old || letter.attempts.saturating_add(1) >= self.target.attempts
    }

    fn now(&self) -> Timestamp {
        self.writer.now()
    }

    fn attempt(&self, letter: &Letter, events: &[EventRow]) -> Attempt {
        let directory = self.writer.directory();
        let Some(first) = events.first() else {
            return Attempt::Never("its events are not there".to_owned());
        };
        let limit = Duration::from_secs(self.target.timeout_s);
        // Only digests have a recipient; a notice for a program is for the target.
        let document = || {
            if letter.recipient.is_empty() {
                message::json(&directory, letter.id, first)
            } else {
                message::digest(&directory, letter, events)
            }
        };
        match &self.way {
            Way::Command => {
                let facts = message::facts(&directory, letter, first);
                self.program(document(), &facts)
            }
            Way::Webhook(webhook) => webhook.send(letter.id, &document(), limit),
            Way::Mail => {
                let to = if letter.recipient.is_empty() {
                    recipients(&self.target, &directory, &first.event.concern.project)
                } else {
                    vec![letter.recipient.clone()]
                };
                let from = &self.target.from;
                let Some(mail) = mail::write(&directory, from, &to, letter.id, events) else {
                    let deliver = &self.target.name;
                    let project = &first.event.concern.project;
                    tracing::warn!(%deliver, notice = letter.id, %project,
                        "a notice is sent to nobody: no person in charge has a usable mail address; \
                         `bank user set USER --email ADDRESS` sets one");
                    return Attempt::Delivered;
                };
                mail::send(&self.runtime, &self.target, mail, limit)
            }
            Way::Folder(_) => Attempt::Never("a folder receives no events".to_owned()),
        }
    }

    /// Runs the program of the target.
    fn program(&self, document: Vec<u8>, facts: &[Fact]) -> Attempt {
        let limit = Duration::from_secs(self.target.timeout_s);
        command::run(&self.runtime, &self.target.command, document, facts, limit)
    }

    /// Brings a report.
    fn bring(&self, letter: &Letter, report: i64) -> anyhow::Result<Attempt> {
        let run = report_run(&self.connection, report)?;
        let Some((run, body)) = run.and_then(|mut run| {
            let body = run.body.take()?;
            Some((run, body))
        }) else {
            return Ok(Attempt::Never("its text is not there".to_owned()));
        };
        let directory = self.writer.directory();
        let limit = Duration::from_secs(self.target.timeout_s);
        let document = || report::json(&directory, letter.id, &run, &body);
        Ok(match &self.way {
            Way::Command => self.program(document(), &[]),
            Way::Webhook(webhook) => webhook.send(letter.id, &document(), limit),
            Way::Folder(folder) => folder.put(&run, &body),
            Way::Mail => match report::mail(&directory, &self.target, letter.id, &run, &body) {
                Some(mail) => mail::send(&self.runtime, &self.target, mail, limit),
                None => Attempt::Never("no recipient has an address".to_owned()),
            },
        })
    }
}

/// A reason as it is kept.
fn short(why: &str) -> String {
    let line = why.replace(char::is_control, " ");
    let mut end = line.len().min(WHY_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or_default().to_owned()
}
