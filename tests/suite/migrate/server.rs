//! Database servers of the tests: each in a folder of its own, and not as root, which they refuse.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Bank, Ran};

/// Runs a program with this input; it must succeed.
#[track_caller]
pub(super) fn ran(command: &mut Command, input: &str) -> Ran {
    let ran = Ran::of(command, input.as_bytes());
    assert_eq!(ran.exit, 0, "{command:?}: {}{}", ran.stdout, ran.stderr);
    ran
}

/// The folder of a server, and the user that it runs as.
pub(super) struct Home {
    pub(super) folder: PathBuf,
    is_root: bool,
}

impl Home {
    pub(super) fn new(bank: &Bank, name: &str) -> Self {
        let folder = bank.folder().join(name);
        fs::create_dir(&folder).unwrap();
        let own = ran(Command::new("id").arg("-u"), "").stdout;
        let home = Self {
            is_root: own.trim() == "0",
            folder,
        };
        if home.is_root {
            // The folders above must be open for the other user.
            for path in [bank.folder(), &home.folder] {
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            ran(Command::new("chown").arg("nobody").arg(&home.folder), "");
        }
        home
    }

    /// A file or folder in it.
    pub(super) fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    /// A program of the server, run by its user.
    pub(super) fn program(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = if self.is_root {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"])
                .arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(words).current_dir("/");
        command
    }
}
