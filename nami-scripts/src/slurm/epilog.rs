//! `EpilogSlurmctld`: charges the time that the job ran, and ends its lien.
//!
//! Slurm never repeats an epilog: what the bank has not accepted waits in the spool. At the epilog of a requeued job,
//! also after the failure of a node, Slurm shows the time of the requeue as start, a future end and no run time, so the
//! stored start counts. Of a resized job it shows the last size only: the size at the start is stored too.

use super::facts::{Environment, Facts};
use super::job::{Times, document};
use super::run::Run;
use super::scontrol::scontrol;
use crate::call::{Ending, send};
use crate::clock::{Deadline, event_time_us};
use crate::event::Event;
use crate::outcome::Condition;
use crate::settings::{Loaded, Settings};

/// Runs one epilog.
pub(super) fn run(environment: &Environment<'_>, loaded: &Loaded) -> Ending {
    let settings = loaded.settings.clone();
    let deadline = Deadline::after(settings.talk_time());
    let mut facts = match Facts::of_environment(environment) {
        Ok(facts) => facts,
        Err(why) => return Ending::new(Condition::Other.exit(), why),
    };
    let run = Run::load(&settings, &facts.raw_id);
    let named = run
        .as_ref()
        .ok()
        .and_then(Option::as_ref)
        .map(|run| run.facts.id.clone());
    let id = named.unwrap_or_else(|| facts.id.clone());
    let shown = scontrol(&settings, &["show", "job", &id, "-o"], deadline.half());
    let shown = shown.and_then(|output| facts.add(&output));
    let now = event_time_us() / 1_000_000;
    let mut before = None;
    let (facts, times, remark) = match (run, shown) {
        (Ok(Some(run)), Ok(())) => {
            let tres = run.facts.tres.clone();
            let (facts, whole) = with_run(run, facts, now, &settings);
            let (first, times) = parts(&facts, whole);
            before = first.map(|first| (resized(tres, &facts), first));
            (facts, times, None)
        }
        (Ok(Some(run)), Err(why)) => {
            let times = times_of(run.start, now, now - run.start, run.wall_s);
            let text = format!("{why}; charged from the prolog until now");
            (
                Facts {
                    exit: facts.exit,
                    ..run.facts
                },
                times,
                Some(text),
            )
        }
        (run, Ok(())) => match alone(&facts, now, &settings) {
            Some(times) => (facts, times, run.err().map(|error| error.to_string())),
            // The prolog refused the job, or the bank knows nothing of this run.
            None => return unknown(&facts, run.err().map(|error| error.to_string())),
        },
        (_, Err(why)) => {
            let text = format!(
                "job {} is not charged: {why}; import it from sacct",
                facts.id
            );
            return Ending::new(Condition::Other.exit(), text);
        }
    };
    let earlier = before.map(|(facts, times)| {
        let body = document(&settings, &facts, times);
        send(Event::Charge, body, loaded, deadline.half()).1
    });
    let body = document(&settings, &facts, times);
    let (_, ending) = send(Event::End, body, loaded, deadline);
    for ending in earlier.iter().chain([&ending]) {
        if ending.exit != 0 {
            return Ending::new(ending.exit, ending.stderr.clone());
        }
    }
    let removed = Run::remove(&settings, &facts.raw_id).err();
    let removed = removed.map(|error| format!("cannot remove the start of the run: {error}"));
    let earlier = earlier.map(|ending| ending.stderr);
    let text = [earlier, Some(ending.stderr), remark, removed];
    let text = text.into_iter().flatten().find(|text| !text.is_empty());
    Ending::new(0, text.unwrap_or_default())
}

/// The charge of a run whose start is known.
fn with_run(run: Run, facts: Facts, now: i64, settings: &Settings) -> (Facts, Times) {
    if facts.restarts > run.facts.restarts {
        // Requeued: the start that Slurm shows is the time of the requeue.
        let end = facts
            .start
            .filter(|at| (run.start..=now).contains(at))
            .unwrap_or(now);
        let times = times_of(run.start, end, end - run.start, run.wall_s);
        return (
            Facts {
                state: "REQUEUED".to_owned(),
                ..run.facts
            },
            times,
        );
    }
    let start = facts.start.filter(|at| *at <= now).unwrap_or(run.start);
    let end = facts
        .end
        .filter(|at| (start..=now).contains(at))
        .unwrap_or(now);
    let ran_s = facts
        .ran_s
        .filter(|ran_s| *ran_s <= end - start)
        .unwrap_or(end - start);
    let wall_s = facts.limit_s.unwrap_or(settings.slurm.unlimited_s);
    (facts, times_of(start, end, ran_s, wall_s))
}

/// The times of a resized run before and since its last size. Suspended time is that before, as far as it goes.
fn parts(facts: &Facts, whole: Times) -> (Option<Times>, Times) {
    let known = whole.start.zip(whole.end).zip(whole.charged_s);
    let Some((((start, end), ran_s), at)) = known.zip(facts.resized) else {
        return (None, whole);
    };
    if !(start < at && at <= end) {
        return (None, whole);
    }
    let last_s = ran_s.min(end - at);
    if last_s == ran_s {
        return (None, whole);
    }
    let first = times_of(start, at, ran_s - last_s, whole.wall_s);
    let last = Times {
        charged_s: Some(last_s),
        ..whole
    };
    (Some(first), last)
}

/// The facts of the part before a resize: the resources are those of the start.
fn resized(tres: String, facts: &Facts) -> Facts {
    Facts {
        state: "RESIZING".to_owned(),
        exit: String::new(),
        tres,
        ..facts.clone()
    }
}

/// The charge of a run without a stored start: that of a job that started before the bank was connected. None if
/// nothing shows that it ran.
fn alone(facts: &Facts, now: i64, settings: &Settings) -> Option<Times> {
    let (start, ran_s) = facts.start.zip(facts.ran_s)?;
    let end = facts.end.filter(|end| (start..=now).contains(end))?;
    let wall_s = facts.limit_s.unwrap_or(settings.slurm.unlimited_s);
    (ran_s > 0 && ran_s <= end - start).then(|| times_of(start, end, ran_s, wall_s))
}

fn unknown(facts: &Facts, fault: Option<String>) -> Ending {
    match fault {
        Some(fault) => {
            let text = format!(
                "job {} is not charged: {fault}; import it from sacct",
                facts.id
            );
            Ending::new(Condition::Other.exit(), text)
        }
        None => Ending::new(0, ""),
    }
}

fn times_of(start: i64, end: i64, ran_s: i64, wall_s: i64) -> Times {
    Times {
        wall_s,
        charged_s: Some(ran_s.max(0)),
        start: Some(start),
        end: Some(end.max(start)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resized_run_has_two_parts() {
        for (resized, ran_s, expected) in [
            (None, 360, None),
            (Some(1300), 360, Some((300, 60))),
            // Before the run, and after its end.
            (Some(900), 360, None),
            (Some(1000), 360, None),
            (Some(1361), 360, None),
            (Some(1360), 360, Some((360, 0))),
            // Suspended for 100 s, and for longer than the part before.
            (Some(1300), 260, Some((200, 60))),
            (Some(1300), 50, None),
        ] {
            let facts = Facts {
                resized,
                ..Facts::default()
            };
            let whole = times_of(1000, 1360, ran_s, 3600);
            let (first, last) = parts(&facts, whole);
            let found = first.map(|first| {
                assert_eq!((first.start, first.end), (whole.start, resized));
                (first.charged_s.unwrap(), last.charged_s.unwrap())
            });
            assert_eq!(found, expected, "{resized:?} {ran_s}");
            assert_eq!((last.start, last.end), (whole.start, whole.end));
            assert!(expected.is_some() || last == whole);
        }
    }
}
