//! The programs that `slurm.conf` calls: `bank-slurm-prolog` reserves, `bank-slurm-epilog` charges and ends,
//! `bank-slurm-submit` asks for a price for `job_submit.lua` (decision 0204).
//!
//! Read `prolog` and `epilog` first. `facts` reads the job of Slurm, `scontrol` runs Slurm's command, `job` writes
//! the document of NAMI, `run` stores the start of a run. Documents are sent by [`crate::call`], with its spool.
//!
//! It must never let a job run for free because a file or a program fails, and never exceed its time.

mod epilog;
mod facts;
mod job;
mod prolog;
mod run;
mod scontrol;
mod submit;

use crate::call::Ending;
use crate::settings::{Loaded, variable};

/// The program by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// `PrologSlurmctld`.
    Prolog,
    /// `EpilogSlurmctld`.
    Epilog,
    /// For `job_submit.lua`.
    Submit,
}

const NAMES: [(&str, Role); 3] = [
    ("bank-slurm-prolog", Role::Prolog),
    ("bank-slurm-epilog", Role::Epilog),
    ("bank-slurm-submit", Role::Submit),
];

impl Role {
    /// The role of a program's path, or of a bare name after `--event`.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, role)| *role)
    }

    /// The name of the program.
    pub(crate) fn name(self) -> &'static str {
        let known = NAMES.iter().find(|(_, role)| *role == self);
        known.map_or("", |(name, _)| name)
    }
}

/// Runs the program. `words` are its arguments.
pub(crate) fn run(role: Role, words: &[Vec<u8>], loaded: Loaded) -> Ending {
    match role {
        Role::Prolog => prolog::run(&variable, loaded),
        Role::Epilog => epilog::run(&variable, &loaded),
        Role::Submit => submit::run(words, loaded),
    }
}
