//! Finished jobs in the Standard Workload Format 2.2 (`usage-records.md` 5.2): header comments, then 18 whole
//! numbers a line, -1 for unknown values, in the order of submission. Names have numbers. The format has no
//! projects, so its groups are the projects.

use std::collections::BTreeSet;

use super::export::{Written, epoch, unfit_for_jobs};
use super::{Record, State, text};

/// A job on its way into a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Seconds since 1970; the start if no submission was reported.
    submit: i64,
    start: i64,
    wait: Option<i64>,
    run: i128,
    processors: i128,
    nodes: Option<i64>,
    /// The values of columns 6 to 11.
    figures: [i128; 6],
    /// Where it ran.
    pub machine: String,
    /// The user.
    pub user: Option<String>,
    /// The project.
    pub group: Option<String>,
    /// Where it waited.
    pub queue: Option<String>,
}

/// Numbers of the names of a job, in the order user, group, queue; -1 for none.
pub type Numbers = [i64; 3];

/// The job of a record, or why there is none.
///
/// # Errors
/// The result for a record that is no job.
pub fn job(record: &Record) -> Result<Job, Written> {
    if let Some(unfit) = unfit_for_jobs(record) {
        return Err(unfit);
    }
    let Some(status) = status(record.state) else {
        return Err(Written::Skipped("it has not ended"));
    };
    let (Some(start), Some(end)) = (record.start(), record.end()) else {
        return Err(Written::Skipped("its start or end is unknown"));
    };
    let run = record
        .wall
        .map_or(end.saturating_sub(start), |wall| wall.max(0));
    let start = epoch(start);
    let submit = record.submit_time.map(epoch).filter(|at| *at <= start);
    let processors = text::ceiling(record.usage.processors()).max(1);
    let shared = |bytes: Option<i64>, by: i128| {
        let bytes = bytes.filter(|bytes| *bytes >= 0)?;
        Some(text::nearest(bytes.into(), by.checked_mul(1024)?))
    };
    let requested = record.requested_processors;
    let requested = requested.map(|requested| text::ceiling(requested.into()).max(1));
    let requested_memory = record.requested_memory.zip(record.nodes);
    let requested_memory = requested_memory.and_then(|(each, nodes)| each.checked_mul(nodes));
    let cpu = record.cpu().filter(|cpu| *cpu >= 0);
    let cpu = cpu.map(|cpu| text::nearest(cpu.into(), processors.saturating_mul(1_000_000)));
    let limit = record
        .requested
        .map(|requested| super::export::seconds(requested.into()));
    Ok(Job {
        submit: submit.unwrap_or(start),
        start,
        wait: submit.map(|at| start.saturating_sub(at)),
        run: super::export::seconds(run.into()),
        processors,
        nodes: record.nodes,
        figures: [
            cpu.unwrap_or(-1),
            shared(record.memory(), processors).unwrap_or(-1),
            requested.unwrap_or(-1),
            limit.unwrap_or(-1),
            shared(requested_memory, requested.unwrap_or(processors)).unwrap_or(-1),
            status,
        ],
        machine: record.machine.clone(),
        user: named(record.user.as_ref()),
        group: named(record.project.as_ref()),
        queue: named(record.class.as_ref()),
    })
}

fn named(name: Option<&String>) -> Option<String> {
    name.filter(|name| !name.is_empty()).cloned()
}

/// `usage-records.md` 6.2.
fn status(state: State) -> Option<i128> {
    match state {
        State::Completed | State::Timeout => Some(1),
        State::Failed => Some(0),
        State::Aborted | State::Preempted => Some(5),
        State::Running | State::Suspended | State::Held | State::Queued => None,
    }
}

/// The jobs in the order of a workload; names get their numbers in it.
pub fn sort(jobs: &mut [Job]) {
    jobs.sort_by(|a, b| {
        let key = |job: &Job| (job.submit, job.start, job.run);
        key(a).cmp(&key(b)).then_with(|| a.user.cmp(&b.user))
    });
}

/// A workload of jobs that are in their order.
pub fn render(jobs: &[Job], numbers: impl Fn(&Job) -> Numbers) -> String {
    let begin = jobs.iter().map(|job| job.submit).min().unwrap_or_default();
    let machines: BTreeSet<&str> = jobs.iter().map(|job| job.machine.as_str()).collect();
    let machines: Vec<String> = machines.into_iter().map(one_line).collect();
    let nodes = jobs.iter().filter_map(|job| job.nodes).max();
    let processors = jobs.iter().map(|job| job.processors).max();
    let mut text = String::with_capacity(jobs.len().saturating_mul(80).saturating_add(300));
    let mut say = |name: &str, value: &str| {
        if !value.is_empty() {
            for part in ["; ", name, ": ", value, "\n"] {
                text.push_str(part);
            }
        }
    };
    say("Version", "2.2");
    say("Computer", &machines.join(", "));
    say("UnixStartTime", &begin.to_string());
    say("TimeZoneString", "UTC");
    say("MaxJobs", &jobs.len().to_string());
    say("MaxRecords", &jobs.len().to_string());
    say(
        "MaxNodes",
        &nodes.map(|n| n.to_string()).unwrap_or_default(),
    );
    let processors = processors.map(|n| n.to_string());
    say("MaxProcs", &processors.unwrap_or_default());
    for (n, job) in (1_usize..).zip(jobs) {
        let [user, group, queue] = numbers(job).map(i128::from);
        let [cpu, memory, requested, limit, requested_memory, status] = job.figures;
        let columns = [
            i128::try_from(n).unwrap_or(-1),
            i128::from(job.submit.saturating_sub(begin)),
            i128::from(job.wait.unwrap_or(-1)),
            job.run,
            job.processors,
            cpu,
            memory,
            requested,
            limit,
            requested_memory,
            status,
            user,
            group,
            // Executable; queue; partition, the job before and the time between them.
            -1,
            queue,
            -1,
            -1,
            -1,
        ];
        let columns = columns.map(|column| column.to_string());
        text.push_str(&columns.join(" "));
        text.push('\n');
    }
    text
}

/// A comment cannot hold what ends a line.
fn one_line(line: &str) -> String {
    let kept = |c: char| if text::ends_line(c) { ' ' } else { c };
    line.chars().map(kept).collect()
}
