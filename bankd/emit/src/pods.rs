//! The two files of NERC about pods (`reports.md` 4, `collectors.md` h.3). One lists the requests and
//! durations of each pod; the other is an invoice of service units by project and kind. Both are made from
//! stored runs of samples, in exact arithmetic: nothing is rounded before it is printed.

use std::collections::BTreeMap;

use bank_core::decimal::Decimal;

use super::lines::cell;
use super::text;

mod invoice;

pub use invoice::{Invoice, Line, Rates};

/// The header of the list of pods.
pub const PODS: &str = "Namespace,Pod Start Time,Pod End Time,Duration (Hours),Pod Name,CPU Request,\
                        GPU Request,GPU Type,GPU Resource,Node,Node Model,Memory Request (GiB),\
                        Determining Resource,SU Type,SU Count\n";

/// The type of a GPU that nobody names.
const UNKNOWN_TYPE: &str = "GPU_UNKNOWN_TYPE";
/// The resource of a whole GPU.
const WHOLE_GPU: &str = "nvidia.com/gpu";
const A100_SXM4: &str = "NVIDIA-A100-SXM4-40GB";
/// Bytes of a GiB.
const GIB: i128 = 1 << 30;
/// Billionths of one.
const ONE: i128 = 1_000_000_000;
/// Digits of a count of service units at most.
const DIGITS: usize = 28;

/// Samples of a pod that follow each other with equal requests. Times are microseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// The namespace.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// Start.
    pub start: i64,
    /// End, exclusive.
    pub end: i64,
    /// The part that is not billed, such as an outage.
    pub ignored: i64,
    /// Its requested processors.
    pub cpu: Decimal,
    /// Its requested bytes of memory.
    pub memory: i64,
    /// GPUs; none where no metric of GPUs has the pod.
    pub gpus: Option<Decimal>,
    /// The type of that GPU.
    pub gpu_type: Option<String>,
    /// The resource that it is, such as `nvidia.com/gpu`.
    pub gpu_resource: Option<String>,
    /// The node.
    pub node: Option<String>,
    /// The node's model.
    pub node_model: Option<String>,
}

/// A kind of service units, in the order of an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// 1 core, 4 GiB.
    Cpu,
    /// 24 cores, 74 GiB, one A100.
    A100,
    /// 31 cores, 240 GiB, one A100 of the SXM4 kind.
    A100Sxm4,
    /// 48 cores, 192 GiB, one V100.
    V100,
    /// 8 cores, 64 GiB, a GPU of unknown type.
    UnknownGpu,
    /// 8 cores, 64 GiB, a part of a GPU.
    UnknownMig,
    /// A pod in a state that is billed to nobody.
    Unknown,
}

impl Kind {
    /// All of them in their order.
    pub const ALL: [Kind; 7] = [
        Kind::Cpu,
        Kind::A100,
        Kind::A100Sxm4,
        Kind::V100,
        Kind::UnknownGpu,
        Kind::UnknownMig,
        Kind::Unknown,
    ];

    /// Its name in both files.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Cpu => "OpenShift CPU",
            Kind::A100 => "OpenShift GPUA100",
            Kind::A100Sxm4 => "OpenShift GPUA100SXM4",
            Kind::V100 => "OpenShift GPUV100",
            Kind::UnknownGpu => "OpenShift Unknown GPU",
            Kind::UnknownMig => "OpenShift Unknown MIG GPU",
            // So spelled there.
            Kind::Unknown => "Openshift Unknown",
        }
    }

    /// From its name.
    pub fn parse(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Cores and GiB of memory that go with one unit.
    const fn size(self) -> (i128, i128) {
        match self {
            Kind::Cpu => (1, 4),
            Kind::A100 => (24, 74),
            Kind::A100Sxm4 => (31, 240),
            Kind::V100 => (48, 192),
            Kind::UnknownGpu | Kind::UnknownMig => (8, 64),
            Kind::Unknown => (1, 1),
        }
    }

    /// Whether a use of it is billed though nobody set a rate: at nothing.
    pub const fn is_free(self) -> bool {
        matches!(self, Kind::UnknownGpu | Kind::UnknownMig | Kind::Unknown)
    }
}

/// The number of units: a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Above the line, not below 0.
    pub over: i128,
    /// Under it, above 0.
    pub under: i128,
}

impl Count {
    const NONE: Count = Count { over: 0, under: 1 };

    fn is_less(self, other: Count) -> Option<bool> {
        let own = self.over.checked_mul(other.under)?;
        Some(own < other.over.checked_mul(self.under)?)
    }

    fn ceiling(self) -> Count {
        let rest = i128::from(self.over % self.under.max(1) > 0);
        Count {
            over: (self.over / self.under.max(1)).saturating_add(rest),
            under: 1,
        }
    }

    /// As a decimal of at most 28 digits, rounded half to even behind them.
    fn text(self) -> String {
        let under = self.under.max(1);
        let (whole, mut rest) = (self.over / under, self.over % under);
        let mut digits = whole.to_string();
        if rest == 0 {
            return digits;
        }
        let places = DIGITS.saturating_sub(if whole == 0 { 0 } else { digits.len() });
        digits.push('.');
        for _ in 0..places {
            rest = rest.saturating_mul(10);
            digits.push(char::from(
                b'0'.saturating_add(u8::try_from(rest / under).unwrap_or(0)),
            ));
            rest %= under;
            if rest == 0 {
                break;
            }
        }
        let twice = rest.saturating_mul(2);
        let is_odd = digits.ends_with(['1', '3', '5', '7', '9']);
        if twice > under || (twice == under && is_odd) {
            return raised(&digits);
        }
        digits
    }
}

/// A decimal with one more in its last place.
fn raised(digits: &str) -> String {
    let mut back: Vec<u8> = Vec::with_capacity(digits.len());
    let mut carry = true;
    for byte in digits.bytes().rev() {
        back.push(match byte {
            b'9' if carry => b'0',
            b'0'..=b'8' if carry => {
                carry = false;
                byte.saturating_add(1)
            }
            other => other,
        });
    }
    if carry {
        back.push(b'1');
    }
    let text: String = back.iter().rev().map(|byte| char::from(*byte)).collect();
    let text = text.trim_end_matches('0');
    text.trim_end_matches('.').to_owned()
}

/// The service units of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Units {
    /// Of which kind.
    pub kind: Kind,
    /// The number of units while it ran.
    pub count: Count,
    /// The resource that decides the number: `GPU`, `CPU` or `RAM`.
    pub by: &'static str,
}

impl Run {
    /// Its duration, without the ignored time.
    pub fn time(&self) -> i64 {
        let whole = self.end.saturating_sub(self.start);
        whole.saturating_sub(self.ignored).max(0)
    }

    /// Subtracts the part of it in these times, which are in order and disjoint.
    pub fn ignore(&mut self, times: &[(i64, i64)]) {
        let shared = |(from, to): &(i64, i64)| {
            let (from, to) = ((*from).max(self.start), (*to).min(self.end));
            to.saturating_sub(from).max(0)
        };
        self.ignored = times.iter().map(shared).fold(0, i64::saturating_add);
    }

    /// Its service units: none if its figures are out of range.
    pub fn units(&self) -> Option<Units> {
        let (cpu, memory) = (self.cpu.billionths().max(0), i128::from(self.memory.max(0)));
        let gpus = self.gpus.map_or(0, |gpus| gpus.billionths().max(0));
        let none = |kind, by| Units {
            kind,
            count: Count::NONE,
            by,
        };
        // A pod with a request for GPUs and without a node has no GPUs.
        if self.gpu_resource.is_some() && gpus == 0 {
            return Some(none(Kind::UnknownGpu, "GPU"));
        }
        if cpu == 0 || memory == 0 {
            return Some(none(Kind::Unknown, "CPU"));
        }
        let Some(kind) = self.kind(gpus) else {
            return Some(none(Kind::UnknownGpu, "GPU"));
        };
        let (cores, gib) = kind.size();
        let of = |over, under| Count { over, under };
        let cores_share = of(cpu, ONE.checked_mul(cores)?);
        let gpu_share = of(gpus, ONE);
        let memory_share = of(memory, GIB.checked_mul(gib)?);
        let (count, by) =
            if !gpu_share.is_less(cores_share)? && !gpu_share.is_less(memory_share)? && gpus > 0 {
                (gpu_share, "GPU")
            } else if !cores_share.is_less(memory_share)? {
                (cores_share, "CPU")
            } else {
                (memory_share, "RAM")
            };
        let count = if kind == Kind::Cpu {
            count
        } else {
            count.ceiling()
        };
        Some(Units { kind, count, by })
    }

    /// None where what is known of its GPU fits no kind.
    fn kind(&self, gpus: i128) -> Option<Kind> {
        let (resource, model) = (self.gpu_resource.as_deref(), self.gpu_type.as_deref());
        match (resource, model) {
            (None, _) if gpus == 0 => Some(Kind::Cpu),
            (Some(WHOLE_GPU), Some("NVIDIA-A100-40GB")) => Some(Kind::A100),
            (Some(WHOLE_GPU), Some(A100_SXM4)) => Some(Kind::A100Sxm4),
            (Some(WHOLE_GPU), Some("Tesla-V100-PCIE-32GB")) => Some(Kind::V100),
            (Some(WHOLE_GPU), Some(_)) => Some(Kind::UnknownGpu),
            (_, Some(A100_SXM4)) => Some(Kind::UnknownMig),
            _ => None,
        }
    }

    /// Names its GPU: as the metrics do, else as the map of nodes does, else as nobody does.
    pub fn name_gpu(&mut self, nodes: &BTreeMap<String, String>) {
        if self.gpus.is_some() && self.gpu_type.is_none() {
            let node = self.node.as_deref().unwrap_or_default();
            let known = nodes.get(node).map_or(UNKNOWN_TYPE, String::as_str);
            self.gpu_type = Some(known.to_owned());
        }
    }

    /// Whether another run goes on with it.
    fn goes_on(&self, next: &Run) -> bool {
        let requested = |run: &Run| (run.cpu, run.memory, run.gpus.unwrap_or_default());
        self.end == next.start
            && requested(self) == requested(next)
            && self.gpu_type == next.gpu_type
    }

    /// Its row in the list of pods; none where its figures are beyond what can be counted, or its times
    /// beyond the calendar.
    pub fn row(&self, is_safe: bool) -> Option<String> {
        let units = self.units()?;
        let time = |at| Some(text::time(at)?.get(..19)?.to_owned());
        let hours = i128::from(self.time());
        let gpus = self.gpus.unwrap_or_default();
        let gib = i128::from(self.memory.max(0)).checked_mul(10_000)?;
        let or = |value: &Option<String>, none: &str| value.clone().unwrap_or(none.to_owned());
        let cells = [
            self.namespace.clone(),
            time(self.start)?,
            time(self.end)?,
            fixed(text::nearest(hours, 360_000), 4),
            self.pod.clone(),
            text::decimal(self.cpu.billionths(), 9),
            text::decimal(gpus.billionths(), 9),
            or(&self.gpu_type, ""),
            or(&self.gpu_resource, ""),
            or(&self.node, "Unknown Node"),
            or(&self.node_model, "Unknown Model"),
            fixed(text::nearest(gib, GIB), 4),
            units.by.to_owned(),
            units.kind.word().to_owned(),
            units.count.text(),
        ];
        let cells: Vec<String> = cells.iter().map(|value| cell(value, is_safe)).collect();
        Some(cells.join(",") + "\n")
    }
}

/// A number of units of 10^-`places` with all its places.
fn fixed(value: i128, places: usize) -> String {
    let one = 10_i128
        .saturating_pow(u32::try_from(places).unwrap_or(0))
        .max(1);
    format!("{}.{:0places$}", value / one, value % one)
}

/// Times in order and disjoint: a time that is in several of them appears once.
pub fn apart(mut times: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    times.sort_unstable();
    let mut found: Vec<(i64, i64)> = Vec::with_capacity(times.len());
    for (from, to) in times {
        match found.last_mut().filter(|(_, last)| from <= *last) {
            Some((_, last)) => *last = to.max(*last),
            None => found.push((from, to)),
        }
    }
    found
}

/// The runs of a time in the order of both files: namespaces and pods as they appeared first, runs by
/// their times. Runs that go on with each other are one, what two of them have of the same time counts
/// once, and nothing counts outside of the time.
pub fn in_order(runs: Vec<Run>, (from, to): (i64, i64)) -> Vec<Run> {
    let mut spaces: BTreeMap<String, usize> = BTreeMap::new();
    let mut pods: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut all: Vec<((usize, usize), Run)> = Vec::with_capacity(runs.len());
    for mut run in runs {
        let (next_space, next_pod) = (spaces.len(), pods.len());
        let space = *spaces.entry(run.namespace.clone()).or_insert(next_space);
        let key = (run.namespace.clone(), run.pod.clone());
        let pod = *pods.entry(key).or_insert(next_pod);
        run.start = run.start.max(from);
        run.end = run.end.min(to);
        all.push(((space, pod), run));
    }
    all.sort_by_key(|(place, run)| (*place, run.start, run.end));
    let mut disjoint: Vec<((usize, usize), Run)> = Vec::with_capacity(all.len());
    for (place, mut run) in all {
        let before = disjoint.last_mut().filter(|(last, _)| *last == place);
        if let Some((_, before)) = before {
            run.start = run.start.max(before.end);
            if run.start < run.end && before.goes_on(&run) {
                before.end = run.end;
                continue;
            }
        }
        if run.start < run.end {
            disjoint.push((place, run));
        }
    }
    disjoint.into_iter().map(|(_, run)| run).collect()
}

#[cfg(test)]
mod tests;
