//! Exports beside the journal, job by job: charges and hours.

use std::collections::BTreeMap;

use super::difference::{Differences, number};
use super::formats::{
    Figures, Jobs, add, cells, of_apel, of_auditor, of_csv, of_jsonl, of_xdmod, of_xml,
};
use super::house::House;
use super::truth::{Job, OfJob, Truth};

/// The text of exports along a cursor so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    text: String,
    since: String,
}

impl Pages {
    /// What came since.
    pub(super) fn go_on(&mut self, house: &House) {
        loop {
            let target = format!("/api/v1/export/jsonl?limit=1000{}", self.since);
            let page = house.get(&target).json();
            let Some(text) = page["text"].as_str() else {
                return;
            };
            if self.since.is_empty() {
                self.text
                    .push_str(page["head"].as_str().unwrap_or_default());
            }
            self.text.push_str(text);
            self.since = format!("&since={}", page["next"].as_str().unwrap_or_default());
            if page["more"] != true {
                return;
            }
        }
    }
}

struct Export {
    text: String,
    skipped: i64,
}

pub(super) fn compare(house: &House, truth: &Truth, pages: &Pages, found: &mut Differences) {
    let Some(jsonl) = fetch(house, "jsonl", found) else {
        return;
    };
    let jsonl = of_jsonl(&jsonl.text, house.places());
    billed("jsonl", &jsonl, truth, found);
    billed(
        "jsonl along a cursor",
        &of_jsonl(&pages.text, house.places()),
        truth,
        found,
    );
    if let Some(csv) = fetch(house, "csv", found) {
        billed("csv", &of_csv(&csv.text, house.places()), truth, found);
    }
    if let Some(ur1) = fetch(house, "ur1", found) {
        let jobs = of_xml(&ur1.text, "JobIdentity", house.places());
        charges("ur1", &jobs, truth, found);
        cores("ur1", &jobs, truth, found);
        walls("ur1", &jobs, truth, found);
    }
    // What these have of time is wall time: it is compared where that was charged. Formats of finished
    // jobs leave changes out, but for amended records.
    let whole = |job: &Job| {
        jsonl
            .get(job)
            .is_some_and(|figures| figures.wall == figures.core)
    };
    let finished = |job: &Job| {
        let is_plain = jsonl.get(job).is_some_and(|figures| figures.changes == 0);
        whole(job) && (is_plain || truth.jobs.get(job).is_some_and(|own| own.is_reported))
    };
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
        let Some(export) = fetch(house, format, found) else {
            continue;
        };
        let jobs = read(&export.text)
            .into_iter()
            .filter(|(job, _)| finished(job))
            .collect();
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
    let of = |(job, figures): (&Job, &Figures)| (job.clone(), figures.shadow);
    let seen: BTreeMap<Job, i128> = jobs.iter().map(of).collect();
    let of = |(job, own): (&Job, &OfJob)| (job.clone(), own.charged.shadow);
    let wanted: BTreeMap<Job, i128> = truth.jobs.iter().map(of).collect();
    found.maps(&format!("export {format}: shadow charges"), &seen, &wanted);
    cores(format, jobs, truth, found);
    walls(format, jobs, truth, found);
}

fn charges(format: &str, jobs: &Jobs, truth: &Truth, found: &mut Differences) {
    let seen: BTreeMap<Job, i128> = jobs
        .iter()
        .map(|(job, figures)| (job.clone(), figures.charge))
        .collect();
    let wanted = truth
        .jobs
        .iter()
        .map(|(job, own)| (job.clone(), own.charged.real));
    found.maps(
        &format!("export {format}: charges"),
        &seen,
        &wanted.collect(),
    );
}

fn cores(format: &str, jobs: &Jobs, truth: &Truth, found: &mut Differences) {
    let seen: BTreeMap<Job, i128> = jobs
        .iter()
        .map(|(job, figures)| (job.clone(), figures.core))
        .collect();
    let wanted = truth.jobs.iter().map(|(job, own)| (job.clone(), own.core));
    found.maps(
        &format!("export {format}: core time"),
        &seen,
        &wanted.collect(),
    );
}

/// Wall time: changes are subtracted from the time that the close stated, so that a shortened job has its real
/// time.
fn walls(format: &str, jobs: &Jobs, truth: &Truth, found: &mut Differences) {
    let of = |(job, figures): (&Job, &Figures)| (job.clone(), figures.alone);
    let seen: BTreeMap<Job, i128> = jobs.iter().map(of).collect();
    let of = |(job, own): (&Job, &OfJob)| (job.clone(), own.wall);
    let wanted: BTreeMap<Job, i128> = truth.jobs.iter().map(of).collect();
    found.maps(&format!("export {format}: wall time"), &seen, &wanted);
}

/// Core time of the jobs that are there.
fn present(format: &str, jobs: &Jobs, truth: &Truth, found: &mut Differences) {
    for (job, figures) in jobs {
        let core = truth.jobs.get(job).map_or(0, |own| own.core);
        found.same(
            &format!("export {format}: core time"),
            &format!("{job:?}"),
            figures.core,
            core,
        );
    }
}

/// Sums and workloads have the same jobs as messages of jobs.
fn summed(house: &House, found: &mut Differences) {
    let total = |jobs: &Jobs| jobs.values().map(|figures| figures.core).sum::<i128>();
    let apel = fetch(house, "apel", found).map(|export| total(&of_apel(&export.text)));
    let months = "from=2025-10-01T00:00:00Z&to=2027-06-01T00:00:00Z";
    let summary = house.get(&format!("/api/v1/export/apel-summary?{months}"));
    let summary = summary.json()["text"].as_str().map(|text| {
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("CpuDuration: "));
        lines
            .map(|text| text.parse::<i128>().unwrap() * 1_000_000)
            .sum::<i128>()
    });
    found.same(
        "export apel-summary: processor time beside apel",
        "all",
        summary,
        apel,
    );
    let auditor = fetch(house, "jsonl&profile=auditor", found);
    let auditor = auditor.map(|export| total(&of_auditor(&export.text)));
    let swf = house.get("/api/v1/export/swf").json();
    let swf = swf["text"].as_str().map(|text| {
        let jobs = text
            .lines()
            .filter(|line| !line.starts_with(';') && !line.is_empty());
        let core = jobs.map(|line| {
            let fields: Vec<i128> = line
                .split_whitespace()
                .map(|f| f.parse().unwrap())
                .collect();
            fields[3] * fields[4] * 1_000_000
        });
        core.sum::<i128>()
    });
    found.same("export swf: core time beside auditor", "all", swf, auditor);
}

/// Lines of FILE: of jobs that were charged and nothing else. A line has the price and the time of a charge. In
/// mode `track` the price is 0, in `notional` it is what it would have cost. Its time is what was charged: a
/// record of a collector that states less than a total before it changes what was used, and no line.
fn file(house: &House, truth: &Truth, found: &mut Differences) {
    let mut jobs = Jobs::new();
    let mut after = String::new();
    loop {
        let target = format!("/api/v1/records?format=file&extended=true&limit=1000{after}");
        let page = house.get(&target).json();
        for item in page["items"].as_array().into_iter().flatten() {
            let Some(line) = item["line"].as_str() else {
                continue;
            };
            let words = line
                .split_whitespace()
                .filter_map(|word| word.split_once('='));
            let words: BTreeMap<&str, &str> = words.collect();
            let of = |name: &str| words.get(name).copied().unwrap_or("0");
            let figures = Figures {
                charge: number(of("AMOUNT"), house.places()),
                core: number(of("DURATION"), 6) * of("PROCS").parse::<i128>().unwrap(),
                ..Figures::default()
            };
            add(
                &mut jobs,
                (of("MACHINE").to_owned(), of("REQUESTID").to_owned()),
                figures,
            );
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    for (job, own) in truth
        .jobs
        .iter()
        .filter(|(_, own)| own.has_rows && !own.is_corrected)
    {
        let figures = jobs.get(job).copied().unwrap_or_default();
        let key = format!("{job:?}");
        found.same("export file: charges", &key, figures.charge, own.listed);
        found.same("export file: core time", &key, figures.core, own.billed);
    }
}

/// Costs at a price of one.
fn focus(house: &House, truth: &Truth, found: &mut Differences) {
    let Some(export) = fetch(house, "focus", found) else {
        return;
    };
    let mut lines = export.text.lines();
    let head = cells(lines.next().unwrap_or_default());
    let place = |name: &str| head.iter().position(|column| column == name).unwrap();
    let (cost, id) = (place("BilledCost"), place("ResourceId"));
    let mut seen: BTreeMap<String, i128> = BTreeMap::new();
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
