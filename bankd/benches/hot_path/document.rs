//! The work that is measured: reserve and charge in turn, spread over the accounts or all on one.
//!
//! Job `n` is reserved once and charged once, [`OPEN`] jobs later, so that there are always that
//! many liens that no charge has touched. A document has every element of the documented job
//! documents (`nami.md` 3.3), about 450 bytes, and the charge says more than the reserve did, so
//! that the instance is written whole.

use bankd_nami::Event;

/// Projects, each with a user, an account and [`ALLOCATIONS`] allocations.
pub(crate) const PROJECTS: u64 = 1000;

/// Allocations of an account.
pub(crate) const ALLOCATIONS: u64 = 4;

/// Liens that are open before anything is measured.
pub(crate) const OPEN: u64 = 10_000;

/// The machine of all jobs.
pub(crate) const MACHINE: &str = "cluster";

/// Seconds that a job asks for.
const WALL_S: u64 = 3600;

/// Seconds that it is charged for.
const USED_S: u64 = 3000;

/// Over how many accounts the jobs are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// All of them.
    Many,
    /// One.
    Hot,
}

impl Spread {
    /// Its word on a command line and in a folder's name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Spread::Many => "many",
            Spread::Hot => "hot",
        }
    }

    /// From its word.
    pub(crate) fn parse(word: &str) -> Self {
        if word == "hot" {
            Spread::Hot
        } else {
            Spread::Many
        }
    }

    /// Whose job this is: a multiplicative hash, so that neighbours lie far apart.
    pub(crate) fn project_of(self, job: u64) -> u64 {
        match self {
            Spread::Many => (job.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % PROJECTS,
            Spread::Hot => 0,
        }
    }
}

/// The name of a project.
pub(crate) fn project(number: u64) -> String {
    format!("project{number:05}")
}

/// The name of its user.
pub(crate) fn user(number: u64) -> String {
    format!("user{number:05}")
}

/// The scheduler's id of a job is this and its number.
pub(crate) const JOB_PREFIX: &str = "Moab.";

/// The scheduler's id of a job.
pub(crate) fn job_id(job: u64) -> String {
    format!("{JOB_PREFIX}{job}")
}

/// One step of the work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Reserve or charge.
    pub(crate) event: Event,
    /// The job's number, from 1.
    pub(crate) job: u64,
}

/// Step `n`, from 0, after the first [`OPEN`] jobs were reserved: a reserve, then a charge.
pub(crate) fn step(n: u64) -> Step {
    let pair = n / 2 + 1;
    if n.is_multiple_of(2) {
        Step {
            event: Event::Reserve,
            job: OPEN + pair,
        }
    } else {
        Step {
            event: Event::Charge,
            job: pair,
        }
    }
}

/// What the scheduler says of a step.
pub(crate) fn document(step: Step, spread: Spread) -> String {
    complete(step, spread, true)
}

/// The same without its durations: it is read to its end and then found unusable.
pub(crate) fn without_durations(step: Step, spread: Spread) -> String {
    complete(step, spread, false)
}

fn complete(step: Step, spread: Spread, durations: bool) -> String {
    let owner = spread.project_of(step.job);
    let (project, user, job) = (project(owner), user(owner), job_id(step.job));
    let seconds = if step.event == Event::Charge {
        USED_S
    } else {
        WALL_S
    };
    let lasting = if durations {
        format!(
            "  <WallDuration>{WALL_S}</WallDuration>\n  <ChargeDuration>{seconds}</ChargeDuration>\n"
        )
    } else {
        String::new()
    };
    let ended = if step.event == Event::Charge {
        "  <EndTime>1767234000</EndTime>\n  <State>Completed</State>\n  \
         <CompletionCode>0</CompletionCode>\n"
    } else {
        ""
    };
    format!(
        "<Job>\n\
         \x20 <ObjectID>{job}</ObjectID>\n\
         \x20 <ObjectType>Job</ObjectType>\n\
         \x20 <User>{user}</User>\n\
         \x20 <Account>{project}</Account>\n\
         \x20 <QualityOfService>premium</QualityOfService>\n\
         \x20 <Class>batch</Class>\n\
         \x20 <Machine>{MACHINE}</Machine>\n\
         \x20 <Nodes>4</Nodes>\n\
         \x20 <Processors>64</Processors>\n\
         {lasting}\
         \x20 <StartTime>1767232800</StartTime>\n\
         {ended}\
         </Job>\n"
    )
}

/// A quote of a new job: it reads balances and writes nothing.
pub(crate) fn quote() -> String {
    let step = Step {
        event: Event::Quote,
        job: 1,
    };
    document(step, Spread::Many)
}
