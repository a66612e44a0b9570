//! Answers of Prometheus: one sampled use for each namespace, pod and hour (`collectors.md` h.2,
//! h.4). Several files are one source with combined metrics: cores of one, memory of another,
//! annotations of a third.

mod measure;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

use bank_core::usage::kept;
use serde_json::value::RawValue;

use self::measure::{Kind, Measure, Sense, is_about_labels, is_about_replicas};
use super::beside::{self, Beside};
use super::job::{Extra, Figure, Found, Job, Record, State};
use super::json::{Object, each};
use super::lines::document;
use super::number::Number;
use super::samples::{LABELS, NO_VALUE, Notes, Series, earlier, second, stated_step};
use super::spans::Spans;
use super::{Reader, Sink, not_of_the_format};

/// Duration of a sample in seconds, if a series has only one.
const STEP_S: i64 = 60;

/// Seconds of an hour.
const HOUR_S: i128 = 3_600;

/// Places to which a mean is cut: as fine as a command of the ledger has it.
const PLACES: u8 = 9;

/// The annotations of a namespace with its owner and its project.
const WHO: [(&str, &str); 3] = [
    ("annotation_cf_pi", "annotation_cf_project_id"),
    ("label_cf_pi", "label_cf_project_id"),
    ("cf_pi", "cf_project_id"),
];

const NO_LIST: &str = "no list of series at data.result";

/// Namespace, and pod or node.
type Key = (String, String);

/// Reads the envelope of a `query_range`, or the bare list in it.
#[derive(Debug, Default)]
pub(super) struct Prometheus {
    series: u64,
    /// By pod and hour since 1970.
    pods: BTreeMap<(Key, i128), Pod>,
    /// Labels and annotations of pods, and of namespaces under an empty pod.
    notes: BTreeMap<Key, Notes>,
    /// Replicas of deployments.
    beside: Beside,
    measures: BTreeSet<Measure>,
    /// The times that the files so far have of each series.
    known: BTreeMap<Identity, Spans>,
    /// Those of this file.
    fresh: BTreeMap<Identity, Spans>,
}

/// A series in all files: its pod, its measure, and its other labels.
type Identity = (Key, Measure, u64);

/// Samples of a pod in an hour.
#[derive(Debug)]
struct Pod {
    start: Number,
    end: Number,
    /// The times of its samples, whatever they measure.
    seen: Spans,
    /// The sum of each measure over its time.
    used: BTreeMap<Measure, Number>,
    gpu_type: Option<String>,
    samples: u64,
}

impl Reader for Prometheus {
    fn file(&mut self, name: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let bytes = document(input)?;
        let text = String::from_utf8_lossy(&bytes);
        let (series, stated) = result(&text)?;
        let mut number = 0_u64;
        let read = each(series, |raw| {
            number = number.saturating_add(1);
            self.series = self.series.saturating_add(1);
            let taken = Series::read(raw).and_then(|series| self.take(&series, name, stated));
            match taken {
                Ok((_, 0)) => {}
                Ok((label, counts)) => {
                    let found = Found::Skipped(label.into());
                    let record = Record::new(number, raw.get().as_bytes(), found);
                    sink(Record { counts, ..record })?;
                }
                Err(why) => {
                    let found = Found::Malformed(why);
                    sink(Record::new(number, raw.get().as_bytes(), found))?;
                }
            }
            Ok(())
        });
        for (series, spans) in std::mem::take(&mut self.fresh) {
            self.known.entry(series).or_default().merge(spans);
        }
        read.ok_or_else(|| not_of_the_format(NO_LIST))?
    }

    fn finish(&mut self, sink: &mut Sink<'_>) -> io::Result<Vec<Extra>> {
        let mut by_pod: BTreeMap<String, BTreeMap<&'static str, Number>> = BTreeMap::new();
        let pods = std::mem::take(&mut self.pods);
        for (((key, _), seen), number) in pods.iter().zip(1..) {
            let name = format!("{}/{}", key.0, key.1);
            let found = match self.job(&name, key, seen) {
                Some(job) => {
                    let sums = by_pod.entry(name).or_default();
                    for (quantity, value) in self.quantities(seen) {
                        let sum = sums.entry(quantity).or_default();
                        *sum = sum.plus(value).unwrap_or(*sum);
                    }
                    Found::Jobs(vec![job])
                }
                None => Found::Malformed("a figure beyond the supported range".to_owned()),
            };
            let record = Record::new(number, b"", found);
            let counts = seen.samples;
            sink(Record { counts, ..record })?;
        }
        let figure = |sums: BTreeMap<&'static str, Number>| {
            if let Some(value) = sums.get("value_s") {
                return Figure::Number(*value);
            }
            let sums = sums.into_iter();
            let sums = sums.map(|(name, value)| (name.to_owned(), Figure::Number(value)));
            Figure::Map(sums.collect())
        };
        let by_pod = by_pod.into_iter().map(|(name, sums)| (name, figure(sums)));
        let extra = |key, value| Extra { key, value };
        Ok(vec![
            extra("series", Figure::Number(Number::whole(self.series))),
            extra("by_pod", Figure::Map(by_pod.collect())),
        ])
    }
}

impl Prometheus {
    /// Adds a series to its pod. Series of nodes have no pod, and are identified by their node.
    /// Returns the number of samples that count nothing, with their label.
    fn take(
        &mut self,
        series: &Series<'_>,
        file: &str,
        stated: Option<Number>,
    ) -> Result<(&'static str, u64), String> {
        if is_about_replicas(&series.label("__name__").unwrap_or_default()) {
            let counts = self.beside.take(beside::REPLICAS, series)?;
            return Ok((LABELS, counts));
        }
        let pod = series.label("pod").or_else(|| series.label("node"));
        let key = (
            series.label("namespace").unwrap_or_default(),
            pod.unwrap_or_default(),
        );
        let notes = series.notes();
        if !notes.is_empty() {
            self.notes.entry(key.clone()).or_default().extend(notes);
        }
        let count = u64::try_from(series.samples.len()).unwrap_or(u64::MAX);
        if is_about_labels(&series.label("__name__").unwrap_or_default()) {
            return Ok((LABELS, count.saturating_add(series.without_value)));
        }
        if !series.is_in_order {
            return Err("samples that are not in the order of their times".to_owned());
        }
        // A sample without a value is one too: the others do not last longer because of it.
        let step = stated.or(series.distance);
        let step = step.unwrap_or(Number::whole(STEP_S));
        let measure = Measure::of(series, file);
        let identity = (key.clone(), measure, series.identity());
        let known = self.known.remove(&identity).unwrap_or_default();
        let mut fresh = self.fresh.remove(&identity).unwrap_or_default();
        let taken = self.samples(series, (&key, measure, step), &known, &mut fresh);
        self.known.insert(identity.clone(), known);
        self.fresh.insert(identity, fresh);
        taken.map(|()| (NO_VALUE, series.without_value))
    }

    /// Adds the samples of a series to its pod. Of a sample only the time counts that no earlier file has of this
    /// series: windows may overlap.
    fn samples(
        &mut self,
        series: &Series<'_>,
        (key, measure, step): (&Key, Measure, Number),
        known: &Spans,
        fresh: &mut Spans,
    ) -> Result<(), String> {
        for (at, value) in &series.samples {
            let (pod, [from, to]) = self.pod(key, *at, step)?;
            pod.samples = pod.samples.saturating_add(1);
            pod.gpu_type = pod.gpu_type.take().or_else(|| gpu_type(series));
            pod.seen.add(from, to);
            let missing = known.missing(from, to);
            let is_new = missing == to.saturating_sub(from);
            let time = if is_new {
                step
            } else {
                Number::seconds(missing)
            };
            fresh.add(from, to);
            let used = pod.used.entry(measure).or_default();
            let value = value.times(time).and_then(|value| used.plus(value));
            *used = value.ok_or_else(beyond)?;
            self.measures.insert(measure);
        }
        Ok(())
    }

    /// The pod in the hour of a sample, with its time stretched over the sample, and the sample's time.
    fn pod(&mut self, key: &Key, at: Number, step: Number) -> Result<(&mut Pod, [i64; 2]), String> {
        let hour = at.cut(0).as_whole().ok_or_else(beyond)?.div_euclid(HOUR_S);
        let end = at.plus(step).ok_or_else(beyond)?;
        // A time beyond the range of microseconds is invalid.
        let from = at.as_microseconds().ok_or_else(beyond)?;
        let to = end.as_microseconds().ok_or_else(beyond)?;
        let pod = self.pods.entry((key.clone(), hour)).or_insert(Pod {
            start: at,
            end,
            seen: Spans::default(),
            used: BTreeMap::new(),
            gpu_type: None,
            samples: 0,
        });
        pod.start = earlier(pod.start, at);
        pod.end = later(pod.end, end);
        Ok((pod, [from, to]))
    }

    /// Quantities of a pod: the value of a source with one measure; else cores, bytes and GPUs.
    fn quantities(&self, seen: &Pod) -> Vec<(&'static str, Number)> {
        if self.measures.len() == 1 {
            let value = seen.used.values().next().copied();
            return value.map(|value| ("value_s", value)).into_iter().collect();
        }
        [
            ("core_s", Kind::Cores),
            ("byte_s", Kind::Bytes),
            ("gpu_s", Kind::Gpus),
        ]
        .into_iter()
        .filter_map(|(name, kind)| Some((name, seen.of(kind)?)))
        .collect()
    }

    fn job(&self, name: &str, key: &Key, seen: &Pod) -> Option<Job> {
        let wall = seen.wall();
        let space = self.notes.get(&(key.0.clone(), String::new()));
        let own = self.notes.get(key);
        let note = |name: &str| {
            let mut notes = [own, space].into_iter().flatten();
            notes.find_map(|notes| notes.get(name))
        };
        let who = |place: fn(&(&'static str, &'static str)) -> &'static str| {
            WHO.iter().find_map(|names| note(place(names))).cloned()
        };
        let mean = |kind, places| seen.of(kind)?.over(wall, places);
        let cores = seen.of(Kind::Cores);
        let mut job = Job {
            id: name.to_owned(),
            start_us: seen.start.as_microseconds()?,
            end_us: seen.end.as_microseconds()?,
            wall,
            account: Some(key.0.clone()).filter(|name| !name.is_empty()),
            user: who(|names| names.0),
            group: who(|names| names.1),
            name: Some(key.1.clone()).filter(|name| !name.is_empty()),
            procs: cores.and_then(|used| used.mean_over(wall)),
            memory_bytes: mean(Kind::Bytes, 0),
            gpus: mean(Kind::Gpus, PLACES),
            gpu_type: seen.gpu_type.clone(),
            state_word: Some("sampled".to_owned()),
            state: State::Running,
            flags: vec!["sampled"],
            ..Job::default()
        };
        for notes in [own, space].into_iter().flatten() {
            for (name, value) in notes {
                let attribute = job.attributes.entry(name.clone());
                attribute.or_insert_with(|| value.clone());
            }
        }
        let stated = self.stated(key, seen, [&job.user, &job.group]);
        job.attributes.extend(stated);
        for (name, value) in self.quantities(seen) {
            job.add(name, value);
        }
        job.add("wall_s", wall);
        Some(job)
    }
}

impl Prometheus {
    /// Attributes of a pod by the bank's names: the annotations of its namespace, which stands for itself
    /// without them, its limits, and the replicas of its deployment.
    fn stated(&self, key: &Key, seen: &Pod, who: [&Option<String>; 2]) -> Vec<(String, String)> {
        let (namespace, pod) = key;
        let [pi, project] = who;
        let or_itself = |note: &Option<String>| match note {
            None if namespace.is_empty() => None,
            None => Some(namespace.clone()),
            Some(note) => Some(note.clone()),
        };
        let limit = |kind, places| {
            let sense = Sense::Limit;
            let used = seen.used.get(&Measure { kind, sense })?;
            Some(used.over(seen.wall(), places)?.to_string())
        };
        let at = second(seen.start).ok();
        let replicas = at.and_then(|at| self.beside.replicas(namespace, pod, at));
        let all = [
            (kept::CF_PI, or_itself(pi)),
            (kept::CF_PROJECT, or_itself(project)),
            (kept::CPU_LIMIT, limit(Kind::Cores, PLACES)),
            (kept::MEMORY_LIMIT, limit(Kind::Bytes, 0)),
            (kept::REPLICAS, replicas.map(|number| number.to_string())),
        ];
        let known = |(name, value): (&str, Option<String>)| Some((name.to_owned(), value?));
        all.into_iter().filter_map(known).collect()
    }
}

impl Pod {
    /// The seconds in which it was seen.
    fn wall(&self) -> Number {
        Number::seconds(self.seen.length())
    }

    /// The value of a kind that counts: the request, else the usage, else the limit.
    fn of(&self, kind: Kind) -> Option<Number> {
        let mut used = self.used.iter();
        used.find(|(measure, _)| measure.kind == kind)
            .map(|(_, used)| *used)
    }
}

fn gpu_type(series: &Series<'_>) -> Option<String> {
    let names = ["label_nvidia_com_gpu_product", "gpu_type", "modelName"];
    names.iter().find_map(|name| series.label(name))
}

fn beyond() -> String {
    "a figure beyond the supported range".to_owned()
}

/// The text of the list of series, in the envelope or bare, and the step of the envelope.
fn result(text: &str) -> io::Result<(&str, Option<Number>)> {
    if text.trim_start().starts_with('[') {
        let bare: &RawValue =
            serde_json::from_str(text).map_err(|e| not_of_the_format(e.to_string()))?;
        return Ok((bare.get(), None));
    }
    let whole = Object::parse(text).ok_or_else(|| not_of_the_format("no JSON"))?;
    if whole.text("status").as_deref() == Some("error") {
        let why = whole.text("error").unwrap_or_default();
        return Err(not_of_the_format(format!("an error of Prometheus: {why}")));
    }
    let list = whole.object("data").and_then(|data| data.raw("result"));
    let list = list.ok_or_else(|| not_of_the_format(NO_LIST))?;
    Ok((list, stated_step(&whole)))
}

/// The greater of two.
fn later(one: Number, other: Number) -> Number {
    if earlier(one, other) == one {
        other
    } else {
        one
    }
}
