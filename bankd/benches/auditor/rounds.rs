//! The rounds: everything once, in turn, as often as asked for.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::daemon::{Server, template};
use crate::figure::Figure;
use crate::place::{LOAD_CORE, Options, Place, Report, run_part};
use crate::report::Figures;

/// Commands in a commit of the daemon as it comes.
const BATCH: u64 = 256;

/// The figures of each question, with few and with many records stored.
const QUESTIONS: [(&str, [&str; 2]); 3] = [
    ("day", ["day_few_ms", "day_many_ms"]),
    ("group", ["group_few_ms", "group_many_ms"]),
    ("one", ["one_few_ms", "one_many_ms"]),
];

struct Bench<'a> {
    options: &'a Options,
    place: Place,
    empty: PathBuf,
    stored: [(u64, PathBuf); 2],
    records: u64,
}

/// Runs the bench and prints what it found.
pub(crate) fn run(options: &Options) -> Result<()> {
    let place = Place::new()?;
    let empty = template(&place, "empty")?;
    let wants = |word: &str| options.lists("only", word);
    let [few, many] = [("few", 200_000), ("many", 2_000_000)];
    let mut stored = Vec::new();
    for (name, default) in [few, many] {
        let count = if wants("ask") || wants("stream") {
            options.number(name, default)?
        } else {
            0
        };
        stored.push((count, filled(&place, name, count)?));
    }
    let Ok(stored) = <[_; 2]>::try_from(stored) else {
        anyhow::bail!("two banks");
    };
    let bench = Bench {
        options,
        place,
        empty,
        stored,
        records: options.number("records", 20_000)?,
    };
    let mut figures = Figures::default();
    for round in 1..=options.number("rounds", 3)?.max(1) {
        eprintln!("round {round} …");
        bench.round(&mut figures)?;
    }
    figures.print();
    Ok(())
}

/// A bank with so many records.
fn filled(place: &Place, name: &str, count: u64) -> Result<PathBuf> {
    let data = template(place, name)?;
    if count > 0 {
        let server = Server::start(&data, BATCH)?;
        let report = part("fill", &server, &[("count", count.to_string())])?;
        let rate = Figure::per_second(count, nanos(&report, "nanos")?);
        eprintln!("{count} records stored, 5,000 in a request: {rate:.0} a second");
        server.stop()?;
    }
    Ok(data)
}

impl Bench<'_> {
    fn round(&self, figures: &mut Figures) -> Result<()> {
        let wants = |word: &str| self.options.lists("only", word);
        if wants("post") {
            let (report, _) = self.post(BATCH, 64)?;
            figures.add("post", rate(&report)?);
            figures.add("post_p99_ms", Figure::ms(report.number("p99_ns")?));
            let (report, _) = self.post(1, 64)?;
            figures.add("post_single", rate(&report)?);
        }
        if wants("commits") {
            let (report, commits) = self.post(BATCH, 16)?;
            figures.add("post_16", rate(&report)?);
            let per = Figure::whole(commits).over(Figure::whole(report.number("records")?));
            figures.add("commits_per_record", per);
        }
        for (place, (count, data)) in self.stored.iter().enumerate() {
            if *count == 0 {
                continue;
            }
            let server = Server::start(data, BATCH)?;
            if wants("ask") {
                self.ask(&server, *count, place, figures)?;
            }
            if wants("stream") && place == 1 {
                let stored = [("stored", count.to_string())];
                let report = part("stream", &server, &stored)?;
                figures.add("stream", rate(&report)?);
                figures.add("stream_first_ms", Figure::ms(report.number("first_ns")?));
                let mib = Figure::whole(server.peak_kib()?).over(Figure::whole(1024));
                figures.add("peak_mib", mib);
            }
            server.stop()?;
        }
        Ok(())
    }

    /// Records into an empty bank, and how many commits that took.
    fn post(&self, batch: u64, connections: u64) -> Result<(Report, u64)> {
        let data = self.place.copy_of(&self.empty, "post")?;
        let server = Server::start(&data, batch)?;
        let warm = [
            ("count", "500".to_owned()),
            ("connections", "16".to_owned()),
        ];
        part("post", &server, &warm)?;
        let before = server.commits()?;
        let options = [
            ("from", "1000000".to_owned()),
            ("count", self.records.to_string()),
            ("connections", connections.to_string()),
        ];
        let report = part("post", &server, &options)?;
        let commits = server.commits()?.saturating_sub(before);
        server.stop()?;
        Ok((report, commits))
    }

    fn ask(&self, server: &Server, stored: u64, place: usize, to: &mut Figures) -> Result<()> {
        let count = self.options.number("questions", 300)?;
        for (kind, keys) in QUESTIONS {
            let options = [
                ("kind", kind.to_owned()),
                ("stored", stored.to_string()),
                ("count", count.to_string()),
            ];
            let report = part("ask", server, &options)?;
            if let Some(key) = keys.get(place) {
                to.add(key, Figure::ms(report.number("p50_ns")?));
            }
        }
        Ok(())
    }
}

fn part(name: &str, server: &Server, options: &[(&str, String)]) -> Result<Report> {
    let mut all = vec![("port", server.port.to_string())];
    all.extend(options.iter().cloned());
    run_part(LOAD_CORE, name, &all)
}

fn rate(report: &Report) -> Result<Figure> {
    let time = nanos(report, "nanos")?;
    Ok(Figure::per_second(report.number("records")?, time))
}

fn nanos(report: &Report, key: &str) -> Result<Duration> {
    Ok(Duration::from_nanos(report.number(key)?))
}
