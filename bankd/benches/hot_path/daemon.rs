//! The servers that are measured: the real `bankd serve`, and axum with nothing behind it.

use crate::place::{BANKD, SERVER_CORE, on_core, part};
use crate::seed::{ADMIN, SCHEDULER};
use crate::visitor;
use anyhow::{Context, Result, bail};
use axum::Router;
use axum::routing::post;
use bank_api::sign::{OutgoingRequest, SigningKey, sign_request};
use bankd_ledger::{clock, keys};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use uuid::Uuid;

/// A server process; ended when it is dropped.
pub(crate) struct Server {
    child: Child,
    /// Its port on 127.0.0.1.
    pub(crate) port: u16,
    /// That of its Gold gateway or of its web pages, 0 if it has neither.
    pub(crate) beside: u16,
    data: PathBuf,
}

/// What the writer counted since its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// Commits.
    pub(crate) commits: u64,
    /// Commands answered.
    pub(crate) commands: u64,
}

impl Server {
    /// Serves a data directory with the settings that `bankd init` wrote, on a free port, at most
    /// `batch_max` commands in a commit. Its log goes to a file beside its data.
    pub(crate) fn bank(data: &Path, batch_max: u64) -> Result<Self> {
        let mut command = serve(data)?;
        command.env("BANKD_LEDGER_BATCH_MAX", batch_max.to_string());
        Self::start(command, data, 1)
    }

    /// A node of a cluster with these settings, on these cores.
    pub(crate) fn node(data: &Path, core: &str, settings: &[(&str, String)]) -> Result<Self> {
        let mut command = serve_on(core, data)?;
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        Self::start(command, data, 1)
    }

    /// The same with a Gold gateway beside it, whose peer is the scheduler's key.
    pub(crate) fn gateway(data: &Path) -> Result<Self> {
        let settings = format!("\n[gold.peer.{SCHEDULER}]\naddresses = [\"127.0.0.1\"]\n");
        let mut file = File::options().append(true).open(data.join("bankd.toml"))?;
        file.write_all(settings.as_bytes())?;
        let mut command = serve(data)?;
        command.env("BANKD_GOLD_LISTEN", "127.0.0.1:0");
        Self::start(command, data, 3)
    }

    /// The same with web pages beside it.
    pub(crate) fn pages(data: &Path) -> Result<Self> {
        std::fs::write(data.join("bankd.toml"), visitor::SETTINGS)?;
        Self::start(serve(data)?, data, 3)
    }

    /// axum with one route that does nothing.
    pub(crate) fn plain() -> Result<Self> {
        Self::start(part(SERVER_CORE, "plain", &[])?, Path::new(""), 1)
    }

    /// Reads so many lines of what it says of its listeners: first HTTP's, last that of the gateway or the pages.
    fn start(mut command: Command, data: &Path, lines: usize) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("a server: is `taskset` there?")?;
        let stdout = child.stdout.take().context("no output")?;
        let output = BufReader::new(stdout).lines().take(lines);
        let output = output.collect::<std::io::Result<Vec<String>>>()?;
        let port = |line: Option<&String>| {
            let port = line.and_then(|line| line.trim().rsplit(':').next());
            port.and_then(|port| port.parse::<u16>().ok())
        };
        let beside = output.get(2).map_or(Some(0), |line| port(Some(line)));
        if let (Some(port), Some(beside)) = (port(output.first()), beside) {
            return Ok(Self {
                child,
                port,
                beside,
                data: data.to_owned(),
            });
        }
        let _ = child.kill();
        let _ = child.wait();
        let log = std::fs::read_to_string(data.join("bankd.log")).unwrap_or_default();
        bail!("the server said {output:?} and {log}")
    }

    /// The writer's counters, asked for over HTTP as anybody would.
    pub(crate) fn counted(&self) -> Result<Counted> {
        let status = self.status()?;
        let number = |name: &str| {
            let value = status.get(name).and_then(serde_json::Value::as_u64);
            value.with_context(|| format!("the status has no {name}: {status}"))
        };
        Ok(Counted {
            commits: number("commits")?,
            commands: number("commands")?,
        })
    }

    /// The daemon's status.
    pub(crate) fn status(&self) -> Result<serde_json::Value> {
        let target = "/api/v1/status";
        let key = SigningKey::new(&keys::read_secret(&self.data.join("keys"), ADMIN)?);
        let request = OutgoingRequest {
            method: "GET",
            target,
            body: b"",
            idempotency_key: None,
            event_time: None,
        };
        let nonce = Uuid::new_v4().simple().to_string();
        let signed = sign_request(&key, ADMIN, &request, clock::auth_now_s(), &nonce);
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(
            stream,
            "GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Signature-Input: {}\r\nSignature: {}\r\n\r\n",
            signed.signature_input, signed.signature
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
        serde_json::from_str(body.unwrap_or_default()).with_context(|| format!("status: {answer}"))
    }

    /// Asks it to end, and waits until it has drained.
    pub(crate) fn stop(mut self) -> Result<()> {
        Command::new("kill")
            .arg(self.child.id().to_string())
            .status()?;
        let status = self.child.wait()?;
        // The plain server knows no signal; the bank ends in order.
        if status.success() || self.data.as_os_str().is_empty() {
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

/// `bankd serve` on a free port; its log goes to a file beside its data.
fn serve(data: &Path) -> Result<Command> {
    serve_on(SERVER_CORE, data)
}

fn serve_on(core: &str, data: &Path) -> Result<Command> {
    let mut command = on_core(core, Path::new(BANKD));
    command
        .arg("serve")
        .arg("--data")
        .arg(data)
        .env("BANKD_HTTP_LISTEN", "127.0.0.1:0")
        .stderr(File::create(data.join("bankd.log"))?);
    Ok(command)
}

/// Part `plain`: the server of [`Server::plain`].
pub(crate) fn serve_plain() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        println!("listening http://{}", listener.local_addr()?);
        let app = Router::new().route("/", post(async || {}));
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, app).await?;
        Ok(())
    })
}
