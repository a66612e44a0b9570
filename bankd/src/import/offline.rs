//! Import into a bank without a running daemon, in chunks of 5,000 jobs, each one transaction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use bank_api::exit::bank as exit;
use bank_core::command::Scope;
use bankd_config::Config;
use bankd_config::data_dir::{self, DataDir};
use bankd_ingest::{Extra, Summary, screen};
use bankd_intake::{Feed, Intake};
use bankd_ledger::access::People;
use bankd_ledger::clock;
use bankd_ledger::writer::{self, Caller, Origin, Writer};
use bankd_records as records;
use bankd_safekeeping::backup;
use bankd_store::{SqliteStore, background};

use super::Failure;

/// Jobs in one transaction of an offline import (decision 0088).
const CHUNK_OFFLINE: usize = 5_000;

/// Target of the records.
#[derive(Debug, clap::Args)]
pub(super) struct Target {
    /// Data folder of the bank to import into; its daemon must be stopped
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Collector of the records [default: FORMAT:MACHINE, or FORMAT without a machine]
    #[arg(
        long,
        value_name = "NAME",
        requires = "data",
        conflicts_with = "dry_run"
    )]
    pub(super) source: Option<String>,
    /// Machine of the records [default: each record's cluster, else the only machine]
    #[arg(
        short,
        long,
        value_name = "NAME",
        requires = "data",
        conflicts_with = "dry_run"
    )]
    pub(super) machine: Option<String>,
    /// Jobs in one transaction, 1 to 50000
    #[arg(long, value_name = "N", requires = "data", conflicts_with = "dry_run", hide_short_help = true,
        value_parser = clap::value_parser!(u16).range(1..=50_000))]
    pub(super) chunk: Option<u16>,
    /// Do not keep the original lines
    #[arg(long, requires = "data", conflicts_with = "dry_run")]
    pub(super) no_raw: bool,
}

/// A bank that is open only for this import.
pub(super) struct Bank {
    intake: Intake,
    source: String,
    writer: Writer,
    thread: JoinHandle<()>,
    _lock: File,
}

/// Results of the import.
pub(super) struct Done {
    pub(super) summary: Summary,
    pub(super) source: String,
    pub(super) outcomes: BTreeMap<String, u64>,
    pub(super) quarantined: u64,
    pub(super) unknown_machines: BTreeSet<String>,
}

impl Done {
    /// The results as text.
    pub(super) fn summary(&self) -> String {
        let became = (&self.outcomes, self.quarantined);
        screen::taken(&self.source, became, &self.unknown_machines, false)
    }
}

impl Bank {
    /// Opens the bank in a folder, holding its lock.
    pub(super) fn open(target: &Target, format: &str, folder: &Path) -> Result<Bank, Failure> {
        let data = DataDir::new(folder);
        let shown = folder.display();
        if !data.database().exists() {
            let why = format!("no bank in {shown}: `bankd init --data {shown}` makes one");
            let code = exit::NOT_FOUND;
            return Err(Failure { why, code });
        }
        let config = Config::load(&data.config()).map_err(Failure::usage)?;
        let lock = data_dir::lock(&data).map_err(|error| {
            refused(format!(
                "{error:#}: import through it with `bank import`, or stop it first"
            ))
        })?;
        let failed = |error: &dyn std::fmt::Display| refused(format!("{shown}: {error}"));
        backup::before_migration(&data, &config.backup)
            .map_err(|e| refused(format!("{shown}: {e:#}")))?;
        let mut store =
            SqliteStore::open(&data.database(), config.policy()).map_err(|e| failed(&e))?;
        if let Some(finding) = store.broken_journal().map_err(|e| failed(&e))? {
            return Err(refused(format!(
                "{shown}: {finding}. `bankd verify --data {shown}` lists all findings"
            )));
        }
        store.prepare_for_bulk().map_err(|e| failed(&e))?;
        let bank = store.bank().map_err(|e| failed(&e))?;
        let clock = clock::for_bank(bank.test).map_err(|e| failed(&e))?;
        let started = writer::start(store, clock, records::keep, 1).map_err(|e| failed(&e))?;
        let (writer, thread) = started;
        // The import waits for the writer nearly always, and seldom for the reader.
        background::give_way();
        let source = target
            .source
            .clone()
            .unwrap_or_else(|| match &target.machine {
                Some(machine) => format!("{format}:{machine}"),
                None => format.to_owned(),
            });
        let uid = std::fs::metadata("/proc/self").map_or(bank.init_uid, |of| of.uid());
        let person = People::new(bank.init_uid, config.access.clone()).find(uid);
        let feed = Feed {
            source: source.clone(),
            format: format.to_owned(),
            machine: target.machine.clone(),
            caller: Caller {
                client: format!("offline:{}", person.name),
                actor: person.name,
                origin: Origin::Cli,
                scope: Scope::default(),
            },
            request_id: clock::request_id(),
            dry_run: false,
            keep_raw: !target.no_raw,
        };
        let chunk = target.chunk.map_or(CHUNK_OFFLINE, usize::from);
        let mut intake = Intake::new(writer.clone(), feed, chunk);
        intake.has_bank_alone();
        Ok(Bank {
            intake,
            source,
            writer,
            thread,
            _lock: lock,
        })
    }

    pub(super) fn intake(&mut self) -> &mut Intake {
        &mut self.intake
    }

    /// Closes the bank. Imported records remain; pending ones are dropped.
    pub(super) fn abandon(self) {
        drop(self.intake);
        self.writer.stop();
        // The error of a failed writer has been reported already.
        let _ = self.thread.join();
    }

    /// Imports the pending records, and closes the bank.
    pub(super) fn close(self, extra: Vec<Extra>) -> std::io::Result<Done> {
        let unknown_machines = self.intake.unknown_machines();
        let taken = self.intake.close(extra);
        self.writer.stop();
        let ended = self.thread.join();
        let (summary, outcomes, quarantined) = taken?;
        if ended.is_err() {
            return Err(std::io::Error::other("the writer thread failed"));
        }
        let source = self.source;
        Ok(Done {
            summary,
            source,
            outcomes,
            quarantined,
            unknown_machines,
        })
    }
}

fn refused(why: String) -> Failure {
    let code = exit::REFUSED;
    Failure { why, code }
}
