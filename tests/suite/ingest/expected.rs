//! Every entry of `data/expected.json` of the shared samples: the summary of our reader is equal to
//! it, key by key and digit by digit.

use std::path::Path;

use bankd_ingest::{Options, Summary, formats, open};
use serde_json::Value;

use crate::harness::{shared_folder, skip};

/// Which format and options a file of the samples needs (`data/LAYOUT.md`).
pub(crate) fn format_of(key: &str) -> (&'static str, Options) {
    let mut options = Options::default();
    let file = key.rsplit('/').next().unwrap_or(key);
    let extension = file.rsplit('.').next().unwrap_or(file);
    let folder = key.split('/').next().unwrap_or(key);
    let format = match folder {
        "sge" if extension == "jsonl" => "gridware-json",
        "sge" => "sge",
        "pbs" => "pbs",
        "lsf" => "lsf",
        "htcondor" if file.ends_with("pipe.txt") => "htcondor-apel",
        "htcondor" => "htcondor",
        "maui" => "maui",
        "moab" => "moab-events",
        "slurm" if file.ends_with("keyvalue.txt") => "sacct-keyvalue",
        "slurm" if file.ends_with("jobcomp.txt") => "slurm-jobcomp",
        "slurm" => "sacct",
        "slurm-json" => "slurm-json",
        "slurm-scontrol" => "slurm-scontrol",
        "openshift" if extension == "log" => "sacct",
        "openshift" => "openshift",
        "nomad" => "nomad",
        "prometheus" => "prometheus",
        "kubernetes" => "kubernetes",
        "auditor" => "auditor",
        "swf" => "swf",
        "csv" => "csv",
        _ => "",
    };
    if format == "csv" {
        options.mapping = Some(ready_mapping("aws-lsf"));
    }
    for (part, layout) in [
        ("-2019", "xdmod25-2019"),
        ("25-2021", "xdmod25-2021"),
        ("26-2020", "xdmod26-2020"),
    ] {
        if file.contains(part) {
            options.layout = Some(layout.to_owned());
        }
    }
    (format, options)
}

/// A mapping that comes with the product.
pub(super) fn ready_mapping(name: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../etc/import");
    std::fs::read_to_string(format!("{root}/{name}.toml")).unwrap()
}

/// Reads what a path stands for.
pub(super) fn summary(format: &str, options: &Options, path: &Path) -> Value {
    let format = formats::named(format).unwrap();
    let mut reader = (format.reader)(options).unwrap();
    let mut summary = Summary::default();
    let mut sink = |record| summary.take(&record);
    for file in open::files(path).unwrap().files {
        let mut input = open::open(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy();
        reader.file(&name, &mut *input, &mut sink).unwrap();
    }
    let extra = reader.finish(&mut sink).unwrap();
    summary.close(extra).unwrap();
    assert!(!summary.has_overflown());
    serde_json::from_str(&serde_json::to_string(&summary.shown()).unwrap()).unwrap()
}

#[test]
fn every_sample_gives_the_totals_counted_elsewhere() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data");
    let text = std::fs::read_to_string(data.join("expected.json")).unwrap();
    let Value::Object(entries) = serde_json::from_str(&text).unwrap() else {
        panic!("expected.json is no object");
    };
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (key, entry) in &entries {
        let (format, options) = format_of(key);
        compared += 1;
        let found = summary(format, &options, &data.join(key));
        let (Value::Object(entry), Value::Object(found)) = (entry, &found) else {
            panic!("{key}: no object");
        };
        for name in entry.keys().chain(found.keys()) {
            if entry.get(name) != found.get(name) {
                let shown = |value: Option<&Value>| {
                    value.map_or("nothing".to_owned(), |value| {
                        value.to_string().chars().take(300).collect()
                    })
                };
                let (expected, found) = (shown(entry.get(name)), shown(found.get(name)));
                wrong.push(format!("{key}: {name}: {expected}, found {found}"));
            }
        }
    }
    wrong.dedup();
    assert!(compared > 50, "{compared} entries");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
