//! The writers of exports: the shared goldens byte for byte.

use std::fs;
use std::path::PathBuf;

use bank_api::v1::UsedLine;
use bankd_testing::shared;
use serde_json::Value;

use super::goldens::{Story, story};
use crate::export::{Benchmark, Site, Vo, Written};
use crate::{Record, apel, lines, sacct, swf, ur2};

/// The site of `record.json`.
pub(super) fn site(bank: &str) -> Site {
    Site {
        bank: bank.to_owned(),
        unit: "credits".to_owned(),
        precision: 3,
        name: "EXAMPLE-SITE".to_owned(),
        infrastructure: "local".to_owned(),
        description: "BANK-MOAB".to_owned(),
        benchmark: Some(Benchmark {
            name: "HEPscore23".to_owned(),
            value: 15_300_000_000,
        }),
        full_cpu: false,
        vo: Vo {
            map: [("s".to_owned(), "local-s".to_owned())].into(),
            other: "*".to_owned(),
        },
    }
}

fn folder() -> Option<PathBuf> {
    shared("spec/usage-samples/bank")
}

fn text(written: Written) -> String {
    match written {
        Written::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

/// Long after everything in the samples.
pub(super) const NOW: i64 = 1_800_000_000_000_000;

#[test]
fn goldens_of_exports() {
    let Some(folder) = folder() else { return };
    let golden = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let Story { close, bank, .. } = story(&folder);
    let site = site(&bank);
    let document = format!(
        "{}{}{}",
        ur2::HEAD,
        text(ur2::render(&close, &site)),
        ur2::TAIL
    );
    assert_eq!(document, golden("ur2-document.xml"));
    assert_eq!(text(sacct::render(&close, &site)), golden("xdmod.log"));
    let record = text(apel::render(&close, &site, NOW));
    assert_eq!(
        apel::messages(apel::JOBS, &[record]),
        [golden("apel-job-v0.3.txt")]
    );
    let mut sums = apel::Sums::default();
    sums.add(&close, &site, NOW).unwrap();
    let summaries = apel::messages(apel::SUMMARIES, &sums.summaries(&site));
    assert_eq!(summaries, [golden("apel-normalised-v0.4.txt")]);
    let counts = apel::messages(apel::SYNC, &sums.counts(&site));
    assert_eq!(counts, [golden("apel-sync-v0.1.txt")]);
    let jobs = [swf::job(&close).unwrap()];
    assert_eq!(swf::render(&jobs, |_| [1, 1, 1]), golden("workload.swf"));
}

/// JSON Lines has the fields of the one record by their names and values.
#[test]
fn json_lines_have_the_internal_record() {
    let Some(folder) = folder() else { return };
    let Story { close, bank, .. } = story(&folder);
    let line = text(lines::json(&close, &site(&bank)));
    let made: Value = serde_json::from_str(&line).unwrap();
    let json = fs::read_to_string(folder.join("record.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let mut same = 0;
    for (key, value) in json["record"].as_object().unwrap() {
        // A number there, a name to the outside here; and what is no field of a usage.
        if ["record_id", "source"].contains(&key.as_str()) {
            continue;
        }
        assert_eq!(made.get(key), Some(value), "{key}");
        same += 1;
    }
    assert!(same > 25, "{same}");
    assert_eq!(made["record_id"], "bank:8f1c2d3a:412");
}

#[test]
fn columns_are_the_fields_in_their_order() {
    let full = "x".to_owned();
    let maybe = || Some(full.clone());
    let line = UsedLine {
        record_id: full.clone(),
        replaces: maybe(),
        adjusts: maybe(),
        why: maybe(),
        source: maybe(),
        created_at: maybe(),
        user: maybe(),
        uid: Some(1),
        group: maybe(),
        gid: Some(1),
        project: maybe(),
        submit_host: maybe(),
        class: maybe(),
        qos: maybe(),
        hosts: vec![full.clone()],
        host_type: maybe(),
        job_name: maybe(),
        submit_time: maybe(),
        start_time: maybe(),
        end_time: maybe(),
        wall_s: maybe(),
        charge_s: maybe(),
        processor_s: maybe(),
        cpu_total_s: maybe(),
        cpu_user_s: maybe(),
        cpu_system_s: maybe(),
        requested_s: maybe(),
        processors: maybe(),
        proc_rate: maybe(),
        nodes: Some(1),
        requested_processors: maybe(),
        memory_max_per_node_bytes: Some(1),
        memory_total_bytes: Some(1),
        requested_memory_per_node_bytes: Some(1),
        gpus: Some(1),
        exit_code: Some(1),
        shadow_charge: maybe(),
        formula: maybe(),
        pi: maybe(),
        ..UsedLine::default()
    };
    let json = line.json();
    let places: Vec<usize> = UsedLine::COLUMNS
        .iter()
        .map(|column| json.find(&format!("\"{column}\":")).expect(column))
        .collect();
    assert!(places.is_sorted(), "{json}");
    assert_eq!(json.matches("\":").count(), UsedLine::COLUMNS.len());
    assert_eq!(line.cells().len(), UsedLine::COLUMNS.len());
}

/// Reservations, changes after the end and interim charges are no jobs, and are reported as such.
#[test]
fn formats_of_jobs_have_jobs_only() {
    let Some(folder) = folder() else { return };
    let Story {
        adjustments,
        reservation,
        bank,
        ..
    } = story(&folder);
    let site = site(&bank);
    for record in adjustments.iter().chain([&reservation]) {
        for written in [
            sacct::render(record, &site),
            apel::render(record, &site, NOW),
            lines::auditor(record, &site),
            swf::job(record).unwrap_err(),
        ] {
            assert!(matches!(written, Written::Skipped(_)), "{written:?}");
        }
        assert!(matches!(lines::json(record, &site), Written::Text(_)));
    }
    let interim = Record {
        occasion: crate::Occasion::Charge,
        ..reservation
    };
    for written in [
        sacct::render(&interim, &site),
        lines::json(&interim, &site),
        ur2::render(&interim, &site),
        lines::csv(&interim, &site, false),
    ] {
        assert_eq!(written, Written::Nothing);
    }
}
