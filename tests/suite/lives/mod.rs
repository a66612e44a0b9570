//! Random lives of a bank, and after each one every way to a figure beside the journal: usage by every key and
//! month, from sums and from records, statements with their lower tables, balance sheets, and every export in
//! charges and in hours.
//!
//! Start at [`lives_add_up`]. Each life is a list of steps made from a seed; it is played through the daemon's own
//! routes in this process. `BANK_LIVES_SEEDS=1000` plays more of them, `BANK_LIVES_SEED=17` one alone. A life that
//! shows a difference is cut down to the steps that it needs.

#![allow(
    clippy::similar_names,
    clippy::type_complexity,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    clippy::assigning_clones,
    clippy::format_collect,
    clippy::manual_is_multiple_of,
    reason = "steps have one shape, and figures are named after what they are compared with"
)]

mod beside;
mod difference;
mod exports;
mod formats;
mod house;
mod idle;
mod marks;
mod owners;
mod play;
mod shrink;
mod statements;
mod steps;
mod truth;
mod usage;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use difference::{Difference, Differences};
use play::Play;
use steps::Step;
use truth::Truth;

/// Lives that the suite plays.
const SEEDS: u64 = 60;
/// The first of them, unless `BANK_LIVES_FIRST` names another.
const FIRST: u64 = 1;
/// How long everything waits at the end of a life, so that every use is closed and recorded.
const AFTERLIFE_S: i64 = 45 * 86_400;
/// Lives that a run cuts down at most, unless `BANK_LIVES_SCRIPTS` names another number.
const SCRIPTS_MAX: u64 = 12;

#[allow(
    clippy::disallowed_methods,
    reason = "how long a test runs is said outside"
)]
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Plays a life and compares; nothing is found in a good one.
fn lived(seed: u64, steps: &[Step]) -> Vec<Difference> {
    let mut play = Play::new(if seed % 2 == 0 { 3 } else { 0 });
    for step in steps {
        play.step(step);
    }
    let mut found = Differences::default();
    if let Some(broken) = play.broken.clone() {
        found.push(
            "a step is answered",
            "",
            broken,
            "an answer below 500".to_owned(),
        );
    }
    compared(&play, &mut found);
    play.house.pass(AFTERLIFE_S);
    play.pages.go_on(&play.house);
    compared(&play, &mut found);
    let journal = Truth::read(&play.house.journal);
    exports::compare(&play.house, &journal, &play.pages, &mut found);
    marks::compare(&play.house, &mut found);
    // Closing the books of all past months changes no statement.
    play.step(&Step::Close);
    statements::compare(&play.house, &journal, &mut found);
    statements::unchanged(&play.house, &play.closed, &mut found);
    marks::compare(&play.house, &mut found);
    found.found
}

/// Reports and statements beside the journal.
fn compared(play: &Play, found: &mut Differences) {
    let house = &play.house;
    // A request journals the boundaries that have passed.
    let response = house.get("/api/v1/report/usage?by=user");
    found.same("usage answers", "", response.status, 200);
    let truth = Truth::read(&house.journal);
    for odd in &truth.odd {
        found.push("the journal", "", odd.clone(), "nothing".to_owned());
    }
    usage::compare(house, &truth, found);
    statements::compare(house, &truth, found);
    statements::unchanged(house, &play.closed, found);
}

/// What a run found.
#[derive(Debug, Default)]
struct Faults {
    /// Lives by what differs in them.
    lives: BTreeMap<String, Vec<u64>>,
    /// Scripts by what differs and by the kinds of their steps.
    scripts: BTreeMap<String, String>,
    /// How many lives were cut down.
    cut: usize,
}

#[test]
fn lives_add_up() {
    let (first, count) = match setting("BANK_LIVES_SEED") {
        Some(seed) => (seed, 1),
        None => (
            setting("BANK_LIVES_FIRST").unwrap_or(FIRST),
            setting("BANK_LIVES_SEEDS").unwrap_or(SEEDS),
        ),
    };
    println!("seeds {first} to {}", first + count - 1);
    let (next, faults) = (AtomicU64::new(first), Mutex::new(Faults::default()));
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get().min(4));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    judge(seed, &faults);
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    if faults.lives.is_empty() {
        return;
    }
    let mut text = String::new();
    for (what, seeds) in &faults.lives {
        let shown = &seeds[..seeds.len().min(10)];
        writeln!(text, "{what}: {} of {count} lives, {shown:?}", seeds.len()).unwrap();
    }
    let scripts: Vec<&str> = faults.scripts.values().map(String::as_str).collect();
    panic!("{text}\n{}", scripts.join("\n"));
}

/// Plays one life; the first ones that differ are cut down.
fn judge(seed: u64, faults: &Mutex<Faults>) {
    let steps = steps::life(seed);
    let found = lived(seed, &steps);
    let mut kinds: Vec<&String> = found.iter().map(|one| &one.what).collect();
    kinds.sort();
    kinds.dedup();
    let mut wanted = None;
    {
        let mut faults = faults.lock().unwrap();
        let most = setting("BANK_LIVES_SCRIPTS").unwrap_or(SCRIPTS_MAX);
        if u64::try_from(faults.cut).unwrap() < most {
            let seen = |what: &&&String| faults.lives.get(**what).map_or(0, Vec::len);
            wanted = kinds.iter().min_by_key(seen).map(|what| (*what).clone());
            faults.cut += usize::from(wanted.is_some());
        }
        for what in kinds {
            faults.lives.entry(what.clone()).or_default().push(seed);
        }
    }
    let Some(what) = wanted else { return };
    let script = shrink::shortest(seed, steps, &what);
    let text = report(seed, &script, &what);
    let mut names: Vec<String> = script.iter().map(steps::name).collect();
    names.dedup();
    let place = format!("{what}: {}", names.join(" "));
    faults.lock().unwrap().scripts.entry(place).or_insert(text);
}

/// A script with the figures that differ at its end.
fn report(seed: u64, script: &[Step], what: &str) -> String {
    let mut text = format!("seed {seed}: {what}\n");
    for step in script {
        writeln!(text, "    {step:?}").unwrap();
    }
    for one in lived(seed, script).iter().take(6) {
        let Difference {
            what,
            key,
            seen,
            wanted,
        } = one;
        writeln!(text, "  {what} {key}: seen {seen}, wanted {wanted}").unwrap();
    }
    text
}
