//! Arguments of `bank request`.

use bank_api::v1::REQUEST_STATES;
use clap::{Args, Subcommand, builder::PossibleValue};

use super::{WriteArgs, access::ProposeArgs, value::amount};

/// `bank request`.
#[derive(Debug, Subcommand)]
pub(crate) enum RequestCommand {
    /// Ask for a deposit
    Deposit(AskDeposit),
    /// Ask for a later end of an allocation
    Extension(AskExtension),
    /// Ask to add or remove a member
    Member(AskMember),
    /// Ask for a new project
    Project(AskProject),
    /// List your requests, and those that you may answer
    #[command(alias = "list")]
    Ls {
        /// Only your own
        #[arg(long)]
        mine: bool,
        /// Only those of this state
        // `declined` is an earlier word for `rejected`.
        #[arg(long, value_name = "STATE",
              value_parser = REQUEST_STATES.map(|state| match state {
                  "rejected" => PossibleValue::new(state).alias("declined"),
                  state => PossibleValue::new(state),
              }))]
        state: Option<String>,
    },
    /// Show one request with its answer
    #[command(alias = "get")]
    Show {
        /// Number of the request
        id: i64,
    },
    /// Approve a pending request
    Approve {
        /// Number of the request
        id: i64,
        /// Answer, recorded in the journal
        #[arg(long, value_name = "TEXT")]
        answer: Option<String>,
        #[command(flatten)]
        write: ProposeArgs,
    },
    /// Reject a request
    #[command(alias = "decline")]
    Reject {
        /// Number of the request
        id: i64,
        /// Answer, recorded in the journal
        #[arg(long, value_name = "TEXT")]
        answer: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Withdraw a request of your own
    Withdraw {
        /// Number of the request
        id: i64,
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// The reason of a request.
#[derive(Debug, Clone, Args)]
pub(crate) struct AskArgs {
    /// Why, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// The window of a deposit that is asked for.
#[derive(Debug, Clone, Args)]
pub(crate) struct AskWindow {
    /// Start of the window, inclusive [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// End of the window, exclusive [default: none]
    #[arg(long, alias = "until", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<String>,
}

/// `bank request deposit`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AskDeposit {
    /// Account, or project with one account
    pub(crate) name: String,
    /// Amount
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    #[command(flatten)]
    pub(crate) window: AskWindow,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// `bank request extension`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AskExtension {
    /// Number of the allocation
    pub(crate) allocation: i64,
    /// New end of the window, exclusive
    #[arg(long, alias = "until", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: String,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// `bank request member`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AskMember {
    /// Project
    pub(crate) project: String,
    /// Login name of the user
    pub(crate) user: String,
    /// Remove the member
    #[arg(long)]
    pub(crate) remove: bool,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// `bank request project`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AskProject {
    /// Name of the project
    pub(crate) name: String,
    /// Parent project
    #[arg(long, value_name = "PROJECT")]
    pub(crate) parent: Option<String>,
    /// Free text
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Principal investigator [default: you]
    #[arg(long, value_name = "USER")]
    pub(crate) pi: Option<String>,
    /// Amount of the first deposit
    #[arg(long, value_name = "AMOUNT", value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: Option<String>,
    #[command(flatten)]
    pub(crate) window: AskWindow,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}
