//! Lists of Kubernetes pods (`collectors.md` j): finished pods, by the limits of their containers. A container uses
//! its limit while it runs, so the processors of a pod are the mean over its life.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use serde_json::value::RawValue;

use super::job::{Found, Job, Label, Record, State};
use super::json::Object;
use super::lines::document;
use super::number::Number;
use super::text::{known, rfc3339};
use super::{Reader, Sink, not_of_the_format};

/// Labels, and annotations, of a pod that are kept.
const NOTES_MAX: usize = 32;

/// The longest value of them, in bytes: some annotations are whole documents.
const NOTE_MAX: usize = 256;

/// The flag of a pod with a container that has neither a limit nor a request of processors: that container has none.
pub(super) const NO_CPU_LIMIT: &str = "no-cpu-limit";

/// Reads a `PodList`.
#[derive(Debug, Default)]
pub(super) struct Kubernetes;

impl Reader for Kubernetes {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let bytes = document(input)?;
        let text = String::from_utf8_lossy(&bytes);
        let whole = Object::parse(&text).unwrap_or_default();
        let mut number = 0_u64;
        let read = whole.each("items", |pod| {
            number = number.saturating_add(1);
            let read = Object::parse(pod.get());
            let read = read.ok_or_else(|| "a pod that is not an object".to_owned());
            let found = Found::of(read.and_then(|pod| judge(&pod)));
            sink(Record::new(number, pod.get().as_bytes(), found))
        });
        read.ok_or_else(|| not_of_the_format("no JSON object with a list \"items\""))?
    }

    fn list(&self) -> Option<&'static str> {
        Some("items")
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
    let statuses = |name: &str| status.list(name).unwrap_or_default();
    let of = |status: &&RawValue| Run::of(&Object::parse(status.get())?);
    let runs = statuses("containerStatuses");
    let ended: Vec<Run> = runs.iter().filter_map(of).collect();
    if ended.is_empty() || ended.len() < runs.len() {
        return Ok(Err("not_ended".into()));
    }
    // An init container behind one that failed never ran.
    let init = statuses("initContainerStatuses");
    let init: Vec<Run> = init.iter().filter_map(of).collect();
    job(pod, &status, &phase, state, [&ended, &init]).map(Ok)
}

/// How long a container ran, with the run before its last restart: the status of a pod has no earlier ones.
struct Run {
    name: String,
    end_us: i64,
    ran_us: i64,
}

impl Run {
    /// `None` of one that has not ended.
    fn of(status: &Object<'_>) -> Option<Self> {
        let (start_us, end_us) = ended(status, "state")?;
        let before = ended(status, "lastState").filter(|(_, end_us)| *end_us <= start_us);
        let lasted = |(start_us, end_us): (i64, i64)| end_us.saturating_sub(start_us).max(0);
        let before_us = before.map_or(0, lasted);
        Some(Self {
            name: status.text("name")?,
            end_us,
            ran_us: lasted((start_us, end_us)).saturating_add(before_us),
        })
    }
}

/// Start and end of the run in this state of a container, if that run has ended.
fn ended(status: &Object<'_>, state: &str) -> Option<(i64, i64)> {
    let ended = status.object(state)?.object("terminated")?;
    let at = |name: &str| rfc3339(&ended.text(name)?);
    Some((at("startedAt")?, at("finishedAt")?))
}

fn job(
    pod: &Object<'_>,
    status: &Object<'_>,
    phase: &str,
    state: State,
    runs: [&[Run]; 2],
) -> Result<Job, String> {
    let beyond = || "a figure beyond the supported range".to_owned();
    let meta = pod.object("metadata").unwrap_or_default();
    let field = |name: &str| meta.text(name).unwrap_or_default();
    let start_us = status.text("startTime").and_then(|at| rfc3339(&at));
    let start_us = start_us.ok_or("status.startTime: no time")?;
    let ends = runs.into_iter().flatten().map(|run| run.end_us);
    let end_us = ends.max().unwrap_or(start_us).max(start_us);
    let wall = Number::seconds(end_us.checked_sub(start_us).ok_or_else(beyond)?);
    let spec = pod.object("spec").unwrap_or_default();
    let needs = Needs::of(&spec, runs)?;
    let notes = meta.object("annotations").unwrap_or_default();
    let note = |name: &str| notes.text(name).and_then(|text| known(&text));
    let namespace = field("namespace");
    let mut job = Job {
        id: format!("{namespace}-{}-{}", field("name"), field("uid")),
        start_us,
        end_us,
        wall,
        user: note("cf_pi"),
        account: known(&namespace),
        group: note("cf_project_id"),
        state_word: Some(phase.to_owned()),
        state,
        name: known(&field("name")),
        hosts: spec.text("nodeName").and_then(|node| known(&node)),
        procs: Some(needs.core.mean_over(wall).unwrap_or(needs.procs.most)),
        memory_bytes: Some(needs.memory.most),
        gpus: needs.has_gpus.then_some(needs.gpus.most),
        attributes: attributes(&meta),
        ..Job::default()
    };
    if needs.is_without_limit {
        job.flags.push(NO_CPU_LIMIT);
    }
    job.mark_without_cores();
    job.add("wall_s", wall);
    job.add("core_s", needs.core);
    job.add("memory_bytes", needs.memory.most);
    let byte_s = needs.memory.most.times(wall);
    job.add("byte_s", byte_s.ok_or_else(beyond)?);
    if let Some(gpus) = job.gpus {
        job.add("gpu_s", gpus.times(wall).ok_or_else(beyond)?);
    }
    Ok(job)
}

/// Resources of the containers of a pod.
#[derive(Default)]
struct Needs {
    /// Core-seconds: the processors of each container while it ran.
    core: Number,
    procs: Peak,
    memory: Peak,
    gpus: Peak,
    has_gpus: bool,
    is_without_limit: bool,
}

/// What a pod needs of a resource at most: init containers run one after the other, before all others. Those with
/// `restartPolicy: Always`, sidecars, go on beside the containers behind them.
#[derive(Default)]
struct Peak {
    beside: Number,
    most: Number,
}

impl Peak {
    /// Adds a container: one that ends before the next one starts, or not.
    fn add(&mut self, need: Number, ends_first: bool) -> Option<()> {
        let sum = self.beside.plus(need)?;
        if !ends_first {
            self.beside = sum;
        }
        let rest = sum.minus(self.most)?;
        if rest.is_above_zero() {
            self.most = sum;
        }
        Some(())
    }
}

impl Needs {
    /// Of all containers; the runs are those of the containers, and of the init containers.
    fn of(spec: &Object<'_>, [runs, init]: [&[Run]; 2]) -> Result<Self, String> {
        let mut needs = Self::default();
        for (name, runs) in [("initContainers", init), ("containers", runs)] {
            let is_init = name == "initContainers";
            for container in spec.list(name).unwrap_or_default() {
                let container =
                    Object::parse(container.get()).ok_or("a container that is not an object")?;
                let name = container.text("name").unwrap_or_default();
                let policy = container.text("restartPolicy");
                let ends_first = is_init && policy.as_deref() != Some("Always");
                match runs.iter().find(|run| run.name == name) {
                    Some(run) => needs.add(&container, run, ends_first)?,
                    None if is_init => {}
                    None => return Err(format!("container {name:?}: no status")),
                }
            }
        }
        Ok(needs)
    }

    fn add(&mut self, container: &Object<'_>, run: &Run, ends_first: bool) -> Result<(), String> {
        let beyond = || "a figure beyond the supported range".to_owned();
        let (cpus, bytes) = (limit(container, "cpu")?, limit(container, "memory")?);
        let gpus = accelerators(container)?;
        self.is_without_limit |= cpus.is_none();
        self.has_gpus |= gpus.is_some();
        let used = cpus
            .unwrap_or_default()
            .times(Number::seconds(run.ran_us))
            .and_then(|used| self.core.plus(used));
        self.core = used.ok_or_else(beyond)?;
        for (peak, need) in [
            (&mut self.procs, cpus),
            (&mut self.memory, bytes),
            (&mut self.gpus, gpus),
        ] {
            let need = need.unwrap_or_default();
            peak.add(need, ends_first).ok_or_else(beyond)?;
        }
        Ok(())
    }
}

/// Labels and annotations of a pod, by the names that Kubernetes' own state metrics give them.
fn attributes(meta: &Object<'_>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (kind, prefix) in [("annotations", "annotation_"), ("labels", "label_")] {
        let notes = meta.object(kind).unwrap_or_default();
        let short = |value: &String| value.len() <= NOTE_MAX;
        for name in notes.names().take(NOTES_MAX) {
            let value = notes.text(name).and_then(|text| known(&text));
            if let Some(value) = value.filter(short) {
                let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
                let name: String = name.chars().map(plain).collect();
                all.insert(format!("{prefix}{name}"), value);
            }
        }
    }
    all
}

/// GPUs that a container has: of every vendor's resource `gpu`, and NVIDIA's parts of one.
fn accelerators(container: &Object<'_>) -> Result<Option<Number>, String> {
    let resources = container.object("resources").unwrap_or_default();
    let limits = resources.object("limits").or(resources.object("requests"));
    let limits = limits.unwrap_or_default();
    let mut sum = None;
    for name in limits.names() {
        let is_gpu = name.ends_with("/gpu") || name.starts_with("nvidia.com/mig-");
        if is_gpu {
            let count = limit(container, name)?.unwrap_or_default();
            let grown = sum.unwrap_or(Number::ZERO).plus(count);
            sum = Some(grown.ok_or_else(|| format!("{name}: beyond the supported range"))?);
        }
    }
    Ok(sum)
}

/// The limit of a container, else its request.
fn limit(container: &Object<'_>, what: &str) -> Result<Option<Number>, String> {
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
        .ok_or_else(|| format!("{what}: {text:?} is not a quantity"))
}

/// A Kubernetes quantity: `0.5`, `250m`, `500000u`, `1e3`, `64Mi`, `+100M` (`collectors.md` 0.5).
pub(super) fn quantity(text: &str) -> Option<Number> {
    let text = match text.strip_prefix('+') {
        Some(rest) if rest.starts_with('-') => return None,
        Some(rest) => rest,
        None => text,
    };
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    for (suffix, power) in binary.iter().zip(1_u32..) {
        if let Some(number) = text.strip_suffix(suffix) {
            let unit = 1024_i128.checked_pow(power)?;
            return Number::parse(number)?.times(Number::whole(unit));
        }
    }
    for (suffix, places) in [('m', 3), ('u', 6), ('n', 9)] {
        if let Some(number) = text.strip_suffix(suffix) {
            return Number::parse(number)?.times(Number::scaled(1, places));
        }
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
mod tests;
