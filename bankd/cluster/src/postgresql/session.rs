//! One connection, and how it is made: to all hosts at once, the first one that accepts writes is used.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{fault, tables};
use crate::log::LogError;

/// The longest time for a connection, with TLS, authentication and settings.
const CONNECT: Duration = Duration::from_secs(2);

/// The settings of each connection. The server ends a statement before the client stops waiting for it, except in
/// a commit that waits for a standby: this wait goes on in the server after the client has gone, and the row becomes
/// visible when the standby has it.
const SETTINGS: &str = "SET statement_timeout = 2000; SET lock_timeout = 2000; SET default_transaction_isolation = 'read committed'; \
     SET default_transaction_read_only = off; SET idle_in_transaction_session_timeout = 10000";

/// A connection.
pub(super) struct Session {
    pub(super) client: Client,
    /// The statement of appends, once it is prepared.
    pub(super) append: Option<Statement>,
    /// Whether the format of the tables was checked.
    pub(super) checked: bool,
    warning: Arc<Mutex<Option<String>>>,
    task: AbortHandle,
}

impl Session {
    /// The last warning of the server since the previous call.
    pub(super) fn warning(&self) -> Option<String> {
        let mut last = self.warning.lock().unwrap_or_else(PoisonError::into_inner);
        last.take()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One host of the address, as a configuration of its own.
pub(super) fn hosts(config: &Config) -> Vec<(String, Config)> {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    let ports = config.get_ports();
    let count = hosts.len().max(addresses.len());
    let of = |number: usize| {
        let port = ports.get(number).or(ports.first()).copied();
        let port = port.unwrap_or(5432);
        let mut one = Config::new();
        one.port(port);
        let mut name = String::new();
        match hosts.get(number) {
            Some(Host::Tcp(host)) => {
                one.host(host);
                name = format!("{host}:{port}");
            }
            Some(Host::Unix(folder)) => {
                one.host_path(folder);
                name = format!("{}:{port}", folder.display());
            }
            None => {}
        }
        if let Some(address) = addresses.get(number) {
            one.hostaddr(*address);
            if name.is_empty() {
                name = format!("{address}:{port}");
            }
        }
        shared(config, &mut one);
        (name, one)
    };
    (0..count).map(of).collect()
}

/// What all hosts of an address have in common, and the limits of a connection.
fn shared(config: &Config, one: &mut Config) {
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(name) = config.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    one.application_name(config.get_application_name().unwrap_or("bankd"));
    one.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .channel_binding(config.get_channel_binding())
        .target_session_attrs(TargetSessionAttrs::ReadWrite)
        .connect_timeout(CONNECT)
        .keepalives(true)
        .keepalives_idle(Duration::from_secs(2))
        .keepalives_interval(Duration::from_secs(1))
        .keepalives_retries(2)
        .tcp_user_timeout(Duration::from_secs(3));
}

/// Why a host was not used.
struct Refused {
    text: String,
    /// Whether retrying can help.
    passing: bool,
}

/// Connects to all hosts at once.
///
/// # Errors
/// `Wrong` if every host rejects the user or the database, else `Away`.
pub(super) async fn connect(
    hosts: &[(String, Config)],
    tls: Option<&MakeRustlsConnect>,
) -> Result<Session, LogError> {
    let mut attempts = JoinSet::new();
    for (name, config) in hosts {
        let (name, config, tls) = (name.clone(), config.clone(), tls.cloned());
        attempts.spawn(async move {
            let refused = |(text, passing)| Refused {
                text: format!("{name}: {text}"),
                passing,
            };
            match timeout(CONNECT, one(&config, tls)).await {
                Ok(Ok(session)) => Ok(session),
                Ok(Err(error)) => Err(refused(fault::connecting(&error))),
                Err(_) => Err(refused(("no answer within 2 s".to_owned(), true))),
            }
        });
    }
    let mut all = Vec::new();
    while let Some(attempt) = attempts.join_next().await {
        match attempt {
            Ok(Ok(session)) => return Ok(session),
            Ok(Err(refused)) => all.push(refused),
            Err(error) => all.push(Refused {
                text: error.to_string(),
                passing: true,
            }),
        }
    }
    let passing = all.iter().any(|refused| refused.passing);
    let mut texts: Vec<String> = all.into_iter().map(|refused| refused.text).collect();
    texts.sort();
    let text = format!("cannot connect to the log: {}", texts.join("; "));
    Err(if passing {
        LogError::Away(text)
    } else {
        LogError::Wrong(text)
    })
}

/// Connects to one host.
async fn one(
    config: &Config,
    tls: Option<MakeRustlsConnect>,
) -> Result<Session, tokio_postgres::Error> {
    let warning = Arc::new(Mutex::new(None));
    let (client, task) = if let Some(tls) = tls {
        let mut config = config.clone();
        config.ssl_mode(SslMode::Require);
        let (client, connection) = config.connect(tls).await?;
        (client, watch(connection, Arc::clone(&warning)))
    } else {
        let (client, connection) = config.connect(NoTls).await?;
        (client, watch(connection, Arc::clone(&warning)))
    };
    let session = Session {
        client,
        append: None,
        checked: false,
        warning,
        task,
    };
    session.client.batch_execute(SETTINGS).await?;
    Ok(session)
}

/// Drives a connection, and keeps its last warning. The server sends a warning before the end of the statement
/// that it belongs to.
fn watch<S, T>(mut connection: Connection<S, T>, warning: Arc<Mutex<Option<String>>>) -> AbortHandle
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let task = async move {
        while let Some(Ok(message)) =
            std::future::poll_fn(|context| connection.poll_message(context)).await
        {
            let AsyncMessage::Notice(notice) = message else {
                continue;
            };
            if notice.parsed_severity() == Some(Severity::Warning) {
                let mut last = warning.lock().unwrap_or_else(PoisonError::into_inner);
                *last = Some(notice.message().to_owned());
            }
        }
    };
    tokio::spawn(task).abort_handle()
}

/// Checks the format of the tables.
///
/// # Errors
/// Those of the statement; the outer result is that of the check.
pub(super) async fn check(client: &Client) -> Result<Result<(), LogError>, tokio_postgres::Error> {
    let found = client.query_typed(tables::FORMAT, &[]).await?;
    let version: Option<i32> = found.first().map(|row| row.try_get(0)).transpose()?;
    Ok(match version {
        Some(tables::VERSION) => Ok(()),
        Some(other) => Err(LogError::Wrong(format!(
            "the log has format {other}; this version of bankd reads and writes format {}. Use the version of bankd \
             that made the log",
            tables::VERSION
        ))),
        None => Err(LogError::Wrong(
            "the log has no format: the table bank_log_format is empty. Create the tables with `bankd cluster init`"
                .to_owned(),
        )),
    })
}
