//! `bank verify` proves the bank that is served, while it is; `bank checkpoint` fetches a signed one.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{IsTerminal as _, Write as _};

use bank_api::exit::bank as exit;
use bank_api::v1::{SignedCheckpoint, Verification, VerificationQuery};
use ureq::http::Method;

use crate::{
    cli::{CheckpointArgs, VerifyArgs},
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

/// Seconds that one question waits for the end.
const WAIT_S: u32 = 10;

pub(super) fn verify(context: &Context, args: VerifyArgs) -> Result<String, Failure> {
    let standing: Verification = if args.last {
        context.get(&["verifications"], &VerificationQuery::default())?
    } else {
        let path = client::path(&["verifications"]);
        let call = Call::send(Method::POST, path, &serde_json::json!({}), None)?;
        context.client.call(&call)?
    };
    let standing = if args.no_wait || args.last {
        standing
    } else {
        ended(context, standing)?
    };
    let text = told(context, &standing)?;
    match (standing.state.as_str(), standing.sound) {
        ("failed", _) => {
            let why = standing.error.unwrap_or_default();
            let mut failure = Failure::usage(format!("it could not be verified: {why}"));
            failure.exit = exit::INTERNAL;
            Err(failure)
        }
        ("stopped", _) => {
            let mut failure = Failure::usage(standing.error.unwrap_or_default());
            failure.exit = exit::UNAVAILABLE;
            failure.hint = Some("`bank verify` begins anew".to_owned());
            Err(failure)
        }
        (_, Some(false)) => {
            let mut failure = Failure::usage("the bank is not sound".to_owned());
            failure.exit = exit::REFUSED;
            failure.before = Some(text);
            Err(failure)
        }
        _ => Ok(text),
    }
}

/// Waits for the end of a verification, and shows how far it is where somebody looks.
fn ended(context: &Context, mut standing: Verification) -> Result<Verification, Failure> {
    let shows = std::io::stderr().is_terminal() && !context.quiet;
    while standing.state == "running" {
        if shows {
            // Where nobody reads, nothing is lost.
            let _ = write!(std::io::stderr(), "\r{}\x1b[K", progress(&standing));
        }
        let wait_s = Some(if shows { 1 } else { WAIT_S });
        standing = context.get(&["verifications"], &VerificationQuery { wait_s })?;
    }
    if shows {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    Ok(standing)
}

fn progress(standing: &Verification) -> String {
    if standing.checks == 0 {
        let (done, all) = (standing.transactions, standing.of_transactions);
        return format!("journal: {done} of {all} transactions");
    }
    let (done, all) = (standing.checks, standing.of_checks);
    format!("{}: {done} of {all} checks", standing.doing)
}

fn told(context: &Context, standing: &Verification) -> Result<String, Failure> {
    if !context.form.is_table() || !context.form.columns.is_empty() {
        return context.form.one(standing, &sheet(standing));
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    for finding in &standing.findings {
        let _ = write!(text, "{} [{} {}", finding.text, finding.table, finding.row);
        if let (Some(expected), Some(found)) = (&finding.expected, &finding.found) {
            let _ = write!(text, ": expected {expected}, found {found}");
        }
        text.push_str("]\n");
    }
    if standing.more > 0 {
        let _ = writeln!(text, "and {} more", standing.more);
    }
    for advice in &standing.advice {
        let _ = writeln!(text, "hint: {advice}");
    }
    match standing.state.as_str() {
        "none" => text.push_str("nothing was verified since the daemon started\n"),
        "running" => {
            let _ = writeln!(text, "running: {}", progress(standing));
        }
        _ if standing.sound == Some(true) => {
            let (transactions, entries) = (standing.transactions, standing.entries);
            let allocations = standing.allocations;
            let _ = writeln!(
                text,
                "ok: {transactions} transactions, {entries} entries, {allocations} allocations"
            );
            for note in &standing.notes {
                let _ = writeln!(text, "note: {note}");
            }
        }
        _ => {}
    }
    Ok(text)
}

fn sheet(standing: &Verification) -> Sheet {
    let columns = vec![
        column("state", "State", Kind::Text),
        column("sound", "Sound", Kind::Text),
        column("started", "Started", Kind::Time),
        column("ended", "Ended", Kind::Time),
        column("transactions", "Transactions", Kind::Number),
        column("entries", "Entries", Kind::Number),
        column("allocations", "Allocations", Kind::Number),
        column("sealed", "Sealed", Kind::Number),
        column("more", "More", Kind::Number),
    ];
    Sheet::new(columns, std::slice::from_ref(standing), "")
}

pub(super) fn checkpoint(context: &Context, args: &CheckpointArgs) -> Result<String, Failure> {
    let SignedCheckpoint { text, .. } = signed(context)?;
    let Some(out) = &args.out else {
        return Ok(text);
    };
    let failed = |e: std::io::Error| Failure::usage(format!("{}: {e}", out.display()));
    let mut file = OpenOptions::new();
    let mut file = file
        .write(true)
        .create_new(true)
        .open(out)
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    Ok(format!("{}\n", out.display()))
}

/// Asks for a checkpoint. The bank is proven before it is signed for: where that takes longer than one
/// request may, it is asked again when it is over.
fn signed(context: &Context) -> Result<SignedCheckpoint, Failure> {
    let busy = match context.get(&["checkpoint"], &()) {
        Err(failure) if failure.exit == exit::UNAVAILABLE => failure,
        answered => return answered,
    };
    let standing: Verification = context.get(&["verifications"], &VerificationQuery::default())?;
    if standing.state != "running" {
        return Err(busy);
    }
    ended(context, standing)?;
    context.get(&["checkpoint"], &())
}
