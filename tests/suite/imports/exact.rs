//! Parts of processors: hours, exports and charges state the same use.

use serde_json::Value;

use super::{file, watching};
use crate::harness::{Bank, Setup, T0};

/// A pod with two containers, one for an hour and one for half of it; the pod lives five seconds longer.
const PODS: &str = r#"{"items":[{"metadata":{"namespace":"chem","name":"p","uid":"u"},
    "spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1500m","memory":"1Gi"}}},
        {"name":"b","resources":{"limits":{"cpu":"0.25","memory":"1Gi"}}}]},
    "status":{"phase":"Succeeded","startTime":"2025-12-01T00:00:00Z","containerStatuses":
        [{"name":"a","state":{"terminated":{"startedAt":"2025-12-01T00:00:05Z",
        "finishedAt":"2025-12-01T01:00:05Z"}}},
        {"name":"b","state":{"terminated":{"startedAt":"2025-12-01T00:00:05Z",
        "finishedAt":"2025-12-01T00:30:05Z"}}}]}}]}"#;

/// Forty core-seconds in 23 hours.
const RECORD: &str = r#"[{"record_id":"k","meta":{"namespace":["chem"],"user_id":["amy"]},
    "components":[{"name":"naive_cpu_time","amount":40,"scores":[]}],
    "start_time":"2025-12-01T00:00:00Z","stop_time":"2025-12-01T23:00:00Z"}]"#;

/// Sixty samples of a pod that uses a small part of a core, in the form of `OpenShift`.
fn samples() -> String {
    let at = |n: i64| format!("[{},\"0.0021762591666666668\"]", 1_764_547_200 + 60 * n);
    let values: Vec<String> = (0..60).map(at).collect();
    format!(
        r#"[{{"metric":{{"__name__":"pod_usage_cpu_cores","namespace":"chem","pod":"p"}},"values":[{}]}}]"#,
        values.join(",")
    )
}

#[track_caller]
fn total(bank: &Bank) -> Value {
    let text = bank.bank_ok(&["usage", "--month", "2025-12", "--json"]);
    serde_json::from_str::<Value>(&text).unwrap()["total"].clone()
}

/// Seconds in millionths, without what is smaller.
fn micros(seconds: &str) -> i64 {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    format!("{whole}{part:0<6.6}").parse().unwrap()
}

#[test]
fn hours_and_charges_have_the_same_processors() {
    for (format, text, core, charge) in [
        ("kubernetes", PODS.to_owned(), "5850.000000", "5850"),
        ("auditor", RECORD.to_owned(), "40.000000", "40"),
        ("prometheus", samples(), "7.834533", "8"),
    ] {
        for mode in ["strict", "track"] {
            let mut bank = Setup::new().start();
            bank.bank_ok(&["project", "add", "chem", "--members", "amy"]);
            bank.bank_ok(&["deposit", "chem", "100000", "--start", "2025-11-01"]);
            bank.bank_ok(&["machine", "add", "m", "--mode", mode]);
            bank.set_clock(T0 + 86_400);
            let file = file(&bank, "usage.json", text.clone());
            bank.bank_ok(&["import", format, &file, "--source", "s", "-m", "m"]);
            let total = total(&bank);
            let what = format!("{format} {mode}: {total}");
            assert_eq!(total["core_seconds"], core, "{what}");
            let name = if mode == "track" {
                "shadow_charged"
            } else {
                "charged"
            };
            assert_eq!(total[name], charge, "{what}");
            let exported = bank.bank_ok(&["export", "jsonl", "-m", "m"]);
            let line: Value = serde_json::from_str(exported.lines().last().unwrap()).unwrap();
            let stated = line["processor_s"].as_str().unwrap();
            assert!(micros(stated).abs_diff(micros(core)) <= 1, "{what}: {line}");
            bank.verify();
        }
    }
}

/// What its source states to have no processors is free, in every mode.
#[test]
fn usage_without_processors_is_free() {
    let limits = [
        r#","resources":{"limits":{"cpu":"1500m","memory":"1Gi"}}"#,
        r#","resources":{"limits":{"cpu":"0.25","memory":"1Gi"}}"#,
    ];
    let bare = limits.iter().fold(PODS.to_owned(), |text, limit| {
        assert!(text.contains(limit), "{text}");
        text.replace(limit, "")
    });
    let naive = RECORD.replace("\"amount\":40", "\"amount\":0");
    for (format, text, warning) in [
        ("kubernetes", bare, "warning: 1 pod"),
        ("auditor", naive, ""),
    ] {
        for mode in ["strict", "track"] {
            let mut bank = Setup::new().start();
            bank.bank_ok(&["project", "add", "chem", "--members", "amy"]);
            bank.bank_ok(&["deposit", "chem", "100000", "--start", "2025-11-01"]);
            bank.bank_ok(&["machine", "add", "m", "--mode", mode]);
            bank.set_clock(T0 + 86_400);
            let file = file(&bank, "usage.json", text.clone());
            let seen = bank.bank_ok(&["import", format, &file, "--source", "s", "-m", "m"]);
            assert!(seen.contains(warning), "{format} {mode}: {seen}");
            let total = total(&bank);
            for name in ["charged", "shadow_charged"] {
                assert_eq!(total[name], "0", "{format} {mode}: {total}");
            }
            assert_eq!(bank.figures("chem"), (100_000, 0, 100_000));
            bank.verify();
        }
    }
}

/// The same figure in the list of uses that wait for a project.
#[test]
fn uses_that_wait_have_the_same_hours() {
    let mut bank = watching(&[]);
    let text = PODS.replace("\"chem\"", "\"nobody\"");
    let file = file(&bank, "pods.json", text);
    bank.bank_ok(&[
        "import",
        "kubernetes",
        &file,
        "--source",
        "s",
        "-m",
        "colony",
    ]);
    let waiting = bank.json(&["unmapped"]);
    let row = &waiting["items"][0];
    assert_eq!(row["core_hours"], "1.625", "{waiting}");
    bank.verify();
}
