//! Settings of a collector: one TOML file for each, `/etc/bank/collect/COLLECTOR.toml` unless named.
//!
//! Unknown keys are refused. What is read here is checked here, so that a collector starts with
//! settings that can work, and an error names file and key.

mod check;

use std::path::{Path, PathBuf};

use bank_api::text::{own_words, parse_duration, parse_rfc3339};
use serde::{Deserialize, Deserializer, de::Error as _};

use super::bounded;
use crate::fail::Failure;

/// Where settings lie unless they are named.
pub(crate) const FOLDER: &str = "/etc/bank/collect";
/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Collect {
    /// The folder of queue and state.
    pub(crate) folder: PathBuf,
    /// Seconds between two rounds of a loop.
    #[serde(default, deserialize_with = "some_span")]
    pub(crate) interval: Option<i64>,
    /// Most MiB that wait in the queue.
    #[serde(default = "Collect::queue_mib")]
    pub(crate) queue_mib: u64,
    /// Where HTTP goes; of all collectors but `slurm`.
    pub(crate) http: Option<Http>,
    /// Exactly one of these is there.
    pub(crate) slurm: Option<Slurm>,
    pub(crate) prometheus: Option<Prometheus>,
    pub(crate) nomad: Option<Nomad>,
    pub(crate) kubernetes: Option<Kubernetes>,
}

/// The server that is asked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Http {
    /// `http://host:port` or `https://host`, with a path before the API's own if it has one.
    pub(crate) url: String,
    /// File with the token; read before each round, for tokens are renewed.
    pub(crate) token_file: Option<PathBuf>,
    /// PEM file with the authorities to trust, in place of the public ones.
    pub(crate) ca_file: Option<PathBuf>,
    /// PEM file with the certificate that this program shows.
    pub(crate) cert_file: Option<PathBuf>,
    /// PEM file with its key.
    pub(crate) key_file: Option<PathBuf>,
    /// Seconds that a request may take.
    #[serde(default = "Http::timeout", deserialize_with = "span")]
    pub(crate) timeout: i64,
    /// How often a request is tried again.
    #[serde(default = "Http::retries")]
    pub(crate) retries: u32,
    /// Seconds before the first of these; each further wait is twice as long, with jitter.
    #[serde(default = "Http::retry_wait", deserialize_with = "span")]
    pub(crate) retry_wait: i64,
    /// Largest answer in MiB.
    #[serde(default = "Http::answer_mib")]
    pub(crate) answer_mib: u64,
}

/// `[slurm]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slurm {
    /// The program.
    #[serde(default = "Slurm::sacct")]
    pub(crate) sacct: PathBuf,
    /// The clusters, each with its own position.
    pub(crate) clusters: Vec<Cluster>,
    /// From where the first round reads, µs since 1970 UTC.
    #[serde(deserialize_with = "moment")]
    pub(crate) start: i64,
    /// Seconds that one call of `sacct` covers at most.
    #[serde(default = "Slurm::window", deserialize_with = "span")]
    pub(crate) window: i64,
    /// Seconds before the last seen that are read again: how late a job may reach the database.
    #[serde(default = "Slurm::overlap", deserialize_with = "span")]
    pub(crate) overlap: i64,
    /// Seconds that a call may take.
    #[serde(default = "Slurm::timeout", deserialize_with = "span")]
    pub(crate) timeout: i64,
    /// Most MiB of one call; with more it is made again for half the time.
    #[serde(default = "Slurm::batch_mib")]
    pub(crate) batch_mib: u64,
    /// Also the steps, for the processor time that only they have.
    #[serde(default)]
    pub(crate) steps: bool,
    /// What stands between two columns.
    #[serde(default = "Slurm::delimiter")]
    pub(crate) delimiter: String,
}

/// `[[slurm.clusters]]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cluster {
    /// As Slurm knows it.
    pub(crate) name: String,
    /// The source of its records; `slurm:NAME` unless named.
    pub(crate) source: Option<String>,
    /// The machine of records that name no cluster.
    pub(crate) machine: Option<String>,
}

/// `[prometheus]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prometheus {
    /// The source of its records.
    pub(crate) source: String,
    /// The machine of its records.
    pub(crate) machine: Option<String>,
    /// From where the first round reads, µs since 1970 UTC.
    #[serde(deserialize_with = "moment")]
    pub(crate) start: i64,
    /// Seconds that a sample stands for.
    #[serde(default = "Prometheus::step", deserialize_with = "span")]
    pub(crate) step: i64,
    /// Seconds of one batch: a multiple of the step.
    #[serde(default = "Prometheus::window", deserialize_with = "span")]
    pub(crate) window: i64,
    /// Seconds that samples may be late.
    #[serde(default = "Prometheus::delay", deserialize_with = "span")]
    pub(crate) delay: i64,
    /// Take answers that Prometheus itself calls incomplete.
    #[serde(default)]
    pub(crate) accept_warnings: bool,
    /// Cores that pods ask for.
    #[serde(default = "Prometheus::cpu")]
    pub(crate) cpu: String,
    /// Bytes that pods ask for.
    #[serde(default = "Prometheus::memory")]
    pub(crate) memory: String,
    /// GPUs that pods ask for; empty: none.
    #[serde(default = "Prometheus::gpu")]
    pub(crate) gpu: String,
    /// Labels of nodes, which name the kind of their GPUs; empty: none.
    #[serde(default = "Prometheus::nodes")]
    pub(crate) nodes: String,
    /// Annotations or labels of namespaces, which name user and group; empty: none.
    #[serde(default)]
    pub(crate) namespaces: String,
    /// Cores that pods may use at most; empty: none.
    #[serde(default = "Prometheus::cpu_limits")]
    pub(crate) cpu_limits: String,
    /// Bytes that pods may use at most; empty: none.
    #[serde(default = "Prometheus::memory_limits")]
    pub(crate) memory_limits: String,
    /// Replicas of deployments; empty: none.
    #[serde(default = "Prometheus::replicas")]
    pub(crate) replicas: String,
    /// Queries of one's own in place of all these.
    #[serde(default)]
    pub(crate) queries: Vec<Query>,
}

/// `[[prometheus.queries]]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the settings call it so")]
pub(crate) struct Query {
    /// What it is called here.
    pub(crate) name: String,
    /// The query, whose series have the labels `namespace` and `pod`.
    pub(crate) query: String,
    /// The source of its records; `SOURCE.NAME` unless named.
    pub(crate) source: Option<String>,
}

/// `[nomad]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nomad {
    /// The source of its records.
    pub(crate) source: String,
    /// The machine of its records.
    pub(crate) machine: Option<String>,
    /// The region that is asked for, where the server has several.
    pub(crate) region: Option<String>,
    /// Only these namespaces; all if empty.
    #[serde(default)]
    pub(crate) namespaces: Vec<String>,
    /// Not these.
    #[serde(default)]
    pub(crate) skip_namespaces: Vec<String>,
    /// Only jobs whose names begin so; all if empty.
    #[serde(default)]
    pub(crate) name_prefixes: Vec<String>,
    /// The key of a job's `Meta` that names its owner.
    #[serde(default = "Nomad::owner_meta")]
    pub(crate) owner_meta: String,
    /// The server's `job_gc_threshold` in seconds: what is dead for so long is forgotten.
    #[serde(default = "Nomad::gc_threshold", deserialize_with = "span")]
    pub(crate) gc_threshold: i64,
}

/// `[kubernetes]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kubernetes {
    /// The source of its records.
    pub(crate) source: String,
    /// The machine of its records.
    pub(crate) machine: Option<String>,
    /// Only pods of these namespaces; all if empty.
    #[serde(default)]
    pub(crate) namespaces: Vec<String>,
    /// Only pods with these labels, as Kubernetes writes a selector.
    #[serde(default)]
    pub(crate) label_selector: String,
}

impl Collect {
    fn queue_mib() -> u64 {
        1024
    }

    /// Most bytes that wait.
    pub(crate) fn queue_bytes(&self) -> u64 {
        self.queue_mib.saturating_mul(1 << 20)
    }

    /// The collector that these settings are for.
    pub(crate) fn name(&self) -> &'static str {
        let there = [
            (self.slurm.is_some(), "slurm"),
            (self.prometheus.is_some(), "prometheus"),
            (self.nomad.is_some(), "nomad"),
            (self.kubernetes.is_some(), "kubernetes"),
        ];
        let named = there.into_iter().find_map(|(is, name)| is.then_some(name));
        named.unwrap_or_default()
    }

    /// The streams that these settings name.
    pub(crate) fn streams(&self) -> Vec<String> {
        if let Some(slurm) = &self.slurm {
            return slurm.clusters.iter().map(|one| one.name.clone()).collect();
        }
        if let Some(prometheus) = &self.prometheus {
            return prometheus
                .queries
                .iter()
                .map(|one| one.name.clone())
                .collect();
        }
        let kubernetes = self.kubernetes.as_ref();
        kubernetes.map_or_else(Vec::new, |one| one.namespaces.clone())
    }

    /// Seconds between two rounds.
    pub(crate) fn interval_s(&self) -> i64 {
        let usual = if self.nomad.is_some() { 900 } else { 300 };
        self.interval.unwrap_or(usual)
    }
}

impl Http {
    fn timeout() -> i64 {
        60
    }

    fn retries() -> u32 {
        3
    }

    fn retry_wait() -> i64 {
        1
    }

    fn answer_mib() -> u64 {
        64
    }
}

impl Slurm {
    fn sacct() -> PathBuf {
        PathBuf::from("/usr/bin/sacct")
    }

    fn window() -> i64 {
        86_400
    }

    fn overlap() -> i64 {
        3600
    }

    fn timeout() -> i64 {
        600
    }

    fn batch_mib() -> u64 {
        256
    }

    fn delimiter() -> String {
        "\u{241f}".to_owned()
    }
}

impl Prometheus {
    fn step() -> i64 {
        900
    }

    fn window() -> i64 {
        6 * 3600
    }

    fn delay() -> i64 {
        600
    }

    fn cpu() -> String {
        r#"kube_pod_resource_request{unit="cores", node!=""} unless on(pod, namespace) kube_pod_status_unschedulable"#.to_owned()
    }

    fn memory() -> String {
        r#"kube_pod_resource_request{unit="bytes", node!=""} unless on(pod, namespace) kube_pod_status_unschedulable"#.to_owned()
    }

    fn gpu() -> String {
        r#"kube_pod_resource_request{resource=~"nvidia.com.*", node!=""} unless on(pod, namespace) kube_pod_status_unschedulable"#.to_owned()
    }

    fn nodes() -> String {
        r#"kube_node_labels{label_nvidia_com_gpu_product!=""}"#.to_owned()
    }

    fn cpu_limits() -> String {
        r#"kube_pod_resource_limit{unit="cores", node!=""}"#.to_owned()
    }

    fn memory_limits() -> String {
        r#"kube_pod_resource_limit{unit="bytes", node!=""}"#.to_owned()
    }

    fn replicas() -> String {
        "kube_deployment_status_replicas".to_owned()
    }
}

impl Nomad {
    fn owner_meta() -> String {
        "owner".to_owned()
    }

    fn gc_threshold() -> i64 {
        4 * 3600
    }
}

/// Reads and checks a file.
pub(crate) fn read(path: &Path) -> Result<Collect, Failure> {
    let text = bounded(path).map_err(|error| {
        Failure::usage(format!("cannot read settings: {}: {error}", path.display()))
            .hint("etc/collect contains a sample of each collector; --file names another file")
    })?;
    let wrong = |why: String| Failure::usage(format!("settings {}: {why}", path.display()));
    let settings: Collect = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| {
            text.get(..span.start)
                .map_or(1, |before| before.matches('\n').count() + 1)
        });
        let why = own_words(error.message());
        wrong(format!("line {line}: {why}"))
    })?;
    settings.check().map_err(wrong)?;
    Ok(settings)
}

/// A duration in seconds, as `15m` or `12:00:00`.
fn span<'de, D: Deserializer<'de>>(input: D) -> Result<i64, D::Error> {
    let text = String::deserialize(input)?;
    parse_duration(&text)
        .ok_or_else(|| D::Error::custom(format!("{text:?} is not a duration such as 15m or 12h")))
}

fn some_span<'de, D: Deserializer<'de>>(input: D) -> Result<Option<i64>, D::Error> {
    span(input).map(Some)
}

/// A day or a moment in UTC, as µs since 1970.
fn moment<'de, D: Deserializer<'de>>(input: D) -> Result<i64, D::Error> {
    let text = String::deserialize(input)?;
    parse_rfc3339(&text)
        .or_else(|| parse_rfc3339(&format!("{text}T00:00:00Z")))
        .ok_or_else(|| {
            D::Error::custom(format!(
                "{text:?} is not a moment such as \"2026-01-31\" or \"2026-01-31T12:00:00Z\""
            ))
        })
}

#[cfg(test)]
mod tests;
