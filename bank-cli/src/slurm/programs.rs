//! The programs that Slurm calls, and its `job_submit.lua`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::config::{Config, Setting};
use super::{File, Report};

/// Largest script that is read, in bytes.
const MAX_SCRIPT: u64 = 1 << 20;
/// Where the programs are installed.
const FOLDER: &str = "/usr/libexec/bank/nami";
const LUA: &str = "job_submit.lua";
/// The program that it calls.
const SUBMIT: &str = "bank-slurm-submit";

pub(super) fn check(file: &File, config: &Config, report: &mut Report) {
    for (name, own, other, result) in [
        (
            "PrologSlurmctld",
            "bank-slurm-prolog",
            "bank-slurm-epilog",
            "no job has a lien, and no job is held for lack of money",
        ),
        (
            "EpilogSlurmctld",
            "bank-slurm-epilog",
            "bank-slurm-prolog",
            "no job is charged, and liens last until they expire",
        ),
    ] {
        let change = format!("{name}={FOLDER}/{own}");
        match config.get(name) {
            None => {
                let code = if name.starts_with('P') {
                    "prolog_missing"
                } else {
                    "epilog_missing"
                };
                report.add(
                    file,
                    1,
                    code,
                    format!("{name} is not set: {result}"),
                    change,
                );
            }
            Some(setting) => program(file, setting, (own, other), &change, report),
        }
    }
    submission(file, config, report);
}

fn program(
    file: &File,
    setting: &Setting,
    (own, other): (&str, &str),
    change: &str,
    report: &mut Report,
) {
    let is_named = |path: &str, name: &str| path.rsplit('/').next() == Some(name);
    let paths: Vec<&str> = setting.words().collect();
    if paths.iter().any(|path| is_named(path, other)) {
        report.add(
            file,
            setting.line,
            "program_other",
            format!("the program {other} belongs to the other script"),
            change,
        );
        return;
    }
    for path in &paths {
        if let Some(why) = unusable(Path::new(path)) {
            report.add(
                file,
                setting.line,
                "program_missing",
                format!("{path} {why}"),
                change,
            );
            return;
        }
    }
    let calls = |path: &&&str| text_of(Path::new(path)).is_some_and(|text| text.contains(own));
    if paths.iter().any(|path| is_named(path, own)) || paths.iter().any(|path| calls(&path)) {
        return;
    }
    let what = format!("{} does not call {own}", setting.value);
    report.add(
        file,
        setting.line,
        "bank_not_called",
        what,
        format!("{change}, or call this program in your script"),
    );
}

fn submission(file: &File, config: &Config, report: &mut Report) {
    let plugins = config.get("JobSubmitPlugins");
    let Some(setting) = plugins.filter(|setting| setting.has("lua")) else {
        let line = plugins.map_or(1, |setting| setting.line);
        let what = "JobSubmitPlugins does not name lua: no job is refused when it is submitted";
        report.add(file, line, "submit_missing", what, "JobSubmitPlugins=lua");
        return;
    };
    let Some(folder) = &file.folder else {
        report.note(format!(
            "{LUA} was not read: the folder of slurm.conf is not known"
        ));
        return;
    };
    let path = folder.join(LUA);
    let shown = path.display();
    match text_of(&path) {
        None => report.add(
            file,
            setting.line,
            "lua_missing",
            format!("{shown} is not there or not readable: slurmctld does not start or accepts no job"),
            format!("cp nami-scripts/slurm/{LUA} {shown}"),
        ),
        Some(text) if !text.contains(SUBMIT) => report.add(
            file,
            setting.line,
            "lua_other",
            format!("{shown} does not call {SUBMIT}: no job is refused when it is submitted"),
            format!("add the functions of nami-scripts/slurm/{LUA} to it"),
        ),
        Some(text) if !text.contains("slurm_job_modify") => report.add(
            file,
            setting.line,
            "modify_missing",
            format!("{shown} has no slurm_job_modify: a longer time limit is not compared with the balance"),
            format!("add slurm_job_modify of nami-scripts/slurm/{LUA} to it"),
        ),
        Some(_) => {}
    }
}

/// Why a program cannot be run.
fn unusable(path: &Path) -> Option<&'static str> {
    if !path.is_absolute() {
        return Some("is not an absolute path");
    }
    match std::fs::metadata(path) {
        Err(_) => Some("does not exist"),
        Ok(meta) if !meta.is_file() => Some("is not a file"),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => Some("is not executable"),
        Ok(_) => None,
    }
}

/// A script; none if it is too large, not readable or no text.
fn text_of(path: &Path) -> Option<String> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_SCRIPT {
        return None;
    }
    std::fs::read_to_string(path).ok()
}
