//! The scheduler's calls: the real scripts, by the names that `moab.cfg` gives them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::bank::{Bank, KEY_ID};

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    /// Exit code.
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From the start to the end.
    pub(crate) took: Duration,
}

impl Ran {
    /// Runs a command with this on its standard input.
    pub(crate) fn of(command: &mut Command, input: &[u8]) -> Self {
        let since = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program may end without reading all of it.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        Self {
            exit: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            took: since.elapsed(),
        }
    }

    /// Fails the test unless it ended so; what a script prints is only ever this.
    #[track_caller]
    pub(crate) fn expect(&self, exit: i32, stdout: &str) -> &Self {
        let lines = self.stderr.lines().count();
        assert_eq!(
            (self.exit, self.stdout.as_str()),
            (exit, stdout),
            "{}",
            self.stderr
        );
        assert!(lines <= 1 && self.stderr.len() <= 200, "{}", self.stderr);
        self
    }

    /// Fails the test unless standard error says all of this.
    #[track_caller]
    pub(crate) fn expect_stderr(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "no {part:?} in: {}",
                self.stderr
            );
        }
        self
    }
}

/// A call of a script, before it is made.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    bank: &'a Bank,
    event: &'a str,
    body: Vec<u8>,
    settings: Vec<String>,
    wrapper: Vec<String>,
    arguments: Vec<String>,
}

impl Bank {
    /// Calls the script of an event with a document on its standard input.
    pub(crate) fn script(&self, event: &str, body: &[u8]) -> Ran {
        self.call(event).body(body).run()
    }

    /// A call with more to say.
    pub(crate) fn call<'a>(&'a self, event: &'a str) -> Call<'a> {
        Call {
            bank: self,
            event,
            body: Vec::new(),
            settings: vec![
                format!("server=unix:{}", self.socket().display()),
                "machine=colony".to_owned(),
                format!("spool_dir={}", self.spool().display()),
            ],
            wrapper: Vec::new(),
            arguments: Vec::new(),
        }
    }

    /// Where the scripts keep what the bank did not take.
    pub(crate) fn spool(&self) -> PathBuf {
        self.folder().join("spool")
    }

    /// How many documents wait in the spool.
    pub(crate) fn spooled(&self) -> usize {
        documents_in(&self.spool())
    }

    /// How many documents lie in the quarantine.
    pub(crate) fn quarantined(&self) -> usize {
        documents_in(&self.spool().join("quarantine"))
    }
}

fn documents_in(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(".doc"))
        .count()
}

impl Call<'_> {
    /// The document.
    pub(crate) fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    /// A further line of `nami.conf`; a later line wins.
    pub(crate) fn set(mut self, line: impl Into<String>) -> Self {
        self.settings.push(line.into());
        self
    }

    /// Over TCP to this address, with the scheduler's key.
    pub(crate) fn over_tcp(self, address: &str) -> Self {
        let file = self.bank.key_file();
        self.set(format!("server=http://{address}"))
            .set(format!("key_id={KEY_ID}"))
            .set(format!("key_file={}", file.display()))
    }

    /// Runs the script through another program, whose last argument is the script.
    pub(crate) fn through(mut self, wrapper: &[&str]) -> Self {
        self.wrapper = wrapper.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// An argument of the script.
    pub(crate) fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Makes the call.
    pub(crate) fn run(self) -> Ran {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        let conf = self.bank.folder().join(format!("nami-{number}.conf"));
        std::fs::write(&conf, self.settings.join("\n") + "\n").unwrap();
        let script = self.bank.folder().join(format!("nami/bank.{}", self.event));
        let mut command = match self.wrapper.split_first() {
            None => Command::new(script),
            Some((program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments).arg(script);
                command
            }
        };
        command
            .args(&self.arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("NAMI_CONF", &conf)
            .env("BANKD_TEST_CLOCK", self.bank.clock());
        Ran::of(&mut command, &self.body)
    }
}
