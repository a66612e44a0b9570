//! `bankd doctor`: one line for each check of a bank's environment, with the remedy.
//!
//! It only reads. The daemon may be running or stopped. It does not verify balances, which is the
//! task of `bankd verify`. Start at [`examine`].

mod disk;
mod files;
pub(crate) mod modes;
mod reports;
mod service;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use bank_api::v1::{Check, Checkup};
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_safekeeping::backup::restore;
use bankd_store as store;

use modes::Named;

/// `bankd doctor`.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Directory of the bank
    #[arg(long = "data", value_name = "DIR", default_value = "/var/lib/bankd")]
    pub data: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// No problem.
    Ok,
    /// It works, but needs attention.
    Warn,
    /// The bank does not work, or is in danger.
    Fail,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warn => "warn",
            State::Fail => "fail",
        }
    }
}

/// A finding: a check, its result, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    name: &'static str,
    state: State,
    finding: String,
    todo: String,
}

impl Found {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self::of(name, State::Ok, found, "")
    }

    fn of(
        name: &'static str,
        state: State,
        found: impl Into<String>,
        todo: impl Into<String>,
    ) -> Self {
        Self {
            name,
            state,
            finding: found.into(),
            todo: todo.into(),
        }
    }
}

/// Runs all checks and prints them; false if a check fails.
///
/// # Errors
/// If nothing can be printed.
pub fn run(args: &DoctorArgs) -> Result<bool> {
    let found = examine(&DataDir::new(&args.data));
    let worst = found.iter().map(|one| one.state).max().unwrap_or(State::Ok);
    if args.json {
        say!("{}", serde_json::to_string_pretty(&shaped(&found, worst))?);
    } else {
        say_all!("{}", screen(&found));
    }
    Ok(worst < State::Fail)
}

/// Runs all checks, in a fixed order.
pub fn examine(data: &DataDir) -> Vec<Found> {
    if let Some(closed) = files::closed(data) {
        return vec![closed];
    }
    let mut found = Vec::new();
    let config = settings(data, &mut found);
    found.push(files::directory(data));
    let checkup = database(data, &mut found);
    let tls = &config.auditor.tls;
    let named = Named::new(data, &config.checkpoint, tls, &config.deliver);
    found.push(files::keys(data, &named, checkup.as_ref()));
    found.extend(service::people(&config.access));
    found.extend(files::partners(checkup.as_ref()));
    found.push(disk::space(data));
    found.push(disk::wal(data));
    found.push(service::clock(checkup.as_ref()));
    found.push(disk::backup(data, &config.backup));
    found.extend(files::checkpoint(data, &config.checkpoint));
    found.push(service::daemon(data, &config.http));
    found.extend(files::sinks(data, &config.sinks()));
    found.extend(files::followed(&config.follow));
    found.extend(reports::scheduled(data, &config.notices()));
    found.extend(service::certificates(data, tls));
    found.extend(files::spool());
    found
}

/// The settings; the defaults if they cannot be used.
fn settings(data: &DataDir, found: &mut Vec<Found>) -> Config {
    const NAME: &str = "settings";
    let file = data.config();
    match crate::settings::load(data) {
        Ok(config) => {
            found.push(if file.exists() {
                Found::ok(NAME, format!("{} is usable", file.display()))
            } else {
                let message = format!("{} is not there: every default holds", file.display());
                Found::of(
                    NAME,
                    State::Warn,
                    message,
                    "`bankd init` writes one: bring yours back",
                )
            });
            config
        }
        Err(error) => {
            let todo =
                "correct it: the daemon does not start with it; below, the defaults are assumed";
            found.push(Found::of(NAME, State::Fail, error, todo));
            Config::default()
        }
    }
}

/// The database, if it can be read.
fn database(data: &DataDir, found: &mut Vec<Found>) -> Option<store::Checkup> {
    const NAME: &str = "database";
    let file = data.database();
    let folder = data.path().display();
    if !file.exists() {
        let todo = restore::interrupted(data).unwrap_or_else(|| {
            format!("`bankd init --data {folder}` makes one, `bankd restore` brings one back")
        });
        let message = format!("{} is not there", file.display());
        found.push(Found::of(NAME, State::Fail, message, todo));
        return None;
    }
    match store::checkup(&file) {
        Ok(checkup) => {
            found.push(match &checkup.broken {
                None => Found::ok(NAME, "its pages and the end of its journal are sound"),
                Some(broken) => Found::of(
                    NAME,
                    State::Fail,
                    broken.as_str(),
                    format!("stop the daemon, `bankd verify --data {folder}`, restore the last good backup"),
                ),
            });
            Some(checkup)
        }
        Err(error) => {
            // An older schema is not a fault; its error contains the remedy.
            let outdated = store::outdated(&file).ok().flatten().is_some();
            let state = if outdated { State::Warn } else { State::Fail };
            let todo = if outdated {
                ""
            } else {
                "check its owner and mode; restore the last good backup"
            };
            found.push(Found::of(NAME, state, error.to_string(), todo));
            None
        }
    }
}

fn shaped(found: &[Found], worst: State) -> Checkup {
    let check = |one: &Found| Check {
        name: one.name.to_owned(),
        state: one.state.word().to_owned(),
        found: one.finding.clone(),
        todo: one.todo.clone(),
    };
    Checkup {
        state: worst.word().to_owned(),
        checks: found.iter().map(check).collect(),
    }
}

fn screen(found: &[Found]) -> String {
    let mut text = String::new();
    for one in found {
        let _ = writeln!(
            text,
            "{:<4}  {:<10}  {}",
            one.state.word(),
            one.name,
            one.finding
        );
        if !one.todo.is_empty() {
            let _ = writeln!(text, "{:18}{}", "", one.todo);
        }
    }
    let count = |state| found.iter().filter(|one| one.state == state).count();
    let (warn, fail) = (count(State::Warn), count(State::Fail));
    let noun = if warn == 1 { "warning" } else { "warnings" };
    let _ = writeln!(text, "{} checks, {warn} {noun}, {fail} failed", found.len());
    text
}
