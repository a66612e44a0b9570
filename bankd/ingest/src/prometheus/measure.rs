//! Measure of a Prometheus series: processors, memory or GPUs, requested or used.

use crate::samples::Series;

/// The resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Cores.
    Cores,
    /// Bytes of memory.
    Bytes,
    /// GPUs.
    Gpus,
    /// Unknown.
    Other,
}

/// In which sense: of one kind the first counts that a source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sense {
    /// Requested: reserved for the pod.
    Request,
    /// Used, or unknown.
    Usage,
    /// At most.
    Limit,
}

/// Measure of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Measure {
    pub(super) kind: Kind,
    pub(super) sense: Sense,
}

impl Measure {
    /// By the labels `resource` and `unit`, else by the name of the metric, else by that of the file.
    pub(super) fn of(series: &Series<'_>, file: &str) -> Self {
        let label = |name: &str| series.label(name).unwrap_or_default().to_ascii_lowercase();
        let (resource, unit, name) = (label("resource"), label("unit"), label("__name__"));
        let file = file.to_ascii_lowercase();
        let texts = [&resource, &unit, &name, &file];
        let kind = texts.into_iter().find_map(|text| kind(text));
        let sense = [&name, &file].into_iter().find_map(|text| sense(text));
        Self {
            kind: kind.unwrap_or(Kind::Other),
            sense: sense.unwrap_or(Sense::Usage),
        }
    }
}

fn kind(text: &str) -> Option<Kind> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    // A metric of processor seconds may have "memory" in its path, but none of GPUs has "cpu".
    if has(&["gpu", "nvidia.com", "nvidia_com", "amd.com"]) {
        return Some(Kind::Gpus);
    }
    if has(&["cpu", "core"]) {
        return Some(Kind::Cores);
    }
    has(&["memory", "byte"]).then_some(Kind::Bytes)
}

fn sense(text: &str) -> Option<Sense> {
    let senses = [
        ("request", Sense::Request),
        ("limit", Sense::Limit),
        ("usage", Sense::Usage),
    ];
    let found = senses.into_iter().find(|(word, _)| text.contains(word));
    found.map(|(_, sense)| sense)
}

/// Whether a metric counts the replicas of deployments, not the use of pods.
pub(super) fn is_about_replicas(name: &str) -> bool {
    name.starts_with("kube_deployment_") && name.contains("replicas")
}

/// Whether a metric contains labels and annotations, and its value is meaningless.
pub(super) fn is_about_labels(name: &str) -> bool {
    ["_labels", "_annotations", "_info", "_owner"]
        .iter()
        .any(|end| name.ends_with(end))
}
