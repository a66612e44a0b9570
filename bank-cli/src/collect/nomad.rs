//! Usage from Nomad: a snapshot of all allocations, every so often (`collectors.md` g).
//!
//! A snapshot is the document that the reader `nomad` takes, named by its time: what an allocation has,
//! since when it runs, and, when it has ended, until when. Every allocation of a job is in it, not only
//! the newest. An allocation that has ended is `dead` with its end, whatever becomes of its job, so its
//! use is exact if a snapshot is taken before the server forgets it. A snapshot is whole or not taken.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bank_api::text::{format_rfc3339, parse_rfc3339, percent_encode};
use bank_api::v1::CollectBatch;
use serde_json::{Map, Value, json};

use super::prometheus::put;
use super::queue::Queue;
use super::round::{Next, Source};
use crate::client::fetch::Server;
use crate::config::collect::Nomad as Settings;
use crate::fail::Failure;

/// The one stream.
const STREAM: &str = "snapshots";
const SECOND_US: i64 = 1_000_000;
/// The moment that Nomad writes for "never".
const NEVER: &str = "0001-01-01T00:00:00Z";

/// A Nomad server.
pub(super) struct Nomad {
    settings: Settings,
    server: Server,
    /// Now, µs since 1970 UTC.
    clock: fn() -> i64,
}

impl Nomad {
    pub(super) fn new(settings: Settings, server: Server, clock: fn() -> i64) -> Self {
        Self {
            settings,
            server,
            clock,
        }
    }

    /// Everything that runs or has run, by namespace.
    fn snapshot(&self) -> Result<Value, Failure> {
        let listed = self.must("/v1/jobs", &[("namespace", "*"), ("meta", "true")])?;
        let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let mut nodes = BTreeMap::new();
        for job in list(&listed, "/v1/jobs")? {
            let space = text(job, "Namespace").unwrap_or_else(|| "default".to_owned());
            let name = text(job, "Name").unwrap_or_default();
            if !self.wants(&space, &name) {
                continue;
            }
            let Some(id) = text(job, "ID") else {
                continue;
            };
            let deployments = self.job(&space, &id, job, &mut nodes)?;
            all.entry(space).or_default().extend(deployments);
        }
        serde_json::to_value(all).map_err(|error| Failure::internal(error.to_string()))
    }

    fn wants(&self, space: &str, name: &str) -> bool {
        let settings = &self.settings;
        let is = |list: &[String]| list.iter().any(|one| one == space);
        let prefixes = &settings.name_prefixes;
        (settings.namespaces.is_empty() || is(&settings.namespaces))
            && !is(&settings.skip_namespaces)
            && (prefixes.is_empty() || prefixes.iter().any(|prefix| name.starts_with(prefix)))
    }

    /// The deployments of a job: one for each allocation, or one that waits where there is none.
    fn job(
        &self,
        space: &str,
        id: &str,
        listed: &Value,
        nodes: &mut BTreeMap<String, Option<String>>,
    ) -> Result<Vec<Value>, Failure> {
        let path = segment("/v1/job/", id);
        let here = [("namespace", space)];
        // It may be gone since it was listed.
        let Some(job) = self.get(&path, &here)? else {
            return Ok(Vec::new());
        };
        let allocations = self.get(&format!("{path}/allocations"), &here)?;
        let allocations = allocations.unwrap_or_else(|| json!([]));
        let mut found = Vec::new();
        for allocation in list(&allocations, &path)? {
            let Some(allocation_id) = text(allocation, "ID") else {
                continue;
            };
            let detail = self.get(&segment("/v1/allocation/", &allocation_id), &here)?;
            // Without it nothing says what the allocation has.
            let Some(detail) = detail else {
                continue;
            };
            let datacenter = self.datacenter(&job, &detail, nodes)?;
            let mut deployment = self.about(id, &job, listed);
            let life = Life::of(&detail, &main_tasks(&job, &detail));
            deployment.insert("status".to_owned(), json!(life.status));
            deployment.insert("resources".to_owned(), allocated(&detail));
            deployment.insert("alloc_ID".to_owned(), json!(allocation_id));
            deployment.insert("alloc_start".to_owned(), json!(life.start));
            deployment.insert("alloc_end".to_owned(), json!(life.end));
            deployment.insert("datacenter".to_owned(), json!(datacenter));
            found.push(Value::Object(deployment));
        }
        if found.is_empty() {
            let mut waiting = self.about(id, &job, listed);
            waiting.insert("status".to_owned(), json!("queued"));
            waiting.insert("resources".to_owned(), requested(&job));
            for key in ["alloc_ID", "alloc_start", "alloc_end", "datacenter"] {
                waiting.insert(key.to_owned(), Value::Null);
            }
            found.push(Value::Object(waiting));
        }
        Ok(found)
    }

    /// What is the same for all allocations of a job.
    fn about(&self, id: &str, job: &Value, listed: &Value) -> Map<String, Value> {
        let meta = |key: &str| {
            let own = job.pointer("/Meta").and_then(|meta| text(meta, key));
            own.or_else(|| listed.pointer("/Meta").and_then(|meta| text(meta, key)))
        };
        let config = |key: &str| {
            let groups = job.get("TaskGroups").and_then(Value::as_array);
            let tasks = groups.into_iter().flatten().flat_map(tasks_of);
            let mut main = tasks.filter(|task| !has_hook(task));
            main.find_map(|task| task.pointer(&format!("/Config/{key}")).cloned())
        };
        let submitted = job.get("SubmitTime").and_then(Value::as_i64);
        let submitted = submitted.map(|ns| {
            let us = ns.div_euclid(1000);
            let second = format_rfc3339(us.saturating_sub(us.rem_euclid(SECOND_US)));
            second.trim_end_matches('Z').replace('T', " ")
        });
        let about = json!({
            "job_ID": id,
            "name": text(job, "Name"),
            "owner": meta(&self.settings.owner_meta),
            "title": meta("title"),
            "description": meta("description"),
            "docker_image": config("image"),
            "docker_command": config("command"),
            "submit_time": submitted,
            "endpoints": {},
        });
        match about {
            Value::Object(about) => about,
            _ => Map::new(),
        }
    }

    /// Where an allocation runs: the datacenter of its node, else the job's only one.
    fn datacenter(
        &self,
        job: &Value,
        allocation: &Value,
        nodes: &mut BTreeMap<String, Option<String>>,
    ) -> Result<Option<String>, Failure> {
        let named = job.get("Datacenters").and_then(Value::as_array);
        if let Some([only]) = named.map(Vec::as_slice)
            && let Some(name) = only.as_str().filter(|name| !name.contains('*'))
        {
            return Ok(Some(name.to_owned()));
        }
        let Some(node) = text(allocation, "NodeID") else {
            return Ok(None);
        };
        if let Some(known) = nodes.get(&node) {
            return Ok(known.clone());
        }
        let found = self.get(&segment("/v1/node/", &node), &[])?;
        let found = found.and_then(|node| text(&node, "Datacenter"));
        nodes.insert(node, found.clone());
        Ok(found)
    }

    fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Option<Value>, Failure> {
        let body = self.server.get(&self.target(path, query))?;
        body.map(|body| parsed(&body, path)).transpose()
    }

    fn must(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, Failure> {
        parsed(&self.server.must(&self.target(path, query))?, path)
    }

    fn target(&self, path: &str, query: &[(&str, &str)]) -> String {
        let region = self.settings.region.as_deref().map(|name| ("region", name));
        let mut target = path.to_owned();
        for (at, (name, value)) in query.iter().copied().chain(region).enumerate() {
            target.push(if at == 0 { '?' } else { '&' });
            target.push_str(name);
            target.push('=');
            percent_encode(value, &mut target);
        }
        target
    }
}

impl Source for Nomad {
    fn streams(&self) -> Vec<String> {
        vec![STREAM.to_owned()]
    }

    fn fetch(
        &mut self,
        queue: &Queue,
        stream: &str,
        position: Option<i64>,
        now_us: i64,
    ) -> Result<Next, Failure> {
        // One snapshot a round, and no two of one second: its name is its time.
        let last = position.map(|us| us.div_euclid(SECOND_US));
        if last.is_some_and(|last| last >= now_us.div_euclid(SECOND_US)) {
            return Ok(Next::UpToDate);
        }
        // What runs is claimed up to the moment before the server is asked, not after.
        let at = (self.clock)().max(now_us);
        let at = at.saturating_sub(at.rem_euclid(SECOND_US));
        let since = position.map(|last| at.saturating_sub(last) / SECOND_US);
        if let Some(since) = since.filter(|since| *since > self.settings.gc_threshold) {
            crate::out::warn(&format!(
                "nomad: the last snapshot is {since} s old, and the server forgets after {} s: the last \
                 part of what ended and was forgotten meanwhile is lost",
                self.settings.gc_threshold
            ));
        }
        let snapshot = self.snapshot()?;
        let time = format_rfc3339(at);
        let head = CollectBatch {
            stream: stream.to_owned(),
            source: self.settings.source.clone(),
            format: "nomad".to_owned(),
            machine: self.settings.machine.clone(),
            file: format!("{}.json", time.trim_end_matches('Z')),
            delimiter: None,
            from: position.map_or_else(|| time.clone(), format_rfc3339),
            until: time,
        };
        put(queue, &head, snapshot.to_string().as_bytes()).map(Next::Batch)
    }
}

/// What a snapshot says of the life of an allocation.
#[derive(Debug, PartialEq, Eq)]
struct Life {
    status: &'static str,
    start: Option<String>,
    end: Option<String>,
}

impl Life {
    /// By the tasks that count. The start is that of the one that started last: when a task starts
    /// again Nomad forgets when it did before, and the earliest of the others would then begin a second
    /// record over the same time. So a restart begins a record that touches no earlier sighting.
    fn of(allocation: &Value, tasks: &[String]) -> Self {
        let latest = |key: &str| {
            let states = tasks.iter().filter_map(|task| {
                let state = allocation.get("TaskStates")?.get(task)?;
                text(state, key).filter(|at| at != NEVER)
            });
            let moments = states.filter_map(|at| Some((micros(&at)?, at)));
            moments.max().map(|(_, at)| at)
        };
        let (start, finished) = (latest("StartedAt"), latest("FinishedAt"));
        let client_status = text(allocation, "ClientStatus").unwrap_or_default();
        let has_ended = matches!(client_status.as_str(), "complete" | "failed" | "lost");
        let status = match client_status.as_str() {
            "pending" => "starting",
            "running" => "running",
            // Of a node that does not answer nobody knows.
            "unknown" => "down",
            _ if has_ended && start.is_some() => "dead",
            "complete" => "complete",
            "failed" => "failed",
            _ => "error",
        };
        let is_dead = status == "dead";
        Self {
            status,
            start: start.filter(|_| matches!(status, "running" | "dead" | "down")),
            end: finished.filter(|_| is_dead),
        }
    }
}

/// The tasks that an allocation is there for: not those that prepare it, accompany it or tidy up.
fn main_tasks(job: &Value, allocation: &Value) -> Vec<String> {
    let own = text(allocation, "TaskGroup");
    // An old allocation belongs to an old version of its job, which it carries with it.
    let job = allocation
        .get("Job")
        .filter(|job| job.is_object())
        .unwrap_or(job);
    let groups = job.get("TaskGroups").and_then(Value::as_array);
    let groups = groups.into_iter().flatten();
    let group = groups.filter(|group| own.is_none() || text(group, "Name") == own);
    let tasks = group.flat_map(tasks_of).filter(|task| !has_hook(task));
    let names: Vec<String> = tasks.filter_map(|task| text(task, "Name")).collect();
    let states = allocation.get("TaskStates").and_then(Value::as_object);
    let is_there = |name: &String| states.is_some_and(|states| states.contains_key(name));
    if names.iter().any(is_there) {
        return names;
    }
    states.map_or_else(Vec::new, |states| states.keys().cloned().collect())
}

fn tasks_of(group: &Value) -> impl Iterator<Item = &Value> {
    let tasks = group.get("Tasks").and_then(Value::as_array);
    tasks.into_iter().flatten()
}

fn has_hook(task: &Value) -> bool {
    task.get("Lifecycle").is_some_and(Value::is_object)
}

/// What an allocation has: all of its tasks, and what they share.
fn allocated(allocation: &Value) -> Value {
    let has = allocation.get("AllocatedResources");
    let tasks = has
        .and_then(|has| has.get("Tasks"))
        .and_then(Value::as_object);
    let mut sums = [0_i64; 4];
    for task in tasks.into_iter().flat_map(Map::values) {
        let cores = task.pointer("/Cpu/ReservedCores").and_then(Value::as_array);
        let devices = task.get("Devices").and_then(Value::as_array);
        let gpus = devices.into_iter().flatten().filter(|one| is_gpu(one));
        let gpus = gpus.map(|one| {
            let ids = one.get("DeviceIDs").and_then(Value::as_array);
            count(ids.map_or(0, Vec::len))
        });
        let mine = [
            count(cores.map_or(0, Vec::len)),
            integer(task.pointer("/Cpu/CpuShares")),
            gpus.fold(0, i64::saturating_add),
            integer(task.pointer("/Memory/MemoryMB")),
        ];
        for (sum, value) in sums.iter_mut().zip(mine) {
            *sum = sum.saturating_add(value);
        }
    }
    let disk = integer(has.and_then(|has| has.pointer("/Shared/DiskMB")));
    resources(sums, disk)
}

/// What a job asks for that has no allocation yet.
fn requested(job: &Value) -> Value {
    let groups = job.get("TaskGroups").and_then(Value::as_array);
    let (mut sums, mut disk) = ([0_i64; 4], 0_i64);
    for group in groups.into_iter().flatten() {
        disk = disk.saturating_add(integer(group.pointer("/EphemeralDisk/SizeMB")));
        for task in tasks_of(group) {
            let devices = task.pointer("/Resources/Devices").and_then(Value::as_array);
            let gpus = devices.into_iter().flatten().filter(|one| is_gpu(one));
            let mine = [
                integer(task.pointer("/Resources/Cores")),
                0,
                gpus.fold(0, |sum, one| sum.saturating_add(integer(one.get("Count")))),
                integer(task.pointer("/Resources/MemoryMB")),
            ];
            for (sum, value) in sums.iter_mut().zip(mine) {
                *sum = sum.saturating_add(value);
            }
        }
    }
    resources(sums, disk)
}

fn resources([cores, shares, gpus, memory]: [i64; 4], disk: i64) -> Value {
    json!({
        "cpu_num": cores, "cpu_MHz": shares, "gpu_num": gpus, "memory_MB": memory, "disk_MB": disk,
    })
}

/// Of an allocation the kind stands in `Type`; of a request it is part of the name: `nvidia/gpu`.
fn is_gpu(device: &Value) -> bool {
    match text(device, "Type") {
        Some(kind) => kind == "gpu",
        None => text(device, "Name").is_some_and(|name| name.split('/').any(|part| part == "gpu")),
    }
}

/// µs since 1970 UTC; digits finer than µs are cut off.
fn micros(at: &str) -> Option<i64> {
    let Some((whole, rest)) = at.split_once('.') else {
        return parse_rfc3339(at);
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, zone) = rest.split_at_checked(digits)?;
    let fraction: String = fraction.chars().take(6).collect();
    let mut short = whole.to_owned();
    if !fraction.is_empty() {
        write!(short, ".{fraction}").ok()?;
    }
    parse_rfc3339(&format!("{short}{zone}"))
}

fn integer(value: Option<&Value>) -> i64 {
    value.and_then(Value::as_i64).unwrap_or(0).max(0)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn list<'a>(value: &'a Value, path: &str) -> Result<&'a Vec<Value>, Failure> {
    let list = value.as_array();
    list.ok_or_else(|| Failure::unreachable(format!("{path}: the answer is not a list")))
}

fn segment(path: &str, name: &str) -> String {
    let mut path = path.to_owned();
    percent_encode(name, &mut path);
    path
}

fn parsed(body: &[u8], path: &str) -> Result<Value, Failure> {
    serde_json::from_slice(body)
        .map_err(|error| Failure::unreachable(format!("{path}: the answer is not JSON: {error}")))
}

#[cfg(test)]
mod tests;
