//! `cargo bench --bench past`: how long it takes to say how a bank of ten million entries in a year stood
//! at a moment (decision note 0057). The last line of the output is one JSON object.
//!
//! | figure | what is measured |
//! |---|---|
//! | `one` | the balance of one account at a moment, over random accounts and moments |
//! | `hot` | the same of an account with one allocation that has a fifth of all entries |
//! | `known` | the same as it was known then |
//! | `whole` | the balances of all accounts at a moment |
//! | `survey` | reading the journal for its waypoints, on a connection of its own: µs an entry |
//! | `mark` | the writer writing a waypoint down: µs an entry of its stretch |
//!
//! Options: `entries=10000000`, `accounts=1000`, `ones=400`, `wholes=15`, `seed=7`, `keep=FOLDER` (the bank
//! is made there, or taken from there). The asked for: `one` and `hot` below 50 ms, `whole` below 1 s, each
//! the greatest of all.

mod check;
mod generate;

use anyhow::{Context, Result, ensure};
use bank_core::directory::Policy;
use bank_core::ids::AccountId;
use bank_core::time::Timestamp;
use bankd_store::read::past::{self, AsOf};
use bankd_store::{Spacing, SqliteStore, Surveyor, open_reader};
use generate::{Dice, Plan, YEAR_US};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A moment is asked for so many times; the quickest counts, for others are at work on the machine.
const TRIES: usize = 3;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let text = |name: &str| {
        let own = arguments.iter().find_map(|a| a.strip_prefix(name));
        own.and_then(|rest| rest.strip_prefix('='))
    };
    let number = |name: &str, default: u64| -> Result<u64> {
        text(name).map_or(Ok(default), |text| text.parse().context("a number"))
    };
    let plan = Plan {
        entries: number("entries", 10_000_000)?,
        accounts: number("accounts", 1000)?,
        seed: number("seed", 7)?,
    };
    let (ones, wholes) = (number("ones", 400)?, number("wholes", 15)?);
    let folder = tempfile::tempdir()?;
    let path = text("keep").map_or_else(|| folder.path().to_owned(), PathBuf::from);
    let path = path.join("bank.db");
    println!(
        "seed {}: {} entries, {} accounts",
        plan.seed, plan.entries, plan.accounts
    );
    if !path.exists() {
        let began = Instant::now();
        generate::bank(&path, &plan)?;
        println!("made in {:.1} s", began.elapsed().as_secs_f64());
    }
    let (survey, mark) = survey(&path, &plan)?;
    let reader = open_reader(&path)?;
    sizes(&reader)?;
    let mut dice = Dice(plan.seed ^ 0xbe);
    let accounts: Vec<AccountId> = (2..plan.accounts.cast_signed() + 2)
        .map(AccountId)
        .collect();
    check::against_a_whole_reading(&reader, &accounts, &mut dice)?;
    let hot = [AccountId(2)];
    let mut one = Vec::new();
    let mut of_hot = Vec::new();
    let mut known = Vec::new();
    for _ in 0..ones {
        let at = moment(&mut dice);
        let any = usize::try_from(dice.below(accounts.len() as u64))?;
        let own = accounts.get(any..=any).context("an account")?;
        one.push(quickest(&reader, own, AsOf::effective(at))?);
        of_hot.push(quickest(&reader, &hot, AsOf::effective(at))?);
        known.push(quickest(&reader, &hot, AsOf::recorded(at))?);
    }
    let mut whole = Vec::new();
    for _ in 0..wholes {
        whole.push(quickest(
            &reader,
            &accounts,
            AsOf::effective(moment(&mut dice)),
        )?);
    }
    let all = [
        ("one", one),
        ("hot", of_hot),
        ("known", known),
        ("whole", whole),
    ];
    report(&plan, &all, survey, mark)
}

/// Any moment of the year.
fn moment(dice: &mut Dice) -> Timestamp {
    let within = dice.below(YEAR_US.cast_unsigned()).cast_signed();
    Timestamp(generate::BEGIN_US + within)
}

fn quickest(reader: &Connection, accounts: &[AccountId], as_of: AsOf) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        let began = Instant::now();
        let figures = past::figures(reader, accounts, as_of)?;
        best = best.min(began.elapsed());
        ensure!(figures.len() == accounts.len(), "figures are missing");
    }
    Ok(best)
}

/// Marks the whole journal; gives µs an entry for looking and for writing.
fn survey(path: &Path, plan: &Plan) -> Result<(f64, f64)> {
    let mut store = SqliteStore::open(path, Policy::default())?;
    let reader = open_reader(path)?;
    let mut surveyor = Surveyor::new(&reader, Spacing::default())?;
    let (mut looked, mut marked, mut done) = (Duration::ZERO, Duration::ZERO, 0_u64);
    loop {
        let began = Instant::now();
        let Some(waypoint) = surveyor.next(&reader)? else {
            break;
        };
        looked += began.elapsed();
        // As the writer does it: in a transaction of many, whose commit is not its own.
        store.begin()?;
        let began = Instant::now();
        store.place_waypoint(&waypoint)?;
        marked += began.elapsed();
        store.commit()?;
        done += 1;
    }
    store.checkpoint()?;
    println!(
        "{done} waypoints: {:.1} s to read, {:.2} s to write",
        looked.as_secs_f64(),
        marked.as_secs_f64()
    );
    let entries = u32::try_from(plan.entries)?;
    let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(entries);
    Ok((each(looked), each(marked)))
}

fn sizes(reader: &Connection) -> Result<()> {
    for table in ["entry", "tx", "waypoint", "waypoint_sum", "waypoint_late"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: i64 = reader.query_row(&sql, [], |r| r.get(0))?;
        println!("{table}: {rows} rows");
    }
    Ok(())
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn report(plan: &Plan, all: &[(&str, Vec<Duration>)], survey: f64, mark: f64) -> Result<()> {
    let mut line = serde_json::Map::new();
    line.insert("entries".to_owned(), plan.entries.into());
    line.insert("accounts".to_owned(), plan.accounts.into());
    println!("survey {survey:.3} µs an entry, mark {mark:.3} µs an entry");
    line.insert("survey_us".to_owned(), survey.into());
    line.insert("mark_us".to_owned(), mark.into());
    let mut holds = true;
    for (name, times) in all {
        let mut times = times.clone();
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).or(times.last());
        let median = ms(*at(50).context("a figure")?);
        let p99 = ms(*at(99).context("a figure")?);
        let most = ms(*times.last().context("a figure")?);
        let limit = if *name == "whole" { 1000.0 } else { 50.0 };
        holds = holds && most < limit;
        let verdict = if most < limit { "holds" } else { "missed" };
        println!(
            "{name}: median {median} ms, p99 {p99} ms, greatest {most} ms of {}: below {limit} ms {verdict}",
            times.len()
        );
        let figures = serde_json::json!({ "median_ms": median, "p99_ms": p99, "max_ms": most });
        line.insert((*name).to_owned(), figures);
    }
    line.insert("holds".to_owned(), holds.into());
    println!("{}", serde_json::Value::Object(line));
    Ok(())
}
