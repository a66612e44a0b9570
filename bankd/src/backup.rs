//! `bankd backup` and `bankd restore`: arguments and output.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use bank_api::text::counted;
use bankd_config::{self as config, data_dir::DataDir};
use bankd_safekeeping::backup::restore::{self, Choices, Restored};
use bankd_safekeeping::backup::{Made, Plan, Reason, make};

/// `bankd backup`.
#[derive(Debug, clap::Args)]
pub struct BackupArgs {
    /// Directory of the bank
    #[arg(long = "data", value_name = "DIR", default_value = "/var/lib/bankd")]
    pub data: PathBuf,
    /// Folder that gets a new folder for the backup [default: backup.folder]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Number of newest backups to keep, 0 for all [default: backup.keep]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub keep: Option<u16>,
    /// Days to keep a backup, 0 for no limit [default: `backup.keep_days`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=36_500))]
    pub keep_days: Option<u16>,
    /// Include the secrets of keys
    #[arg(long)]
    pub with_keys: bool,
    /// Print the manifest as JSON
    #[arg(long)]
    pub json: bool,
}

/// `bankd restore`.
#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    /// Folder of the backup, or a file in it
    #[arg(value_name = "BACKUP")]
    pub from: PathBuf,
    /// Directory of the restored bank
    #[arg(long = "data", value_name = "DIR", default_value = "/var/lib/bankd")]
    pub data: PathBuf,
    /// Move an existing bank aside
    #[arg(long)]
    pub force: bool,
    /// Disable every key, listeners, backups and what is written or sent, for a copy that runs beside the original
    #[arg(long)]
    pub rekey: bool,
}

/// Creates a backup and returns the output.
///
/// # Errors
/// As [`make`].
pub fn back_up(data: &DataDir, settings: &config::Backup, args: &BackupArgs) -> Result<String> {
    let mut plan = Plan::of(data, settings, Reason::Requested);
    if let Some(out) = &args.out {
        plan.out.clone_from(out);
    }
    plan.keep = args.keep.map_or(plan.keep, usize::from);
    plan.keep_days = args.keep_days.map_or(plan.keep_days, i64::from);
    plan.with_keys |= args.with_keys;
    let made = make(data, &plan)?;
    if let Some(error) = &made.unnoted {
        let path = made.path.display();
        complain!("warning: {path} is complete, and not noted as the last backup: {error}");
    }
    if args.json {
        return Ok(serde_json::to_string_pretty(&made.manifest)? + "\n");
    }
    Ok(made_text(&made))
}

fn made_text(made: &Made) -> String {
    let manifest = &made.manifest;
    let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
    let mut text = format!(
        "created  {}\nholds    {}, {}, {}, {bytes} bytes\nverified {}\n",
        made.path.display(),
        counted(manifest.transactions, "transaction"),
        counted(manifest.entries, "entry"),
        counted(manifest.files.len(), "file"),
        proven(&manifest.proof),
    );
    for path in &made.removed {
        let _ = writeln!(text, "removed  {}", path.display());
    }
    text
}

fn proven(proof: &str) -> &'static str {
    match proof {
        "journal" => "every hash and balance, from its journal",
        _ => "its structure; the bankd that wrote this schema verifies the rest",
    }
}

/// Restores a bank and returns the output, with the next step.
///
/// # Errors
/// As [`restore::restore`].
pub fn bring_back(data: &DataDir, args: &RestoreArgs) -> Result<String> {
    let choices = Choices {
        from: args.from.clone(),
        force: args.force,
        rekey: args.rekey,
    };
    let restored = restore::restore(data, &choices)?;
    Ok(restored_text(data, &restored))
}

fn restored_text(data: &DataDir, restored: &Restored) -> String {
    let manifest = &restored.manifest;
    let folder = data.path().display();
    let mut text = format!(
        "restored {folder}: {}, as of {}\nverified {}\n",
        counted(manifest.transactions, "transaction"),
        manifest.made_at,
        proven(&restored.proof)
    );
    if let Some(aside) = &restored.aside {
        let _ = writeln!(text, "moved to {}: the previous files", aside.display());
        text.push_str(
            "records  record files and exports may have later uses, whose record ids new uses get again\n",
        );
    }
    if !restored.rekeyed.is_empty() {
        let ids = restored.rekeyed.join(", ");
        let _ = writeln!(
            text,
            "off      keys {ids}: `bank key add` over the socket makes new ones"
        );
    } else if !restored.secrets {
        text.push_str(
            "keys     the backup holds no secrets: put keys/ back, or no signed request is taken\n",
        );
    }
    if !restored.off.is_empty() {
        let names = restored.off.join(", ");
        let _ = writeln!(
            text,
            "off      settings {names}: they act for the original; set those of the copy in bankd.toml"
        );
    }
    let _ = writeln!(text, "next     bankd serve --data {folder}");
    text
}
