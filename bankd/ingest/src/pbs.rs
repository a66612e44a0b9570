//! Accounting logs of PBS, `OpenPBS` and TORQUE (`collectors.md` c): `time;letter;id;key=value …`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

use super::job::{Found, Job, Label, State};
use super::lines::each_line;
use super::number::Number;
use super::repair::{REPAIRED, Span, span};
use super::text::{clock, known};
use super::{Reader, Sink};

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
    let pairs = Pairs::read(message);
    let (start, end) = (pairs.seconds("start")?, pairs.seconds("end")?);
    let used = pairs.text("resources_used.walltime").and_then(duration);
    let is_over = end != 0 || used.is_some_and(Number::is_above_zero);
    if start <= 0 || !is_over {
        return Ok(Err("never_started".into()));
    }
    job(id, start, end, used, &pairs).map(Ok)
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
        gpus: gpus(pairs),
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

/// The `key=value` words of a message; a value may be quoted, and then contain blanks.
struct Pairs<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Pairs<'a> {
    fn read(message: &'a str) -> Self {
        let mut words = BTreeMap::new();
        let mut rest = message.trim_start();
        while let Some((key, after)) = rest.split_once('=') {
            // Text before the last blank of a key is a word without a value.
            let key = key.rsplit(char::is_whitespace).next().unwrap_or(key);
            let quoted = after
                .strip_prefix('"')
                .and_then(|inner| inner.split_once('"'));
            let (value, left) = match quoted {
                Some(parts) => parts,
                None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
            };
            words.insert(key, value);
            rest = left.trim_start();
        }
        Self(words)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).copied().filter(|value| !value.is_empty())
    }

    fn known(&self, key: &str) -> Option<String> {
        self.text(key).and_then(known)
    }

    fn count(&self, key: &str) -> Option<i128> {
        self.text(key)?.parse().ok().filter(|count| *count > 0)
    }

    /// A count of processors; none if it is missing or not above zero.
    fn processors(&self, key: &str) -> Result<Option<i128>, String> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let count: Result<i128, _> = text.parse();
        count
            .map(|count| Some(count).filter(|count| *count > 0))
            .map_err(|_| format!("{key}: {text:?} is no count"))
    }

    /// Epoch seconds; 0 if missing.
    fn seconds(&self, key: &str) -> Result<i64, String> {
        let Some(text) = self.text(key) else {
            return Ok(0);
        };
        text.parse()
            .map_err(|_| format!("{key}: {text:?} is no time"))
    }
}

/// Processors: the first available value, in the order of `collectors.md` c.
fn procs(pairs: &Pairs<'_>) -> Result<Number, String> {
    for key in ["resources_used.ncpus", "total_execution_slots"] {
        if let Some(count) = pairs.processors(key)? {
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
    let nodes = pairs.text("Resource_List.nodes");
    let by_nodes = nodes.and_then(node_processors);
    if by_nodes.is_some() && nodes.is_some_and(|nodes| nodes.contains("ppn=")) {
        return Ok(by_nodes);
    }
    Ok(by_nodes.max(pairs.processors("Resource_List.ncpus")?))
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
fn node_processors(nodes: &str) -> Option<i128> {
    let part = |part: &str| {
        let mut words = part.split(':');
        let count = words.next().filter(|count| !count.is_empty())?;
        let count: i128 = count.parse().unwrap_or(1).max(0);
        let each = words.find_map(|word| word.strip_prefix("ppn="));
        let each: i128 = each.map_or(Some(1), |each| each.parse().ok())?;
        count.checked_mul(each.max(0))
    };
    let sum = nodes
        .split('+')
        .filter_map(part)
        .fold(0, i128::saturating_add);
    (sum > 0).then_some(sum)
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
fn gpus(pairs: &Pairs<'_>) -> Option<Number> {
    let found = pairs
        .text("Resource_List.nodes")
        .and_then(node_gpus)
        .or_else(|| pairs.count("Resource_List.ngpus"))
        .or_else(|| pairs.count("Resource_List.gpus"))
        .or_else(|| pairs.text("Resource_List.nodect").and_then(node_gpus));
    found.map(Number::whole)
}

/// `2:ppn=32:gpus=2` is four; `None` where none are named.
pub(super) fn node_gpus(nodes: &str) -> Option<i128> {
    let part = |part: &str| {
        let mut words = part.split(':');
        let count: i128 = words.next()?.parse().unwrap_or(1).max(0);
        let each = words.find_map(|word| {
            word.strip_prefix("gpus=")
                .or_else(|| word.strip_prefix("gpu="))
        })?;
        count.checked_mul(each.parse::<i128>().ok()?.max(0))
    };
    let sum = nodes
        .split('+')
        .filter_map(part)
        .fold(0, i128::saturating_add);
    (sum > 0).then_some(sum)
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
        // TORQUE adds 256 to a signal; SIGTERM and SIGKILL are how jobs are taken away.
        Some(Ok(265 | 271 | 137 | 143)) => State::Aborted,
        Some(Ok(_)) => State::Failed,
        _ => State::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_in_every_spelling() {
        for (hosts, count) in [
            ("n1/7+n1/6", 2),
            ("n1/0-3,8+n2/1", 6),
            ("n1/0*13+n2/0*13", 26),
            ("n1/24", 1),
            ("h/0*0", 0),
            ("n1/0*13+n2/0*-5", 13),
            ("n1", 1),
        ] {
            assert_eq!(host_processors(hosts), count, "{hosts}");
        }
        assert_eq!(node_processors("n1:ppn=2+n2:ppn=2"), Some(4));
        for (nodes, count) in [
            ("2:ppn=8+1", Some(17)),
            ("3", Some(3)),
            ("n1+n2:ppn=4", Some(5)),
            ("2:fast:ppn=8:gpus=2+1:slow", Some(17)),
            ("2:ppn=x+1", Some(1)),
            ("0", None),
            ("", None),
        ] {
            assert_eq!(node_processors(nodes), count, "{nodes}");
        }
        assert_eq!(node_processors("-2:ppn=-2"), None);
        assert_eq!(node_gpus("1:gpus=2+-1:gpus=-9"), Some(2));
    }

    #[test]
    fn sizes_have_many_units() {
        for (text, bytes) in [
            ("15240kb", Some(15_605_760)),
            ("12.27M", Some(12_866_027)),
            ("10", Some(10_240)),
            ("10b", Some(10)),
            ("2gw", Some(17_179_869_184)),
            ("x", None),
        ] {
            assert_eq!(size(text).and_then(Number::as_whole), bytes, "{text}");
        }
    }

    #[test]
    fn lines_are_charged_skipped_or_rejected() {
        for (line, expected) in [
            (
                "E;1.srv;start=100 end=160 resources_used.ncpus=4",
                "1.srv 100 60 4",
            ),
            (
                "E;1.srv;start=100 end=160 Resource_List.ncpus=3",
                "1.srv 100 60 3",
            ),
            ("E;1.srv;start=100 end=160", "1.srv 100 60 1"),
            (
                "E;1.srv;start=100 end=160 resources_used.ncpus=0 Resource_List.ncpus=3",
                "1.srv 100 60 3",
            ),
            (
                "E;1.srv;start=100 end=160 resources_used.ncpus=1K",
                "!resources_used.ncpus: \"1K\" is no count",
            ),
            (
                "E;1.srv;start=100 end=160 Resource_List.ncpus=x",
                "!Resource_List.ncpus: \"x\" is no count",
            ),
            (
                "E;1.srv;start=100 end=160 Resource_List.ncpus=1 Resource_List.nodes=3",
                "1.srv 100 60 3",
            ),
            (
                "E;1.srv;start=100 end=160 Resource_List.ncpus=8 Resource_List.nodes=1",
                "1.srv 100 60 8",
            ),
            (
                "E;1.srv;start=100 end=160 Resource_List.ncpus=99 Resource_List.nodes=2:ppn=8+1",
                "1.srv 100 60 17",
            ),
            (
                "E;1.srv;start=100 resources_used.walltime=00:01:00",
                "1.srv 100 60 1 repaired",
            ),
            (
                "E;1.srv;start=200 end=160 resources_used.walltime=60",
                "1.srv 100 60 1 repaired",
            ),
            ("E;1.srv;start=200 end=160", "1.srv 200 0 1"),
            ("E;1[].srv;ctime=5", "never_started"),
            ("E;1.srv;start=100", "never_started"),
            ("E;1.srv;start=-100 end=160", "never_started"),
            ("E;1.srv;start=x end=160", "!start: \"x\" is no time"),
            ("E;;start=100 end=160", "!an ended job without an id"),
            ("Q;1.srv;queue=q", "event_Q"),
            ("z;1.srv;", "event_z"),
            ("E;1.srv", "!no header: time;letter;id;message"),
        ] {
            let result = match judged(&format!("01/02/2026 03:04:05;{line}")) {
                Ok(Ok(job)) => {
                    let (start, procs) = (job.start_us / 1_000_000, job.procs.unwrap());
                    let flags = job.flags.iter().map(|flag| format!(" {flag}"));
                    let flags: String = flags.collect();
                    format!("{} {start} {} {procs}{flags}", job.id, job.wall)
                }
                Ok(Err(label)) => label.to_string(),
                Err(why) => format!("!{why}"),
            };
            assert_eq!(result, expected, "{line}");
        }
    }

    #[test]
    fn values_may_be_quoted() {
        let pairs = Pairs::read("a=1 account=\"chem 2026 spring\" odd b=x=y");
        assert_eq!(pairs.text("account"), Some("chem 2026 spring"));
        assert_eq!((pairs.text("a"), pairs.text("b")), (Some("1"), Some("x=y")));
    }
}
