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
fn a_doctor_finds_that_records_cannot_be_written() {
    let setup = Setup::new().env("BANKD_FILE_PATH", "file.rec");
    let mut bank = setup.chemistry(1000).start();
    bank.stop();
    let doctor = || {
        let mut command = Command::new(programs().bankd());
        command.args(["doctor", "--data"]).arg(bank.data());
        command.env("BANKD_FILE_PATH", "file.rec");
        Ran::of(&mut command, b"")
    };
    let ran = doctor();
    assert!(ran.stdout.contains("ok    records"), "{}", ran.stdout);
    let Some(_disk) = ReadOnly::of(&bank.data()) else {
        skip("mount", "only root can make a folder read-only");
        return;
    };
    let ran = doctor();
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    let line = "fail  records     file: ";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    let why = "cannot be written: Read-only file system";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
}
