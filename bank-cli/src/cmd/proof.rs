//! `bank verify` proves the bank that is served, while it is; `bank checkpoint` fetches a signed one.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{IsTerminal as _, Write as _};

use bank_api::exit::bank as exit;
use bank_api::text::counted;
use bank_api::v1::{
    KeptCheckpoint, List, PageQuery, SignedCheckpoint, Verification, VerificationQuery,
};
use ureq::http::Method;

use crate::{
    cli::{CheckpointArgs, VerifyArgs},
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column, fitted},
};

/// Seconds that one question waits for the end.
const WAIT_S: u32 = 10;

pub(super) fn verify(context: &Context, args: VerifyArgs) -> Result<String, Failure> {
    let verification: Verification = if args.last {
        context.get(&["verifications"], &VerificationQuery::default())?
    } else {
        let path = client::path(&["verifications"]);
        let call = Call::send(Method::POST, path, &serde_json::json!({}), None)?;
        context.client.call(&call)?
    };
    let verification = if args.no_wait || args.last {
        verification
    } else {
        ended(context, verification)?
    };
    let text = verification_text(context, &verification)?;
    match (verification.state.as_str(), verification.sound) {
        ("failed", _) => {
            let why = verification.error.unwrap_or_default();
            let mut failure = Failure::usage(format!("it could not be verified: {why}"));
            failure.exit = exit::INTERNAL;
            Err(failure)
        }
        ("stopped", _) => {
            let mut failure = Failure::usage(verification.error.unwrap_or_default());
            failure.exit = exit::UNAVAILABLE;
            failure.hint = Some("`bank verify` starts again".to_owned());
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
fn ended(context: &Context, mut verification: Verification) -> Result<Verification, Failure> {
    let shows = std::io::stderr().is_terminal() && !context.quiet;
    while verification.state == "running" {
        if shows {
            // Where nobody reads, nothing is lost.
            let _ = write!(std::io::stderr(), "\r{}\x1b[K", progress(&verification));
        }
        let wait_s = Some(if shows { 1 } else { WAIT_S });
        verification = context.get(&["verifications"], &VerificationQuery { wait_s })?;
    }
    if shows {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    Ok(verification)
}

fn progress(verification: &Verification) -> String {
    if verification.checks == 0 {
        let (done, all) = (verification.transactions, verification.of_transactions);
        return format!("journal: {done} of {all} transactions");
    }
    let (done, all) = (verification.checks, verification.of_checks);
    format!("{}: {done} of {all} checks", verification.doing)
}

fn verification_text(context: &Context, verification: &Verification) -> Result<String, Failure> {
    if !context.form.is_table() || !context.form.columns.is_empty() {
        return context.form.one(verification, &sheet(verification));
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    for finding in &verification.findings {
        let _ = write!(text, "{} [{} {}", finding.text, finding.table, finding.row);
        if let (Some(expected), Some(found)) = (&finding.expected, &finding.found) {
            let _ = write!(text, ": expected {expected}, found {found}");
        }
        text.push_str("]\n");
    }
    if verification.more > 0 {
        let _ = writeln!(text, "and {} more", verification.more);
    }
    for advice in &verification.advice {
        let _ = writeln!(text, "hint: {advice}");
    }
    match verification.state.as_str() {
        "none" => text.push_str("nothing was verified since the daemon started\n"),
        "running" => {
            let _ = writeln!(text, "running: {}", progress(verification));
        }
        _ if verification.sound == Some(true) => {
            let (transactions, entries) = (verification.transactions, verification.entries);
            let allocations = verification.allocations;
            let _ = writeln!(
                text,
                "ok: {}, {}, {}",
                counted(transactions, "transaction"),
                counted(entries, "entry"),
                counted(allocations, "allocation")
            );
            for note in &verification.notes {
                let _ = writeln!(text, "note: {note}");
            }
        }
        _ => {}
    }
    Ok(fitted(&text, context.form.width, |_| 2))
}

fn sheet(verification: &Verification) -> Sheet {
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
    Sheet::new(columns, std::slice::from_ref(verification), "")
}

pub(super) fn checkpoint(context: &Context, args: &CheckpointArgs) -> Result<String, Failure> {
    if args.list {
        return kept(context);
    }
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

/// The checkpoints that the daemon made.
fn kept(context: &Context) -> Result<String, Failure> {
    let list: List<KeptCheckpoint> = context.all(&["checkpoints"], &PageQuery::default())?;
    let columns = vec![
        column("name", "File", Kind::Text),
        column("made", "Made", Kind::Time),
        column("transactions", "Transactions", Kind::Number),
        column("entries", "Entries", Kind::Number),
        column("holds", "Holds", Kind::Text),
        column("error", "Error", Kind::Text)
            .on_screen_if(list.items.iter().any(|one| one.error.is_some())),
    ];
    let sheet = Sheet::new(columns, &list.items, "no checkpoints");
    context.form.list(&list, &sheet)
}

/// Asks for a checkpoint. The bank is proven before it is signed for: where that takes longer than one
/// request may, it is asked again when it is over.
fn signed(context: &Context) -> Result<SignedCheckpoint, Failure> {
    let busy = match context.get(&["checkpoint"], &()) {
        Err(failure) if failure.exit == exit::UNAVAILABLE => failure,
        answered => return answered,
    };
    let verification: Verification =
        context.get(&["verifications"], &VerificationQuery::default())?;
    if verification.state != "running" {
        return Err(busy);
    }
    ended(context, verification)?;
    context.get(&["checkpoint"], &())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::test_context,
        out::{assert_fits, filled},
    };

    #[test]
    fn the_widest_verification_fits_a_terminal() {
        for mut verification in filled::<Verification>() {
            for state in ["none", "running", "ended"] {
                verification.state = state.to_owned();
                let text = verification_text(&test_context(), &verification);
                assert_fits(&text.unwrap());
            }
        }
    }
}
