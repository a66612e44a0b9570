//! Usage from Prometheus: `query_range`, window by window (`collectors.md` h.1 to h.4).
//!
//! A sample at `t` stands for the time from `t` to `t + step`. Windows lie on multiples of their length
//! since 1970 and samples on multiples of the step, both for ever the same, and a window asks for its
//! samples from its start to one step before its end: so windows touch, and none counts what another
//! counts. One that is asked for again gives the same records under the same identities. A window is
//! asked for when all of its samples can be there.
//!
//! With the queries of `requests` the batch is what the reader `openshift` takes; with queries of one's
//! own each is a stream of its own, and what the reader `prometheus` takes. Both are told the step.

use std::collections::BTreeMap;
use std::io::Write as _;

use bank_api::text::{format_rfc3339, percent_encode};
use bank_api::v1::CollectBatch;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::queue::Queue;
use super::round::{Next, Source, unusable};
use crate::client::fetch::Server;
use crate::config::collect::{Prometheus as Settings, Query};
use crate::fail::Failure;
use crate::out;

const SECOND_US: i64 = 1_000_000;
/// The stream of the requests of pods.
const REQUESTS: &str = "requests";
/// Labels of a node that its GPUs get.
const GPU_LABELS: [&str; 2] = [
    "label_nvidia_com_gpu_product",
    "label_nvidia_com_gpu_machine",
];

/// A server of the API of Prometheus.
pub(super) struct Prometheus {
    settings: Settings,
    server: Server,
}

/// A span of time, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    from: i64,
    to: i64,
}

impl Prometheus {
    pub(super) fn new(settings: Settings, server: Server) -> Self {
        Self { settings, server }
    }

    /// The series of a query, each as it came; `data.result` of the answer.
    fn series(&self, query: &str, window: Window) -> Result<Vec<Box<RawValue>>, Failure> {
        let step = self.settings.step;
        let mut target = "/api/v1/query_range?query=".to_owned();
        percent_encode(query, &mut target);
        let last = window.to.saturating_sub(step);
        let rest = format!("&start={}&end={last}&step={step}", window.from);
        target.push_str(&rest);
        let body = self.server.must(&target)?;
        let wrong = |why: String| {
            let query: String = query.chars().take(80).collect();
            Failure::unreachable(format!("the answer to {query:?}: {why}"))
        };
        let top: BTreeMap<String, Box<RawValue>> =
            serde_json::from_slice(&body).map_err(|error| wrong(error.to_string()))?;
        let text = |name: &str| top.get(name).map_or("null", |value| value.get());
        if text("status") != "\"success\"" {
            return Err(wrong(format!(
                "status {}: {}",
                text("status"),
                text("error")
            )));
        }
        if !matches!(text("warnings"), "null" | "[]") {
            let warnings: String = text("warnings").chars().take(300).collect();
            if !self.settings.accept_warnings {
                return Err(wrong(format!("it may be incomplete: {warnings}"))
                    .hint("`accept_warnings = true` accepts it nevertheless"));
            }
            out::warn(&format!("prometheus: {warnings}"));
        }
        let mut data: BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(text("data")).map_err(|error| wrong(error.to_string()))?;
        let kind = data.get("resultType").map_or("null", |value| value.get());
        if kind != "\"matrix\"" {
            return Err(wrong(format!("resultType {kind} is not \"matrix\"")));
        }
        let result = data.remove("result");
        let result = result.ok_or_else(|| wrong("no data.result".to_owned()))?;
        serde_json::from_str(result.get()).map_err(|error| wrong(error.to_string()))
    }

    /// One answer, as the reader `prometheus` takes it.
    fn own(&self, query: &Query, window: Window) -> Result<Vec<u8>, Failure> {
        let series = self.series(&query.query, window)?;
        let data = [("resultType", raw(&"matrix")?), ("result", raw(&series)?)];
        document(&[
            ("status", raw(&"success")?),
            ("step_s", raw(&self.settings.step)?),
            ("data", raw(&BTreeMap::from(data))?),
        ])
    }

    /// The requests of pods, as the reader `openshift` takes them.
    fn requests(&self, window: Window) -> Result<Vec<u8>, Failure> {
        let settings = &self.settings;
        let labels = |query: &str, key: &str| -> Result<Labels, Failure> {
            if query.is_empty() {
                return Ok(Labels::default());
            }
            Ok(labels_by(key, &self.series(query, window)?))
        };
        let namespaces = labels(&settings.namespaces, "namespace")?;
        let gpu = if settings.gpu.is_empty() {
            Vec::new()
        } else {
            self.series(&settings.gpu, window)?
        };
        let nodes = if gpu.is_empty() {
            Labels::default()
        } else {
            labels(&settings.nodes, "node")?
        };
        let named = |series: Vec<Box<RawValue>>, nodes: &Labels| -> Result<_, Failure> {
            let given = series.iter().map(|one| enriched(one, &namespaces, nodes));
            raw(&given.collect::<Result<Vec<_>, Failure>>()?)
        };
        let none = Labels::default();
        let cpu = named(self.series(&settings.cpu, window)?, &none)?;
        let memory = named(self.series(&settings.memory, window)?, &none)?;
        let mut parts = vec![
            ("start_date", raw(&second(window.from))?),
            ("end_date", raw(&second(window.to))?),
            ("step_s", raw(&settings.step)?),
            ("cpu_metrics", cpu),
            ("memory_metrics", memory),
            ("gpu_metrics", named(gpu, &nodes)?),
        ];
        for (key, query) in [
            ("cpu_limit_metrics", &settings.cpu_limits),
            ("memory_limit_metrics", &settings.memory_limits),
            ("replica_metrics", &settings.replicas),
        ] {
            if !query.is_empty() {
                parts.push((key, raw(&self.series(query, window)?)?));
            }
        }
        document(&parts)
    }

    fn head(&self, stream: &str, window: Window) -> CollectBatch {
        let settings = &self.settings;
        let query = settings.queries.iter().find(|one| one.name == stream);
        let source = query.map_or_else(
            || settings.source.clone(),
            |query| {
                let named = query.source.clone();
                named.unwrap_or_else(|| format!("{}.{}", settings.source, query.name))
            },
        );
        CollectBatch {
            stream: stream.to_owned(),
            source,
            format: if query.is_some() {
                "prometheus"
            } else {
                "openshift"
            }
            .to_owned(),
            machine: settings.machine.clone(),
            file: format!("{stream}-{}.json", second(window.from)),
            delimiter: None,
            from: second(window.from),
            until: second(window.to),
        }
    }

    /// The window behind a position; `None` if its samples cannot all be there yet.
    fn window(&self, position: Option<i64>, now_us: i64) -> Option<Window> {
        let settings = &self.settings;
        let at = position.unwrap_or(settings.start).div_euclid(SECOND_US);
        // The first window begins with the first sample that lies in it.
        let from = at.saturating_add((-at).rem_euclid(settings.step));
        let length = settings.window;
        let to = from
            .saturating_sub(from.rem_euclid(length))
            .saturating_add(length);
        let ready = to.saturating_add(settings.delay);
        (ready <= now_us.div_euclid(SECOND_US)).then_some(Window { from, to })
    }
}

impl Source for Prometheus {
    fn streams(&self) -> Vec<String> {
        if self.settings.queries.is_empty() {
            return vec![REQUESTS.to_owned()];
        }
        let queries = self.settings.queries.iter();
        queries.map(|query| query.name.clone()).collect()
    }

    fn fetch(
        &mut self,
        queue: &Queue,
        stream: &str,
        position: Option<i64>,
        now_us: i64,
    ) -> Result<Next, Failure> {
        let Some(window) = self.window(position, now_us) else {
            return Ok(Next::UpToDate);
        };
        let query = self.settings.queries.iter().find(|one| one.name == stream);
        let body = match query {
            Some(query) => self.own(query, window)?,
            None => self.requests(window)?,
        };
        put(queue, &self.head(stream, window), &body).map(Next::Batch)
    }
}

/// A batch of one document, in the queue.
pub(super) fn put(queue: &Queue, head: &CollectBatch, body: &[u8]) -> Result<u64, Failure> {
    let written = queue.begin(head, u64::MAX).and_then(|mut draft| {
        draft.write_all(body)?;
        draft.commit()
    });
    written.map_err(|error| unusable(&queue.folder().display().to_string(), &error))
}

/// Labels by the value of one of them.
type Labels = BTreeMap<String, Map<String, Value>>;

fn metric(series: &RawValue) -> Option<Map<String, Value>> {
    let parts: BTreeMap<String, Box<RawValue>> = serde_json::from_str(series.get()).ok()?;
    serde_json::from_str(parts.get("metric")?.get()).ok()
}

/// The labels of each node or namespace; of several series the last one that says something stands.
fn labels_by(key: &str, series: &[Box<RawValue>]) -> Labels {
    let mut all = Labels::new();
    for labels in series.iter().filter_map(|one| metric(one)) {
        let Some(name) = labels.get(key).and_then(Value::as_str) else {
            continue;
        };
        all.entry(name.to_owned())
            .or_default()
            .extend(labels.clone());
    }
    all
}

/// A series with what is known of its namespace and, of GPUs, of its node. Labels that it has stay.
fn enriched(
    series: &RawValue,
    namespaces: &Labels,
    nodes: &Labels,
) -> Result<Box<RawValue>, Failure> {
    let wrong = |error: serde_json::Error| Failure::unreachable(format!("a series: {error}"));
    let mut parts: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(series.get()).map_err(wrong)?;
    let mut labels = metric(series).unwrap_or_default();
    let known = |all: &Labels, key: &str, labels: &Map<String, Value>| {
        let name = labels.get(key).and_then(Value::as_str).unwrap_or_default();
        all.get(name).cloned().unwrap_or_default()
    };
    let node = known(nodes, "node", &labels);
    for label in GPU_LABELS {
        if let Some(value) = node.get(label) {
            labels.entry(label).or_insert_with(|| value.clone());
        }
    }
    for (label, value) in known(namespaces, "namespace", &labels) {
        if label.starts_with("annotation_") || label.starts_with("label_") {
            labels.entry(label).or_insert(value);
        }
    }
    parts.insert("metric".to_owned(), raw(&labels)?);
    raw(&parts)
}

/// A JSON object of ready parts, in the order of their names here.
fn document(parts: &[(&str, Box<RawValue>)]) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::from(*b"{");
    for (at, (name, value)) in parts.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let written = write!(text, "{comma}\n\"{name}\":{}", value.get());
        written.map_err(|error| Failure::internal(error.to_string()))?;
    }
    text.extend_from_slice(b"\n}\n");
    Ok(text)
}

fn raw<T: serde::Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>, Failure> {
    serde_json::value::to_raw_value(value)
        .map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))
}

fn second(s: i64) -> String {
    format_rfc3339(s.saturating_mul(SECOND_US))
}

#[cfg(test)]
mod tests;
