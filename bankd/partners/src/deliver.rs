//! Delivery of messages: a thread for each partner, which sends in order what the journal has for it until the
//! partner confirms. Repeats have no effect there, so a message is delivered once whatever fails in between.
//!
//! Questions that no reserve named within a minute are released at the partner.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bank_api::v1::{PartnerCharged, PartnerPosition, PartnerReleased};
use bank_core::kind::Record;
use bank_core::time::Seconds;
use bankd_ledger::hooks;
use bankd_ledger::writer::Writer;
use bankd_store as store;
use bankd_store::partner::{self, PartnerChange, PartnerRow};
use rusqlite::Connection;

use super::Partners;
use super::client::{Client, Fault};

/// How often messages are looked for.
const POLL: Duration = Duration::from_millis(500);
/// The longest wait after failures.
const PAUSE_MAX: Duration = Duration::from_mins(1);
/// How often a partner is asked how far it is: one that was restored from a backup lost messages.
const COMPARE: Duration = Duration::from_secs(20);
/// What an operator does about messages that this bank lost.
const RESTORED: &str = "this bank was restored from a backup; see docs/how-to/partners.md";
/// After this time, nobody waits for the answer to a question any more.
const FORGOTTEN: Seconds = Seconds(60);

/// The running threads.
#[derive(Debug)]
pub struct Deliveries {
    stop: Arc<Stop>,
    manager: JoinHandle<()>,
}

impl Deliveries {
    /// Ends the threads after the attempts under way. The writer must still run.
    pub fn stop(self) {
        self.stop.set();
        let _ = self.manager.join();
    }
}

/// What the threads wait for.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The threads are to end.
    is_set: bool,
    /// How often somebody waited for a delivery.
    rings: u64,
}

impl Stop {
    fn set(&self) {
        self.state().is_set = true;
        self.changed.notify_all();
    }

    /// Begins the next deliveries at once.
    pub(crate) fn ring(&self) {
        let mut state = self.state();
        state.rings = state.rings.wrapping_add(1);
        drop(state);
        self.changed.notify_all();
    }

    fn rings(&self) -> u64 {
        self.state().rings
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, at most until the next ring after this number of them; true if the threads are to end.
    fn wait(&self, time: Duration, rings: u64) -> bool {
        let is_quiet = |state: &mut State| !state.is_set && state.rings == rings;
        let waited = self
            .changed
            .wait_timeout_while(self.state(), time, is_quiet);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_set
    }
}

/// Starts the threads; a partner that is added later gets one too.
///
/// # Errors
/// If the system has no thread to give.
pub fn start(partners: &Partners, database: &Path, writer: &Writer) -> std::io::Result<Deliveries> {
    let stop = Arc::new(Stop::default());
    *partners.threads() = Arc::clone(&stop);
    let mut manager = Manager {
        partners: partners.clone(),
        database: database.to_owned(),
        writer: writer.clone(),
        stop: Arc::clone(&stop),
        threads: HashMap::new(),
    };
    let name = std::thread::Builder::new().name("partners".to_owned());
    let manager = name.spawn(move || manager.run())?;
    Ok(Deliveries { stop, manager })
}

struct Manager {
    partners: Partners,
    database: PathBuf,
    writer: Writer,
    stop: Arc<Stop>,
    threads: HashMap<String, JoinHandle<()>>,
}

impl Manager {
    fn run(&mut self) {
        loop {
            self.threads.retain(|_, thread| !thread.is_finished());
            let directory = self.writer.directory();
            for record in directory.records.all("partner") {
                if !record.value("url").is_none() && !self.threads.contains_key(record.name()) {
                    self.begin(record.name());
                }
            }
            if self.stop.wait(POLL, self.stop.rings()) {
                break;
            }
        }
        for (_, thread) in self.threads.drain() {
            let _ = thread.join();
        }
    }

    fn begin(&mut self, name: &str) {
        let connection = match store::open_reader(&self.database) {
            Ok(connection) => connection,
            Err(error) => {
                tracing::error!(partner = name, %error, "messages wait: no reader");
                return;
            }
        };
        let mut courier = Courier {
            name: name.to_owned(),
            partners: self.partners.clone(),
            connection,
            writer: self.writer.clone(),
            stop: Arc::clone(&self.stop),
            failures: 0,
            compared: None,
            received: 0,
        };
        let thread = std::thread::Builder::new().name(format!("partner {name}"));
        match thread.spawn(move || courier.run()) {
            Ok(thread) => {
                self.threads.insert(name.to_owned(), thread);
            }
            Err(error) => tracing::error!(partner = name, %error, "messages wait: no thread"),
        }
    }
}

/// The thread of one partner.
struct Courier {
    name: String,
    partners: Partners,
    connection: Connection,
    writer: Writer,
    stop: Arc<Stop>,
    /// Failures since something went well.
    failures: u32,
    /// When the partner was asked how far it is; none if it may be elsewhere.
    compared: Option<Instant>,
    /// The number of the last message that the partner had then.
    received: i64,
}

impl Courier {
    fn run(&mut self) {
        loop {
            let directory = self.writer.directory();
            let record = directory.records.named("partner", &self.name).cloned();
            let Some(record) = record.filter(|own| !own.value("url").is_none()) else {
                return;
            };
            let signs = Some(self.partners.signs(&self.name));
            let rings = self.stop.rings();
            let result = self.round(&record);
            let fault = result.as_ref().err().map(|error| format!("{error:#}"));
            // Another failure does not go away because the partner runs.
            let fault_of = |error: &anyhow::Error| error.downcast_ref::<Fault>().cloned();
            let is_away = matches!(
                result.as_ref().err().and_then(fault_of),
                Some(Fault::Away(_))
            );
            let signs = signs.filter(|_| is_away);
            self.partners.keep_fault(&self.name, fault.clone());
            let wait = match fault {
                None => {
                    self.failures = 0;
                    POLL
                }
                Some(error) => {
                    self.failures = self.failures.saturating_add(1);
                    self.compared = None;
                    let partner = &self.name;
                    tracing::warn!(%partner, failures = self.failures, "messages wait: {error}");
                    self.pause()
                }
            };
            if self.wait(wait, (signs, rings), &record) {
                return;
            }
        }
    }

    /// Waits, at most until the partner shows that it runs, its record changes, or somebody waits for a delivery. True if
    /// the thread is to end.
    fn wait(
        &mut self,
        time: Duration,
        (signs, rings): (Option<u64>, u64),
        record: &Record,
    ) -> bool {
        let began = Instant::now();
        loop {
            let left = time.saturating_sub(began.elapsed());
            if self.stop.wait(left.min(POLL), rings) {
                return true;
            }
            if self.stop.rings() != rings {
                return false;
            }
            let directory = self.writer.directory();
            let is_same = directory.records.named("partner", &self.name) == Some(record);
            let lives = signs.is_some_and(|before| self.partners.signs(&self.name) != before);
            if !is_same || lives {
                self.failures = 0;
                return false;
            }
            if began.elapsed() >= time {
                return false;
            }
        }
    }

    /// Delay after a number of failures: it doubles each time up to a limit.
    fn pause(&self) -> Duration {
        let doublings = self.failures.saturating_sub(1).min(10);
        POLL.saturating_mul(1 << doublings).min(PAUSE_MAX)
    }

    /// Sends everything that waits.
    fn round(&mut self, record: &Record) -> anyhow::Result<()> {
        if !self.writer.is_writing() {
            return Ok(());
        }
        let before = self.writer.ledger_now().minus(FORGOTTEN).0;
        let forgotten = partner::questions(&self.connection, &self.name, before)?;
        let waiting = partner::waiting(&self.connection, &self.name)?;
        if forgotten.is_empty() && waiting.is_none() && self.is_in_step() {
            return Ok(());
        }
        let client = self.partners.client(record).map_err(anyhow::Error::msg)?;
        self.compare(&client)?;
        for question in forgotten {
            let key = format!("release-{}", question.id);
            let body = question.message.as_bytes();
            let released: Result<PartnerReleased, Fault> =
                client.post("/api/v1/partner/releases", body, &key);
            released?;
            self.writer
                .keep_partner(PartnerChange::Settled(question.id))?;
        }
        while let Some(row) = partner::waiting(&self.connection, &self.name)? {
            self.send(&client, &row)?;
            if self.stop.state().is_set {
                return Ok(());
            }
        }
        Ok(())
    }

    fn is_in_step(&self) -> bool {
        self.compared.is_some_and(|at| at.elapsed() < COMPARE)
    }

    /// Asks the partner how far it is, from time to time. One that was restored from a backup gets what it lost.
    fn compare(&mut self, client: &Client) -> anyhow::Result<()> {
        if self.is_in_step() {
            return Ok(());
        }
        let position: PartnerPosition = client
            .get("/api/v1/partner/position")
            .map_err(anyhow::Error::from)?;
        let last = partner::last(&self.connection, &self.name, true)?;
        anyhow::ensure!(
            position.received <= last,
            "{} has message {}, and the last one here is {last}: {RESTORED}",
            self.name,
            position.received
        );
        if partner::confirmed(&self.connection, &self.name)? > position.received {
            let rewound = PartnerChange::Rewound(self.name.clone(), position.received);
            let again = self.writer.keep_partner(rewound)?;
            let partner = &self.name;
            tracing::warn!(%partner, again, "the partner was restored: messages are sent again");
        }
        self.received = position.received;
        self.compared = Some(Instant::now());
        Ok(())
    }

    fn send(&self, client: &Client, row: &PartnerRow) -> anyhow::Result<()> {
        let key = format!("message-{}", row.number);
        let body = row.message.as_bytes();
        let answer: Result<PartnerCharged, Fault> =
            client.post("/api/v1/partner/charges", body, &key);
        hooks::point("message_sent");
        let charged = answer.map_err(|fault| {
            let is_out = matches!(&fault, Fault::Refused(p) if p.code == "partner_out_of_step");
            // The partner has another message of this number.
            let hint = if is_out && row.number <= self.received {
                format!(": {RESTORED}")
            } else {
                String::new()
            };
            anyhow::Error::from(fault).context(format!("message {}{hint}", row.number))
        })?;
        anyhow::ensure!(
            charged.number == row.number,
            "message {}: the answer is about {}",
            row.number,
            charged.number
        );
        let confirmed =
            PartnerChange::Confirmed(self.name.clone(), row.number, charged.transaction);
        self.writer
            .keep_partner(confirmed)
            .context("the confirmation cannot be written")?;
        hooks::point("message_kept");
        Ok(())
    }
}
