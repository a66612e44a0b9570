//! `PrologSlurmctld`: reserves the price of the job, or holds the job with the reason.
//!
//! Slurm requeues a batch job whose prolog fails. A job that cannot be paid is therefore held first: its user sees
//! the reason in `scontrol show job` and `squeue -O Comment,admin_comment`, and releases the job when there is money.

use super::facts::{Environment, Facts};
use super::job::{Times, document};
use super::run::Run;
use super::scontrol::scontrol;
use crate::call::{Ending, send};
use crate::clock::{Deadline, event_time_us};
use crate::event::Event;
use crate::outcome::Condition;
use crate::settings::{Loaded, Settings};

/// Longest reason in a comment, in bytes.
const MAX_REASON: usize = 180;

/// Runs one prolog.
pub(super) fn run(environment: &Environment<'_>, loaded: Loaded) -> Ending {
    let Loaded {
        mut settings,
        mistake,
    } = loaded;
    let deadline = Deadline::after(settings.talk_time());
    let mut facts = match Facts::of_environment(environment) {
        Ok(facts) => facts,
        Err(why) => return Ending::new(Condition::Other.exit(), why),
    };
    // The setting for Slurm decides here.
    settings.fail_open = settings.slurm.runs_without_bank;
    let shown = scontrol(
        &settings,
        &["show", "job", &facts.id, "-o"],
        deadline.half(),
    );
    let shown = shown.and_then(|output| facts.add(&output));
    let now = event_time_us() / 1_000_000;
    let run = Run {
        start: facts.start.filter(|start| *start <= now).unwrap_or(now),
        wall_s: facts.limit_s.unwrap_or(settings.slurm.unlimited_s),
        facts,
    };
    let stored = run
        .store(&settings)
        .map_err(|error| format!("cannot store the start of the run: {error}"));
    if let Err(why) = shown {
        // Without its limit the job has no price; the epilog charges it.
        return without_lien(&settings, &run, &format!("no lien: {why}"), deadline);
    }
    let times = Times {
        wall_s: run.wall_s,
        start: Some(run.start),
        ..Times::default()
    };
    let body = document(&settings, &run.facts, times);
    let (condition, ending) = send(
        Event::Reserve,
        body,
        &Loaded {
            settings: settings.clone(),
            mistake,
        },
        deadline.half(),
    );
    if condition == Condition::Done || ending.is_kept {
        let text = match stored {
            Err(why) if ending.stderr.is_empty() => why,
            _ => ending.stderr,
        };
        return Ending::new(0, text);
    }
    if matches!(condition, Condition::Funds | Condition::Refused) {
        return hold(&settings, &run, &ending.stderr, deadline);
    }
    without_lien(&settings, &run, &ending.stderr, deadline)
}

/// The bank has not decided: the setting does.
fn without_lien(settings: &Settings, run: &Run, why: &str, deadline: Deadline) -> Ending {
    if settings.slurm.runs_without_bank {
        return Ending::new(0, why);
    }
    hold(settings, run, why, deadline)
}

/// Holds the job; the exit code 1 then requeues it.
fn hold(settings: &Settings, run: &Run, why: &str, deadline: Deadline) -> Ending {
    let facts = &run.facts;
    // The epilog finds no run, so that it charges nothing.
    let removed = Run::remove(settings, &facts.raw_id)
        .err()
        .map(|error| error.to_string());
    let reason = reason(why);
    let job = format!("JobId={}", facts.held_id);
    let comment = format!("AdminComment={reason}");
    let plain = format!("Comment={reason}");
    let mut words = vec!["update", &job, &comment];
    if !facts.has_comment {
        words.push(&plain);
    }
    let noted = scontrol(settings, &words, deadline);
    let held = scontrol(settings, &["uhold", &facts.held_id], deadline);
    let faults = [removed, noted.err(), held.err()];
    let fault = faults.into_iter().flatten().next();
    let text = match fault {
        Some(fault) => format!("job {} refused: {why}; {fault}", facts.id),
        None => format!("job {} held: {why}", facts.id),
    };
    Ending::new(1, text)
}

/// The reason for a comment of a job: one line without quotes, as `scontrol` prints it.
fn reason(why: &str) -> String {
    let mut text = "bank: ".to_owned();
    for letter in why.chars() {
        if text.len() + letter.len_utf8() > MAX_REASON {
            break;
        }
        match letter {
            '"' | '\'' => {}
            letter if letter.is_control() => text.push(' '),
            letter => text.push(letter),
        }
    }
    text
}
