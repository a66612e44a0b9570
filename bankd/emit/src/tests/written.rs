//! Own golden files: tables and lines of one job, one change after its end and one use of a collector, with
//! names that break careless readers. `BANK_WRITE_GOLDENS=1` writes them again.

use std::path::Path;

use super::exports::site;
use super::*;
use crate::export::{Site, Written};
use crate::{ggf, lines, sacct, swf};

fn records() -> [Record; 3] {
    let some = |text: &str| Some(text.to_owned());
    let full = Record {
        job_name: some("sim & <fit>, \"q\" = 100% | a:b %% Z\u{fc}rich\nnext"),
        submit_host: some("login"),
        class: some("=batch"),
        qos: some("@premium"),
        host_type: some("gpu"),
        hosts: vec!["n1".to_owned(), "n2".to_owned()],
        nodes: Some(2),
        memory_per_node: Some(3 << 30),
        submit_time: Some(NOON - 4000 * SECOND),
        cpu_user: Some(50_000 * SECOND),
        cpu_system: Some(1_500_000),
        exit_code: Some(-1),
        formula: some("16 * 3600 s"),
        group: some("chem"),
        uid: Some(1001),
        gid: Some(100),
        requested: Some(7200 * SECOND),
        requested_processors: Some(16_000_000),
        requested_memory: Some(4 << 30),
        gpus: Some(2),
        ..job(CLOSE)
    };
    let back = Record {
        record_id: 8,
        amount: -1_000,
        wall: Some(0),
        usage: Usage::one(16_000_000, None, 0),
        ..job(REFUND)
    };
    let seen = Record {
        record_id: 17,
        amount: 0,
        outcome: Outcome::Shadow,
        memory_total: Some(1 << 30),
        cpu_total: Some(9 * SECOND),
        source: some("slurm:blue"),
        shadow: Some(7_200_000),
        collected: Some(Collected {
            revision: 1,
            replaced: Some(0),
            ..Collected::default()
        }),
        ..job(CLOSE)
    };
    [full, back, seen]
}

fn all(site: &Site, write: impl Fn(&Record, &Site) -> Written) -> String {
    let texts = records()
        .into_iter()
        .map(|record| match write(&record, site) {
            Written::Text(text) => text,
            Written::Skipped(_) | Written::Nothing => String::new(),
        });
    texts.collect()
}

/// As documents have it: more than lines of record files.
fn whole(record: &Record, site: &Site) -> Written {
    let options = GgfOptions {
        adjustments: true,
        bank: &site.bank,
        unit: &site.unit,
        precision: site.precision,
        whole: true,
    };
    ggf::render(record, &options).map_or(Written::Nothing, Written::Text)
}

#[track_caller]
fn golden(name: &str, made: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/goldens");
    let path = folder.join(name);
    if std::env::var_os("BANK_WRITE_GOLDENS").is_some() {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&path, made).unwrap();
    }
    assert_eq!(made, std::fs::read_to_string(&path).unwrap(), "{name}");
}

#[test]
fn tables_and_lines_are_their_goldens() {
    let site = site("0a1b2c3d");
    let csv = |is_safe| lines::csv_head() + &all(&site, |r, s| lines::csv(r, s, is_safe));
    golden("usage.csv", &csv(false));
    golden("usage-safe.csv", &csv(true));
    golden("usage.jsonl", &all(&site, lines::json));
    golden("auditor.jsonl", &all(&site, lines::auditor));
    golden("usage.ur1.xml", &all(&site, whole));
    golden("xdmod.log", &all(&site, sacct::render));
    let jobs: Vec<swf::Job> = records().iter().filter_map(|r| swf::job(r).ok()).collect();
    golden("workload.swf", &swf::render(&jobs, |_| [1, 2, -1]));
}

/// Not only line feeds end a line: some readers accept further characters.
#[test]
fn what_ends_a_line_to_any_reader_is_a_blank_in_columns() {
    let name = "a\u{2028}b\u{2029}c\u{85}d\re";
    let record = Record {
        user: Some(name.to_owned()),
        machine: name.to_owned(),
        ..records()[0].clone()
    };
    let Written::Text(line) = sacct::render(&record, &site("0a1b2c3d")) else {
        panic!("no line");
    };
    assert!(line.contains("|a b c d e|"), "{line}");
    let jobs: Vec<swf::Job> = swf::job(&record).into_iter().collect();
    let text = swf::render(&jobs, |_| [1, 2, -1]);
    assert!(text.contains("a b c d e"), "{text}");
    for text in [line, text] {
        assert!(
            !text.contains(['\u{2028}', '\u{2029}', '\u{85}', '\r']),
            "{text:?}"
        );
    }
}
