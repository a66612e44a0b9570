//! Files of `OpenShift` metrics: requests of pods every 15 minutes (`collectors.md` h.3), and where the
//! collector has them limits, replicas and annotations of namespaces (h.1). A job is a run of samples of
//! one pod that follow each other and state the same.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use bank_core::usage::kept;
use chrono::DateTime;

use super::beside::{self, Beside, Stated};
use super::job::{Extra, Figure, Found, Job, Record, State};
use super::json::Object;
use super::lines::document;
use super::number::Number;
use super::samples::{LABELS, NO_VALUE, Series, second, stated_step};
use super::{Reader, Sink, not_of_the_format};

/// Default duration of a sample in seconds, if a file has none.
const STEP_S: i64 = 900;

/// Reads a folder of `metrics-*.json`; other documents in it are left alone.
#[derive(Debug, Default)]
pub(super) struct OpenShift {
    pods: BTreeMap<(String, String), Pod>,
    beside: Beside,
}

/// The samples of a pod by time, and the pod's position in the input: pods are returned in the
/// order of appearance.
#[derive(Debug, Default)]
struct Pod {
    place: usize,
    line: BTreeMap<i64, Sample>,
}

/// Requests of a pod at one time. Later files, and later series of a file, overwrite.
#[derive(Clone, Debug, Default)]
struct Sample {
    cpu: Number,
    memory: Number,
    /// None where no series of GPUs has it.
    gpu: Option<Number>,
    gpu_type: Option<String>,
    /// The resource that the GPU is, such as `nvidia.com/gpu`.
    gpu_resource: Option<String>,
    node: Option<String>,
    node_model: Option<String>,
    /// The class of a notebook, by which some sites bill.
    class: Option<String>,
    /// The annotation `cf_pi` of its namespace.
    user: Option<String>,
    /// The annotation `cf_project_id` of its namespace.
    group: Option<String>,
    cpu_limit: Option<Number>,
    memory_limit: Option<Number>,
    replicas: Option<Number>,
    /// Its duration in seconds.
    step: i64,
    /// How much of it lasts until the next sample.
    lasts: i64,
    /// Samples of the input that it is made of.
    counts: u64,
}

impl Sample {
    fn asks_as(&self, other: &Sample) -> bool {
        (self.cpu, self.memory, self.gpus()) == (other.cpu, other.memory, other.gpus())
            && (self.cpu_limit, self.memory_limit) == (other.cpu_limit, other.memory_limit)
            && (self.replicas, self.step) == (other.replicas, other.step)
            && (&self.gpu_type, &self.user, &self.group)
                == (&other.gpu_type, &other.user, &other.group)
    }

    /// Adds what lists beside the requests state; labels of its own series go first.
    fn complete(&mut self, stated: Stated) {
        self.cpu_limit = stated.cpu_limit;
        self.memory_limit = stated.memory_limit;
        self.replicas = stated.replicas;
        self.user = self.user.take().or(stated.pi);
        self.group = self.group.take().or(stated.project);
    }

    fn gpus(&self) -> Number {
        self.gpu.unwrap_or_default()
    }

    /// Stored attributes beside the figures of a job, unchanged.
    fn attributes(&self, namespace: &str, pod: &str) -> BTreeMap<String, String> {
        let number = |number: Option<Number>| number.map(|number| number.to_string());
        // A namespace without an annotation stands for itself (`collectors.md` h.1).
        let noted = |note: &Option<String>| note.clone().or_else(|| Some(namespace.to_owned()));
        let all = [
            (kept::POD, Some(pod.to_owned())),
            (kept::CPU_REQUEST, Some(self.cpu.to_string())),
            (kept::MEMORY_REQUEST, Some(self.memory.to_string())),
            (kept::GPU_REQUEST, number(self.gpu)),
            (kept::GPU_TYPE, self.gpu_type.clone()),
            (kept::GPU_RESOURCE, self.gpu_resource.clone()),
            (kept::NODE, self.node.clone()),
            (kept::NODE_MODEL, self.node_model.clone()),
            (kept::POD_CLASS, self.class.clone()),
            (kept::CF_PI, noted(&self.user)),
            (kept::CF_PROJECT, noted(&self.group)),
            (kept::CPU_LIMIT, number(self.cpu_limit)),
            (kept::MEMORY_LIMIT, number(self.memory_limit)),
            (kept::REPLICAS, number(self.replicas)),
            (kept::SAMPLE_S, Some(self.step.to_string())),
        ];
        let all_known = all
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        all_known.collect()
    }
}

impl Reader for OpenShift {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let bytes = document(input)?;
        let text = String::from_utf8_lossy(&bytes);
        let whole = Object::parse(&text).ok_or_else(|| not_of_the_format("no JSON object"))?;
        let stated = stated_step(&whole).and_then(|step| i64::try_from(step.as_whole()?).ok());
        let step = stated.unwrap_or(STEP_S);
        for (key, what) in [
            ("cpu_metrics", What::Cpu),
            ("memory_metrics", What::Memory),
            ("gpu_metrics", What::Gpu),
        ] {
            let mut number = 0_u64;
            let read = whole.each(key, |raw| {
                number = number.saturating_add(1);
                let taken = Series::read(raw).and_then(|series| {
                    self.take(&series, what, step)?;
                    Ok(series.without_value)
                });
                let (counts, found) = match taken {
                    Ok(0) => return Ok(()),
                    Ok(counts) => (counts, Found::Skipped(NO_VALUE.into())),
                    Err(why) => (1, Found::Malformed(format!("{key}: {why}"))),
                };
                let record = Record::new(number, raw.get().as_bytes(), found);
                sink(Record { counts, ..record })
            });
            read.unwrap_or(Ok(()))?;
        }
        for key in beside::KEYS {
            let mut number = 0_u64;
            let read = whole.each(key, |raw| {
                number = number.saturating_add(1);
                let taken = Series::read(raw).and_then(|series| self.beside.take(key, &series));
                let (counts, found) = match taken {
                    Ok(counts) => (counts, Found::Skipped(LABELS.into())),
                    Err(why) => (1, Found::Malformed(format!("{key}: {why}"))),
                };
                let record = Record::new(number, raw.get().as_bytes(), found);
                sink(Record { counts, ..record })
            });
            read.unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    fn finish(&mut self, sink: &mut Sink<'_>) -> io::Result<Vec<Extra>> {
        let mut pods: Vec<_> = std::mem::take(&mut self.pods).into_iter().collect();
        pods.sort_by_key(|(_, pod)| pod.place);
        let mut days: BTreeMap<String, [Number; 3]> = BTreeMap::new();
        let mut number = 0_u64;
        for ((namespace, pod), Pod { line, .. }) in &mut pods {
            let mut next = i64::MAX;
            for (at, sample) in line.iter_mut().rev() {
                sample.complete(self.beside.of(namespace, pod, *at));
                sample.lasts = sample.step.min(next.saturating_sub(*at));
                next = *at;
            }
            for run in runs(line) {
                number = number.saturating_add(1);
                let found = match job(namespace, pod, &run) {
                    Some(job) => Found::Jobs(vec![job]),
                    None => Found::Malformed("a figure beyond the supported range".to_owned()),
                };
                let record = Record::new(number, b"", found);
                let counts = run.counts;
                sink(Record { counts, ..record })?;
            }
            for (at, sample) in &*line {
                add_to_day(&mut days, *at, sample);
            }
        }
        let by_day = days.into_iter().map(|(day, [core, byte, gpu])| {
            let figures = [("core_s", core), ("byte_s", byte), ("gpu_s", gpu)];
            let figures = figures.map(|(name, value)| (name.to_owned(), Figure::Number(value)));
            (day, Figure::Map(figures.into_iter().collect()))
        });
        let pods = u64::try_from(pods.len()).unwrap_or(u64::MAX);
        let extra = |key, value| Extra { key, value };
        Ok(vec![
            extra("distinct_pods", Figure::Number(Number::whole(pods))),
            extra("by_day", Figure::Map(by_day.collect())),
        ])
    }
}

/// Subject of a series.
#[derive(Clone, Copy)]
enum What {
    Cpu,
    Memory,
    Gpu,
}

impl OpenShift {
    fn take(&mut self, series: &Series<'_>, what: What, step: i64) -> Result<(), String> {
        let label = |name: &str| series.label(name);
        let namespace = label("namespace").ok_or("a series without a namespace")?;
        let pod = label("pod").ok_or("a series without a pod")?;
        let (class, node) = (label(kept::POD_CLASS), label("node"));
        let next = self.pods.len();
        let pod = self.pods.entry((namespace, pod)).or_insert_with(|| Pod {
            place: next,
            ..Pod::default()
        });
        for (at, value) in &series.samples {
            let at = second(*at)?;
            let sample = pod.line.entry(at).or_default();
            sample.counts = sample.counts.saturating_add(1);
            sample.step = step;
            sample.user = series.user().or(sample.user.take());
            sample.group = series.group().or(sample.group.take());
            sample.node = node.clone().or(sample.node.take());
            match what {
                What::Cpu => (sample.cpu, sample.class) = (*value, class.clone()),
                What::Memory => sample.memory = *value,
                What::Gpu => {
                    sample.gpu = Some(*value);
                    sample.gpu_type = label("label_nvidia_com_gpu_product");
                    sample.gpu_resource = label("resource");
                    sample.node_model = label("label_nvidia_com_gpu_machine");
                }
            }
        }
        Ok(())
    }
}

/// Samples that follow each other with equal requests. Samples of windows with different grids are closer than
/// they last: each lasts until the next one.
struct Run {
    start: i64,
    end: i64,
    requested: Sample,
    counts: u64,
}

fn runs(line: &BTreeMap<i64, Sample>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (at, sample) in line {
        let end = at.saturating_add(sample.lasts);
        match runs.last_mut() {
            Some(run) if run.end == *at && run.requested.asks_as(sample) => {
                run.end = end;
                run.counts = run.counts.saturating_add(sample.counts);
            }
            _ => runs.push(Run {
                start: *at,
                end,
                requested: sample.clone(),
                counts: sample.counts,
            }),
        }
    }
    runs
}

fn job(namespace: &str, pod: &str, run: &Run) -> Option<Job> {
    let wall = Number::whole(run.end.checked_sub(run.start)?);
    let requested = &run.requested;
    let mut job = Job {
        id: format!("{namespace}/{pod}"),
        start_us: run.start.checked_mul(1_000_000)?,
        end_us: run.end.checked_mul(1_000_000)?,
        wall,
        user: requested.user.clone(),
        account: Some(namespace.to_owned()),
        group: requested.group.clone(),
        name: Some(pod.to_owned()),
        state_word: Some("sampled".to_owned()),
        state: State::Running,
        procs: Some(requested.cpu),
        memory_bytes: Some(requested.memory),
        gpus: Some(requested.gpus()),
        gpu_type: requested.gpu_type.clone(),
        flags: vec!["sampled"],
        attributes: requested.attributes(namespace, pod),
        ..Job::default()
    };
    job.add("wall_s", wall);
    job.add("core_s", requested.cpu.times(wall)?);
    job.add("byte_s", requested.memory.times(wall)?);
    job.add("gpu_s", requested.gpus().times(wall)?);
    Some(job)
}

/// Adds a sample to its UTC day.
fn add_to_day(days: &mut BTreeMap<String, [Number; 3]>, at: i64, sample: &Sample) {
    let Some(time) = DateTime::from_timestamp(at, 0) else {
        return;
    };
    let sums = days.entry(time.format("%Y-%m-%d").to_string()).or_default();
    let step = Number::whole(sample.lasts);
    for (sum, value) in sums
        .iter_mut()
        .zip([sample.cpu, sample.memory, sample.gpus()])
    {
        let grown = value.times(step).and_then(|used| sum.plus(used));
        *sum = grown.unwrap_or(*sum);
    }
}
