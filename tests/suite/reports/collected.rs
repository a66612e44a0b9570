//! What collectors' jobs used, resource by resource: the snapshots of Nomad against what they show.

use std::collections::BTreeMap;

use bank_core::decimal::Decimal;
use serde_json::Value;

use crate::harness::{Bank, shared_folder, skip};

/// A whole or decimal number of the expectations, in billionths.
fn number(value: &Value) -> i128 {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), ToOwned::to_owned);
    Decimal::parse(&text).unwrap().billionths()
}

/// A bank with a machine that is only watched, and the snapshots taken in.
fn bank() -> Option<(Bank, Value)> {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder with snapshots of Nomad (BANK_SHARED)");
        return None;
    };
    let text = std::fs::read_to_string(shared.join("data/expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let bank = Bank::new();
    bank.bank_ok(&["machine", "add", "cloud"]);
    bank.bank_ok(&["machine", "set", "cloud", "--mode", "track"]);
    let snapshots = shared.join("data/nomad/snapshots");
    let snapshots = snapshots.to_str().unwrap();
    bank.bank_ok(&[
        "import", "nomad", snapshots, "--source", "nomad", "-m", "cloud",
    ]);
    Some((bank, expected["nomad/snapshots"]["window"].clone()))
}

/// reports.md 2: clipped to the window from the first to the last snapshot, in hours of each resource.
#[test]
fn resource_hours_of_namespaces_are_those_of_the_snapshots() {
    let Some((mut bank, window)) = bank() else {
        return;
    };
    let time = |key: &str| {
        let seconds = number(&window[key]) / 1_000_000_000;
        let time = chrono::DateTime::from_timestamp(i64::try_from(seconds).unwrap(), 0).unwrap();
        time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
    };
    let (from, to) = (time("start"), time("end"));
    let resources = "cpu,mhz,gpu,memory,disk,wall";
    let words = [
        "usage",
        "--by",
        "project",
        "--resource",
        resources,
        "--from",
        &from,
        "--to",
        &to,
    ];
    let table = bank.json(&words);
    assert_eq!(table["from_what"], "records");
    let rows = table["rows"].as_array().unwrap();
    let rows: BTreeMap<&str, &Value> = rows
        .iter()
        .map(|row| (row["keys"]["project"].as_str().unwrap(), row))
        .collect();
    let accounts = window["by_account"].as_object().unwrap();
    assert_eq!(rows.len(), accounts.len(), "{rows:?}");
    for (account, sums) in accounts {
        for (hours, seconds) in [
            ("core_hours", "core_s"),
            ("cpu_mhz_hours", "cpu_mhz_s"),
            ("gpu_hours", "gpu_s"),
            ("memory_mib_hours", "memory_mb_s"),
            ("disk_mib_hours", "disk_mb_s"),
            ("wall_hours", "wall_s"),
        ] {
            let row = rows[account.as_str()];
            let shown = number(&row[hours]);
            let wanted = number(&sums[seconds]) / 3600;
            // Memory and disk are cut to MiB × ms in each record, and the sum to six places.
            let apart = (shown - wanted).abs();
            let most = if hours.contains("mib") { 20_000 } else { 1_000 };
            assert!(apart <= most, "{account} {hours}: {shown} {wanted}");
        }
    }
    let screen = bank.bank_ok(&words);
    for title in [
        "core-hours",
        "MHz-hours",
        "memory MiB-hours",
        "disk MiB-hours",
        "users",
    ] {
        assert!(screen.contains(title), "{title}\n{screen}");
    }
    bank.verify();
}

/// Rollups have the disk too, and say the same as the records do.
#[test]
fn rollups_know_the_disk_of_collected_jobs() {
    let Some((bank, _)) = bank() else {
        return;
    };
    let words = [
        "usage",
        "--by",
        "project",
        "--from",
        "2024-01-01",
        "--to",
        "2025-01-01",
        "--tz",
        "UTC",
    ];
    let of_rollups = bank.json(&words);
    let of_records = bank.json(&[&words[..], &["--records"]].concat());
    assert_eq!(of_rollups["from_what"], "rollups");
    let all = of_rollups["total"]["disk_mib_hours"].as_str().unwrap();
    assert!(number(&Value::from(all)) > 0);
    assert_eq!(all, of_records["total"]["disk_mib_hours"]);
    assert_eq!(of_rollups["total"]["cpu_mhz_hours"], Value::Null);
}
