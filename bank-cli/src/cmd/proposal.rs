//! `bank proposal`, `bank approve` and `bank reject`.

use std::fmt::Write as _;

use bank_api::v1::{NewDecision, Proposal, ProposalQuery, ProposeQuery, Written};
use ureq::http::Method;

use crate::{
    cli::{DecideArgs, ProposalCommand, WriteArgs},
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column, fitted},
    when,
};

pub(super) fn run(context: &Context, command: &ProposalCommand) -> Result<String, Failure> {
    match command {
        ProposalCommand::Ls { all } => ls(context, *all),
        ProposalCommand::Show { id } => {
            let proposal: Proposal = context.get(&["proposals", &id.to_string()], &())?;
            if context.is_json() {
                return context.form.one(&proposal, &Sheet::default());
            }
            Ok(shown(context, &proposal))
        }
    }
}

fn ls(context: &Context, all: bool) -> Result<String, Failure> {
    let query = ProposalQuery {
        all,
        ..ProposalQuery::default()
    };
    context.list(&["proposals"], &query, |all| sheet(all, "no proposals"))
}

/// Says what waits now.
pub(super) fn proposed(context: &Context, answer: &Written<Proposal>) -> Result<String, Failure> {
    let proposal = &answer.object;
    let amount = context.form.amount(&proposal.amount);
    let until = when::date(&proposal.until, context.zone);
    let kind = proposal.kind.replace('_', " ");
    let mut message = format!(
        "{kind} of {amount} {} proposed, until {until}",
        proposal.unit
    );
    if !answer.dry_run {
        let id = proposal.id;
        let _ = write!(
            message,
            "\nproposal {id}   somebody else: bank approve {id}"
        );
    }
    context.written(answer, &message)
}

/// `bank approve` and `bank reject`.
pub(super) fn decide(context: &Context, args: &DecideArgs, verb: &str) -> Result<String, Failure> {
    let body = NewDecision {
        reason: args.reason.clone(),
    };
    let path = ["proposals", &args.id.to_string(), verb];
    decided(context, &path, &body, &args.write, false)
}

/// Sends a decision about a proposal or a request.
pub(super) fn decided(
    context: &Context,
    path: &[&str],
    body: &NewDecision,
    write: &WriteArgs,
    propose: bool,
) -> Result<String, Failure> {
    let answer: Written<Proposal> = if propose {
        let query = ProposeQuery {
            dry_run: write.dry_run,
            propose,
        };
        let target = client::path(path) + &client::query(&query);
        let call = Call::send(
            Method::POST,
            target,
            body,
            Some(crate::context::key(write)?),
        )?;
        context.client.call(&call)?
    } else {
        context.send(Method::POST, path, body, write)?
    };
    let proposal = &answer.object;
    let (word, by) = words(proposal);
    if propose && let Some(next) = became(context, proposal) {
        let message = format!(
            "request {} is now proposal {next}: {}, asked by {}; another person approves it: bank approve {next}",
            proposal.id,
            named(context, proposal),
            proposal.proposed_by
        );
        return context.written(&answer, &message);
    }
    let message = format!(
        "{word} {} {}: {}, {by} by {}",
        proposal.id,
        proposal.state,
        named(context, proposal),
        proposal.proposed_by
    );
    context.written(&answer, &message)
}

/// The decision on it. The state of a request that became a proposal is that of the proposal.
fn decision(proposal: &Proposal) -> &str {
    if proposal.proposal.is_some() {
        "proposed"
    } else {
        &proposal.state
    }
}

/// The proposal that a request became.
fn became(context: &Context, request: &Proposal) -> Option<i64> {
    let id = request.id.to_string();
    let now: Proposal = context.get(&["requests", &id], &()).ok()?;
    now.proposal
}

/// What it is called, and what its first person did.
fn words(proposal: &Proposal) -> (&'static str, &'static str) {
    match proposal.asked {
        Some(_) => ("request", "asked"),
        None => ("proposal", "proposed"),
    }
}

/// Its kind, with the amount if it moves any.
pub(super) fn named(context: &Context, proposal: &Proposal) -> String {
    let kind = proposal.kind.replace('_', " ");
    if ["extension", "member"].contains(&kind.as_str()) || is_nothing(&proposal.amount) {
        return kind;
    }
    let amount = context.form.amount(&proposal.amount);
    let joint = if kind == "project" { "with" } else { "of" };
    format!("{kind} {joint} {amount} {}", proposal.unit)
}

fn is_nothing(amount: &str) -> bool {
    !amount.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}

pub(super) fn shown(context: &Context, proposal: &Proposal) -> String {
    let moment = |at: &str| when::moment(at, context.zone);
    let mut out = format!(
        "{} {}   {}   {}\nby       {}, {}, until {}\n",
        words(proposal).0,
        proposal.id,
        named(context, proposal),
        proposal.state,
        proposal.proposed_by,
        moment(&proposal.at),
        moment(&proposal.until),
    );
    let request = &proposal.request;
    let _ = writeln!(out, "asks     {} {}", request.method, request.path);
    if let Some(members) = request.body.as_object() {
        for (name, value) in members {
            let _ = writeln!(out, "         {name}: {value}");
        }
    }
    if let Some(start) = &request.start {
        for (name, value) in [
            ("pi", start.pi.as_ref()),
            (
                "first deposit",
                start.deposit.as_ref().map(|own| &own.amount),
            ),
        ] {
            if let Some(value) = value {
                let _ = writeln!(out, "         {name}: {value}");
            }
        }
    }
    if let Some(asked) = &proposal.asked {
        let _ = writeln!(out, "reason   {asked}");
    }
    if let Some(decider) = &proposal.decided_by {
        let reason = proposal.reason.as_ref().map(|why| format!(": {why}"));
        let reason = reason.unwrap_or_default();
        let at = proposal.decided_at.as_deref().map(moment);
        let at = at.map(|at| format!("{at}, ")).unwrap_or_default();
        let _ = writeln!(
            out,
            "decided  {at}{} by {decider}{reason}",
            decision(proposal)
        );
    }
    if let Some(next) = proposal.proposal {
        let _ = writeln!(out, "proposal {next} (bank proposal show {next})");
    }
    if let Some(done) = proposal.done {
        let _ = writeln!(out, "done in transaction {done}");
    }
    fitted(&out, context.form.width, |_| 9)
}

pub(super) fn sheet(proposals: &[Proposal], empty: &'static str) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("kind", "Kind", Kind::Text),
        column("for", "For", Kind::Text),
        column("amount", "Amount", Kind::Amount),
        column("proposed_by", "By", Kind::Text),
        column("asked", "Reason", Kind::Text).secondary(),
        column("at", "At", Kind::Time).secondary(),
        column("until", "Until", Kind::Time),
        column("state", "State", Kind::Text),
        column("decided_by", "Decided by", Kind::Text).secondary(),
        column("decided_at", "Decided", Kind::Time).secondary(),
        column("reason", "Answer", Kind::Text).secondary(),
        column("done", "Txn", Kind::Number),
    ];
    let mut sheet = Sheet::new(columns, proposals, empty);
    for (row, proposal) in sheet.rows.iter_mut().zip(proposals) {
        row.insert("for".to_owned(), proposal.subject().into());
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::test_context,
        out::{assert_fits, filled},
    };

    #[test]
    fn the_widest_proposal_fits_a_terminal() {
        for mut proposal in filled::<Proposal>() {
            let long = proposal.request.path.clone();
            proposal.request.body = serde_json::json!({"amount": "1.000", "description": long});
            assert_fits(&shown(&test_context(), &proposal));
        }
    }
}
