//! `bank token`: what a program shows in place of a signature. A token is shown once.

use std::fmt::Write as _;

use bank_api::v1::{NewToken, NewTokenAnswer, Token, TokenQuery};
use ureq::http::Method;

use crate::{
    cli::{AddToken, TokenCommand},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    when,
};

/// How long a token is accepted where nobody says it.
const LASTING: &str = "90d";

pub(super) fn run(context: &Context, command: TokenCommand) -> Result<String, Failure> {
    match command {
        TokenCommand::Add(args) => add(context, args),
        TokenCommand::Ls { client } => {
            let query = TokenQuery {
                client,
                ..TokenQuery::default()
            };
            context.list(&["tokens"], &query, sheet)
        }
        TokenCommand::Show { id } => context.show(&["tokens", &id], &(), sheet),
        TokenCommand::Rm { id, remove } => {
            let what = format!("remove token {id:?}");
            let answer = context.remove(&["tokens", &id], &what, &remove)?;
            context.removed(&answer, &format!("token {id:?} removed"))
        }
    }
}

/// Roles that are held over single projects.
const OVER_PROJECTS: [&str; 3] = ["operator", "manager", "pi"];

fn add(context: &Context, args: AddToken) -> Result<String, Failure> {
    let is_over_projects = |role: &String| OVER_PROJECTS.contains(&role.as_str());
    if args.project.is_empty() && args.role.iter().all(is_over_projects) {
        return Err(Failure::usage(format!(
            "a token with the role {} and no project may do nothing",
            args.role.join(" and ")
        ))
        .hint("-A PROJECT limits it to projects, with those below them"));
    }
    let body = NewToken {
        id: args.id,
        client: args.client,
        roles: args.role,
        projects: args.project,
        machines: args.machine,
        valid_until: end(context, args.until.as_ref(), args.lasting.as_deref())?,
    };
    let answer: NewTokenAnswer = context.send(Method::POST, &["tokens"], &body, &args.write)?;
    let token = &answer.token;
    let until = token.valid_until.as_deref().unwrap_or_default();
    let mut message = format!(
        "token {:?} of client {:?} added, until {}",
        token.id,
        token.client,
        when::date(until, context.zone)
    );
    if let Some(secret) = &answer.secret {
        let _ = write!(
            message,
            "\n{secret}\nstore it now: it is not shown again. Programs read it from BANK_TOKEN"
        );
    } else if !answer.dry_run {
        message.push_str("\nno token is shown: this one existed before");
    }
    context.done(&answer, &message, answer.transaction, answer.dry_run, &[])
}

/// The first moment at which it is no longer accepted.
fn end(
    context: &Context,
    until: Option<&String>,
    lasting: Option<&str>,
) -> Result<String, Failure> {
    if let Some(until) = context.time(until)? {
        return Ok(until);
    }
    let lasting = lasting.unwrap_or(LASTING);
    when::argument(&format!("+{lasting}"), context.now_us, context.zone).map_err(|_| {
        Failure::usage(format!("--for {lasting:?} is not a length of time"))
            .hint("90d, 12h or 30m; --until takes a moment")
    })
}

fn sheet(tokens: &[Token]) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Text),
        column("client", "Client", Kind::Text),
        column("roles", "Roles", Kind::Text),
        column("projects", "Projects", Kind::Text),
        column("machines", "Machines", Kind::Text).secondary(),
        column("state", "State", Kind::Text),
        column("valid_until", "Until", Kind::Date),
        column("last_used", "Used", Kind::Time),
    ];
    Sheet::new(columns, tokens, "no tokens")
}
