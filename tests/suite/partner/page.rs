//! The page about partner banks, word by word, on ports of the test.

use std::net::TcpListener;
use std::process::Command;

use crate::harness::{Ran, programs, workspace};

/// The shell blocks of the page before the heading, in order.
fn blocks(page: &str, before: &str) -> Vec<String> {
    let steps = page.split(before).next().unwrap();
    let parts = steps.split("```sh\n").skip(1);
    parts
        .map(|part| part.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_page_makes_two_banks_that_settle() {
    let page = std::fs::read_to_string(workspace().join("docs/how-to/partners.md")).unwrap();
    let blocks = blocks(&page, "## What the partner record contains");
    assert_eq!(blocks.len(), 4);
    let free = || {
        TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port()
    };
    let (one, other) = (free().to_string(), free().to_string());
    let mut script = "set -e\ntrap 'kill $(jobs -p)' EXIT\n".to_owned();
    for block in &blocks {
        script.push_str(&block.replace("7115", &one).replace("7116", &other));
    }
    let folder = tempfile::Builder::new().prefix("page-").tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in [programs().bankd(), programs().bank()] {
        let name = program.file_name().unwrap().to_owned();
        std::os::unix::fs::symlink(program, bin.join(name)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(folder.path());
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", folder.path())
        .env("TZ", "UTC");
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    for part in [
        "charge  chem  amount −480.000",
        "physics.example owes this bank 480.000 credits. Both banks agree.",
        "9,520",
    ] {
        assert!(ran.stdout.contains(part), "no {part:?} in {}", ran.stdout);
    }
}
