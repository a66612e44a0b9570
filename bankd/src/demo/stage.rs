//! Environment of the demo: a directory, the programs, and a narrator.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use super::ended::Ended;

/// The events that the demo's scheduler calls scripts for.
const EVENTS: [&str; 6] = ["quote", "create", "reserve", "charge", "delete", "drain"];

/// A temporary bank with its programs.
pub(super) struct Stage {
    dir: PathBuf,
    programs: PathBuf,
    daemon: Option<Child>,
    chapters: u32,
    ended: Ended,
}

impl Stage {
    /// Finds the programs beside this one, and makes the directory with the scripts in it.
    pub(super) fn build(ended: Ended) -> Result<Stage> {
        let own = std::env::current_exe().context("cannot find the path of this program")?;
        let programs = own
            .parent()
            .context("cannot find the path of this program")?
            .to_owned();
        for name in ["bank", "nami-scripts"] {
            ensure!(
                programs.join(name).is_file(),
                "{name} is not in the folder of {}: build all three with `cargo build --release`",
                own.display()
            );
        }
        let name = format!("bankd-demo-{}", uuid::Uuid::new_v4().simple());
        let dir = std::env::temp_dir().join(name);
        let scripts = dir.join("nami");
        fs::create_dir_all(&scripts)?;
        for event in EVENTS {
            symlink(
                programs.join("nami-scripts"),
                scripts.join(format!("bank.{event}")),
            )?;
        }
        fs::write(dir.join("nami.conf"), nami_conf(&dir))?;
        say!("Demo directory: {}", dir.display());
        Ok(Stage {
            dir,
            programs,
            daemon: None,
            chapters: 0,
            ended,
        })
    }

    pub(super) fn chapter(&mut self, title: &str) {
        self.chapters = self.chapters.saturating_add(1);
        say!("\n{}. {title}", self.chapters);
    }

    pub(super) fn say(text: &str) {
        say!("\n# {text}");
    }

    pub(super) fn show_document(document: &str) {
        say!("\n# Document from the scheduler:");
        say_all!("{document}");
    }

    /// Runs `bank` and shows its output.
    pub(super) fn bank(&self, arguments: &[&str]) -> Result<()> {
        self.shown("bank", arguments)
    }

    /// Runs `bankd` and shows its output.
    pub(super) fn bankd(&self, arguments: &[&str]) -> Result<()> {
        self.shown("bankd", arguments)
    }

    /// Shows the balance of one project.
    pub(super) fn balance(&self, project: &str) -> Result<()> {
        self.bank(&["balance", project])
    }

    /// A signal ends the demo before its next command.
    fn goes_on(&self) -> Result<()> {
        ensure!(self.ended.code().is_none(), "a signal ended the demo");
        Ok(())
    }

    fn shown(&self, program: &str, arguments: &[&str]) -> Result<()> {
        self.goes_on()?;
        say!("\n$ {program} {}", quoted(arguments));
        let output = self.command(program).args(arguments).output()?;
        show(&output);
        ensure!(
            output.status.success(),
            "`{program} {}` failed",
            arguments.join(" ")
        );
        Ok(())
    }

    /// Runs a script as the scheduler does, with the document on standard input.
    pub(super) fn script(&self, event: &str, document: &str, expected: i32) -> Result<()> {
        self.goes_on()?;
        let name = format!("bank.{event}");
        say!("\n$ nami/{name} < {}", about(event, document));
        let mut child = Command::new(self.dir.join("nami").join(&name))
            .env("NAMI_CONF", self.dir.join("nami.conf"))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(document.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        show(&output);
        let code = output.status.code();
        say!(
            "(exit {})",
            code.map_or_else(|| "by a signal".to_owned(), |c| c.to_string())
        );
        ensure!(
            code == Some(expected),
            "{name} should have ended with exit code {expected}"
        );
        Ok(())
    }

    /// Starts the daemon and waits until it listens.
    pub(super) fn serve(&mut self) -> Result<()> {
        self.goes_on()?;
        say!("\n$ bankd serve --data bank-data &");
        let log = fs::File::create(self.dir.join("bankd.log"))?;
        let mut child = self
            .command("bankd")
            .args(["serve", "--data", "bank-data"])
            .env("BANKD_HTTP_LISTEN", "127.0.0.1:0")
            .env("BANKD_FILE_PATH", self.dir.join("bank-data/charges.log"))
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let stdout = child.stdout.take().context("the daemon's output")?;
        self.daemon = Some(child);
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            say!("{line}");
            if line.starts_with("listening unix:") {
                return Ok(());
            }
        }
        let log = fs::read_to_string(self.dir.join("bankd.log")).unwrap_or_default();
        bail!("the daemon did not start:\n{log}");
    }

    /// Ends the daemon as a power cut would.
    pub(super) fn kill(&mut self) -> Result<()> {
        say!("\n$ kill -9 %1");
        if let Some(mut daemon) = self.daemon.take() {
            daemon.kill()?;
            daemon.wait()?;
        }
        Ok(())
    }

    /// Shows a file of the bank's.
    pub(super) fn print_file(&self, name: &str, what: &str) -> Result<()> {
        say!("\n# {what}:");
        say!("$ cat {name}");
        let text = fs::read_to_string(self.dir.join(name)).with_context(|| name.to_owned())?;
        say_all!("{text}");
        Ok(())
    }

    /// Stops the daemon cleanly and removes the directory, or prints how to reach the daemon.
    pub(super) fn leave(mut self, keep: bool) -> Result<()> {
        let dir = self.dir.display().to_string();
        if keep {
            let daemon = self.daemon.take().context("the daemon")?;
            say!(
                "\nThe daemon keeps running as process {}. To send it requests:",
                daemon.id()
            );
            say!("  export BANK_SERVER=unix:{dir}/bank-data/bankd.sock");
            say!("  {}/bank balance", self.programs.display());
            say!("  NAMI_CONF={dir}/nami.conf {dir}/nami/bank.quote < job.xml");
            say!("  kill {}    # ends it; then remove {dir}", daemon.id());
            return Ok(());
        }
        if let Some(mut daemon) = self.daemon.take() {
            say!("\n$ kill %1");
            Command::new("kill").arg(daemon.id().to_string()).status()?;
            let status = daemon.wait()?;
            ensure!(status.success(), "the daemon ended with {status}");
        }
        fs::remove_dir_all(&self.dir)?;
        say!("\nThe demo is over; {dir} is removed. `bankd demo --keep` leaves it running.");
        Ok(())
    }

    /// Ends the daemon and removes the directory.
    pub(super) fn remove(mut self) -> Result<()> {
        self.end_daemon();
        fs::remove_dir_all(&self.dir)?;
        let dir = self.dir.display();
        Ended::announce(&format!("the demo was ended; {dir} is removed"));
        Ok(())
    }

    fn end_daemon(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        let socket = self.dir.join("bank-data/bankd.sock");
        command.current_dir(&self.dir);
        command.env("BANK_SERVER", format!("unix:{}", socket.display()));
        // Ctrl-C reaches the demo only, which ends its own processes.
        command.process_group(0);
        command
            .env_remove("BANK_CONFIG")
            .env_remove("BANK_FORMAT")
            .env_remove("BANK_PROJECT");
        command
    }
}

impl Drop for Stage {
    /// A failed demo leaves no daemon behind; its directory remains for inspection.
    fn drop(&mut self) {
        self.end_daemon();
    }
}

fn nami_conf(dir: &Path) -> String {
    let dir = dir.display();
    format!("server=unix:{dir}/bank-data/bankd.sock\nmachine=colony\nspool_dir={dir}/spool\n")
}

fn show(output: &Output) {
    say_all!("{}", String::from_utf8_lossy(&output.stdout));
    say_all!("{}", String::from_utf8_lossy(&output.stderr));
}

/// The arguments as a shell would need them.
fn quoted(arguments: &[&str]) -> String {
    let quote = |a: &&str| {
        if a.contains(' ') {
            format!("'{a}'")
        } else {
            (*a).to_owned()
        }
    };
    arguments.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Subject of a document, for the displayed command line.
fn about(event: &str, document: &str) -> String {
    let between = |name: &str| {
        let open = format!("<{name}>");
        let rest = document.split_once(&open)?.1;
        Some(rest.split_once('<')?.0.to_owned())
    };
    let Some(id) = between("ObjectID") else {
        return "/dev/null".to_owned();
    };
    let remark = match event {
        "charge" => between("ChargeDuration").map(|seconds| format!("{seconds} s")),
        "reserve" => between("Account").map(|account| format!("account {account}")),
        _ => None,
    };
    remark.map_or_else(
        || format!("{id}.xml"),
        |remark| format!("{id}.xml    # {remark}"),
    )
}
