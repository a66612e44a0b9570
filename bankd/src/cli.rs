//! The command line of the daemon.
//!
//! An error is one line, `bankd: what: why`. A hint, if there is one, is on a second line. Exit
//! codes are those of `bank` (decisions.md 24).

mod cluster;
mod proof;
mod rollup;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use bank_api::exit::bank as exit;
use bank_api::text::own_words;
use bank_core::amount::Precision;
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_safekeeping::backup::restore;
use bankd_safekeeping::copy;
use bankd_safekeeping::init::{self, Choices};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::backup::{self, BackupArgs, RestoreArgs};
use crate::demo::{self, DemoArgs};
use crate::doctor::{self, DoctorArgs};
use crate::import::{self, ImportArgs};
use crate::{replay, say, serve, settings};

/// The daemon of the allocation bank.
#[derive(Debug, Parser)]
#[command(name = "bankd", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Commands,
}

#[derive(Debug, Subcommand)]
enum Commands {
    /// Create a bank
    Init {
        #[command(flatten)]
        data: Data,
        /// Decimals of an amount, 0 to 6; cannot be changed later
        #[arg(long, value_name = "N", default_value_t = Precision::DEFAULT.places(),
              value_parser = clap::value_parser!(u8).range(0..=6))]
        precision: u8,
        /// Label of the unit; cannot be changed later
        #[arg(long, value_name = "NAME", default_value = "credits")]
        unit: String,
        /// Create a bank for tests; its clock may be read from a file
        #[arg(long)]
        test: bool,
    },
    /// Run the daemon until SIGTERM
    Serve {
        #[command(flatten)]
        data: Data,
    },
    /// Recompute every balance and hash from the journal
    Verify(proof::VerifyArgs),
    /// Write a signed checkpoint, for a later `verify --checkpoint`
    Checkpoint(proof::CheckpointArgs),
    /// Show or create the key that signs checkpoints
    CheckpointKey {
        #[command(subcommand)]
        command: proof::KeyCommands,
    },
    /// Verify or rebuild the hourly and daily usage totals
    Rollup {
        #[command(subcommand)]
        command: rollup::RollupCommands,
    },
    /// Make a bank a node of a cluster; show and change the cluster
    Cluster {
        #[command(subcommand)]
        command: cluster::ClusterCommands,
    },
    /// Back up a bank, running or not, into a directory
    Backup(BackupArgs),
    /// Create a bank from a backup
    Restore(RestoreArgs),
    /// Check settings, files, disk, clock, backups and the daemon
    Doctor(DoctorArgs),
    /// Replay captured documents on a copy of a bank, and show the results
    Replay {
        #[command(flatten)]
        data: Data,
        /// Event of files without one in their names; it applies to every file
        #[arg(long, value_name = "EVENT")]
        event: Option<String>,
        /// Time of that event, RFC 3339 [default: latest time of the bank]
        #[arg(long, value_name = "TIME", requires = "event")]
        at: Option<String>,
        /// Machine of documents that name none
        #[arg(short, long, value_name = "MACHINE")]
        machine: Option<String>,
        /// Print one JSON object for each document
        #[arg(long)]
        json: bool,
        /// Documents, or folders of captured ones (EVENT-MICROS-PID.xml)
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Run a demo bank in a temporary directory
    Demo(DemoArgs),
    /// Import usage files offline, or check them
    Import(ImportArgs),
    /// Show or check the settings
    Config {
        #[command(subcommand)]
        command: ConfigCommands,
    },
    /// Write the manual pages into a directory
    Man {
        /// Directory of the pages, such as `/usr/local/share/man/man1`
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
enum ConfigCommands {
    /// Print all effective settings
    Show {
        #[command(flatten)]
        data: Data,
    },
    /// Check that the settings are valid
    Check {
        #[command(flatten)]
        data: Data,
    },
}

#[derive(Debug, clap::Args)]
struct Data {
    /// Directory of the bank
    #[arg(long = "data", value_name = "DIR", default_value = "/var/lib/bankd")]
    folder: PathBuf,
}

impl Data {
    fn dir(&self) -> DataDir {
        DataDir::new(&self.folder)
    }
}

/// Runs the command line and returns the exit code.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            if e.use_stderr() {
                say::complain(format_args!("{}", of_parser(&e)));
                return ExitCode::from(exit::USAGE);
            }
            // Help and version are not errors; they go to standard output.
            let is_written = say::is_written(e.print());
            return ExitCode::from(if is_written {
                exit::DONE
            } else {
                exit::INTERNAL
            });
        }
    };
    #[cfg(feature = "test-hooks")]
    if let Some(version) = bankd_config::test_schema() {
        bankd_store::end_at(version);
    }
    match execute(&cli.command) {
        Ok(exit::DONE) if say::lost() => ExitCode::from(exit::INTERNAL),
        Ok(code) => ExitCode::from(code),
        Err(Failure { error, code, hint }) => {
            complain!("bankd: {}", one_line(&error));
            if let Some(hint) = hint {
                complain!("hint: {hint}");
            }
            ExitCode::from(code)
        }
    }
}

/// An error of the command line in the form of the other errors.
fn of_parser(error: &clap::Error) -> String {
    use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand as IsHelp;
    let text = error.render().to_string();
    if error.kind() == IsHelp {
        return text;
    }
    let lines = || text.lines().map(str::trim);
    let first: Vec<&str> = lines().take_while(|line| !line.is_empty()).collect();
    let what = own_words(&first.join(" "));
    let what = what.strip_prefix("error: ").unwrap_or(&what);
    let usage = lines().find_map(|line| line.strip_prefix("Usage: "));
    let hint = usage.map_or_else(
        || "--help lists the options".to_owned(),
        |usage| format!("usage: {usage}"),
    );
    format!("bankd: {what}\nhint: {hint}\n")
}

/// An error, with its exit code and a hint.
struct Failure {
    error: anyhow::Error,
    code: u8,
    hint: Option<String>,
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self {
            error,
            code: exit::REFUSED,
            hint: None,
        }
    }
}

fn execute(command: &Commands) -> Result<u8, Failure> {
    match command {
        Commands::Init {
            data,
            precision,
            unit,
            test,
        } => {
            let choices = Choices {
                precision: Precision::new(*precision).unwrap_or(Precision::DEFAULT),
                unit: unit.clone(),
                test: *test,
            };
            say_all!("{}", init::init(&data.dir(), &choices)?);
            Ok(exit::DONE)
        }
        Commands::Serve { data } => {
            let dir = data.dir();
            exists(&dir)?;
            serve::serve(&dir, settings(&dir)?)?;
            Ok(exit::DONE)
        }
        Commands::Verify(args) => proof::verify(args),
        Commands::Checkpoint(args) => proof::checkpoint(args),
        Commands::CheckpointKey { command } => proof::key(command),
        Commands::Rollup { command } => rollup::run(command),
        Commands::Cluster { command } => cluster::run(command),
        Commands::Backup(args) => {
            let dir = DataDir::new(&args.data);
            exists(&dir)?;
            say_all!("{}", backup::back_up(&dir, &unchecked(&dir)?.backup, args)?);
            Ok(exit::DONE)
        }
        Commands::Restore(args) => {
            say_all!("{}", backup::bring_back(&DataDir::new(&args.data), args)?);
            Ok(exit::DONE)
        }
        Commands::Doctor(args) => {
            let well = doctor::run(args)?;
            Ok(if well { exit::DONE } else { exit::REFUSED })
        }
        Commands::Replay {
            data,
            event,
            at,
            machine,
            json,
            files,
        } => {
            let dir = data.dir();
            exists(&dir)?;
            let choices = replay::Choices {
                files: files.clone(),
                event: event.clone(),
                at: at.clone(),
                machine: machine.clone(),
                json: *json,
            };
            let all_taken = replay::run(&dir, settings(&dir)?, &choices)?;
            Ok(if all_taken { exit::DONE } else { exit::REFUSED })
        }
        Commands::Demo(args) => Ok(demo::run(args)?),
        Commands::Import(args) => read_usage(args),
        Commands::Config { command } => about_settings(command),
        Commands::Man { folder } => manual(folder),
    }
}

/// Writes a manual page for the program and each of its commands.
fn manual(folder: &Path) -> Result<u8, Failure> {
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .with_context(|| folder.display().to_string())?;
    say!("manual pages in {}", folder.display());
    Ok(exit::DONE)
}

/// Shows or checks the settings.
fn about_settings(command: &ConfigCommands) -> Result<u8, Failure> {
    let (ConfigCommands::Show { data } | ConfigCommands::Check { data }) = command;
    let dir = data.dir();
    if !dir.path().is_dir() {
        return Err(no_bank(&dir, "no directory"));
    }
    let config = settings(&dir)?;
    match command {
        ConfigCommands::Show { .. } => say_all!("{}", config.show()),
        ConfigCommands::Check { .. } => say!("ok"),
    }
    Ok(exit::DONE)
}

/// Imports usage files, and prints the summary.
fn read_usage(args: &ImportArgs) -> Result<u8, Failure> {
    let done = import::run(args).map_err(|failure| Failure {
        error: anyhow::Error::msg(failure.why),
        code: failure.code,
        hint: None,
    });
    let (text, code) = done?;
    say_all!("{text}");
    Ok(code)
}

fn exists(dir: &DataDir) -> Result<(), Failure> {
    match dir.database().try_exists() {
        Ok(true) => Ok(()),
        Ok(false) => Err(no_bank(dir, "no bank in")),
        Err(error) => Err(Failure {
            error: anyhow::anyhow!("cannot enter {}: {error}", dir.path().display()),
            code: exit::INTERNAL,
            hint: Some("run it as the user of the daemon".to_owned()),
        }),
    }
}

fn no_bank(dir: &DataDir, what: &str) -> Failure {
    let folder = dir.path().display();
    let hint = if copy::is_interrupted(dir) {
        "`bankd cluster join` was interrupted here: run it again".to_owned()
    } else {
        let new = || format!("`bankd init --data {folder}` makes one");
        restore::interrupted(dir).unwrap_or_else(new)
    };
    Failure {
        error: anyhow::anyhow!("{what} {folder}"),
        code: exit::NOT_FOUND,
        hint: Some(hint),
    }
}

/// The settings, with the secrets that they name.
fn settings(dir: &DataDir) -> Result<Config, Failure> {
    settings::load(dir).map_err(unusable)
}

/// The settings alone.
fn unchecked(dir: &DataDir) -> Result<Config, Failure> {
    Config::load(&dir.config()).map_err(unusable)
}

fn unusable(text: String) -> Failure {
    Failure {
        error: anyhow::Error::msg(text),
        code: exit::USAGE,
        hint: None,
    }
}

/// Formats an error and its causes on one line.
fn one_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
        for (line, fits) in [
            ("bankd init --data x --precision 6 --unit SU --test", true),
            ("bankd init --precision 7", false),
            ("bankd serve", true),
            ("bankd verify --data x", true),
            (
                "bankd verify --data x --json --checkpoint c --public-key k",
                true,
            ),
            ("bankd verify --data x --public-key k", false),
            ("bankd checkpoint --data x --key k --out c", true),
            ("bankd checkpoint-key new --key k", true),
            ("bankd backup --data x --out y --keep 7 --with-keys", true),
            ("bankd backup --keep -1", false),
            ("bankd restore y --data x --force --rekey", true),
            ("bankd restore --data x", false),
            ("bankd replay --data x --event charge -m m a.xml b", true),
            ("bankd replay --data x", false),
            ("bankd replay --at 2026-01-01T00:00:00Z a.xml", false),
            ("bankd import sge a b --dry-run --json --strict", true),
            ("bankd import sge a", false),
            ("bankd import sge a --data d --machine m --no-raw", true),
            ("bankd import sge a --data d --dry-run", false),
            ("bankd import sge a --dry-run --source s", false),
            ("bankd import shell a --dry-run", false),
            ("bankd cluster init --data x", true),
            ("bankd cluster promote", false),
            ("bankd cluster remove n3 --data x", true),
            ("bankd cluster trim --keep 0", false),
            ("bankd config show", true),
            ("bankd config check --data x", true),
            ("bankd", false),
            ("bankd serve --port 1", false),
        ] {
            assert_eq!(Cli::try_parse_from(line.split(' ')).is_ok(), fits, "{line}");
        }
    }
}
