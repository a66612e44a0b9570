//! Files as schedulers and logrotate leave them, followed by a clock that the test moves.

mod chance;
mod days;
mod edges;
mod places;
mod torn;
mod turns;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bankd_config::follow::names::Names;
use bankd_ingest::{Found, Options, Record, formats};

use super::open::Mark;
use super::shelf::{Shelf, Why};
use super::tracker::{Finding, Plan, Step, Taker, Tracker};

/// How long the files of these tests must be quiet.
const SETTLE_US: i64 = 30_000_000;

/// Imported records, and their position.
#[derive(Default)]
struct Taken {
    records: Vec<Record>,
    mark: Option<Mark>,
    shelf: Option<Shelf>,
    /// Takes that fail from now on.
    is_broken: bool,
}

impl Taker for Taken {
    fn take(&mut self, records: Vec<Record>, mark: &Mark, files: &Shelf) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("the disk is full"));
        }
        self.records.extend(records);
        self.mark = Some(mark.clone());
        self.shelf = Some(files.clone());
        Ok(())
    }
}

/// A follower of a file in a folder of its own.
struct Follower {
    folder: tempfile::TempDir,
    plan: Plan,
    tracker: Tracker,
    taken: Taken,
    now_us: i64,
    findings: Vec<Finding>,
    /// Seconds for file times: writes are faster than the resolution of file times.
    ticks: Cell<u64>,
}

impl Follower {
    fn new(name: &str, format: &str, options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join(name);
        let plan = Plan {
            names: Names::read(path.to_str().unwrap()).unwrap(),
            format: formats::named(format).unwrap(),
            options,
            needs_context: ["sacct", "csv", "swf"].contains(&format),
            settle_us: SETTLE_US,
            limit: 5000,
            since: None,
        };
        Self {
            tracker: Tracker::new(plan.clone(), None, None),
            plan,
            folder,
            taken: Taken::default(),
            now_us: 1_800_000_000_000_000,
            findings: Vec::new(),
            ticks: Cell::new(1_790_000_000),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn append(&self, name: &str, text: &str) {
        let path = self.path(name);
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
        self.date(name);
    }

    /// Dates a file a second later than every other one.
    fn date(&self, name: &str) {
        self.ticks.set(self.ticks.get() + 1);
        self.date_at(name, UNIX_EPOCH + Duration::from_secs(self.ticks.get()));
    }

    fn date_at(&self, name: &str, at: SystemTime) {
        let file = OpenOptions::new().append(true).open(self.path(name));
        file.unwrap().set_modified(at).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Copies all files of another folder into this one, with their times.
    fn date_all_copies(&self, from: &Path) {
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let file = entry.file_name();
            let file = file.to_str().unwrap();
            fs::copy(entry.path(), self.path(file)).unwrap();
            self.date_at(file, entry.metadata().unwrap().modified().unwrap());
        }
    }

    fn pack(&self, name: &str, to: &str) {
        let bytes = fs::read(self.path(name)).unwrap();
        let at = fs::metadata(self.path(name)).unwrap().modified().unwrap();
        let file = File::create(self.path(to)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(&bytes).unwrap();
        packed.finish().unwrap();
        self.date_at(to, at);
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Looks until there is nothing more to do at this time.
    fn look(&mut self) -> io::Result<Step> {
        for _ in 0..1000 {
            let step = self.tracker.look(self.now_us, &mut self.taken);
            self.findings.extend(self.tracker.findings());
            match step? {
                Step::More => {}
                step => return Ok(step),
            }
        }
        panic!("it never comes to rest");
    }

    /// Looks, waits long enough without writes, and looks again.
    fn settle(&mut self) {
        self.look().unwrap();
        self.now_us += SETTLE_US;
        self.look().unwrap();
        // The file that is next has a time of its own.
        self.now_us += SETTLE_US;
        self.look().unwrap();
    }

    /// The daemon ends and restarts: only stored state remains.
    fn restart(&mut self) {
        let Taken { mark, shelf, .. } = &self.taken;
        self.tracker = Tracker::new(self.plan.clone(), mark.clone(), shelf.clone());
    }

    /// The reasons of skipped files.
    fn left_out(&self) -> Vec<(String, Why)> {
        let files = self.tracker.shelf().unwrap();
        let left = files.left_out();
        left.map(|row| (name(&row.file).to_owned(), row.why))
            .collect()
    }

    fn ids(&self) -> Vec<String> {
        ids(&self.taken.records)
    }
}

fn ids(records: &[Record]) -> Vec<String> {
    let all = records.iter().flat_map(|record| match &record.found {
        Found::Jobs(jobs) => jobs.iter().map(|job| job.id.clone()).collect(),
        Found::Skipped(label) => vec![format!("({label})")],
        Found::Malformed(_) => vec!["(malformed)".to_owned()],
        Found::Counts(_) => Vec::new(),
    });
    all.collect()
}

/// A line of a job in the format `pbs`.
fn job(id: usize) -> String {
    format!(
        "11/22/2026 10:00:00;E;{id}.s;user=amy account=chem start=1790000000 end=1790003600 \
         resources_used.ncpus=4\n"
    )
}

fn jobs(ids: std::ops::Range<usize>) -> String {
    ids.map(job).collect()
}

fn expected(ids: std::ops::Range<usize>) -> Vec<String> {
    ids.map(|id| format!("{id}.s")).collect()
}

fn counts(ids: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for id in ids {
        *counts.entry(id.as_str()).or_default() += 1;
    }
    counts
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}
