//! The shared goldens: one record, and what each writer must make of it byte
//! for byte.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bankd_testing::shared;
use chrono::DateTime;
use serde_json::Value;

use crate::file::{Dialect, FileOptions};
use crate::ggf::GgfOptions;
use crate::{Kind, Occasion, Record, State, Usage, Why, file, ggf};

fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}

/// A decimal string in units of 10^-places.
fn scaled(value: &Value, name: &str, places: usize) -> Option<i64> {
    let text = value[name].as_str()?;
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    Some(format!("{whole}{rest:0<places$}").parse().unwrap())
}

fn time(value: &Value, name: &str) -> Option<i64> {
    let time = DateTime::parse_from_rfc3339(value[name].as_str()?).unwrap();
    Some(time.timestamp_micros())
}

fn usage(of: &Value, processors: &Value) -> Usage {
    let processors = scaled(processors, "processors", 6).unwrap();
    let charged = scaled(of, "charge_s", 6)
        .or(scaled(of, "wall_s", 6))
        .unwrap();
    Usage::one(i128::from(processors), scaled(of, "proc_rate", 6), charged)
}

fn base(value: &Value, kind: Kind, occasion: Occasion, usage: Usage) -> Record {
    Record {
        occasion,
        record_id: value["record_id"].as_i64().unwrap(),
        created_at: time(value, "created_at").unwrap(),
        kind,
        object_id: text(value, "local_job_id").unwrap_or_default(),
        job_name: text(value, "job_name"),
        user: text(value, "user"),
        project: text(value, "project"),
        machine: text(value, "machine").unwrap_or_default(),
        submit_host: text(value, "submit_host"),
        class: text(value, "class"),
        qos: text(value, "qos"),
        host_type: text(value, "host_type"),
        hosts: value["hosts"].as_array().map_or_else(Vec::new, |hosts| {
            hosts
                .iter()
                .map(|host| host.as_str().unwrap().to_owned())
                .collect()
        }),
        nodes: value["nodes"].as_i64(),
        memory_per_node: value["memory_max_per_node_bytes"].as_i64(),
        submit_time: time(value, "submit_time"),
        start_time: time(value, "start_time"),
        end_time: time(value, "end_time"),
        wall: scaled(value, "wall_s", 6).or(scaled(value, "charge_s", 6)),
        cpu_user: scaled(value, "cpu_user_s", 6),
        cpu_system: scaled(value, "cpu_system_s", 6),
        cpu_total: scaled(value, "cpu_total_s", 6),
        usage,
        state: text(value, "state").map_or(State::Completed, |word| State::from_word(&word)),
        exit_code: value["exit_code"].as_i64(),
        amount: scaled(value, "charge", 3).unwrap(),
        formula: text(value, "formula"),
        group: text(value, "group"),
        uid: value["uid"].as_i64(),
        gid: value["gid"].as_i64(),
        requested: scaled(value, "requested_s", 6),
        requested_processors: scaled(value, "requested_processors", 6),
        requested_memory: value["requested_memory_per_node_bytes"].as_i64(),
        memory_total: value["memory_total_bytes"].as_i64(),
        ..Record::default()
    }
}

/// The charges, the close, the adjustments and the reservation.
pub(super) struct Story {
    charges: Vec<Record>,
    pub(super) close: Record,
    pub(super) adjustments: Vec<Record>,
    pub(super) reservation: Record,
    pub(super) bank: String,
}

pub(super) fn story(folder: &Path) -> Story {
    let json = fs::read_to_string(folder.join("record.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let job = &json["record"];
    let parts = json["charges"].as_array().unwrap();
    let sum = parts
        .iter()
        .map(|part| usage(part, job))
        .reduce(Usage::then)
        .unwrap();
    let close = base(job, Kind::Job, Occasion::Close { charges: 2 }, sum);
    let charges = parts.iter().map(|part| Record {
        occasion: Occasion::Charge,
        usage: usage(part, job),
        amount: scaled(part, "charge", 3).unwrap(),
        ..close.clone()
    });
    let adjustments = json["adjustments"].as_array().unwrap().iter().map(|part| {
        let why = match part["why"].as_str().unwrap() {
            "late_charge" => Why::LateCharge,
            _ => Why::Refund,
        };
        let occasion = Occasion::Adjustment {
            of: close.record_id,
            why,
        };
        let own = base(part, Kind::Job, occasion, usage(part, job));
        Record {
            object_id: close.object_id.clone(),
            user: close.user.clone(),
            project: close.project.clone(),
            machine: close.machine.clone(),
            host_type: close.host_type.clone(),
            formula: close.formula.clone().filter(|_| why == Why::LateCharge),
            ..own
        }
    });
    let reserved = &json["reservation"];
    let occasion = Occasion::Close { charges: 1 };
    Story {
        charges: charges.collect(),
        adjustments: adjustments.collect(),
        reservation: base(
            reserved,
            Kind::Reservation,
            occasion,
            usage(reserved, reserved),
        ),
        bank: json["bank"]["uuid"].as_str().unwrap()[..8].to_owned(),
        close,
    }
}

#[test]
fn shared_goldens() {
    let Some(folder) = shared("spec/usage-samples/bank") else {
        return;
    };
    let golden = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let Story {
        charges,
        close,
        adjustments,
        reservation,
        bank,
    } = story(&folder);

    let interim = FileOptions::default();
    let closing = FileOptions {
        interim: false,
        ..interim
    };
    let maui = FileOptions {
        dialect: Dialect::Maui,
        ..interim
    };
    let maui_closing = FileOptions {
        interim: false,
        ..maui
    };
    let lines = |records: &[&Record], options: &FileOptions<'_>| -> String {
        records
            .iter()
            .filter_map(|record| file::render(record, options).unwrap())
            .collect()
    };
    let all: Vec<_> = charges.iter().chain([&close]).collect();
    let later: Vec<_> = all.iter().copied().chain(&adjustments).collect();
    assert_eq!(lines(&all, &interim), golden("file-moab.txt"));
    assert_eq!(lines(&all, &closing), golden("file-moab-close.txt"));
    assert_eq!(lines(&later, &closing), golden("file-moab-adjustment.txt"));
    assert_eq!(
        lines(&[&reservation], &closing),
        golden("file-moab-reservation.txt")
    );
    assert_eq!(lines(&all, &maui), golden("file-maui.txt"));
    assert_eq!(
        lines(&[&reservation], &maui_closing),
        golden("file-maui-reservation.txt")
    );

    let options = GgfOptions {
        adjustments: true,
        bank: &bank,
        unit: "credits",
        precision: 3,
        whole: false,
    };
    let lines = |records: &[&Record]| -> String {
        records
            .iter()
            .filter_map(|record| ggf::render(record, &options))
            .collect()
    };
    assert_eq!(lines(&all), golden("ur1-lines.xml"));
    assert_eq!(
        lines(&adjustments.iter().collect::<Vec<_>>()),
        golden("ur1-adjustment.xml")
    );
    assert_eq!(lines(&[&reservation]), golden("ur1-reservation.xml"));
}

#[test]
fn every_ggf_line_is_valid() {
    let Some(schemas) = schemas() else {
        return;
    };
    let Some(folder) = shared("spec/usage-samples/bank") else {
        return;
    };
    let Story {
        close,
        mut adjustments,
        reservation,
        bank,
        ..
    } = story(&folder);
    let odd = Record {
        machine: "node_1;".to_owned(),
        submit_host: Some("a".to_owned()),
        hosts: vec!["slot1@host".to_owned(), "n".to_owned()],
        usage: Usage::one(1_500_000, Some(333_333), 1),
        memory_per_node: Some(1),
        memory_total: Some(3 << 10),
        group: Some("<g>".to_owned()),
        uid: Some(0),
        gid: Some(7),
        source: Some("slurm:a|b".to_owned()),
        host_type: Some("fat & slow".to_owned()),
        requested: Some(500_000),
        requested_processors: Some(1),
        requested_memory: Some(1),
        cpu_user: Some(1),
        cpu_system: None,
        cpu_total: Some(5),
        gpus: Some(3),
        shadow: Some(-1),
        job_name: Some("a\nb <&>\u{1}".to_owned()),
        state: State::Timeout,
        created_at: close.created_at + 1,
        wall: Some(1),
        ..close.clone()
    };
    adjustments.extend([close, odd, reservation]);
    let options = GgfOptions {
        adjustments: true,
        bank: &bank,
        unit: "credits",
        precision: 3,
        whole: false,
    };
    let whole = GgfOptions {
        whole: true,
        ..options
    };
    for record in &adjustments {
        for options in [&options, &whole] {
            let line = ggf::render(record, options).unwrap();
            validate(&schemas, &line);
        }
    }
}

/// Requires that `xmllint` reports a document as valid.
pub(super) fn validate(schemas: &Path, text: &str) {
    validate_by(schemas, "urf-1.0-gfd98.xsd", text);
}

/// The same by any of the schemas.
pub(super) fn validate_by(schemas: &Path, schema: &str, text: &str) {
    let temporary = tempfile::tempdir().unwrap();
    let document = temporary.path().join("record.xml");
    fs::write(&document, text).unwrap();
    let output = Command::new("xmllint")
        .env("XML_CATALOG_FILES", schemas.join("catalog.xml"))
        .args(["--nonet", "--noout", "--schema"])
        .arg(schemas.join(schema))
        .arg(&document)
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
}

/// The schemas, where they are and something can judge by them.
pub(super) fn schemas() -> Option<PathBuf> {
    let schemas = shared("spec/xsd")?;
    if Command::new("xmllint").arg("--version").output().is_err() {
        eprintln!("skipped: xmllint is not installed");
        return None;
    }
    Some(schemas)
}
