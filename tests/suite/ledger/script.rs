//! Random command sequences as scripts that a person can read: one line for each step, in words
//! that are played as they stand.
//!
//! A step is a command, `tick SECONDS`, `repeat N` (the command N back again with its key), `reuse
//! N` (another body with its key) or `reopen` (the store is closed and opened). Times are `T0+n`,
//! or `+n` and `-n` from now; numbers of liens, allocations, rates and quotes are those of the bank;
//! `undo N` is about what the command N back wrote.

mod parse;
mod random;
mod world;

pub(crate) use parse::{Known, command};
pub(crate) use random::{script, step};
pub(crate) use world::{SITES, WORLD, site};

use std::fmt;

/// A sequence of steps on one of the sites.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) site: usize,
    pub(crate) steps: Vec<String>,
}

/// What a step is, where it is no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Command,
    Tick(i64),
    Repeat(usize),
    Reuse(usize),
    Reopen,
}

impl Step {
    pub(crate) fn of(line: &str) -> Step {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "tick" => Step::Tick(rest.parse().unwrap()),
            "repeat" => Step::Repeat(rest.parse().unwrap()),
            "reuse" => Step::Reuse(rest.parse().unwrap()),
            "reopen" => Step::Reopen,
            _ => Step::Command,
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "on a site with {}:", SITES[self.site])?;
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}
