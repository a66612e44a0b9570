//! `cargo bench --bench import -- FILE`: an offline import of an sacct file against `sqlite3 .import` of the
//! same file into a table with the same indexes, in turns (limits.md 7). The last line of the output is
//! one JSON object.
//!
//! | figure | what is measured |
//! |---|---|
//! | `import` | `sqlite3`: all columns as text, WAL, `synchronous = FULL`, the two indexes of `usage_identity` |
//! | `raw` | `bankd import sacct FILE --data DIR`, mode `track`, lines kept compressed, 5,000 jobs in a transaction |
//! | `lean` | the same with `--no-raw` |
//!
//! `online FILE` measures a scheduler's reserves beside an import instead (`online.rs`).
//!
//! FILE has no header line and the columns of the layout `xdmod26`, as `gen_sacct.py` writes it. Options behind
//! it: `rounds=3`. Figures are medians over the rounds, of the wall clock and of processor time (user and
//! system), which says more on a machine that is not quiet.

mod online;

// The parts of the hot path's bench find each other there.
use online::{document, figure, place, seed};

use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Columns of the layout.
const COLUMNS: usize = 26;
/// Which of them are id, cluster, start and end, from 1.
const KEYS: [usize; 4] = [2, 3, 13, 14];
/// Jobs in one transaction of the offline import.
const CHUNK: usize = 5_000;

/// What one run took.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    wall_s: f64,
    cpu_s: f64,
    peak_kib: u64,
}

fn main() -> Result<()> {
    if online::requested()? {
        return Ok(());
    }
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let Some(file) = arguments.next() else {
        println!("skipped: give a file: cargo bench --bench import -- jobs.sacct");
        return Ok(());
    };
    let file = PathBuf::from(file).canonicalize().context("the file")?;
    let rounds = arguments.find_map(|a| a.strip_prefix("rounds=").map(str::to_owned));
    let rounds: usize = rounds.map_or(Ok(3), |text| text.parse())?;
    let lines = count_lines(&file)?;
    println!(
        "{lines} lines, {rounds} rounds; offline, {CHUNK} jobs in a transaction, 2 threads (read and sum | decide and write)"
    );
    let mut all: [Vec<Took>; 3] = Default::default();
    let [plain, raw, lean] = &mut all;
    for round in 1..=rounds {
        plain.push(sqlite(&file)?);
        raw.push(bankd(&file, &[])?);
        lean.push(bankd(&file, &["--no-raw"])?);
        println!(
            "round {round}: {:?} {:?} {:?}",
            plain.last(),
            raw.last(),
            lean.last()
        );
    }
    report(lines, &all)
}

fn count_lines(file: &Path) -> Result<usize> {
    use std::io::BufRead as _;
    let mut reader = std::io::BufReader::new(std::fs::File::open(file)?);
    let (mut line, mut count) = (Vec::new(), 0_usize);
    while reader.read_until(b'\n', &mut line)? > 0 {
        count += 1;
        line.clear();
    }
    Ok(count)
}

fn sqlite(file: &Path) -> Result<Took> {
    let folder = tempfile::tempdir()?;
    let columns: Vec<String> = (1..=COLUMNS).map(|n| format!("c{n} TEXT")).collect();
    let [id, cluster, start, end] = KEYS;
    let script = format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;\n\
         CREATE TABLE t ({});\n\
         CREATE UNIQUE INDEX t_identity ON t (c{cluster}, c{id}, c{start});\n\
         CREATE INDEX t_end ON t (c{cluster}, c{end});\n\
         .mode ascii\n.separator | \"\\n\"\n.import {} t\n",
        columns.join(", "),
        file.display()
    );
    std::fs::write(folder.path().join("script"), script)?;
    let mut command = Command::new("sqlite3");
    command.arg(folder.path().join("plain.db"));
    command.stdin(std::fs::File::open(folder.path().join("script"))?);
    timed(&command, folder.path())
}

fn bankd(file: &Path, more: &[&str]) -> Result<Took> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("bank");
    let program = env!("CARGO_BIN_EXE_bankd");
    let made = Command::new(program)
        .arg("init")
        .arg("--data")
        .arg(&data)
        .output()?;
    ensure!(made.status.success(), "init: {made:?}");
    std::fs::write(data.join("bankd.toml"), "[ledger]\nmode = \"track\"\n")?;
    let mut command = Command::new(program);
    command.args(["import", "sacct"]).arg(file);
    command
        .arg("--data")
        .arg(&data)
        .args(["--source", "slurm:big"])
        .args(more);
    timed(&command, folder.path())
}

/// Runs a program; `time` says what it used.
fn timed(command: &Command, folder: &Path) -> Result<Took> {
    let figures = folder.join("figures");
    let mut timed = Command::new("/usr/bin/time");
    timed.args(["-f", "%U %S %M", "-o"]).arg(&figures);
    timed.arg(command.get_program()).args(command.get_args());
    let script = folder.join("script");
    if script.exists() {
        timed.stdin(std::fs::File::open(script)?);
    }
    let began = Instant::now();
    let ran = timed.output().context("/usr/bin/time and the program")?;
    let wall_s = began.elapsed().as_secs_f64();
    if !ran.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    let text = std::fs::read_to_string(figures)?;
    let mut numbers = text.split_whitespace();
    let mut next = || numbers.next().context("time said too little");
    let cpu_s = next()?.parse::<f64>()? + next()?.parse::<f64>()?;
    let peak_kib = next()?.parse()?;
    Ok(Took {
        wall_s,
        cpu_s,
        peak_kib,
    })
}

fn median(runs: &[Took], of: impl Fn(&Took) -> f64) -> f64 {
    let mut all: Vec<f64> = runs.iter().map(of).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn report(lines: usize, all: &[Vec<Took>; 3]) -> Result<()> {
    let mut json = format!("{{\"lines\":{lines},\"chunk\":{CHUNK}");
    let [plain, ..] = all;
    let base = (median(plain, |t| t.wall_s), median(plain, |t| t.cpu_s));
    for (name, runs) in ["import", "raw", "lean"].iter().zip(all) {
        let (wall, cpu) = (median(runs, |t| t.wall_s), median(runs, |t| t.cpu_s));
        let peak = runs.iter().map(|t| t.peak_kib).max().unwrap_or_default();
        let (by_wall, by_cpu) = (base.0 / wall, base.1 / cpu);
        println!(
            "{name}: {wall:.2} s, {cpu:.2} s of processors, peak {} MiB; against import {by_wall:.2} by the clock, {by_cpu:.2} by processors",
            peak / 1024
        );
        write!(
            json,
            ",\"{name}\":{{\"wall_s\":{wall:.3},\"cpu_s\":{cpu:.3},\"peak_kib\":{peak},\"ratio\":{by_wall:.3}}}"
        )?;
    }
    println!("{json}}}");
    Ok(())
}
