//! Lists of Kubernetes pods (`collectors.md` j): finished pods, by the limits of their containers.

use std::io::{self, BufRead};

use super::job::{Found, Job, Label, Record, State};
use super::json::Object;
use super::lines::document;
use super::number::Number;
use super::text::{known, rfc3339};
use super::{Reader, Sink, not_of_the_format};

/// Reads a `PodList`.
#[derive(Debug, Default)]
pub(super) struct Kubernetes;

impl Reader for Kubernetes {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let bytes = document(input)?;
        let text = String::from_utf8_lossy(&bytes);
        let pods = Object::parse(&text).and_then(|list| list.list("items"));
        let pods = pods.ok_or_else(|| not_of_the_format("no JSON object with a list \"items\""))?;
        for (pod, number) in pods.into_iter().zip(1..) {
            let judged =
                Object::parse(pod.get()).ok_or_else(|| "a pod that is no object".to_owned());
            let found = match judged.and_then(|pod| judge(&pod)) {
                Ok(Ok(job)) => Found::Jobs(vec![job]),
                Ok(Err(label)) => Found::Skipped(label),
                Err(why) => Found::Malformed(why),
            };
            sink(Record::new(number, pod.get().as_bytes(), found))?;
        }
        Ok(())
    }
}

/// The job, or why nothing is charged for it; in the order of the tests of `data/LAYOUT.md`.
fn judge(pod: &Object<'_>) -> Result<Result<Job, Label>, String> {
    let status = pod.object("status").unwrap_or_default();
    let phase = status.text("phase").unwrap_or_default();
    let state = match phase.as_str() {
        "Succeeded" => State::Completed,
        "Failed" => State::Failed,
        "Pending" | "Running" => return Ok(Err("live_state".into())),
        _ => return Ok(Err("unknown_state".into())),
    };
    let runs = status.list("containerStatuses").unwrap_or_default();
    let runs: Option<Vec<Run>> = runs
        .into_iter()
        .map(|status| Run::of(&Object::parse(status.get())?))
        .collect();
    let runs = match runs {
        Some(runs) if !runs.is_empty() => runs,
        _ => return Ok(Err("not_ended".into())),
    };
    job(pod, &status, &phase, state, &runs).map(Ok)
}

/// How long a container ran.
struct Run {
    name: String,
    start_us: i64,
    end_us: i64,
}

impl Run {
    /// `None` of one that has not ended.
    fn of(status: &Object<'_>) -> Option<Self> {
        let ended = status.object("state")?.object("terminated")?;
        Some(Self {
            name: status.text("name")?,
            start_us: rfc3339(&ended.text("startedAt")?)?,
            end_us: rfc3339(&ended.text("finishedAt")?)?,
        })
    }
}

fn job(
    pod: &Object<'_>,
    status: &Object<'_>,
    phase: &str,
    state: State,
    runs: &[Run],
) -> Result<Job, String> {
    let beyond = || "a figure beyond what can be counted".to_owned();
    let meta = pod.object("metadata").unwrap_or_default();
    let said = |name: &str| meta.text(name).unwrap_or_default();
    let start_us = status.text("startTime").and_then(|at| rfc3339(&at));
    let start_us = start_us.ok_or("status.startTime: no time")?;
    let end_us = runs.iter().map(|run| run.end_us).max().unwrap_or(start_us);
    let end_us = end_us.max(start_us);
    let wall = Number::seconds(end_us.checked_sub(start_us).ok_or_else(beyond)?);
    let (mut core, mut memory, mut procs) = (Number::ZERO, Number::ZERO, Number::ZERO);
    let spec = pod.object("spec").unwrap_or_default();
    let mut flags = Vec::new();
    for container in spec.list("containers").unwrap_or_default() {
        let container = Object::parse(container.get()).ok_or("a container that is no object")?;
        let name = container.text("name").unwrap_or_default();
        let run = runs.iter().find(|run| run.name == name);
        let run = run.ok_or_else(|| format!("container {name:?}: no status"))?;
        let us = run.end_us.checked_sub(run.start_us).ok_or_else(beyond)?;
        let (cpus, bytes) = (asked(&container, "cpu")?, asked(&container, "memory")?);
        if cpus.is_none() {
            flags.push("no-cpu-limit");
        }
        let cpus = cpus.unwrap_or_default();
        let used = cpus.times(Number::seconds(us.max(0)));
        core = used.and_then(|used| core.plus(used)).ok_or_else(beyond)?;
        memory = memory.plus(bytes.unwrap_or_default()).ok_or_else(beyond)?;
        procs = procs.plus(cpus).ok_or_else(beyond)?;
    }
    let notes = meta.object("annotations").unwrap_or_default();
    let note = |name: &str| notes.text(name).and_then(|text| known(&text));
    let namespace = said("namespace");
    let mut job = Job {
        id: format!("{namespace}-{}-{}", said("name"), said("uid")),
        start_us,
        end_us,
        wall,
        user: note("cf_pi"),
        account: known(&namespace),
        group: note("cf_project_id"),
        state_word: Some(phase.to_owned()),
        state,
        name: known(&said("name")),
        hosts: spec.text("nodeName").and_then(|node| known(&node)),
        procs: Some(procs),
        memory_bytes: Some(memory),
        flags,
        ..Job::default()
    };
    job.add("wall_s", wall);
    job.add("core_s", core);
    job.add("memory_bytes", memory);
    job.add("byte_s", memory.times(wall).ok_or_else(beyond)?);
    Ok(job)
}

/// The limit of a container, else what it requests.
fn asked(container: &Object<'_>, what: &str) -> Result<Option<Number>, String> {
    let resources = container.object("resources").unwrap_or_default();
    let text = ["limits", "requests"]
        .iter()
        .find_map(|kind| resources.object(kind)?.text(what));
    let Some(text) = text else {
        return Ok(None);
    };
    let value = quantity(&text).filter(|value| !value.is_negative());
    value
        .map(Some)
        .ok_or_else(|| format!("{what}: {text:?} is no quantity"))
}

/// A Kubernetes quantity: `0.5`, `250m`, `1e3`, `64Mi`, `100M` (`collectors.md` 0.5).
pub(super) fn quantity(text: &str) -> Option<Number> {
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    for (suffix, power) in binary.iter().zip(1_u32..) {
        if let Some(number) = text.strip_suffix(suffix) {
            let unit = 1024_i128.checked_pow(power)?;
            return Number::parse(number)?.times(Number::whole(unit));
        }
    }
    if let Some(number) = text.strip_suffix('m') {
        return Number::parse(number)?.times(Number::scaled(1, 3));
    }
    let decimal = ['k', 'M', 'G', 'T', 'P', 'E'];
    for (suffix, power) in decimal.iter().zip(1_u32..) {
        if let Some(number) = text.strip_suffix(*suffix) {
            let unit = 1000_i128.checked_pow(power)?;
            return Number::parse(number)?.times(Number::whole(unit));
        }
    }
    Number::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_suffixes() {
        for (text, value) in [
            ("0.5", Some("0.5")),
            ("250m", Some("0.25")),
            ("1e3", Some("1000")),
            ("1E3", Some("1000")),
            ("64Mi", Some("67108864")),
            ("100M", Some("100000000")),
            ("1E", Some("1000000000000000000")),
            ("1x", None),
            ("", None),
        ] {
            let read = quantity(text).map(|n| n.to_string());
            assert_eq!(read.as_deref(), value, "{text}");
        }
    }
}
