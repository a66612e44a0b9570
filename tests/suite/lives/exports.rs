//! Exports beside the journal, job by job: charges and hours.

use std::collections::BTreeMap;

use serde_json::Value;

use super::difference::{Differences, minor, number};
use super::house::House;
use super::truth::{Job, Truth};

/// What an export says of a job, all its lines together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Said {
    charge: i128,
    shadow: i128,
    /// Processors × charged time, in microseconds.
    core: i128,
    /// Wall time × processors.
    wall: i128,
    /// Wall time alone.
    alone: i128,
}

type Jobs = BTreeMap<Job, Said>;

struct Export {
    text: String,
    skipped: i64,
}

pub(super) fn compare(house: &House, truth: &Truth, found: &mut Differences) {
    let Some(jsonl) = fetch(house, "jsonl", found) else { return };
    let jsonl = of_jsonl(&jsonl.text, house.places());
    billed("jsonl", &jsonl, truth, found);
    let spans: BTreeMap<&Job, i128> = truth.jobs.iter().map(|(job, own)| (job, own.span)).collect();
    for (job, said) in &jsonl {
        let span = spans.get(job).copied().unwrap_or_default();
        if said.alone > span {
            let (seen, span) = (said.alone.to_string(), span.to_string());
            found.push("export jsonl: wall time beyond the use", &format!("{job:?}"), seen, span);
        }
    }
    if let Some(csv) = fetch(house, "csv", found) {
        billed("csv", &of_csv(&csv.text, house.places()), truth, found);
    }
    if let Some(ur1) = fetch(house, "ur1", found) {
        let jobs = of_xml(&ur1.text, "JobIdentity", house.places());
        charges("ur1", &jobs, truth, found);
        cores("ur1", &jobs, truth, found);
    }
    // What these have of time is wall time: it is compared where that was charged.
    let whole = |job: &Job| jsonl.get(job).is_some_and(|said| said.wall == said.core);
    if let Some(ur2) = fetch(house, "ur2", found).filter(|ur2| ur2.skipped == 0) {
        let jobs = of_xml(&ur2.text, "JobUsageBlock", house.places());
        charges("ur2", &jobs, truth, found);
        let jobs = jobs.into_iter().filter(|(job, _)| whole(job)).collect();
        present("ur2", &jobs, truth, found);
    }
    for (format, read) in [
        ("xdmod", of_xdmod as fn(&str) -> Jobs),
        ("jsonl&profile=auditor", of_auditor),
        ("apel", of_apel),
    ] {
        let Some(export) = fetch(house, format, found) else { continue };
        let jobs = read(&export.text).into_iter().filter(|(job, _)| whole(job)).collect();
        present(format, &jobs, truth, found);
    }
    summed(house, found);
    file(house, truth, found);
    focus(house, truth, found);
}

/// All pages.
fn fetch(house: &House, format: &str, found: &mut Differences) -> Option<Export> {
    let (name, more) = format.split_once('&').unwrap_or((format, ""));
    let (mut text, mut skipped, mut since) = (String::new(), 0, String::new());
    loop {
        let answer = house.get(&format!("/api/v1/export/{name}?limit=1000{since}&{more}"));
        if !answer.is_good() {
            found.push("exports answer", format, answer.text, "a page".to_owned());
            return None;
        }
        let page = answer.json();
        if since.is_empty() {
            text.push_str(page["head"].as_str()?);
        }
        text.push_str(page["text"].as_str()?);
        skipped += page["skipped_count"].as_i64()?;
        if page["more"] != true {
            return Some(Export { text, skipped });
        }
        since = format!("&since={}", page["next"].as_str()?);
    }
}

fn billed(format: &str, jobs: &Jobs, truth: &Truth, found: &mut Differences) {
    charges(format, jobs, truth, found);
    let of = |(job, said): (&Job, &Said)| (job.clone(), said.shadow);
    let seen: BTreeMap<Job, i128> = jobs.iter().map(of).collect();
    let of = |(job, own): (&Job, &super::truth::OfJob)| (job.clone(), own.charged.shadow);
    let wanted: BTreeMap<Job, i128> = truth.jobs.iter().map(of).collect();
    found.maps(&format!("export {format}: shadow charges"), &seen, &wanted);
    cores(format, jobs, truth, found);
}

fn charges(format: &str, jobs: &Jobs, truth: &Truth, found: &mut Differences) {
    let seen: BTreeMap<Job, i128> = jobs.iter().map(|(job, said)| (job.clone(), said.charge)).collect();
    let wanted = truth.jobs.iter().map(|(job, own)| (job.clone(), own.charged.real));
    found.maps(&format!("export {format}: charges"), &seen, &wanted.collect());
}

fn cores(format: &str, jobs: &Jobs, truth: &Truth, found: &mut Differences) {
    let seen: BTreeMap<Job, i128> = jobs.iter().map(|(job, said)| (job.clone(), said.core)).collect();
    let wanted = truth.jobs.iter().map(|(job, own)| (job.clone(), own.core));
    found.maps(&format!("export {format}: core time"), &seen, &wanted.collect());
}

/// Core time of the jobs that are there.
fn present(format: &str, jobs: &Jobs, truth: &Truth, found: &mut Differences) {
    for (job, said) in jobs {
        let core = truth.jobs.get(job).map_or(0, |own| own.core);
        found.same(&format!("export {format}: core time"), &format!("{job:?}"), said.core, core);
    }
}

fn add(jobs: &mut Jobs, job: Job, said: Said) {
    let own = jobs.entry(job).or_default();
    own.charge += said.charge;
    own.shadow += said.shadow;
    own.core += said.core;
    own.wall += said.wall;
    own.alone += said.alone;
}

/// One row by the names of its columns; a record that another one replaces counts no more.
fn of_rows(rows: Vec<BTreeMap<String, String>>, places: u32) -> Jobs {
    let replaced: Vec<String> = rows.iter().filter_map(|row| row.get("replaces").cloned()).collect();
    let mut jobs = Jobs::new();
    for row in rows {
        let text = |name: &str| row.get(name).map(String::as_str).filter(|text| !text.is_empty());
        if replaced.iter().any(|name| Some(name.as_str()) == text("record_id") && !name.is_empty()) {
            continue;
        }
        let time = |name: &str| text(name).map_or(0, |text| number(text, 6));
        let processors = text("processors").map_or(0, |text| number(text, 6)) / 1_000_000;
        let money = |name: &str| text(name).map_or(0, |text| number(text, places));
        let said = Said {
            charge: money("charge"),
            shadow: money("shadow_charge"),
            core: time("charge_s") * processors,
            wall: time("wall_s") * processors,
            alone: time("wall_s"),
        };
        let job = (text("machine").unwrap_or("").to_owned(), text("local_job_id").unwrap_or("").to_owned());
        add(&mut jobs, job, said);
    }
    jobs
}

fn of_jsonl(text: &str, places: u32) -> Jobs {
    let row = |line: &str| -> BTreeMap<String, String> {
        let value: Value = serde_json::from_str(line).unwrap();
        let fields = value.as_object().unwrap().iter();
        let fields = fields.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        fields.collect()
    };
    of_rows(text.lines().skip(1).map(row).collect(), places)
}

fn of_csv(text: &str, places: u32) -> Jobs {
    let mut lines = text.lines();
    let head = cells(lines.next().unwrap_or_default());
    let row = |line: &str| head.iter().cloned().zip(cells(line)).collect();
    of_rows(lines.map(row).collect(), places)
}

/// The cells of a line of CSV without line feeds in them.
fn cells(line: &str) -> Vec<String> {
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
    let starts = text.match_indices(&open).map(|(at, _)| &text[at + open.len()..]);
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
fn of_xml(text: &str, identity: &str, places: u32) -> Jobs {
    let mut jobs = Jobs::new();
    for record in text.split("UsageRecord>").filter(|record| record.contains(identity)) {
        let micros = |text: &str| number(text.trim_start_matches("PT").trim_end_matches('S'), 6);
        let of = |name: &str| element(record, name);
        let processors: i128 = of("Processors").map_or(0, |text| text.parse().unwrap());
        let wall = of("WallDuration").map_or(0, micros);
        let charged = resource(record, "bank.charge_s").map_or(wall, |text| number(text, 6));
        let charge = resource(record, "bank.charge").or(of("Charge")).unwrap_or("0");
        let said = Said {
            charge: number(charge, places),
            core: charged * processors,
            wall: wall * processors,
            ..Said::default()
        };
        let job = (of("MachineName").unwrap_or("").to_owned(), of("LocalJobId").unwrap_or("").to_owned());
        add(&mut jobs, job, said);
    }
    jobs
}

fn of_xdmod(text: &str) -> Jobs {
    let mut jobs = Jobs::new();
    for line in text.lines() {
        let columns: Vec<&str> = line.split('|').collect();
        let (days, clock) = columns[14].split_once('-').unwrap_or(("0", columns[14]));
        let parts: Vec<i128> = clock.split(':').map(|part| part.parse().unwrap()).collect();
        let days: i128 = days.parse().unwrap();
        let seconds = ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2];
        let processors: i128 = columns[18].parse().unwrap();
        let said = Said { core: seconds * processors * 1_000_000, ..Said::default() };
        add(&mut jobs, (columns[2].to_owned(), columns[0].to_owned()), said);
    }
    jobs
}

fn of_auditor(text: &str) -> Jobs {
    let mut jobs = Jobs::new();
    for line in text.lines().filter(|line| line.contains("\"meta\"")) {
        let value: Value = serde_json::from_str(line).unwrap();
        let meta = |name: &str| value["meta"][name][0].as_str().unwrap_or("").to_owned();
        let components = value["components"].as_array().unwrap();
        let cores = components.iter().find(|one| one["name"] == "Cores");
        let cores = cores.and_then(|one| one["amount"].as_i64()).unwrap_or(0);
        let seconds = value["runtime"].as_i64().unwrap_or(0);
        let core = i128::from(cores) * i128::from(seconds) * 1_000_000;
        add(&mut jobs, (meta("machine"), meta("job_id")), Said { core, ..Said::default() });
    }
    jobs
}

fn of_apel(text: &str) -> Jobs {
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
        add(&mut jobs, (machine, id.to_owned()), Said { core, ..Said::default() });
    }
    jobs
}

/// Sums and workloads have the same jobs as messages of jobs.
fn summed(house: &House, found: &mut Differences) {
    let total = |jobs: &Jobs| jobs.values().map(|said| said.core).sum::<i128>();
    let apel = fetch(house, "apel", found).map(|export| total(&of_apel(&export.text)));
    let summary = house.get("/api/v1/export/apel-summary?from=2025-10-01T00:00:00Z");
    let summary = summary.json()["text"].as_str().map(|text| {
        let lines = text.lines().filter_map(|line| line.strip_prefix("CpuDuration: "));
        lines.map(|text| text.parse::<i128>().unwrap() * 1_000_000).sum::<i128>()
    });
    found.same("export apel-summary: processor time beside apel", "all", summary, apel);
    let xdmod = fetch(house, "xdmod", found).map(|export| total(&of_xdmod(&export.text)));
    let swf = house.get("/api/v1/export/swf").json();
    let swf = swf["text"].as_str().map(|text| {
        let jobs = text.lines().filter(|line| !line.starts_with(';') && !line.is_empty());
        let core = jobs.map(|line| {
            let fields: Vec<i128> = line.split_whitespace().map(|f| f.parse().unwrap()).collect();
            fields[3] * fields[4] * 1_000_000
        });
        core.sum::<i128>()
    });
    found.same("export swf: core time beside xdmod", "all", swf, xdmod);
}

/// Lines of FILE: of jobs that were charged and nothing else.
fn file(house: &House, truth: &Truth, found: &mut Differences) {
    let mut jobs = Jobs::new();
    let mut after = String::new();
    loop {
        let target = format!("/api/v1/records?format=file&extended=true&limit=1000{after}");
        let page = house.get(&target).json();
        for item in page["items"].as_array().into_iter().flatten() {
            let line = item["line"].as_str().unwrap_or_default();
            let words = line.split_whitespace().filter_map(|word| word.split_once('='));
            let words: BTreeMap<&str, &str> = words.collect();
            let of = |name: &str| words.get(name).copied().unwrap_or("0");
            let said = Said {
                charge: number(of("AMOUNT"), house.places()),
                core: number(of("DURATION"), 6) * of("PROCS").parse::<i128>().unwrap(),
                ..Said::default()
            };
            add(&mut jobs, (of("MACHINE").to_owned(), of("REQUESTID").to_owned()), said);
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    for (job, own) in truth.jobs.iter().filter(|(_, own)| own.has_rows && !own.is_corrected) {
        let said = jobs.get(job).copied().unwrap_or_default();
        let key = format!("{job:?}");
        let price = own.charged.real + own.charged.shadow;
        found.same("export file: charges", &key, said.charge, price);
        found.same("export file: core time", &key, said.core, own.core);
    }
}

/// Costs at a price of one.
fn focus(house: &House, truth: &Truth, found: &mut Differences) {
    let Some(export) = fetch(house, "focus", found) else { return };
    let mut lines = export.text.lines();
    let head = cells(lines.next().unwrap_or_default());
    let place = |name: &str| head.iter().position(|column| column == name).unwrap();
    let (cost, id, hours) = (place("BilledCost"), place("ResourceId"), place("ConsumedQuantity"));
    let mut seen: BTreeMap<String, i128> = BTreeMap::new();
    let _ = (hours, minor as fn(&Value, u32) -> i128);
    for line in lines {
        let cells = cells(line);
        let own = seen.entry(cells[id].clone()).or_default();
        *own += number(&cells[cost], house.places());
    }
    let mut wanted: BTreeMap<String, i128> = BTreeMap::new();
    for ((_, id), own) in &truth.jobs {
        *wanted.entry(id.clone()).or_default() += own.charged.real;
    }
    found.maps("export focus: charges", &seen, &wanted);
}
