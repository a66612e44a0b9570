//! AUDITOR's records as a JSON list, or one object after the other (`collectors.md` i).

use std::io::{self, BufRead};

use serde_json::value::RawValue;

use super::job::{Found, Job, Label, Record, State};
use super::json::Object;
use super::lines::document;
use super::number::Number;
use super::options::Options;
use super::text::{known, rfc3339};
use super::{Reader, Sink, not_of_the_format};

/// Units of the component `Memory` with their bytes: Slurm's collector writes megabytes, and a site
/// may write another unit.
const UNITS: [(&str, i64); 4] = [
    ("bytes", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// The default unit of `Memory`.
fn mebibyte() -> Number {
    Number::whole(1 << 20)
}

/// Reads records.
#[derive(Debug)]
pub(super) struct Auditor {
    memory_unit: Number,
}

impl Auditor {
    /// A reader with `Memory` in mebibytes, or in the unit of an option such as `Memory=GiB`.
    ///
    /// # Errors
    /// If there is no such component or unit.
    pub(super) fn new(options: &Options) -> Result<Self, String> {
        let mut memory_unit = mebibyte();
        for stated in &options.columns {
            let unit = stated.trim().strip_prefix("Memory=");
            let unit = unit.and_then(|unit| UNITS.iter().find(|(name, _)| *name == unit));
            let (_, bytes) = unit.ok_or_else(|| {
                let names = UNITS.map(|(name, _)| name).join(", ");
                format!("--columns: {stated:?}; as Memory=GiB, of {names}")
            })?;
            memory_unit = Number::whole(*bytes);
        }
        Ok(Self { memory_unit })
    }
}

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
            let read =
                Object::parse(raw).ok_or_else(|| "a record that is not an object".to_owned());
            let judged = read.and_then(|record| judged(&record, self.memory_unit));
            sink(Record::new(number, raw.as_bytes(), Found::of(judged)))?;
        }
        Ok(())
    }
}

fn judged(record: &Object<'_>, memory_unit: Number) -> Result<Result<Job, Label>, String> {
    if record.text("record_id").is_none() {
        return Err("record_id: missing".to_owned());
    }
    let Some(stop) = record.text("stop_time").filter(|stop| !stop.is_empty()) else {
        return Ok(Err("not_ended".into()));
    };
    let start = record.text("start_time").unwrap_or_default();
    let time = |text: &str, what: &str| {
        let at = rfc3339(text);
        at.ok_or_else(|| format!("{what}: {text:?} is not a time with a zone"))
    };
    let (start_us, end_us) = (time(&start, "start_time")?, time(&stop, "stop_time")?);
    if end_us < start_us {
        return Err("stop_time: before start_time".to_owned());
    }
    filled(record, start_us, end_us, memory_unit).map(Ok)
}

/// A record with parsed times, in microseconds, as a job; `Memory` is in mebibytes.
pub fn job(record: &str, start_us: i64, end_us: i64) -> Result<Job, String> {
    let record = Object::parse(record).ok_or("a record that is not an object")?;
    filled(&record, start_us, end_us, mebibyte())
}

fn filled(
    record: &Object<'_>,
    start_us: i64,
    end_us: i64,
    memory_unit: Number,
) -> Result<Job, String> {
    let meta = record.object("meta").unwrap_or_default();
    let first = |names: &[&str]| names.iter().find_map(|name| value(&meta, name));
    let status = first(&["status"]);
    let id = record.text("record_id").ok_or("record_id: missing")?;
    // Lines of `bank export jsonl --profile auditor` have the project beside the group, and bytes.
    let is_own = id.starts_with("bank:");
    let memory_unit = if is_own {
        Number::whole(1)
    } else {
        memory_unit
    };
    let group = first(&["group_id", "group", "namespace"]);
    let account = first(&["account"]).filter(|_| is_own).or(group.clone());
    let mut job = Job {
        id,
        start_us,
        end_us,
        wall: Number::seconds(end_us.saturating_sub(start_us)),
        user: first(&["user_id", "user"]),
        group,
        account,
        cluster: first(&["site_id", "site"]),
        state: state(status.as_deref()),
        state_word: status,
        ..Job::default()
    };
    let sums = Sums::of(record, job.wall, memory_unit)?;
    job.procs = sums.procs;
    job.gpus = sums.gpus;
    job.cpu = sums.cpu;
    job.nodes = sums.nodes;
    job.memory_bytes = sums.memory_bytes;
    if job.procs.is_none() {
        let stated = sums.core_seconds;
        let none = stated.filter(|stated| stated.is_zero());
        job.procs = stated.and_then(|stated| stated.mean_over(job.wall));
        job.procs = job.procs.or(none);
        job.mark_without_cores();
    }
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

/// Names of one figure: of a record with several the first counts. A record with processors states its core-seconds by
/// them.
const FIGURES: [&[&str]; 3] = [
    &["Cores", "NumCPUs", "naive_cpu_time"],
    &["GPUs", "GPU"],
    &["Memory", "memory_limit"],
];

/// Totals of the components. Several of one name are added.
#[derive(Default)]
struct Sums {
    procs: Option<Number>,
    gpus: Option<Number>,
    cpu: Option<Number>,
    nodes: Option<Number>,
    memory_bytes: Option<Number>,
    memory_unit: Number,
    /// Core-seconds that a record states itself.
    core_seconds: Option<Number>,
    quantities: Vec<(Label, Number)>,
}

impl Sums {
    fn of(record: &Object<'_>, wall: Number, memory_unit: Number) -> Result<Self, String> {
        let mut sums = Self {
            memory_unit,
            ..Self::default()
        };
        sums.add("core_s".into(), Some(Number::ZERO))?;
        let mut components = Vec::new();
        for component in record.list("components").unwrap_or_default() {
            let component =
                Object::parse(component.get()).ok_or("a component that is not an object")?;
            let name = component.text("name").unwrap_or_default();
            let amount = component.number("amount").filter(|n| !n.is_negative());
            let amount = amount.ok_or_else(|| format!("component {name:?}: no amount"))?;
            components.push((component, name, amount));
        }
        let is_there = |name: &str| components.iter().any(|(_, own, _)| own == name);
        for (component, name, amount) in &components {
            let names = FIGURES.iter().find(|names| names.contains(&name.as_str()));
            let first = names.and_then(|names| names.iter().find(|name| is_there(name)));
            if first.is_none_or(|first| first == name) {
                sums.component(component, name, *amount, wall)?;
            }
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
                    let score =
                        Object::parse(score.get()).ok_or("a score that is not an object")?;
                    let name = score.text("name").unwrap_or_default();
                    let value = score.number("value").filter(|n| !n.is_negative());
                    let weighted = used.zip(value);
                    let weighted = weighted.and_then(|(used, value)| used.times(value));
                    self.add(format!("score_{name}_s").into(), weighted)?;
                }
                Ok(())
            }
            "GPUs" | "GPU" => {
                self.gpus = self.gpus.unwrap_or_default().plus(amount);
                self.add("gpu_s".into(), wall.times(amount))
            }
            "NNodes" => {
                self.nodes = self.nodes.unwrap_or_default().plus(amount);
                Ok(())
            }
            "TotalCPU" => {
                self.cpu = self.cpu.unwrap_or_default().plus(amount);
                self.add("cpu_s".into(), Some(amount))
            }
            "naive_cpu_time" => {
                let stated = self.core_seconds.unwrap_or_default().plus(amount);
                self.core_seconds = stated;
                self.add("core_s".into(), Some(amount))
            }
            "Memory" => {
                self.memory(amount.times(self.memory_unit))?;
                self.add("memory_mb".into(), Some(amount))
            }
            "memory_limit" => {
                self.memory(Some(amount))?;
                self.add("memory_bytes".into(), Some(amount))
            }
            _ => Ok(()),
        }
    }

    /// Adds bytes of memory.
    fn memory(&mut self, bytes: Option<Number>) -> Result<(), String> {
        let sum = bytes.and_then(|bytes| self.memory_bytes.unwrap_or_default().plus(bytes));
        self.memory_bytes = Some(sum.ok_or("memory: beyond the supported range")?);
        Ok(())
    }

    fn add(&mut self, name: Label, value: Option<Number>) -> Result<(), String> {
        let beyond = || format!("{name}: beyond the supported range");
        let value = value.ok_or_else(beyond)?;
        if let Some((_, sum)) = self.quantities.iter_mut().find(|(known, _)| *known == name) {
            *sum = sum.plus(value).ok_or_else(beyond)?;
            return Ok(());
        }
        self.quantities.push((name, value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(columns: &[&str], text: &str) -> Job {
        let options = Options {
            columns: columns.iter().map(|text| (*text).to_owned()).collect(),
            ..Options::default()
        };
        let mut found = Vec::new();
        let mut sink = |record: Record| {
            found.push(record.found);
            Ok(())
        };
        let mut reader = Auditor::new(&options).unwrap();
        reader
            .file("records", &mut text.as_bytes(), &mut sink)
            .unwrap();
        match found.remove(0) {
            Found::Jobs(mut jobs) => jobs.remove(0),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn record(components: &str) -> String {
        format!(
            r#"[{{"record_id":"r","start_time":"2026-01-01T00:00:00Z",
                "stop_time":"2026-01-01T00:01:00Z","meta":{{}},"components":[{components}]}}]"#
        )
    }

    #[test]
    fn memory_has_the_unit_that_is_named() {
        let text = record(r#"{"name":"Memory","amount":3},{"name":"Memory","amount":1}"#);
        for (columns, bytes) in [
            (&[][..], 4_i128 << 20),
            (&["Memory=bytes"], 4),
            (&["Memory=GiB"], 4 << 30),
        ] {
            let job = read(columns, &text);
            assert_eq!(job.memory_bytes, Some(Number::whole(bytes)), "{columns:?}");
        }
        let limit = record(r#"{"name":"memory_limit","amount":7}"#);
        assert_eq!(read(&[], &limit).memory_bytes, Some(Number::whole(7)));
        let options = |column: &str| Options {
            columns: vec![column.to_owned()],
            ..Options::default()
        };
        // Nodes have no unit.
        let nodes = record(r#"{"name":"NNodes","amount":2}"#);
        assert_eq!(read(&[], &nodes).nodes, Some(Number::whole(2)));
        for column in ["Memory=MB", "Cores=2", "Memory"] {
            assert!(Auditor::new(&options(column)).is_err(), "{column}");
        }
    }

    #[test]
    fn core_seconds_alone_give_the_processors() {
        let text = record(r#"{"name":"naive_cpu_time","amount":90}"#);
        assert_eq!(read(&[], &text).procs, Number::parse("1.5"));
        assert_eq!(read(&[], &text).flags, [""; 0]);
        // None at all, also in a record without a run time.
        let text = record(r#"{"name":"naive_cpu_time","amount":0}"#);
        for text in [text.replace("00:01:00Z", "00:00:00Z"), text] {
            let job = read(&[], &text);
            assert_eq!(job.procs, Some(Number::ZERO), "{text}");
            assert_eq!(job.flags, ["no-cores"], "{text}");
        }
    }

    /// Of two names of one figure the first counts, in any order, and the sums of the file are those of the job.
    #[test]
    fn two_names_of_one_figure_count_once() {
        let component = |name: &str, amount: i64| {
            format!(
                r#"{{"name":"{name}","amount":{amount},"scores":[{{"name":"HEP","value":2}}]}}"#
            )
        };
        for (components, procs, sums) in [
            (
                &[("Cores", 4), ("NumCPUs", 4)][..],
                4,
                "core_s=240 score_HEP_s=480 wall_s=60",
            ),
            (
                &[("NumCPUs", 3), ("Cores", 1), ("Cores", 3)],
                4,
                "core_s=240 score_HEP_s=480 wall_s=60",
            ),
            (
                &[("NumCPUs", 1), ("NumCPUs", 1)],
                2,
                "core_s=120 score_HEP_s=240 wall_s=60",
            ),
            (
                &[("naive_cpu_time", 120), ("Cores", 4)],
                4,
                "core_s=240 score_HEP_s=480 wall_s=60",
            ),
            (
                &[("naive_cpu_time", 60), ("naive_cpu_time", 60)],
                2,
                "core_s=120 wall_s=60",
            ),
            (
                &[("Cores", 1), ("GPU", 2), ("GPUs", 1)],
                1,
                "core_s=60 gpu_s=60 score_HEP_s=120 wall_s=60",
            ),
            (
                &[("Cores", 1), ("memory_limit", 1 << 20), ("Memory", 1)],
                1,
                "core_s=60 memory_mb=1 score_HEP_s=120 wall_s=60",
            ),
        ] {
            let text = components
                .iter()
                .map(|(name, amount)| component(name, *amount));
            let job = read(&[], &record(&text.collect::<Vec<_>>().join(",")));
            assert_eq!(job.procs, Some(Number::whole(procs)), "{components:?}");
            let mut all: Vec<_> = job
                .quantities
                .iter()
                .map(|(name, sum)| format!("{name}={sum}"))
                .collect();
            all.sort();
            assert_eq!(all.join(" "), sums, "{components:?}");
            if components.iter().any(|(name, _)| *name == "Memory") {
                assert_eq!(job.memory_bytes, Some(Number::whole(1 << 20)));
            }
        }
    }
}
