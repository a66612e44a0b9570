//! The command tree of `bank` (ux.md 2.1) and the options that every command takes.
//!
//! Only shapes and help texts: nothing is decided here but what is a number and what is not.
//! The nouns stand in `noun` (people and machines) and `asset` (money), the bare verbs for daily
//! work in `verb`.

#![expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
#![expect(
    clippy::doc_markdown,
    reason = "these comments are help texts on a terminal"
)]

mod access;
mod accountant;
mod asset;
mod attention;
mod collect;
mod correction;
mod cycle;
mod hold;
pub(crate) mod kind;
mod migrate;
mod nami;
mod noun;
mod period;
mod personal;
mod price;
mod proof;
mod records;
mod report;
mod request;
mod scheduled;
mod share;
mod source;
mod statement;
mod unmapped;
mod usage;
pub(crate) mod value;
mod verb;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use self::value::idempotency_key;
use crate::fail::Failure;

#[cfg(test)]
pub(crate) use self::period::ZoneArgs;
pub(crate) use self::{
    access::{
        AddToken, DecideArgs, GrantArgs, LimitCommand, LimitOf, ProposalCommand, ProposeArgs,
        RoleCommand, SetLimit, TokenCommand, WebCommand,
    },
    accountant::{ImportTable, ImportTables, TakeArgs},
    asset::{
        AccountCommand, AddAccount, AddKey, AllocationCommand, Constraints, KeyCommand,
        LienCommand, Overflowing, Place, RotateKey, SetAllocation, SetKey,
    },
    attention::{AttentionCommand, ExpiringArgs, ForecastArgs, ListAttention},
    collect::{CollectArgs, CollectCommand, CollectStatusArgs},
    correction::{AdjustArgs, RefundArgs, SettleArgs, TransferArgs, UndoArgs},
    cycle::{AddCycle, ClockCommand, CycleCommand, MonitorArgs, SetCycle, WhatIfArgs},
    hold::{ChargeArgs, ObjectArgs, ReserveArgs, UsageArgs},
    kind::{Action, Given, KindCommand},
    migrate::{MigrateArgs, MigrateCommand},
    nami::{
        CheckArgs, DropArgs, MoabCommand, NamiCommand, One, Page, QuarantineCommand, SlurmArgs,
        SlurmCommand, SpoolCommand,
    },
    noun::{ImportUsers, MemberCommand, PeopleFormat, Switch},
    period::{AtArgs, NamedPeriodArgs, PeriodArgs, RecentArgs},
    personal::{LetterArgs, PersonArgs, PersonalArgs},
    price::{QuoteCommand, RateCommand, SetRate, TestRate},
    proof::{CheckpointArgs, StatusArgs, VerifyArgs},
    records::{
        ExportApel, ExportCommand, ExportCsv, ExportFile, ExportInvoice, ExportJsonl,
        ExportOnDemand, ExportPods, ExportUr1, ExportXdmod, FeedArgs, IgnoreArgs, Layout, Message,
        OnDemandValue, Profile, RecordsCommand, SpanArgs,
    },
    report::{OutputArgs, Resource, UsageTableArgs},
    request::{AskArgs, AskDeposit, AskExtension, AskMember, AskProject, RequestCommand},
    scheduled::{BalanceSheetArgs, MonthlyArgs, RunReportArgs},
    share::{Basis, Credit, EfficiencyArgs, PriorityArgs, ShareArgs, TopArgs},
    source::{ReconcileArgs, SetSource, SourceCommand},
    statement::{CloseArgs, CloseCommand, StatementArgs},
    unmapped::{AssignArgs, UnmappedArgs, UnmappedCommand},
    usage::{
        FallbackArgs, ImportArgs, QuarantinedCommand, ReadArgs, ReplayArgs, ReportArgs,
        ReportCommand, Which,
    },
    verb::{
        BalanceArgs, BatchArgs, DepositArgs, ExplainArgs, JobsArgs, JournalArgs, OnlyArgs,
        QueryArgs, QuoteArgs, SettlementArgs, WithdrawArgs,
    },
};

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 refused by a rule, 2 usage, 3 insufficient funds, 4 no such object, \
5 daemon unreachable or busy, 6 not authenticated or not allowed, 7 conflict, 70 internal.

Times: 2026-10-01, '2026-10-01 12:00:00', 2026-10, today, now, -30d, +10d, infinity. A window \
includes its start and excludes its end.

Tables: as wide as COLUMNS, else the terminal, else 80 columns. Wider tables are folded; a single \
column and the formats for programs are not.

Settings: flag, then BANK_SERVER, BANK_KEY_ID, BANK_KEY_FILE, BANK_TOKEN, BANK_FORMAT, \
BANK_PROJECT, BANK_CONFIG, then ~/.config/bank/bank.toml, then /etc/bank/bank.toml.";

/// The command line of the allocation bank.
#[derive(Debug, Parser)]
#[command(
    name = "bank",
    version,
    about,
    after_help = AFTER_HELP,
    max_term_width = 100,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show balances: deposited, used, held and available
    #[command(visible_alias = "bal")]
    Balance(BalanceArgs),
    /// Show the account statement of a period
    #[command(visible_alias = "stmt")]
    Statement(Box<StatementArgs>),
    /// Show usage totals by project, user, machine or time
    Usage(Box<UsageTableArgs>),
    /// Settle a month with a partner bank: both print the same totals
    Settlement(SettlementArgs),
    /// Close an accounting period; its statements become final
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Close(CloseArgs),
    /// Price a job and check the funds for it
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Quote(Box<QuoteArgs>),
    /// Place a lien for a job
    Reserve(ReserveArgs),
    /// Charge a job and close it; --interim leaves it open
    Charge(ChargeArgs),
    /// Deposit credits into an account
    Deposit(DepositArgs),
    /// Withdraw credits from an account
    Withdraw(WithdrawArgs),
    /// Transfer credits between accounts; start and end stay
    Transfer(TransferArgs),
    /// Refund a job to the accounts that paid for it
    Refund(RefundArgs),
    /// Post a manual adjustment (requires a reason)
    Adjust(AdjustArgs),
    /// Undo one transaction; later transactions stay
    Undo(UndoArgs),
    /// Assign unbilled usage of a job to a project
    Settle(SettleArgs),
    /// List jobs, or show the charges of one job
    Jobs(JobsArgs),
    /// List transactions of the journal
    Journal(JournalArgs),
    /// Explain the charges of a job, or one transaction
    Explain(ExplainArgs),
    /// Run a read-only query
    Query(QueryArgs),
    /// Run commands from a file of JSON lines, many in one request
    Batch(BatchArgs),
    /// Liens: credits held for running jobs
    #[command(subcommand)]
    Lien(LienCommand),
    /// Accounts and their access lists
    #[command(subcommand, visible_alias = "fund")]
    Account(AccountCommand),
    /// Allocations: credits with a start and an end
    #[command(subcommand, visible_alias = "alloc")]
    Allocation(AllocationCommand),
    /// Charge rates
    #[command(subcommand)]
    Rate(RateCommand),
    /// Signing keys of clients
    #[command(subcommand)]
    Key(KeyCommand),
    /// API tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// The web pages of the bank
    #[command(subcommand)]
    Web(WebCommand),
    /// Roles of users and clients
    #[command(subcommand)]
    Role(RoleCommand),
    /// Transaction limits
    #[command(subcommand)]
    Limit(LimitCommand),
    /// Pending approvals
    #[command(subcommand)]
    Proposal(ProposalCommand),
    /// Ask for a deposit, an extension, a member or a project
    #[command(subcommand)]
    Request(RequestCommand),
    /// Approve a pending request
    Approve(DecideArgs),
    /// Reject a pending request
    Reject(DecideArgs),
    /// Show daemon health
    Status(StatusArgs),
    /// Verify every balance and hash of the running bank
    Verify(VerifyArgs),
    /// Fetch a signed checkpoint of the bank
    Checkpoint(CheckpointArgs),
    /// Recurring deposits
    #[command(subcommand)]
    Cycle(CycleCommand),
    /// Show the requests that strict enforcement would refuse
    Monitor(MonitorArgs),
    /// Show the past jobs that strict enforcement would have refused
    WhatIf(WhatIfArgs),
    /// Settings in force and their sources
    Settings,
    /// The daemon's clock
    #[command(subcommand)]
    Clock(ClockCommand),
    /// Import usage records from accounting files
    Import(Box<ImportArgs>),
    /// Move in from Gold, Moab Accounting Manager, Slurm or CSV files
    #[command(subcommand)]
    Migrate(MigrateCommand),
    /// Rejected usage records (quarantine)
    #[command(subcommand)]
    Quarantine(QuarantinedCommand),
    /// Sources of usage records, and their state
    #[command(subcommand)]
    Source(SourceCommand),
    /// Compare charges of a machine with other sources
    Reconcile(ReconcileArgs),
    /// Usage without a project, and its assignment
    #[command(args_conflicts_with_subcommands = true)]
    Unmapped(Box<UnmappedArgs>),
    #[command(flatten)]
    Kind(KindCommand),
    /// Collect usage from Slurm, Prometheus, Nomad or Kubernetes
    #[command(subcommand)]
    Collect(CollectCommand),
    /// Fair-share priorities by past usage
    Priority(Box<PriorityArgs>),
    /// Reports: utilization, forecast, expiring allocations and more
    Report(ReportArgs),
    /// Alerts and their notifications
    #[command(subcommand)]
    Attention(AttentionCommand),
    /// Spool and quarantine of the scheduler's documents
    #[command(subcommand)]
    Nami(NamiCommand),
    /// Check a scheduler's configuration
    #[command(subcommand)]
    Moab(MoabCommand),
    /// Check the configuration of Slurm
    #[command(subcommand)]
    Slurm(SlurmCommand),
    /// Export usage records and balances
    #[command(subcommand)]
    Export(ExportCommand),
    /// Check usage record files
    #[command(subcommand)]
    Records(RecordsCommand),
    /// Create links with Gold's names, manual pages, completions
    #[command(subcommand)]
    Gen(GenCommand),
    /// Show help for commands and options
    Help(HelpArgs),
}

/// `bank help`.
#[derive(Debug, Default, Args)]
pub(crate) struct HelpArgs {
    /// List all commands
    #[arg(long)]
    pub(crate) all: bool,
    /// A command, such as `project add`; or `options`: the options of every command
    #[arg(value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}

/// `bank gen`, for installations.
#[derive(Debug, Subcommand)]
pub(crate) enum GenCommand {
    /// Link this program to Gold's command names: gbalance, gdeposit, …
    Links {
        /// Directory, such as /usr/local/bin
        dir: PathBuf,
    },
    /// Write the manual pages
    Man {
        /// Directory, such as /usr/local/share/man/man1
        dir: PathBuf,
    },
    /// Print completions
    Completions { shell: clap_complete::Shell },
    /// Check that a command line is valid, without running it
    Check {
        /// The words after bank
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Global {
    /// Address of the daemon: unix:/path or http://host:port; commas between several nodes
    #[arg(
        long,
        global = true,
        value_name = "ADDRESS",
        help_heading = "Connection"
    )]
    pub(crate) server: Option<String>,
    /// Id of the signing key (TCP only)
    #[arg(long, global = true, value_name = "ID", help_heading = "Connection")]
    pub(crate) key_id: Option<String>,
    /// File with the key's secret (TCP only)
    #[arg(long, global = true, value_name = "FILE", help_heading = "Connection")]
    pub(crate) key_file: Option<PathBuf>,
    /// Settings file to read instead of the default files
    #[arg(long, global = true, value_name = "FILE", help_heading = "Connection")]
    pub(crate) config: Option<PathBuf>,
    /// Output format
    #[arg(
        short = 'O',
        long,
        global = true,
        value_name = "FORM",
        help_heading = "Output"
    )]
    pub(crate) format: Option<Format>,
    /// Columns separated by |, with a trailing |
    #[arg(short = 'p', long, global = true, help_heading = "Output")]
    pub(crate) parsable: bool,
    /// Columns separated by |, without a trailing |
    #[arg(short = 'P', long, global = true, help_heading = "Output")]
    pub(crate) parsable2: bool,
    /// CSV; texts that look like formulas get a leading '
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) csv: bool,
    /// CSV without the protection against formulas
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) raw_text: bool,
    /// Accepted for compatibility; this is the default
    #[arg(long, global = true, hide = true, conflicts_with = "raw_text")]
    pub(crate) spreadsheet_safe: bool,
    /// JSON; amounts are strings
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
    /// Omit the header line
    #[arg(short = 'n', long, global = true, help_heading = "Output")]
    pub(crate) no_header: bool,
    /// Columns to print, in this order
    #[arg(
        long,
        global = true,
        value_name = "A,B,C",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub(crate) columns: Vec<String>,
    /// Print numbers without thousands separators
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) no_thousands: bool,
    /// Show amounts as hours or seconds, if credits are core-seconds
    #[arg(long, global = true, value_name = "UNITS", help_heading = "Output")]
    pub(crate) units: Option<Units>,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", help_heading = "Output")]
    pub(crate) color: Option<Color>,
    /// Print nothing on success
    #[arg(short = 'q', long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl Global {
    /// The form that the flags name, if any; a shorthand wins over `-O`. Two shorthands exclude each other.
    pub(crate) fn format_name(&self) -> Result<Option<&'static str>, Failure> {
        let short = [
            (self.json, "json"),
            (self.csv, "csv"),
            (self.parsable2, "parsable2"),
            (self.parsable, "parsable"),
        ];
        let mut named = short
            .into_iter()
            .filter_map(|(set, name)| set.then_some(name));
        let first = named.next();
        if let Some((one, other)) = first.zip(named.next()) {
            let words = format!("--{one} and --{other}: only one output format is possible");
            return Err(Failure::usage(words));
        }
        Ok(first.or(self.format.map(Format::name)))
    }
}

/// The forms of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns
    Table,
    /// `a|b|c|`
    Parsable,
    /// `a|b|c`
    Parsable2,
    /// Comma-separated values
    Csv,
    /// One JSON document
    Json,
    /// One JSON object per line
    Jsonl,
    /// A page to print, for `bank statement` and some reports
    Html,
    /// A chart, for some reports
    Svg,
}

impl Format {
    /// The word of the command line and of the settings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Parsable => "parsable",
            Self::Parsable2 => "parsable2",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Html => "html",
            Self::Svg => "svg",
        }
    }
}

/// What amounts are shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Units {
    /// Hours with two decimals
    Hours,
    /// Whole seconds
    Seconds,
    /// Credits, unchanged
    Raw,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Options of every command that writes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WriteArgs {
    /// Show the result without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Idempotency key: a repeat with the same key has no second effect
    #[arg(long, value_name = "TEXT", value_parser = idempotency_key)]
    pub(crate) key: Option<String>,
}

/// Options of every command that removes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    /// Do not ask for confirmation
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,
}

#[cfg(test)]
mod tests;
