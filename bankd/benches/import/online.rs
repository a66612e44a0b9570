//! `cargo bench --bench import -- online FILE`: reserves of a scheduler while nothing else happens, and
//! while `bank import sacct FILE` runs through the same daemon (limits.md 7: the 99th percentile at most 5
//! times the idle one). The last line of the output is one JSON object.
//!
//! | figure | what is measured |
//! |---|---|
//! | `idle_*` | signed `POST /nami/v1/reserve`, one under way on each connection, ms |
//! | `busy_*` | the same while the import runs |
//! | `p99_ratio` | `busy_p99_ms` over `idle_p99_ms` |
//! | `records_s` | records of the import a second, with the reserves beside it |
//! | `alone_records_s` | the same without reserves |
//! | `bank_mib`, `bankd_mib` | the most memory of either (`VmHWM`) |
//!
//! The daemon runs on core 0, `bank` and the reserves on core 1. Its machine is in `track`, the scheduler's in
//! `strict`; 10,000 liens are open. Options behind FILE: `rounds=3 seconds=5 connections=1,16 pace_us=2000
//! bank=PATH`; `pace_us` is what a connection waits between two reserves.

#[path = "../hot_path/document.rs"]
#[allow(dead_code, reason = "what the hot path's bench needs beside this")]
pub(crate) mod document;
#[path = "../hot_path/figure.rs"]
#[allow(dead_code, reason = "what the hot path's bench needs beside this")]
pub(crate) mod figure;
#[path = "../hot_path/load.rs"]
#[allow(dead_code, reason = "what the hot path's bench needs beside this")]
pub(crate) mod load;
#[path = "../hot_path/place.rs"]
#[allow(dead_code, reason = "what the hot path's bench needs beside this")]
pub(crate) mod place;
#[path = "../hot_path/seed.rs"]
#[allow(dead_code, reason = "what the hot path's bench needs beside this")]
pub(crate) mod seed;
#[path = "../auditor/wire.rs"]
#[allow(dead_code, reason = "what AUDITOR's bench needs beside this")]
mod wire;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bank_api::sign::SigningKey;
use bankd_ledger::clock::Stopwatch;
use bankd_ledger::keys;
use bankd_nami::Event;

use document::{OPEN, Spread, Step, document};
use figure::{Figure, median, percentile};
use place::{BANKD, LOAD_CORE, Options, Place, SERVER_CORE, on_core, run_part};
use wire::Connection;

/// What is measured, in the order in which it is told; each behind `connections` where it has any.
const SHOWN: [(&str, &str); 6] = [
    ("idle_p50_ms", "a reserve alone, median, ms"),
    ("idle_p99_ms", "  99th percentile"),
    ("busy_p50_ms", "a reserve during the import, median, ms"),
    ("busy_p99_ms", "  99th percentile"),
    ("busy_max_ms", "  the longest"),
    ("records_s", "  the import beside it, records/s"),
];

/// The most that `p99_ratio` may be.
const GATE: u64 = 5;

/// Whether the command line asks for this bench, or for a part of it, which then has run.
pub(crate) fn requested() -> Result<bool> {
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    match arguments.next().as_deref() {
        Some("part") => reserves(&Options::parse(arguments))?,
        Some("online") => {
            let file = arguments.next().context("online FILE")?;
            let file = PathBuf::from(file).canonicalize().context("the file")?;
            run(&file, &Options::parse(arguments))?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn run(file: &Path, options: &Options) -> Result<()> {
    let beside = Path::new(BANKD).with_file_name("bank");
    let bank = options.text("bank").map_or(beside, PathBuf::from);
    ensure!(
        bank.is_file(),
        "{} is not there: cargo build --release -p bank-cli",
        bank.display()
    );
    let place = Place::new()?;
    eprintln!("filling the bank …");
    let bench = Bench {
        template: seed::template(&place, Spread::Many, OPEN)?,
        place,
        bank,
        file,
        options,
    };
    let connections = options.text("connections").unwrap_or("1,16").to_owned();
    let connections: Vec<&str> = connections.split(',').collect();
    let mut figures = Figures::default();
    for round in 1..=options.number("rounds", 3)?.max(1) {
        eprintln!("round {round} …");
        for connections in &connections {
            bench.beside(connections, &mut figures)?;
        }
        bench.alone(&mut figures)?;
    }
    figures.print(&connections);
    Ok(())
}

/// Part `reserves`. Options: `port data from connections pace_us seconds until`: until a file is there, and for
/// so many seconds at most. Reports the times of requests.
fn reserves(options: &Options) -> Result<()> {
    let port = u16::try_from(options.number("port", 0)?)?;
    let folder = Path::new(options.text("data")?).join("keys");
    let key = Arc::new(SigningKey::new(&keys::read_secret(
        &folder,
        seed::SCHEDULER,
    )?));
    let next = Arc::new(AtomicU64::new(options.number("from", 0)?));
    let pace = Duration::from_micros(options.number("pace_us", 2000)?);
    let limit = Duration::from_secs(options.number("seconds", 5)?);
    let until = PathBuf::from(options.text("until")?);
    let since = Stopwatch::start();
    let mut workers = Vec::new();
    for _ in 0..options.number("connections", 1)? {
        let mut connection = Connection::open(port)?;
        let (key, next, until) = (Arc::clone(&key), Arc::clone(&next), until.clone());
        workers.push(thread::spawn(move || {
            let (mut times, mut answer) = (Vec::new(), Vec::new());
            while since.elapsed() < limit && !until.exists() {
                let step = Step {
                    event: Event::Reserve,
                    job: next.fetch_add(1, Ordering::Relaxed),
                };
                let text = document(step, Spread::Many);
                let request = load::signed(&key, "/nami/v1/reserve", "application/xml", &text)?;
                let own = Stopwatch::start();
                connection.ask(request.as_bytes(), &mut answer)?;
                times.push(u64::try_from(own.elapsed().as_nanos())?);
                thread::park_timeout(pace);
            }
            Ok::<_, anyhow::Error>(times)
        }));
    }
    let mut times = Vec::new();
    for worker in workers {
        let Ok(own) = worker.join() else {
            bail!("a connection's thread panicked")
        };
        times.extend(own?);
    }
    times.sort_unstable();
    println!(
        "reserves={} p50_ns={} p99_ns={} max_ns={}",
        times.len(),
        percentile(&times, 50),
        percentile(&times, 99),
        times.last().copied().unwrap_or(0)
    );
    Ok(())
}

struct Bench<'a> {
    place: Place,
    template: PathBuf,
    bank: PathBuf,
    file: &'a Path,
    options: &'a Options,
}

impl Bench<'_> {
    /// Reserves alone, then beside an import, on the same daemon.
    fn beside(&self, connections: &str, figures: &mut Figures) -> Result<()> {
        let (server, data) = self.served()?;
        let done = data.join("import-is-over");
        let load = |from: u64, seconds: u64| {
            let options = [
                ("port", server.port.to_string()),
                ("data", data.display().to_string()),
                ("from", from.to_string()),
                ("connections", connections.to_owned()),
                ("pace_us", self.options.number("pace_us", 2000)?.to_string()),
                ("seconds", seconds.to_string()),
                ("until", done.display().to_string()),
            ];
            run_part(LOAD_CORE, "reserves", &options)
        };
        let seconds = self.options.number("seconds", 5)?;
        load(20_000, 1)?;
        let idle = load(1_000_000, seconds)?;
        let mut add = |key: &str, figure| figures.add(&format!("{key}_{connections}"), figure);
        for (key, found) in [("idle_p50_ms", "p50_ns"), ("idle_p99_ms", "p99_ns")] {
            add(key, Figure::ms(idle.number(found)?));
        }
        // The import tells the reserves when it is over.
        let (busy, import) = thread::scope(|scope| {
            let import = scope.spawn(|| {
                let ran = self.import(&data);
                File::create(&done)?;
                ran
            });
            let busy = load(2_000_000, 3600);
            (busy, import.join())
        });
        let Ok(import) = import else {
            bail!("the import's thread panicked")
        };
        let (busy, import) = (busy?, import?);
        for (key, found) in [
            ("busy_p50_ms", "p50_ns"),
            ("busy_p99_ms", "p99_ns"),
            ("busy_max_ms", "max_ns"),
        ] {
            add(key, Figure::ms(busy.number(found)?));
        }
        add("records_s", import.rate()?);
        figures.add("bank_mib", mib(import.peak_kib));
        figures.add("bankd_mib", mib(server.peak_kib()?));
        server.stop()
    }

    /// The import with nothing beside it.
    fn alone(&self, figures: &mut Figures) -> Result<()> {
        let (server, data) = self.served()?;
        figures.add("alone_records_s", self.import(&data)?.rate()?);
        server.stop()
    }

    /// A fresh bank with the machine of the file, and its daemon.
    fn served(&self) -> Result<(Server, PathBuf)> {
        let data = self.place.copy_of(&self.template, "online")?;
        let server = Server::start(&data)?;
        let machine = self.machine()?;
        let added = self
            .bank(&data)
            .args(["machine", "add", &machine, "--mode", "track"])
            .output()?;
        ensure!(added.status.success(), "machine: {added:?}");
        Ok((server, data))
    }

    fn bank(&self, data: &Path) -> Command {
        let mut command = on_core(LOAD_CORE, &self.bank);
        let socket = data.join("bankd.sock").display().to_string();
        command.env("BANK_SERVER", format!("unix:{socket}"));
        command.stdin(Stdio::null());
        command
    }

    /// The cluster of the first line.
    fn machine(&self) -> Result<String> {
        let mut line = String::new();
        BufReader::new(File::open(self.file)?).read_line(&mut line)?;
        let name = line.split('|').nth(2).context("no cluster in the file")?;
        Ok(name.to_owned())
    }

    fn import(&self, data: &Path) -> Result<Import> {
        let since = Stopwatch::start();
        let mut child = self
            .bank(data)
            .args(["import", "sacct", "--source", "slurm:online", "--json"])
            .arg(self.file)
            .stdout(File::create(data.join("import.json"))?)
            .stderr(File::create(data.join("import.log"))?)
            .spawn()?;
        let mut most = 0;
        let status = loop {
            // Gone once it has ended: what it needed until now is what is told.
            most = peak_kib(child.id()).unwrap_or(0).max(most);
            if let Some(status) = child.try_wait()? {
                break status;
            }
            thread::park_timeout(Duration::from_millis(20));
        };
        let took = since.elapsed();
        let report = fs::read_to_string(data.join("import.json"))?;
        let log = fs::read_to_string(data.join("import.log"))?;
        ensure!(status.success(), "the import: {status}: {log}");
        let summary: serde_json::Value = serde_json::from_str(&report).context("its summary")?;
        let records = summary.get("records").and_then(serde_json::Value::as_u64);
        Ok(Import {
            records: records.with_context(|| format!("no records: {report}"))?,
            took,
            peak_kib: most,
        })
    }
}

/// What an import came to.
struct Import {
    records: u64,
    took: Duration,
    peak_kib: u64,
}

impl Import {
    fn rate(&self) -> Result<Figure> {
        ensure!(self.records > 0, "nothing was read");
        Ok(Figure::per_second(self.records, self.took))
    }
}

/// `bankd serve`; ended when it is dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(data: &Path) -> Result<Self> {
        let mut child = on_core(SERVER_CORE, Path::new(BANKD))
            .arg("serve")
            .arg("--data")
            .arg(data)
            .env("BANKD_HTTP_LISTEN", "127.0.0.1:0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(data.join("bankd.log"))?)
            .spawn()
            .context("a server: is `taskset` there?")?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("no output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line.trim().rsplit(':').next().map(str::parse);
        let server = Self {
            child,
            port: port.and_then(Result::ok).unwrap_or(0),
        };
        if server.port == 0 {
            let log = fs::read_to_string(data.join("bankd.log")).unwrap_or_default();
            bail!("the server said {line:?} and {log}");
        }
        Ok(server)
    }

    fn peak_kib(&self) -> Result<u64> {
        peak_kib(self.child.id()).context("no VmHWM")
    }

    fn stop(mut self) -> Result<()> {
        let id = self.child.id().to_string();
        Command::new("kill").arg(id).status()?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The most memory that a process had; `taskset` becomes the program that it starts.
fn peak_kib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

fn mib(kib: u64) -> Figure {
    Figure::whole(kib).over(Figure::whole(1024))
}

/// Every figure of every round.
#[derive(Default)]
struct Figures(BTreeMap<String, Vec<Figure>>);

impl Figures {
    fn add(&mut self, key: &str, figure: Figure) {
        eprintln!("  {key:<24}{figure:.3}");
        self.0.entry(key.to_owned()).or_default().push(figure);
    }

    fn line(&self, label: &str, key: &str) {
        let Some(all) = self.0.get(key) else { return };
        let least = all.iter().min().copied().unwrap_or_default();
        let greatest = all.iter().max().copied().unwrap_or_default();
        let middle = median(all.clone());
        println!("{label:<44}{middle:>12.3}  ({least:.3}..{greatest:.3})");
    }

    fn print(&self, connections: &[&str]) {
        println!("medians of the rounds (least..greatest); daemon on core 0, load on core 1");
        let mut found: BTreeMap<String, Figure> = BTreeMap::new();
        for (key, all) in &self.0 {
            found.insert(key.clone(), median(all.clone()));
        }
        for many in connections {
            println!("{many} connections");
            for (key, label) in SHOWN {
                self.line(label, &format!("{key}_{many}"));
            }
            let of = |key: &str| found.get(&format!("{key}_{many}")).copied();
            if let (Some(idle), Some(busy)) = (of("idle_p99_ms"), of("busy_p99_ms")) {
                let ratio = busy.over(idle);
                let holds = ratio <= Figure::whole(GATE);
                let verdict = if holds { "holds" } else { "MISSED" };
                println!("  p99_ratio {ratio:.3}, at most {GATE}: {verdict}");
                found.insert(format!("p99_ratio_{many}"), ratio);
            }
        }
        self.line("the import alone, records/s", "alone_records_s");
        self.line("most memory of bank, MiB", "bank_mib");
        self.line("most memory of bankd, MiB", "bankd_mib");
        let pairs = found.iter().map(|(key, is)| format!("\"{key}\": {is}"));
        println!("{{{}}}", pairs.collect::<Vec<_>>().join(", "));
    }
}
