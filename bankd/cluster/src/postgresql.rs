//! The log in `PostgreSQL`: a single server, or a group of them under Patroni or a provider's control.
//!
//! `PostgreSQL` decides which of two entries at a position was first (the primary key of `bank_log`), and when
//! an entry is durable (a commit that returned without a warning). Ages are computed by its clock.
//! A call blocks its thread, and must not be made in an asynchronous one.

mod fault;
mod port;
mod session;
mod tables;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use self::fault::Kind;
use self::session::Session;
use crate::log::{self, Appended, Entry, Lease, Log, LogError, NodeRow};
use crate::trust;

/// The longest wait for an answer; entries with a large body have more time.
const ANSWER: Duration = Duration::from_millis(2500);

/// The bytes of a body for which a second more is given.
const SECOND: usize = 8 << 20;

/// Where the log is, and whose it is.
#[derive(Clone)]
pub struct Settings {
    /// A connection string, such as `postgres://bank@db1,db2/bank?options=-csearch_path%3Dbank`. It can name
    /// several hosts: the one that accepts writes is used.
    pub address: String,
    /// The password, if it is not in the connection string.
    pub password: Option<String>,
    /// A PEM file of CAs. With it, every connection uses TLS and the certificate of the server is verified.
    pub ca: Option<PathBuf>,
    /// The UUID of the bank.
    pub bank: String,
}

/// Without the address and the password, which are secrets.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Settings");
        shown.field("ca", &self.ca).field("bank", &self.bank);
        shown.finish_non_exhaustive()
    }
}

/// The log of a bank in `PostgreSQL`. It connects at the first call, and again after an error.
pub struct PostgresLog {
    bank: String,
    hosts: Vec<(String, Config)>,
    /// All hosts, for messages.
    server: String,
    tls: Option<MakeRustlsConnect>,
    session: Option<Session>,
    /// Whether the tables of secrets were seen.
    has_secrets: bool,
    /// None only while it is dropped.
    runtime: Option<Runtime>,
}

impl PostgresLog {
    /// Reads the settings. Nothing is sent yet.
    ///
    /// # Errors
    /// `Wrong` with the setting and what is wrong with it.
    pub fn new(settings: &Settings) -> Result<PostgresLog, LogError> {
        // The error of the parser can contain a part of the password.
        let mut config: Config = settings.address.parse().map_err(|_| {
            LogError::Wrong(
                "the address of the log is not a connection string of PostgreSQL, such as \
                 postgres://user@host1,host2/database"
                    .to_owned(),
            )
        })?;
        if let Some(password) = &settings.password {
            config.password(password);
        }
        if settings.ca.is_none() && config.get_ssl_mode() == SslMode::Require {
            let text =
                "the address of the log requires TLS (sslmode=require), but no file of CAs is set";
            return Err(LogError::Wrong(text.to_owned()));
        }
        let tls = settings.ca.as_deref().map(trust::client).transpose();
        let tls = tls.map_err(|text| LogError::Wrong(format!("the CAs of the log: {text}")))?;
        let hosts = session::hosts(&config);
        if hosts.is_empty() {
            let text = "the address of the log names no host";
            return Err(LogError::Wrong(text.to_owned()));
        }
        let names: Vec<&str> = hosts.iter().map(|(name, _)| name.as_str()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|e| LogError::Away(format!("cannot start the client of the log: {e}")))?;
        Ok(PostgresLog {
            bank: settings.bank.clone(),
            server: names.join(", "),
            hosts,
            tls: tls.map(MakeRustlsConnect::new),
            session: None,
            has_secrets: false,
            runtime: Some(runtime),
        })
    }

    /// Reads the settings, connects, and checks the tables.
    ///
    /// # Errors
    /// `Wrong` for the settings, the tables or the rights; `Away` if no server answers.
    pub fn connect(settings: &Settings) -> Result<PostgresLog, LogError> {
        let mut log = PostgresLog::new(settings)?;
        log.last()?;
        Ok(log)
    }

    /// Creates the tables that are missing, in the first schema of the search path.
    ///
    /// # Errors
    /// See [`LogError`]; it can be repeated.
    pub fn create(&mut self) -> Result<(), LogError> {
        self.call(false, Kind::Write, ANSWER, async |session, _| {
            session.client.batch_execute(tables::CREATE).await
        })?;
        self.last().map(|_| ())
    }

    /// The UUIDs of the banks in the database, whichever bank the settings name.
    ///
    /// # Errors
    /// `Wrong` for the settings, the tables or the rights; `Away` if no server answers.
    pub fn banks(&mut self) -> Result<Vec<String>, LogError> {
        let rows = self.call(true, Kind::Read, ANSWER, async |session, _| {
            session.client.query_typed(tables::BANKS, &[]).await
        })?;
        self.read_rows(&rows, |row| row.try_get(0))
    }

    /// Runs a statement within a time limit, over a connection that is made if there is none.
    fn call<T>(
        &mut self,
        checked: bool,
        kind: Kind,
        limit: Duration,
        work: impl AsyncFnOnce(&mut Session, &str) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, LogError> {
        let closed = || LogError::Away("the client of the log is closed".to_owned());
        let runtime = self.runtime.as_ref().ok_or_else(closed)?;
        if self.session.is_some() {
            // Let the connection see whether the server has closed it, before anything is sent.
            runtime.block_on(async {
                tokio::task::yield_now().await;
                tokio::task::yield_now().await;
            });
        }
        self.session.take_if(|session| session.client.is_closed());
        let session = match &mut self.session {
            Some(session) => session,
            none => {
                none.insert(runtime.block_on(session::connect(&self.hosts, self.tls.as_ref()))?)
            }
        };
        let bank = self.bank.as_str();
        let wanted = checked && !session.checked;
        let (outcome, check) = runtime.block_on(async {
            let end = Instant::now() + limit;
            if wanted {
                match timeout_at(end, session::check(&session.client)).await {
                    Ok(Ok(Ok(()))) => session.checked = true,
                    Ok(Ok(Err(wrong))) => return (Ok(Err(wrong)), true),
                    Ok(Err(error)) => return (Err(Some(error)), true),
                    Err(_) => return (Err(None), true),
                }
            }
            match timeout_at(end, work(session, bank)).await {
                Ok(Ok(value)) => (Ok(Ok(value)), false),
                Ok(Err(error)) => (Err(Some(error)), false),
                Err(_) => (Err(None), false),
            }
        });
        let kind = if check { Kind::Read } else { kind };
        let (error, usable) = match outcome {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(wrong)) => (wrong, true),
            Err(Some(error)) => fault::of(&error, kind, &self.server),
            Err(None) => {
                let text = format!("the log at {}: no answer in time", self.server);
                (kind.lost(text), false)
            }
        };
        if !usable {
            self.session = None;
        }
        Err(error)
    }

    /// Rows of a query.
    fn rows(
        &mut self,
        kind: Kind,
        limit: Duration,
        sql: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, LogError> {
        self.call(true, kind, limit, async |session, bank| {
            session.client.query_typed(sql, &with(&bank, values)).await
        })
    }

    /// The number of rows that a statement changed.
    fn change(
        &mut self,
        sql: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<u64, LogError> {
        self.call(true, Kind::Write, ANSWER, async |session, bank| {
            session
                .client
                .execute_typed(sql, &with(&bank, values))
                .await
        })
    }

    /// One number of a query.
    fn number(&mut self, sql: &str) -> Result<i64, LogError> {
        let rows = self.rows(Kind::Read, ANSWER, sql, &[])?;
        let row = rows.first();
        self.read_rows(row, |row| row.try_get(0))
            .map(|found| found.first().copied().unwrap_or_default())
    }

    /// Rows as values.
    fn read_rows<'r, T>(
        &self,
        rows: impl IntoIterator<Item = &'r Row>,
        one: impl Fn(&Row) -> Result<T, tokio_postgres::Error>,
    ) -> Result<Vec<T>, LogError> {
        let all: Result<Vec<T>, _> = rows.into_iter().map(one).collect();
        all.map_err(|error| {
            let text = fault::words(&error);
            LogError::Wrong(format!("the log at {}: a column: {text}", self.server))
        })
    }

    /// The reason why an append changed nothing.
    fn not_appended(&mut self, position: i64) -> Result<Appended, LogError> {
        let last = self.last()?;
        if position <= last {
            return Ok(Appended::Taken);
        }
        if position > last + 1 {
            return Err(log::gap(position, last));
        }
        let text = format!("entry {last} of the log changed while entry {position} was appended");
        Err(LogError::Away(text))
    }
}

impl Drop for PostgresLog {
    fn drop(&mut self) {
        self.session = None;
        // A search for the address of a host can take long, and cannot be stopped.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The bank and the other parameters.
fn with<'v>(
    bank: &'v &str,
    values: &[(&'v (dyn ToSql + Sync), Type)],
) -> Vec<(&'v (dyn ToSql + Sync), Type)> {
    let mut all: Vec<(&'v (dyn ToSql + Sync), Type)> = vec![(bank, Type::TEXT)];
    all.extend(values.iter().cloned());
    all
}

/// The limit of a statement that carries this many bytes.
fn limit(bytes: usize) -> Duration {
    let seconds = u64::try_from(bytes / SECOND).unwrap_or(u64::MAX);
    ANSWER.saturating_add(Duration::from_secs(seconds.min(60)))
}

fn entry(row: &Row) -> Result<Entry, tokio_postgres::Error> {
    let batch: Vec<u8> = row.try_get(2)?;
    Ok(Entry {
        position: row.try_get(0)?,
        epoch: row.try_get(1)?,
        // The table accepts 16 bytes only.
        batch: batch.try_into().unwrap_or_default(),
        body: row.try_get(3)?,
        hash_before: row.try_get(4)?,
        hash_after: row.try_get(5)?,
        at_us: row.try_get(6)?,
    })
}

fn lease(row: &Row) -> Result<Lease, tokio_postgres::Error> {
    Ok(Lease {
        epoch: row.try_get(0)?,
        node: row.try_get(1)?,
        address: row.try_get(2)?,
        durable: row.try_get(3)?,
        age_ms: row.try_get(4)?,
    })
}

fn node(row: &Row) -> Result<NodeRow, tokio_postgres::Error> {
    Ok(NodeRow {
        node: row.try_get(0)?,
        address: row.try_get(1)?,
        applied: row.try_get(2)?,
        version: row.try_get(3)?,
        age_ms: row.try_get(4)?,
    })
}

/// Sends an append. `Ok(Some(_))` is a warning of the server.
async fn send(
    session: &mut Session,
    bank: &str,
    entry: &Entry,
) -> Result<(u64, Option<String>), tokio_postgres::Error> {
    let statement = match &session.append {
        Some(statement) => statement.clone(),
        None => prepare(&session.client).await.inspect(|statement| {
            session.append = Some(statement.clone());
        })?,
    };
    let _ = session.warning();
    let batch = entry.batch.as_slice();
    let values: [&(dyn ToSql + Sync); 8] = [
        &bank,
        &entry.position,
        &entry.epoch,
        &batch,
        &entry.body,
        &entry.hash_before,
        &entry.hash_after,
        &entry.at_us,
    ];
    let count = session.client.execute(&statement, &values).await?;
    Ok((count, session.warning()))
}

async fn prepare(client: &Client) -> Result<tokio_postgres::Statement, tokio_postgres::Error> {
    client.prepare(tables::APPEND).await
}
