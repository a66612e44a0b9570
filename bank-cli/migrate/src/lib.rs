//! Moving in from another bank: `bank migrate`.
//!
//! Readers (`gold`, `mam`, `slurm`, `plain`) make one model of the old bank (`old`). `plan` gives names that this
//! bank accepts, and makes the request of `POST /api/v1/migrations`, the finished uses for
//! `POST /api/v1/usage`, and the text of the plan. `listed` compares with what the old bank listed. The program
//! `bank` sends the requests; the rules of the bank are in the daemon only.

mod database;
mod fault;
mod figure;
mod folder;
mod gold;
mod listed;
mod mam;
mod old;
mod plain;
mod plan;
mod slurm;
mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use bank_picture::Zone;

pub use self::{database::Database, fault::Fault, plan::Plan, slurm::Slurm};
use self::{folder::Folder, old::Old};

/// Where the old bank is.
#[derive(Debug, Clone)]
pub enum Source {
    /// A folder with Gold's tables as CSV.
    Gold(PathBuf),
    /// Gold's database.
    GoldDatabase(Database),
    /// A folder with lists of Moab Accounting Manager as CSV.
    Mam(PathBuf),
    /// Associations of Slurm.
    Slurm(Slurm),
    /// A folder with the plain set of CSV files.
    Csv(PathBuf),
}

/// What is read.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// Open reservations.
    pub reservations: bool,
    /// Finished uses.
    pub history: bool,
    /// Now, in µs since 1970.
    pub now_us: i64,
    /// The zone of times without one.
    pub zone: Zone,
}

/// What the plan depends on beside the old bank.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The name of the old bank.
    pub source: String,
    /// The time of the opening, in µs since 1970.
    pub at: i64,
    /// Now, in µs since 1970.
    pub now: i64,
    /// Decimals of amounts in this bank.
    pub precision: usize,
    /// Finished uses that ended earlier are left out.
    pub since: Option<i64>,
}

/// Reads an old bank, compares it with a file of its lists, and makes the plan.
pub fn plan(
    source: &Source,
    reading: &Reading,
    listed: Option<&std::path::Path>,
    settings: &Settings,
) -> Result<Plan, Fault> {
    let mut old = read(source, reading)?;
    if let Some(path) = listed {
        let bytes = folder::bytes(path)?;
        let name = path.display().to_string();
        old.listed.extend(listed::read(&name, &bytes)?);
    }
    if !reading.reservations {
        old.listed.retain(|own| !own.is_of_liens());
    }
    plan::make(old, settings)
}

fn read(source: &Source, reading: &Reading) -> Result<Old, Fault> {
    match source {
        Source::Gold(path) => {
            let contents = "the tables of Gold as g_account.csv and others";
            gold::folder(&Folder::open(path, contents)?, reading)
        }
        Source::GoldDatabase(database) => gold::database(database, reading),
        Source::Mam(path) => {
            let contents = "the lists funds.csv, allocations.csv, accounts.csv and users.csv";
            mam::folder(&Folder::open(path, contents)?, reading)
        }
        Source::Slurm(slurm) => slurm::read(slurm),
        Source::Csv(path) => {
            let folder = Folder::open(path, "accounts.csv and the other files")?;
            plain::folder(&folder, reading)
        }
    }
}
