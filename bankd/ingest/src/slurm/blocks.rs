//! `scontrol show job` and the file of jobcomp: `Key=Value` words, in blocks or one job in a line
//! (`collectors.md` a.8).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

use chrono_tz::Tz;

use super::hosts;
use super::row::{self, Moment, Order, Row};
use super::stated::Stated;
use super::tres::{self, Resources};
use crate::job::{Found, Record};
use crate::lines::{LINE_MAX, Line, Lines};
use crate::text::clock;
use crate::{Reader, Sink, not_of_the_format};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `scontrol show job`: a job begins with `JobId=` at the beginning of a line.
    Scontrol,
    /// jobcomp/filetxt: a job is a line.
    Jobcomp,
}

/// Reads either.
#[derive(Debug)]
pub(crate) struct Blocks(pub(crate) Form, pub(crate) Tz);

impl Reader for Blocks {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut lines = Lines::new(input);
        let mut block: Option<Block> = None;
        let mut is_empty = true;
        while let Some(line) = lines.next_line()? {
            let text = line.text();
            is_empty &= line.is_blank() || text.trim() == NO_JOBS;
            let begins = text.starts_with("JobId=") || self.0 == Form::Jobcomp;
            if begins && !line.is_blank() {
                let fresh = Block {
                    line: line.number,
                    bad_line: line.too_long(),
                    text: text.into_owned(),
                };
                self.give(block.replace(fresh), sink)?;
            } else if let Some(block) = &mut block
                && !line.is_blank()
            {
                block.add(&line);
            }
        }
        if block.is_none() && !is_empty {
            return Err(not_of_the_format("no line begins with JobId="));
        }
        self.give(block, sink)
    }
}

/// The answer of `scontrol` where there are no jobs.
const NO_JOBS: &str = "No jobs in the system";

/// The lines of a job so far.
struct Block {
    line: u64,
    text: String,
    /// Why it is unreadable.
    bad_line: Option<String>,
}

impl Block {
    fn add(&mut self, line: &Line<'_>) {
        let why = line.too_long().or_else(|| {
            let length = self.text.len().saturating_add(line.bytes.len());
            (length > LINE_MAX).then(|| format!("a job of more than {LINE_MAX} bytes"))
        });
        if why.is_some() {
            self.bad_line = self.bad_line.take().or(why);
            return;
        }
        self.text.push('\n');
        self.text.push_str(&line.text());
    }
}

impl Blocks {
    fn give(&self, block: Option<Block>, sink: &mut Sink<'_>) -> io::Result<()> {
        let Some(block) = block else {
            return Ok(());
        };
        let text = block.text.trim_end();
        let found = block.bad_line.map(Found::Malformed);
        let found = found.unwrap_or_else(|| self.found(text));
        sink(Record::new(block.line, text.as_bytes(), found))
    }

    fn found(&self, text: &str) -> Found {
        let words = match Words::read(text) {
            Ok(words) => words,
            Err(why) => return Found::Malformed(why),
        };
        if words.get("JobId").is_empty() || words.get("JobState").is_empty() {
            return Found::Malformed("no JobId= and JobState=".to_owned());
        }
        let names = match self.0 {
            Form::Scontrol => ["NumNodes", "NumCPUs", "JobName"],
            Form::Jobcomp => ["NodeCnt", "ProcCnt", "Name"],
        };
        words.row(names, self.1).found(Order::StateFirst)
    }
}

/// Texts of the user's own. In a block each is the last of its line, and the line is all its.
const FREE: [&str; 7] = [
    "JobName",
    "Command",
    "WorkDir",
    "Comment",
    "AdminComment",
    "SystemComment",
    "SubmitLine",
];

/// Keys that decide the payer and the amount. A free text of the user could contain one of them, so
/// a line with two different values of one is rejected.
const DECIDING: [&str; 24] = [
    "JobId",
    "ArrayJobId",
    "ArrayTaskId",
    "HetJobId",
    "HetJobOffset",
    "UserId",
    "GroupId",
    "Account",
    "Partition",
    "QOS",
    "Cluster",
    "Reservation",
    "JobState",
    "SubmitTime",
    "StartTime",
    "EndTime",
    "RunTime",
    "TimeLimit",
    "NumNodes",
    "NumCPUs",
    "NodeCnt",
    "ProcCnt",
    "ReqTRES",
    RESOURCES,
];

/// The allocated resources.
const RESOURCES: &str = "AllocTRES";
/// Other names of a key, in other versions or in jobcomp: a job has one of them.
const OTHER_NAMES: [[&str; 2]; 3] = [
    ["TRES", RESOURCES],
    ["Tres", RESOURCES],
    ["ReservationName", "Reservation"],
];

/// Free texts of a job in one line, and the key that Slurm prints behind them; none where nothing that decides
/// follows.
const BOUNDED: [(&str, &str); 5] = [
    ("JobName", "UserId"),
    ("Name", "JobState"),
    ("WorkDir", "ReservationName"),
    ("Command", ""),
    ("Comment", ""),
];

/// The words of a job. Of a repeated key the first value is used.
#[derive(Default)]
struct Words<'a> {
    values: BTreeMap<&'a str, &'a str>,
    /// Deciding keys that stand behind a free text in its line so far, and nowhere else.
    doubtful: BTreeSet<&'a str>,
}

impl<'a> Words<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let text = text.trim_end();
        let is_block = text.contains('\n');
        let mut words = Self::default();
        for line in text.lines() {
            let mut rest = line.trim_start();
            // The last key behind the free text that the rest of the line may still be part of.
            let mut behind: Option<&str> = None;
            while !rest.is_empty() {
                let (word, left) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                if let Some((key, value)) = word.split_once('=') {
                    let is_free = is_block && FREE.contains(&key);
                    let whole = rest.split_once('=').map_or(value, |(_, whole)| whole);
                    let value = if is_free { whole.trim_end() } else { value };
                    behind = behind.filter(|end| *end != key || has_key(left, end));
                    words.add(key, value, behind.is_some())?;
                    if is_free {
                        break;
                    }
                    let bounded = BOUNDED.iter().find(|(free, _)| *free == key);
                    let end = bounded
                        .map(|(_, end)| *end)
                        .filter(|end| end.is_empty() || has_key(left, end));
                    behind = behind.or(end);
                }
                rest = left.trim_start();
            }
        }
        match words.doubtful.first() {
            Some(key) => Err(format!("{key}= in a text of the user only")),
            None => Ok(words),
        }
    }

    fn add(&mut self, key: &'a str, value: &'a str, is_in_text: bool) -> Result<(), String> {
        let other = OTHER_NAMES.iter().find(|[own, _]| *own == key);
        let known = other.map_or(key, |[_, known]| known);
        let is_new = !self.values.contains_key(known);
        let first = *self.values.entry(known).or_insert(value);
        if !DECIDING.contains(&known) {
            return Ok(());
        }
        if first != value {
            return Err(format!("{key}= twice, with different values"));
        }
        if !is_in_text {
            self.doubtful.remove(known);
        } else if is_new {
            self.doubtful.insert(known);
        }
        Ok(())
    }

    fn get(&self, key: &str) -> &'a str {
        self.values.get(key).copied().unwrap_or_default()
    }

    /// `amy(1001)` is amy.
    fn name(&self, key: &str) -> &'a str {
        let text = self.get(key);
        text.split('(')
            .next()
            .filter(|n| !n.is_empty())
            .unwrap_or(text)
    }

    /// Of `amy(1001)` the number.
    fn in_brackets(&self, key: &str) -> &'a str {
        let (_, behind) = self.get(key).split_once('(').unwrap_or_default();
        behind.strip_suffix(')').unwrap_or_default()
    }

    /// The text of a count; of `2-4` the first.
    fn count(&self, key: &str) -> &'a str {
        let text = self.get(key);
        text.split('-').next().unwrap_or(text)
    }

    /// Seconds of the time limit. jobcomp prints minutes.
    fn limit(&self) -> Option<i64> {
        let text = self.get("TimeLimit");
        let minutes = || row::integer(text)?.checked_mul(60);
        row::limit(text).or_else(minutes)
    }

    fn row(&self, [nodes, cpus, name]: [&str; 3], zone: Tz) -> Row<'a> {
        let text = |key: &str| Cow::Borrowed(self.get(key));
        // The ids that `sacct` prints.
        let of = |whole: &str, part: &str, sign: char| match (self.get(whole), self.get(part)) {
            ("" | "0", _) | (_, "") => None,
            (whole, part) => Some(Cow::Owned(format!("{whole}{sign}{part}"))),
        };
        let id = of("ArrayJobId", "ArrayTaskId", '_')
            .or_else(|| of("HetJobId", "HetJobOffset", '+'))
            .unwrap_or_else(|| text("JobId"));
        let allocated = self.get(RESOURCES);
        let others = tres::others(allocated);
        let counts = [cpus, nodes].map(|key| (key, self.count(key)));
        let [cpus, nodes] = counts.map(|(_, text)| row::integer(text));
        let columns = [cpus, nodes.or_else(|| hosts::listed(self.get("NodeList")))];
        let unreadable = row::unreadable(&counts, allocated, columns);
        let allocated = Resources::read(allocated);
        let [cpus, nodes] = allocated.complete(columns);
        let (memory_bytes, _) = row::memory(&allocated, self.get("ReqTRES"), "", cpus, nodes);
        Row {
            id,
            user: self.name("UserId").into(),
            group: self.name("GroupId").into(),
            account: text("Account"),
            partition: text("Partition"),
            qos: text("QOS"),
            cluster: text("Cluster"),
            name: text(name),
            hosts: row::hosts(self.values.get("NodeList").copied()),
            state: text("JobState"),
            exit: text("ExitCode"),
            submit: Moment::read(self.get("SubmitTime"), zone),
            start: Moment::read(self.get("StartTime"), zone),
            end: Moment::read(self.get("EndTime"), zone),
            run_time: clock(self.get("RunTime")),
            nodes,
            cpus,
            gpus: Some(allocated.gpus),
            resources: others,
            memory_bytes,
            limit_s: self.limit(),
            unreadable,
            has_nodes: true,
            stated: Stated {
                uid: self.in_brackets("UserId").into(),
                gid: self.in_brackets("GroupId").into(),
                reservation: text("Reservation"),
                ..Stated::default()
            },
            ..Row::default()
        }
    }
}

/// Whether a line has a word `key=…`.
fn has_key(line: &str, key: &str) -> bool {
    let mut words = line.split_whitespace();
    words.any(|word| word.split_once('=').is_some_and(|(name, _)| name == key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(form: Form, text: &str) -> Vec<String> {
        let mut input = text.as_bytes();
        let mut results = Vec::new();
        let mut sink = |record: Record| {
            results.push(record.found.shown(|job| {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                let (user, name) = (text(&job.user), text(&job.name));
                format!("{} {user} {name:?} {}", job.id, job.wall)
            }));
            Ok(())
        };
        Blocks(form, Tz::Europe__Berlin)
            .file("jobs", &mut input, &mut sink)
            .unwrap();
        results
    }

    const REST: &str =
        "JobState=COMPLETED StartTime=2026-01-01T00:00:00 EndTime=2026-01-01T00:01:00";

    #[test]
    fn names_with_blanks_and_keys_deceive_nobody() {
        for (form, text, expected) in [
            (
                Form::Scontrol,
                format!("JobId=7 JobName=my job UserId=root(0)\n   UserId=amy(1001)\n   {REST}\n"),
                "7 amy \"my job UserId=root(0)\" 60",
            ),
            (
                Form::Scontrol,
                format!(
                    "JobId=18 HetJobId=17 HetJobOffset=1 JobName=h\n   UserId=amy(1)\n   {REST}"
                ),
                "17+1 amy \"h\" 60",
            ),
            (
                Form::Scontrol,
                format!(
                    "JobId=7 ArrayJobId=5 ArrayTaskId=2 JobName=a\n   UserId=amy(1)\n   {REST}"
                ),
                "5_2 amy \"a\" 60",
            ),
            (
                Form::Scontrol,
                format!("JobId=7 JobName=x UserId=root(0) UserId=amy(1001) {REST}"),
                "!UserId= twice, with different values",
            ),
            (
                Form::Jobcomp,
                format!("JobId=7 UserId=amy(1) Name=x Account=rich {REST} Account=poor"),
                "!Account= twice, with different values",
            ),
            (
                Form::Jobcomp,
                format!("JobId=7 UserId=amy(1) Name=two words {REST}"),
                "7 amy \"two\" 60",
            ),
            (
                Form::Scontrol,
                format!(
                    "JobId=7 JobName=x AllocTRES=cpu=8 QOS=free UserId=amy(1) QOS=dear {REST} AllocTRES=cpu=1"
                ),
                "!QOS= twice, with different values",
            ),
            (
                Form::Scontrol,
                format!("JobId=7 JobName=x AllocTRES=cpu=8 UserId=amy(1) {REST} TRES=cpu=1"),
                "!TRES= twice, with different values",
            ),
            // A key that this version of Slurm does not print.
            (
                Form::Scontrol,
                format!("JobId=7 JobName=x Reservation=r UserId=amy(1) {REST}"),
                "!Reservation= in a text of the user only",
            ),
            (
                Form::Jobcomp,
                format!(
                    "JobId=7 UserId=amy(1) Name=x JobState=COMPLETED ArrayJobId=5 {REST} Cluster=m"
                ),
                "!ArrayJobId= in a text of the user only",
            ),
            (
                Form::Scontrol,
                format!("JobId=7 JobName=x QOS=q UserId=amy(1) QOS=q {REST}"),
                "7 amy \"x\" 60",
            ),
            (
                Form::Scontrol,
                format!(
                    "JobId=7 JobName=x UserId=amy(1) {REST} Command=/x WorkDir=/ Comment=y Cluster=old"
                ),
                "!Cluster= in a text of the user only",
            ),
            (
                Form::Jobcomp,
                format!("JobId=7 UserId=amy(1) Name=x Cluster=old {REST} Cluster=m"),
                "!Cluster= twice, with different values",
            ),
            (
                Form::Jobcomp,
                format!(
                    "JobId=7 UserId=amy(1) Name=x Tres=cpu=1 {REST} WorkDir=/ ReservationName= Account=c"
                ),
                "!AllocTRES= in a text of the user only",
            ),
            (
                Form::Jobcomp,
                format!(
                    "JobId=7 UserId=amy(1) Name=x {REST} WorkDir=/ QOS=free ReservationName= Account=c"
                ),
                "!QOS= in a text of the user only",
            ),
            // The hour that clocks repeat, and an end before the start: the run time decides.
            (
                Form::Scontrol,
                "JobId=7 UserId=amy(1) JobState=COMPLETED RunTime=01:30:00\n   \
                 StartTime=2025-10-26T01:30:00 EndTime=2025-10-26T02:00:00"
                    .to_owned(),
                "7 amy \"\" 5400",
            ),
            (
                Form::Scontrol,
                "JobId=7 UserId=amy(1) JobState=COMPLETED RunTime=00:00:30\n   \
                 StartTime=2026-01-01T00:01:00 EndTime=2026-01-01T00:00:30"
                    .to_owned(),
                "7 amy \"\" 30",
            ),
            (
                Form::Jobcomp,
                "UserId=amy(1)".to_owned(),
                "!no JobId= and JobState=",
            ),
            (
                Form::Scontrol,
                "JobId=7 JobState=COMPLETING StartTime=2026-01-01T00:00:00".to_owned(),
                "live_state",
            ),
            (
                Form::Scontrol,
                format!(
                    "JobId=7 JobName=a\n   UserId=amy(1) Dependency={}\n   {REST}",
                    "x".repeat(70_000)
                ),
                "7 amy \"a\" 60",
            ),
            (
                Form::Scontrol,
                format!(
                    "JobId=7 JobName=a\n   Dependency={0}\n   Features={0}\n   {REST}",
                    "x".repeat(600_000)
                ),
                "!a job of more than 1048576 bytes",
            ),
            (
                Form::Jobcomp,
                format!("JobId=7 UserId=amy(1) {REST} Name={}", "x".repeat(1 << 20)),
                "!a line of more than 1048576 bytes",
            ),
        ] {
            assert_eq!(results(form, &text), [expected], "{text:.200}");
        }
    }
}
