//! A file system that became read-only: `bankd doctor` finds it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Ran, Setup, programs, skip};

/// A folder that cannot be written, as long as this lives.
struct ReadOnly(PathBuf);

impl ReadOnly {
    /// `None` without the right to mount.
    fn of(folder: &Path) -> Option<Self> {
        let bound = mount(&["--bind"], &[folder, folder]).then(|| Self(folder.to_owned()))?;
        mount(&["-o", "remount,ro,bind"], &[folder]).then_some(bound)
    }
}

fn mount(options: &[&str], paths: &[&Path]) -> bool {
    let ran = Command::new("mount").args(options).args(paths).output();
    ran.is_ok_and(|ran| ran.status.success())
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_doctor_finds_what_cannot_be_written() {
    let mut bank = Setup::new().chemistry(1000).start();
    bank.stop();
    std::fs::create_dir(bank.data().join("rec")).unwrap();
    let doctor = || {
        let mut command = Command::new(programs().bankd());
        command.args(["doctor", "--data"]).arg(bank.data());
        command.env("BANKD_FILE_PATH", "rec/file.rec");
        Ran::of(&mut command, b"")
    };
    let ran = doctor();
    assert!(ran.stdout.contains("ok    records"), "{}", ran.stdout);
    let Some(records) = ReadOnly::of(&bank.data().join("rec")) else {
        skip("mount", "only root can make a folder read-only");
        return;
    };
    let ran = doctor();
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    let line = "fail  records     file: ";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    let why = "cannot be written: Read-only file system";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
    drop(records);
    // Nothing else can be checked where the bank cannot be written.
    let _data = ReadOnly::of(&bank.data()).unwrap();
    let ran = doctor();
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    let line = format!(
        "fail  directory   the file system of {} is read-only\n",
        bank.data().display()
    );
    assert!(ran.stdout.starts_with(&line), "{}", ran.stdout);
    let failed = ran.stdout.lines().filter(|line| line.starts_with("fail "));
    assert_eq!(failed.count(), 1, "{}", ran.stdout);
}
