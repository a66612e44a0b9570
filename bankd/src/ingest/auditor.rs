//! AUDITOR's records as a JSON list, or one object after the other (`collectors.md` i).

use std::io::{self, BufRead};

use serde_json::value::RawValue;

use super::job::{Found, Job, Label, Record, State};
use super::json::Object;
use super::lines::document;
use super::number::Number;
use super::text::{known, rfc3339};
use super::{Reader, Sink, not_of_the_format};

/// Reads records.
#[derive(Debug, Default)]
pub(super) struct Auditor;

impl Reader for Auditor {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let bytes = document(input)?;
        let text = String::from_utf8_lossy(&bytes);
        let records = if text.trim_start().starts_with('[') {
            serde_json::from_str::<Vec<&RawValue>>(&text)
        } else {
            serde_json::Deserializer::from_str(&text)
                .into_iter()
                .collect()
        };
        let records = records.map_err(|e| not_of_the_format(e.to_string()))?;
        for (record, number) in records.into_iter().zip(1..) {
            let raw = record.get();
            let read = Object::parse(raw).ok_or_else(|| "a record that is no object".to_owned());
            let found = match read.and_then(|record| judged(&record)) {
                Ok(Ok(job)) => Found::Jobs(vec![job]),
                Ok(Err(label)) => Found::Skipped(label),
                Err(why) => Found::Malformed(why),
            };
            sink(Record::new(number, raw.as_bytes(), found))?;
        }
        Ok(())
    }
}

fn judged(record: &Object<'_>) -> Result<Result<Job, Label>, String> {
    let Some(stop) = record.text("stop_time").filter(|stop| !stop.is_empty()) else {
        return Ok(Err("not_ended".into()));
    };
    let start = record.text("start_time").unwrap_or_default();
    let time = |text: &str, what: &str| {
        let at = rfc3339(text);
        at.ok_or_else(|| format!("{what}: {text:?} is no time with a zone"))
    };
    let (start_us, end_us) = (time(&start, "start_time")?, time(&stop, "stop_time")?);
    if end_us < start_us {
        return Err("stop_time: before start_time".to_owned());
    }
    filled(record, start_us, end_us).map(Ok)
}

/// A record whose times are known, in microseconds, as the job that it is.
pub(crate) fn job(record: &str, start_us: i64, end_us: i64) -> Result<Job, String> {
    let record = Object::parse(record).ok_or("a record that is no object")?;
    filled(&record, start_us, end_us)
}

fn filled(record: &Object<'_>, start_us: i64, end_us: i64) -> Result<Job, String> {
    let meta = record.object("meta").unwrap_or_default();
    let first = |names: &[&str]| names.iter().find_map(|name| value(&meta, name));
    let status = first(&["status"]);
    let account = first(&["group_id", "group", "namespace"]);
    let mut job = Job {
        id: record.text("record_id").ok_or("record_id: missing")?,
        start_us,
        end_us,
        wall: Number::seconds(end_us.saturating_sub(start_us)),
        user: first(&["user_id", "user"]),
        group: account.clone(),
        account,
        cluster: first(&["site_id", "site"]),
        state: state(status.as_deref()),
        state_word: status,
        ..Job::default()
    };
    let sums = Sums::of(record, job.wall)?;
    job.procs = sums.procs;
    job.gpus = sums.gpus;
    job.cpu = sums.cpu;
    job.add("wall_s", job.wall);
    job.quantities.extend(sums.quantities);
    Ok(job)
}

/// The first value of a key of `meta`.
fn value(meta: &Object<'_>, name: &str) -> Option<String> {
    let values = meta.list(name)?;
    let first: String = serde_json::from_str(values.first()?.get()).ok()?;
    known(&first)
}

fn state(status: Option<&str>) -> State {
    match status.map(str::to_ascii_lowercase).as_deref() {
        Some("completed") => State::Completed,
        Some("failed") => State::Failed,
        Some("timeout") => State::Timeout,
        Some("cancelled" | "aborted") => State::Aborted,
        _ => State::Unknown,
    }
}

/// What the components come to. Several of one name are added.
#[derive(Default)]
struct Sums {
    procs: Option<Number>,
    gpus: Option<Number>,
    cpu: Option<Number>,
    quantities: Vec<(Label, Number)>,
}

impl Sums {
    fn of(record: &Object<'_>, wall: Number) -> Result<Self, String> {
        let mut sums = Self::default();
        sums.add("core_s".into(), Some(Number::ZERO))?;
        for component in record.list("components").unwrap_or_default() {
            let component =
                Object::parse(component.get()).ok_or("a component that is no object")?;
            let name = component.text("name").unwrap_or_default();
            let amount = component.number("amount");
            let amount = amount.ok_or_else(|| format!("component {name:?}: no amount"))?;
            sums.component(&component, &name, amount, wall)?;
        }
        Ok(sums)
    }

    fn component(
        &mut self,
        component: &Object<'_>,
        name: &str,
        amount: Number,
        wall: Number,
    ) -> Result<(), String> {
        match name {
            "Cores" | "NumCPUs" => {
                let used = wall.times(amount);
                self.procs = self.procs.unwrap_or_default().plus(amount);
                self.add("core_s".into(), used)?;
                for score in component.list("scores").unwrap_or_default() {
                    let score = Object::parse(score.get()).ok_or("a score that is no object")?;
                    let name = score.text("name").unwrap_or_default();
                    let weighted = used.zip(score.number("value"));
                    let weighted = weighted.and_then(|(used, value)| used.times(value));
                    self.add(format!("score_{name}_s").into(), weighted)?;
                }
                Ok(())
            }
            "GPUs" => {
                self.gpus = self.gpus.unwrap_or_default().plus(amount);
                self.add("gpu_s".into(), wall.times(amount))
            }
            "TotalCPU" => {
                self.cpu = self.cpu.unwrap_or_default().plus(amount);
                self.add("cpu_s".into(), Some(amount))
            }
            "naive_cpu_time" => self.add("core_s".into(), Some(amount)),
            "Memory" => self.add("memory_mb".into(), Some(amount)),
            "memory_limit" => self.add("memory_bytes".into(), Some(amount)),
            _ => Ok(()),
        }
    }

    fn add(&mut self, name: Label, value: Option<Number>) -> Result<(), String> {
        let beyond = || format!("{name}: beyond what can be counted");
        let value = value.ok_or_else(beyond)?;
        if let Some((_, sum)) = self.quantities.iter_mut().find(|(known, _)| *known == name) {
            *sum = sum.plus(value).ok_or_else(beyond)?;
            return Ok(());
        }
        self.quantities.push((name, value));
        Ok(())
    }
}
