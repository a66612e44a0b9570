//! The program under the names of Gold's commands: it brings the way to the daemon, and prints.

use std::{
    ffi::OsString,
    io::{IsTerminal as _, Write as _},
    process::ExitCode,
};

use bank_api::exit::bank as exit;
use bank_cli_gold::{Broken, Clock, Link, Piece, Session, Tool};
use bank_picture::{Zone, printable::printable_lines};

use crate::{
    cli::Global,
    client::{self, Call, Client},
    config,
    fail::Failure,
    out,
};

/// Runs a tool with the words after its name.
pub(crate) fn main(tool: &'static Tool, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let given = match bank_cli_gold::read(tool, arguments) {
        Ok(given) => given,
        Err(error) => return ExitCode::from(refused(tool, &error)),
    };
    let done = || -> Result<u8, Failure> {
        let settings = config::load(&Global::default())?;
        let daemon = Daemon(client::new(&settings)?);
        let clock = Clock {
            now_us: daemon.now_us(),
            zone: Zone::Local,
        };
        let login = config::login().unwrap_or_default();
        let mut session = Session::new(&daemon, login, clock, given);
        session.project = settings.project;
        let is_shell = tool.is_shell() && !session.given.has_words();
        let mut lost = None;
        let exit = if is_shell {
            let input = std::io::stdin();
            let is_terminal = input.is_terminal();
            bank_cli_gold::interactive(&mut session, input.lock(), is_terminal, |session| {
                lost = flush(session).err().or(lost.take());
            })
        } else {
            bank_cli_gold::run(tool, &mut session)
        };
        flush(&mut session)?;
        lost.map_or(Ok(exit), Err)
    };
    let code = done().unwrap_or_else(|failure| {
        let _ = writeln!(std::io::stderr(), "{}", line(&failure));
        exit(&failure)
    });
    ExitCode::from(code)
}

/// The way to the daemon of the settings.
struct Daemon(Client);

impl Daemon {
    fn ask(&self, request: &str) -> Result<String, Failure> {
        let target = client::path(&["gold"]);
        let call = Call::xml(target, request.to_owned(), client::new_key()?);
        Ok(self.0.text(&call)?)
    }
}

impl Link for Daemon {
    fn send(&self, request: &str) -> Result<String, Broken> {
        self.ask(request).map_err(|failure| Broken {
            line: line(&failure),
            exit: exit(&failure),
        })
    }

    fn now_us(&self) -> i64 {
        crate::clock::collector_now_us()
    }
}

/// Prints the texts that a tool has produced so far.
fn flush(session: &mut Session<'_>) -> Result<(), Failure> {
    let mut lost = None;
    for piece in std::mem::take(&mut session.pieces) {
        match piece {
            Piece::Out(text) => lost = lost.or(crate::print(&text).err()),
            Piece::Error(text) => {
                // If standard error is not writable, the exit code reports the error.
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
        }
    }
    lost.map_or(Ok(()), Err)
}

/// Prints the answer of the parser of the command line. Returns the exit code.
fn refused(tool: &Tool, error: &clap::Error) -> u8 {
    let Some(failure) = Failure::of_parser(error) else {
        // Help goes to standard output.
        if let Err(failure) = out::written(error.print()) {
            let _ = writeln!(std::io::stderr(), "{}", line(&failure));
            return exit(&failure);
        }
        return u8::try_from(error.exit_code()).unwrap_or(exit::USAGE);
    };
    let first = bank_cli_gold::complaint(error).unwrap_or(failure.what);
    let usage = bank_cli_gold::command(tool).render_usage();
    let _ = writeln!(std::io::stderr(), "{first}\n{usage}");
    exit::USAGE
}

/// The line about a failure.
fn line(failure: &Failure) -> String {
    let what = failure
        .what
        .strip_prefix("refused: ")
        .unwrap_or(&failure.what);
    printable_lines(what)
}

/// Gold's exit code of a failure: its status code divided by ten.
fn exit(failure: &Failure) -> u8 {
    if let Some(problem) = &failure.problem {
        let code = problem.row().gold.parse::<u16>().unwrap_or(720);
        return u8::try_from(code / 10).unwrap_or(72);
    }
    match failure.exit {
        exit::USAGE => exit::USAGE,
        exit::UNAVAILABLE => 22,
        exit::DENIED => 42,
        exit::NOT_FOUND | exit::REFUSED | exit::CONFLICT => 74,
        exit::FUNDS => 78,
        _ => 72,
    }
}

#[cfg(test)]
mod tests {
    use bank_api::error::Problem;

    use super::*;

    #[test]
    fn exit_codes_are_golds() {
        let of = |code: &str| exit(&Failure::problem(Problem::new(code, "x")));
        for (code, exit) in [
            ("insufficient_funds", 78),
            ("not_found", 74),
            ("missing_field", 31),
            ("not_allowed", 44),
            ("unauthorized", 42),
            ("busy", 72),
        ] {
            assert_eq!(of(code), exit, "{code}");
        }
        assert_eq!(exit(&Failure::unreachable("gone")), 22);
        assert_eq!(exit(&Failure::usage("odd")), 2);
    }
}
