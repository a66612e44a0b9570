//! `bank slurm check` on settings that defeat the bank, and on corrected ones. No Slurm is needed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::harness::{Ran, programs, workspace};

fn check(folder: &Path, slurm_conf: &str) -> Ran {
    let (nami, slurm) = (folder.join("nami.conf"), folder.join("slurm.conf"));
    fs::write(&nami, "server=unix:/var/lib/bankd/bankd.sock\n").unwrap();
    fs::write(&slurm, slurm_conf).unwrap();
    let mut command = Command::new(programs().bank());
    command
        .args(["slurm", "check", "--conf"])
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
