//! `Name="value"` pairs, one job in a line: a rendering of `sacct` that sites keep (`collectors.md` a.8).

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use chrono_tz::Tz;

use super::hosts;
use super::row::{self, Moment, Parts, Row};
use super::stated::{self, Stated};
use super::tres::{self, Resources};
use crate::job::Found;
use crate::lines::each_line;
use crate::text::clock;
use crate::{Reader, Sink};

/// Reads such lines.
#[derive(Debug)]
pub(crate) struct KeyValue(pub(crate) Tz);

impl Reader for KeyValue {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut parts = Parts::default();
        each_line(input, sink, |line| {
            Some(found(&line.text(), self.0, &mut parts))
        })
    }
}

fn found(text: &str, zone: Tz, parts: &mut Parts) -> Found {
    let values = match pairs(text) {
        Ok(values) => values,
        Err(why) => return Found::Malformed(why),
    };
    let get = |name: &str| values.get(name).copied().unwrap_or_default();
    let id = get("JobID");
    if id.is_empty() {
        return Found::Malformed("no JobID=\"…\"".to_owned());
    }
    if id.contains('.') {
        return Found::Skipped("step".into());
    }
    let text = |name: &str| get(name).into();
    let allocated = Resources::read(get("AllocTRES"));
    let counts = ["NCPUS", "AllocCPUS", "NNodes"].map(|name| (name, get(name)));
    let [cpus, also_cpus, nodes] = counts.map(|(_, text)| row::integer(text));
    let listed = || hosts::listed(get("NodeList"));
    let columns = [cpus.or(also_cpus), nodes.or_else(listed)];
    let [cpus, nodes] = allocated.complete(columns);
    let (memory_bytes, decoded) =
        row::memory(&allocated, get("ReqTRES"), get("ReqMem"), cpus, nodes);
    let row = Row {
        unreadable: row::unreadable(&counts, get("AllocTRES"), columns),
        id: id.into(),
        raw_id: text("JobIDRaw"),
        is_disputed: allocated.disputes(cpus, nodes),
        user: text("User"),
        account: text("Account"),
        group: text("Group"),
        partition: text("Partition"),
        qos: text("QOS"),
        cluster: text("Cluster"),
        name: text("JobName"),
        hosts: row::hosts(values.get("NodeList").copied()),
        state: text("State"),
        exit: text("ExitCode"),
        submit: Moment::read(get("Submit"), zone),
        start: Moment::read(get("Start"), zone),
        end: Moment::read(get("End"), zone),
        nodes,
        cpus,
        gpus: Some(allocated.gpus),
        resources: tres::others(get("AllocTRES")),
        is_memory_decoded: decoded && memory_bytes.is_some(),
        memory_bytes,
        elapsed: values.get("Elapsed").and_then(|elapsed| clock(elapsed)),
        cpu: clock(get("TotalCPU")).filter(|cpu| cpu.is_above_zero()),
        limit_s: row::limit(get("Timelimit")),
        has_nodes: true,
        stated: Stated {
            uid: text("UID"),
            gid: text("GID"),
            reservation: text("Reservation"),
            cpu: ["UserCPU", "SystemCPU"].map(|name| clock(get(name))),
            requested: row::integer(get("ReqCPUS")),
            memory_per_node: stated::memory_per_node(get("ReqMem"), cpus, nodes),
        },
        ..Row::default()
    };
    parts.found(row)
}

/// Texts of the user's own. Everything else decides the payer, the amount, or what the record is.
const FREE: [&str; 7] = [
    "JobName",
    "Comment",
    "AdminComment",
    "SystemComment",
    "SubmitLine",
    "WorkDir",
    "Reason",
];

/// The pairs of a line.
///
/// # Errors
/// If a key has two different values: a text of the user could contain one of them.
fn pairs(text: &str) -> Result<BTreeMap<&str, &str>, String> {
    let mut pairs = BTreeMap::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("=\"") {
        let Some((value, left)) = after.split_once('"') else {
            break;
        };
        let key = before.rsplit(char::is_whitespace).next().unwrap_or(before);
        let first = *pairs.entry(key).or_insert(value);
        if first != value && !FREE.contains(&key) {
            return Err(format!("{key}= twice, with different values"));
        }
        rest = left;
    }
    Ok(pairs)
}
