//! NERC's two files out of a real bank: the metrics come in through the collector's reader, and go out as
//! the older program made them.

use std::fs;

use serde_json::Value;

use super::{export, path};
use crate::harness::{Bank, Request, Setup, shared_folder, skip};

/// The rates of the samples.
const RATES: [&str; 4] = [
    "OpenShift CPU=0.013",
    "OpenShift GPUA100=1.803",
    "OpenShift GPUA100SXM4=2.078",
    "OpenShift GPUV100=1.214",
];

/// A bank with the cluster, its rates and the GPUs of its nodes.
fn bank(nodes: &[(String, String)]) -> Bank {
    let nodes: Vec<String> = nodes
        .iter()
        .map(|(node, gpu)| format!("{node}={gpu}"))
        .collect();
    let bank = Setup::new()
        .env("BANKD_EXPORT_SU_RATES", &RATES.join(","))
        .env("BANKD_EXPORT_GPU_NODES", &nodes.join(","))
        .start();
    bank.bank_ok(&["machine", "add", "ocp"]);
    bank.bank_ok(&["machine", "set", "ocp", "--mode", "track"]);
    for (project, pi, code) in [
        ("physics-sim-1a2b3c", "physics", "N000"),
        ("bio-imaging-9f8e7d", "bio", "N001"),
        ("ai-telemetry-cbca60", "ai", "N002"),
    ] {
        let (user, email) = (format!("pi.{pi}"), format!("pi.{pi}@example.edu"));
        bank.bank_ok(&["user", "add", &user, "--email", &email]);
        bank.bank_ok(&[
            "project",
            "add",
            project,
            "--organization",
            code,
            "--members",
            &user,
        ]);
        bank.bank_ok(&["project", "members", "role", project, &user, "pi"]);
    }
    bank
}

fn import(bank: &Bank, folder: &str) {
    bank.bank_ok(&[
        "import",
        "openshift",
        folder,
        "--source",
        "ocp",
        "-m",
        "ocp",
    ]);
}

#[test]
fn the_samples_come_out_as_the_older_program_made_them() {
    let Some(shared) = shared_folder() else {
        skip(
            "shared",
            "no folder with metrics of OpenShift (BANK_SHARED)",
        );
        return;
    };
    let folder = shared.join("data/openshift");
    let golden = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let map: Value = serde_json::from_str(&golden("gpu_node_map.json")).unwrap();
    let nodes: Vec<(String, String)> = map
        .as_object()
        .unwrap()
        .iter()
        .map(|(node, gpu)| (node.clone(), gpu.as_str().unwrap().to_owned()))
        .collect();
    let mut bank = bank(&nodes);
    let metrics = folder.join("metrics");
    import(&bank, metrics.to_str().unwrap());
    let invoice = ["nerc-invoice", "--month", "2024-05", "--round-up"];
    assert_eq!(
        export(&bank, &["nerc-pods"]),
        golden("upstream-pods.csv").replace('\r', "")
    );
    assert_eq!(
        export(&bank, &invoice),
        golden("upstream-invoice.csv").replace('\r', "")
    );
    let by_class = [&invoice[..], &["--by-class", "rhods-notebooks"]].concat();
    assert_eq!(
        export(&bank, &by_class),
        golden("upstream-by-class.csv").replace('\r', "")
    );
    // The header of the files whose inputs nobody published.
    let head = |text: &str| text.lines().next().unwrap().trim_end().to_owned();
    assert_eq!(
        head(&export(&bank, &invoice)),
        head(&golden("nerc-invoice-1.csv"))
    );
    assert_eq!(
        head(&export(&bank, &["nerc-pods"])),
        head(&golden("nerc-pods-0.csv"))
    );
    // Once more is the same: what is known already changes nothing.
    import(&bank, metrics.to_str().unwrap());
    assert_eq!(
        export(&bank, &invoice),
        golden("upstream-invoice.csv").replace('\r', "")
    );
    // Exact hours cost no more than begun ones.
    let exact = export(&bank, &["nerc-invoice", "--month", "2024-05"]);
    assert!(exact.contains(",OpenShift GPUA100SXM4,2.078,"), "{exact}");
    assert_ne!(exact, export(&bank, &invoice));
    // Of another month there is nothing but the header.
    let other = export(&bank, &["nerc-invoice", "--month", "2024-06"]);
    assert_eq!(other.lines().count(), 1, "{other}");
    bank.verify();
}

/// A file of metrics with one pod, from a second on for so many samples.
fn metrics(
    bank: &Bank,
    name: &str,
    (namespace, pod): (&str, &str),
    (from, samples): (i64, i64),
) -> String {
    let series = |value: &str| {
        let values: Vec<Value> = (0..samples)
            .map(|n| serde_json::json!([from + n * 900, value]))
            .collect();
        serde_json::json!([{
            "metric": {"namespace": namespace, "pod": pod, "node": "wrk-1"},
            "values": values,
        }])
    };
    let (folder, _) = path(bank, name);
    fs::create_dir(&folder).unwrap();
    let document = serde_json::json!({
        "start_date": "2026-01-31",
        "end_date": "2026-02-01",
        "cpu_metrics": series("0.5"),
        "memory_metrics": series("1073741824"),
    });
    let file = folder.join("metrics-2026-01-31.json");
    fs::write(&file, document.to_string()).unwrap();
    folder.to_str().unwrap().to_owned()
}

/// 2026-01-31T23:00:00Z.
const LATE: i64 = 1_769_900_400;

/// A run over the end of a month counts in both, and one that comes in two files is one.
#[test]
fn runs_are_divided_among_months_and_not_among_files() {
    let bank = bank(&[]);
    bank.set_clock(LATE + 86_400);
    let pod = ("chem", "p-1");
    import(&bank, &metrics(&bank, "one", pod, (LATE, 6)));
    import(&bank, &metrics(&bank, "two", pod, (LATE + 6 * 900, 2)));
    let pods = export(&bank, &["nerc-pods"]);
    let rows: Vec<&str> = pods.lines().skip(1).collect();
    assert_eq!(
        rows,
        [
            "chem,2026-01-31T23:00:00,2026-02-01T01:00:00,2.0000,p-1,0.5,0,,,wrk-1,Unknown Model,\
          1.0000,CPU,OpenShift CPU,0.5"
        ]
    );
    for month in ["2026-01", "2026-02"] {
        let invoice = export(&bank, &["nerc-invoice", "--month", month]);
        let row = format!("{month},chem,chem,,,,,,0.5,OpenShift CPU,0.013,0.01");
        assert_eq!(invoice.lines().nth(1), Some(row.as_str()), "{invoice}");
        let invoice = export(&bank, &["nerc-invoice", "--month", month, "--round-up"]);
        assert!(invoice.contains(",1,OpenShift CPU,0.013,0.01"), "{invoice}");
    }
    for (words, exit, expected) in [
        (&["nerc-invoice"][..], 2, "which month"),
        (
            &[
                "nerc-invoice",
                "--from",
                "2026-01-02T00:00:00Z",
                "--to",
                "2026-02-01T00:00:00Z",
            ],
            1,
            "first instant",
        ),
        (
            &[
                "nerc-invoice",
                "--from",
                "2026-01-01T00:00:00Z",
                "--to",
                "2026-03-01T00:00:00Z",
            ],
            1,
            "end of the month",
        ),
        (&["nerc-pods", "--state", "s", "-o", "o"], 2, "as a whole"),
    ] {
        let ran = bank.bank(&[&["export"], words].concat());
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
    }
}

/// An outage is nobody's to pay: it is left out of both files, once however often it is named.
#[test]
fn what_is_ignored_is_not_billed() {
    let bank = bank(&[]);
    bank.set_clock(LATE + 86_400);
    import(&bank, &metrics(&bank, "one", ("chem", "p-1"), (LATE, 8)));
    let outage = "2026-01-31T23:30:00Z/2026-02-01T00:15:00Z";
    let within = "2026-01-31T23:40:00Z/2026-01-31T23:50:00Z";
    let before = "2026-01-31T10:00:00Z/2026-01-31T23:00:00Z";
    let times = [outage, within, before];
    let words = times.iter().flat_map(|time| ["--ignore", *time]);
    let words: Vec<&str> = words.collect();
    let pods = export(&bank, &[&["nerc-pods"], &words[..]].concat());
    assert!(
        pods.contains("chem,2026-01-31T23:00:00,2026-02-01T01:00:00,1.2500,p-1,"),
        "{pods}"
    );
    for (month, hours) in [("2026-01", "0.25"), ("2026-02", "0.375")] {
        let own = ["nerc-invoice", "--month", month];
        let invoice = export(&bank, &[&own[..], &words].concat());
        let row = format!("{month},chem,chem,,,,,,{hours},OpenShift CPU,");
        assert!(invoice.contains(&row), "{row}: {invoice}");
    }
    // Where all of it is ignored there is nothing to bill.
    let all = ["--ignore", "2026-01-31T00:00:00Z/2026-02-02T00:00:00Z"];
    let own = ["nerc-invoice", "--month", "2026-01", "--round-up"];
    let invoice = export(&bank, &[&own[..], &all].concat());
    assert_eq!(invoice.lines().count(), 1, "{invoice}");
    for bad in ["2026-01-31", "2026-01-31/", "2026-02-01/2026-01-01", "a/b"] {
        let ran = bank.bank(&["export", "nerc-pods", "--ignore", bad]);
        assert!([1, 2].contains(&ran.exit), "{bad}: {}", ran.stdout);
        assert!(!ran.stderr.is_empty(), "{bad}");
    }
    let other = "/api/v1/export/csv?ignore=2026-01-01T00:00:00Z/2026-01-02T00:00:00Z";
    assert_eq!(bank.over_socket(&Request::get(other)).status, 422);
}

#[test]
fn a_kind_without_a_rate_is_named_and_nothing_is_billed() {
    let bank = Bank::new();
    bank.bank_ok(&["machine", "add", "ocp"]);
    bank.bank_ok(&["machine", "set", "ocp", "--mode", "track"]);
    bank.set_clock(LATE + 86_400);
    import(
        &bank,
        &metrics(&bank, "one", ("=1+1", "p,\"q\"&<>%|:%%ä"), (LATE, 2)),
    );
    let ran = bank.bank(&["export", "nerc-invoice", "--month", "2026-01"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("no rate of \"OpenShift CPU\" in 2026-01"),
        "{}",
        ran.stderr
    );
    let pods = export(&bank, &["nerc-pods", "--spreadsheet-safe"]);
    let row = pods.lines().nth(1).unwrap();
    assert!(row.starts_with("'=1+1,"), "{row}");
    assert!(row.contains(",\"p,\"\"q\"\"&<>%|:%%ä\","), "{row}");
}
