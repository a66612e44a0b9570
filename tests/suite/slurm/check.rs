//! `bank slurm check` on settings that defeat the bank, and on corrected ones, and beside the rates of a bank. No Slurm is needed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::harness::{Bank, Ran, programs, workspace};

fn check(folder: &Path, slurm_conf: &str) -> Ran {
    let (nami, slurm) = (folder.join("nami.conf"), folder.join("slurm.conf"));
    fs::write(&nami, "server=unix:/var/lib/bankd/bankd.sock\n").unwrap();
    fs::write(&slurm, slurm_conf).unwrap();
    let mut command = Command::new(programs().bank());
    command
        .args(["slurm", "check", "--offline", "--conf"])
        .arg(nami)
        .arg(slurm);
    Ran::of(&mut command, b"")
}

#[test]
fn each_finding_has_its_line_and_corrected_settings_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let broken = "ClusterName=test\nJobSubmitPlugins=none\nMinJobAge=2\n";
    let ran = check(folder.path(), broken);
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    // Lines are wrapped.
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    let printed = words.join(" ");
    for finding in [
        "slurm.conf:1: prolog_missing: PrologSlurmctld is not set",
        "slurm.conf:1: epilog_missing: EpilogSlurmctld is not set",
        "slurm.conf:2: submit_missing: JobSubmitPlugins does not name lua",
        " JobSubmitPlugins=lua ",
        "slurm.conf:3: job_age_too_short: ",
        " MinJobAge=300 ",
    ] {
        assert!(printed.contains(finding), "{finding:?} in {printed}");
    }
    let script = workspace().join("nami-scripts/slurm/job_submit.lua");
    fs::copy(script, folder.path().join("job_submit.lua")).unwrap();
    let program = |name: &str| {
        let path = folder.path().join(name);
        symlink(programs().scripts(), &path).unwrap();
        path.display().to_string()
    };
    let corrected = format!(
        "ClusterName=test\nJobSubmitPlugins=lua\nPrologSlurmctld={}\nEpilogSlurmctld={}\n",
        program("bank-slurm-prolog"),
        program("bank-slurm-epilog")
    );
    let ran = check(folder.path(), &corrected);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
}

/// A rate of a type of GPUs that Slurm does not track is a finding, if it is one of this machine.
#[test]
fn rates_of_resources_that_slurm_does_not_track_are_found() {
    let bank = Bank::new();
    for name in ["colony", "blue"] {
        bank.bank(&["machine", "add", name]);
    }
    let rate = |name: &str, machine: &str| {
        bank.bank_ok(&[
            "rate", "set", "VBR", name, "5", "--per", "hour", "-m", machine,
        ]);
    };
    rate("billing", "colony");
    rate("gres/gpu:a100", "colony");
    rate("gres/gpu:h100", "blue");
    let path = bank.folder().join("slurm.conf");
    let check = |tracked: &str| {
        let text = format!("ClusterName=colony\n{tracked}\n");
        fs::write(&path, text).unwrap();
        let ran = bank.bank(&["slurm", "check", path.to_str().unwrap()]);
        assert_eq!(ran.exit, 1, "{}", ran.stderr);
        let words: Vec<&str> = ran.stdout.split_whitespace().collect();
        words.join(" ")
    };
    let printed = check("AccountingStorageTRES=gres/gpu");
    for part in [
        "slurm.conf:2: resource_not_tracked: the rate of gres/gpu:a100 charges nothing",
        " AccountingStorageTRES=gres/gpu,gres/gpu:a100 ",
        "note: AccountingStorageType is not accounting_storage/slurmdbd",
    ] {
        assert!(printed.contains(part), "{part:?} in {printed}");
    }
    let printed = check("AccountingStorageTRES=gres/gpu:a100");
    assert!(!printed.contains("resource_not_tracked"), "{printed}");
    assert!(!printed.contains("was not asked"), "{printed}");
}
