//! The work that is measured: reserve and charge in turn, spread over the accounts or all on one.
//!
//! Job `n` is reserved once and charged once, [`OPEN`] jobs later, so that there are always that
//! many liens that no charge has touched. A document has the fields that Moab sends about a job
//! and is about 1,000 bytes long, as `limits.md` 0 measured.

use bankd::nami::Event;

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

/// The scheduler's id of a job.
pub(crate) fn job_id(job: u64) -> String {
    format!("Moab.{job}")
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
    let lasting = match (durations, step.event) {
        (false, _) => String::new(),
        (true, Event::Charge) => format!(
            "  <WallDuration>{USED_S}</WallDuration>\n  <ChargeDuration>{USED_S}</ChargeDuration>\n"
        ),
        (true, _) => format!("  <WallDuration>{WALL_S}</WallDuration>\n"),
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <Job>\n\
         \x20 <ObjectID>{job}</ObjectID>\n\
         \x20 <User>{user}</User>\n\
         \x20 <Group>research</Group>\n\
         \x20 <Account>{project}</Account>\n\
         \x20 <QualityOfService>normal</QualityOfService>\n\
         \x20 <Class>batch</Class>\n\
         \x20 <Machine>{MACHINE}</Machine>\n\
         \x20 <JobName>simulation of a turbulent flow, step 17</JobName>\n\
         \x20 <State>Running</State>\n\
         \x20 <Processors>16</Processors>\n\
         \x20 <Nodes>1</Nodes>\n\
         \x20 <Memory>65536</Memory>\n\
         \x20 <Disk>1024</Disk>\n\
         \x20 <GRes name=\"matlab\">1</GRes>\n\
         \x20 <SubmitTime>1767221000</SubmitTime>\n\
         {lasting}\
         \x20 <AllocNodeList>node0001,node0002,node0003,node0004,node0005,node0006</AllocNodeList>\n\
         \x20 <Partition>main</Partition>\n\
         \x20 <Variables>\n\
         \x20   <Variable name=\"ticket\">HPC-2026-00017 &amp; sons</Variable>\n\
         \x20   <Variable name=\"site\">hill.example</Variable>\n\
         \x20   <Variable name=\"workflow\">nightly-regression-and-long-term-archive</Variable>\n\
         \x20 </Variables>\n\
         \x20 <WorkingDirectory>/scratch/{user}/run-2026-01/step-17</WorkingDirectory>\n\
         \x20 <Shell>/bin/bash</Shell>\n\
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
