//! `bankd rollup`: compares the usage totals with the usage, or rebuilds them.

use anyhow::Context;
use bank_api::exit::bank as exit;
use bank_api::text::counted;
use bank_core::directory::Policy;
use bankd_config::data_dir;
use bankd_store::{self as store, SqliteStore, rollup};
use clap::Subcommand;

use super::{Data, Failure, exists};

/// `bankd rollup`.
#[derive(Debug, Subcommand)]
pub(super) enum RollupCommands {
    /// Compare every stored day with all usage; the daemon may be running
    Verify {
        #[command(flatten)]
        data: Data,
    },
    /// Rebuild all usage totals; the daemon must be stopped
    Rebuild {
        #[command(flatten)]
        data: Data,
    },
}

/// Prints the differences or the number of rebuilt days; returns 1 if anything differs.
pub(super) fn run(command: &RollupCommands) -> Result<u8, Failure> {
    match command {
        RollupCommands::Verify { data } => verify(data),
        RollupCommands::Rebuild { data } => rebuild(data),
    }
}

fn verify(data: &Data) -> Result<u8, Failure> {
    let dir = data.dir();
    exists(&dir)?;
    let database = dir.database();
    let failed = || format!("cannot read {}", database.display());
    let connection = store::open_reader(&database).with_context(failed)?;
    let found = rollup::compare(&connection).with_context(failed)?;
    for example in &found.examples {
        say!("{example}");
    }
    if found.differing == 0 {
        say!(
            "ok: rollups of {} match the usage",
            counted(found.rows, "day")
        );
        return Ok(exit::DONE);
    }
    say!("rollups of {} differ", counted(found.differing, "day"));
    say!("hint: stop the daemon and run `bankd rollup rebuild`");
    Ok(exit::REFUSED)
}

fn rebuild(data: &Data) -> Result<u8, Failure> {
    let dir = data.dir();
    exists(&dir)?;
    let _lock = data_dir::lock(&dir)?;
    let database = dir.database();
    let failed = || format!("cannot write {}", database.display());
    let mut store = SqliteStore::open(&database, Policy::default()).with_context(failed)?;
    let rows = store.rebuild_rollups().with_context(failed)?;
    say!("created rollups of {}", counted(rows, "day"));
    Ok(exit::DONE)
}
