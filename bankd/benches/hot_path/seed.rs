//! The bank that is measured: made once for each spread by `bankd init` and the ledger's own
//! commands, then copied for every run, so that all runs begin alike.

use crate::document::{ALLOCATIONS, MACHINE, PROJECTS, Spread, Step, document, project, user};
use crate::place::{BANKD, Place};
use anyhow::{Context, Result, bail};
use bank_core::amount::{Amount, Precision};
use bank_core::command::{Command, Deposit, Scope};
use bank_core::directory::{Bank, Directory, Policy};
use bank_core::ledger;
use bank_core::model::Key;
use bank_core::time::{Seconds, Timestamp, Window};
use bankd_http::nami::command::{self, Made, Setting};
use bankd_ledger::clock::{LedgerClock, SystemClock};
use bankd_ledger::keys;
use bankd_nami::{Event, ReadOptions, read};
use bankd_store::{SqliteStore, Stamp};
use std::path::{Path, PathBuf};
use std::process;

/// The scheduler's key.
pub(crate) const SCHEDULER: &str = "moab";

/// The key of who reads the counters, made by `bankd init`.
pub(crate) const ADMIN: &str = "admin";

/// Credits of an allocation, in minor units.
const MONEY: Amount = Amount(10_000_000_000_000);

/// Commands in one commit while the bank is filled.
const BATCH: usize = 1000;

/// Makes the bank of a spread, with its open liens; returns its data directory.
pub(crate) fn template(place: &Place, spread: Spread, open_liens: u64) -> Result<PathBuf> {
    let data = place.folder(&format!("template-{}-{open_liens}", spread.word()))?;
    make(&data, spread, open_liens)?;
    Ok(data)
}

/// The same in a folder.
pub(crate) fn make(data: &Path, spread: Spread, open_liens: u64) -> Result<()> {
    let init = process::Command::new(BANKD)
        .arg("init")
        .arg("--data")
        .arg(data)
        .output()
        .context("bankd init")?;
    if !init.status.success() {
        bail!("bankd init: {}", String::from_utf8_lossy(&init.stderr));
    }
    // Of letters and digits, so that the Gold gateway takes it too.
    let (_, secret) = keys::hmac64::new_secret()?;
    keys::write_secret(&data.join("keys"), SCHEDULER, &secret)?;
    let mut store = open(data)?;
    let now = SystemClock::default().now();
    fill(&mut store, &reference(), now)?;
    fill(&mut store, &deposits(now), now)?;
    drop(store);
    let jobs = (1..=open_liens).map(|job| Step {
        event: Event::Reserve,
        job,
    });
    execute(data, jobs, spread)
}

/// Takes these steps on a data directory that no daemon serves.
pub(crate) fn execute(
    data: &Path,
    steps: impl Iterator<Item = Step>,
    spread: Spread,
) -> Result<()> {
    let mut store = open(data)?;
    let commands = steps.map(|step| Ok(made(step, spread)?.command));
    let now = SystemClock::default().now();
    fill(&mut store, &commands.collect::<Result<Vec<_>>>()?, now)?;
    store.checkpoint()?;
    Ok(())
}

/// Opens a data directory's ledger with the default settings.
pub(crate) fn open(data: &Path) -> Result<SqliteStore> {
    Ok(SqliteStore::open(&data.join("bank.db"), Policy::default())?)
}

/// Bytes of the pages that a stopped bank's database uses.
pub(crate) fn bytes(data: &Path) -> Result<u64> {
    let connection = rusqlite::Connection::open(data.join("bank.db"))?;
    let number = |name: &str| -> Result<u64> {
        let found: i64 = connection.pragma_query_value(None, name, |row| row.get(0))?;
        Ok(u64::try_from(found)?)
    };
    let used = number("page_count")?.saturating_sub(number("freelist_count")?);
    Ok(used.saturating_mul(number("page_size")?))
}

/// A step as the command that the daemon makes of its document.
pub(crate) fn made(step: Step, spread: Spread) -> Result<Made> {
    let text = document(step, spread);
    let mut documents = read(text.as_bytes(), &ReadOptions::default())?;
    let document = documents.pop().context("no document")?;
    let bank = Bank {
        uuid: String::new(),
        precision: Precision::DEFAULT,
        unit: String::new(),
    };
    let directory = Directory::new(bank, Policy::default());
    Ok(command::of(
        document,
        step.event,
        &Setting::new(&directory),
    )?)
}

fn reference() -> Vec<Command> {
    let machine = Command::add_record("machine", MACHINE, &[]);
    let key = Command::AddKey(Key {
        id: SCHEDULER.to_owned(),
        client: SCHEDULER.to_owned(),
        roles: vec!["scheduler".to_owned()],
        projects: Vec::new(),
        machines: vec![MACHINE.to_owned()],
        window: Window::ALWAYS,
        disabled: false,
        deleted: false,
        token: None,
    });
    let of_project = |number: u64| {
        let add_user = Command::add_record("user", &user(number), &[]);
        let add_project = Command::add_record(
            "project",
            &project(number),
            &[("members", vec![user(number)].into())],
        );
        [add_user, add_project]
    };
    let mut commands = vec![machine, key];
    commands.extend((0..PROJECTS).flat_map(of_project));
    commands
}

/// Money for every account, in allocations that end one month after the other.
fn deposits(now: Timestamp) -> Vec<Command> {
    let month = 30 * 86_400;
    let mut commands = Vec::new();
    for number in 0..PROJECTS {
        let mut end = now;
        for _ in 0..ALLOCATIONS {
            end = end.plus(Seconds(month));
            commands.push(Command::Deposit(Deposit {
                name: project(number),
                amount: MONEY,
                window: Window {
                    start: None,
                    end: Some(end),
                },
                ..Deposit::default()
            }));
        }
    }
    commands
}

fn fill(store: &mut SqliteStore, commands: &[Command], now: Timestamp) -> Result<()> {
    let scope = Scope::default();
    for batch in commands.chunks(BATCH) {
        store.begin()?;
        store.stamp(Stamp {
            now,
            request_id: "seed".to_owned(),
            actor: ADMIN.to_owned(),
            client: ADMIN.to_owned(),
            origin: "cli",
            key: None,
        });
        for command in batch {
            if let Err(refusal) = ledger::execute(store, command, &scope, now, false)? {
                bail!("{}: refused: {}", command.op(), refusal.code());
            }
        }
        store.commit()?;
    }
    Ok(())
}
