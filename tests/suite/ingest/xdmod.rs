//! Open `XDMoD`'s own rows for its test inputs, and its published daily series, against our readers.

use std::collections::BTreeMap;
use std::path::Path;

use bankd_ingest::{Found, Job, Number, Options, Summary, formats, open};
use serde_json::Value;

use crate::harness::{shared_folder, skip};

fn records(format: &str, path: &Path) -> Vec<Found> {
    let mut reader = (formats::named(format).unwrap().reader)(&Options::default()).unwrap();
    let mut found = Vec::new();
    let mut sink = |record: bankd_ingest::Record| {
        found.push(record.found);
        Ok(())
    };
    let mut input = open::open(path).unwrap();
    reader.file("sample", &mut *input, &mut sink).unwrap();
    reader.finish(&mut sink).unwrap();
    found
}

fn jobs(found: &[Found]) -> Vec<&Job> {
    let mut all = Vec::new();
    for found in found {
        if let Found::Jobs(jobs) = found {
            all.extend(jobs);
        }
    }
    all
}

/// The rows of an expected file: of an object those of its values.
fn rows(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    match serde_json::from_str(&text).unwrap() {
        Value::Array(rows) => rows,
        Value::Object(rows) => rows.into_iter().map(|(_, row)| row).collect(),
        other => panic!("{other}"),
    }
}

/// A value as text; null and a missing one are empty.
fn text_of(row: &Value, key: &str) -> String {
    match row.get(key) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn shown(number: Option<Number>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// What a job says under the names that the tables below use.
fn of(job: &Job, what: &str) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let seconds = |us: i64| (us / 1_000_000).to_string();
    match what {
        "id" => job.id.split(['.', '[']).next().unwrap().to_owned(),
        "user" => text(&job.user),
        "account" => text(&job.account),
        "group" => text(&job.group),
        "queue" => text(&job.queue),
        "qos" => text(&job.qos),
        "name" => text(&job.name),
        "exit" => text(&job.exit),
        "hosts" => text(&job.hosts),
        "submit" => job.submit_us.map_or_else(String::new, seconds),
        "start" => seconds(job.start_us),
        "end" => seconds(job.end_us),
        "procs" => shown(job.procs),
        "nodes" => shown(job.nodes),
        "gpus" => job
            .gpus
            .map_or_else(|| "0".to_owned(), |gpus| gpus.to_string()),
        "memory" => shown(job.memory_bytes),
        "cpu" => shown(job.cpu),
        "limit" => job
            .limit_s
            .map_or_else(String::new, |limit| limit.to_string()),
        other => panic!("{other}"),
    }
}

/// Our name, theirs. Where they name a null word we say nothing.
const SLURM: &[(&str, &str)] = &[
    ("id", "job_id"),
    ("user", "user_name"),
    ("account", "account_name"),
    ("group", "group_name"),
    ("queue", "partition_name"),
    ("qos", "qos_name"),
    ("name", "job_name"),
    ("exit", "exit_code"),
    ("hosts", "node_list"),
    ("submit", "submit_time"),
    ("start", "start_time"),
    ("end", "end_time"),
    ("procs", "ncpus"),
    ("nodes", "nnodes"),
    ("gpus", "ngpus"),
    ("limit", "timelimit"),
];
const SGE: &[(&str, &str)] = &[
    ("id", "job_number"),
    ("user", "owner"),
    ("group", "groupname"),
    ("queue", "qname"),
    ("name", "job_name"),
    ("hosts", "hostname"),
    ("exit", "exit_status"),
    ("submit", "submission_time"),
    ("procs", "slots"),
    ("cpu", "cpu"),
    ("memory", "maxvmem"),
];
const PBS: &[(&str, &str)] = &[
    ("id", "job_id"),
    ("user", "user"),
    ("account", "account"),
    ("group", "groupname"),
    ("queue", "queue"),
    ("name", "jobname"),
    ("submit", "ctime"),
    ("start", "start"),
    ("end", "end"),
    ("exit", "exit_status"),
    ("procs", "resources_used_cpus"),
    ("nodes", "resources_used_nodes"),
    ("gpus", "resources_used_gpus"),
    ("memory", "resources_used_mem"),
    ("cpu", "resources_used_cput"),
    ("limit", "resource_list_walltime"),
];
const LSF: &[(&str, &str)] = &[
    ("id", "job_id"),
    ("user", "user_name"),
    ("queue", "queue"),
    ("account", "project_name"),
    ("name", "job_name"),
    ("submit", "submit_time"),
    ("start", "start_time"),
    ("end", "event_time"),
    ("procs", "num_processors"),
    ("nodes", "num_ex_hosts"),
];

#[test]
fn rows_are_those_of_the_reference() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data");
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (format, stem, ending, table) in [
        ("sacct", "slurm/xdmod-unit-accounting-logs", "sacct", SLURM),
        (
            "sacct",
            "slurm/xdmod-unit-utf8-multibyte-chars",
            "sacct",
            SLURM,
        ),
        ("sge", "sge/xdmod-unit-sge", "accounting", SGE),
        ("sge", "sge/xdmod-unit-uge", "accounting", SGE),
        ("pbs", "pbs/xdmod-unit-pbs", "acct", PBS),
        ("lsf", "lsf/xdmod-unit-accounting-logs", "lsb.acct", LSF),
    ] {
        let found = records(format, &data.join(format!("{stem}.{ending}")));
        let rows = rows(&data.join(format!("{stem}.expected.json")));
        // By id and place: the order of an object's rows is not that of the file.
        let mut jobs = jobs(&found);
        assert_eq!(jobs.len(), rows.len(), "{stem}");
        for row in &rows {
            let id = table
                .iter()
                .find(|(ours, _)| *ours == "id")
                .map(|(_, theirs)| text_of(row, theirs));
            let at = jobs.iter().position(|job| match &id {
                Some(id) if !id.is_empty() => of(job, "id") == *id,
                _ => true,
            });
            let job = jobs.remove(at.unwrap_or_else(|| panic!("{stem}: no job {id:?}")));
            for (ours, theirs) in table {
                // `host/0*0` has 2 processors there; `resources_used.ncpus` says 48.
                let differs_on_purpose =
                    job.id.starts_with("3073070") && (*ours == "procs" || *ours == "nodes");
                if row.get(theirs).is_none_or(Value::is_null) || differs_on_purpose {
                    continue;
                }
                compared += 1;
                let plain = |text: String| Number::parse(&text).map_or(text, |n| n.to_string());
                let (mine, other) = (plain(of(job, ours)), plain(text_of(row, theirs)));
                if mine != other {
                    wrong.push(format!(
                        "{stem} {}: {theirs}: {other}, found {mine}",
                        job.id
                    ));
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arrays_and_states_are_those_of_the_reference() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data/slurm");
    let stem = "xdmod-unit-accounting-logs-with-job-arrays";
    let found = records("sacct", &data.join(format!("{stem}.sacct")));
    let tasks = rows(&data.join(format!("{stem}.expected.json")));
    assert_eq!(found.len(), tasks.len());
    for (found, tasks) in found.iter().zip(&tasks) {
        let Found::Jobs(jobs) = found else {
            panic!("{found:?}");
        };
        let ours: Vec<&str> = jobs
            .iter()
            .map(|job| job.id.rsplit('_').next().unwrap())
            .collect();
        let theirs: Vec<String> = tasks
            .as_array()
            .unwrap()
            .iter()
            .map(Value::to_string)
            .collect();
        assert_eq!(ours, theirs);
    }
    for (stem, labels) in [
        (
            "xdmod-unit-non-ended-job-state",
            &["not_ended", "never_started", "live_state"][..],
        ),
        (
            "xdmod-unit-unknown-job-state",
            &["not_ended", "never_started", "unknown_state"],
        ),
    ] {
        for found in records("sacct", &data.join(format!("{stem}.sacct"))) {
            let Found::Skipped(label) = &found else {
                panic!("{stem}: {found:?}");
            };
            assert!(labels.contains(&label.as_ref()), "{stem}: {label}");
        }
    }
}

/// GPUs of `AllocTRES` and of `Resource_List.nodes`, through the readers.
#[test]
fn gpu_strings_count_as_in_the_reference() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data");
    let line = |tres: &str| {
        format!(
            "JobID|Start|End|State|NNodes|NCPUS|AllocTRES\n\
             1|2026-01-01T00:00:00|2026-01-01T00:01:00|COMPLETED|1|1|{tres}\n"
        )
    };
    let acct = |nodes: &str| {
        format!("01/01/2026 00:00:00;E;1.s;start=1 end=2 Resource_List.nodes={nodes}\n")
    };
    for (format, pairs, input) in [
        (
            "sacct",
            "slurm/xdmod-tres-gpu-strings.json",
            &line as &dyn Fn(&str) -> String,
        ),
        ("pbs", "pbs/xdmod-gpu-nodes-strings.json", &acct),
    ] {
        for pair in rows(&data.join(pairs)) {
            let text = pair[0].as_str().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            std::fs::write(&path, input(text)).unwrap();
            let found = records(format, &path);
            let jobs = jobs(&found);
            assert_eq!(jobs.len(), 1, "{text}: {found:?}");
            assert_eq!(of(jobs[0], "gpus"), pair[1].to_string(), "{format}: {text}");
        }
    }
}

/// The daily series that was published of a real file: every figure, to its last place.
#[test]
fn days_are_those_of_the_reference() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data/slurm");
    let mut summary = Summary::by_day();
    let mut reader = (formats::named("sacct").unwrap().reader)(&Options::default()).unwrap();
    let mut input = open::open(&data.join("xdmod-phillips.sacct")).unwrap();
    let mut sink = |record| summary.take(&record);
    reader.file("phillips", &mut *input, &mut sink).unwrap();
    summary.close(Vec::new()).unwrap();
    let shown = serde_json::to_string(&summary.shown()).unwrap();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let days = shown["by_day"].as_object().unwrap();
    let mut wrong = Vec::new();
    let mut sums: BTreeMap<&str, Number> = BTreeMap::new();
    let text = std::fs::read_to_string(data.join("xdmod-phillips.daily.csv")).unwrap();
    let lines: Vec<&str> = text
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with("TOTAL"))
        .collect();
    assert_eq!(days.len(), lines.len());
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let day = days
            .get(cells[0])
            .unwrap_or_else(|| panic!("no day {}", cells[0]));
        for (name, at, among, places) in [
            ("core_s", 1, 3_600, 4),
            ("wall_s", 2, 3_600, 4),
            ("gpu_s", 3, 3_600, 4),
            ("node_s", 4, 3_600, 4),
            ("jobs", 5, 1, 0),
            ("started", 6, 1, 0),
            ("running", 8, 1, 0),
        ] {
            let value = Number::parse(&text_of(day, name)).unwrap_or_default();
            let sum = sums.entry(name).or_default();
            *sum = sum.plus(value).unwrap();
            let found = value.shared_out(among, places).unwrap().replace(',', "");
            if found != cells[at] {
                wrong.push(format!("{} {name}: {}, found {found}", cells[0], cells[at]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // What is dealt to days is all there is.
    for name in ["core_s", "wall_s", "gpu_s", "node_s"] {
        assert_eq!(
            sums[name].to_string(),
            text_of(&shown["totals"], name),
            "{name}"
        );
    }
}
