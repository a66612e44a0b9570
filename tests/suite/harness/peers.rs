//! What a test needs from outside: other people's programs, and the folder of shared samples.
//!
//! A test whose peer is absent says so in one line, `skipped: NAME: WHY`, on standard error, and in
//! the file that `BANK_SKIP_LOG` names (decisions.md 34).

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::programs::workspace;

/// Says that a test did nothing. Past the capture of the test runner, so that it is seen.
pub(crate) fn skip(name: &str, why: &str) {
    let line = format!("skipped: {name}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(path) = std::env::var_os("BANK_SKIP_LOG").filter(|path| !path.is_empty()) {
        let mut log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        log.write_all(line.as_bytes()).unwrap();
    }
}

/// The folder of shared samples: `BANK_SHARED`, else `../shared` beside the checkout.
pub(crate) fn shared_folder() -> Option<PathBuf> {
    let named = std::env::var_os("BANK_SHARED").filter(|path| !path.is_empty());
    let folder = named.map_or_else(|| workspace().join("../shared"), PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// Whether a program can be run.
pub(crate) fn tool(name: &str) -> bool {
    succeeds(Command::new(name).arg("--version"))
}

/// The folder of the programs of `PostgreSQL`'s newest server, if its client is there too.
pub(crate) fn postgresql() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<(u32, PathBuf)> = versions
        .flatten()
        .filter_map(|own| {
            Some((
                own.file_name().to_str()?.parse().ok()?,
                own.path().join("bin"),
            ))
        })
        .collect();
    let programs = ["initdb", "pg_ctl", "postgres"];
    folders.retain(|(_, folder)| programs.iter().all(|name| folder.join(name).exists()));
    let (_, newest) = folders.into_iter().max()?;
    tool("psql").then_some(newest)
}

/// A Python that knows the packages named: `BANK_TEST_PYTHON`, else `python3`.
pub(crate) fn python(module: &str) -> Option<PathBuf> {
    let named = std::env::var_os("BANK_TEST_PYTHON").filter(|path| !path.is_empty());
    let python = named.map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let import = format!("import {module}");
    succeeds(Command::new(&python).args(["-c", &import])).then_some(python)
}

fn succeeds(command: &mut Command) -> bool {
    let silent = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}
