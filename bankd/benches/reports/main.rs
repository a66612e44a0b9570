//! `cargo bench --bench reports`: a year's usage by project, by user and by month, in UTC and in a zone of
//! whole hours with a change of the clock, from rollups over ten million finished uses, against the plain
//! scan of the same rows by the same file (limits.md 5 and 7). The last line of the output is one JSON object.
//!
//! | figure | what is measured |
//! |---|---|
//! | `scan` | `GROUP BY` over all rows in SQL: credited to the end of jobs, one sum of each kind |
//! | `rollup` | the report: spread over time, all thirteen figures, with the months of the year added up |
//! | `rss` | by how much the process grows at most while reports are made, in KiB |
//!
//! Options: `rows=10000000`, `projects=200`, `users=1000`, `seed=7`, `tries=3`, `keep=FOLDER` (the bank is
//! made there, or taken from there). The asked for: every report at least 50 times as fast as its scan,
//! and less than 64 MiB of growth.

use anyhow::{Context, Result, ensure};
use bank_core::amount::Precision;
use bank_core::calendar::Zone;
use bank_core::directory::Policy;
use bank_core::time::Timestamp;
use bank_core_figures::rollup::grid::{Every, Grid};
use bank_core_figures::rollup::{Measure, Sums};
use bankd_store::bank::NewBank;
use bankd_store::read::report::{Answer, Owner, ReportRequest, from_rollups};
use bankd_store::{SqliteStore, open_reader};
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// 2026-01-01T00:00:00Z.
const BEGIN_US: i64 = 1_767_225_600_000_000;
const YEAR_US: i64 = 365 * 86_400_000_000;
/// Times as fast as the scan.
const FASTER: f64 = 50.0;
/// Growth of the process in KiB.
const GROWTH_KIB: i64 = 64 * 1024;

struct Plan {
    rows: i64,
    projects: i64,
    users: i64,
    seed: i64,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let text = |name: &str| {
        let own = arguments.iter().find_map(|a| a.strip_prefix(name));
        own.and_then(|rest| rest.strip_prefix('='))
    };
    let number = |name: &str, default: i64| -> Result<i64> {
        text(name).map_or(Ok(default), |text| text.parse().context("a number"))
    };
    let plan = Plan {
        rows: number("rows", 10_000_000)?,
        projects: number("projects", 200)?,
        users: number("users", 1000)?,
        seed: number("seed", 7)?,
    };
    let tries = number("tries", 3)?;
    let folder = tempfile::tempdir()?;
    let path = text("keep").map_or_else(|| folder.path().to_owned(), PathBuf::from);
    let path = path.join("bank.db");
    println!("seed {}: {} rows", plan.seed, plan.rows);
    if !path.exists() {
        make(&path, &plan)?;
    }
    let reader = open_reader(&path)?;
    for table in ["usage_identity", "rollup_key", "rollup", "rollup_month"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: i64 = reader.query_row(&sql, [], |r| r.get(0))?;
        println!("{table}: {rows} rows");
    }
    whole(&reader)?;
    let mut line = serde_json::Map::new();
    let mut holds = true;
    let rss = resident("VmRSS")?;
    std::fs::write("/proc/self/clear_refs", "5").context("the peak is counted anew")?;
    let mut rolled = Vec::new();
    for (zone_name, zone) in zones() {
        for (name, every, by) in questions() {
            let took = quickest(tries, || report(&reader, &zone, every, by).map(|_| ()))?;
            rolled.push((zone_name, name, took));
        }
    }
    let growth = resident("VmHWM")?.saturating_sub(rss);
    for (name, sql) in SCANS {
        let scan = quickest(tries, || scanned(&reader, sql))?;
        for (zone, own, took) in rolled.iter().filter(|(_, own, _)| *own == name) {
            let times = scan.as_secs_f64() / took.as_secs_f64();
            let is_fast = times >= FASTER;
            holds = holds && is_fast;
            let verdict = if is_fast { "holds" } else { "missed" };
            println!(
                "{own} in {zone}: {:.1} ms, scan {:.0} ms, {times:.0} times: {verdict}",
                ms(*took),
                ms(scan)
            );
            let figures = serde_json::json!({
                "rollup_ms": ms(*took), "scan_ms": ms(scan), "times": times
            });
            line.insert(format!("{own}_{zone}"), figures);
        }
    }
    holds = holds && growth < GROWTH_KIB;
    println!("grew by {growth} KiB");
    line.insert("growth_kib".to_owned(), growth.into());
    line.insert("rows".to_owned(), plan.rows.into());
    line.insert("holds".to_owned(), holds.into());
    println!("{}", serde_json::Value::Object(line));
    Ok(())
}

type By = fn(&Owner<'_>) -> Vec<String>;

fn questions() -> [(&'static str, Every, By); 3] {
    [
        ("project", Every::All, |owner| {
            vec![owner.project.to_owned()]
        }),
        ("user", Every::All, |owner| vec![owner.user.to_owned()]),
        ("month", Every::Month, |_| Vec::new()),
    ]
}

/// UTC, and a zone as Europe/Berlin is in 2026.
fn zones() -> [(&'static str, Zone); 2] {
    let berlin = Zone {
        first: 3600,
        changes: vec![(1_774_746_000, 7200), (1_792_890_000, 3600)],
    };
    [("utc", Zone::default()), ("berlin", berlin)]
}

/// The same questions in SQL, by the ends of jobs.
const SCANS: [(&str, &str); 3] = [
    (
        "project",
        "SELECT project, count(*), sum(millis * wall_us / 1000), sum(wall_us), sum(amount)
         FROM usage_identity WHERE end_at >= ?1 AND end_at < ?2 GROUP BY project",
    ),
    (
        "user",
        "SELECT user, count(*), sum(millis * wall_us / 1000), sum(wall_us), sum(amount)
         FROM usage_identity WHERE end_at >= ?1 AND end_at < ?2 GROUP BY user",
    ),
    (
        "month",
        "SELECT strftime('%Y-%m', end_at / 1000000, 'unixepoch'), count(*),
             sum(millis * wall_us / 1000), sum(wall_us), sum(amount)
         FROM usage_identity WHERE end_at >= ?1 AND end_at < ?2 GROUP BY 1",
    ),
];

fn scanned(reader: &Connection, sql: &str) -> Result<()> {
    let mut statement = reader.prepare(sql)?;
    let mut rows = statement.query(params![BEGIN_US, BEGIN_US + YEAR_US])?;
    let mut groups = 0;
    while rows.next()?.is_some() {
        groups += 1;
    }
    ensure!(groups > 0, "no groups");
    Ok(())
}

fn report(reader: &Connection, zone: &Zone, every: Every, by: By) -> Result<Answer> {
    let offset = i64::from(zone.first) * 1_000_000;
    let from = Timestamp(BEGIN_US - offset);
    let until = Timestamp(BEGIN_US + YEAR_US - offset);
    let grid = Grid::new(from, until, every, zone, 1000).context("a period")?;
    let request = ReportRequest {
        grid,
        place: Box::new(move |owner, _| Some((by(owner), String::new()))),
        at_end: false,
        users: false,
        top: None,
        weighed: Measure::Core,
    };
    Ok(from_rollups(reader, &request)?)
}

/// Everything in rollups is everything in the rows.
fn whole(reader: &Connection) -> Result<()> {
    let all = Grid::new(
        Timestamp(0),
        Timestamp(BEGIN_US + 2 * YEAR_US),
        Every::All,
        &Zone::default(),
        1,
    );
    let request = ReportRequest {
        grid: all.context("a period")?,
        place: Box::new(|_, _| Some((Vec::new(), String::new()))),
        at_end: false,
        users: false,
        top: None,
        weighed: Measure::Core,
    };
    let answer = from_rollups(reader, &request)?;
    let sums: Sums = answer.rows.values().next().context("a row")?.sums;
    let sql = "SELECT sum(wall_us), sum(amount), count(*) FROM usage_identity";
    let (wall, amount, jobs): (i64, i64, i64) =
        reader.query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    let found = [Measure::Wall, Measure::Charge, Measure::Ended].map(|m| sums.get(m));
    let rows = [wall, amount, jobs].map(i128::from);
    ensure!(found == rows, "rollups come to {found:?}, rows to {rows:?}");
    Ok(())
}

fn quickest(tries: i64, mut once: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..tries.max(1) {
        let began = Instant::now();
        once()?;
        best = best.min(began.elapsed());
    }
    Ok(best)
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 1e2
}

/// A figure of this process in KiB.
fn resident(name: &str) -> Result<i64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let word = line.and_then(|rest| rest.split_whitespace().nth(1));
    word.and_then(|kib| kib.parse().ok()).context("a figure")
}

/// A bank with a year of finished uses in the order of their ends, written by SQL: jobs of up to two days,
/// mostly short, of users who each belong to one project and use one of two queues.
fn make(path: &Path, plan: &Plan) -> Result<()> {
    let new = NewBank {
        uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
        precision: Precision::DEFAULT,
        unit: "credits".to_owned(),
        test: false,
        init_uid: 0,
        created_at: Timestamp(BEGIN_US),
    };
    drop(SqliteStore::create(path, &new, Policy::default())?);
    let began = Instant::now();
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;
         PRAGMA foreign_keys = OFF; BEGIN;
         INSERT INTO source (id, name, format, machine, first_contact, last_contact)
             VALUES (1, 'sacct', 'sacct', 'colony', 0, 0);",
    )?;
    connection.execute(
        "WITH RECURSIVE
             n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1),
             -- Four numbers below 2^31 out of the place of a row.
             r(i, a, b, c, d) AS (SELECT i,
                 ((i + ?4) * 2654435761) & 2147483647, ((i + ?4) * 40503 + 12345) * 65599 & 2147483647,
                 ((i + ?4) * 69069 + 1) * 30903 & 2147483647, ((i + ?4) * 1103515245 + 7) & 2147483647
                 FROM n),
             j(i, wall, finish, who, millis, queue) AS (SELECT i,
                 CASE a % 10 WHEN 0 THEN 1 + b % 172800 WHEN 1 THEN 1 + b % 36000 ELSE 1 + b % 5400 END
                     * 1000000,
                 ?5 + 200000000000 + CAST(i AS INTEGER) * ((?6 - 200000000000) / ?1),
                 (c / 16) % ?3, (1 + d / 64 % 64) * 1000, ((c / 16) % ?3) % 2 FROM r)
         INSERT INTO usage_identity (source, object_id, start_at, end_at, machine, object_type, account,
             login, project, user, group_name, queue, qos, state, flags, millis, nodes, wall_us,
             revision, became, policy, counted, amount, digest)
         SELECT 1, 'j' || i, finish - wall, finish, 'colony', 'job', 'p' || (who % ?2), 'u' || who,
             'p' || (who % ?2), 'u' || who, 'g' || (who % ?2),
             CASE queue WHEN 0 THEN 'batch' ELSE 'long' END, 'normal', 'completed', '',
             millis, 1 + millis / 64000, wall, 0, 'charged', 'DEBITALLWC', '',
             millis * (wall / 1000000) / 3600, x'00'
         FROM j",
        params![
            plan.rows,
            plan.projects,
            plan.users,
            plan.seed,
            BEGIN_US,
            YEAR_US
        ],
    )?;
    connection.execute_batch("COMMIT; PRAGMA journal_mode = WAL;")?;
    drop(connection);
    println!("rows made in {:.1} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    let mut store = SqliteStore::open(path, Policy::default())?;
    let rows = store.rebuild_rollups()?;
    println!(
        "{rows} rollups made in {:.1} s",
        began.elapsed().as_secs_f64()
    );
    let began = Instant::now();
    let months = store.add_up_blocks(Timestamp(BEGIN_US + 2 * YEAR_US))?;
    store.checkpoint()?;
    println!(
        "{months} months added up in {:.2} s",
        began.elapsed().as_secs_f64()
    );
    Ok(())
}
