//! The quick start of `README.md`: its shell blocks, word by word, in a shell of its own.
//!
//! They lie between `<!-- quickstart -->` and `<!-- /quickstart -->`, and are run one after the
//! other in an empty folder beside which the programs lie where the README says: in
//! `target/release`.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::harness::{Ran, programs, workspace};

/// The shell blocks of the quick start.
fn blocks(readme: &str) -> Vec<&str> {
    let start = readme.split_once("<!-- quickstart -->");
    let (_, rest) = start.expect("README.md marks its quick start");
    let (part, _) = rest
        .split_once("<!-- /quickstart -->")
        .expect("the quick start has an end");
    let block = |text| str::split_once(text, "```").map(|(block, _)| block);
    part.split("```sh\n").skip(1).filter_map(block).collect()
}

#[test]
fn the_quick_start_of_the_readme_runs() {
    let readme = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    let blocks = blocks(&readme);
    assert!(!blocks.is_empty(), "no shell blocks in the quick start");
    let folder = tempfile::Builder::new()
        .prefix("readme-")
        .tempdir()
        .unwrap();
    for entry in ["etc", "nami-scripts", "README.md"] {
        symlink(workspace().join(entry), folder.path().join(entry)).unwrap();
    }
    let release = folder.path().join("target/release");
    std::fs::create_dir_all(&release).unwrap();
    for program in [programs().bankd(), programs().bank(), programs().scripts()] {
        symlink(&program, release.join(program.file_name().unwrap())).unwrap();
    }
    // What was started in the background does not outlive the test, whatever fails.
    let end = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\nset -eu\n";
    // Building is what the harness has done.
    let building = |line: &&str| !line.trim_start().starts_with("cargo build");
    let script: Vec<&str> = blocks
        .iter()
        .flat_map(|block| block.lines())
        .filter(building)
        .collect();
    let mut shell = Command::new("bash");
    shell
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder.path())
        .env("TMPDIR", folder.path())
        .env("TZ", "UTC")
        .arg("-c")
        .arg(format!("{end}{}\n", script.join("\n")));
    let ran = Ran::of(&mut shell, b"");
    assert_eq!(ran.exit, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("ok: "),
        "the quick start verifies:\n{}",
        ran.stdout
    );
}
