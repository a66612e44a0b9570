//! What Prometheus reads of the daemon: every sample has its row in the reference, and figures follow what
//! happens.

use std::collections::{BTreeMap, BTreeSet};

use crate::harness::{Bank, Request, until};

/// The samples of `/metrics`, by their names with labels.
fn samples(bank: &Bank) -> BTreeMap<String, f64> {
    let answer = bank.over_socket(&Request::get("/metrics"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let samples = samples.map(|line| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    });
    samples.collect()
}

/// The metrics with their kinds.
fn kinds(bank: &Bank) -> BTreeMap<String, String> {
    let text = bank.over_socket(&Request::get("/metrics")).text();
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let types = types.map(|line| line.split_once(' ').unwrap());
    let all: Vec<(&str, &str)> = types.collect();
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), all.len(), "each metric has one head");
    let owned = |(name, kind): &(&str, &str)| ((*name).to_owned(), (*kind).to_owned());
    all.iter().map(owned).collect()
}

#[test]
fn every_metric_has_its_row_and_follows_the_conventions() {
    let bank = Bank::new();
    let reference = include_str!("../../../docs/reference/metrics.md");
    let kinds = kinds(&bank);
    for (name, kind) in &kinds {
        assert!(
            reference.contains(&format!("| `{name}` | {kind} |")),
            "{name} {kind}"
        );
        assert!(name.starts_with("bankd_"), "{name}");
        assert_eq!(name.ends_with("_total"), kind == "counter", "{name} {kind}");
        if kind == "histogram" {
            assert!(name.ends_with("_seconds"), "{name}");
        }
    }
    let rows = reference
        .lines()
        .filter_map(|line| line.strip_prefix("| `bankd_"));
    for row in rows {
        let name = format!("bankd_{}", row.split('`').next().unwrap());
        assert!(kinds.contains_key(&name), "{name} is not there");
    }
}

#[test]
fn commands_are_counted_by_kind_and_outcome() {
    let mut bank = Bank::new();
    let of = |all: &BTreeMap<String, f64>, kind: &str, outcome: &str| {
        let name = format!("bankd_commands_total{{kind=\"{kind}\",outcome=\"{outcome}\"}}");
        all.get(&name).copied().unwrap_or_default()
    };
    let before = samples(&bank);
    bank.bank_ok(&["deposit", "chemistry", "5", "--key", "m-1"]);
    bank.bank_ok(&["deposit", "chemistry", "5", "--key", "m-1"]);
    bank.bank_ok(&["deposit", "chemistry", "5", "--dry-run"]);
    assert_eq!(bank.bank(&["withdraw", "chemistry", "99999999"]).exit, 3);
    let after = samples(&bank);
    for (kind, outcome, more) in [
        ("deposit", "done", 1.0),
        ("deposit", "repeated", 1.0),
        ("deposit", "dry_run", 1.0),
        ("deposit", "refused", 0.0),
        ("withdraw", "refused", 1.0),
    ] {
        let grown = of(&after, kind, outcome) - of(&before, kind, outcome);
        assert!((grown - more).abs() < 0.5, "{kind} {outcome}: {grown}");
    }
    let refused = after["bankd_refusals_total{code=\"insufficient_funds\"}"];
    assert!((refused - 1.0).abs() < 0.5, "{refused}");
    assert!(after["bankd_commit_duration_seconds_count"] >= 1.0);
    let deposits = "{method=\"POST\",route=\"/api/v1/deposits\"}";
    let timed = after[&format!("bankd_http_request_duration_seconds_count{deposits}")];
    let answered: f64 = ["2xx", "4xx"]
        .iter()
        .filter_map(|status| {
            let labels = format!("method=\"POST\",route=\"/api/v1/deposits\",status=\"{status}\"");
            after.get(&format!("bankd_http_requests_total{{{labels}}}"))
        })
        .sum();
    assert!(
        timed >= 3.0 && (timed - answered).abs() < 0.5,
        "{timed} {answered}"
    );
    bank.verify();
}

#[test]
fn histograms_add_up() {
    let bank = Bank::new();
    bank.bank_ok(&["balance"]);
    let all = samples(&bank);
    let mut histograms = 0;
    for (name, count) in all
        .iter()
        .filter(|(name, _)| name.contains("_seconds_count"))
    {
        let begin = name.replace("_count", "_bucket").replace('}', ",");
        let begin = if begin.contains('{') {
            begin
        } else {
            begin + "{"
        };
        let mut buckets: Vec<f64> = Vec::new();
        let mut last = 0.0;
        for (bucket, value) in all.iter().filter(|(bucket, _)| bucket.starts_with(&begin)) {
            if bucket.ends_with("le=\"+Inf\"}") {
                last = *value;
            }
            buckets.push(*value);
        }
        assert_eq!(buckets.len(), 15, "{name}");
        assert!((last - count).abs() < 0.5, "{name}: {last} of {count}");
        assert!(buckets.iter().all(|own| *own <= *count), "{name}");
        histograms += 1;
    }
    assert!(histograms > 2, "{histograms}");
    let strangers = all.keys().filter(|name| name.contains("physics"));
    assert_eq!(strangers.count(), 0, "no project is in a label");
}

/// What is only looked up: the quarantine, and a queue at rest.
#[test]
fn what_waits_is_shown() {
    let bank = Bank::new();
    let file = bank.folder().join("usage.log");
    std::fs::write(&file, "no record at all\n").unwrap();
    let path = file.to_str().unwrap();
    let words = ["import", "sge", path, "--source", "sge:x", "-m", "colony"];
    let ran = bank.bank(&words);
    assert!(ran.exit < 2, "{}", ran.stderr);
    until("the quarantine is counted", || {
        let all = samples(&bank);
        (all["bankd_quarantine_rows"] >= 1.0 && all["bankd_quarantine_bytes"] > 0.0).then_some(())
    });
    let all = samples(&bank);
    assert!(all["bankd_writer_queue_depth"] < 1.0);
    assert!(all["bankd_writer_queue_capacity"] > 1000.0);
    assert!(all["bankd_source_rejected_total{source=\"sge:x\"}"] >= 1.0);
    assert!(all["bankd_database_bytes"] > 0.0 && all["bankd_healthy"] > 0.5);
}
