//! Each rule with the configuration that it is about.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{File, Scripts, check};

const LUA: &str = "bank-slurm-submit function slurm_job_modify() end";

/// A folder with both programs, `job_submit.lua` and a configuration; the codes of what is found there.
fn codes(more: &str, lua: Option<&str>, change: impl Fn(&Path, &mut String)) -> Vec<(String, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    for name in ["bank-slurm-prolog", "bank-slurm-epilog"] {
        std::fs::write(dir.join(name), "").unwrap();
        std::fs::set_permissions(dir.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    if let Some(lua) = lua {
        std::fs::write(dir.join("job_submit.lua"), lua).unwrap();
    }
    let mut text = format!(
        "ClusterName=test # a comment\nPrologSlurmctld={0}/bank-slurm-prolog\nepilogslurmctld = {0}/bank-slurm-epilog\n\
         JobSubmitPlugins=require_timelimit,lua\n{more}\n",
        dir.display()
    );
    change(dir, &mut text);
    let file = File {
        name: "slurm.conf".to_owned(),
        text,
        folder: Some(dir.to_owned()),
    };
    let found = check(&file, Some(Scripts { timeout_s: 8 }), &[]);
    found
        .findings
        .into_iter()
        .map(|finding| (finding.code, finding.line))
        .collect()
}

#[test]
fn settings_that_defeat_the_bank() {
    let none = |_: &Path, _: &mut String| {};
    for (more, expected) in [
        ("", None),
        ("MinJobAge=300\nPrologEpilogTimeout = 65534", None),
        ("MinJobAge=0", None),
        ("MinJobAge = 5 sec", Some("job_age_too_short")),
        ("PrologEpilogTimeout=8", Some("timeout_too_short")),
        ("PrologEpilogTimeout=9", None),
        (
            "AccountingStorageEnforce=limits,nojobs",
            Some("jobs_not_recorded"),
        ),
        ("PrologSlurmctld=(null)", Some("prolog_missing")),
        ("EpilogSlurmctld=", Some("epilog_missing")),
        (
            "EpilogSlurmctld=/x/bank-slurm-prolog",
            Some("program_other"),
        ),
        (
            "EpilogSlurmctld=/nosuch/bank-slurm-epilog",
            Some("program_missing"),
        ),
        ("EpilogSlurmctld=/bin/true", Some("bank_not_called")),
        ("JobSubmitPlugins=(null)", Some("submit_missing")),
        ("JobSubmitPlugins=all_partitions", Some("submit_missing")),
    ] {
        let found = codes(more, Some(LUA), none);
        let found: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
        assert_eq!(found, expected.as_slice(), "{more}");
    }
}

#[test]
fn the_script_of_submissions_is_read() {
    let none = |_: &Path, _: &mut String| {};
    for (lua, expected) in [
        (None, "lua_missing"),
        (Some("function slurm_job_submit() end"), "lua_other"),
        (Some("bank-slurm-submit"), "modify_missing"),
    ] {
        assert_eq!(codes("", lua, none), [(expected.to_owned(), 4)], "{lua:?}");
    }
}

#[test]
fn a_script_of_the_site_may_call_the_program() {
    let own = |script: &'static str, mode| {
        codes("", Some(LUA), move |dir, text| {
            let path = dir.join("own.sh");
            std::fs::write(&path, script).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            writeln!(text, "PrologSlurmctld={}", path.display()).unwrap();
        })
    };
    assert_eq!(own("#!/bin/sh\n/x/bank-slurm-prolog\n", 0o755), []);
    assert_eq!(
        own("#!/bin/sh\n/x/bank-slurm-prolog\n", 0o644),
        [("program_missing".to_owned(), 6)]
    );
    assert_eq!(
        own("#!/bin/sh\n", 0o755),
        [("bank_not_called".to_owned(), 6)]
    );
}

/// The correction and the notes about resources, for these rates.
fn resources(text: &str, rates: &[&str]) -> (Vec<String>, bool) {
    let file = File {
        name: "slurm.conf".to_owned(),
        text: text.to_owned(),
        folder: None,
    };
    let rates: Vec<String> = rates.iter().map(|name| (*name).to_owned()).collect();
    let found = check(&file, None, &rates);
    let of_rates = found.findings.iter();
    let of_rates = of_rates.filter(|finding| finding.code == "resource_not_tracked");
    let changes = of_rates.map(|finding| format!("{}: {}", finding.line, finding.change));
    let notes = found.notes.iter();
    let has_note = notes
        .clone()
        .any(|note| note.contains("AccountingStorageType"));
    (changes.collect(), has_note)
}

#[test]
fn rates_name_resources_that_slurm_tracks() {
    let database = "AccountingStorageType=accounting_storage/slurmdbd\n";
    for (tracked, rates, expected) in [
        ("", &["Processors", "billing", "Memory"][..], None),
        ("", &["gpu"][..], Some("1: AccountingStorageTRES=gres/gpu")),
        (
            "AccountingStorageTRES=gres/gpu",
            &["gpu", "gres/gpu:a100", "gres/gpu:a100", "license/x"][..],
            Some("2: AccountingStorageTRES=gres/gpu,gres/gpu:a100,license/x"),
        ),
        // Slurm's GPUs of all types are the sum of those that it tracks.
        (
            "accountingstoragetres=GRES/gpu:A100",
            &["gpu", "gres/gpu:a100"][..],
            None,
        ),
        (
            "AccountingStorageTRES = cpu,mem,gres/gpu:a100",
            &["gres/gpu:h100"][..],
            Some("2: AccountingStorageTRES=cpu,mem,gres/gpu:a100,gres/gpu:h100"),
        ),
    ] {
        let expected: Vec<String> = expected.iter().map(|change| (*change).to_owned()).collect();
        let text = format!("{database}{tracked}");
        assert_eq!(
            resources(&text, rates),
            (expected.clone(), false),
            "{tracked}"
        );
        let text = format!("ClusterName=test\n{tracked}");
        let has_note = !expected.is_empty();
        assert_eq!(resources(&text, rates), (expected, has_note), "{tracked}");
    }
}
