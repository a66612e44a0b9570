//! The real `bankd serve` with AUDITOR's listener, on a core of its own.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::place::{BANKD, Place, SERVER_CORE, on_core};
use crate::wire::whole;

/// A daemon; ended when it is dropped.
pub(crate) struct Server {
    child: Child,
    /// The port of AUDITOR's routes on 127.0.0.1.
    pub(crate) port: u16,
    data: PathBuf,
}

/// A bank without machines. Its daemon runs in `track`: records are stored and priced, as everywhere, and no
/// money moves.
pub(crate) fn template(place: &Place, name: &str) -> Result<PathBuf> {
    let data = place.folder(name)?;
    let init = Command::new(BANKD)
        .arg("init")
        .arg("--data")
        .arg(&data)
        .output()
        .context("bankd init")?;
    if !init.status.success() {
        bail!("bankd init: {}", String::from_utf8_lossy(&init.stderr));
    }
    Ok(data)
}

impl Server {
    /// Serves a data directory on free ports, at most `batch_max` commands in a commit.
    pub(crate) fn start(data: &Path, batch_max: u64) -> Result<Self> {
        let mut child = on_core(SERVER_CORE, Path::new(BANKD))
            .arg("serve")
            .arg("--data")
            .arg(data)
            .env("BANKD_HTTP_LISTEN", "127.0.0.1:0")
            .env("BANKD_AUDITOR_LISTEN", "127.0.0.1:0")
            .env("BANKD_LEDGER_MODE", "track")
            .env("BANKD_LEDGER_BATCH_MAX", batch_max.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(data.join("bankd.log"))?)
            .spawn()
            .context("a server: is `taskset` there?")?;
        let stdout = child.stdout.take().context("no output")?;
        let mut port = None;
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            if line.starts_with("listening auditor") {
                port = line.rsplit(':').next().and_then(|port| port.parse().ok());
                break;
            }
        }
        let server = Self {
            child,
            port: port.unwrap_or(0),
            data: data.to_owned(),
        };
        if port.is_none() {
            let log = std::fs::read_to_string(data.join("bankd.log")).unwrap_or_default();
            bail!("the server does not listen: {log}");
        }
        Ok(server)
    }

    /// Commits since its start, as anybody on the socket may ask.
    pub(crate) fn commits(&self) -> Result<u64> {
        let stream = UnixStream::connect(self.data.join("bankd.sock"))?;
        let request = b"GET /api/v1/status HTTP/1.1\r\nHost: bank\r\nConnection: close\r\n\r\n";
        let answer = whole(stream, request)?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
        let status: serde_json::Value = serde_json::from_str(body.unwrap_or_default())
            .with_context(|| format!("status: {answer}"))?;
        let commits = status.get("commits").and_then(serde_json::Value::as_u64);
        commits.with_context(|| format!("the status has no commits: {status}"))
    }

    /// The most memory that it had, in KiB.
    pub(crate) fn peak_kib(&self) -> Result<u64> {
        // `taskset` becomes the program that it starts.
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        kib.context("no VmHWM")
    }

    /// Asks it to end, and waits until it has drained.
    pub(crate) fn stop(mut self) -> Result<()> {
        Command::new("kill")
            .arg(self.child.id().to_string())
            .status()?;
        let status = self.child.wait()?;
        if status.success() {
            return Ok(());
        }
        bail!("the server ended with {status}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
