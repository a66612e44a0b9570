//! `bankd serve`: the lock, the listeners, the two lines on standard output, and the end.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bankd_config::Config;
use bankd_config::data_dir::{self, DataDir};
use bankd_ledger::obs;
use bankd_services::{Services, upgrade};
use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio::signal::unix::{SignalKind, signal};

use crate::app::{self, Listeners};
use crate::doctor::modes::{self, Exposed, Named};
use crate::handles;

/// Connections of the gateway that the system keeps waiting, if it may.
const WAITING: u32 = 4096;

/// Serves a data directory until SIGTERM or SIGINT.
///
/// # Errors
/// If the directory holds no bank or is served already, if others can read its keys, if a listener cannot be
/// made, or if the writer thread failed.
pub fn serve(data: &DataDir, config: Config) -> Result<()> {
    serve_with(data, config, std::future::pending(), |_| ())
}

/// The same, or until `ended` is done; `ready` is called when the lines are printed.
///
/// # Errors
/// As [`serve`].
pub(crate) fn serve_with(
    data: &DataDir,
    mut config: Config,
    ended: impl Future<Output = ()>,
    ready: impl FnOnce(&Arc<Services>),
) -> Result<()> {
    obs::start_log(&config.log);
    obs::catch_panics();
    handles::prepare(&mut config);
    if !data.database().exists() {
        bail!("{} holds no bank", data.path().display());
    }
    if !data.config().exists() {
        let file = data.config();
        tracing::warn!(file = %file.display(), "the settings are not there: every default holds");
    }
    let tls = &config.auditor.tls;
    let named = Named::new(data, &config.checkpoint, tls, &config.deliver);
    check_modes(data, &named)?;
    // Held until the process ends, however it does.
    let _lock = data_dir::lock(data)?;
    // Before there is a handler of signals: a node that waits here ends by SIGTERM.
    upgrade::run(data, &config.cluster, &config.backup)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let ended = runtime.block_on(async {
        let signal = shutdown().context("cannot listen for signals")?;
        let stop = async {
            tokio::select! {
                () = signal => {}
                () = ended => {}
            }
        };
        let (listeners, lines) = listen(data, &config).await?;
        let ready = |services: &Arc<Services>| {
            say(&lines);
            ready(services);
        };
        let ended = app::run(data, config, listeners, ready, stop).await;
        remove_socket(&data.socket())?;
        ended
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    ended
}

/// Refuses to serve with secrets that others can read, like an SSH server. Other paths that are open to
/// others are logged.
fn check_modes(data: &DataDir, named: &Named) -> Result<()> {
    let Exposed { secrets, rest } = modes::exposed(data, named);
    for todo in rest {
        tracing::warn!(
            todo,
            "others can do more in the data directory than they should"
        );
    }
    if secrets.is_empty() {
        return Ok(());
    }
    bail!(
        "others can read the secrets of keys: {}",
        secrets.join(", ")
    )
}

/// Creates the listeners, and the lines that print their addresses. The first listener is TCP
/// (decisions.md 4).
async fn listen(data: &DataDir, config: &Config) -> Result<(Listeners, String)> {
    let mut listeners = Listeners::default();
    let mut lines = String::new();
    if !config.http.listen.is_empty() {
        let listener = TcpListener::bind(&config.http.listen)
            .await
            .with_context(|| format!("cannot listen on {}", config.http.listen))?;
        lines = format!("listening http://{}\n", listener.local_addr()?);
        listeners.tcp = Some(listener);
    }
    if config.http.socket {
        let path = data.socket();
        listeners.unix = Some(socket(&path)?);
        let _ = writeln!(lines, "listening unix:{}", path.display());
    }
    if !config.gold.listen.is_empty() {
        let listener = crowded(&config.gold.listen)
            .with_context(|| format!("cannot listen on {}", config.gold.listen))?;
        let _ = writeln!(lines, "listening gold://{}", listener.local_addr()?);
        listeners.gold = Some(listener);
    }
    if !config.auditor.listen.is_empty() {
        let listener = crowded(&config.auditor.listen)
            .with_context(|| format!("cannot listen on {}", config.auditor.listen))?;
        let _ = writeln!(lines, "listening auditor http://{}", listener.local_addr()?);
        listeners.auditor = Some(listener);
    }
    if !config.auditor.tls.listen.is_empty() {
        let listener = crowded(&config.auditor.tls.listen)
            .with_context(|| format!("cannot listen on {}", config.auditor.tls.listen))?;
        let _ = writeln!(
            lines,
            "listening auditor https://{}",
            listener.local_addr()?
        );
        listeners.auditor_tls = Some(listener);
    }
    if !config.web.listen.is_empty() {
        let listener = TcpListener::bind(&config.web.listen)
            .await
            .with_context(|| format!("cannot listen on {}", config.web.listen))?;
        let _ = writeln!(lines, "listening web http://{}", listener.local_addr()?);
        listeners.web = Some(listener);
    }
    Ok((listeners, lines))
}

/// A listener with a long queue. If the queue is full, the system drops new connections, and a
/// client retries only after a second. A scheduler would block for that time.
fn crowded(listen: &str) -> io::Result<TcpListener> {
    let address: SocketAddr = listen.parse().map_err(io::Error::other)?;
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

fn say(lines: &str) {
    let mut out = io::stdout().lock();
    // Whoever started us may have stopped listening to us: that is no reason not to serve.
    let _ = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
}

/// The socket, open to everybody: it identifies its callers. The lock is held, so one that is there
/// already was left behind.
fn socket(path: &Path) -> Result<UnixListener> {
    remove_socket(path)?;
    let listener = UnixListener::bind(path).with_context(|| {
        let length = path.as_os_str().len();
        format!("cannot listen on {} ({length} bytes)", path.display())
    })?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o666))
        .with_context(|| format!("cannot open {} to everybody", path.display()))?;
    Ok(listener)
}

fn remove_socket(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Is done when the process is asked to end.
fn shutdown() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
