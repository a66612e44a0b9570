//! One running `bankd serve`.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::client::{Address, Request, exchange};
use super::programs::programs;
use super::wait::until;

/// How long a start may take.
const START: Duration = Duration::from_mins(2);

/// A daemon; killed when dropped.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    tcp: String,
    /// Where the Gold gateway listens, if it is switched on.
    gold: Option<String>,
    /// What it said beyond that.
    more: Vec<String>,
}

impl Daemon {
    /// Starts a daemon and waits until it is ready. `None` if it ended before that, as one with a
    /// kill point may.
    pub(crate) fn start(
        data: &Path,
        clock: &Path,
        log: &Path,
        env: &[(String, String)],
    ) -> Option<Self> {
        let mut command = Command::new(programs().bankd());
        command
            .args(["serve", "--data"])
            .arg(data)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("BANKD_HTTP_LISTEN", "127.0.0.1:0")
            .env("BANKD_TEST_CLOCK", clock)
            .envs(env.iter().map(|(name, value)| (name, value)));
        // An empty one is that of the machine, for a bank that was made without `--test`.
        if env
            .iter()
            .any(|(name, value)| name == "BANKD_TEST_CLOCK" && value.is_empty())
        {
            command.env_remove("BANKD_TEST_CLOCK");
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(append(log))
            .spawn()
            .unwrap();
        let lines = lines_of(&mut child);
        let Some(tcp) = address(&lines, "listening http://") else {
            child.wait().unwrap();
            return None;
        };
        let mut daemon = Self {
            child,
            tcp,
            gold: None,
            more: Vec::new(),
        };
        if address(&lines, "listening unix:").is_none() {
            daemon.wait();
            return None;
        }
        if env.iter().any(|(name, _)| name == "BANKD_GOLD_LISTEN") {
            daemon.gold = address(&lines, "listening gold://");
        }
        // It writes all addresses at once, but the thread that reads them may be late.
        if env.iter().any(|(name, _)| name == "BANKD_WEB_LISTEN") {
            let is_web = |line: &String| line.starts_with("listening web ");
            while !daemon.more.last().is_some_and(is_web) {
                match lines.recv_timeout(START) {
                    Ok(line) => daemon.more.push(line),
                    Err(_) => break,
                }
            }
        }
        let ready = until("the daemon is ready", || {
            if daemon.child.try_wait().unwrap().is_some() {
                return Some(false);
            }
            let answer = exchange(&Address::Tcp(daemon.tcp.clone()), &Request::get("/readyz"));
            // A node of a cluster also runs while its log or its writer is away.
            let runs = |answer: &crate::harness::Response| {
                answer.status == 200 || answer.text().contains("of the cluster")
            };
            answer.ok().filter(runs).map(|_| true)
        });
        daemon.more.extend(lines.try_iter());
        ready.then_some(daemon)
    }

    /// Host and port of its TCP listener.
    pub(crate) fn tcp(&self) -> &str {
        &self.tcp
    }

    /// Host and port of its Gold gateway.
    pub(crate) fn gold(&self) -> Option<&str> {
        self.gold.as_deref()
    }

    /// What it said on its start beside where its listeners are.
    pub(crate) fn more(&self) -> &[String] {
        &self.more
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended.
    pub(crate) fn is_gone(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        // It may have ended itself already.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Asks it to end, and waits.
    pub(crate) fn stop(mut self) -> ExitStatus {
        signal(self.pid(), "TERM");
        self.wait()
    }

    fn wait(&mut self) -> ExitStatus {
        until("the daemon ends", || self.child.try_wait().unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), pid.to_string()])
        .status()
        .unwrap();
    assert!(sent.success(), "kill -{name} {pid}");
}

fn append(log: &Path) -> File {
    let path: PathBuf = log.into();
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap()
}

/// Its standard output, line by line, to its end.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            // Nobody listens once the daemon is up; reading goes on, so that it is never blocked.
            let _ = send.send(line);
        }
    });
    lines
}

fn address(lines: &Receiver<String>, prefix: &str) -> Option<String> {
    match lines.recv_timeout(START) {
        Ok(line) => Some(
            line.strip_prefix(prefix)
                .unwrap_or_else(|| panic!("{line}"))
                .to_owned(),
        ),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => panic!("the daemon does not listen"),
    }
}
