//! `bank request`.

use bank_api::v1::{
    DepositRequest, ExtensionRequest, MemberRequest, NewDecision, ProjectRequest, Proposal,
    RequestQuery, Written,
};
use serde::Serialize;
use ureq::http::Method;

use super::proposal::{decided, named, sheet, shown};
use crate::{
    cli::{AskArgs, AskDeposit, AskExtension, AskMember, AskProject, RequestCommand, WriteArgs},
    context::Context,
    fail::Failure,
    out::Sheet,
    when,
};

pub(super) fn run(context: &Context, command: RequestCommand) -> Result<String, Failure> {
    match command {
        RequestCommand::Deposit(args) => deposit(context, args),
        RequestCommand::Extension(args) => extension(context, args),
        RequestCommand::Member(args) => member(context, args),
        RequestCommand::Project(args) => project(context, args),
        RequestCommand::Ls { mine, state } => ls(context, mine, state),
        RequestCommand::Show { id } => {
            let request: Proposal = context.get(&["requests", &id.to_string()], &())?;
            if context.is_json() {
                return context.form.one(&request, &Sheet::default());
            }
            Ok(shown(context, &request))
        }
        RequestCommand::Approve { id, answer, write } => {
            let body = NewDecision { reason: answer };
            let path = ["proposals", &id.to_string(), "approve"];
            decided(context, &path, &body, &write.write, write.propose).map_err(of_request)
        }
        RequestCommand::Reject { id, answer, write } => {
            let body = NewDecision {
                reason: Some(answer),
            };
            let path = ["proposals", &id.to_string(), "reject"];
            decided(context, &path, &body, &write, false).map_err(of_request)
        }
        RequestCommand::Withdraw { id, write } => {
            let path = ["requests", &id.to_string(), "withdraw"];
            decided(context, &path, &NewDecision::default(), &write, false).map_err(of_request)
        }
    }
}

/// A number that does not exist, in the word of the command: decisions of both have one route.
fn of_request(mut failure: Failure) -> Failure {
    if failure.is("not_found") {
        failure.what = failure.what.replace("no proposal", "no request");
    }
    failure
}

fn deposit(context: &Context, args: AskDeposit) -> Result<String, Failure> {
    let AskArgs { reason, write } = args.ask;
    let body = DepositRequest {
        name: args.name,
        amount: args.amount,
        start: context.time(args.window.start.as_ref())?,
        end: context.time(args.window.end.as_ref())?,
        reason,
    };
    ask(context, "deposits", &body, &write)
}

fn extension(context: &Context, args: AskExtension) -> Result<String, Failure> {
    let AskArgs { reason, write } = args.ask;
    let body = ExtensionRequest {
        allocation: args.allocation,
        until: context.time(Some(&args.end))?.unwrap_or_default(),
        reason,
    };
    ask(context, "extensions", &body, &write)
}

fn member(context: &Context, args: AskMember) -> Result<String, Failure> {
    let AskArgs { reason, write } = args.ask;
    let body = MemberRequest {
        project: args.project,
        user: args.user,
        remove: args.remove,
        reason,
    };
    ask(context, "members", &body, &write)
}

fn project(context: &Context, args: AskProject) -> Result<String, Failure> {
    let AskArgs { reason, write } = args.ask;
    let body = ProjectRequest {
        name: args.name,
        parent: args.parent,
        description: args.description,
        pi: args.pi,
        amount: args.amount,
        start: context.time(args.window.start.as_ref())?,
        end: context.time(args.window.end.as_ref())?,
        reason,
    };
    ask(context, "projects", &body, &write)
}

fn ask(
    context: &Context,
    kind: &str,
    body: &impl Serialize,
    write: &WriteArgs,
) -> Result<String, Failure> {
    let answer: Written<Proposal> = context.send(Method::POST, &["requests", kind], body, write)?;
    let request = &answer.object;
    let until = when::date(&request.until, context.zone);
    let what = named(context, request);
    let message = if answer.dry_run {
        format!("{what} can be asked for")
    } else {
        let id = request.id;
        format!("request {id} created ({what}); expires {until}")
    };
    context.written(&answer, &message)
}

fn ls(context: &Context, mine: bool, state: Option<String>) -> Result<String, Failure> {
    let query = RequestQuery {
        mine,
        // An earlier word, which the command line still takes.
        state: state.map(|state| state.replace("declined", "rejected")),
        ..RequestQuery::default()
    };
    context.list(&["requests"], &query, |all| sheet(all, "no requests"))
}
