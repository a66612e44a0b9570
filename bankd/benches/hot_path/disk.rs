//! The floor under every durable answer: one block written and flushed, over and over.

use crate::figure::percentile;
use anyhow::Result;
use bankd_ledger::clock::Stopwatch;
use std::fs::{self, OpenOptions};
use std::io::{Seek, Write};
use std::path::Path;

/// Bytes of a block.
const BLOCK: usize = 4096;

/// Blocks written.
const BLOCKS: usize = 1000;

/// The median time in nanoseconds of writing a block over an old one and flushing it with
/// `fdatasync`, in a file of the folder given.
pub(crate) fn fdatasync_p50(folder: &Path) -> Result<u64> {
    let path = folder.join("fdatasync.dat");
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .open(&path)?;
    file.write_all(&vec![1; BLOCK.saturating_mul(BLOCKS)])?;
    file.sync_all()?;
    file.rewind()?;
    let block = [7_u8; BLOCK];
    let mut times = Vec::with_capacity(BLOCKS);
    for _ in 0..BLOCKS {
        let watch = Stopwatch::start();
        file.write_all(&block)?;
        file.sync_data()?;
        times.push(u64::try_from(watch.elapsed().as_nanos())?);
    }
    times.sort_unstable();
    fs::remove_file(&path)?;
    Ok(percentile(&times, 50))
}
