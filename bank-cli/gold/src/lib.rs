//! Gold's commands: `gbalance`, `gdeposit` and the others are thin clients of Gold's protocol.
//!
//! A command line becomes requests, as Gold's own clients build them. The daemon answers them at
//! `/api/v1/gold`: rules, codes and messages of Gold are in the daemon only. The program `bank` brings the way to the daemon and prints the texts. Start at `tools`, the table of the
//! commands. `options` reads the command line, `request` builds requests, `response` reads answers, `table`
//! prints rows. `list`, `record`, `balance`, `statement`, `usage`, `money`, `job` and `shell` are the families.

mod account;
mod balance;
mod clock;
mod job;
mod list;
mod lists;
mod money;
mod options;
mod record;
mod records;
mod request;
mod response;
mod session;
mod shape;
mod shell;
mod statement;
mod table;
mod tools;
mod usage;
mod xml;

use bank_api::exit::bank as exit;

pub use self::{
    clock::Clock,
    options::{Given, command, complaint, read},
    session::{Broken, Link, Piece, Session},
    shell::interactive,
    tools::{TOOLS, Tool},
};
use self::{session::Stop, tools::Work};

/// Does the work of a tool. Returns the exit code.
pub fn run(tool: &Tool, session: &mut Session<'_>) -> u8 {
    let done = if session.given.fits() {
        work(tool, session)
    } else {
        Err(Stop::Usage(None))
    };
    match done {
        Ok(exit) | Err(Stop::Exit(exit)) => exit,
        Err(Stop::Usage(first)) => {
            let usage = command(tool).render_usage();
            let first = first.map(|line| line + "\n").unwrap_or_default();
            session.complain(&format!("{first}{usage}"));
            exit::USAGE
        }
        Err(Stop::Failed(broken)) => {
            session.complain(&broken.line);
            broken.exit
        }
    }
}

fn work(tool: &Tool, session: &mut Session<'_>) -> Result<u8, Stop> {
    match tool.work {
        Work::List(list) => list::list(session, list),
        Work::Record(record) => record::run(session, record),
        Work::MakeAccount => record::make_account(session),
        Work::Balance => balance::balance(session),
        Work::MyBalance => balance::mine(session),
        Work::Statement => statement::statement(session),
        Work::Usage => usage::usage(session),
        Work::Deposit => money::deposit(session),
        Work::Withdraw => money::withdraw(session),
        Work::Transfer => money::transfer(session),
        Work::Refund => money::refund(session),
        Work::Job(action) => job::run(session, action),
        Work::Shell => shell::one(session),
        Work::Password => Err(session.refuse(
            "This bank has no passwords. Programs sign their requests with keys: see `bank key --help`.",
        )),
    }
}

#[cfg(test)]
mod tests;
