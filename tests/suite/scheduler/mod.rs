//! What an operator of the scheduler's side has: the spool and its quarantine, the replay of
//! captured documents, the check of a configuration, and quotes for a portal.

mod moab;
mod names;
mod offers;
mod replay;
mod spool;
mod stray;
mod stuck;

use std::path::PathBuf;

use crate::harness::Bank;

/// The settings of this bank's scripts, as a file for `--conf`.
fn conf(bank: &Bank, more: &str) -> PathBuf {
    let path = bank.folder().join("nami.conf");
    let text = format!(
        "server=unix:{}\nmachine=colony\nspool_dir={}\n{more}",
        bank.socket().display(),
        bank.spool().display()
    );
    std::fs::write(&path, text).unwrap();
    path
}
