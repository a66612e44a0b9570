//! One program of a Patroni pair with all processes below it, found by their working folder: `PostgreSQL` puts every
//! process of its own into a session of its own, so neither a process group nor a parent holds them together.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::wait::{pause, until};

/// How long processes may take to end after SIGKILL.
const END: Duration = Duration::from_secs(20);

/// A program that works in a folder of its own.
#[derive(Debug)]
pub(super) struct Node {
    folder: PathBuf,
    words: Vec<String>,
    child: Option<Child>,
}

impl Node {
    /// Makes the folder, which belongs to the user that the program runs as.
    pub(super) fn new(folder: PathBuf, words: Vec<String>) -> Self {
        fs::create_dir_all(&folder).unwrap();
        if is_root() {
            let done = Command::new("chown")
                .arg("postgres:")
                .arg(&folder)
                .status()
                .unwrap();
            assert!(done.success(), "chown of {}", folder.display());
        }
        Self {
            folder,
            words,
            child: None,
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the program; as the user postgres when the test is root, since the server refuses root.
    pub(super) fn start(&mut self) {
        assert!(self.child.is_none(), "{} runs", self.folder.display());
        let mut command = Command::new("setpriv");
        if is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
        }
        let log = self.open_log();
        let child = command
            .arg("--")
            .args(&self.words)
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", &self.folder)
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
    }

    fn open_log(&self) -> File {
        let path = self.folder.join("log");
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap()
    }

    /// What the program and its server wrote.
    pub(super) fn log(&self) -> String {
        let text = fs::read(self.folder.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// SIGKILL to every process of it; returns when none is left.
    pub(super) fn kill(&mut self) {
        let ended = self.kill_all();
        assert!(ended, "processes are left in {}", self.folder.display());
    }

    fn kill_all(&mut self) -> bool {
        let since = Instant::now();
        loop {
            let left = processes(&self.folder);
            signal("KILL", &left);
            if let Some(mut child) = self.child.take() {
                let _ = child.kill();
                let _ = child.wait();
            }
            if left.is_empty() {
                return true;
            }
            if since.elapsed() > END {
                return false;
            }
            pause(Duration::from_millis(5));
        }
    }

    /// SIGSTOP to every process of it; returns when all of them are stopped.
    pub(super) fn stop(&self) {
        until("all processes of the node are stopped", || {
            let mut left = processes(&self.folder);
            left.retain(|pid| !is_stopped(*pid));
            signal("STOP", &left);
            left.is_empty().then_some(())
        });
    }

    /// SIGCONT to every process of it.
    pub(super) fn cont(&self) {
        signal("CONT", &processes(&self.folder));
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill_all();
    }
}

pub(super) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The processes whose working folder is in this one. One that has ended, but was not waited for, has none.
fn processes(folder: &Path) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|own| own.starts_with(folder))
    })
    .collect()
}

fn is_stopped(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return true;
    };
    let state = stat
        .rsplit_once(") ")
        .map(|(_, rest)| rest.starts_with('T'));
    state.unwrap_or(false)
}

/// Sends a signal; a process that is gone meanwhile is no error.
fn signal(name: &str, pids: &[u32]) {
    if pids.is_empty() {
        return;
    }
    let pids = pids.iter().map(u32::to_string);
    let _ = Command::new("kill")
        .arg(format!("-{name}"))
        .args(pids)
        .stderr(Stdio::null())
        .status();
}
