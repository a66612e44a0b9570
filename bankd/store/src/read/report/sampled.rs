//! Running and waiting jobs from snapshots: by owner and by time bucket.
//!
//! A snapshot is complete: an owner who is not in it had no jobs. Between two snapshots the state
//! is unknown. Each collector has its own sampling times: their values are separate until they are
//! shown. Nothing is rounded here.

use super::super::super::Error;
use super::super::super::counts::each;
use bank_core::time::Timestamp;
use bank_core_figures::rollup::grid::Grid;
use foldhash::{HashMap, HashMapExt as _};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Owner of jobs in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Whose<'a> {
    /// The collector that looked.
    pub source: &'a str,
    /// The format of its data.
    pub format: &'a str,
    /// The machine.
    pub machine: &'a str,
    /// The name of the project in the source.
    pub account: &'a str,
    /// The name of the user in the source.
    pub login: &'a str,
    /// The project, as the mappings of that day have it.
    pub project: &'a str,
    /// The user, likewise.
    pub user: &'a str,
    /// Queue or class.
    pub queue: &'a str,
}

/// Returns the values under which jobs count, one for each requested dimension; none if they are
/// hidden.
pub type Placed<'p> = dyn Fn(&Whose<'_>) -> Option<Vec<String>> + Send + 'p;

/// The request.
pub struct Sampling<'p> {
    /// The period and its buckets.
    pub grid: Grid,
    /// Gives the values of the words.
    pub place: Box<Placed<'p>>,
    /// Snapshots count of collectors too that never saw anything that is asked for.
    pub every_source: bool,
    /// Rows at most; where there are more, the answer has one more and is not whole.
    pub most: usize,
}

/// How many there were in the snapshots of a collector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// All snapshots together.
    pub sum: u128,
    /// In one of them.
    pub most: u64,
}

impl Held {
    fn see(&mut self, count: u64) {
        self.sum = self.sum.saturating_add(count.into());
        self.most = self.most.max(count);
    }
}

/// Samples of one collector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// How often it looked.
    pub snapshots: u64,
    /// Running jobs.
    pub running: Held,
    /// Waiting jobs.
    pub queued: Held,
}

/// The snapshots of a collector in the period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// Its name.
    pub source: String,
    /// How often it looked.
    pub snapshots: u64,
    /// When first.
    pub first: Option<Timestamp>,
    /// When last.
    pub last: Option<Timestamp>,
    /// The longest time between two of them.
    pub gap: Option<(Timestamp, Timestamp)>,
}

impl Looks {
    fn see(&mut self, at: Timestamp) {
        let before = self.last.replace(at);
        self.snapshots = self.snapshots.saturating_add(1);
        self.first.get_or_insert(at);
        let Some(before) = before else { return };
        let length = |(from, to): (Timestamp, Timestamp)| to.0.saturating_sub(from.0);
        let longest = self.gap.map_or(0, length);
        if length((before, at)) > longest {
            self.gap = Some((before, at));
        }
    }
}

/// An answer. Each list has one part for each collector that looked in its time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// The collectors, by name, with those that did not look in the period.
    pub looks: Vec<Looks>,
    /// By bucket and values; whoever had nothing in a bucket is not in it.
    pub rows: BTreeMap<(usize, Vec<String>), Vec<Part>>,
    /// Everything that is asked for, by bucket.
    pub buckets: Vec<Vec<Part>>,
    /// The same of the whole period.
    pub total: Vec<Part>,
}

/// Answers out of the snapshots of the period.
///
/// # Errors
/// If the store cannot be read.
pub fn sampled(connection: &Connection, sampling: &Sampling<'_>) -> Result<Sampled, Error> {
    let mut answer = Sampled {
        buckets: vec![Vec::new(); sampling.grid.labels.len()],
        ..Sampled::default()
    };
    for (source, keys) in keys(connection, sampling)? {
        if answer.rows.len() > sampling.most {
            break;
        }
        let mut seeing = Seeing::new(&source.name, &keys);
        seeing.all(connection, source.id, sampling)?;
        seeing.end(&mut answer);
    }
    Ok(answer)
}

/// When the first snapshot of all was taken.
///
/// # Errors
/// If the store cannot be read.
pub fn first_snapshot(connection: &Connection) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT min(at) FROM snapshot";
    let first: Option<i64> = connection.query_row(sql, [], |r| r.get(0))?;
    Ok(first.map(Timestamp))
}

/// Visits the owners of jobs in snapshots, each once, until the visitor is done.
///
/// # Errors
/// If the store cannot be read.
pub fn each_counted(
    connection: &Connection,
    mut visit: impl FnMut(&Whose<'_>) -> bool,
) -> Result<(), Error> {
    each_key(connection, |_, whose| visit(whose))
}

/// Likewise, with the number of the key.
fn each_key(
    connection: &Connection,
    mut visit: impl FnMut(i64, &Whose<'_>) -> bool,
) -> Result<(), Error> {
    let sql =
        "SELECT k.id, s.name, s.format, k.machine, k.account, k.login, k.project, k.user, k.queue
               FROM snapshot_key k JOIN source s ON s.id = k.source";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = |place: usize| row.get_ref(place)?.as_str().map_err(rusqlite::Error::from);
        let whose = Whose {
            source: text(1)?,
            format: text(2)?,
            machine: text(3)?,
            account: text(4)?,
            login: text(5)?,
            project: text(6)?,
            user: text(7)?,
            queue: text(8)?,
        };
        if !visit(row.get(0)?, &whose) {
            break;
        }
    }
    Ok(())
}

/// A collector that took snapshots.
struct Source {
    id: i64,
    name: String,
}

/// The keys of a collector that are asked for: where each is among the values.
#[derive(Default)]
struct Keys {
    places: HashMap<i64, usize>,
    values: Vec<Vec<String>>,
}

/// The collectors with counted snapshots, by name, with their keys.
fn keys(connection: &Connection, sampling: &Sampling<'_>) -> Result<Vec<(Source, Keys)>, Error> {
    let mut found: HashMap<String, Keys> = HashMap::new();
    let mut places: HashMap<(String, Vec<String>), usize> = HashMap::new();
    each_key(connection, |id, whose| {
        let Some(values) = (sampling.place)(whose) else {
            return true;
        };
        let keys = found.entry(whose.source.to_owned()).or_default();
        let next = keys.values.len();
        let which = (whose.source.to_owned(), values);
        let place = *places.entry(which.clone()).or_insert(next);
        if place == next {
            keys.values.push(which.1);
        }
        keys.places.insert(id, place);
        true
    })?;
    let sql = "SELECT id, name FROM source s
               WHERE EXISTS (SELECT 1 FROM snapshot n WHERE n.source = s.id) ORDER BY name";
    let mut statement = connection.prepare_cached(sql)?;
    let sources = statement.query_map([], |r| {
        Ok(Source {
            id: r.get(0)?,
            name: r.get(1)?,
        })
    })?;
    let mut all = Vec::new();
    for source in sources {
        let source = source?;
        let keys = found.remove(&source.name);
        let keys = keys.or_else(|| sampling.every_source.then(Keys::default));
        all.extend(keys.map(|keys| (source, keys)));
    }
    Ok(all)
}

/// The snapshots of a collector as they are gone through.
struct Seeing<'k> {
    keys: &'k Keys,
    looks: Looks,
    /// Samples by bucket and position among the values.
    rows: BTreeMap<(usize, usize), [Held; 2]>,
    buckets: BTreeMap<usize, Part>,
    total: Part,
}

impl<'k> Seeing<'k> {
    fn new(source: &str, keys: &'k Keys) -> Seeing<'k> {
        Seeing {
            keys,
            looks: Looks {
                source: source.to_owned(),
                ..Looks::default()
            },
            rows: BTreeMap::new(),
            buckets: BTreeMap::new(),
            total: Part::default(),
        }
    }

    fn all(
        &mut self,
        connection: &Connection,
        source: i64,
        sampling: &Sampling<'_>,
    ) -> Result<(), Error> {
        let edges = (sampling.grid.edges.first(), sampling.grid.edges.last());
        let (Some(from), Some(until)) = edges else {
            return Ok(());
        };
        let sql = "SELECT at, counts FROM snapshot
                   WHERE source = ?1 AND at >= ?2 AND at < ?3 ORDER BY at";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query((source, from.0, until.0))?;
        while let Some(row) = rows.next()? {
            let at = Timestamp(row.get(0)?);
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            if let Some(bucket) = sampling.grid.find(at) {
                self.one(at, bucket, bytes)?;
            }
            if self.rows.len() > sampling.most {
                break;
            }
        }
        Ok(())
    }

    /// One snapshot. Several of its keys may have the same values.
    fn one(&mut self, at: Timestamp, bucket: usize, bytes: &[u8]) -> Result<(), Error> {
        let mut sums: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
        let mut all = [0_u64; 2];
        each(bytes, |seen| {
            let Some(place) = self.keys.places.get(&seen.key) else {
                return;
            };
            let own = sums.entry(*place).or_default();
            for sum in [own, &mut all] {
                let [running, queued] = sum;
                *running = running.saturating_add(seen.running);
                *queued = queued.saturating_add(seen.queued);
            }
        })?;
        self.looks.see(at);
        for (place, counts) in sums {
            let row = self.rows.entry((bucket, place)).or_default();
            for (held, count) in row.iter_mut().zip(counts) {
                held.see(count);
            }
        }
        let [running, queued] = all;
        for part in [self.buckets.entry(bucket).or_default(), &mut self.total] {
            part.snapshots = part.snapshots.saturating_add(1);
            part.running.see(running);
            part.queued.see(queued);
        }
        Ok(())
    }

    /// Adds the result.
    fn end(self, answer: &mut Sampled) {
        for ((bucket, place), [running, queued]) in self.rows {
            let Some(values) = self.keys.values.get(place) else {
                continue;
            };
            let snapshots = self.buckets.get(&bucket).map_or(0, |part| part.snapshots);
            let row = answer.rows.entry((bucket, values.clone())).or_default();
            row.push(Part {
                snapshots,
                running,
                queued,
            });
        }
        for (bucket, part) in self.buckets {
            if let Some(own) = answer.buckets.get_mut(bucket) {
                own.push(part);
            }
        }
        if self.total.snapshots > 0 {
            answer.total.push(self.total);
        }
        answer.looks.push(self.looks);
    }
}
