//! Rates, usage attributes and quotes that were given, with the verbs of `noun`.

use clap::{Args, Subcommand};

use super::value::pair;
use super::{AtArgs, RemoveArgs, WriteArgs};

/// `bank rate`.
#[derive(Debug, Subcommand)]
pub(crate) enum RateCommand {
    /// List current and future rates
    #[command(alias = "list")]
    Ls(AtArgs),
    /// Set a rate
    #[command(alias = "add", alias = "create", alias = "modify")]
    Set(SetRate),
    /// Remove a rate
    #[command(alias = "delete")]
    Rm {
        /// Number of the rate
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// List every version of the rates, including ended ones
    History(AtArgs),
    /// Price usage by current or proposed rates, or replay past usage
    Test(Box<TestRate>),
    /// Show the arithmetic of a job's charges
    Explain {
        job: String,
        /// Machine, if several have a job of this id
        #[arg(short = 'm', long)]
        machine: Option<String>,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetRate {
    /// VBR, VBM, VBF, VBU, NBR, NBM, NBF, NBU, MVBR, MIN or MAX
    pub(crate) kind: String,
    /// Priced property (Processors, QualityOfService, …); for a rate by name its value (high),
    /// for MVBR `by PROPERTY=VALUE`, then the rate; for MIN and MAX the amount alone
    #[arg(required = true, num_args = 1..=4, value_name = "NAME [INSTANCE] RATE",
          allow_negative_numbers = true)]
    pub(crate) words: Vec<String>,
    /// Value or range: 16, 1-64,128-256, <16, high,premium, User=amy
    #[arg(long, value_name = "VALUE")]
    pub(crate) instance: Option<String>,
    /// second, minute, hour, day or none
    #[arg(long)]
    pub(crate) per: Option<String>,
    /// Only on this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Valid from [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Valid until, exclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Only in these hours: 'Mon-Fri 08:00-20:00 Europe/Berlin'
    #[arg(long, value_name = "HOURS")]
    pub(crate) when: Option<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TestRate {
    /// Proposed rate, as one argument for `bank rate set`: 'VBR Processors 2 --per hour'
    #[arg(long = "rate", value_name = "RATE")]
    pub(crate) rates: Vec<String>,
    /// Use the proposed rates only
    #[arg(long)]
    pub(crate) only: bool,
    /// Usage to price: Processors=16, Memory=2048, QualityOfService=high
    #[arg(value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) usage: Vec<(String, String)>,
    #[arg(
        long,
        value_name = "TIME",
        help = "Wall time: seconds, or [[DD:]HH:]MM:SS"
    )]
    pub(crate) wall: Option<String>,
    /// Start of the use [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// Project, for rates by project
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// User, for rates by user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Replay the charges of a past period: last-30-days
    #[arg(long, value_name = "last-N-days", conflicts_with_all = ["from", "to"])]
    pub(crate) replay: Option<String>,
    /// Start of the replay, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// End of the replay, exclusive [default: now]
    #[arg(
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        requires = "from"
    )]
    pub(crate) to: Option<String>,
}

/// `bank quote` about stored quotes.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum QuoteCommand {
    /// List stored quotes
    #[command(alias = "list")]
    Ls {
        /// Only valid quotes
        #[arg(long)]
        valid: bool,
        /// Maximum number of rows, 1 to 1000
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
        /// Continue after the last page
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
    },
    /// Show one quote
    #[command(alias = "get")]
    Show {
        /// Number of the quote
        id: i64,
    },
    /// End a quote; a job bound to it keeps its price
    #[command(alias = "delete")]
    Rm {
        /// Number of the quote
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}
