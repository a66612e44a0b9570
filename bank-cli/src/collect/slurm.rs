//! Usage from Slurm: `sacct`, window by window (`collectors.md` a.1, a.5).
//!
//! `sacct` gives the jobs that were there in a window, whatever became of them; so what ended in one is
//! in its batch, and what comes again is known by its identity. Each window begins the overlap before
//! the end of the one before it, for jobs reach the database late. Times are UTC: the program is told
//! so. Nothing of its output is understood here but the first line, which must be the one asked for, and the
//! delimiter.

mod output;

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use bank_api::text::format_rfc3339;
use bank_api::v1::CollectBatch;

use self::output::Plain;
use super::program::{self, Broken};
use super::queue::Queue;
use super::round::{Next, Source, unusable};
use crate::config::collect::{Cluster, Slurm as Settings};
use crate::fail::Failure;

/// The columns, by their names. `JobName` is the last: it may hold anything.
const COLUMNS: &str = "JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,GID,User,UID,Submit,\
    Eligible,Start,End,Elapsed,ExitCode,State,NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,\
    Reservation,NodeList,JobName";
/// The least time that one call covers, µs: below it nothing helps against too much output.
const LEAST_US: i64 = 60_000_000;
const SECOND_US: i64 = 1_000_000;

/// Slurm's accounting.
pub(super) struct Slurm {
    settings: Settings,
    /// How long a window of a cluster may be, µs, where the whole one gave too much.
    lengths: BTreeMap<String, i64>,
}

/// A call that brought no batch.
enum Missed {
    /// A shorter window may bring one.
    TooMuch(String),
    Failed(Failure),
}

impl Slurm {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            lengths: BTreeMap::new(),
        }
    }

    fn cluster(&self, name: &str) -> Option<&Cluster> {
        self.settings.clusters.iter().find(|one| one.name == name)
    }

    fn call(&self, queue: &Queue, cluster: &Cluster, from: i64, to: i64) -> Result<u64, Missed> {
        let settings = &self.settings;
        let head = CollectBatch {
            stream: cluster.name.clone(),
            source: source(cluster),
            format: "sacct".to_owned(),
            machine: cluster.machine.clone(),
            file: format!("{}-{}.sacct", cluster.name, format_rfc3339(to)),
            delimiter: Some(settings.delimiter.clone()),
            from: format_rfc3339(from),
            until: format_rfc3339(to),
        };
        let batch_max = settings.batch_mib.saturating_mul(1 << 20);
        let unwritten = |error: std::io::Error| {
            if error.kind() == std::io::ErrorKind::FileTooLarge {
                return Missed::TooMuch(error.to_string());
            }
            Missed::Failed(unusable(&queue.folder().display().to_string(), &error))
        };
        let draft = queue.begin(&head, batch_max).map_err(unwritten)?;
        let columns = self.columns();
        let secret = secret().map_err(Missed::Failed)?;
        let draft = Plain::new(draft, &secret, &settings.delimiter);
        let timeout = Duration::from_secs(settings.timeout.unsigned_abs());
        let mut command = self.command(&cluster.name, (&columns, &secret), from, to);
        let output = program::run(&mut command, draft, timeout).map_err(|broken| match broken {
            Broken::Unwritten(error) => unwritten(error),
            Broken::TooLong => {
                Missed::TooMuch(format!("it took longer than {} s", settings.timeout))
            }
            Broken::Start(error) => Missed::Failed(
                Failure::usage(format!("{}: {error}", settings.sacct.display()))
                    .hint("`slurm.sacct` names the program"),
            ),
            Broken::Failed(why) => Missed::Failed(Failure::unreachable(format!(
                "{}: sacct ended with {why}",
                cluster.name
            ))),
        })?;
        let wanted = columns.replace(',', &secret);
        let first = output.head.split(|byte| *byte == b'\n').next();
        let first = String::from_utf8_lossy(first.unwrap_or_default()).into_owned();
        if !first.trim_end_matches('\r').eq_ignore_ascii_case(&wanted) {
            let line: String = first.chars().take(120).collect();
            return Err(Missed::Failed(Failure::unreachable(format!(
                "{}: the first line of sacct is not the columns asked for: {line:?}",
                cluster.name
            ))));
        }
        if !output.complaint.trim().is_empty() {
            crate::out::warn(&format!(
                "{}: sacct: {}",
                cluster.name,
                program::line(&output.complaint)
            ));
        }
        let draft = output.writer.end().map_err(unwritten)?;
        draft.commit().map_err(unwritten)
    }

    fn columns(&self) -> String {
        if self.settings.steps {
            // Steps and no jobs alone have it.
            COLUMNS.replace("Elapsed,", "Elapsed,TotalCPU,")
        } else {
            COLUMNS.to_owned()
        }
    }

    fn command(
        &self,
        cluster: &str,
        (columns, secret): (&str, &str),
        from: i64,
        to: i64,
    ) -> Command {
        let mut command = Command::new(&self.settings.sacct);
        command
            .env("TZ", "UTC")
            .env_remove("SLURM_TIME_FORMAT")
            .env_remove("SACCT_FORMAT")
            .args(["--allusers", "--parsable2", "--duplicates", "--noconvert"])
            .args(["--clusters", cluster, "--format", columns])
            .arg(format!("--delimiter={secret}"))
            .args(["--starttime", &clock(from), "--endtime", &clock(to)]);
        if !self.settings.steps {
            command.arg("--allocations");
        }
        command
    }
}

impl Source for Slurm {
    fn streams(&self) -> Vec<String> {
        let clusters = self.settings.clusters.iter();
        clusters.map(|cluster| cluster.name.clone()).collect()
    }

    fn fetch(
        &mut self,
        queue: &Queue,
        stream: &str,
        position: Option<i64>,
        now_us: i64,
    ) -> Result<Next, Failure> {
        let now_us = now_us.saturating_sub(now_us.rem_euclid(SECOND_US));
        let start = self.settings.start;
        let at = position.unwrap_or(start);
        let Some(cluster) = self.cluster(stream).filter(|_| at < now_us) else {
            return Ok(Next::UpToDate);
        };
        let from = position.map_or(start, |at| {
            at.saturating_sub(self.settings.overlap.saturating_mul(SECOND_US))
                .max(start)
        });
        let whole = self.settings.window.saturating_mul(SECOND_US);
        let mut length = self.lengths.get(stream).copied().unwrap_or(whole);
        loop {
            let to = at.saturating_add(length).min(now_us);
            match self.call(queue, cluster, from, to) {
                Ok(bytes) => {
                    // Busy times pass: the next window may be longer again.
                    let next = length.saturating_mul(2).min(whole);
                    self.lengths.insert(stream.to_owned(), next);
                    return Ok(Next::Batch(bytes));
                }
                Err(Missed::Failed(failure)) => return Err(failure),
                Err(Missed::TooMuch(why)) => {
                    let tried = to.saturating_sub(at);
                    if tried <= LEAST_US {
                        return Err(Failure::unreachable(format!(
                            "{stream}: a call of sacct for {} s gives too much: {why}",
                            to.saturating_sub(from).div_euclid(SECOND_US)
                        ))
                        .hint("raise `batch_mib` or `timeout`, or lower `overlap`"));
                    }
                    length = whole_seconds(tried / 2).max(LEAST_US);
                }
            }
        }
    }
}

/// A delimiter that nobody knows before the call.
fn secret() -> Result<String, Failure> {
    let key = bank_client::new_key().map_err(|error| Failure::internal(error.to_string()))?;
    let random = key.rsplit('-').next().unwrap_or(&key);
    Ok(format!("~{random}~"))
}

fn whole_seconds(us: i64) -> i64 {
    us.saturating_sub(us.rem_euclid(SECOND_US))
}

fn source(cluster: &Cluster) -> String {
    let named = cluster.source.clone();
    named.unwrap_or_else(|| format!("slurm:{}", cluster.name))
}

/// `2026-01-31T12:00:00`, as `sacct` reads it in the zone of `TZ`.
fn clock(us: i64) -> String {
    format_rfc3339(whole_seconds(us))
        .trim_end_matches('Z')
        .to_owned()
}

#[cfg(test)]
mod tests;
