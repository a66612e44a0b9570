//! `cargo bench --bench pages`: the time of each web page at the daemon, on a bank with many accounts and a long
//! journal. The last line of the output is one JSON object.
//!
//! | figure | what is measured |
//! |---|---|
//! | `floor` | the page of an address that does not exist: connection, session, frame, no query |
//! | each page | from the request to the last byte, a connection each, for a person who sees the whole bank |
//!
//! Options after `--`: `rows=1000000 accounts=10000 users=1000 tries=20 seed=7`, and `keep=FOLDER` (the bank is made
//! there, or taken from there). `rows` are finished jobs, each a transaction of the journal. The target: the median
//! of every page below 100 ms with 10,000 accounts and 10,000,000 rows.

mod fill;
mod server;
#[path = "../hot_path/visitor.rs"]
mod visitor;

use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fill::Plan;
use visitor::Visitor;

/// The target for the median of a page.
const TARGET: Duration = Duration::from_millis(100);

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
        rows: number("rows", 1_000_000)?,
        accounts: number("accounts", 10_000)?,
        users: number("users", 1000)?,
        seed: number("seed", 7)?,
    };
    let tries = usize::try_from(number("tries", 20)?.max(1))?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = text("keep").map_or_else(|| folder.path().join("bank"), PathBuf::from);
    println!(
        "seed {}: {} accounts, {} users, {} rows",
        plan.seed, plan.accounts, plan.users, plan.rows
    );
    if !data.join("bank.db").exists() {
        let began = Instant::now();
        fill::bank(&data, &plan)?;
        println!("made in {:.0} s", began.elapsed().as_secs_f64());
    }
    let server = server::Server::start(&data)?;
    let mut times = Vec::new();
    for (name, paths) in people() {
        let visitor = Visitor::sign_in(server.web, name)?;
        for path in paths {
            let status = visitor.open(&path)?.0;
            if path == FLOOR {
                ensure!(status == 404, "{name} {path}: {status}");
            }
            let tries = if status < 500 { tries } else { 1 };
            times.push((path.clone(), status, measured(&visitor, &path, tries)?));
        }
    }
    server.stop()?;
    report(&plan, &times)
}

/// No page has this address.
const FLOOR: &str = "/nosuch";

/// Who opens which pages: every page without a name in its path, and one of each kind with one.
fn people() -> [(&'static str, Vec<String>); 3] {
    let all = bankd_web::rows().into_iter();
    let all = all.filter(|row| row.method == "GET" && !row.path.contains('{'));
    let all = all.map(|row| row.path);
    let below = [
        "/projects/p0",
        "/projects/p0/burn-down.svg",
        "/projects/p0/members",
        "/projects/p0/statement",
        "/jobs?project=p0",
        "/jobs?period=running&from=-7d",
        "/journal?project=p0",
        "/usage?by=user&project=p0",
        "/waiting?project=p0",
    ];
    let admin = [FLOOR].into_iter().chain(all).chain(below);
    let member = ["/", "/jobs", "/my-usage"];
    let leader = ["/", "/projects/p0", "/projects/p0/burn-down.svg"];
    let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    [
        (fill::ADMIN, admin.map(str::to_owned).collect()),
        (fill::USER, owned(&member)),
        (fill::LEADER, owned(&leader)),
    ]
}

/// The times of a page, sorted.
fn measured(visitor: &Visitor, path: &str, tries: usize) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(tries);
    for _ in 0..tries {
        let began = Instant::now();
        visitor.open(path)?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// A page, its status, and its times.
type Measured = (String, u16, Vec<Duration>);

fn report(plan: &Plan, times: &[Measured]) -> Result<()> {
    let median = |all: &[Duration]| all.get(all.len() / 2).copied().context("a figure");
    let ms = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
    let floor = times.iter().find(|(path, ..)| path == FLOOR);
    let floor = median(&floor.context("the floor")?.2)?;
    let mut line = serde_json::Map::new();
    let mut holds = true;
    for (path, status, all) in times {
        let (middle, most) = (median(all)?, *all.last().context("a figure")?);
        let is_answer = *status == 200 || path == FLOOR;
        let verdict = match (is_answer, middle < TARGET) {
            (true, true) => "holds",
            (true, false) => "missed",
            (false, _) => "no answer",
        };
        holds = holds && is_answer && middle < TARGET;
        let over = middle.as_secs_f64() / floor.as_secs_f64();
        println!(
            "{path:<40} median {:>9.3} ms, greatest {:>9.3} ms, {over:>6.1} times the floor: {verdict}",
            ms(middle),
            ms(most)
        );
        line.insert(path.clone(), ms(middle).into());
    }
    line.insert("accounts".to_owned(), plan.accounts.into());
    line.insert("rows".to_owned(), plan.rows.into());
    line.insert("holds".to_owned(), holds.into());
    println!("{}", serde_json::Value::Object(line));
    Ok(())
}
