//! Reads the jobs of exports, format by format, without the daemon's own code.

use std::collections::BTreeMap;

use serde_json::Value;

use super::difference::number;
use super::truth::Job;

/// The figures of a job in an export, over all its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) charge: i128,
    pub(super) shadow: i128,
    /// Processors × charged time, in microseconds.
    pub(super) core: i128,
    /// Wall time × processors.
    pub(super) wall: i128,
    /// Wall time alone: rows that take time back count below 0.
    pub(super) alone: i128,
    /// Lines about changes after the end.
    pub(super) changes: i128,
}

pub(super) type Jobs = BTreeMap<Job, Figures>;

pub(super) fn add(jobs: &mut Jobs, job: Job, figures: Figures) {
    let own = jobs.entry(job).or_default();
    own.charge += figures.charge;
    own.shadow += figures.shadow;
    own.core += figures.core;
    own.wall += figures.wall;
    own.alone += figures.alone;
    own.changes += figures.changes;
}

/// One row by the names of its columns; a record that another one replaces counts no more.
fn of_rows(rows: Vec<BTreeMap<String, String>>, places: u32) -> Jobs {
    let replaced: Vec<String> = rows
        .iter()
        .filter_map(|row| row.get("replaces").cloned())
        .collect();
    let mut jobs = Jobs::new();
    for row in rows {
        let text = |name: &str| {
            row.get(name)
                .map(String::as_str)
                .filter(|text| !text.is_empty())
        };
        if replaced
            .iter()
            .any(|name| Some(name.as_str()) == text("record_id") && !name.is_empty())
        {
            continue;
        }
        let time = |name: &str| text(name).map_or(0, |text| number(text, 6));
        let processors = text("processors").map_or(0, |text| number(text, 6)) / 1_000_000;
        let counted = |text: &str| number(text, 6);
        let is_change = text("kind") == Some("Adjustment");
        let money = |name: &str| text(name).map_or(0, |text| number(text, places));
        let figures = Figures {
            charge: money("charge"),
            shadow: money("shadow_charge"),
            // The column with the time that a row adds to usage, if there is one.
            core: text("processor_s").map_or_else(|| time("charge_s") * processors, counted),
            wall: time("wall_s") * processors,
            alone: time("wall_s"),
            changes: is_change.into(),
        };
        let job = (
            text("machine").unwrap_or("").to_owned(),
            text("local_job_id").unwrap_or("").to_owned(),
        );
        add(&mut jobs, job, figures);
    }
    jobs
}

pub(super) fn of_jsonl(text: &str, places: u32) -> Jobs {
    let row = |line: &str| -> BTreeMap<String, String> {
        let value: Value = serde_json::from_str(line).unwrap();
        let fields = value.as_object().unwrap().iter();
        let fields =
            fields.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        fields.collect()
    };
    of_rows(text.lines().skip(1).map(row).collect(), places)
}

pub(super) fn of_csv(text: &str, places: u32) -> Jobs {
    let mut lines = text.lines();
    let head = cells(lines.next().unwrap_or_default());
    let row = |line: &str| head.iter().cloned().zip(cells(line)).collect();
    of_rows(lines.map(row).collect(), places)
}

/// The cells of a line of CSV without line feeds in them.
pub(super) fn cells(line: &str) -> Vec<String> {
    let (mut found, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => found.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    found.push(cell);
    found
}

/// The text of the first element of a name.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let open = format!("<{name}");
    let starts = text
        .match_indices(&open)
        .map(|(at, _)| &text[at + open.len()..]);
    let mut starts = starts.filter(|rest| rest.starts_with(['>', ' ']));
    let rest = starts.next()?;
    let (_, rest) = rest.split_once('>')?;
    Some(rest.split_once("</")?.0)
}

/// What a `Resource` of this description holds.
fn resource<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("description=\"{name}\">"))?;
    Some(rest.split_once("</")?.0)
}

/// Usage records of either version.
pub(super) fn of_xml(text: &str, identity: &str, places: u32) -> Jobs {
    let mut jobs = Jobs::new();
    for record in text
        .split("UsageRecord>")
        .filter(|record| record.contains(identity))
    {
        let micros = |text: &str| {
            let (sign, text) = match text.strip_prefix('-') {
                Some(rest) => (-1, rest),
                None => (1, text),
            };
            sign * number(text.trim_start_matches("PT").trim_end_matches('S'), 6)
        };
        let of = |name: &str| element(record, name);
        let processors: i128 = of("Processors").map_or(0, |text| text.parse().unwrap());
        let wall = of("WallDuration").map_or(0, micros);
        let charged = resource(record, "bank.charge_s").map_or(wall, |text| number(text, 6));
        let counted = resource(record, "bank.processor_s").map(|text| number(text, 6));
        let charge = resource(record, "bank.charge")
            .or(of("Charge"))
            .unwrap_or("0");
        let figures = Figures {
            charge: number(charge, places),
            core: counted.unwrap_or(charged * processors),
            wall: wall * processors,
            alone: wall,
            ..Figures::default()
        };
        let job = (
            of("MachineName").unwrap_or("").to_owned(),
            of("LocalJobId").unwrap_or("").to_owned(),
        );
        add(&mut jobs, job, figures);
    }
    jobs
}

pub(super) fn of_xdmod(text: &str) -> Jobs {
    let mut jobs = Jobs::new();
    for line in text.lines() {
        let columns: Vec<&str> = line.split('|').collect();
        let (days, clock) = columns[14].split_once('-').unwrap_or(("0", columns[14]));
        let parts: Vec<i128> = clock.split(':').map(|part| part.parse().unwrap()).collect();
        let days: i128 = days.parse().unwrap();
        let seconds = ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2];
        let processors: i128 = columns[18].parse().unwrap();
        let figures = Figures {
            core: seconds * processors * 1_000_000,
            ..Figures::default()
        };
        add(
            &mut jobs,
            (columns[2].to_owned(), columns[0].to_owned()),
            figures,
        );
    }
    jobs
}

pub(super) fn of_auditor(text: &str) -> Jobs {
    let mut jobs = Jobs::new();
    for line in text.lines().filter(|line| line.contains("\"meta\"")) {
        let value: Value = serde_json::from_str(line).unwrap();
        let meta = |name: &str| value["meta"][name][0].as_str().unwrap_or("").to_owned();
        let components = value["components"].as_array().unwrap();
        let cores = components.iter().find(|one| one["name"] == "Cores");
        let cores = cores.and_then(|one| one["amount"].as_i64()).unwrap_or(0);
        let seconds = value["runtime"].as_i64().unwrap_or(0);
        let core = i128::from(cores) * i128::from(seconds) * 1_000_000;
        add(
            &mut jobs,
            (meta("machine"), meta("job_id")),
            Figures {
                core,
                ..Figures::default()
            },
        );
    }
    jobs
}

pub(super) fn of_apel(text: &str) -> Jobs {
    let mut jobs = Jobs::new();
    for record in text.split("%%") {
        let of = |name: &str| {
            let mut lines = record.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        let Some(id) = of("LocalJobId") else { continue };
        let numbers = ["WallDuration", "Processors"].map(|name| of(name).unwrap_or("0"));
        let [wall, processors] = numbers.map(|text| text.parse::<i128>().unwrap());
        let core = wall * processors * 1_000_000;
        let machine = of("MachineName").unwrap_or("").to_owned();
        add(
            &mut jobs,
            (machine, id.to_owned()),
            Figures {
                core,
                ..Figures::default()
            },
        );
    }
    jobs
}
