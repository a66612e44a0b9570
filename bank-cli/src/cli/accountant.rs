//! Arguments of the imports of tables of Cluster Accountant.

use clap::Args;

/// `bank hardware import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportTable {
    /// processor_type as CSV; - for standard input
    pub(crate) file: String,
    /// Machine for a cluster of the file: scluster=colony; '' for any machine
    #[arg(long = "machine", short = 'm', value_name = "CLUSTER=MACHINE")]
    pub(crate) machines: Vec<String>,
    #[command(flatten)]
    pub(crate) take: TakeArgs,
}

/// `bank contribution import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportTables {
    /// principal_investigator: the contributors
    #[arg(long, value_name = "FILE")]
    pub(crate) investigators: Option<String>,
    /// project: the groups of each contributor
    #[arg(long, value_name = "FILE", requires = "investigators")]
    pub(crate) projects: Option<String>,
    /// contribution: the contributions
    #[arg(long, value_name = "FILE", requires = "investigators")]
    pub(crate) contributions: Option<String>,
    #[command(flatten)]
    pub(crate) take: TakeArgs,
}

/// Options of an import.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TakeArgs {
    /// Show the result without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Exit with code 1 if a row was not imported
    #[arg(long)]
    pub(crate) strict: bool,
}
