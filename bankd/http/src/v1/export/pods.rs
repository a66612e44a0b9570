//! The two files of NERC, of all runs of pods in a time (`reports.md` 4).

use std::collections::BTreeMap;

use bank_api::v1::ExportQuery;
use bank_core::decimal::Decimal;
use bank_core::directory::Directory;
use bank_core::model::{MemberRole, Project};
use bank_core::refusal::Refusal;
use bank_core::usage::kept;
use bankd_emit::pods::{Invoice, Line, PODS, Run, apart, in_order};
use bankd_store::read::pods::{PodRow, pods};
use chrono::{DateTime, Months, Utc};

use super::super::json::read_time;
use super::{Call, Handled, Making, Wanted, bad, is_month, ok, too_many};
use crate::error::Failure;

/// Runs of one answer: they are put in order, and so made as a whole.
const RUNS_MAX: usize = 250_000;
/// Times of one answer that are not billed.
const IGNORED_MAX: usize = 1000;
/// The class of a pod that has none.
const NO_CLASS: &str = "noclass";

/// The collected data: runs in order of arrival, and the last run of each namespace and pod.
#[derive(Default)]
struct Found {
    runs: Vec<Run>,
    /// The project of a namespace.
    projects: BTreeMap<String, String>,
    /// The PI of a namespace, if its runs have one.
    leaders: BTreeMap<String, String>,
    /// The class of a pod in a namespace.
    classes: BTreeMap<(String, String), String>,
    /// Pods with unreadable figures.
    bad: Vec<String>,
}

/// Reason for a skipped run.
const BEYOND: &str = "a figure is invalid or out of range";

impl Found {
    fn take(&mut self, row: &PodRow, nodes: &BTreeMap<String, String>) {
        let text_of = |name| kept::value(&row.more, name).filter(|value| !value.is_empty());
        let text = |name| text_of(name).map(ToOwned::to_owned);
        let number = |name| text_of(name).map(Decimal::parse);
        let (cpu, gpus) = (number(kept::CPU_REQUEST), number(kept::GPU_REQUEST));
        let memory = number(kept::MEMORY_REQUEST).map(|bytes| whole(bytes?));
        let Some((Some(cpu), Some(memory), pod)) = cpu
            .zip(memory)
            .zip(text(kept::POD))
            .map(|((cpu, memory), pod)| (cpu, memory, pod))
            .filter(|_| !matches!(gpus, Some(None)))
        else {
            let pod = text_of(kept::POD).unwrap_or_default();
            self.bad.push(format!("{}/{pod}", row.namespace));
            return;
        };
        let mut run = Run {
            namespace: row.namespace.clone(),
            pod,
            start: row.start,
            end: row.end,
            ignored: 0,
            cpu,
            memory,
            gpus: gpus.flatten(),
            gpu_type: text(kept::GPU_TYPE),
            gpu_resource: text(kept::GPU_RESOURCE),
            node: text(kept::NODE),
            node_model: text(kept::NODE_MODEL),
        };
        run.name_gpu(nodes);
        let project = self.projects.entry(run.namespace.clone()).or_default();
        project.clone_from(&row.project);
        if !row.pi.is_empty() {
            self.leaders.insert(row.namespace.clone(), row.pi.clone());
        }
        if let Some(class) = text(kept::POD_CLASS) {
            let pod = (run.namespace.clone(), run.pod.clone());
            self.classes.insert(pod, class);
        }
        self.runs.push(run);
    }

    /// `namespace:class` of a run.
    fn class_of(&self, run: &Run) -> String {
        let pod = (run.namespace.clone(), run.pod.clone());
        let class = self.classes.get(&pod).map_or(NO_CLASS, String::as_str);
        format!("{}:{class}", run.namespace)
    }
}

/// Whole bytes, rounded down.
fn whole(bytes: Decimal) -> Option<i64> {
    i64::try_from(bytes.billionths().checked_div(1_000_000_000)?).ok()
}

async fn found(
    call: &Call,
    wanted: Wanted,
    query: &ExportQuery,
    by_class: Option<String>,
) -> Result<Found, Failure> {
    let ignored = ignored(query.ignore.as_deref());
    let ignored = ignored.map_err(|refusal| call.refused(&refusal))?;
    let nodes = call.services.export.gpu_nodes();
    let ends = wanted.ends();
    let answer = call.ask(move |connection| {
        let mut found = Found::default();
        pods(connection, ends, |row| {
            let is_wanted = by_class.as_ref().is_none_or(|of| *of == row.namespace);
            if is_wanted && wanted.work.holds(&row.project, &row.user, &row.machine) {
                found.take(&row, &nodes);
            }
            found.runs.len().saturating_add(found.bad.len()) <= RUNS_MAX
        })?;
        Ok(found)
    });
    let mut found = answer.await?;
    if found.runs.len().saturating_add(found.bad.len()) > RUNS_MAX {
        return Err(too_many("runs of pods", RUNS_MAX));
    }
    found.runs = in_order(std::mem::take(&mut found.runs), ends);
    for run in &mut found.runs {
        run.ignore(&ignored);
    }
    Ok(found)
}

/// Times that are not billed: `FROM/TO` with commas between.
fn ignored(text: Option<&str>) -> Result<Vec<(i64, i64)>, Refusal> {
    let expected =
        "at most 1000 times FROM/TO with commas between, each from an earlier to a later one";
    let bad = || Refusal::BadValue {
        field: "ignore",
        expected,
    };
    let all: Vec<&str> = text.map_or_else(Vec::new, |text| text.split(',').collect());
    if all.len() > IGNORED_MAX {
        return Err(bad());
    }
    let read = |one: &str| {
        let (from, to) = one.split_once('/').ok_or_else(bad)?;
        let time = |text| read_time(text, "ignore");
        let (from, to) = (time(from)?.0, time(to)?.0);
        (from < to).then_some((from, to)).ok_or_else(bad)
    };
    let times: Result<Vec<_>, _> = all.into_iter().map(read).collect();
    Ok(apart(times?))
}

/// Reports the pods that were skipped.
fn left_out(page: &mut Making, bad: Vec<String>) {
    for pod in bad {
        page.leave_out(pod, BEYOND);
    }
}

/// `nerc-pods`: each run of each pod.
pub(super) async fn list(call: &Call, wanted: Wanted, query: &ExportQuery) -> Handled {
    let is_safe = query.spreadsheet_safe.is_some_and(bool::from);
    let found = found(call, wanted, query, None).await?;
    let mut page = Making::default();
    let mut bad = found.bad.clone();
    for run in &found.runs {
        match run.row(is_safe) {
            Some(row) => {
                page.text.push_str(&row);
                page.records = page.records.saturating_add(1);
            }
            None => bad.push(format!("{}/{}", run.namespace, run.pod)),
        }
    }
    left_out(&mut page, bad);
    ok(&page.done(PODS.to_owned(), "", None, false))
}

/// `nerc-invoice`: a month, by project and kind of service units.
pub(super) async fn invoice(call: &Call, wanted: Wanted, query: &ExportQuery) -> Handled {
    let month =
        month(&wanted).ok_or_else(|| bad(call, "from", "the first instant of a month in UTC"));
    let month = month?;
    let (Some(from), Some(to)) = (wanted.from, wanted.to) else {
        return Err(bad(call, "to", "the end of a month"));
    };
    let next = DateTime::<Utc>::from_timestamp_micros(from.0);
    let next = next.and_then(|at| at.checked_add_months(Months::new(1)));
    if next.map(|at| at.timestamp_micros()) != Some(to.0) {
        return Err(bad(
            call,
            "to",
            "the end of the month that begins with from",
        ));
    }
    let rates = call.services.export.su_rates();
    let is_safe = query.spreadsheet_safe.is_some_and(bool::from);
    let round_up = query.round_up.is_some_and(bool::from);
    let found = found(call, wanted, query, query.by_class.clone()).await?;
    let (mut sums, mut page) = (Invoice::default(), Making::default());
    let mut bad = found.bad.clone();
    for run in &found.runs {
        let project = match query.by_class {
            Some(_) => found.class_of(run),
            None => run.namespace.clone(),
        };
        if !sums.add(&project, run) {
            bad.push(format!("{}/{}", run.namespace, run.pod));
        }
    }
    left_out(&mut page, bad);
    let directory = call.directory();
    let about = |name: &str| {
        let space = query.by_class.as_deref().unwrap_or(name);
        let project = found.projects.get(space);
        let project = project.and_then(|name| directory.project_named(name));
        let own = found.leaders.get(space).map(|pi| shown(directory, pi));
        Line {
            manager: own
                .or_else(|| project.map(|project| leader(directory, project)))
                .unwrap_or_default(),
            code: project.map_or_else(String::new, |project| project.organization.clone()),
        }
    };
    let rows = sums.rows(&month, &rates, round_up, is_safe, about);
    let rows = rows.map_err(|kind| match kind {
        Some(kind) => no_rate(kind.word(), &month),
        None => Failure::new("too_large", "a sum is out of range"),
    })?;
    page.records = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    page.text = rows.concat();
    ok(&page.done(Invoice::HEAD.to_owned(), "", None, false))
}

fn no_rate(kind: &str, month: &str) -> Failure {
    let message = format!("export.su_rates has no rate of {kind:?} in {month}");
    Failure::new("bad_value", message)
        .hint(format!("set one in bankd.toml, such as \"{kind}=0.013\""))
}

/// `2024-05`, if a time begins with it.
fn month(wanted: &Wanted) -> Option<String> {
    let from = wanted.from.filter(|at| is_month(*at))?;
    let at = DateTime::<Utc>::from_timestamp_micros(from.0)?;
    Some(at.format("%Y-%m").to_string())
}

/// A person by mail address if there is one.
fn shown(directory: &Directory, name: &str) -> String {
    let email = directory.user_named(name).map(|user| user.email.as_str());
    let email = email.filter(|email| !email.is_empty());
    email.unwrap_or(name).to_owned()
}

/// The leader of a project, by mail address if there is one; the first by name. Empty for none.
fn leader(directory: &Directory, project: &Project) -> String {
    let members = directory.members_of(project.id).into_iter();
    let leading = members.filter(|m| m.active && m.role == MemberRole::Pi);
    let users = leading.filter_map(|member| directory.user(member.user));
    let first = users.map(|user| &user.name).min();
    first.map_or_else(String::new, |name| shown(directory, name))
}
