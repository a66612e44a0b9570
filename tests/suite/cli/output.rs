//! Output that nobody reads, and output that cannot be written.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Bank, programs};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// As behind `| head`: nothing is wrong with the bank.
#[test]
fn a_reader_that_is_gone_ends_nothing() {
    let mut bank = Bank::new();
    bank.stop();
    for arguments in [&["verify"][..], &["config", "show"], &["doctor"]] {
        let mut command = Command::new(programs().bankd());
        command.args(arguments).arg("--data").arg(bank.data());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let output = String::from_utf8(ended.stderr).unwrap();
        assert!(!output.contains("panicked"), "{arguments:?}: {output}");
        assert!(matches!(ended.status.code(), Some(0 | 1)), "{arguments:?}");
    }
}

/// What a command cannot print is an error: the output is on a full disk. Without a reader it is none.
#[track_caller]
fn loses_its_output(bank: &Bank, program: &Path, arguments: &[&str], exit: i32) {
    let run = |output: Stdio| {
        let mut command = Command::new(program);
        command.args(arguments).envs(bank.env().iter().cloned());
        command.env("BANK_SERVER", format!("unix:{}", bank.socket().display()));
        command.stdout(output).stderr(Stdio::piped());
        let ended = command.spawn().unwrap().wait_with_output().unwrap();
        let errors = String::from_utf8(ended.stderr).unwrap();
        (ended.status.code().unwrap(), errors)
    };
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let (found, errors) = run(full.unwrap().into());
    assert_eq!(found, exit, "{arguments:?}: {errors}");
    let expected = "No space left on device";
    assert!(errors.contains(expected), "{arguments:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(run(writer.into()), (0, String::new()), "{arguments:?}");
}

#[test]
fn lost_output_is_an_error() {
    let mut bank = Bank::new();
    let (of_bank, of_bankd) = (programs().bank(), programs().bankd());
    for arguments in [
        &["balance"][..],
        &["journal"],
        &["statement", "chemistry", "--from", "-infinity"],
        &["export", "jsonl"],
        &["export", "ur2"],
        &["help", "balance"],
        &["--help"],
        &["--version"],
    ] {
        loses_its_output(&bank, &of_bank, arguments, 70);
    }
    let gold = bank.folder().join("gbalance");
    std::os::unix::fs::symlink(of_bank, &gold).unwrap();
    loses_its_output(&bank, &gold, &[], 72);
    loses_its_output(&bank, &gold, &["--help"], 72);
    bank.stop();
    let usage = bank.folder().join("in.sacct");
    std::fs::write(&usage, "JobID|Cluster|User|Account|State|Start|End|NCPUS\n").unwrap();
    let (data, usage) = (bank.data(), text(&usage));
    let import = [
        "import",
        "sacct",
        usage,
        "--source",
        "s",
        "--data",
        text(&data),
    ];
    loses_its_output(&bank, &of_bankd, &import, 70);
    loses_its_output(
        &bank,
        &of_bankd,
        &["config", "show", "--data", text(&data)],
        70,
    );
    loses_its_output(&bank, &of_bankd, &["--help"], 70);
}
