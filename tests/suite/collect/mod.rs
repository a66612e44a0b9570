//! `bank collect` with real daemons, a program in the place of `sacct`, and servers of the tests.

mod kill;
mod servers;
mod site;
mod slurm;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::{Bank, Ran, programs};

/// A collector of a bank: its settings and its queue.
pub(super) struct Collector {
    name: &'static str,
    settings: PathBuf,
    folder: PathBuf,
}

impl Collector {
    /// With these settings behind its folder.
    pub(super) fn new(bank: &Bank, name: &'static str, settings: &str) -> Self {
        let folder = bank.folder().join("queue");
        let path = bank.folder().join(format!("{name}.toml"));
        let text = format!("folder = \"{}\"\n{settings}", folder.display());
        fs::write(&path, text).unwrap();
        Self {
            name,
            settings: path,
            folder,
        }
    }

    /// One call of `bank collect … --once`, with more in its environment.
    pub(super) fn once(&self, bank: &Bank, env: &[(&str, &str)]) -> Ran {
        self.run(bank, &[self.name, "--once"], env)
    }

    /// The round that went well, as its one line says it.
    #[track_caller]
    pub(super) fn round(&self, bank: &Bank) -> Value {
        let ran = self.run(bank, &[self.name, "--once", "--json"], &[]);
        assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
        let last = ran.stdout.lines().last().unwrap();
        serde_json::from_str(last).unwrap()
    }

    /// `bank collect status --json`, its rows.
    pub(super) fn status(&self, bank: &Bank) -> Vec<Value> {
        let ran = self.run(bank, &["status", "--json"], &[]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let list: Value = serde_json::from_str(&ran.stdout).unwrap();
        list["items"].as_array().unwrap().clone()
    }

    fn run(&self, bank: &Bank, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(programs().bank());
        command
            .arg("collect")
            .args(arguments)
            .arg("--file")
            .arg(&self.settings)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", bank.folder())
            .env("TZ", "UTC")
            .env("BANK_TEST_CLOCK", bank.clock())
            .env("BANK_SERVER", format!("unix:{}", bank.socket().display()))
            .envs(env.iter().copied());
        Ran::of(&mut command, b"")
    }

    /// How many batches wait.
    pub(super) fn waiting(&self) -> usize {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return 0;
        };
        let names = entries.map(|entry| entry.unwrap().file_name());
        names
            .filter(|name| Path::new(name).extension().is_some_and(|e| e == "batch"))
            .count()
    }

    /// The folder of its queue.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// A program in the place of `sacct`: prints the columns asked for, then the jobs of the file beside
/// it, whatever the window is; each call is noted. While there is a file `broken` it fails half way.
pub(super) fn sacct(bank: &Bank) -> PathBuf {
    let folder = bank.folder().display().to_string();
    let script = format!(
        "#!/bin/sh\nF={folder}\necho \"$TZ $*\" >>\"$F/calls\"\n\
         for a; do case $a in --delimiter=*) d=${{a#--delimiter=}};; *,JobName) c=$a;; esac; done\n\
         printf '%s\\n' \"$c\" | sed \"s/,/$d/g\"\n\
         [ ! -e \"$F/broken\" ] || {{ head -c 30 \"$F/jobs\"; echo 'no connection' >&2; exit 1; }}\n\
         sed \"s/|/$d/g\" \"$F/jobs\"\n"
    );
    let path = bank.folder().join("sacct");
    let draft = bank.folder().join("sacct.new");
    fs::write(&draft, script).unwrap();
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).unwrap();
    // Copied by another process: one of ours that starts a program meanwhile would hold it open for
    // writing, and then it cannot be run.
    let copied = Command::new("cp").args([&draft, &path]).status().unwrap();
    assert!(copied.success());
    path
}

/// A job of amy on colony, 16 processors for ten minutes from this minute of the first hour on.
pub(super) fn job(id: u32, minute: u32) -> String {
    let end = minute + 10;
    format!(
        "{id}|{id}|colony|batch|normal|chemistry|amy|1|amy|1|2026-01-01T00:00:00|2026-01-01T00:00:00|\
         2026-01-01T00:{minute:02}:00|2026-01-01T00:{end:02}:00|00:10:00|0:0|COMPLETED|1|16|16|1000M|\
         cpu=16|cpu=16,mem=1000M,node=1|01:00:00||n1|a | b\n"
    )
}

/// What a job of [`job`] costs.
pub(super) const PRICE: i64 = 9600;
