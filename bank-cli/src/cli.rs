//! The command tree of `bank` (ux.md 2.1) and the options that every command takes.
//!
//! Only shapes and help texts: nothing is decided here but what is a number and what is not.
//! The nouns stand in `noun` (people and machines) and `asset` (money), the bare verbs for daily
//! work in `verb`.

#![expect(
    clippy::doc_markdown,
    reason = "these comments are help texts on a terminal"
)]

mod access;
mod after;
mod asset;
mod attention;
mod collect;
mod cycle;
mod equipment;
mod hold;
mod mapping;
mod nami;
mod noun;
mod price;
mod proof;
mod records;
mod report;
mod scheduled;
mod share;
mod source;
mod statement;
mod usage;
mod verb;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

#[cfg(test)]
pub(crate) use self::statement::ZoneArgs;
pub(crate) use self::{
    access::{
        AddToken, DecideArgs, GrantArgs, LimitCommand, LimitOf, ProposalCommand, ProposeArgs,
        RoleCommand, SetLimit, TokenCommand,
    },
    after::{AdjustArgs, RefundArgs, SettleArgs, TransferArgs, UndoArgs},
    asset::{
        AccountCommand, AddAccount, AddKey, AllocationCommand, Constraints, KeyCommand,
        LienCommand, Overflowing, Place, RotateKey, SetAllocation, SetKey,
    },
    attention::{AttentionCommand, ExpiringArgs, ForecastArgs, ListAttention},
    collect::{CollectArgs, CollectCommand, CollectStatusArgs},
    cycle::{AddCycle, ClockCommand, CycleCommand, MonitorArgs, SetCycle, WhatIfArgs},
    equipment::{
        AddContribution, AddDowntime, AddHardware, ContributionCommand, ContributorArgs,
        ContributorCommand, DowntimeCommand, HardwareCommand, ImportTable, ImportTables,
        SetContribution, SetDowntime, SetHardware, TakeArgs, ValidArgs,
    },
    hold::{ChargeArgs, ObjectArgs, ReserveArgs, UsageArgs},
    mapping::{AddMapping, AssignArgs, MappingCommand, SetMapping, UnmappedArgs, UnmappedCommand},
    nami::{
        CheckArgs, DropArgs, MoabCommand, NamiCommand, One, Page, QuarantineCommand, SpoolCommand,
    },
    noun::{
        AddMachine, AddProject, AddUser, ImportUsers, MachineCommand, MemberCommand, PeopleFormat,
        ProjectCommand, SetMachine, SetProject, SetUser, Switch, UserCommand,
    },
    price::{AttrCommand, QuoteCommand, RateCommand, SetRate, TestRate},
    proof::{CheckpointArgs, VerifyArgs},
    records::{
        ExportApel, ExportCommand, ExportCsv, ExportFile, ExportInvoice, ExportJsonl,
        ExportOnDemand, ExportPods, ExportUr1, FeedArgs, IgnoreArgs, Message, OnDemandValue,
        Profile, RecordsCommand, SpanArgs,
    },
    report::{OutputArgs, Resource, UsageTableArgs},
    scheduled::{BalanceSheetArgs, MonthlyArgs, RunReportArgs},
    share::{Basis, Credit, EfficiencyArgs, PriorityArgs, ShareArgs, TopArgs},
    source::{ReconcileArgs, SetSource, SourceCommand},
    statement::{CloseArgs, CloseCommand, NamedPeriodArgs, PeriodArgs, RecentArgs, StatementArgs},
    usage::{
        FallbackArgs, ImportArgs, QuarantinedCommand, ReadArgs, ReplayArgs, ReportArgs,
        ReportCommand, Which,
    },
    verb::{
        AtArgs, BalanceArgs, DepositArgs, ExplainArgs, JobsArgs, JournalArgs, OnlyArgs, QueryArgs,
        QuoteArgs, WithdrawArgs,
    },
};

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 refused by a rule, 2 usage, 3 insufficient funds, 4 no such object, \
5 daemon unreachable or busy, 6 not authenticated or not allowed, 7 conflict, 70 internal.

Times: 2026-10-01, '2026-10-01 12:00:00', 2026-10, today, now, -30d, +10d, infinity. A window \
includes its start and excludes its end.

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
    /// Show what projects have, hold and may still spend
    #[command(visible_alias = "bal")]
    Balance(BalanceArgs),
    /// What came and went on accounts over a time
    #[command(visible_alias = "stmt")]
    Statement(Box<StatementArgs>),
    /// What was used, by whose it is and by buckets of time
    Usage(Box<UsageTableArgs>),
    /// Close the books of a period: its statements never change again
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Close(CloseArgs),
    /// Price a job and say whether it could start
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Quote(Box<QuoteArgs>),
    /// Hold money for a job
    Reserve(ReserveArgs),
    /// Bill a job, and close it unless told otherwise
    Charge(ChargeArgs),
    /// Put money into an account
    Deposit(DepositArgs),
    /// Take money out of an account
    Withdraw(WithdrawArgs),
    /// Move money between accounts; it keeps its windows
    Transfer(TransferArgs),
    /// Give back what a job was charged, to who paid
    Refund(RefundArgs),
    /// Put an account right, with a reason
    Adjust(AdjustArgs),
    /// Undo one transaction; what came after it stays
    Undo(UndoArgs),
    /// Bill a project for a job that #unbilled carries
    Settle(SettleArgs),
    /// Show jobs, or what one job was charged and why
    Jobs(JobsArgs),
    /// Show the journal
    Journal(JournalArgs),
    /// Why a job was charged as it was, or what a transaction did
    Explain(ExplainArgs),
    /// Ask in the query language; it only reads
    Query(QueryArgs),
    /// The money held for jobs
    #[command(subcommand)]
    Lien(LienCommand),
    /// Projects, their members and their tree
    #[command(subcommand, visible_alias = "proj")]
    Project(ProjectCommand),
    /// Users
    #[command(subcommand)]
    User(UserCommand),
    /// Machines, that is clusters with one scheduler
    #[command(subcommand)]
    Machine(MachineCommand),
    /// Accounts: who may spend what, where
    #[command(subcommand, visible_alias = "fund")]
    Account(AccountCommand),
    /// Allocations: money with a window of time
    #[command(subcommand, visible_alias = "alloc")]
    Allocation(AllocationCommand),
    /// What use costs
    #[command(subcommand)]
    Rate(RateCommand),
    /// Usage attributes that this site's jobs have beyond the usual ones
    #[command(subcommand, alias = "attribute")]
    Attr(AttrCommand),
    /// Signing keys of clients
    #[command(subcommand)]
    Key(KeyCommand),
    /// API tokens: what a program shows in place of a signature
    #[command(subcommand)]
    Token(TokenCommand),
    /// Roles of people
    #[command(subcommand)]
    Role(RoleCommand),
    /// How much somebody may move
    #[command(subcommand)]
    Limit(LimitCommand),
    /// What waits for a second pair of eyes
    #[command(subcommand)]
    Proposal(ProposalCommand),
    /// Do what somebody else proposed
    Approve(DecideArgs),
    /// Say that nothing will come of a proposal
    Reject(DecideArgs),
    /// Is the daemon healthy?
    Status,
    /// Prove every balance and hash, while the bank is served
    Verify(VerifyArgs),
    /// Fetch a signed checkpoint of what the bank is now
    Checkpoint(CheckpointArgs),
    /// Money that comes again each month, quarter or year
    #[command(subcommand)]
    Cycle(CycleCommand),
    /// What strict enforcement would refuse, as it happens
    Monitor(MonitorArgs),
    /// Which jobs strict enforcement would have refused
    WhatIf(WhatIfArgs),
    /// The daemon's clock
    #[command(subcommand)]
    Clock(ClockCommand),
    /// Take in finished usage
    Import(Box<ImportArgs>),
    /// What collectors sent that could not be read or taken in
    #[command(subcommand)]
    Quarantine(QuarantinedCommand),
    /// Collectors: who reports usage, and whether they still do
    #[command(subcommand)]
    Source(SourceCommand),
    /// What a machine was charged beside what others recorded
    Reconcile(ReconcileArgs),
    /// Whom usage is for, where its source says it in names of its own
    #[command(subcommand)]
    Mapping(MappingCommand),
    /// Usage that waits for a project
    #[command(args_conflicts_with_subcommands = true)]
    Unmapped(Box<UnmappedArgs>),
    /// What clusters are made of, and when: factors of hosts, and capacity
    #[command(subcommand)]
    Hardware(HardwareCommand),
    /// Who paid for clusters, and when
    #[command(subcommand)]
    Contribution(ContributionCommand),
    /// Whom contributions are credited to, and whose projects use the clusters
    #[command(subcommand)]
    Contributor(ContributorCommand),
    /// Fetch usage where it is, and send it to the bank
    #[command(subcommand)]
    Collect(CollectCommand),
    /// Priorities of groups from what they used, and a program that sets them
    Priority(Box<PriorityArgs>),
    /// What happened over a time, and what comes
    Report(ReportArgs),
    /// What wants attention, and who is told
    #[command(subcommand)]
    Attention(AttentionCommand),
    /// The scheduler's documents: what waits, what was set aside, what they would do
    #[command(subcommand)]
    Nami(NamiCommand),
    /// A scheduler's configuration
    #[command(subcommand)]
    Moab(MoabCommand),
    /// Usage records of the past, as the record files have them
    #[command(subcommand)]
    Export(ExportCommand),
    /// Files of usage records
    #[command(subcommand)]
    Records(RecordsCommand),
    /// Make links by Gold's names, manual pages, completions
    #[command(subcommand, hide = true)]
    Gen(GenCommand),
}

/// `bank gen`, for installations.
#[derive(Debug, Subcommand)]
pub(crate) enum GenCommand {
    /// Link this program by Gold's names: gbalance, gdeposit, …
    Links {
        /// Where, such as /usr/local/bin
        dir: PathBuf,
    },
    /// Write the manual pages
    Man {
        /// Where, such as /usr/local/share/man/man1
        dir: PathBuf,
    },
    /// Print completions
    Completions { shell: clap_complete::Shell },
    /// Say whether these words would be understood; nothing is asked of the daemon
    Check {
        /// What would stand after bank
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
pub(crate) struct Global {
    /// Address of the daemon: unix:/path or http://host:port
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
    /// Settings file to read instead of the usual ones
    #[arg(long, global = true, value_name = "FILE", help_heading = "Connection")]
    pub(crate) config: Option<PathBuf>,
    /// Form of the output
    #[arg(
        short = 'O',
        long,
        global = true,
        value_name = "FORM",
        help_heading = "Output"
    )]
    pub(crate) format: Option<Format>,
    /// Columns separated by |, with one at the end of the line
    #[arg(short = 'p', long, global = true, help_heading = "Output")]
    pub(crate) parsable: bool,
    /// Columns separated by |, without one at the end
    #[arg(short = 'P', long, global = true, help_heading = "Output")]
    pub(crate) parsable2: bool,
    /// Comma-separated values, with a ' before texts that a spreadsheet would take for a formula
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) csv: bool,
    /// Print CSV texts unchanged, without the guard against formulas
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) raw_text: bool,
    /// Accepted for compatibility: the default of CSV
    #[arg(long, global = true, hide = true, conflicts_with = "raw_text")]
    pub(crate) spreadsheet_safe: bool,
    /// JSON; amounts are strings
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
    /// Leave out the line of column names
    #[arg(short = 'n', long, global = true, help_heading = "Output")]
    pub(crate) no_header: bool,
    /// Which columns, in which order
    #[arg(
        long,
        global = true,
        value_name = "A,B,C",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub(crate) columns: Vec<String>,
    /// Do not separate thousands
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) no_thousands: bool,
    /// Amounts of lists as hours or seconds, where the bank counts in time
    #[arg(long, global = true, value_name = "UNITS", help_heading = "Output")]
    pub(crate) units: Option<Units>,
    /// When to colour
    #[arg(long, global = true, value_name = "WHEN", help_heading = "Output")]
    pub(crate) color: Option<Color>,
    /// Print nothing on success
    #[arg(short = 'q', long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl Global {
    /// The form that the flags name, if any; the shorthands win over `-O`.
    pub(crate) fn format_name(&self) -> Option<&'static str> {
        let short = [
            (self.json, "json"),
            (self.csv, "csv"),
            (self.parsable2, "parsable2"),
            (self.parsable, "parsable"),
        ];
        let named = short
            .into_iter()
            .find_map(|(set, name)| set.then_some(name));
        named.or(self.format.map(Format::name))
    }
}

/// The forms of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns for people
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
    /// A page to print, of `bank statement` and some reports
    Html,
    /// One picture, of some reports
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
    /// With two decimals
    Hours,
    /// Whole seconds
    Seconds,
    /// As the bank counts
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
    /// Decide and say what would happen, write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Key of this command: a repeat under the same key does it at most once
    #[arg(long, value_name = "TEXT", value_parser = idempotency_key)]
    pub(crate) key: Option<String>,
}

/// Options of every command that removes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    /// Do not ask
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,
}

/// 1 to 255 visible ASCII characters without `#` (http-auth.md 3).
fn idempotency_key(text: &str) -> Result<String, String> {
    let good = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'#');
    if good && (1..=255).contains(&text.len()) {
        Ok(text.to_owned())
    } else {
        Err("1 to 255 visible ASCII characters, no #".to_owned())
    }
}

/// A decimal number with an optional sign. How many digits are allowed is the bank's to say.
pub(crate) fn amount(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if number(whole) && number(fraction) && !(whole.is_empty() && fraction.is_empty()) {
        Ok(text.strip_prefix('+').unwrap_or(text).to_owned())
    } else {
        Err("not a number; write digits and at most one point, such as 250000 or 12.5".to_owned())
    }
}

#[cfg(test)]
mod tests;
