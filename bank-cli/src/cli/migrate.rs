//! `bank migrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `bank migrate`.
#[derive(Debug, Subcommand)]
pub(crate) enum MigrateCommand {
    /// Move in from Gold: CSV files of its tables, or its database
    Gold(Box<MigrateGold>),
    /// Move in from Moab Accounting Manager: its lists as CSV files
    Mam(Box<MigrateFolder>),
    /// Move in from Slurm: a file of sacctmgr dump, limits become allocations
    Slurm(Box<MigrateSlurm>),
    /// Move in from another bank: a plain set of CSV files
    Csv(Box<MigrateFolder>),
}

/// `bank migrate gold`.
#[derive(Debug, Clone, Args)]
#[group(id = "place", required = true, multiple = false, args = ["folder", "postgres", "mysql", "sqlite"])]
pub(crate) struct MigrateGold {
    /// Folder with g_account.csv and the other tables
    pub(crate) folder: Option<PathBuf>,
    /// PostgreSQL database, such as postgresql://gold@db/gold; psql reads it, with the password of
    /// ~/.pgpass or PGPASSWORD
    #[arg(long, value_name = "URL")]
    pub(crate) postgres: Option<String>,
    /// MySQL database, such as mysql://gold@db/gold; mysql reads it, with the password of ~/.my.cnf
    /// or MYSQL_PWD
    #[arg(long, value_name = "URL")]
    pub(crate) mysql: Option<String>,
    /// SQLite database; sqlite3 reads it
    #[arg(long, value_name = "FILE")]
    pub(crate) sqlite: Option<String>,
    #[command(flatten)]
    pub(crate) migrate: MigrateArgs,
}

/// `bank migrate mam` and `bank migrate csv`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MigrateFolder {
    /// Folder with the CSV files
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) migrate: MigrateArgs,
}

/// `bank migrate slurm`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MigrateSlurm {
    /// File of `sacctmgr dump CLUSTER`
    pub(crate) dump: PathBuf,
    /// Used part of the limits: output of `scontrol -o show assoc_mgr flags=assoc`, or of sshare -P
    /// with GrpTRESRaw
    #[arg(long, value_name = "FILE")]
    pub(crate) usage: Option<PathBuf>,
    /// Resource of the limits in GrpTRESMins that become allocations
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub(crate) tres: String,
    /// Credits for a minute of a limit
    #[arg(long, value_name = "CREDITS", default_value = "60")]
    pub(crate) per_minute: String,
    #[command(flatten)]
    pub(crate) migrate: MigrateArgs,
}

/// Options of every migration.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct MigrateArgs {
    /// Output of gbalance, glsaccount or glsalloc: every figure must be equal
    #[arg(long, value_name = "FILE")]
    pub(crate) listed: Option<PathBuf>,
    /// Time at which the old bank closes and this one opens [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) opening: Option<String>,
    /// Name of the old bank [default: gold, mam, slurm or csv]
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Omit finished jobs
    #[arg(long)]
    pub(crate) no_history: bool,
    /// Omit finished jobs that ended before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Omit open reservations
    #[arg(long)]
    pub(crate) no_reservations: bool,
    /// Time zone of times without one [default: that of this host]
    #[arg(long, value_name = "AREA/CITY")]
    pub(crate) tz: Option<String>,
    /// Show the plan; the daemon decides everything and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,
}
