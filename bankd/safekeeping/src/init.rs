//! `bankd init`: a new bank in a directory, all of it or nothing.
//!
//! It makes the database with the suspense account, the settings with every default, the first rate
//! and the first key. The rate and the key are commands like any later ones, so the journal begins
//! with them.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bank_api::sign::{Secret, SigningKey};
use bank_core::amount::Precision;
use bank_core::command::{Command, SetRate};
use bank_core::model::Key;
use bank_core::rate::{Per, RateKind, RateValue};
use bank_core::time::{Timestamp, Window};
use bankd_config::data_dir::{self, DataDir};
use bankd_config::{SAMPLE, default_policy};
use bankd_ledger::access::Role;
use bankd_ledger::clock::{self, LedgerClock};
use bankd_ledger::keys;
use bankd_ledger::writer;
use bankd_records as records;
use bankd_store::SqliteStore;
use bankd_store::bank::NewBank;

use crate::command::submit;

/// The id of the first key, and its client.
const FIRST_KEY: &str = "admin";

/// Properties that are chosen once and never change.
#[derive(Clone, Debug)]
pub struct Choices {
    /// Decimal places, 0 to 6.
    pub precision: Precision,
    /// The label of the unit, 1 to 32 bytes.
    pub unit: String,
    /// A test bank: its ledger clock may be read from a file.
    pub test: bool,
}

/// Creates a bank and returns a description of it.
///
/// # Errors
/// If the directory holds a bank already, or something cannot be made; then nothing is left.
pub fn init(data: &DataDir, choices: &Choices) -> Result<String> {
    init_with(data, choices, clock::for_bank)
}

/// The same with a ledger clock that the caller makes; its argument is true for a test bank.
///
/// # Errors
/// As [`init`], or if there is no clock.
pub fn init_with(
    data: &DataDir,
    choices: &Choices,
    clock: impl FnOnce(bool) -> Result<Arc<dyn LedgerClock>, String>,
) -> Result<String> {
    check(data, choices)?;
    let mut made = Made::default();
    match make(data, choices, clock, &mut made) {
        Ok(output) => {
            made.keep();
            Ok(output)
        }
        Err(e) => {
            made.undo();
            Err(e)
        }
    }
}

fn check(data: &DataDir, choices: &Choices) -> Result<()> {
    let unit = &choices.unit;
    if !(1..=32).contains(&unit.len()) || unit.contains(char::is_control) || unit.trim() != unit {
        bail!("the unit has 1 to 32 bytes, no control characters and no blank at an end");
    }
    for path in [data.database(), data.config(), data.keys()] {
        if path.symlink_metadata().is_ok() {
            bail!("{} is there already", path.display());
        }
    }
    Ok(())
}

fn make(
    data: &DataDir,
    choices: &Choices,
    clock: impl FnOnce(bool) -> Result<Arc<dyn LedgerClock>, String>,
    made: &mut Made,
) -> Result<String> {
    let at = |path: &Path| format!("cannot make {}", path.display());
    let own = made.folder(data.path()).with_context(|| at(data.path()))?;
    let _lock = data_dir::lock(data)?;
    // Another one may have made a bank before the lock was ours.
    check(data, choices)?;
    made.files.push(data.lock());
    let clock = clock(choices.test).map_err(anyhow::Error::msg)?;
    let secrets = data.keys();
    private_folder(&secrets).with_context(|| at(&secrets))?;
    made.folders.push(secrets.clone());
    let init_uid = fs::metadata(&secrets)?.uid();
    made.files.push(data.config());
    write_new(&data.config(), SAMPLE, 0o640).with_context(|| at(&data.config()))?;

    let new = NewBank {
        uuid: uuid::Uuid::new_v4().to_string(),
        precision: choices.precision,
        unit: choices.unit.clone(),
        test: choices.test,
        init_uid,
        created_at: clock.now(),
    };
    let database = data.database();
    for suffix in ["", "-wal", "-shm"] {
        let mut name = database.clone().into_os_string();
        name.push(suffix);
        made.files.push(name.into());
    }
    let store =
        SqliteStore::create(&database, &new, default_policy()).with_context(|| at(&database))?;
    fs::set_permissions(&database, Permissions::from_mode(0o600))?;
    let secret = keys::new_secret().context("cannot make a secret")?;
    made.files.push(secrets.join(FIRST_KEY));
    keys::write_secret(&secrets, FIRST_KEY, &secret).context("cannot write the first key")?;
    first_commands(store, clock)?;
    for path in [&secrets, &data.config(), &database] {
        data.give(path)?;
    }
    if own {
        // Open to callers of the socket only when everything is there.
        fs::set_permissions(data.path(), Permissions::from_mode(0o711))?;
    }
    Ok(report(data, choices, &secret))
}

/// Steps to undo if a later one fails, the latest last.
#[derive(Debug, Default)]
struct Made {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Made {
    /// Makes the directory; true if it is ours to open: new, or empty.
    fn folder(&mut self, path: &Path) -> io::Result<bool> {
        if path.is_dir() {
            return Ok(fs::read_dir(path)?.next().is_none());
        }
        private_folder(path)?;
        self.folders.push(path.to_owned());
        Ok(true)
    }

    fn keep(&mut self) {
        self.files.clear();
        self.folders.clear();
    }

    fn undo(&mut self) {
        // Files that cannot be removed remain visible: the error that led here is the one to
        // report.
        for path in self.files.drain(..).rev() {
            let _ = fs::remove_file(path);
        }
        for path in self.folders.drain(..).rev() {
            let _ = fs::remove_dir(path);
        }
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The first rate and the first key, through the writer like everything later.
fn first_commands(store: SqliteStore, clock: Arc<dyn LedgerClock>) -> Result<()> {
    let (writer, thread) = writer::start(store, clock, records::keep, 1)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let done = runtime.block_on(async {
        for command in [first_rate(), first_key()] {
            submit(&writer, "bankd init", command).await?;
        }
        Ok(())
    });
    writer.stop();
    if thread.join().is_err() {
        bail!("the writer thread failed");
    }
    done
}

/// From 1970 on: usage from before the bank, brought in later, has a price too.
fn first_rate() -> Command {
    Command::SetRate(SetRate {
        kind: RateKind::Vbr,
        name: "Processors".to_owned(),
        instance: String::new(),
        value: RateValue(1_000_000_000),
        per: Per::Second,
        machine: None,
        from: Some(Timestamp(0)),
        until: None,
        when: None,
        description: "made by bankd init".to_owned(),
    })
}

fn first_key() -> Command {
    Command::AddKey(Key {
        id: FIRST_KEY.to_owned(),
        client: FIRST_KEY.to_owned(),
        roles: vec![Role::Admin.word().to_owned()],
        projects: Vec::new(),
        machines: Vec::new(),
        window: Window::ALWAYS,
        disabled: false,
        deleted: false,
        token: None,
    })
}

fn report(data: &DataDir, choices: &Choices, secret: &Secret) -> String {
    let folder = data.path().display();
    let serve = for_shell(&folder.to_string());
    let socket = for_shell(&format!("unix:{folder}/bankd.sock"));
    let (places, unit) = (choices.precision.places(), &choices.unit);
    let kind = if choices.test { "test bank" } else { "bank" };
    let fingerprint = SigningKey::new(secret).fingerprint();
    let mut text = String::new();
    let lines = [
        format!("created {kind} in {folder}: amounts in {unit} with {places} decimals"),
        format!("rate  VBR Processors 1 per second: price of a processor, in {unit}"),
        format!("key   {FIRST_KEY}, role admin, fingerprint {fingerprint}"),
        format!("      The secret is stored in {folder}/keys/{FIRST_KEY}. Keep it private."),
        String::new(),
        "next  adjust the rate if needed, start the daemon, add a project:".to_owned(),
        format!("      bankd serve --data {serve}"),
        format!("      export BANK_SERVER={socket}"),
        "      bank user add amy".to_owned(),
        "      bank project add chemistry --members amy".to_owned(),
        "      bank deposit chemistry 100000".to_owned(),
        "      bank balance".to_owned(),
    ];
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// A word of a command line, in quotes if it has characters that a shell interprets.
fn for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%=,".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
