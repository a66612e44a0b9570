//! `goldsh`: one command of the command line, or commands from standard input.

mod grammar;

use std::io::{BufRead, Write as _};

use super::session::{Session, Stop};

/// The exit code of a command that cannot be read.
const UNREADABLE: u8 = 77;

/// Runs the command that was given.
pub(super) fn one(session: &mut Session<'_>) -> Result<u8, Stop> {
    let command = session.given.words.join(" ");
    service(session, &command)
}

/// Runs the commands of an input, with a prompt on a terminal. `flush` prints the result of each.
pub fn interactive(
    session: &mut Session<'_>,
    mut input: impl BufRead,
    is_terminal: bool,
    mut flush: impl FnMut(&mut Session<'_>),
) -> u8 {
    let mut exit = 0;
    let mut line = String::new();
    loop {
        if is_terminal {
            let mut out = std::io::stdout();
            let _ = write!(out, "gold> ").and_then(|()| out.flush());
        }
        line.clear();
        match input.read_line(&mut line) {
            Ok(0) => return exit,
            Ok(_) => {}
            Err(error) => {
                session.complain(&format!("Cannot read the next line: {error}"));
                flush(session);
                return UNREADABLE;
            }
        }
        let command = line.split('#').next().unwrap_or_default().trim();
        match command {
            "" => continue,
            "q" | "quit" | "exit" => return exit,
            _ => {}
        }
        session.clock.now_us = session.now_us();
        exit = match service(session, command) {
            Ok(exit) | Err(Stop::Exit(exit)) => exit,
            Err(Stop::Usage(line)) => {
                session.complain(&line.unwrap_or_default());
                2
            }
            Err(Stop::Failed(broken)) => {
                session.complain(&broken.line);
                broken.exit
            }
        };
        flush(session);
    }
}

/// Reads a command, sends it and prints the response.
fn service(session: &mut Session<'_>, command: &str) -> Result<u8, Stop> {
    let request = match grammar::parse(command) {
        Ok(request) => session.given.supplemented(request),
        Err(fault) => {
            session.complain(&fault.line);
            return Ok(fault.exit());
        }
    };
    let is_query = request.action() == "Query";
    let response = if is_query {
        session.query(&request)?
    } else {
        session.ask(&request)?
    };
    session.show(&response, is_query || session.given.flag("verbose"));
    Ok(response.shell_exit())
}
