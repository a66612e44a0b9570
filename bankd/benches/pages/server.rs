//! The daemon that serves the pages.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A daemon; ended when it is dropped.
pub(crate) struct Server {
    child: Child,
    /// The port of the pages on 127.0.0.1.
    pub(crate) web: u16,
}

impl Server {
    /// Serves a data directory. Its log goes to a file beside its data.
    pub(crate) fn start(data: &Path) -> Result<Self> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_bankd"))
            .arg("serve")
            .arg("--data")
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(data.join("bankd.log"))?)
            .spawn()?;
        let stdout = child.stdout.take().context("no output")?;
        let mut server = Self { child, web: 0 };
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            if let Some(place) = line.strip_prefix("listening web http://127.0.0.1:") {
                server.web = place.trim().parse()?;
                return Ok(server);
            }
        }
        let log = std::fs::read_to_string(data.join("bankd.log"))?;
        anyhow::bail!("the daemon serves no pages: {log}")
    }

    /// Asks it to end, and waits until it has drained.
    pub(crate) fn stop(mut self) -> Result<()> {
        let pid = self.child.id().to_string();
        Command::new("kill").arg(pid).status()?;
        ensure!(self.child.wait()?.success(), "the daemon ended badly");
        Ok(())
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
