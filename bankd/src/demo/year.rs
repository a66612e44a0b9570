//! A year of a small centre, written through the routes of the API: three trees of projects on four machines.
//!
//! The clock of the bank follows the year, so that each transaction has the time at which it would have been
//! recorded. All amounts follow from a fixed seed; only the dates depend on the present.

mod client;
mod founding;
mod present;
mod quarter;
mod site;
mod work;

use std::sync::Arc;

use anyhow::Result;
use bank_core::time::{TEN_YEARS_S, Timestamp};
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_ledger::clock::{LedgerClock, SetClock};
use bankd_services::start as services;

use super::ended::Ended;
use client::Client;
use work::Work;

/// One hour and one day, µs.
const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;
/// Days of the year.
const DAYS: i64 = 365;
/// Days of an award.
const QUARTER: i64 = 91;

/// The first instant of the year that ends now.
pub(super) fn start(now: Timestamp) -> Timestamp {
    Timestamp((now.0.div_euclid(DAY) - DAYS) * DAY)
}

/// Fills a new bank whose clock is at the start of the year; false if its writer failed.
///
/// # Errors
/// If a command fails, or a signal ends the demo.
pub(super) fn fill(
    data: &DataDir,
    config: &Config,
    (start, now): (Timestamp, Timestamp),
    ended: &Ended,
) -> Result<bool> {
    let mut config = config.clone();
    config.ledger.max_jump_s = TEN_YEARS_S;
    config.ledger.max_downtime_s = TEN_YEARS_S;
    let uid = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(data.path())?);
    let clock = Arc::new(SetClock::new(start));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let ended = runtime.block_on(async {
        let own: Arc<dyn LedgerClock> = Arc::<SetClock>::clone(&clock);
        let (services, records) = services::start_with(data, &config, |_| Ok(own))?;
        let mut client = Client::new(&services, uid, clock, start);
        let filled = tokio::select! {
            filled = all(&mut client, now) => filled,
            () = ended.clone().arrived() => Err(anyhow::anyhow!("a signal ended the demo")),
        };
        drop(client);
        let ended = tokio::task::spawn_blocking(move || {
            records.stop();
            services.writer.stop();
            services.writer_thread.wait()
        });
        let ended = ended.await.unwrap_or(false);
        filled.map(|()| ended)
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    ended
}

async fn all(client: &mut Client, now: Timestamp) -> Result<()> {
    founding::all(client).await?;
    let mut work = Work::new();
    // Usage before the rates of the first day would have the price of a new bank.
    for day in 0..DAYS {
        if day % QUARTER == 0 && day / QUARTER < 4 {
            quarter::begin(client, day / QUARTER).await?;
        }
        if day > 0 {
            work.day(client, day).await?;
        }
        quarter::day(client, day, &work).await?;
    }
    client.set(now.0);
    present::all(client).await
}
