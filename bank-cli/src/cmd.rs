//! The commands, one file for each noun or verb.
//!
//! A command asks the daemon and returns the text for standard output; it must never decide what
//! the bank allows. This file has what they share: the sentence after a change, and the question
//! before a removal. They read and write through `context`.

mod account;
mod allocation;
mod attention;
mod balance;
mod batch;
mod burn;
mod charge;
mod close;
mod collect;
mod correction;
mod cycle;
mod deposit;
mod explain;
mod export;
pub(crate) mod generate;
mod import;
mod job;
mod journal;
mod key;
mod kind;
mod lien;
mod mapping;
mod member;
mod migrate;
mod moab;
mod monitor;
mod monthly;
pub(crate) mod movements;
pub(crate) mod nami;
mod once;
mod partner;
pub(crate) mod personal;
mod pictured;
mod priority;
mod proof;
mod proposal;
mod quarantine;
mod query;
mod quote;
mod rate;
mod reconcile;
pub(crate) mod records;
mod report;
mod request;
mod reserve;
mod role;
mod scheduled;
mod settings;
mod share;
mod sheet;
mod slurm;
mod source;
mod statement;
mod status;
mod stored_quote;
mod token;
pub(crate) mod units;
mod unmapped;
mod usage;
mod user_import;
mod web;
mod whatif;
pub(crate) mod zone;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::File,
    io::{self, IsTerminal as _, Read as _, Write as _},
};

use bank_api::v1::{RemoveQuery, Removed, WriteQuery};
use serde::{Serialize, de::DeserializeOwned};
use ureq::http::Method;

use crate::{
    cli::{Command, ProposeArgs, RemoveArgs},
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{self, Sheet},
};

/// A record of a declared kind: its key and the values of its fields.
type Record = serde_json::Map<String, serde_json::Value>;

/// Runs a command and returns what goes to standard output.
pub(crate) fn run(context: &Context, command: Command) -> Result<String, Failure> {
    match command {
        Command::Balance(args) => balance::run(context, &args),
        Command::Statement(args) => statement::run(context, &args),
        Command::Usage(args) => usage::run(context, &args),
        Command::Settlement(args) => partner::settlement(context, &args),
        Command::Close(args) => close::run(context, args),
        Command::Quote(args) => quote::run(context, *args),
        Command::Reserve(args) => reserve::run(context, args),
        Command::Charge(args) => charge::run(context, args),
        Command::Deposit(args) => deposit::deposit(context, args),
        Command::Withdraw(args) => deposit::withdraw(context, args),
        Command::Jobs(args) => job::run(context, args),
        Command::Journal(args) => journal::run(context, args),
        Command::Explain(args) => explain::run(context, args),
        Command::Query(args) => query::run(context, &args),
        Command::Batch(args) => batch::run(context, &args),
        Command::Lien(command) => lien::run(context, command),
        Command::Account(command) => account::run(context, command),
        Command::Allocation(command) => allocation::run(context, command),
        Command::Rate(command) => rate::run(context, command),
        Command::Key(command) => key::run(context, command),
        Command::Token(command) => token::run(context, command),
        Command::Web(command) => web::run(context, command),
        Command::Role(command) => role::run(context, command),
        Command::Limit(command) => role::limit(context, command),
        Command::Proposal(command) => proposal::run(context, &command),
        Command::Request(command) => request::run(context, command),
        Command::Approve(args) => proposal::decide(context, &args, "approve"),
        Command::Reject(args) => proposal::decide(context, &args, "reject"),
        Command::Status(args) => status::run(context, args),
        Command::Verify(args) => proof::verify(context, args),
        Command::Checkpoint(args) => proof::checkpoint(context, &args),
        Command::Cycle(command) => cycle::run(context, command),
        Command::Monitor(args) => monitor::run(context, args),
        Command::WhatIf(args) if args.enforce_from.is_some() => monitor::enforced(context, args),
        Command::WhatIf(args) => whatif::run(context, args),
        Command::Settings => settings::run(context),
        Command::Clock(command) => whatif::clock(context, command),
        Command::Import(args) => import::run(context, &args),
        Command::Migrate(command) => migrate::run(context, command),
        Command::Quarantine(command) => quarantine::run(context, command),
        Command::Source(command) => source::run(context, command),
        Command::Reconcile(args) => reconcile::run(context, args),
        Command::Unmapped(args) => unmapped::run(context, *args),
        Command::Kind(command) => kind::run(context, command),
        Command::Collect(command) => collect::run(context, command),
        Command::Priority(args) => priority::run(context, *args),
        Command::Report(args) => report::run(context, args.command),
        Command::Attention(command) => attention::run(context, command),
        Command::Export(command) => export::run(context, command),
        Command::Records(command) => records::run(command),
        Command::Gen(command) => generate::run(command),
        Command::Help(requested) => crate::help::show(&requested),
        Command::Moab(command) => moab::run(context, command),
        Command::Slurm(command) => slurm::run(context, command),
        Command::Nami(command) => nami::run(&context.form, command),
        Command::Transfer(args) => correction::transfer(context, args),
        Command::Refund(args) => correction::refund(context, args),
        Command::Adjust(args) => correction::adjust(context, args),
        Command::Undo(args) => correction::undo(context, args),
        Command::Settle(args) => correction::settle(context, args),
    }
}

/// What came of an operation that may need a second pair of eyes.
pub(crate) enum Sent<T> {
    /// It was done, or decided.
    Done(T),
    /// It waits for somebody else; this is said of it.
    Proposed(String),
}

impl Context {
    /// Sends an operation that may need a second pair of eyes. What was only proposed comes as what is
    /// said of that.
    pub(crate) fn send_or_propose<T: DeserializeOwned>(
        &self,
        method: Method,
        segments: &[&str],
        body: &impl Serialize,
        args: &ProposeArgs,
    ) -> Result<Sent<T>, Failure> {
        let write = &args.write;
        if !args.propose {
            return self.send(method, segments, body, write).map(Sent::Done);
        }
        self.form.of_change()?;
        let query = bank_api::v1::ProposeQuery {
            dry_run: write.dry_run,
            propose: true,
        };
        let target = client::path(segments) + &client::query(&query);
        let call = Call::send(method, target, body, Some(crate::context::key(write)?))?;
        let proposal = self.client.call(&call)?;
        proposal::proposed(self, &proposal).map(Sent::Proposed)
    }

    /// Reads a list to its end and shows it.
    fn list<T: DeserializeOwned + Serialize>(
        &self,
        segments: &[&str],
        query: &impl Serialize,
        sheet: impl FnOnce(&[T]) -> Sheet,
    ) -> Result<String, Failure> {
        let list = self.all(segments, query)?;
        self.form.list(&list, &sheet(&list.items))
    }

    /// Reads an object and shows it.
    fn show<T: DeserializeOwned + Serialize>(
        &self,
        segments: &[&str],
        query: &impl Serialize,
        sheet: impl FnOnce(&[T]) -> Sheet,
    ) -> Result<String, Failure> {
        let one: T = self.get(segments, query)?;
        self.form.one(&one, &sheet(std::slice::from_ref(&one)))
    }

    /// Removes an object, having asked for it on a terminal.
    fn remove<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        what: &str,
        remove: &RemoveArgs,
    ) -> Result<T, Failure> {
        let query = WriteQuery {
            dry_run: remove.write.dry_run,
        };
        self.remove_by(segments, &query, what, remove)
    }

    /// The same with further parameters.
    fn remove_by<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        query: &impl Serialize,
        what: &str,
        remove: &RemoveArgs,
    ) -> Result<T, Failure> {
        self.form.of_change()?;
        if !(remove.yes || remove.write.dry_run) {
            confirm(what)?;
        }
        let target = client::path(segments) + &client::query(query);
        let call = Call::delete(target, crate::context::key(&remove.write)?);
        Ok(self.client.call(&call)?)
    }

    /// The same, with its money and its liens where that is asked for.
    fn remove_forced(
        &self,
        segments: &[&str],
        what: &str,
        remove: &RemoveArgs,
        force: bool,
    ) -> Result<Removed, Failure> {
        if !force {
            return self.remove(segments, what, remove);
        }
        let query = RemoveQuery {
            dry_run: remove.write.dry_run,
            force,
        };
        self.remove_by(segments, &query, &format!("{what} with its money"), remove)
    }

    /// What is said after a change: the answer itself in JSON, else the sentence and the
    /// transaction; nothing where the caller wants quiet.
    fn done<T: Serialize>(
        &self,
        answer: &T,
        sentence: &str,
        transaction: Option<i64>,
        dry_run: bool,
        warnings: &[String],
    ) -> Result<String, Failure> {
        for warning in warnings {
            out::warn(warning);
        }
        if self.is_json() {
            return self.form.one(answer, &Sheet::default());
        }
        let mut text = String::new();
        if dry_run {
            text.push_str("dry run, nothing written: ");
        }
        text.push_str(sentence);
        text.push('\n');
        if let Some(transaction) = transaction {
            let _ = writeln!(text, "transaction {transaction}");
        }
        Ok(text)
    }

    /// [`Self::done`] for what a noun's `add` and `set` answer.
    fn written<T: Serialize>(
        &self,
        answer: &bank_api::v1::Written<T>,
        sentence: &str,
    ) -> Result<String, Failure> {
        self.done(
            answer,
            sentence,
            answer.transaction,
            answer.dry_run,
            &answer.warnings,
        )
    }

    /// [`Self::done`] for `rm`.
    fn removed(&self, answer: &Removed, sentence: &str) -> Result<String, Failure> {
        self.done(
            answer,
            sentence,
            answer.transaction,
            answer.dry_run,
            &answer.warnings,
        )
    }

    /// What an import did; with `--strict`, a failure if it left out something.
    fn imported<T: Serialize>(
        &self,
        answer: &T,
        sentence: &str,
        dry_run: bool,
        left_out: Option<String>,
    ) -> Result<String, Failure> {
        let text = self.done(answer, sentence, None, dry_run, &[])?;
        match left_out {
            None => Ok(text),
            Some(what) => Err(Failure {
                before: Some(text),
                ..Failure::of(bank_api::exit::bank::REFUSED, what)
            }),
        }
    }

    /// True where a program reads JSON.
    fn is_json(&self) -> bool {
        matches!(
            self.form.format,
            crate::cli::Format::Json | crate::cli::Format::Jsonl
        )
    }
}

/// `: 12 added, 3 refused`; empty without outcomes.
fn counted(outcomes: &BTreeMap<String, u64>) -> String {
    let counts: Vec<String> = outcomes
        .iter()
        .map(|(word, n)| format!("{n} {word}"))
        .collect();
    match counts.as_slice() {
        [] => String::new(),
        counts => format!(": {}", counts.join(", ")),
    }
}

/// A file of at most 64 MiB, or standard input for `-`. The error is the reason.
fn read_file(path: &str) -> Result<Vec<u8>, String> {
    const MAX: u64 = 64 << 20;
    let mut bytes = Vec::new();
    let read = if path == "-" {
        io::stdin().lock().take(MAX + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(MAX + 1).read_to_end(&mut bytes))
    };
    match read {
        Ok(read) if u64::try_from(read).is_ok_and(|read| read <= MAX) => Ok(bytes),
        Ok(_) => Err("longer than 64 MiB".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Asks on a terminal; elsewhere `--yes` is demanded.
fn confirm(what: &str) -> Result<(), Failure> {
    let stdin = io::stdin();
    let unconfirmed =
        || Failure::usage(format!("not confirmed: {what}")).hint("add --yes to confirm it");
    if !(stdin.is_terminal() && io::stderr().is_terminal()) {
        return Err(unconfirmed());
    }
    let mut answer = String::new();
    let prompt = write!(io::stderr(), "{what}? [y/N] ");
    prompt
        .and_then(|()| stdin.read_line(&mut answer))
        .map_err(|_| unconfirmed())?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(unconfirmed()),
    }
}

/// `no changes` is a mistake of the caller, not a request.
fn nothing_to_set() -> Failure {
    Failure::usage("nothing to change").hint("name at least one option; --help lists them")
}
