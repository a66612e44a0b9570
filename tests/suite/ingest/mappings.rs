//! The mappings that come with the product, over samples that other readers or programs summed up.

use std::fmt::Write as _;

use bankd_ingest::{Options, formats};
use serde_json::Value;

use super::expected::{ready_mapping, summary};
use crate::harness::{shared_folder, skip};

fn by(mapping: &str) -> Options {
    Options {
        mapping: Some(ready_mapping(mapping)),
        ..Options::default()
    }
}

#[test]
fn every_ready_mapping_is_one() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../etc/import");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let name = name.strip_suffix(".toml").unwrap().to_owned();
        let made = (formats::named("csv").unwrap().reader)(&by(&name));
        assert!(made.is_ok(), "{name}: {:?}", made.err());
        names.push(name);
    }
    names.sort();
    assert_eq!(names, ["aws-lsf", "koku-pods", "nerc-pods", "sacct", "swf"]);
}

/// `sacct` and SWF have readers of their own: a mapping gives the same sums.
#[test]
fn mappings_agree_with_the_readers_of_their_formats() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data");
    let columns = "JobID JobIDRaw Cluster Partition QOS Account Group GID User UID Submit Eligible \
        Start End Elapsed ExitCode State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit \
        NodeList JobName";
    let mut sacct = by("sacct");
    sacct.columns = columns.split_whitespace().map(str::to_owned).collect();
    let mut swf = by("swf");
    let origin = "origin = 1027839845";
    swf.mapping = Some(ready_mapping("swf").replace("origin = 0", origin));
    for (format, mapping, file, names) in [
        (
            "sacct",
            &sacct,
            "slurm/xdmod-phillips.sacct",
            &["jobs", "first_start", "last_end", "identities"][..],
        ),
        (
            "swf",
            &swf,
            "swf/hpc2n-head.swf",
            &["jobs", "first_start", "last_end", "identities"][..],
        ),
    ] {
        let own = summary(format, &Options::default(), &data.join(file));
        let mapped = summary("csv", mapping, &data.join(file));
        for name in names {
            assert_eq!(own[name], mapped[name], "{file}: {name}");
        }
        for name in ["wall_s", "core_s"] {
            assert_eq!(
                own["totals"][name], mapped["totals"][name],
                "{file}: {name}"
            );
        }
    }
}

/// Reports of pods: their own figures, added up by another program.
#[test]
fn pod_reports_are_read_unchanged() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data");
    let koku = summary(
        "csv",
        &by("koku-pods"),
        &data.join("prometheus/koku-pod-usage.expected.csv"),
    );
    let nerc = summary(
        "csv",
        &by("nerc-pods"),
        &data.join("openshift/nerc-pods-0.csv"),
    );
    let runs = summary(
        "csv",
        &by("nerc-pods"),
        &data.join("openshift/upstream-pods.csv"),
    );
    let mut outline = String::new();
    for (name, found) in [("koku", &koku), ("nerc", &nerc), ("runs", &runs)] {
        let of = |key: &str| found[key].to_string();
        let skipped = found["skipped"].as_object().map_or(0, serde_json::Map::len);
        let totals: &Value = &found["totals"];
        writeln!(
            outline,
            "{name}: {} jobs, {skipped} skipped, {totals}",
            of("jobs")
        )
        .unwrap();
    }
    assert_eq!(
        outline,
        "koku: 5 jobs, 0 skipped, {\"byte_s\":4907335680000,\"core_s\":4032,\
         \"run_time_s\":18000,\"used_byte_s\":6100673249280,\"used_core_s\":\"104.886273\",\
         \"wall_s\":18000}\n\
         nerc: 7 jobs, 0 skipped, {\"core_s\":16200,\"gpu_s\":0,\"wall_s\":4140}\n\
         runs: 57 jobs, 0 skipped, {\"core_s\":2026845,\"gpu_s\":270000,\"wall_s\":522000}\n"
    );
}
