//! The quick start of `README.md`: its shell blocks, word by word, in a shell of its own.
//!
//! They lie between `<!-- quickstart -->` and `<!-- /quickstart -->`, and are run one after the
//! other in an empty folder beside which the programs lie where the README says: in
//! `target/release`.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::harness::{Bank, Ran, programs, workspace};

/// The shell blocks of the quick start.
fn blocks(readme: &str) -> Vec<&str> {
    let start = readme.split_once("<!-- quickstart -->");
    let (_, rest) = start.expect("README.md marks its quick start");
    let (part, _) = rest
        .split_once("<!-- /quickstart -->")
        .expect("the quick start has an end");
    shell_blocks(part)
}

fn shell_blocks(page: &str) -> Vec<&str> {
    let block = |text| str::split_once(text, "```").map(|(block, _)| block);
    page.split("```sh\n").skip(1).filter_map(block).collect()
}

#[test]
fn the_examples_for_account_managers_run() {
    let page = workspace().join("docs/how-to/account-managers.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut bank = Bank::new();
    let socket = format!("unix:{}", bank.socket().display());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs = programs().bank();
    let folder = programs.parent().unwrap().display();
    for block in shell_blocks(&page) {
        let mut shell = Command::new("bash");
        shell
            .current_dir(bank.folder())
            .env_clear()
            .env("PATH", format!("{folder}:{}", path.display()))
            .env("HOME", bank.folder())
            .env("TZ", "UTC")
            .env("BANK_SERVER", &socket)
            .args(["-c", &format!("set -eu\n{block}")]);
        let ran = Ran::of(&mut shell, b"");
        assert_eq!(ran.exit, 0, "{block}\n{}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(bank.figures("organic"), (43, 0, 43));
    assert_eq!(bank.figures("faculty"), (25, 0, 25));
    assert_eq!(bank.figures("physical"), (30, 0, 30));
    assert_eq!(bank.figures("chemistry").0, 100_240);
    bank.verify();
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
