//! Accounting logs of PBS, `OpenPBS` and TORQUE (`collectors.md` c): `time;letter;id;key=value …`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, BufRead};

use super::job::{Found, Job, Label, State};
use super::lines::each_line;
use super::number::Number;
use super::repair::{REPAIRED, Span, span};
use super::text::{clock, known};
use super::{Reader, Sink};

mod pairs;

use pairs::Pairs;

/// Reads accounting logs. Only `E` lines, ended jobs, are charged.
#[derive(Debug, Default)]
pub(super) struct Pbs;

impl Reader for Pbs {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        each_line(input, sink, |line| {
            Some(Found::of(judged(&visible(&line.text()))))
        })
    }
}

/// A line without its control characters, which are no part of any value; blanks stay.
fn visible(line: &str) -> Cow<'_, str> {
    let is_no_part = |c: char| c.is_control() && !c.is_whitespace();
    if line.contains(is_no_part) {
        return Cow::Owned(line.replace(is_no_part, ""));
    }
    Cow::Borrowed(line)
}

/// The job, or why nothing is charged for it; in the order of the tests of `data/LAYOUT.md`.
fn judged(text: &str) -> Result<Result<Job, Label>, String> {
    let parts: Vec<&str> = text.splitn(4, ';').collect();
    let [time, letter, id, message] = parts.as_slice() else {
        return Err("no header: time;letter;id;message".to_owned());
    };
    if !is_time(time) {
        return Err(format!("{time:?} is no MM/DD/YYYY HH:MM:SS"));
    }
    if *letter != "E" {
        return Ok(Err(format!("event_{letter}").into()));
    }
    if id.is_empty() {
        return Err("an ended job without an id".to_owned());
    }
    if is_array(id) {
        return Ok(Err("never_started".into()));
    }
    let pairs = Pairs::read(message)?;
    let (start, end) = (pairs.seconds("start")?, pairs.seconds("end")?);
    let used = pairs.text("resources_used.walltime").and_then(duration);
    let is_over = end != 0 || used.is_some_and(Number::is_above_zero);
    if start <= 0 || !is_over {
        return Ok(Err("never_started".into()));
    }
    job(id, start, end, used, &pairs).map(Ok)
}

/// Whether an id is the parent of an array, `1[].srv`: its tasks have their own records. It has a start since PBS Pro 18.
fn is_array(id: &str) -> bool {
    let number = id.split('.').next().unwrap_or(id);
    number.ends_with("[]")
}

/// `MM/DD/YYYY HH:MM:SS`
fn is_time(text: &str) -> bool {
    const FORM: &[u8] = b"00/00/0000 00:00:00";
    text.len() == FORM.len()
        && text.bytes().zip(FORM).all(|(b, form)| match form {
            b'0' => b.is_ascii_digit(),
            mark => b == *mark,
        })
}

fn job(
    id: &str,
    start: i64,
    end: i64,
    used: Option<Number>,
    pairs: &Pairs<'_>,
) -> Result<Job, String> {
    let beyond = || "a figure beyond the supported range".to_owned();
    let micros = |seconds: i64| seconds.checked_mul(1_000_000).ok_or_else(beyond);
    let (start_us, end_us) = (micros(start)?, micros(end)?);
    let times = span(Some(start_us), Some(end_us).filter(|end| *end != 0), used);
    // Without a run time to go by, an end before the start is no use.
    let times = times.unwrap_or(Span::empty(start_us));
    let us = times
        .end_us
        .checked_sub(times.start_us)
        .ok_or_else(beyond)?;
    let wall = Number::seconds(us);
    let procs = procs(pairs)?;
    let core = wall.times(procs).ok_or_else(beyond)?;
    let exit = pairs.text("Exit_status");
    let hosts = pairs.text("exec_host");
    let mut job = Job {
        id: id.to_owned(),
        start_us: times.start_us,
        end_us: times.end_us,
        submit_us: pairs
            .text("ctime")
            .and_then(|at| at.parse::<i64>().ok()?.checked_mul(1_000_000)),
        wall,
        user: pairs.known("user"),
        account: pairs.known("account"),
        group: pairs.known("group"),
        queue: pairs.known("queue"),
        state_word: Some(format!("exit={}", exit.unwrap_or("None"))),
        state: state(exit),
        exit: exit.and_then(known),
        name: pairs.known("jobname"),
        hosts: hosts.and_then(known),
        procs: Some(procs),
        nodes: nodes(pairs),
        gpus: gpus(pairs)?,
        memory_bytes: pairs.text("resources_used.mem").and_then(size),
        cpu: pairs.text("resources_used.cput").and_then(duration),
        limit_s: pairs
            .text("Resource_List.walltime")
            .and_then(duration)
            .and_then(|limit| i64::try_from(limit.as_whole()?).ok()),
        ..Job::default()
    };
    if let Some(project) = pairs.known("project") {
        job.attributes.insert("project".to_owned(), project);
    }
    job.add("wall_s", wall);
    job.add("core_s", core);
    job.add_if("cpu_s", job.cpu);
    job.add_if("used_walltime_s", used);
    if times.is_repaired {
        job.flags.push(REPAIRED);
    }
    Ok(job)
}

/// Processors: the first available value, in the order of `collectors.md` c.
fn procs(pairs: &Pairs<'_>) -> Result<Number, String> {
    for key in ["resources_used.ncpus", "total_execution_slots"] {
        if let Some(count) = pairs.count(key)? {
            return Ok(Number::whole(count));
        }
    }
    let hosts = pairs.text("exec_host").map(host_processors);
    let found = match hosts.filter(|count| *count > 0) {
        Some(count) => Some(count),
        None => requested(pairs)?,
    };
    Ok(Number::whole(found.unwrap_or(1)))
}

/// Requested processors: those of the nodes. Nodes without `ppn` have one each, which is a default, so a
/// greater `ncpus` counts (and TORQUE's own default of `ncpus` is 1).
fn requested(pairs: &Pairs<'_>) -> Result<Option<i128>, String> {
    let nodes = pairs.text("Resource_List.nodes").unwrap_or_default();
    let by_nodes = node_processors(nodes);
    let by_nodes =
        by_nodes.map_err(|part| format!("Resource_List.nodes: {part:?} is not a count"))?;
    if by_nodes.is_some() && nodes.contains("ppn=") {
        return Ok(by_nodes);
    }
    Ok(by_nodes.max(pairs.count("Resource_List.ncpus")?))
}

/// `n1/7+n1/6` one each, `n1/0-3,8+n2/1` ranges, `n1/0*13` thirteen; `n1/24` is processor 24, one.
fn host_processors(hosts: &str) -> i128 {
    let range = |part: &str| {
        if let Some((_, times)) = part.split_once('*') {
            return times.parse().unwrap_or(0).max(0);
        }
        let ends = part.split_once('-');
        let ends = ends.and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
        ends.map_or(1, |(low, high): (i128, i128)| {
            high.saturating_sub(low).saturating_add(1).max(0)
        })
    };
    let host = |host: &str| match host.split_once('/') {
        Some((_, slots)) => slots.split(',').map(range).fold(0, i128::saturating_add),
        None => 1,
    };
    hosts.split('+').map(host).fold(0, i128::saturating_add)
}

/// `4:ppn=8`, `node1:ppn=2+node2:ppn=2`, `2:ppn=8+1`: a part without a count of processors has one on each node.
/// Properties of all parts are behind `#`.
///
/// # Errors
/// A part whose processors cannot be counted.
fn node_processors(nodes: &str) -> Result<Option<i128>, &str> {
    let mut sum = 0_i128;
    for part in parts_of(nodes).filter(|part| !part.is_empty()) {
        let mut words = part.split(':');
        let count = words.next().unwrap_or_default();
        let count: i128 = count.parse().unwrap_or(1);
        let each = words.find_map(|word| word.strip_prefix("ppn="));
        let each = each.map_or(Ok(1), str::parse::<i128>).map_err(|_| part)?;
        let all = count.max(0).checked_mul(each.max(0)).ok_or(part)?;
        sum = sum.saturating_add(all);
    }
    Ok((sum > 0).then_some(sum))
}

/// The parts of a `Resource_List.nodes`.
fn parts_of(nodes: &str) -> impl Iterator<Item = &str> {
    let parts = nodes.split('#').next().unwrap_or(nodes);
    parts.split('+')
}

/// Distinct hosts, else the number of nodes that was asked for.
fn nodes(pairs: &Pairs<'_>) -> Option<Number> {
    if let Some(hosts) = pairs.text("exec_host") {
        let name = |host: &'_ str| host.split('/').next().unwrap_or(host).to_owned();
        let distinct: BTreeSet<String> = hosts.split('+').map(name).collect();
        return i128::try_from(distinct.len()).ok().map(Number::whole);
    }
    let requested = pairs.text("Resource_List.nodect")?;
    let digits = requested.split(':').next().unwrap_or(requested);
    let count = digits.parse::<i128>().ok().filter(|count| *count >= 0);
    count.map(Number::whole)
}

/// GPUs, the first available value.
fn gpus(pairs: &Pairs<'_>) -> Result<Option<Number>, String> {
    let of_nodes = |key: &str| {
        let found = node_gpus(pairs.text(key).unwrap_or_default());
        found.map_err(|part| format!("{key}: {part:?} is not a count"))
    };
    if let Some(count) = of_nodes("Resource_List.nodes")? {
        return Ok(Some(Number::whole(count)));
    }
    for key in ["Resource_List.ngpus", "Resource_List.gpus"] {
        if let Some(count) = pairs.count(key)? {
            return Ok(Some(Number::whole(count)));
        }
    }
    let count = of_nodes("Resource_List.nodect")?;
    Ok(count.map(Number::whole))
}

/// `2:ppn=32:gpus=2` is four; `None` where none are named.
///
/// # Errors
/// A part whose GPUs cannot be counted.
fn node_gpus(nodes: &str) -> Result<Option<i128>, &str> {
    let mut sum = 0_i128;
    for part in parts_of(nodes) {
        let mut words = part.split(':');
        let count = words.next().unwrap_or_default();
        let count: i128 = count.parse().unwrap_or(1);
        let each = words.find_map(|word| {
            let each = word.strip_prefix("gpus=");
            each.or_else(|| word.strip_prefix("gpu="))
        });
        let Some(each) = each else {
            continue;
        };
        let each = each.parse::<i128>().map_err(|_| part)?;
        let all = count.max(0).checked_mul(each.max(0)).ok_or(part)?;
        sum = sum.saturating_add(all);
    }
    Ok((sum > 0).then_some(sum))
}

/// `HH:MM:SS` with any number of digits, or seconds.
fn duration(text: &str) -> Option<Number> {
    clock(text).or_else(|| Number::parse(text).filter(|seconds| !seconds.is_negative()))
}

/// `15240kb`, `1993mb`, `12.27M`, `4gw` (words of eight bytes); a bare number counts kilobytes
/// (`collectors.md` 0.5).
fn size(text: &str) -> Option<Number> {
    let lower = text.to_ascii_lowercase();
    let digits = lower
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(lower.len());
    let (number, unit) = lower.split_at_checked(digits)?;
    let (unit, word) = match unit.strip_suffix('w') {
        Some(unit) => (unit, 8),
        None => (unit.strip_suffix('b').unwrap_or(unit), 1),
    };
    let bytes: i128 = match (unit, lower.ends_with(['b', 'w'])) {
        ("", true) => 1,
        ("" | "k", _) => 1 << 10,
        ("m", _) => 1 << 20,
        ("g", _) => 1 << 30,
        ("t", _) => 1 << 40,
        _ => return None,
    };
    Number::parse(number)?
        .times(Number::whole(bytes.checked_mul(word)?))
        .map(|bytes| bytes.cut(0))
}

fn state(exit: Option<&str>) -> State {
    match exit.map(str::parse::<i64>) {
        Some(Ok(0)) => State::Completed,
        // OpenPBS: JOB_EXEC_KILL_CPUT and JOB_EXEC_KILL_WALLTIME (job.h).
        Some(Ok(-28 | -29)) => State::Timeout,
        // TORQUE adds 256 to a signal; SIGTERM and SIGKILL are how jobs are taken away.
        Some(Ok(265 | 271 | 137 | 143)) => State::Aborted,
        Some(Ok(_)) => State::Failed,
        _ => State::Unknown,
    }
}

#[cfg(test)]
mod tests;
