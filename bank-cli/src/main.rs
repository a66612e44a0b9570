//! `bank`, the command line of the allocation bank.
//!
//! Start reading at `cli` (what can be said), then `cmd` (what is done); called by one of Gold's
//! names it acts as `gold` says. This program keeps no state and knows no rule of the bank: it asks
//! the daemon and shows the answer.

mod cli;
mod client;
mod clock;
mod cmd;
mod collect;
mod config;
mod context;
mod fail;
mod file;
mod gold;
mod help;
mod hooks;
mod moab;
mod named;
mod out;
mod people;
mod period;
mod separated;
mod site;
mod slurm;
mod terminal;
mod upload;
mod when;

use std::{cell::RefCell, io::Write as _, process::ExitCode};

use bank_picture::printable;

use bank_cli_gold::Tool;

use crate::{cli::Cli, context::Context, fail::Failure};

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    if let Some(tool) = words.next().and_then(|name| Tool::of(&name)) {
        return gold::main(tool, words);
    }
    let words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let cli = match site::parse(&words) {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(failure) = Failure::of_parser(&error) {
                out::failure(&failure);
                return ExitCode::from(failure.exit);
            }
            // Help and version go to standard output.
            if let Err(failure) = out::written(error.print()) {
                out::failure(&failure);
                return ExitCode::from(failure.exit);
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    out::colour(cli.global.color).write_global();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(before) = &failure.before {
                let _ = print(before);
            }
            let failure = named::with_values(failure, &words);
            out::failure(&failure);
            ExitCode::from(failure.exit)
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    if let cli::Command::Help(requested) = &cli.command {
        print(&help::show(requested)?)?;
        return Ok(());
    }
    if let cli::Command::Gen(command) = cli.command {
        print(&cmd::generate::run(command)?)?;
        return Ok(());
    }
    if let cli::Command::Records(command) = cli.command {
        print(&cmd::records::run(command)?)?;
        return Ok(());
    }
    let settings = config::load(&cli.global)?;
    let zone = cmd::zone::of(&cli.command)?;
    if let (bank_picture::Zone::Local, Some(name)) = (zone, config::unknown_zone()) {
        out::warn(&format!(
            "TZ: there is no time zone {name:?}; times are in UTC. Write an area and a city, such as Europe/Berlin"
        ));
    }
    let form = out::Form::new(&cli.global, settings.format.as_deref(), zone)?;
    // What is about this machine's own files needs no way to the daemon.
    if let cli::Command::Nami(command) = cli.command {
        return show(&cmd::nami::run(&form, command)?, cli.global.quiet);
    }
    let output = file::destination(cli.command.output()).map(std::path::Path::to_owned);
    let mut context = Context {
        client: client::new(&settings)?,
        form,
        quiet: cli.global.quiet,
        project: settings.project,
        now_us: clock::now_us(),
        zone,
        file: None,
    };
    context
        .client
        .set_view_as(cmd::personal::view_as(&cli.command));
    cmd::units::apply(&mut context, cli.global.units, &cli.command)?;
    // What these say is for programs, whatever the form.
    let is_data = matches!(
        cli.command,
        cli::Command::Export(_) | cli::Command::Checkpoint(_)
    );
    let is_screen = context.form.is_table() && !is_data;
    let Some(path) = output else {
        let message = said(cmd::run(&context, cli.command), is_screen)?;
        return show(&message, context.quiet);
    };
    context.file = Some(RefCell::new(file::Fresh::begin(&path)?));
    let message = said(cmd::run(&context, cli.command), is_screen)?;
    context.print(&message)?;
    if let Some(file) = context.file.take() {
        file.into_inner().finish()?;
    }
    show(&format!("written to {}\n", path.display()), context.quiet)
}

/// What people read has nothing in it that a terminal obeys, before a failure too; programs get what is.
fn said(result: Result<String, Failure>, is_screen: bool) -> Result<String, Failure> {
    let screened = |message: String| {
        if is_screen {
            printable::screened(&message)
        } else {
            message
        }
    };
    result.map(screened).map_err(|failure| Failure {
        before: failure.before.map(screened),
        ..failure
    })
}

/// Prints what a command has to say, unless the caller wants quiet.
fn show(text: &str, quiet: bool) -> Result<(), Failure> {
    if !quiet {
        print(text)?;
    }
    Ok(())
}

/// Writes to standard output. False where nobody reads any more, which is no failure (ux.md 2.2).
fn print(text: &str) -> Result<bool, Failure> {
    let mut stdout = anstream::stdout();
    let written = stdout.write_all(text.as_bytes());
    out::written(written.and_then(|()| stdout.flush()))
}
