//! Windows of samples and snapshots that overlap, in any order: each counts once, in hours and in money.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::file;
use crate::harness::{Bank, Setup, T0};

/// 2025-12-01 in seconds since 1970.
const DAY: i64 = 1_764_547_200;

/// A bank with the project `chem`, in the mode of a machine for pods and deployments.
fn bank(mode: &str) -> Bank {
    let bank = Setup::new().start();
    bank.bank_ok(&["project", "add", "chem", "--members", "amy"]);
    bank.bank_ok(&["deposit", "chem", "1000000", "--start", "2025-11-01"]);
    bank.bank_ok(&["machine", "add", "pods", "--mode", mode]);
    bank.set_clock(T0 + 86_400);
    bank
}

/// Uses, core-seconds and the charge of December, real and shadow together.
#[track_caller]
fn held(bank: &Bank) -> (String, String, i64) {
    let text = bank.bank_ok(&["usage", "-m", "pods", "--month", "2025-12", "--json"]);
    let total = serde_json::from_str::<Value>(&text).unwrap()["total"].clone();
    let amount = |name: &str| {
        let text = total[name].as_str().unwrap_or("0");
        text.split('.').next().unwrap().parse::<i64>().unwrap()
    };
    (
        total["jobs"].as_str().unwrap().to_owned(),
        total["core_seconds"].as_str().unwrap().to_owned(),
        amount("charged") + amount("shadow_charged"),
    )
}

/// Metrics of `OpenShift` of one pod with so many cores: quarters of an hour, from the first before the last.
fn quarters(first: i64, last: i64, cores: &str) -> String {
    let series = |value: &str| {
        let values: Vec<Value> = (first..last)
            .map(|n| json!([DAY + 900 * n, value]))
            .collect();
        json!([{"metric": {"namespace": "chem", "pod": "p"}, "values": values}])
    };
    json!({"cpu_metrics": series(cores), "memory_metrics": series("1073741824")}).to_string()
}

/// Prometheus's samples of one pod: minutes, from the first before the last.
fn minutes(first: i64, last: i64) -> String {
    let values: Vec<Value> = (first..last).map(|n| json!([DAY + 60 * n, "1"])).collect();
    json!([{"metric": {"__name__": "pod_request_cpu_cores", "namespace": "chem", "pod": "p"}, "values": values}])
        .to_string()
}

#[track_caller]
fn import(bank: &Bank, format: &str, text: String) -> String {
    let file = file(bank, "window.json", text);
    bank.bank_ok(&["import", format, &file, "--source", "s", "-m", "pods"])
}

#[test]
fn windows_of_openshift_that_overlap_count_once() {
    for mode in ["strict", "track"] {
        let mut bank = bank(mode);
        for ((first, last), (jobs, core, charge), word) in [
            ((2, 10), ("1", "7200.000000", 7_200), "1 charged"),
            // It goes on, it began earlier, and all of it again.
            ((6, 16), ("1", "12600.000000", 12_600), "1 adjusted"),
            ((0, 4), ("2", "14400.000000", 14_400), "1 charged"),
            ((0, 16), ("2", "14400.000000", 14_400), "1 duplicate"),
            // Parts of it.
            ((2, 5), ("2", "14400.000000", 14_400), "1 duplicate"),
            ((4, 8), ("2", "14400.000000", 14_400), "1 duplicate"),
            ((12, 16), ("2", "14400.000000", 14_400), "1 duplicate"),
        ] {
            let said = import(&bank, "openshift", quarters(first, last, "1"));
            let what = format!("{mode}: {first} to {last}: {said}");
            let word = match mode {
                "track" => word.replace("charged", "notional"),
                _ => word.to_owned(),
            };
            let expected = (jobs.to_owned(), core.to_owned(), charge);
            assert_eq!(held(&bank), expected, "{what}");
            assert!(said.contains(&format!(": {word}\n")), "{what}");
        }
        // Of other requests only the time counts that is not known.
        let said = import(&bank, "openshift", quarters(14, 20, "2"));
        let expected = ("3".to_owned(), "21600.000000".to_owned(), 21_600);
        assert_eq!(held(&bank), expected, "{mode}: {said}");
        bank.verify();
    }
}

/// A wide window around two known ones: one use for each gap.
#[test]
fn a_window_around_known_ones_fills_the_gaps() {
    for mode in ["strict", "track"] {
        let mut bank = bank(mode);
        for (first, last) in [(4, 6), (10, 12)] {
            import(&bank, "openshift", quarters(first, last, "1"));
        }
        import(&bank, "openshift", quarters(0, 16, "1"));
        let (_, core, charge) = held(&bank);
        assert_eq!((core.as_str(), charge), ("14400.000000", 14_400), "{mode}");
        bank.verify();
    }
}

#[test]
fn windows_of_prometheus_that_overlap_count_once() {
    for mode in ["strict", "track"] {
        let mut bank = bank(mode);
        for ((first, last), core) in [
            ((0, 40), "2400.000000"),
            ((20, 60), "3600.000000"),
            ((10, 30), "3600.000000"),
            ((0, 60), "3600.000000"),
            // The next hour is another use.
            ((50, 70), "4200.000000"),
        ] {
            let said = import(&bank, "prometheus", minutes(first, last));
            assert_eq!(held(&bank).1, core, "{mode}: {first} to {last}: {said}");
        }
        bank.verify();
    }
}

/// A deployment in a snapshot of Nomad at an hour of the day.
fn snapshot(bank: &Bank, hour: i64, status: &str, end: &str) -> String {
    let mut text = String::new();
    write!(
        text,
        r#"{{"chem":[{{"job_ID":"j","alloc_ID":"a","owner":"amy","status":"{status}","submit_time":"2025-12-01T00:00:00Z",
        "alloc_start":"2025-12-01T01:00:00Z","alloc_end":{end},"resources":{{"cpu_num":2,"cpu_MHz":0,"gpu_num":0,
        "memory_MB":100,"disk_MB":0}}}}]}}"#
    )
    .unwrap();
    let file = file(bank, &format!("2025-12-01T{hour:02}:00:00.json"), text);
    bank.bank_ok(&["import", "nomad", &file, "--source", "n", "-m", "pods"])
}

#[test]
fn an_older_snapshot_of_nomad_changes_nothing() {
    for mode in ["strict", "track"] {
        let mut bank = bank(mode);
        for (hour, status, end, core) in [
            (3, "running", "null", "14400.000000"),
            (6, "running", "null", "36000.000000"),
            (3, "running", "null", "36000.000000"),
            (2, "running", "null", "36000.000000"),
            (8, "dead", "\"2025-12-01T07:30:00Z\"", "46800.000000"),
            // It has ended: no sighting of before changes that.
            (6, "running", "null", "46800.000000"),
            (8, "dead", "\"2025-12-01T07:30:00Z\"", "46800.000000"),
        ] {
            let said = snapshot(&bank, hour, status, end);
            assert_eq!(held(&bank).1, core, "{mode}: {hour} {status}: {said}");
        }
        bank.verify();
    }
}

/// A deployment that strict would have refused is one refusal, of the first snapshot, with its present figures.
#[test]
fn later_snapshots_of_nomad_keep_the_refusal_of_the_first() {
    let mut bank = bank("track");
    bank.bank_ok(&["withdraw", "chem", "1000000"]);
    let mut refused = Vec::new();
    for (hour, needed) in [(3, "14400"), (6, "36000")] {
        snapshot(&bank, hour, "running", "null");
        let answer = bank.json(&["monitor", "--since", "2025-12-01"]);
        let [item] = answer["items"].as_array().unwrap().as_slice() else {
            panic!("{answer}");
        };
        let figures = (&item["code"], &item["needed"], &item["available"]);
        let expected = (&json!("insufficient_funds"), &json!(needed), &json!("0"));
        assert_eq!(figures, expected, "{answer}");
        refused.push(item["transaction"].clone());
    }
    assert_eq!(refused[0], refused[1]);
    bank.verify();
}

/// A use of samples has no line: the quarantine keeps its statements, so that nothing is lost.
#[test]
fn samples_that_a_rule_refuses_keep_their_statements() {
    let mut bank = bank("track");
    // 2026-01-03, after the bank's present.
    let first = 33 * 1_440;
    let later = minutes(first, first + 60);
    import(&bank, "prometheus", later.clone());
    import(&bank, "prometheus", later.replace("\"p\"", "\"other\""));
    let list = bank.json(&["quarantine", "ls"]);
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{list}");
    let id = items[0]["id"].to_string();
    let shown = bank.json(&["quarantine", "show", &id]);
    let body = shown["body"].as_str().unwrap();
    for line in ["project=chem", "start=1767398400000000", "processors=1"] {
        assert!(body.lines().any(|own| own == line), "{line}: {body}");
    }
    assert!(body.starts_with("id=chem/p"), "{body}");
    // Its samples take its place.
    let samples = file(&bank, "samples.json", &later);
    bank.set_clock(T0 + 4 * 86_400);
    let output = bank.bank_ok(&["quarantine", "replay", &id, "--with", &samples]);
    assert!(
        output.starts_with(&format!("{id}: 1 job: 1 notional")),
        "{output}"
    );
    bank.verify();
}
