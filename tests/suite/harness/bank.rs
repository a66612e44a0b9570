//! A bank of its own for one test: a folder with data, clock, spool and scripts, and its daemon.
//!
//! The base state of `nami.md` 9 is made once in each test process, by the real command line, and
//! copied for every test.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use super::client::{Address, Request, Response, exchange};
use super::daemon::{Daemon, signal};
use super::programs::programs;
use super::script::Ran;

/// 2026-01-01T00:00:00Z, where every case begins.
pub(crate) const T0: i64 = 1_767_225_600;
/// The scheduler's key, with the machine colony.
pub(crate) const KEY_ID: &str = "moab";
/// Its secret.
pub(crate) const SECRET: &[u8] = b"the scheduler's secret of the tests";

/// The events that have a script.
const EVENTS: [&str; 14] = [
    "quote", "create", "reserve", "start", "charge", "update", "continue", "pause", "resume",
    "end", "delete", "modify", "query", "drain",
];

/// What differs from the base state.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// What chemistry has.
    chemistry: i64,
    /// Settings of the daemon, as its environment.
    env: Vec<(String, String)>,
    /// Further settings, at the end of its file.
    toml: String,
}

impl Setup {
    /// The base state.
    pub(crate) fn new() -> Self {
        Self {
            chemistry: 100_000,
            env: Vec::new(),
            toml: String::new(),
        }
    }

    /// Another amount for chemistry.
    pub(crate) fn chemistry(mut self, amount: i64) -> Self {
        self.chemistry = amount;
        self
    }

    /// A setting of the daemon, such as `BANKD_FALLBACK_MODE`.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Settings that only a file can hold, at its end.
    pub(crate) fn toml(mut self, text: &str) -> Self {
        self.toml.push_str(text);
        self
    }

    /// Makes the bank and starts its daemon.
    pub(crate) fn start(self) -> Bank {
        let mut bank = Bank::bare(self.env);
        copy(template(), &bank.data());
        bank.settings(&self.toml);
        bank.start();
        // A deposit of 0 makes an allocation without credit only where it is asked for.
        let amount = self.chemistry.to_string();
        bank.bank_ok(&["deposit", "chemistry", &amount, "--limit", "0", "--new"]);
        bank
    }
}

/// A bank; its daemon dies with it.
#[derive(Debug)]
pub(crate) struct Bank {
    daemon: Option<Daemon>,
    env: Vec<(String, String)>,
    folder: TempDir,
}

impl Bank {
    /// The base state with its daemon.
    pub(crate) fn new() -> Self {
        Setup::new().start()
    }

    /// A folder without data, and a clock at T0.
    pub(crate) fn bare(env: Vec<(String, String)>) -> Self {
        let folder = tempfile::Builder::new().prefix("bank-").tempdir().unwrap();
        let scripts = folder.path().join("nami");
        fs::create_dir(&scripts).unwrap();
        for event in EVENTS {
            let script = scripts.join(format!("bank.{event}"));
            symlink(programs().scripts(), script).unwrap();
        }
        fs::write(folder.path().join("moab.key"), SECRET).unwrap();
        let private = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
        fs::set_permissions(folder.path().join("moab.key"), private).unwrap();
        let bank = Self {
            daemon: None,
            env,
            folder,
        };
        bank.set_clock(T0);
        bank
    }

    /// The folder of everything.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// The settings of the daemon, as its environment.
    pub(crate) fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// Replaces them, from the next start on.
    pub(crate) fn set_env(&mut self, env: Vec<(String, String)>) {
        self.env = env;
    }

    /// Whether the daemon was started, and neither stopped nor killed.
    pub(crate) fn is_running(&self) -> bool {
        self.daemon.is_some()
    }

    /// The Unix socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.data().join("bankd.sock")
    }

    /// The file that is the ledger clock.
    pub(crate) fn clock(&self) -> PathBuf {
        self.folder().join("clock")
    }

    /// The file with the secret of [`KEY_ID`].
    pub(crate) fn key_file(&self) -> PathBuf {
        self.folder().join("moab.key")
    }

    /// What the daemon logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder().join("bankd.log")).unwrap_or_default()
    }

    /// Moves the ledger clock, in seconds since 1970.
    pub(crate) fn set_clock(&self, seconds: i64) {
        let new = self.folder().join("clock.new");
        fs::write(&new, seconds.to_string()).unwrap();
        fs::rename(new, self.clock()).unwrap();
    }

    /// Moves the ledger clock without the time passing that it shows: only `steady` seconds have.
    pub(crate) fn set_clocks(&self, seconds: i64, steady: i64) {
        let new = self.folder().join("clock.new");
        fs::write(&new, format!("{seconds} {steady}")).unwrap();
        fs::rename(new, self.clock()).unwrap();
    }

    /// Adds to the end of the daemon's settings.
    pub(crate) fn settings(&self, toml: &str) {
        let path = self.data().join("bankd.toml");
        let all = fs::read_to_string(&path).unwrap() + toml;
        fs::write(path, all).unwrap();
    }

    /// Starts the daemon.
    pub(crate) fn start(&mut self) {
        assert!(
            self.start_with(&[]),
            "the daemon did not start:\n{}",
            self.log()
        );
    }

    /// Starts the daemon with further settings; false if it ended before it was ready.
    pub(crate) fn start_with(&mut self, more: &[(&str, &str)]) -> bool {
        assert!(self.daemon.is_none(), "the daemon runs already");
        let more = more
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let env: Vec<_> = self.env.iter().cloned().chain(more).collect();
        let log = self.folder().join("bankd.log");
        self.daemon = Daemon::start(&self.data(), &self.clock(), &log, &env);
        self.daemon.is_some()
    }

    /// Ends the daemon in good order.
    pub(crate) fn stop(&mut self) {
        let status = self.daemon.take().unwrap().stop();
        assert!(
            status.success(),
            "the daemon ended with {status}:\n{}",
            self.log()
        );
    }

    /// Ends the daemon as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.daemon.take().unwrap().kill();
    }

    /// Ends the daemon if it runs, and buries it if it has ended by itself.
    pub(crate) fn stop_or_kill(&mut self) {
        let Some(mut daemon) = self.daemon.take() else {
            return;
        };
        if daemon.is_gone() {
            daemon.kill();
        } else {
            daemon.stop();
        }
    }

    /// Kills the daemon and leaves it to be buried.
    pub(crate) fn kill_now(&self) {
        self.signal("KILL");
    }

    /// Whether the daemon has ended by itself.
    pub(crate) fn is_gone(&mut self) -> bool {
        self.daemon.as_mut().unwrap().is_gone()
    }

    /// Sends the daemon a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.daemon.as_ref().unwrap().pid(), name);
    }

    /// Host and port of the daemon.
    pub(crate) fn tcp(&self) -> String {
        self.daemon.as_ref().unwrap().tcp().to_owned()
    }

    /// Host and port of the daemon's Gold gateway.
    pub(crate) fn gold(&self) -> String {
        let daemon = self.daemon.as_ref().unwrap();
        daemon.gold().expect("the gateway is off").to_owned()
    }

    /// What the daemon said on its start beside where its listeners are.
    pub(crate) fn further_output(&self) -> &[String] {
        self.daemon.as_ref().unwrap().more()
    }

    /// The memory of the daemon, in KiB.
    pub(crate) fn memory_kib(&self) -> i64 {
        let pid = self.daemon.as_ref().unwrap().pid();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// One request over the Unix socket.
    pub(crate) fn over_socket(&self, request: &Request) -> Response {
        exchange(&Address::Unix(self.socket()), request).unwrap()
    }

    /// One request over TCP.
    pub(crate) fn over_tcp(&self, request: &Request) -> Response {
        exchange(&Address::Tcp(self.tcp()), request).unwrap()
    }

    /// Runs `bank` over the Unix socket.
    pub(crate) fn bank(&self, arguments: &[&str]) -> Ran {
        self.bank_as(&[], arguments)
    }

    /// Runs `bank` with further variables in its environment.
    pub(crate) fn bank_as(&self, more: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let mut command = Command::new(programs().bank());
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder())
            .env("TZ", "UTC")
            .env("BANK_SERVER", format!("unix:{}", self.socket().display()))
            .envs(more.iter().copied());
        Ran::of(&mut command, b"")
    }

    /// Runs `bank`, which must succeed, and gives its standard output.
    #[track_caller]
    pub(crate) fn bank_ok(&self, arguments: &[&str]) -> String {
        let ran = self.bank(arguments);
        assert_eq!(ran.exit, 0, "bank {}: {}", arguments.join(" "), ran.stderr);
        ran.stdout
    }

    /// Ends the daemon, if it runs, and has the whole ledger verified.
    #[track_caller]
    pub(crate) fn verify(&mut self) {
        if self.daemon.is_some() {
            self.stop();
        }
        let mut command = Command::new(programs().bankd());
        command.args(["verify", "--data"]).arg(self.data());
        let ran = Ran::of(&mut command, b"");
        assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.starts_with("ok: "), "{}", ran.stdout);
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let tail: Vec<&str> = log.lines().rev().take(30).collect();
            eprintln!("the daemon's log:");
            tail.iter().rev().for_each(|line| eprintln!("  {line}"));
        }
    }
}

/// The base state, without what chemistry has.
fn template() -> &'static Path {
    static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let mut bank = Bank::bare(Vec::new());
        let mut init = Command::new(programs().bankd());
        init.args(["init", "--test", "--precision", "0", "--data"])
            .arg(bank.data());
        init.env("BANKD_TEST_CLOCK", bank.clock());
        let ran = Ran::of(&mut init, b"");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        bank.start();
        base_state(&bank);
        bank.stop();
        let kept = programs().folder().join("template");
        copy(&bank.data(), &kept);
        kept
    })
}

fn base_state(bank: &Bank) {
    bank.bank_ok(&[
        "machine",
        "add",
        "colony",
        "--mode",
        "strict",
        "--flush-interval",
        "3600",
    ]);
    for user in ["amy", "ops", "bob", "carol", "teach", "zoë"] {
        bank.bank_ok(&["user", "add", user]);
    }
    for (project, members, deposit) in [
        ("chemistry", "amy", None),
        ("physics", "ops", Some("1000000")),
        ("astro", "bob,carol", Some("50000")),
        ("training", "teach", Some("2000000")),
        ("freecycle", "", Some("1000000")),
        ("Zürich-Ångström", "zoë", Some("1000")),
    ] {
        let mut add = vec!["project", "add", project];
        if !members.is_empty() {
            add.extend(["--members", members]);
        }
        bank.bank_ok(&add);
        if let Some(amount) = deposit {
            bank.bank_ok(&["deposit", project, amount]);
        }
    }
    bank.bank_ok(&["account", "set", "freecycle", "--users", "ANY"]);
    let file = bank.key_file();
    let file = file.to_str().unwrap();
    let scope = [
        "--role",
        "scheduler",
        "--machine",
        "colony",
        "--secret-file",
        file,
    ];
    bank.bank_ok(&[&["key", "add", KEY_ID][..], &scope].concat());
}

/// A data directory without its daemon, with the modes of its files.
fn copy(from: &Path, to: &Path) {
    let keys = to.join("keys");
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&keys)
        .unwrap();
    for folder in ["", "keys"] {
        for entry in fs::read_dir(from.join(folder)).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), to.join(folder).join(entry.file_name())).unwrap();
            }
        }
    }
}
