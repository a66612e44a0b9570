//! A job of Moab with named values instead of columns: as pairs or as XML (`collectors.md` f.2).
//! The names are those of Moab's resource manager language, of its `--xml` answers, and of the job
//! object of SSS. They are case-insensitive, and of a repeated name the first value is used.

use std::collections::BTreeMap;

use super::{Judged, class, delivered, distinct_hosts, keep_end, memory, state};
use crate::job::Job;
use crate::number::Number;
use crate::repair::{REPAIRED, Span, span};
use crate::text::known;

/// Values by their names, in lower case.
pub(super) type Values = BTreeMap<String, String>;

/// Contents of a line.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// The kind of the object: `job`, `node`, `rsv`, …
    pub(super) object: String,
    /// The event, in lower case, if the line contains one.
    pub(super) event: Option<String>,
    /// Values of the whole job.
    pub(super) values: Values,
    /// Values of each of its parts: tasks and their resources.
    pub(super) parts: Vec<Values>,
}

const ID: &[&str] = &["jobid", "objectid", "id"];
const USER: &[&str] = &["user", "userid", "uname"];
const GROUP: &[&str] = &["group", "groupid", "gname"];
const ACCOUNT: &[&str] = &["account", "accountid", "aname", "projectid", "project"];
const CLASS: &[&str] = &["class", "queue", "queueid", "queuename", "rclass"];
const QOS: &[&str] = &["qos", "qosid", "qualityofservice", "reqqos"];
const NAME: &[&str] = &["jobname", "name"];
const SUBMIT: &[&str] = &["submissiontime", "submittime", "queuetime"];
const START: &[&str] = &["starttime"];
const END: &[&str] = &["completiontime", "completetime", "endtime"];
const STATE: &[&str] = &["state"];
const EXIT: &[&str] = &["completioncode", "exitcode", "exitstatus"];
const LIMIT: &[&str] = &["reqawduration", "wclimit"];
const WALL: &[&str] = &["awduration"];
const USED: &[&str] = &["statpsutl"];
const HOSTS: &[&str] = &["allocnodelist", "tasklist", "masterhost"];
const HOST_LISTS: &[&str] = &["allocnodelist", "tasklist"];
const NODES: &[&str] = &["reqnodes", "nodecount", "nodes"];
const MEMORY_PER_TASK: &[&str] = &["dmem"];
const PROCS: &[&str] = &["reqprocs", "processors", "procs"];
const TASKS: &[&str] = &["tasks", "taskcount", "tcreqmin"];
const PER_TASK: &[&str] = &["dprocs", "reqprocpertask", "processors", "procs"];

/// The first nonempty value of these names.
fn value<'a>(values: &'a Values, names: &[&str]) -> Option<&'a str> {
    let mut found = names.iter().filter_map(|name| values.get(*name));
    let found = found.find(|text| known(text).is_some_and(|text| text != "-"));
    found.map(String::as_str)
}

/// Adds a value, unless the name has one already.
pub(super) fn say(values: &mut Values, name: &str, text: &str) {
    let value = values.entry(name.to_ascii_lowercase());
    value.or_insert_with(|| text.trim().to_owned());
}

impl Contents {
    /// The job, or why nothing is charged for it.
    pub(super) fn judged(&self) -> Judged {
        if self.object != "job" {
            return Ok(Err(format!("object_{}", self.object).into()));
        }
        if let Some(event) = &self.event
            && event != "jobend"
            && event != "jobcancel"
        {
            return Ok(Err(format!("event_{event}").into()));
        }
        let id = self.text(ID).ok_or("no id of the job")?;
        let start = self.time(START, "start")?;
        let end = self.time(END, "completion")?;
        let Some(start) = start.filter(|at| *at > 0) else {
            return Ok(Err("never_started".into()));
        };
        let Some(end) = end.filter(|at| *at > 0) else {
            return Ok(Err("not_ended".into()));
        };
        self.job(id, start, end).map(Ok)
    }

    fn job(&self, id: String, start: i64, end: i64) -> Result<Job, String> {
        let beyond = || "a figure beyond the supported range".to_owned();
        let stated = self.number(WALL, "run time")?;
        let times = span(Some(start), Some(end), stated).unwrap_or(Span::empty(start));
        let wall = times.end_us.checked_sub(times.start_us);
        let wall = Number::seconds(wall.ok_or_else(beyond)?);
        let procs = self.procs()?.ok_or("no processors")?;
        let used = self.number(USED, "ProcSeconds utilised")?;
        let word = self.text(STATE);
        let event = self.event.as_deref().unwrap_or_default();
        let mut job = Job {
            id,
            start_us: times.start_us,
            end_us: times.end_us,
            submit_us: self.time(SUBMIT, "submission")?.filter(|at| *at > 0),
            wall,
            user: self.text(USER),
            group: self.text(GROUP),
            account: self.text(ACCOUNT),
            queue: self.text(CLASS).and_then(|text| class(&text)),
            qos: self.text(QOS).and_then(|text| delivered(&text)),
            state: state(event, word.as_deref().unwrap_or_default()),
            state_word: word,
            exit: self.text(EXIT),
            name: self.text(NAME),
            hosts: self.text(HOSTS).or_else(|| self.hosts()),
            procs: Some(procs),
            nodes: self.nodes()?,
            memory_bytes: self.memory()?,
            cpu: used,
            limit_s: value(&self.values, LIMIT).and_then(seconds),
            ..Job::default()
        };
        if times.is_repaired {
            job.flags.push(REPAIRED);
        }
        keep_end(&mut job);
        job.add("wall_s", wall);
        job.add("core_s", wall.times(procs).ok_or_else(beyond)?);
        job.add_if("psutil_s", used);
        Ok(job)
    }

    fn text(&self, names: &[&str]) -> Option<String> {
        value(&self.values, names).and_then(known)
    }

    /// A number that is not below zero.
    fn number(&self, names: &[&str], what: &str) -> Result<Option<Number>, String> {
        number(&self.values, names, what)
    }

    /// Seconds since 1970, in microseconds.
    fn time(&self, names: &[&str], what: &str) -> Result<Option<i64>, String> {
        let Some(text) = value(&self.values, names) else {
            return Ok(None);
        };
        let at = Number::parse(text).and_then(Number::as_microseconds);
        at.map(Some)
            .ok_or_else(|| format!("{what}: {text:?} is not a time"))
    }

    /// Processors: of the whole job, else tasks times processors per task, else of its parts.
    fn procs(&self) -> Result<Option<Number>, String> {
        let beyond = || "processors: beyond the supported range".to_owned();
        if let Some(procs) = self.number(PROCS, "processors")? {
            return Ok(Some(procs));
        }
        let mut all = None;
        for part in std::iter::once(&self.values).chain(&self.parts) {
            let tasks = number(part, TASKS, "tasks")?;
            let each = number(part, PER_TASK, "processors per task")?;
            if tasks.or(each).is_none() {
                continue;
            }
            let one = Number::whole(1);
            let procs = tasks.unwrap_or(one).times(each.unwrap_or(one));
            let sum = procs.and_then(|procs| all.unwrap_or(Number::ZERO).plus(procs));
            all = Some(sum.ok_or_else(beyond)?);
        }
        Ok(all)
    }

    /// Hosts, else the nodes that were requested.
    fn nodes(&self) -> Result<Option<Number>, String> {
        let all = std::iter::once(&self.values).chain(&self.parts);
        let hosts = distinct_hosts(all.filter_map(|part| value(part, HOST_LISTS)));
        if hosts.is_some() {
            return Ok(hosts);
        }
        let requested = self.number(NODES, "nodes")?;
        Ok(requested.filter(|nodes| nodes.is_above_zero()))
    }

    /// Tasks times memory of a task, of the job and of its parts.
    fn memory(&self) -> Result<Option<Number>, String> {
        let mut all = None;
        for part in std::iter::once(&self.values).chain(&self.parts) {
            let tasks = number(part, TASKS, "tasks")?;
            let each = value(part, MEMORY_PER_TASK).zip(tasks);
            if let Some(bytes) = each.and_then(|(each, tasks)| memory(each, tasks)) {
                let sum = all.unwrap_or(Number::ZERO).plus(bytes);
                all = Some(sum.ok_or("memory: beyond the supported range")?);
            }
        }
        Ok(all)
    }

    fn hosts(&self) -> Option<String> {
        let mut parts = self.parts.iter();
        parts.find_map(|part| value(part, HOSTS).and_then(known))
    }
}

fn number(values: &Values, names: &[&str], what: &str) -> Result<Option<Number>, String> {
    let Some(text) = value(values, names) else {
        return Ok(None);
    };
    let number = Number::parse(text).filter(|number| !number.is_negative());
    number
        .map(Some)
        .ok_or_else(|| format!("{what}: {text:?} is not a number"))
}

/// Seconds, or `[D:][H:]M:S`.
fn seconds(text: &str) -> Option<i64> {
    let mut whole = 0_i64;
    for (part, unit) in text.rsplit(':').zip([1_i64, 60, 3_600, 86_400]) {
        let part: i64 = part.parse().ok().filter(|part| *part >= 0)?;
        whole = whole.checked_add(part.checked_mul(unit)?)?;
    }
    (text.matches(':').count() < 4).then_some(whole)
}
