//! Settings of Slurm that defeat the bank: rules for `slurm.conf`, or for the output of `scontrol show config`.
//!
//! A rule looks at text and facts and answers with findings. It opens no file but to see whether a program is there
//! and whether `job_submit.lua` asks the bank, and changes none.

mod config;
mod programs;
mod resources;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use bank_api::v1::{Finding, Findings};

use self::config::{Config, Setting};

/// Shortest age of finished jobs, in seconds, that is not reported.
const MIN_AGE_S: u64 = 60;
/// What Slurm prints for a timeout that is not set.
const UNSET: u64 = 65_533;

/// A file of Slurm, or the output of its command.
#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    /// As it was named.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The folder of `slurm.conf`, where `job_submit.lua` is expected.
    pub(crate) folder: Option<PathBuf>,
}

/// The settings of the scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scripts {
    /// Seconds for a whole call.
    pub(crate) timeout_s: u64,
}

#[derive(Debug, Default)]
struct Report {
    found: Findings,
}

impl Report {
    fn add(
        &mut self,
        file: &File,
        line: usize,
        code: &str,
        what: impl Into<String>,
        change: impl Into<String>,
    ) {
        self.found.findings.push(Finding {
            code: code.to_owned(),
            file: file.name.clone(),
            line: u64::try_from(line).unwrap_or(u64::MAX),
            what: what.into(),
            change: change.into(),
        });
    }

    fn note(&mut self, text: impl Into<String>) {
        self.found.notes.push(text.into());
    }
}

/// Checks one configuration, with the names of the bank's rates.
pub(crate) fn check(file: &File, scripts: Option<Scripts>, rates: &[String]) -> Findings {
    let config = Config::read(&file.text);
    let mut report = Report::default();
    programs::check(file, &config, &mut report);
    times(file, &config, scripts, &mut report);
    accounting(file, &config, &mut report);
    requeue(&config, &mut report);
    resources::check(file, &config, rates, &mut report);
    for line in &config.includes {
        report.note(format!(
            "line {line} includes another file, which was not read; check `scontrol show config`"
        ));
    }
    report.found.findings.sort_by_key(|finding| finding.line);
    report.found
}

/// The path of `slurm.conf` in the output of `scontrol show config`.
pub(crate) fn conf_of(text: &str) -> Option<PathBuf> {
    let config = Config::read(text);
    let setting = config.get("SLURM_CONF")?;
    Some(PathBuf::from(&setting.value))
}

/// The name of the cluster.
pub(crate) fn cluster_of(text: &str) -> Option<String> {
    let config = Config::read(text);
    Some(config.get("ClusterName")?.value.clone())
}

fn times(file: &File, config: &Config, scripts: Option<Scripts>, report: &mut Report) {
    if let Some(age) = config.get("MinJobAge")
        && let Some(seconds) = age.seconds()
        && (1..MIN_AGE_S).contains(&seconds)
    {
        let what = format!(
            "Slurm forgets finished jobs after {seconds} s, so that their charges cannot be compared"
        );
        report.add(file, age.line, "job_age_too_short", what, "MinJobAge=300");
    }
    let Some(timeout) = config.get("PrologEpilogTimeout") else {
        return;
    };
    let Some(seconds) = timeout.seconds().filter(|seconds| *seconds < UNSET) else {
        return;
    };
    let Some(scripts) = scripts else {
        report.note("PrologEpilogTimeout was not compared with timeout_s of nami.conf");
        return;
    };
    if seconds <= scripts.timeout_s {
        let what = format!(
            "Slurm ends a script after {seconds} s, and the programs of the bank wait for {} s (timeout_s)",
            scripts.timeout_s
        );
        let change = format!(
            "PrologEpilogTimeout={}",
            scripts.timeout_s.saturating_add(2)
        );
        report.add(file, timeout.line, "timeout_too_short", what, change);
    }
}

fn accounting(file: &File, config: &Config, report: &mut Report) {
    let enforce = config.get("AccountingStorageEnforce");
    if let Some(setting) = enforce.filter(|setting| setting.has("nojobs")) {
        let what =
            "jobs are not recorded, so that `sacct` cannot report a job that the bank missed";
        let words: Vec<&str> = setting
            .words()
            .filter(|word| !word.eq_ignore_ascii_case("nojobs"))
            .collect();
        let change = format!("AccountingStorageEnforce={}", words.join(","));
        report.add(file, setting.line, "jobs_not_recorded", what, change);
        return;
    }
    let checks = ["associations", "limits", "qos", "safe", "all"];
    if !enforce.is_some_and(|setting| checks.iter().any(|word| setting.has(word))) {
        report.note(
            "AccountingStorageEnforce does not name `associations`: Slurm accepts any account, and the bank alone \
             refuses users who are not members",
        );
    }
}

fn requeue(config: &Config, report: &mut Report) {
    let is_off = config
        .get("JobRequeue")
        .is_some_and(|setting| setting.value == "0");
    if is_off {
        report
            .note("JobRequeue=0: a job that the bank refuses at its start is cancelled, not held");
    } else if !config
        .get("PrologFlags")
        .is_some_and(|setting| setting.has("ForceRequeueOnFail"))
    {
        report.note(
            "a job of `sbatch --no-requeue` that the bank refuses at its start is cancelled, not held; since Slurm \
             23.11, PrologFlags=ForceRequeueOnFail holds it too",
        );
    }
}

impl Setting {
    /// Seconds of `300`, `300 sec`.
    fn seconds(&self) -> Option<u64> {
        self.value.split(' ').next()?.parse().ok()
    }
}
