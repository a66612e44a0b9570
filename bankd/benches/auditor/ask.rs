//! Questions: short ones by how long they take, and the one for everything by its rate.

use anyhow::{Result, bail};
use bankd_ledger::clock::Stopwatch;

use crate::figure::percentile;
use crate::place::Options;
use crate::record::{GROUPS, PER_DAY, day, group, name};
use crate::wire::{Connection, get};

/// Part `ask`: `kind port stored count`; `kind` is `day`, `group` or `one`. Each question is about
/// other records, spread over all that are stored, and its answer is looked at.
pub(crate) fn run(options: &Options) -> Result<()> {
    let port = u16::try_from(options.number("port", 0)?)?;
    let stored = options.number("stored", 0)?;
    let count = options.number("count", 300)?;
    let kind = options.text("kind")?;
    let mut connection = Connection::open(port)?;
    let (mut times, mut answer) = (Vec::new(), Vec::new());
    counted(&mut connection)?;
    for number in 0..count {
        // A step that is prime to everything here goes through all of them.
        let place = number.wrapping_mul(7_919) % (stored / PER_DAY).saturating_sub(1).max(1);
        let (target, expected) = match kind {
            "day" => (
                format!(
                    "/records?stop_time[gte]={}&stop_time[lt]={}",
                    day(place),
                    day(place + 1)
                ),
                PER_DAY,
            ),
            "group" => (
                format!(
                    "/records?meta[group_id][c][0]={}&sort_by[desc]=stop_time&limit=100",
                    group(number % GROUPS)
                ),
                100,
            ),
            "one" => (format!("/record/{}", name(place * PER_DAY)), 1),
            _ => bail!("no such question: {kind}"),
        };
        let request = get(&target);
        let own = Stopwatch::start();
        connection.ask(&request, &mut answer)?;
        times.push(u64::try_from(own.elapsed().as_nanos())?);
        let found = records_in(&answer);
        if found != expected {
            bail!("{target}: {found} records instead of {expected}");
        }
    }
    times.sort_unstable();
    println!(
        "questions={count} p50_ns={} p99_ns={}",
        percentile(&times, 50),
        percentile(&times, 99)
    );
    Ok(())
}

/// Part `stream`: `port stored`. Everything, once.
pub(crate) fn stream(options: &Options) -> Result<()> {
    let port = u16::try_from(options.number("port", 0)?)?;
    let stored = options.number("stored", 0)?;
    let mut connection = Connection::open(port)?;
    counted(&mut connection)?;
    let since = Stopwatch::start();
    let (mut found, mut first) = (0_u64, None);
    connection.take(&get("/records"), |piece| {
        first.get_or_insert_with(|| since.elapsed());
        found += lines(piece);
    })?;
    let taken = since.elapsed();
    if found != stored {
        bail!("{found} records instead of {stored}");
    }
    let first = first.unwrap_or_default().as_nanos();
    println!(
        "records={found} nanos={} first_ns={first}",
        taken.as_nanos()
    );
    Ok(())
}

/// Waits until the daemon has counted what is stored, which it does once after its start.
fn counted(connection: &mut Connection) -> Result<()> {
    connection.ask(&get("/metrics"), &mut Vec::new())
}

/// Each record of a stream ends with a line feed; one by its id has none.
fn records_in(answer: &[u8]) -> u64 {
    lines(answer).max(u64::from(answer.starts_with(b"{")))
}

fn lines(bytes: &[u8]) -> u64 {
    let ends = bytes.split(|byte| *byte == b'\n').count();
    u64::try_from(ends.saturating_sub(1)).unwrap_or(u64::MAX)
}
