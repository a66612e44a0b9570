//! Snapshots of Nomad's deployments (`collectors.md` g): a use is the union of its sightings. Each
//! snapshot by itself has the numbers of running and waiting deployments.

mod census;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

use bank_core::usage::kept;
use chrono_tz::Tz;
use serde_json::value::RawValue;

use super::job::{Extra, Figure, Found, Job, Record, State};
use super::json::Object;
use super::lines::document;
use super::number::Number;
use super::text::{local, rfc3339};
use super::{Reader, Sink, not_of_the_format};
use census::Census;

/// More shares than these are a speed, not cores that an old snapshot kept there.
const CORES_AS_SHARES_MAX: i64 = 64;

/// Resources of a deployment, with the quantity of their seconds.
const RESOURCES: [(&str, &str); 5] = [
    ("cpu_num", "core_s"),
    ("cpu_MHz", "cpu_mhz_s"),
    ("gpu_num", "gpu_s"),
    ("memory_MB", "memory_mb_s"),
    ("disk_MB", "disk_mb_s"),
];

/// Reads a folder of snapshots in the order of their names, which are their times.
#[derive(Debug, Default)]
pub(super) struct Nomad {
    snapshots: u64,
    first_us: Option<i64>,
    last_us: i64,
    lives: BTreeMap<Key, Life>,
    /// Result of the interval rule by namespace: the correct value, and the value of its program.
    intervals: BTreeMap<String, [[Number; 2]; 5]>,
}

/// Namespace, job, allocation and start.
type Key = (String, String, String, i64);

/// Sightings of an allocation.
#[derive(Debug, Default)]
struct Life {
    /// The last of them.
    seen_us: i64,
    end_us: i64,
    is_dead: bool,
    resources: [Number; 5],
    has_shares: bool,
    owner: Option<String>,
    datacenter: Option<String>,
    sightings: u64,
}

impl Reader for Nomad {
    fn file(&mut self, name: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let stem = name.strip_suffix(".json").unwrap_or(name);
        let now = local(stem, Tz::UTC).map(|at| at.us);
        let now = now.ok_or_else(|| {
            not_of_the_format(format!("{name}: no snapshot, YYYY-MM-DDTHH:MM:SS.json"))
        })?;
        let bytes = document(input)?;
        let text = String::from_utf8_lossy(&bytes);
        let spaces: BTreeMap<String, Vec<&RawValue>> =
            serde_json::from_str(&text).map_err(|e| not_of_the_format(format!("{name}: {e}")))?;
        let before = self.first_us.map_or(now, |_| self.last_us);
        let mut number = 0_u64;
        let mut census = Census::default();
        for (namespace, deployments) in spaces {
            for raw in deployments {
                number = number.saturating_add(1);
                let seen = Object::parse(raw.get()).ok_or_else(|| "no object".to_owned());
                let sighting = |seen: Object<'_>| {
                    census.count(&namespace, &seen);
                    self.sighting(&namespace, &seen, before, now)
                };
                let skipped = match seen.and_then(sighting) {
                    Ok(None) => continue,
                    Ok(Some(label)) => Found::Skipped(label.into()),
                    Err(why) => Found::Malformed(why),
                };
                sink(Record::new(number, raw.get().as_bytes(), skipped))?;
            }
        }
        let counts = Record::new(number, b"", Found::Counts(census.at(now)));
        sink(Record {
            counts: 0,
            ..counts
        })?;
        self.snapshots = self.snapshots.saturating_add(1);
        self.first_us = Some(self.first_us.unwrap_or(now));
        self.last_us = now;
        Ok(())
    }

    fn finish(&mut self, sink: &mut Sink<'_>) -> io::Result<Vec<Extra>> {
        let lives = std::mem::take(&mut self.lives);
        let window = (self.first_us.unwrap_or_default(), self.last_us);
        let mut seen = Seen::default();
        for ((key, life), number) in lives.iter().zip(1..) {
            let found = match job(key, life).zip(seen.add(key, life, window)) {
                Some((job, ())) => Found::Jobs(vec![job]),
                None => Found::Malformed("a figure beyond the supported range".to_owned()),
            };
            let record = Record::new(number, b"", found);
            let counts = life.sightings;
            sink(Record { counts, ..record })?;
        }
        Ok(self.extra(seen, window))
    }
}

impl Nomad {
    /// Takes a sighting in; a label where nothing can be charged for it.
    fn sighting(
        &mut self,
        namespace: &str,
        seen: &Object<'_>,
        before: i64,
        now: i64,
    ) -> Result<Option<String>, String> {
        let text_of = |name: &str| seen.text(name).unwrap_or_default();
        let status = text_of("status");
        if status != "running" && status != "dead" {
            return Ok(Some(format!("status_{status}")));
        }
        let time = |name: &str| match seen.text(name) {
            None => Ok(None),
            Some(text) => rfc3339(&text)
                .map(Some)
                .ok_or_else(|| format!("{name}: {text:?} is not a time")),
        };
        let Some(start) = time("alloc_start")? else {
            return Ok(Some("never_started".to_owned()));
        };
        let is_dead = status == "dead";
        let end = match (is_dead, time("alloc_end")?) {
            (false, _) => now,
            (true, Some(end)) => end,
            (true, None) => return Ok(Some("dead_without_end".to_owned())),
        };
        let (resources, literal, has_shares) = resources(seen)?;
        self.interval(
            namespace,
            &[resources, literal],
            start.max(before),
            end.min(now),
        )?;
        let key = (
            namespace.to_owned(),
            text_of("job_ID"),
            text_of("alloc_ID"),
            start,
        );
        let life = self.lives.entry(key).or_insert_with(|| Life {
            end_us: end,
            ..Life::default()
        });
        life.sightings = life.sightings.saturating_add(1);
        // The later record of a use replaces the earlier one, as it does if they come one by one.
        if now >= life.seen_us && (is_dead || !life.is_dead) {
            (life.seen_us, life.resources, life.has_shares) = (now, resources, has_shares);
            life.owner = seen.text("owner").or(life.owner.take());
            life.datacenter = seen.text("datacenter").or(life.datacenter.take());
        }
        if is_dead && !life.is_dead {
            life.end_us = end;
            life.is_dead = true;
        } else if !life.is_dead {
            life.end_us = life.end_us.max(end);
        }
        Ok(None)
    }

    /// The rule of `usage_stats`: the state at the end of an interval counts for all of it.
    fn interval(
        &mut self,
        namespace: &str,
        both: &[[Number; 5]; 2],
        from: i64,
        to: i64,
    ) -> Result<(), String> {
        let seconds = Number::seconds(to.saturating_sub(from).max(0));
        let [resources, literal] = both;
        let sums = self.intervals.entry(namespace.to_owned()).or_default();
        for (sum, values) in sums.iter_mut().zip(resources.iter().zip(literal)) {
            let values = [*values.0, *values.1];
            for (sum, value) in sum.iter_mut().zip(values) {
                let grown = value.times(seconds).and_then(|used| sum.plus(used));
                *sum = grown.ok_or("a figure beyond the supported range")?;
            }
        }
        Ok(())
    }

    fn extra(&self, seen: Seen, (first, last): (i64, i64)) -> Vec<Extra> {
        let number = Figure::Number;
        let by_account = |sums: BTreeMap<String, BTreeMap<String, Number>>| {
            let inner = |sums: BTreeMap<String, Number>| {
                Figure::Map(sums.into_iter().map(|(k, v)| (k, number(v))).collect())
            };
            Figure::Map(sums.into_iter().map(|(k, v)| (k, inner(v))).collect())
        };
        let users = seen.users.into_iter().map(|(namespace, users)| {
            let count = u64::try_from(users.len()).unwrap_or(u64::MAX);
            (namespace, number(Number::whole(count)))
        });
        let intervals = self.intervals.iter().map(|(namespace, sums)| {
            let mut named = BTreeMap::new();
            for ((_, name), [value, upstream]) in RESOURCES.iter().zip(sums) {
                named.insert((*name).to_owned(), *value);
                named.insert(format!("{name}_upstream"), *upstream);
            }
            (namespace.clone(), named)
        });
        let window = BTreeMap::from([
            ("start".to_owned(), number(Number::seconds(first))),
            ("end".to_owned(), number(Number::seconds(last))),
            ("by_account".to_owned(), by_account(seen.window)),
        ]);
        let extra = |key, value| Extra { key, value };
        vec![
            extra("snapshots", number(Number::whole(self.snapshots))),
            extra("window", Figure::Map(window)),
            extra("users_by_account", Figure::Map(users.collect())),
            extra("interval_rule_by_account", by_account(intervals.collect())),
        ]
    }
}

/// Sums over the sightings, clipped to the time from the first to the last snapshot.
#[derive(Default)]
struct Seen {
    window: BTreeMap<String, BTreeMap<String, Number>>,
    users: BTreeMap<String, BTreeSet<Option<String>>>,
}

impl Seen {
    fn add(&mut self, key: &Key, life: &Life, (first, last): (i64, i64)) -> Option<()> {
        let (namespace, _, _, start) = key;
        let us = life.end_us.min(last).checked_sub((*start).max(first))?;
        let seconds = Number::seconds(us.max(0));
        let sums = self.window.entry(namespace.clone()).or_default();
        let wall = sums.entry("wall_s".to_owned()).or_default();
        *wall = wall.plus(seconds)?;
        for ((_, name), value) in RESOURCES.iter().zip(life.resources) {
            let sum = sums.entry((*name).to_owned()).or_default();
            *sum = sum.plus(value.times(seconds)?)?;
        }
        let users = self.users.entry(namespace.clone()).or_default();
        users.insert(life.owner.clone());
        Some(())
    }
}

/// Resources of a deployment, their stored form, and whether shares were too many to be cores: old
/// snapshots kept cores in `cpu_MHz` and 0 in `cpu_num`.
fn resources(seen: &Object<'_>) -> Result<([Number; 5], [Number; 5], bool), String> {
    let text = seen.object("resources").unwrap_or_default();
    let mut literal = [Number::ZERO; 5];
    for (value, (name, _)) in literal.iter_mut().zip(RESOURCES) {
        let number = text.number(name).filter(|number| !number.is_negative());
        *value = number.ok_or_else(|| format!("resources.{name}: no number"))?;
    }
    let [cores, shares, rest @ ..] = literal;
    if !cores.is_zero() {
        return Ok((literal, literal, false));
    }
    let over = shares.minus(Number::whole(CORES_AS_SHARES_MAX));
    let too_many = over.is_none_or(Number::is_above_zero);
    let cores = if too_many { Number::ZERO } else { shares };
    let [gpus, memory, disk] = rest;
    Ok((
        [cores, shares, gpus, memory, disk],
        [shares, shares, gpus, memory, disk],
        too_many && !shares.is_zero(),
    ))
}

fn job(key: &Key, life: &Life) -> Option<Job> {
    let (namespace, id, allocation, start) = key;
    let wall = Number::seconds(life.end_us.checked_sub(*start)?.max(0));
    let [cores, shares, gpus, memory, disk] = life.resources;
    let mebibyte = Number::whole(1 << 20);
    let mut job = Job {
        id: format!("{namespace}/{id}/{allocation}"),
        start_us: *start,
        end_us: life.end_us.max(*start),
        wall,
        user: life.owner.clone(),
        account: Some(namespace.clone()),
        queue: life.datacenter.clone(),
        state_word: Some(if life.is_dead { "dead" } else { "sampled" }.to_owned()),
        state: if life.is_dead {
            State::Completed
        } else {
            State::Running
        },
        procs: Some(cores),
        gpus: Some(gpus),
        memory_bytes: memory.times(mebibyte),
        disk_bytes: disk.times(mebibyte),
        ..Job::default()
    };
    if !shares.is_zero() {
        let megahertz = shares.to_string();
        job.attributes.insert(kept::CPU_MHZ.to_owned(), megahertz);
    }
    if !life.is_dead {
        job.flags.push("sampled");
    }
    if life.has_shares {
        job.flags.push("cores-unknown");
    }
    job.mark_without_cores();
    job.add("wall_s", wall);
    for ((_, name), value) in RESOURCES.iter().zip(life.resources) {
        job.add(*name, value.times(wall)?);
    }
    Some(job)
}
