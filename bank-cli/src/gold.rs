//! Gold's names: `gbalance`, `gdeposit` and their kin run the code of `bank` with Gold's options,
//! columns, messages and exit codes (ledger.md 5).
//!
//! The program acts by the name it is called by (`gold_tools`); `bank gen links DIR` makes the links.
//! Start at [`main`]; `options` says what each takes, `sheet` prints as Gold does, `list`, `money` and
//! `work` ask the daemon. Nothing here decides what the bank allows, and none of Gold's letters
//! means anything to `bank` itself.

mod job;
mod list;
mod message;
mod money;
mod options;
mod sheet;
mod statement;
mod usage;

use std::{ffi::OsString, io::Write as _, process::ExitCode};

use self::options::Given;
use bank_cli_picture::Zone;

use crate::{
    cli::Global, client::Client, clock, config, context::Context, fail::Failure, gold_tools::Tool,
    out::Form,
};

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
            let answer_text = message::failed(tool, &given, &failure);
            let _ = writeln!(std::io::stderr(), "{answer_text}");
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
        Tool::Quote => job::quote(context, given),
        Tool::Reserve => job::reserve(context, given),
        Tool::Charge => job::charge(context, given),
        Tool::Statement => statement::statement(context, given),
        Tool::Usage => usage::usage(context, given),
    }
}

#[cfg(test)]
mod tests;
