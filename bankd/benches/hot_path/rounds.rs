//! The rounds: everything once, in turn, as often as asked for.

use crate::cluster::{self, Nodes};
use crate::daemon::Server;
use crate::document::{OPEN, Spread};
use crate::figure::{Figure, percentile};
use crate::load_run::{Load, rate, text};
use crate::open_pages::OpenPages;
use crate::place::{LOAD_CORE, Options, Place, SERVER_CORE, run_part};
use crate::report::Figures;
use crate::{long_journal, postgresql, script, seed};
use anyhow::{Result, anyhow};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Commands in a commit of the two ledgers that are measured in-process.
const BATCH: u64 = 64;

/// Open liens of an account where little happens.
const FEW: u64 = 10;

/// Connections of questions, and more of them in a second than a node answers on two processors.
const READERS: u64 = 48;
const READS_MAX: u64 = 30_000;

/// Requests on one connection, for the latency.
const SINGLE_FILE: u64 = 1500;

struct Bench<'a> {
    options: &'a Options,
    place: Place,
    many: PathBuf,
    hot: PathBuf,
    /// As `hot`, with few open liens.
    calm: PathBuf,
    scripts: PathBuf,
    commands: u64,
    seconds: u64,
}

/// Runs the bench and prints what it found.
pub(crate) fn run(options: &Options) -> Result<()> {
    let place = Place::new()?;
    let wants = |word: &str| options.lists("only", word);
    let scripts = if wants("script") {
        script::build()?
    } else {
        PathBuf::new()
    };
    eprintln!("filling the banks …");
    let many = seed::template(&place, Spread::Many, OPEN)?;
    let hot = if wants("hot") || wants("liens") {
        seed::template(&place, Spread::Hot, OPEN)?
    } else {
        PathBuf::new()
    };
    let calm = if wants("liens") {
        seed::template(&place, Spread::Hot, FEW)?
    } else {
        PathBuf::new()
    };
    let bench = Bench {
        options,
        many,
        hot,
        calm,
        scripts,
        commands: options.number("commands", 40_000)?,
        seconds: options.number("seconds", 3)?,
        place,
    };
    let mut figures = Figures::default();
    for round in 1..=options.number("rounds", 3)?.max(1) {
        eprintln!("round {round} …");
        bench.round(&mut figures)?;
    }
    figures.print();
    Ok(())
}

impl Bench<'_> {
    fn wants(&self, word: &str) -> bool {
        self.options.lists("only", word)
    }

    fn round(&self, figures: &mut Figures) -> Result<()> {
        if self.wants("disk") {
            let folder = self.place.folder("disk")?;
            let report = run_part(SERVER_CORE, "disk", &[("folder", text(&folder))])?;
            figures.add("fdatasync_p50_us", Figure::us(report.number("p50_ns")?));
        }
        if self.wants("plain") {
            figures.add("plain", self.plain()?);
        }
        if self.wants("c") {
            let folder = self.place.folder("floor")?;
            figures.add("c", self.in_process("floor", &folder)?);
        }
        if self.wants("e") {
            self.end_to_end(figures)?;
        }
        if self.wants("l") {
            let data = self.place.copy_of(&self.many, "ledger")?;
            figures.add("l", self.in_process("ledger", &data)?);
        }
        if self.wants("hot") {
            figures.add("e_hot", self.hot()?);
        }
        if self.wants("liens") {
            self.beside_liens(figures)?;
        }
        if self.wants("h") || self.wants("script") {
            self.without_ledger(figures)?;
        }
        if self.wants("single") {
            figures.add("e_single", self.one_per_commit()?);
        }
        if self.wants("gold") {
            self.gateway(figures)?;
        }
        if self.wants("pages") {
            self.beside_pages(figures)?;
        }
        if self.wants("batch") {
            figures.add("batch", self.batch()?);
        }
        if self.wants("cluster") {
            self.in_cluster(figures)?;
        }
        if self.wants("reads") {
            self.reads(figures)?;
        }
        if self.options.text("only").is_ok() && self.wants("long") {
            self.long_journal(figures)?;
        }
        if self.wants("pg") {
            postgresql::run(&self.place, self.seconds, figures)?;
        }
        Ok(())
    }

    /// The load on the writer of a cluster without followers, then evenly with two of them.
    fn in_cluster(&self, figures: &mut Figures) -> Result<()> {
        let Some(nodes) = Nodes::start(&self.place, &self.many, 0)? else {
            return Ok(());
        };
        if let [writer] = nodes.servers.as_slice() {
            let load = Load {
                count: self.commands,
                warm: 2000,
                ..Load::of(writer, &nodes.data)
            };
            figures.add("e_log", rate(&load.run()?)?);
        }
        nodes.stop()?;
        let Some(nodes) = Nodes::start(&self.place, &self.many, 2)? else {
            return Ok(());
        };
        if let [writer, .., follower] = nodes.servers.as_slice() {
            let load = Load {
                count: 1000 * self.seconds * 3,
                per_s: 1000,
                ..Load::of(writer, &nodes.data)
            };
            let ends = AtomicBool::new(false);
            let lags = std::thread::scope(|scope| {
                let lags = scope.spawn(|| cluster::lags(writer, follower, &ends));
                let report = load.run();
                ends.store(true, Ordering::Release);
                report?;
                lags.join()
                    .map_err(|_| anyhow!("the lag was not measured"))?
            })?;
            figures.add("lag_p99_ms", Figure::ms(percentile(&lags, 99)));
        }
        nodes.stop()
    }

    /// Questions to one node of a cluster, then to all three together, over as many connections. Nodes and load run where
    /// the system places them: with fewer processors than programs, the nodes share them.
    fn reads(&self, figures: &mut Figures) -> Result<()> {
        let Some(nodes) = Nodes::start(&self.place, &self.many, 2)? else {
            return Ok(());
        };
        let ask = |server: &Server, connections: u64| {
            let load = Load {
                kind: "read",
                core: cluster::ANY_CORE,
                count: READS_MAX * self.seconds,
                warm: 500,
                connections,
                limit: Duration::from_secs(self.seconds),
                ..Load::of(server, &nodes.data)
            };
            load.run().and_then(|report| rate(&report))
        };
        if let Some(one) = nodes.servers.last() {
            figures.add("reads_one", ask(one, READERS)?);
        }
        let all = u64::try_from(nodes.servers.len())?;
        let each = std::thread::scope(|scope| {
            let asked = nodes.servers.iter();
            let asked = asked.map(|server| scope.spawn(|| ask(server, READERS / all)));
            let asked: Vec<_> = asked.collect();
            let ended = asked.into_iter().map(|thread| {
                let ended = thread.join();
                ended.map_err(|_| anyhow!("a load of questions failed"))?
            });
            ended.collect::<Result<Vec<_>>>()
        })?;
        let together = each.into_iter().reduce(Figure::plus);
        figures.add("reads_three", together.unwrap_or_default());
        let processors = std::thread::available_parallelism()?;
        let processors = u64::try_from(processors.get())?;
        figures.add("processors", Figure::whole(processors));
        nodes.stop()
    }

    /// Batches, over as many connections as they have use for.
    fn batch(&self) -> Result<Figure> {
        let data = self.place.copy_of(&self.many, "batch")?;
        let server = Server::bank(&data, 256)?;
        let load = Load {
            kind: "batch",
            count: self.commands,
            warm: 2000,
            connections: 2,
            ..Load::of(&server, &data)
        };
        let report = load.run()?;
        server.stop()?;
        rate(&report)
    }

    /// The load without and with open pages, on one server.
    fn beside_pages(&self, figures: &mut Figures) -> Result<()> {
        let data = self.place.copy_of(&self.many, "pages")?;
        let server = Server::pages(&data)?;
        let load = |from: u64, count: u64| Load {
            from,
            count,
            ..Load::of(&server, &data)
        };
        load(0, 2000).run()?;
        let alone = load(2000, self.commands).run()?;
        figures.add("e_alone", rate(&alone)?);
        let open = OpenPages::start(server.beside)?;
        let beside = load(2000 + self.commands, self.commands).run()?;
        open.stop()?;
        figures.add("e_pages", rate(&beside)?);
        server.stop()
    }

    /// The load on a bank as it is made, and on one with a long journal.
    fn long_journal(&self, figures: &mut Figures) -> Result<()> {
        let rows = self.options.number("journal", 100_000_000)?;
        for (key, rows) in [("e_short", 0), ("e_long", rows)] {
            let data = self.place.copy_of(&self.many, "long")?;
            if rows > 0 {
                long_journal::lengthen(&data, rows)?;
            }
            let server = Server::bank(&data, 256)?;
            let load = |from: u64, count: u64| Load {
                from,
                count,
                ..Load::of(&server, &data)
            };
            load(0, 2000).run()?;
            if rows > 0 {
                long_journal::wait_for_survey(&data)?;
            }
            figures.add(key, rate(&load(2000, self.commands).run()?)?);
            server.stop()?;
        }
        Ok(())
    }

    /// Reserves over both ways that a scheduler may take, in turn.
    fn gateway(&self, figures: &mut Figures) -> Result<()> {
        let data = self.place.copy_of(&self.many, "gold")?;
        let server = Server::gateway(&data)?;
        let options = [
            ("port", server.port.to_string()),
            ("gold", server.beside.to_string()),
            ("data", text(&data)),
            ("count", SINGLE_FILE.to_string()),
        ];
        let report = run_part(LOAD_CORE, "gold", &options)?;
        for (key, found) in [
            ("nami_p50_ms", "nami_p50_ns"),
            ("nami_p99_ms", "nami_p99_ns"),
            ("gold_p50_ms", "gold_p50_ns"),
            ("gold_p99_ms", "gold_p99_ns"),
        ] {
            figures.add(key, Figure::ms(report.number(found)?));
        }
        server.stop()
    }

    fn plain(&self) -> Result<Figure> {
        let server = Server::plain()?;
        let load = Load {
            kind: "plain",
            count: self.commands * 4,
            ..Load::of(&server, Path::new(""))
        };
        let report = load.run()?;
        server.stop()?;
        rate(&report)
    }

    fn in_process(&self, part: &str, folder: &Path) -> Result<Figure> {
        let options = [
            ("folder", text(folder)),
            ("batch", BATCH.to_string()),
            ("seconds", self.seconds.to_string()),
        ];
        rate(&run_part(SERVER_CORE, part, &options)?)
    }

    /// A reserve beside few open liens, and beside many.
    fn beside_liens(&self, figures: &mut Figures) -> Result<()> {
        let few = self.place.copy_of(&self.calm, "few")?;
        let many = self.place.copy_of(&self.hot, "crowd")?;
        let options = [
            ("few", text(&few)),
            ("many", text(&many)),
            ("seconds", self.seconds.to_string()),
        ];
        let report = run_part(SERVER_CORE, "liens", &options)?;
        for (key, count, time) in [
            ("reserve_few", "few", "few_ns"),
            ("reserve_many", "many", "many_ns"),
        ] {
            let time = Duration::from_nanos(report.number(time)?);
            figures.add(key, Figure::per_second(report.number(count)?, time));
        }
        Ok(())
    }

    /// Many connections, then one.
    fn end_to_end(&self, figures: &mut Figures) -> Result<()> {
        let data = self.place.copy_of(&self.many, "many")?;
        let before_all = seed::bytes(&data)?;
        let server = Server::bank(&data, 256)?;
        // Before the counters are read: what warms up is not measured.
        let warm = Load {
            count: 2000,
            ..Load::of(&server, &data)
        };
        warm.run()?;
        let before = server.counted()?;
        let load = Load {
            count: self.commands,
            from: 2000,
            ..Load::of(&server, &data)
        };
        let report = load.run()?;
        let after = server.counted()?;
        let rate = rate(&report)?;
        figures.add("e", rate);
        let commits = Figure::whole(after.commits - before.commits);
        let commands = Figure::whole(after.commands - before.commands);
        figures.add("commits_per_command", commits.over(commands));
        let mut from = 2000 + self.commands;
        let single = Load {
            count: SINGLE_FILE,
            warm: 100,
            from,
            connections: 1,
            ..Load::of(&server, &data)
        };
        let report = single.run()?;
        from += SINGLE_FILE;
        figures.add("p50_ms", Figure::ms(report.number("p50_ns")?));
        figures.add("p99_ms", Figure::ms(report.number("p99_ns")?));
        if self.wants("half") {
            let half = Load {
                count: self.commands,
                warm: 2000,
                from,
                per_s: rate.floor() / 2,
                ..Load::of(&server, &data)
            };
            let report = half.run()?;
            from += self.commands;
            figures.add("half_p99_ms", Figure::ms(report.number("p99_ns")?));
        }
        server.stop()?;
        if self.wants("size") {
            let grown = seed::bytes(&data)?.saturating_sub(before_all);
            let mib = Figure::whole((grown * 1_000_000) >> 20);
            figures.add("mib_per_million_jobs", mib.over(Figure::whole(from / 2)));
        }
        Ok(())
    }

    fn hot(&self) -> Result<Figure> {
        let data = self.place.copy_of(&self.hot, "hot")?;
        let server = Server::bank(&data, 256)?;
        let load = Load {
            count: self.commands,
            warm: 2000,
            spread: Spread::Hot,
            ..Load::of(&server, &data)
        };
        let report = load.run()?;
        server.stop()?;
        rate(&report)
    }

    fn one_per_commit(&self) -> Result<Figure> {
        let data = self.place.copy_of(&self.many, "single")?;
        let server = Server::bank(&data, 1)?;
        let load = Load {
            count: self.commands / 2,
            warm: 500,
            limit: Duration::from_secs(self.seconds),
            ..Load::of(&server, &data)
        };
        let report = load.run()?;
        server.stop()?;
        rate(&report)
    }

    /// What never reaches the ledger's writer: documents without a duration, and plain quotes.
    fn without_ledger(&self, figures: &mut Figures) -> Result<()> {
        let data = self.place.copy_of(&self.many, "quiet")?;
        let server = Server::bank(&data, 256)?;
        if self.wants("h") {
            let load = Load {
                kind: "unusable",
                count: self.commands * 2,
                warm: 2000,
                ..Load::of(&server, &data)
            };
            figures.add("h", rate(&load.run()?)?);
        }
        if self.wants("script") {
            let folder = self.place.folder("script")?;
            let options = [
                ("scripts", text(&self.scripts)),
                ("port", server.port.to_string()),
                ("data", text(&data)),
                ("folder", text(&folder)),
            ];
            let report = run_part(LOAD_CORE, "script", &options)?;
            figures.add("script_ms", Figure::ms(report.number("script_ns")?));
            figures.add("true_ms", Figure::ms(report.number("true_ns")?));
        }
        server.stop()
    }
}
