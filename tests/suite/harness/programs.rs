//! The programs under test, built once in each test process with their test hooks.
//!
//! They are built in the profile of the tests themselves, and then linked into a folder of this
//! process: whatever another build puts in their place does not matter.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The programs, ready to run.
#[derive(Debug)]
pub(crate) struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// The daemon.
    pub(crate) fn bankd(&self) -> PathBuf {
        self.folder.join("bankd")
    }

    /// The command line.
    pub(crate) fn bank(&self) -> PathBuf {
        self.folder.join("bank")
    }

    /// What the scheduler calls, by other names.
    pub(crate) fn scripts(&self) -> PathBuf {
        self.folder.join("nami-scripts")
    }

    /// The folder of this test process.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The programs; the first call builds them.
pub(crate) fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(build)
}

/// The root of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn build() -> Programs {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let profile = profile();
    let mut target = scratch.parent().unwrap().to_owned();
    if profile != "dev" {
        // What lies in `target/release` is for use, and never has test hooks.
        target.push("with-test-hooks");
    }
    let output = Command::new(env!("CARGO"))
        .current_dir(workspace())
        .args([
            "build",
            "--quiet",
            "--message-format=json-render-diagnostics",
        ])
        .args(["--profile", &profile, "--target-dir"])
        .arg(target)
        .args([
            "-p",
            "bankd",
            "-p",
            "nami-scripts",
            "-p",
            "bank-cli",
            "--bins",
        ])
        .args(["-p", "bank-client", "--examples"])
        .args([
            "--features",
            "bankd/test-hooks,nami-scripts/test-hooks,bank-cli/test-hooks",
        ])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "the programs do not build");
    let folder = own_folder(scratch);
    for line in output.stdout.split(|byte| *byte == b'\n') {
        let message: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
        if let Some(path) = message["executable"].as_str().map(Path::new) {
            let to = folder.join(path.file_name().unwrap());
            fs::hard_link(path, &to)
                .or_else(|_| fs::copy(path, &to).map(drop))
                .unwrap();
        }
    }
    let programs = Programs { folder };
    for path in [programs.bankd(), programs.bank(), programs.scripts()] {
        assert!(path.is_file(), "{} was not built", path.display());
    }
    programs
}

/// The profile of this test: the folder that its executable lies in names it.
fn profile() -> String {
    let own = std::env::current_exe().unwrap();
    let folder = own.ancestors().nth(2).unwrap().file_name().unwrap();
    match folder.to_str().unwrap() {
        "debug" => "dev".to_owned(),
        other => other.to_owned(),
    }
}

/// A folder of this process; those of processes that are gone go too.
fn own_folder(scratch: &Path) -> PathBuf {
    for entry in fs::read_dir(scratch).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("suite-"));
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            // Another process may be tidying up too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let folder = scratch.join(format!("suite-{}", std::process::id()));
    // A former process may have had this number.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
