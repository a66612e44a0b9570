//! A bank in this process: the daemon's own routes over a store in memory-backed files, and a clock that
//! the test sets. What a life sees is what a client of the socket sees.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bank_core::amount::Precision;
use bank_core::time::{MICROS, TEN_YEARS_S, Timestamp};
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_http::inside::Inside;
use bankd_ledger::clock::{LedgerClock, SetClock};
use bankd_records::Drain;
use bankd_services::{Services, start};
use bankd_store::bank::NewBank;
use bankd_store::{SqliteStore, open_reader};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// 2026-01-12T00:00:00Z, where every life begins.
pub(super) const T0: i64 = 1_768_176_000;
/// The caller: who made the bank.
const UID: u32 = 0;

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) text: String,
}

impl Answer {
    /// The body as JSON; null where it is none.
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    pub(super) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A bank with its daemon, without listeners.
pub(super) struct House {
    services: Arc<Services>,
    inside: Inside,
    drain: Option<Drain>,
    clock: Arc<SetClock>,
    /// What the test reads the journal with.
    pub(super) journal: Connection,
    folder: TempDir,
    keys: u64,
    places: u8,
    runtime: Runtime,
}

impl House {
    /// A new bank with so many decimal places.
    pub(super) fn new(places: u8) -> House {
        let folder = tempfile::Builder::new();
        let folder = { folder }.prefix("life-").tempdir_in(place()).unwrap();
        let data = DataDir::new(folder.path());
        std::fs::copy(template(places), data.database()).unwrap();
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(data.keys())
            .unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let clock = Arc::new(SetClock::new(Timestamp(T0 * MICROS)));
        let (services, drain) = runtime.block_on(async {
            let given: Arc<dyn LedgerClock> = Arc::<SetClock>::clone(&clock);
            start::start_with(&data, &settings(), |_| Ok(given)).unwrap()
        });
        House {
            inside: Inside::new(&services, UID),
            journal: open_reader(&data.database()).unwrap(),
            services,
            drain: Some(drain),
            clock,
            folder,
            keys: 0,
            places,
            runtime,
        }
    }

    /// Decimal places of amounts.
    pub(super) fn places(&self) -> u32 {
        self.places.into()
    }

    /// The present, in seconds since 1970.
    pub(super) fn now(&self) -> i64 {
        self.clock.now().0.div_euclid(MICROS)
    }

    pub(super) fn pass(&self, seconds: i64) {
        let now = self.clock.now().0;
        self.clock.set(Timestamp(now + seconds * MICROS));
    }

    /// Reads.
    pub(super) fn get(&self, target: &str) -> Answer {
        self.send("GET", target, &[], Vec::new())
    }

    /// Sends JSON.
    pub(super) fn write(&mut self, method: &str, target: &str, body: &Value) -> Answer {
        let kind = ("Content-Type", "application/json");
        self.keyed(method, target, &[kind], body.to_string().into_bytes())
    }

    /// Sends bytes with a key of its own.
    pub(super) fn keyed(
        &mut self,
        method: &str,
        target: &str,
        fields: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Answer {
        self.keys += 1;
        let key = format!("life-{}", self.keys);
        let all = [&[("Idempotency-Key", key.as_str())], fields].concat();
        self.send(method, target, &all, body)
    }

    fn send(&self, method: &str, target: &str, fields: &[(&str, &str)], body: Vec<u8>) -> Answer {
        let sent = self.inside.send(method, target, fields, body);
        let (status, body) = self.runtime.block_on(sent).unwrap();
        Answer {
            status,
            text: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    /// The database.
    pub(super) fn database(&self) -> PathBuf {
        DataDir::new(self.folder.path()).database()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let (drain, services) = (self.drain.take(), Arc::clone(&self.services));
        // The threads end with what they were given; a panic of theirs was seen by the life already.
        if let Some(drain) = drain {
            drain.stop();
        }
        services.writer.stop();
    }
}

/// Where the files are: in memory where that is possible, for nothing here depends on a disk.
fn place() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() && tempfile::tempfile_in(memory).is_ok() {
        return memory.to_owned();
    }
    std::env::temp_dir()
}

/// No record files, and a clock that is followed however far it goes.
fn settings() -> Config {
    let mut config = Config::default();
    config.file.path.clear();
    config.ggf.path.clear();
    config.ledger.max_jump_s = TEN_YEARS_S;
    config.ledger.max_downtime_s = TEN_YEARS_S;
    config.limits.rate = 0;
    config.export.site = "SITE".to_owned();
    config.export.benchmark = "HEPscore23".to_owned();
    config.export.benchmark_value = "1".to_owned();
    config.export.assume_full_cpu = true;
    config.export.billing_currency = "EUR".to_owned();
    config.export.credit_price = "1".to_owned();
    config
}

/// The file of a bank in which nothing is, made once for each number of places.
fn template(places: u8) -> PathBuf {
    static MADE: OnceLock<(TempDir, [PathBuf; 2])> = OnceLock::new();
    let (_, files) = MADE.get_or_init(|| {
        let folder = tempfile::tempdir_in(place()).unwrap();
        let file = |places: u8| {
            let path = folder.path().join(format!("bank-{places}.db"));
            let new = NewBank {
                uuid: "11111111-2222-4333-8444-555555555555".to_owned(),
                precision: Precision::new(places).unwrap(),
                unit: "credits".to_owned(),
                test: true,
                init_uid: UID,
                created_at: Timestamp((T0 - 1) * MICROS),
            };
            let policy = settings().policy();
            let mut store = SqliteStore::create(&path, &new, policy).unwrap();
            store.checkpoint().unwrap();
            path
        };
        let files = [file(0), file(3)];
        (folder, files)
    });
    files[usize::from(places > 0)].clone()
}

/// RFC 3339.
pub(super) fn time(seconds: i64) -> String {
    bank_api::text::format_rfc3339(seconds * 1_000_000)
}

/// The first instant of the month of a time.
pub(super) fn month(seconds: i64) -> String {
    let text = time(seconds);
    format!("{}-01T00:00:00Z", &text[..7])
}
