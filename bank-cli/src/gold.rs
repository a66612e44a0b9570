//! Gold's names: `gbalance`, `gdeposit` and their kin run the code of `bank` with Gold's options,
//! columns, messages and exit codes (ledger.md 5).
//!
//! The program acts by the name it is called by; `bank gen links DIR` makes the links. Start at
//! [`Tool`]; `options` says what each takes, `sheet` prints as Gold does, `list`, `money` and
//! `work` ask the daemon. Nothing here decides what the bank allows, and none of Gold's letters
//! means anything to `bank` itself.

mod list;
mod message;
mod money;
mod options;
mod sheet;
mod statement;
mod usage;
mod work;

use std::{
    ffi::{OsStr, OsString},
    io::Write as _,
    path::Path,
    process::ExitCode,
};

use self::options::Given;
use crate::{
    cli::Global, client::Client, clock, cmd::Context, config, fail::Failure, out::Form, zone::Zone,
};

/// One of Gold's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// What accounts have.
    Balance,
    /// What the caller's accounts have.
    MyBalance,
    /// Money into an account.
    Deposit,
    /// Money out of an account.
    Withdraw,
    /// Money from one account to another.
    Transfer,
    /// What a job was charged, given back.
    Refund,
    /// The price of a job.
    Quote,
    /// Money held for a job.
    Reserve,
    /// What a job used, billed.
    Charge,
    /// The projects.
    Projects,
    /// The accounts.
    Accounts,
    /// The allocations.
    Allocations,
    /// The reservations, which are liens here.
    Reservations,
    /// What came and went on accounts.
    Statement,
    /// What users were charged.
    Usage,
}

/// The names, in the order of the manual.
pub(crate) const TOOLS: [(&str, Tool); 15] = [
    ("gbalance", Tool::Balance),
    ("gcharge", Tool::Charge),
    ("gdeposit", Tool::Deposit),
    ("glsaccount", Tool::Accounts),
    ("glsalloc", Tool::Allocations),
    ("glsproject", Tool::Projects),
    ("glsres", Tool::Reservations),
    ("gquote", Tool::Quote),
    ("grefund", Tool::Refund),
    ("greserve", Tool::Reserve),
    ("gstatement", Tool::Statement),
    ("gtransfer", Tool::Transfer),
    ("gusage", Tool::Usage),
    ("gwithdraw", Tool::Withdraw),
    ("mybalance", Tool::MyBalance),
];

impl Tool {
    /// The tool that a program's own name means; none for `bank` and everything else.
    pub(crate) fn of(argv0: &OsStr) -> Option<Self> {
        let name = Path::new(argv0).file_name()?.to_str()?;
        let known = TOOLS.iter().find(|(known, _)| *known == name)?;
        Some(known.1)
    }

    /// The name.
    pub(crate) fn name(self) -> &'static str {
        let known = TOOLS.iter().find(|(_, tool)| *tool == self);
        known.map_or("bank", |(name, _)| name)
    }
}

/// Runs a tool with the words after its name.
pub(crate) fn main(tool: Tool, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let given = match options::read(tool, arguments) {
        Ok(given) => given,
        Err(error) => {
            if let Some(failure) = Failure::of_parser(&error) {
                let _ = writeln!(std::io::stderr(), "{}: {}", tool.name(), failure.what);
                return ExitCode::from(failure.exit);
            }
            // Help goes to standard output; that nobody reads it is no failure.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = context(&given).and_then(|context| run(&context, tool, &given));
    match done.and_then(|text| crate::print(&text)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => {
            let said = message::failed(tool, &given, &failure);
            let _ = writeln!(std::io::stderr(), "{said}");
            ExitCode::from(message::exit(&failure))
        }
    }
}

fn context(given: &Given) -> Result<Context, Failure> {
    let flags = Global::default();
    let settings = config::load(&flags)?;
    Ok(Context {
        client: Client::new(&settings)?,
        form: Form::new(&flags, None, Zone::Local)?,
        quiet: given.flag("quiet"),
        project: settings.project,
        now_us: clock::now_us(),
        zone: Zone::Local,
        file: None,
    })
}

fn run(context: &Context, tool: Tool, given: &Given) -> Result<String, Failure> {
    match tool {
        Tool::Balance => list::balance(context, given, None),
        Tool::MyBalance => list::balance(context, given, config::login()),
        Tool::Projects => list::projects(context, given),
        Tool::Accounts => list::accounts(context, given),
        Tool::Allocations => list::allocations(context, given),
        Tool::Reservations => list::reservations(context, given),
        Tool::Deposit => money::deposit(context, given),
        Tool::Withdraw => money::withdraw(context, given),
        Tool::Transfer => money::transfer(context, given),
        Tool::Refund => money::refund(context, given),
        Tool::Quote => work::quote(context, given),
        Tool::Reserve => work::reserve(context, given),
        Tool::Charge => work::charge(context, given),
        Tool::Statement => statement::statement(context, given),
        Tool::Usage => usage::usage(context, given),
    }
}

#[cfg(test)]
mod tests;
