//! The program that `moab.cfg` calls: its name selects the event. It sends a scheduler's document
//! to the bank and ends with an exit code (decisions.md 26 and 27, `nami.md` 2). Under the names of `slurm`,
//! `slurm.conf` calls it.
//!
//! Read `call` first: one call from start to end. `event` determines the event, `input` finds the
//! document, `client` sends it over `wire`, `outcome` interprets the answer, and `spool` stores
//! documents that the bank did not accept. [`shelf`] is the spool for people, in `bank nami`; the
//! program itself is [`main`].
//!
//! It must never print anything but a quote's cost on standard output, never more than one line on
//! standard error, never interpret the document, and never lose a charge.

mod call;
mod client;
mod clock;
mod event;
mod input;
mod outcome;
mod scan;
mod settings;
mod slurm;
mod spool;
mod wire;

pub use settings::Facts;
pub use spool::shelf;

use std::io::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use crate::call::Ending;
use crate::event::Event;
use crate::outcome::{Condition, stderr_line};
use crate::settings::Settings;
use crate::slurm::Role;

const USAGE: &str = "call it as bank.EVENT, or with --event EVENT; EVENT is quote, create, reserve, \
                     start, charge, update, continue, pause, resume, end, delete, modify or drain";

/// One call of a script: the program's name and arguments determine the event.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().map(OsStringExt::into_vec);
    let program = arguments.next().unwrap_or_default();
    if let Some(role) = Role::of(&String::from_utf8_lossy(&program)) {
        let words: Vec<Vec<u8>> = arguments.collect();
        return end(role.name(), &slurm::run(role, &words, Settings::load()));
    }
    let (event, document) = arguments_of(&String::from_utf8_lossy(&program), arguments);
    let Some(event) = event else {
        return end("nami-scripts", &Ending::new(Condition::Other.exit(), USAGE));
    };
    let program = format!("bank.{}", event.name());
    end(
        &program,
        &call::call(event, document.as_deref(), Settings::load()),
    )
}

/// The event and the last argument, which may be the document. `--event` overrides the name.
fn arguments_of(
    program: &str,
    mut arguments: impl Iterator<Item = Vec<u8>>,
) -> (Option<Event>, Option<Vec<u8>>) {
    let mut event = Event::of_program(program);
    let mut document = None;
    let parse = |name: &[u8]| std::str::from_utf8(name).ok().and_then(Event::parse);
    while let Some(argument) = arguments.next() {
        if argument == b"--event" {
            event = arguments.next().as_deref().and_then(parse);
        } else if let Some(name) = argument.strip_prefix(b"--event=") {
            event = parse(name);
        } else {
            document = Some(argument);
        }
    }
    (event, document)
}

/// Prints the output and returns the exit code.
fn end(program: &str, ending: &Ending) -> ExitCode {
    let mut code = ending.exit;
    if !ending.stdout.is_empty() {
        let mut stdout = std::io::stdout();
        let written = stdout
            .write_all(ending.stdout.as_bytes())
            .and_then(|()| stdout.flush());
        if written.is_err() {
            code = Condition::Other.exit();
        }
    }
    if !ending.stderr.is_empty() {
        // Standard error may be closed; the exit code has the same meaning.
        let _ = std::io::stderr().write_all(stderr_line(program, &ending.stderr).as_bytes());
    }
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        for (program, list, event, document) in [
            ("/x/bank.charge.pl", vec![], Some(Event::Charge), None),
            (
                "bank.charge",
                vec!["<Job/>"],
                Some(Event::Charge),
                Some("<Job/>"),
            ),
            (
                "bank.charge",
                vec!["--event", "quote"],
                Some(Event::Quote),
                None,
            ),
            (
                "nami-scripts",
                vec!["--event=drain"],
                Some(Event::Drain),
                None,
            ),
            (
                "nami-scripts",
                vec!["a", "--event", "delete", "b"],
                Some(Event::Delete),
                Some("b"),
            ),
            ("bank.charge", vec!["--event", "nothing"], None, None),
            ("bank.charge", vec!["--event"], None, None),
            ("nami-scripts", vec!["<Job/>"], None, Some("<Job/>")),
        ] {
            let arguments = list.iter().map(|text| text.as_bytes().to_vec());
            let found = arguments_of(program, arguments);
            assert_eq!(
                found,
                (event, document.map(|text| text.as_bytes().to_vec())),
                "{list:?}"
            );
        }
    }
}
