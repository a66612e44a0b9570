//! The client crate against real daemons: servers in order, repeated calls, the queue on disk, and the examples
//! that the documentation shows.

mod examples;
mod queue;
mod records;
mod servers;
mod shapes;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::harness::{Ran, programs};

/// A built example of the crate.
fn example(name: &str) -> PathBuf {
    programs().folder().join(name)
}

/// Runs an example to its end.
fn run(name: &str, words: &[&str]) -> Ran {
    let mut command = Command::new(example(name));
    command.args(words).env_clear().stdin(Stdio::null());
    Ran::of(&mut command, b"")
}
