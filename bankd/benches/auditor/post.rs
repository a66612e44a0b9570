//! Records that come in: one in a request over many connections, and thousands in a request to fill
//! a bank.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Result, bail};
use bankd_ledger::clock::Stopwatch;

use crate::figure::percentile;
use crate::place::Options;
use crate::record::json;
use crate::wire::{Connection, post};

/// Records of one request while a bank is filled.
const BULK: u64 = 5_000;

/// Part `fill`: `port count`. Stores records 0 to `count`.
pub(crate) fn fill(options: &Options) -> Result<()> {
    let port = u16::try_from(options.number("port", 0)?)?;
    let count = options.number("count", 0)?;
    let mut connection = Connection::open(port)?;
    let mut answer = Vec::new();
    let since = Stopwatch::start();
    let mut from = 0;
    while from < count {
        let to = count.min(from + BULK);
        let mut body = String::from("[");
        for number in from..to {
            if number > from {
                body.push(',');
            }
            json(number, &mut body);
        }
        body.push(']');
        connection.ask(&post("/records", &body), &mut answer)?;
        from = to;
    }
    println!("records={count} nanos={}", since.elapsed().as_nanos());
    Ok(())
}

/// Part `post`: `port from count connections`. A thread for each connection, one request under way
/// on each; requests are made before the clock starts.
pub(crate) fn run(options: &Options) -> Result<()> {
    let port = u16::try_from(options.number("port", 0)?)?;
    let from = options.number("from", 0)?;
    let count = options.number("count", 20_000)?;
    let connections = options.number("connections", 64)?;
    let requests: Vec<Vec<u8>> = (from..from + count)
        .map(|number| {
            let mut body = String::with_capacity(400);
            json(number, &mut body);
            post("/record", &body)
        })
        .collect();
    let (requests, next) = (Arc::new(requests), Arc::new(AtomicU64::new(0)));
    let mut opened = Vec::new();
    for _ in 0..connections {
        opened.push(Connection::open(port)?);
    }
    let since = Stopwatch::start();
    let workers: Vec<_> = opened
        .into_iter()
        .map(|mut connection| {
            let (requests, next) = (Arc::clone(&requests), Arc::clone(&next));
            thread::spawn(move || {
                let (mut times, mut answer) = (Vec::new(), Vec::new());
                loop {
                    let place = usize::try_from(next.fetch_add(1, Ordering::Relaxed))?;
                    let Some(request) = requests.get(place) else {
                        return Ok::<_, anyhow::Error>(times);
                    };
                    let own = Stopwatch::start();
                    connection.ask(request, &mut answer)?;
                    times.push(u64::try_from(own.elapsed().as_nanos())?);
                }
            })
        })
        .collect();
    let mut times = Vec::new();
    for worker in workers {
        match worker.join() {
            Ok(own) => times.extend(own?),
            Err(_) => bail!("a connection's thread panicked"),
        }
    }
    let taken = since.elapsed();
    times.sort_unstable();
    println!(
        "records={} nanos={} p50_ns={} p99_ns={}",
        times.len(),
        taken.as_nanos(),
        percentile(&times, 50),
        percentile(&times, 99)
    );
    Ok(())
}
