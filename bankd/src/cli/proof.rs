//! `bankd verify`, `bankd checkpoint` and `bankd checkpoint-key`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bank_api::exit::bank as exit;
use bank_api::text::counted;
use bank_api::v1::Verification;
use bankd_config::data_dir::DataDir;
use bankd_ledger::clock;
use bankd_safekeeping::checkpoint::{self, Checkpoint, Keeper, PublicKey, SigningKey};
use bankd_safekeeping::proof;
use bankd_store::verify::Report;
use bankd_store::{self as store, checkpoint as facts, verify};
use clap::{Args, Subcommand};

use super::{Data, Failure, exists};

/// `bankd verify`.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    data: Data,
    /// Checkpoint to compare the bank with
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Public key of its signature [default: the bank's keys/checkpoint.key.pub]
    #[arg(long, value_name = "FILE", requires = "checkpoint")]
    public_key: Option<PathBuf>,
    /// Print JSON, as in the API
    #[arg(long)]
    json: bool,
}

/// `bankd checkpoint`.
#[derive(Debug, Args)]
pub(super) struct CheckpointArgs {
    #[command(flatten)]
    data: Data,
    /// Secret key for the signature [default: the bank's keys/checkpoint.key]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// New file for the checkpoint [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Sign it even if the bank is not sound, to preserve the present state
    #[arg(long)]
    even_if_unsound: bool,
}

/// `bankd checkpoint-key`.
#[derive(Debug, Subcommand)]
pub(super) enum KeyCommands {
    /// Create a key; its public half is written to FILE.pub
    New {
        #[command(flatten)]
        data: Data,
        /// New file for the secret half [default: the bank's keys/checkpoint.key]
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
}

/// Prints the findings; returns 1 if there are any.
pub(super) fn verify(args: &VerifyArgs) -> Result<u8, Failure> {
    let dir = args.data.dir();
    exists(&dir)?;
    let checkpoint = args
        .checkpoint
        .as_deref()
        .map(|file| read(args, file, &dir));
    let checkpoint = checkpoint.transpose()?;
    let report = proven(&dir.database(), checkpoint.as_ref())?;
    if args.json {
        let mut verification = Verification::default();
        proof::fill(&mut verification, &report);
        let text = serde_json::to_string_pretty(&verification).context("cannot write JSON")?;
        say!("{text}");
    } else {
        print(&report, checkpoint.as_ref());
    }
    let sound = report.is_sound();
    Ok(if sound { exit::DONE } else { exit::REFUSED })
}

fn read(args: &VerifyArgs, file: &Path, dir: &DataDir) -> Result<Checkpoint, Failure> {
    let own = checkpoint::public_of(&checkpoint::default_key(&dir.keys()));
    let key = args.public_key.clone().unwrap_or(own);
    let read = || -> Result<Checkpoint> {
        let key = PublicKey::read(&key).context("the public key")?;
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        Ok(checkpoint::parse(file, &text, &key)?)
    };
    Ok(read()?)
}

fn proven(database: &Path, checkpoint: Option<&Checkpoint>) -> Result<Report> {
    let failed = || format!("cannot verify {}", database.display());
    let mut report = verify::run(database).with_context(failed)?;
    if let Some(checkpoint) = checkpoint {
        let connection = store::open_reader(database).with_context(failed)?;
        let found = facts::against(&connection, &checkpoint.facts).with_context(failed)?;
        report.findings.extend(found);
    }
    Ok(report)
}

fn print(report: &Report, checkpoint: Option<&Checkpoint>) {
    for line in report.lines() {
        say!("{line}");
    }
    if report.more > 0 {
        say!("and {} more", report.more);
    }
    for advice in report.advice() {
        say!("hint: {advice}");
    }
    if !report.is_sound() {
        return;
    }
    let (transactions, entries) = (report.transactions, report.entries);
    let allocations = report.allocations;
    say!(
        "ok: {}, {}, {}",
        counted(transactions, "transaction"),
        counted(entries, "entry"),
        counted(allocations, "allocation")
    );
    if let Some(checkpoint) = checkpoint {
        let made = bank_api::text::format_rfc3339(checkpoint.made_at);
        let covered = checkpoint.facts.transactions;
        say!("ok: contains everything up to transaction {covered}, at {made}");
    }
    for note in &report.notes {
        say!("note: {note}");
    }
}

/// Creates a checkpoint. The bank is verified first, because a later comparison relies on the
/// checkpoint.
pub(super) fn checkpoint(args: &CheckpointArgs) -> Result<u8, Failure> {
    let dir = args.data.dir();
    exists(&dir)?;
    let key = args.key.clone();
    let keeper = Keeper {
        database: dir.database(),
        key: key.unwrap_or_else(|| checkpoint::default_key(&dir.keys())),
    };
    if !keeper.key.exists() {
        return Err(Failure {
            error: anyhow::anyhow!("no checkpoint key {}", keeper.key.display()),
            code: exit::NOT_FOUND,
            hint: Some("`bankd checkpoint-key new` creates one".to_owned()),
        });
    }
    if !args.even_if_unsound {
        sound(&dir)?;
    }
    let made = keeper.make(clock::real_us()).map_err(anyhow::Error::new);
    let (transactions, text) = made?;
    match &args.out {
        None => say_all!("{text}"),
        Some(out) => {
            let written = checkpoint::write_new(out, text.as_bytes(), 0o644);
            written.map_err(anyhow::Error::new)?;
            say!(
                "{}: {}",
                out.display(),
                counted(transactions, "transaction")
            );
        }
    }
    Ok(exit::DONE)
}

/// Fails if `verify` finds an error that cannot be repaired from the journal.
fn sound(dir: &DataDir) -> Result<(), Failure> {
    let report = verify::run(&dir.database()).map_err(anyhow::Error::new)?;
    let Some(first) = report.serious() else {
        return Ok(());
    };
    let folder = dir.path().display();
    Err(Failure {
        error: anyhow::anyhow!("the bank is not sound: {first}"),
        code: exit::REFUSED,
        hint: Some(format!(
            "`bankd verify --data {folder}` lists all findings; --even-if-unsound signs the bank anyway"
        )),
    })
}

/// Creates a key.
pub(super) fn key(command: &KeyCommands) -> Result<u8, Failure> {
    let KeyCommands::New { data, key } = command;
    let dir = data.dir();
    if key.is_none() {
        exists(&dir)?;
    }
    let path = key
        .clone()
        .unwrap_or_else(|| checkpoint::default_key(&dir.keys()));
    let public = SigningKey::create(&path).map_err(anyhow::Error::new)?;
    let half = checkpoint::public_of(&path);
    if path.starts_with(dir.path()) {
        dir.give(&path)?;
        dir.give(&half)?;
    }
    say!("secret  {}", path.display());
    say!("public  {}  key {}", half.display(), public.id());
    say!(
        "hint: copy the public half and every checkpoint to another machine: who can write them here \
         can make others"
    );
    Ok(exit::DONE)
}
