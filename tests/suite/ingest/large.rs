//! Files of the load generators: their own totals come back, in memory that does not grow.
//!
//! `BANK_LOAD_RECORDS` says how many records are generated (3,000 without it; the long run has
//! 2,000,000).

use std::io::{BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use bankd_ingest::{Options, Summary, formats};
use serde_json::Value;

use super::setting;
use crate::harness::{shared_folder, skip};

/// Reads what a generator prints. Gives the summary, and the generator's last line by its names.
fn read(format: &str, generator: &Path, records: u64) -> Option<(Value, Vec<(String, String)>)> {
    let generated = Command::new("python3")
        .arg(generator)
        .args([records.to_string(), "1".to_owned()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut generated) = generated else {
        skip("python3", "no Python to run the load generators");
        return None;
    };
    let mut reader = (formats::named(format).unwrap().reader)(&Options::default()).unwrap();
    let mut summary = Summary::default();
    let mut input = BufReader::new(generated.stdout.take().unwrap());
    let mut sink = |record| summary.take(&record);
    reader.file("generated", &mut input, &mut sink).unwrap();
    let extra = reader.finish(&mut sink).unwrap();
    summary.close(extra).unwrap();
    let mut output = String::new();
    let mut errors = generated.stderr.take().unwrap();
    errors.read_to_string(&mut output).unwrap();
    assert!(generated.wait().unwrap().success(), "{output}");
    let line = output
        .lines()
        .find(|line| line.starts_with("#TOTAL"))
        .unwrap();
    let pairs = line
        .split_whitespace()
        .filter_map(|word| word.split_once('='));
    let pairs = pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let shown = serde_json::to_string(&summary.shown()).unwrap();
    Some((serde_json::from_str(&shown).unwrap(), pairs))
}

/// A figure of the summary, as the generators write it.
fn figure(found: &Value, path: &str) -> String {
    match found.pointer(path).unwrap_or(&Value::Null) {
        Value::Null => "0".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn totals_of_generated_files_come_back() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let records = setting("BANK_LOAD_RECORDS").unwrap_or(3_000);
    let folder = shared.join("data/generators");
    let sacct: &[(&str, &str)] = &[
        ("charged_records", "/jobs"),
        ("never_started", "/skipped/never_started"),
        ("wall_s", "/totals/wall_s"),
        ("cpu_s", "/totals/core_s"),
        ("gpu_s", "/totals/gpu_s"),
    ];
    let sge: &[(&str, &str)] = &[
        ("started", "/jobs"),
        ("never", "/skipped/never_started"),
        ("wall", "/totals/wall_s"),
        ("slotwall", "/totals/core_s"),
        ("cpu", "/totals/cpu_s"),
        ("slave", "/skipped/slave_task"),
        ("slave_cpu", "/slave_cpu_s"),
    ];
    for (format, generator, table) in [("sacct", "gen_sacct.py", sacct), ("sge", "gen_sge.py", sge)]
    {
        let Some((found, expected)) = read(format, &folder.join(generator), records) else {
            return;
        };
        assert!(!expected.is_empty(), "{generator}");
        let mut compared = 0;
        for (theirs, ours) in table {
            let Some((_, expected)) = expected.iter().find(|(name, _)| name == theirs) else {
                panic!("{generator} says no {theirs}: {expected:?}");
            };
            let plain = |text: &str| bankd_ingest::Number::parse(text).unwrap().to_string();
            assert_eq!(
                plain(&figure(&found, ours)),
                plain(expected),
                "{generator}: {theirs}"
            );
            compared += 1;
        }
        assert_eq!(compared, table.len());
    }
}
