//! Resources that rates of the bank name, and that Slurm must track to report them: GPUs by type and licenses.

use super::config::Config;
use super::{File, Report};

/// GPUs of all types, in rates of the bank and in Slurm.
const GPUS: (&str, &str) = ("gpu", "gres/gpu");
/// Before the names of resources that Slurm tracks only if `AccountingStorageTRES` names them.
const TRACKED: [&str; 4] = ["gres/", "license/", "bb/", "ic/"];
/// Without it, slurmctld does not start with such resources.
const DATABASE: &str = "accounting_storage/slurmdbd";

/// Compares `AccountingStorageTRES` with the names of the rates.
pub(super) fn check(file: &File, config: &Config, rates: &[String], report: &mut Report) {
    let setting = config.get("AccountingStorageTRES");
    let mut known: Vec<&str> = setting
        .map(|found| found.words().collect())
        .unwrap_or_default();
    let line = setting.map_or(1, |found| found.line);
    let mut missing: Vec<&str> = Vec::new();
    for rate in rates {
        let name = if rate == GPUS.0 {
            GPUS.1
        } else {
            rate.as_str()
        };
        let is_tracked = known.iter().any(|word| covers(word, name));
        if TRACKED.iter().any(|prefix| name.starts_with(prefix)) && !is_tracked {
            missing.push(rate);
            known.push(name);
        }
    }
    if missing.is_empty() {
        return;
    }
    let (s, es) = if missing.len() == 1 {
        ("", "s")
    } else {
        ("s", "")
    };
    let what = format!(
        "the rate{s} of {} charge{es} nothing, because Slurm does not track it for jobs: AccountingStorageTRES does not \
         name it",
        missing.join(", ")
    );
    let change = format!("AccountingStorageTRES={}", known.join(","));
    report.add(file, line, "resource_not_tracked", what, change);
    let has_database = config
        .get("AccountingStorageType")
        .is_some_and(|found| found.value.eq_ignore_ascii_case(DATABASE));
    if !has_database {
        report.note(format!(
            "AccountingStorageType is not {DATABASE}: slurmctld does not start if AccountingStorageTRES names GPUs \
             without it"
        ));
    }
}

/// Whether a tracked resource is one of a rate. The sum of the tracked types is the number of GPUs.
fn covers(tracked: &str, name: &str) -> bool {
    let is_type = |prefix: &str| {
        let start = tracked.get(..prefix.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    tracked.eq_ignore_ascii_case(name) || (name == GPUS.1 && is_type("gres/gpu:"))
}
