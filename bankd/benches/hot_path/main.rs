//! `cargo bench --bench hot_path`: how fast the hot path is, against what its parts and its floor
//! allow (decisions.md 35). The last line of the output is one JSON object.
//!
//! | figure | what is measured |
//! |---|---|
//! | `plain` | axum's empty `POST` |
//! | `h` | the daemon's HTTP path: signature, nonce, document, signed answer; no ledger |
//! | `l` | the product's ledger in-process, 64 commands in a commit |
//! | `c` | a plain ledger loop of the bench's own, 64 commands in a commit |
//! | `e` | the daemon, end to end, durable, 64 connections |
//! | `e_single` | the same with one command in a commit |
//! | `half` | the time of a command while 64 connections ask at half of the rate of `e` |
//! | `batch` | the same commands, 500 in each request to `/api/v1/batch` |
//! | `pg` | reserve and charge as bare functions in `PostgreSQL`, by `pgbench` (needs `BANK_SHARED`) |
//! | `size` | how much the database grows for a job of `e` |
//! | `gold` | a reserve over the Gold gateway, against one over the scheduler's route, a connection each |
//! | `cluster` | `e` with the log of a cluster in `PostgreSQL` on the same machine, and how long two followers take to contain what the writer has, at 1,000 commands/s |
//! | `reads` | balances read at one node of a cluster, and at three nodes together |
//! | `pages` | `e` beside 50 open pages, each of which is loaded again every 30 s, against `e` without them |
//! | `long` | `e` on a bank whose journal has `journal=100000000` rows, against `e` on one without them (only if `only` names it: it takes 25 GB) |
//! | `liens` | a reserve on an account with 10,000 open liens, against one with 10 |
//!
//! Whatever serves runs on core 0 and whatever asks on core 1, each in a process of its own. Every
//! round measures everything once; the figures are medians over the rounds. Options after `--`:
//! `rounds=3 seconds=3 commands=40000 only=plain,h,l,c,e,half,batch,size,single,hot,liens,disk,script,gold,pages,pg,cluster,reads`.

mod cluster;
mod daemon;
mod disk;
mod document;
mod figure;
mod gold;
mod load;
mod load_run;
mod long_journal;
mod open_liens;
mod open_pages;
mod place;
mod plain_ledger;
mod postgresql;
mod product_ledger;
mod report;
mod rounds;
mod script;
mod seed;
mod visitor;

use anyhow::{Context, Result, bail};
use document::Spread;
use place::Options;
use std::path::Path;
use std::time::Duration;

/// The daemon's allocator, so that the ledger in-process allocates as it does there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.peek().is_some_and(|first| first == "part") {
        let name = arguments.nth(1).context("which part")?;
        return part(&name, &Options::parse(arguments));
    }
    rounds::run(&Options::parse(arguments))
}

/// What this process does for another one of the bench.
fn part(name: &str, options: &Options) -> Result<()> {
    let limit = || Ok::<_, anyhow::Error>(Duration::from_secs(options.number("seconds", 3)?));
    let spread = Spread::parse(options.text("spread").unwrap_or("many"));
    let batch = options.number("batch", 64)?;
    match name {
        "plain" => daemon::serve_plain(),
        "load" => load::run(options),
        "script" => script::run(options),
        "gold" => gold::run(options),
        "seed" => seed::make(Path::new(options.text("folder")?), spread, document::OPEN),
        "disk" => {
            let p50 = disk::fdatasync_p50(Path::new(options.text("folder")?))?;
            println!("p50_ns={p50}");
            Ok(())
        }
        "liens" => {
            let folders = [options.text("few")?, options.text("many")?].map(Path::new);
            let [few, many] = open_liens::run(folders, limit()?)?;
            println!(
                "few={} few_ns={} many={} many_ns={}",
                few.reserves,
                few.time.as_nanos(),
                many.reserves,
                many.time.as_nanos()
            );
            Ok(())
        }
        "ledger" | "floor" => {
            let folder = Path::new(options.text("folder")?);
            let (done, taken) = if name == "ledger" {
                let most = options.number("commands", u64::MAX)?;
                product_ledger::run(folder, spread, batch, (limit()?, most))?
            } else {
                plain_ledger::run(folder, spread, batch, limit()?)?
            };
            println!("commands={done} nanos={}", taken.as_nanos());
            Ok(())
        }
        _ => bail!("no such part: {name}"),
    }
}
