//! `sacct --json` (`collectors.md` a.9).

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead};

use super::hosts;
use super::row::{Moment, Order, Row};
use super::stated::Stated;
use super::tres;
use crate::instant::Instant;
use crate::job::{Found, Record};
use crate::json::Object;
use crate::lines::document;
use crate::number::Number;
use crate::{Reader, Sink, not_of_the_format};

/// Reads such documents.
#[derive(Debug, Default)]
pub(crate) struct Document;

impl Reader for Document {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let bytes = document(input)?;
        let text = String::from_utf8_lossy(&bytes);
        let whole = Object::parse(&text).unwrap_or_default();
        let mut number = 0_u64;
        if let Some(why) = refused(&whole) {
            return Err(not_of_the_format(format!("an error of Slurm: {why}")));
        }
        let read = whole.each("jobs", |job| {
            number = number.saturating_add(1);
            let raw = job.get();
            let found = match Object::parse(raw) {
                Some(job) => found(&job),
                None => Found::Malformed("a job that is not an object".to_owned()),
            };
            sink(Record::new(number, raw.as_bytes(), found))
        });
        read.ok_or_else(|| not_of_the_format("no JSON object with a list \"jobs\""))?
    }

    fn list(&self) -> Option<&'static str> {
        Some("jobs")
    }
}

/// The first error of a document without jobs.
fn refused(document: &Object<'_>) -> Option<String> {
    let errors = document.list("errors")?;
    let first = errors.first()?;
    let jobs = document.list("jobs").unwrap_or_default();
    if !jobs.is_empty() {
        return None;
    }
    let described = Object::parse(first.get());
    let described = described.and_then(|e| e.text("description").or_else(|| e.text("error")));
    let described = described.unwrap_or_else(|| first.get().to_owned());
    Some(described.replace(char::is_control, " "))
}

fn found(job: &Object<'_>) -> Found {
    let text = |name: &str| Cow::Owned(job.text(name).unwrap_or_default());
    let time = job.object("time").unwrap_or_default();
    let at = |name: &str| match number(&time, name) {
        Some(at) if at.is_above_zero() => at
            .as_microseconds()
            .map_or(Moment::Bad, |us| Moment::At(Instant::exact(us))),
        _ => Moment::None,
    };
    let resources = Resources::of(job);
    let (end, start) = (at("end"), at("start"));
    let row = Row {
        unreadable: resources.unreadable,
        id: id(job).into(),
        user: text("user"),
        account: text("account"),
        group: text("group"),
        partition: text("partition"),
        qos: text("qos"),
        cluster: text("cluster"),
        name: text("name"),
        hosts: text("nodes"),
        state: state(job).into(),
        exit: exit(job).into(),
        submit: at("submission"),
        start,
        end,
        nodes: resources.nodes.or_else(|| nodes(job)),
        cpus: resources.cpus,
        gpus: Some(resources.gpus),
        resources: tres::others(&resources.others),
        memory_bytes: resources.memory_bytes,
        elapsed: number(&time, "elapsed").filter(|elapsed| !elapsed.is_negative()),
        limit_s: number(&time, "limit")
            .and_then(|minutes| minutes.times(Number::whole(60)))
            .and_then(|seconds| i64::try_from(seconds.as_whole()?).ok()),
        has_nodes: true,
        stated: Stated {
            reservation: reservation(job).into(),
            cpu: ["user", "system"].map(|part| processor_time(&time, part)),
            requested: job
                .object("required")
                .and_then(|requested| number(&requested, "CPUs"))
                .and_then(|requested| i64::try_from(requested.as_whole()?).ok()),
            ..Stated::default()
        },
        ..Row::default()
    };
    row.found(Order::EndStartState)
}

/// Nodes that the job states, else those of its list.
fn nodes(job: &Object<'_>) -> Option<i64> {
    let stated = number(job, "allocation_nodes").and_then(Number::as_whole);
    let stated = stated.and_then(|nodes| i64::try_from(nodes).ok());
    let listed = || hosts::listed(&job.text("nodes")?);
    stated.filter(|nodes| *nodes > 0).or_else(listed)
}

/// The name of its reservation.
fn reservation(job: &Object<'_>) -> String {
    let reservation = job.object("reservation");
    let name = reservation.and_then(|own| own.text("name"));
    name.unwrap_or_default()
}

/// Seconds and microseconds.
fn processor_time(time: &Object<'_>, part: &str) -> Option<Number> {
    let part = time.object(part)?;
    let micros = part.number("microseconds").unwrap_or(Number::ZERO);
    part.number("seconds")?
        .plus(micros.times(Number::scaled(1, 6))?)
}

/// A number, or since data parser 0.0.39 an object with a flag for set values.
fn number(object: &Object<'_>, name: &str) -> Option<Number> {
    if let Some(wrapped) = object.object(name) {
        let is_set = wrapped.text("set").is_none_or(|set| set == "true");
        let number = wrapped.number("number").unwrap_or(Number::ZERO);
        return is_set.then_some(number);
    }
    object.number(name)
}

/// `ARRAY_TASK` of an array's task, `JOB+PART` of a part of a heterogeneous job, as `sacct` prints it, else the number of the job.
fn id(job: &Object<'_>) -> String {
    let array = job.object("array").unwrap_or_default();
    let whole = array
        .object("job_id")
        .map_or_else(|| array.number("job_id"), |_| number(&array, "job_id"));
    match (whole.filter(|id| !id.is_zero()), number(&array, "task_id")) {
        (Some(array), Some(task)) => format!("{array}_{task}"),
        _ => part(job).unwrap_or_else(|| job.text("job_id").unwrap_or_default()),
    }
}

/// The id of a part of a heterogeneous job.
fn part(job: &Object<'_>) -> Option<String> {
    let het = job.object("het")?;
    let whole = number(&het, "job_id").filter(|id| !id.is_zero())?;
    Some(format!("{whole}+{}", number(&het, "job_offset")?))
}

/// A word, or a list of which the first item is used.
fn state(job: &Object<'_>) -> String {
    let state = job.object("state").unwrap_or_default();
    let first = state.list("current").and_then(|list| {
        let first = list.first()?.get();
        serde_json::from_str(first).ok()
    });
    first.or_else(|| state.text("current")).unwrap_or_default()
}

fn exit(job: &Object<'_>) -> String {
    let code = job.object("exit_code").unwrap_or_default();
    number(&code, "return_code").map_or_else(String::new, |code| code.to_string())
}

/// Resources of the job.
#[derive(Default)]
struct Resources {
    nodes: Option<i64>,
    cpus: Option<i64>,
    gpus: i64,
    memory_bytes: Option<Number>,
    /// The others as a list of `name=count`.
    others: String,
    /// A count that is no whole number of its range.
    unreadable: Option<String>,
}

impl Resources {
    fn of(job: &Object<'_>) -> Self {
        let list = job.object("tres").and_then(|tres| tres.list("allocated"));
        let (mut found, mut typed, mut untyped) = (Self::default(), 0_i64, None);
        for one in list.unwrap_or_default() {
            let Some(one) = Object::parse(one.get()) else {
                continue;
            };
            let kind = one.text("type").unwrap_or_default();
            let name = one.text("name").unwrap_or_default();
            let stated = number(&one, "count").filter(|count| !count.is_negative());
            let count = stated.and_then(|count| i64::try_from(count.as_whole()?).ok());
            let is_counted = matches!(kind.as_str(), "cpu" | "node")
                || (kind == "gres" && name.split(':').next() == Some("gpu"));
            let text = one
                .text("count")
                .filter(|text| Number::parse(text).is_none());
            let beyond = stated.filter(|_| count.is_none());
            let bad = text.or_else(|| beyond.map(|stated| stated.to_string()));
            if let Some(bad) = bad.filter(|_| is_counted) {
                found.unreadable = Some(format!("tres {kind}: {bad:?} is not a count"));
            }
            match (kind.as_str(), name.as_str()) {
                ("cpu", _) => found.cpus = count,
                ("node", _) => found.nodes = count,
                ("mem", _) => {
                    let megabytes = count.map(Number::whole);
                    found.memory_bytes = megabytes.and_then(|mb| mb.times(Number::whole(1 << 20)));
                }
                ("gres", "gpu") => untyped = count,
                ("gres", name) if name.starts_with("gpu:") => {
                    typed = typed.saturating_add(count.unwrap_or(0));
                    found.add("gres/", name, stated);
                }
                (kind, "") => found.add("", kind, stated),
                (kind, name) => found.add(&format!("{kind}/"), name, stated),
            }
        }
        found.gpus = untyped.unwrap_or(typed);
        found
    }

    /// Adds one of the others, unless its name would not be read back.
    fn add(&mut self, kind: &str, name: &str, count: Option<Number>) {
        if let Some(count) = count.filter(|_| !name.contains([',', '='])) {
            // Writing to a String cannot fail.
            let _ = write!(self.others, "{kind}{name}={count},");
        }
    }
}
