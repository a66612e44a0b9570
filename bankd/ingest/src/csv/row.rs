//! A record of separated values, judged by its mapping.

use std::collections::HashMap;

use super::Cells;
use super::field::Field;
use super::mapping::Mapping;
use crate::instant::Instant;
use crate::job::{Found, Job, Label, State};
use crate::number::Number;
use crate::repair::{AMBIGUOUS, REPAIRED, span_of};
use crate::text::plain;

/// The job, or why nothing is charged for it.
pub(super) fn found(mapping: &Mapping, places: &HashMap<String, usize>, cells: &Cells) -> Found {
    let row = Row {
        mapping,
        places,
        cells,
    };
    Found::of(row.judged())
}

struct Row<'a> {
    mapping: &'a Mapping,
    places: &'a HashMap<String, usize>,
    cells: &'a Cells,
}

impl Row<'_> {
    /// In this order: columns, `only_if`, `require`, `charge_if`, times.
    fn judged(&self) -> Result<Result<Job, Label>, String> {
        let columns = self
            .mapping
            .columns()
            .filter_map(|name| self.places.get(name));
        let last = columns.max().copied().unwrap_or_default();
        if last >= self.cells.len() {
            let there = self.cells.len();
            let wanted = last.saturating_add(1);
            return Err(format!("{there} columns where the mapping needs {wanted}"));
        }
        for field in self.fields() {
            if !field.passes(self.raw(field).as_deref()) {
                return Ok(Err("filtered".into()));
            }
        }
        for (name, field) in &self.mapping.fields {
            if field.is_required && self.value(field).is_none() {
                return Err(format!("{name}: nothing there"));
            }
        }
        let state = self.text("state").or_else(|| self.text("exit"));
        if let Some(condition) = &self.mapping.charge_if
            && !condition.holds(state.as_deref().unwrap_or_default())
        {
            return Ok(Err("not_charged".into()));
        }
        self.job(state)
    }

    fn fields(&self) -> impl Iterator<Item = &Field> {
        let mapping = self.mapping;
        let all = [&mapping.fields, &mapping.attributes, &mapping.quantities];
        all.into_iter().flat_map(|fields| fields.values())
    }

    fn raw(&self, field: &Field) -> Option<String> {
        field.raw(&|column| {
            let cell = self.cells.at(*self.places.get(column)?)?;
            Some(plain(cell.trim()))
        })
    }

    fn value(&self, field: &Field) -> Option<String> {
        field.mapped(self.raw(field))
    }

    fn text(&self, name: &str) -> Option<String> {
        self.value(self.mapping.fields.get(name)?)
    }

    fn number(&self, name: &str) -> Result<Option<Number>, String> {
        let field = self.mapping.fields.get(name);
        field.map_or(Ok(None), |field| self.number_of(name, field))
    }

    fn number_of(&self, name: &str, field: &Field) -> Result<Option<Number>, String> {
        let Some(text) = self.value(field) else {
            return Ok(None);
        };
        let number = field.number(&text);
        number
            .map(Some)
            .ok_or_else(|| format!("{name}: {text:?} is not a number of its unit"))
    }

    fn time(&self, name: &str) -> Result<Option<Instant>, String> {
        let field = self.mapping.fields.get(name);
        let Some((field, text)) = field.and_then(|field| Some((field, self.value(field)?))) else {
            return Ok(None);
        };
        let at = field.time(&text, self.mapping.zone, self.mapping.origin);
        at.map(Some)
            .ok_or_else(|| format!("{name}: {text:?} is not a time of its format"))
    }

    fn job(&self, state: Option<String>) -> Result<Result<Job, Label>, String> {
        let beyond = || "a figure beyond the supported range".to_owned();
        let submit = self.time("submit")?;
        let mut start = self.time("start")?;
        if start.is_none()
            && let (Some(at), Some(wait)) = (submit, self.number("wait")?)
        {
            let wait = wait.as_microseconds().ok_or_else(beyond)?;
            start = Some(at.after(wait).ok_or_else(beyond)?);
        }
        let (end, run) = (self.time("end")?, self.number("wall")?);
        let has = |name: &str| self.mapping.fields.contains_key(name);
        if start.is_none() && (has("start") || has("wait")) {
            return Ok(Err("never_started".into()));
        }
        if end.is_none() && run.is_none() {
            return Ok(Err("not_ended".into()));
        }
        let times = span_of(start, end, run)?;
        let us = times
            .end_us
            .checked_sub(times.start_us)
            .ok_or_else(beyond)?;
        let Some(id) = self.text("id") else {
            return Err("id: nothing there".to_owned());
        };
        let mut job = Job {
            id,
            start_us: times.start_us,
            end_us: times.end_us,
            submit_us: submit.map(|at| at.us),
            wall: Number::seconds(us),
            procs: self.number("procs")?,
            nodes: self.number("nodes")?,
            gpus: self.number("gpus")?,
            memory_bytes: self.number("memory")?,
            disk_bytes: self.number("disk")?,
            cpu: self.number("cpu")?,
            limit_s: self
                .number("limit")?
                .and_then(|limit| i64::try_from(limit.cut(0).as_whole()?).ok()),
            ..Job::default()
        };
        // Where the mapping has no column for one of the times, computing it is no repair.
        let is_whole = (has("start") || has("wait")) && has("end");
        if times.is_repaired && is_whole {
            job.flags.push(REPAIRED);
        }
        if times.is_ambiguous {
            job.flags.push(AMBIGUOUS);
        }
        self.texts(&mut job, state);
        self.quantities(&mut job)?;
        Ok(Ok(job))
    }

    fn texts(&self, job: &mut Job, state: Option<String>) {
        job.user = self.text("user");
        job.account = self.text("account").or_else(|| self.text("project"));
        job.group = self.text("group");
        job.queue = self.text("queue");
        job.qos = self.text("qos");
        job.cluster = self.text("cluster");
        job.exit = self.text("exit");
        job.name = self.text("name");
        job.hosts = self.text("hosts");
        job.gpu_type = self.text("gpu_type");
        job.state = meant(state.as_deref(), job.exit.as_deref());
        job.state_word = state;
        for (name, field) in &self.mapping.attributes {
            if let Some(value) = self.value(field) {
                job.attributes.insert(name.clone(), value);
            }
        }
        if let Some(project) = self.text("project") {
            job.attributes.insert("project".to_owned(), project);
        }
    }

    /// Quantities of the mapping, plus the products of counts and run time.
    fn quantities(&self, job: &mut Job) -> Result<(), String> {
        let named = &self.mapping.quantities;
        let beyond = || "a figure beyond the supported range".to_owned();
        for (name, field) in named {
            if let Some(value) = self.number_of(name, field)? {
                job.add(name.clone(), value);
            }
        }
        let one = Some(Number::whole(1));
        for (name, count) in [
            ("wall_s", one),
            ("core_s", job.procs),
            ("gpu_s", job.gpus),
            ("node_s", job.nodes),
        ] {
            if let Some(count) = count.filter(|_| !named.contains_key(name)) {
                job.add(name, job.wall.times(count).ok_or_else(beyond)?);
            }
        }
        for (name, stated) in [("cpu_s", job.cpu), ("run_time_s", self.number("wall")?)] {
            if !named.contains_key(name) {
                job.add_if(name, stated);
            }
        }
        Ok(())
    }
}

/// Meaning of the source's state; if the word is unknown, the exit code decides.
fn meant(state: Option<&str>, exit: Option<&str>) -> State {
    let word = state.unwrap_or_default().to_ascii_lowercase();
    match (word.as_str(), exit) {
        ("completed" | "done" | "succeeded" | "success", _)
        | ("" | "0" | "0:0", Some("0" | "0:0"))
        | ("0", None) => State::Completed,
        ("timeout" | "deadline", _) => State::Timeout,
        ("cancelled" | "canceled" | "aborted" | "removed" | "killed", _) => State::Aborted,
        ("preempted", _) => State::Preempted,
        ("running" | "sampled", _) => State::Running,
        ("failed" | "error" | "node_fail" | "out_of_memory" | "oom", _) | (_, Some(_)) => {
            State::Failed
        }
        _ => State::Unknown,
    }
}
