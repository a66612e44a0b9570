//! The idle part of reservations, second by second: their processors less those of their jobs, never below zero. Jobs
//! use the time of the earliest use of a reservation first.

use std::collections::BTreeMap;

use bank_core::decimal::Decimal;
use rusqlite::Connection;

use super::truth::all;

/// Time of a use of a reservation, or of a job in it. It takes equal time back if its sign is below zero.
struct Time {
    key: (String, String),
    instance: i64,
    is_reserved: bool,
    start: i64,
    end: i64,
    processors: i128,
}

/// Processors × µs by the instances of reservations.
pub(super) fn idle(journal: &Connection) -> BTreeMap<i64, i128> {
    let mut by_key: BTreeMap<(String, String), Vec<Time>> = BTreeMap::new();
    for time in times(journal) {
        by_key.entry(time.key.clone()).or_default().push(time);
    }
    let mut found = BTreeMap::new();
    for times in by_key.values() {
        let mut edges: Vec<i64> = times.iter().flat_map(|one| [one.start, one.end]).collect();
        edges.sort_unstable();
        edges.dedup();
        for pair in edges.windows(2) {
            segment(times, pair[0], pair[1], &mut found);
        }
    }
    found
}

fn segment(times: &[Time], start: i64, end: i64, found: &mut BTreeMap<i64, i128>) {
    let mut used = 0;
    let mut reserved: BTreeMap<i64, i128> = BTreeMap::new();
    for one in times
        .iter()
        .filter(|one| one.start <= start && end <= one.end)
    {
        if one.is_reserved {
            *reserved.entry(one.instance).or_default() += one.processors;
        } else {
            used += one.processors;
        }
    }
    for (instance, processors) in reserved {
        let taken = used.clamp(0, processors.max(0));
        used -= taken;
        *found.entry(instance).or_default() += (processors - taken) * i128::from(end - start);
    }
}

fn times(journal: &Connection) -> Vec<Time> {
    let sql = "SELECT machine, reservation, instance, facts IS NOT NULL, start_at, end_at, processors, back
        FROM reservation_time";
    all(journal, sql, |r| {
        let processors: String = r.get(6)?;
        let processors = Decimal::parse(&processors).unwrap().billionths() / 1_000_000_000;
        let is_back: bool = r.get(7)?;
        Ok(Time {
            key: (r.get(0)?, r.get(1)?),
            instance: r.get(2)?,
            is_reserved: r.get(3)?,
            start: r.get(4)?,
            end: r.get(5)?,
            processors: if is_back { -processors } else { processors },
        })
    })
}

/// Idle processors × µs that the facts of a usage row have.
pub(super) fn idle_of(facts: &str) -> i128 {
    let used = bank_core::usage::text::read(facts, None).unwrap();
    used.idle.map_or(0, |idle| idle.processor_seconds / 1_000)
}
