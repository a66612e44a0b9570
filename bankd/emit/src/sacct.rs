//! Finished jobs as the 26 columns of `sacct` that Open `XDMoD` shreds (`usage-records.md` 5.1): no header
//! line, `|` between columns, times in UTC. Only the last column may hold a `|`.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use super::export::{Site, Written, seconds, unfit_for_jobs};
use super::{Record, State, text};

/// The line of a record with its line feed.
pub fn render(record: &Record, _site: &Site) -> Written {
    if let Some(unfit) = unfit_for_jobs(record) {
        return unfit;
    }
    if !ran(record.state) {
        return Written::Skipped("it has not ended");
    }
    let (Some(start), Some(end)) = (record.start(), record.end()) else {
        return Written::Skipped("its start or end is unknown");
    };
    // XDMoD cannot do without one, and repairs none.
    // In `sacct`, a submission after the start means that the job got another size then.
    let submit = record.submit_time.map_or(start, |at| at.min(start));
    let elapsed = seconds(record.wall.unwrap_or(end.saturating_sub(start)).into());
    let times = (time(submit), time(start), time(end));
    let (Some(submit), Some(start), Some(end)) = times else {
        return Written::Skipped("its times are beyond the calendar");
    };
    let processors = text::ceiling(record.usage.processors()).max(1);
    let nodes = record.nodes.unwrap_or_else(|| hosts_of(record)).max(1);
    let requested = record.requested_processors;
    let requested = requested.map_or(processors, |requested| text::ceiling(requested.into()));
    let requested_memory = record
        .requested_memory
        .and_then(|bytes| bytes.checked_mul(nodes));
    let (id, is_other) = job_id(record);
    let or_empty = |number: Option<i64>| number.map(|n| n.to_string()).unwrap_or_default();
    let project = plain(record.project.as_deref());
    let fields = [
        id.clone(),
        id,
        plain(Some(&record.machine)),
        plain(record.class.as_deref()),
        plain(record.qos.as_deref()),
        project.clone(),
        // Where XDMoD takes the principal investigator from.
        record
            .group
            .as_deref()
            .map_or(project, |group| plain(Some(group))),
        or_empty(record.gid),
        plain(record.user.as_deref()),
        or_empty(record.uid),
        submit.clone(),
        submit,
        start,
        end,
        clock(elapsed),
        record
            .exit_code
            // A code that the column cannot hold.
            .filter(|code| *code >= 0)
            .map(|code| format!("{code}:0"))
            .unwrap_or_default(),
        word(record.state).to_owned(),
        nodes.to_string(),
        processors.to_string(),
        requested.to_string(),
        requested_memory_text(record),
        tres(requested, requested_memory, nodes, record.gpus),
        tres(processors, record.memory(), nodes, record.gpus),
        record
            .requested
            .map(|requested| clock(seconds(requested.into())))
            .unwrap_or_default(),
        node_list(record),
        job_name(record, is_other),
    ];
    Written::Text(fields.join("|") + "\n")
}

/// Mebibytes on each node.
fn requested_memory_text(record: &Record) -> String {
    let mebibytes = |bytes: i64| text::nearest(bytes.max(0).into(), 1 << 20);
    let requested = record.requested_memory.map(mebibytes);
    requested
        .map(|requested| format!("{requested}Mn"))
        .unwrap_or_default()
}

fn ran(state: State) -> bool {
    !matches!(
        state,
        State::Running | State::Suspended | State::Held | State::Queued
    )
}

/// The words that `XDMoD` takes; it drops all others silently.
fn word(state: State) -> &'static str {
    match state {
        State::Failed => "FAILED",
        State::Timeout => "TIMEOUT",
        State::Aborted => "CANCELLED",
        State::Preempted => "PREEMPTED",
        _ => "COMPLETED",
    }
}

/// `2026-01-20T11:50:00`, cut to the second.
pub(crate) fn time(micros: i64) -> Option<String> {
    let time = DateTime::<Utc>::from_timestamp(micros.div_euclid(1_000_000), 0)?;
    Some(time.format("%Y-%m-%dT%H:%M:%S").to_string())
}

/// `[days-]hours:minutes:seconds`.
pub(crate) fn clock(seconds: i128) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hours, minutes) = (rest / 3600, rest % 3600 / 60);
    let day = if days > 0 {
        format!("{days}-")
    } else {
        String::new()
    };
    format!("{day}{hours:02}:{minutes:02}:{:02}", rest % 60)
}

/// The first entry with `gres/gpu` is the only one that is counted.
fn tres(processors: i128, memory: Option<i64>, nodes: i64, gpus: Option<i64>) -> String {
    // Writing to a string cannot fail.
    let mut text = format!("billing={processors},cpu={processors}");
    if let Some(gpus) = gpus.filter(|gpus| *gpus > 0) {
        let _ = write!(text, ",gres/gpu={gpus}");
    }
    if let Some(bytes) = memory.filter(|bytes| *bytes > 0) {
        let _ = write!(text, ",mem={}", size(bytes));
    }
    let _ = write!(text, ",node={nodes}");
    text
}

/// The largest unit in which it is a whole number, else bytes up to the next kibibyte.
pub(crate) fn size(bytes: i64) -> String {
    let units = [("T", 40), ("G", 30), ("M", 20)];
    for (unit, shift) in units {
        if bytes % (1_i64 << shift) == 0 {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{}K", bytes / 1024 + i64::from(bytes % 1024 > 0))
}

/// A number that `XDMoD` takes, and whether it is another than the scheduler's id.
fn job_id(record: &Record) -> (String, bool) {
    let id = record.object_id.as_str();
    let digits =
        |text: &str| (1..=18).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if digits(id) {
        return (id.to_owned(), false);
    }
    // `Moab.1024`
    if let Some((name, number)) = id.split_once('.')
        && digits(number)
        && name.chars().all(char::is_alphabetic)
    {
        return (number.to_owned(), false);
    }
    // `123[4].server`, `123.server` and `123_4`
    let local = id.split('.').next().unwrap_or_default();
    let array = local
        .strip_suffix(']')
        .and_then(|rest| rest.split_once('['))
        .or_else(|| local.split_once('_'));
    if let Some((job, index)) = array
        && digits(job)
        && digits(index)
    {
        return (format!("{job}_{index}"), false);
    }
    if digits(local) {
        return (local.to_owned(), false);
    }
    (record.record_id.to_string(), true)
}

/// Everything that the last column can hold; the scheduler's id goes with it where it is no number.
fn job_name(record: &Record, with_id: bool) -> String {
    let name = record.job_name.as_deref().unwrap_or_default();
    let name = one_line(name);
    if !with_id {
        return name;
    }
    let id = one_line(&record.object_id);
    match name.as_str() {
        "" => id,
        name => format!("{name} ({id})"),
    }
}

/// A text without what ends a line.
pub(crate) fn one_line(line: &str) -> String {
    let kept = |c: char| if text::ends_line(c) { ' ' } else { c };
    line.chars().map(kept).collect::<String>().trim().to_owned()
}

/// A text without what ends a column or a line.
pub(crate) fn plain(text: Option<&str>) -> String {
    one_line(&text.unwrap_or_default().replace('|', ""))
}

fn hosts_of(record: &Record) -> i64 {
    i64::try_from(record.hosts.len()).unwrap_or(i64::MAX)
}

/// `n[1-4],x`: only neighbours that differ in their last number are joined. The machine if no node is known:
/// `XDMoD` skips lines without nodes.
fn node_list(record: &Record) -> String {
    if record.hosts.is_empty() {
        return node(&record.machine);
    }
    let mut groups: Vec<Group> = Vec::new();
    for host in &record.hosts {
        let host = node(host);
        let next = Group::of(&host);
        match groups.last_mut() {
            Some(last) if last.goes_on(&next) => last.to = next.to,
            _ => groups.push(next),
        }
    }
    let all: Vec<String> = groups.iter().map(Group::text).collect();
    all.join(",")
}

/// A node as lists can have it: `-` for what would end it, begin a range, or is in no name.
fn node(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    name.replace(|c| !allowed(c), "-")
}

/// Hosts of one name with numbers that follow each other.
struct Group {
    name: String,
    /// Digits of a number with zeros in front, else 0.
    width: usize,
    from: Option<u64>,
    to: Option<u64>,
}

impl Group {
    fn of(host: &str) -> Self {
        let name = host.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = host.get(name.len()..).unwrap_or_default();
        let number = digits.parse().ok();
        let has_zeros = digits.len() > 1 && digits.starts_with('0');
        let whole = number.is_none();
        Self {
            name: if whole { host } else { name }.to_owned(),
            width: if has_zeros { digits.len() } else { 0 },
            from: number.filter(|_| !whole),
            to: number.filter(|_| !whole),
        }
    }

    fn goes_on(&self, next: &Self) -> bool {
        let follows = self.to.and_then(|to| to.checked_add(1));
        // `n09` is followed by `n10`, which has no zero in front.
        let same_width = self.width == next.width
            || (next.width == 0 && next.from.is_some_and(|n| n.to_string().len() == self.width));
        self.name == next.name && same_width && follows.is_some() && follows == next.from
    }

    fn text(&self) -> String {
        let width = self.width;
        match (self.from, self.to) {
            (Some(from), Some(to)) if from == to => format!("{}{from:0width$}", self.name),
            (Some(from), Some(to)) => format!("{}[{from:0width$}-{to:0width$}]", self.name),
            _ => self.name.clone(),
        }
    }
}
