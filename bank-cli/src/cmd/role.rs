//! `bank role` and `bank limit`.

use bank_api::v1::{Limit, NewLimit, NewRoleGrant, RevokeQuery, RoleGrant, RoleQuery, Written};
use ureq::http::Method;

use crate::{
    cli::{GrantArgs, LimitCommand, LimitOf, RoleCommand, SetLimit},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: RoleCommand) -> Result<String, Failure> {
    match command {
        RoleCommand::Grant(args) => grant(context, args),
        RoleCommand::Revoke {
            name,
            role,
            project,
            remove,
        } => {
            let of = project.as_ref().map(|p| format!(" of {p}"));
            let what = format!("{name} {role}{}", of.unwrap_or_default());
            let query = RevokeQuery {
                dry_run: remove.write.dry_run,
                project,
            };
            let path = ["roles", &name, &role];
            let answer = context.remove_by(&path, &query, &format!("revoke: {what}"), &remove)?;
            context.removed(&answer, &format!("{what}: revoked"))
        }
        RoleCommand::Ls { name, all } => {
            let query = RoleQuery {
                name,
                all,
                ..RoleQuery::default()
            };
            context.list(&["roles"], &query, roles)
        }
    }
}

fn grant(context: &Context, args: GrantArgs) -> Result<String, Failure> {
    let body = NewRoleGrant {
        name: args.name,
        role: args.role,
        until: context.time(args.until.as_ref())?,
        project: args.project,
    };
    let answer: Written<RoleGrant> = context.send(Method::POST, &["roles"], &body, &args.write)?;
    let grant = &answer.object;
    let of = grant.project.as_ref().map(|p| format!(" of {p}"));
    let message = format!("{} is {}{}", grant.name, grant.role, of.unwrap_or_default());
    context.written(&answer, &message)
}

fn roles(rows: &[RoleGrant]) -> Sheet {
    let columns = vec![
        column("name", "Name", Kind::Text),
        column("role", "Role", Kind::Text),
        column("project", "Project", Kind::Text),
        column("until", "Until", Kind::Date),
        column("by", "From", Kind::Text),
    ];
    Sheet::new(
        columns,
        rows,
        "no roles other than those of keys and settings",
    )
}

pub(super) fn limit(context: &Context, command: LimitCommand) -> Result<String, Failure> {
    match command {
        LimitCommand::Set(args) => set(context, args),
        LimitCommand::Ls => context.list(&["limits"], &(), limits),
        LimitCommand::Rm { of, remove } => {
            let (kind, name) = subject(&of);
            let what = format!("remove the limit of {kind} {name}");
            let answer = context.remove(&["limits", kind, name], &what, &remove)?;
            context.removed(&answer, &format!("limit of {kind} {name} removed"))
        }
    }
}

/// `role` or `name`, and which.
fn subject(of: &LimitOf) -> (&'static str, &str) {
    match &of.role {
        Some(role) => ("role", role),
        None => ("name", of.name.as_deref().unwrap_or_default()),
    }
}

fn set(context: &Context, args: SetLimit) -> Result<String, Failure> {
    let body = NewLimit {
        role: args.of.role,
        name: args.of.name,
        per_operation: args.per_operation,
        per_day: args.per_day,
    };
    let answer: Written<Limit> = context.send(Method::POST, &["limits"], &body, &args.write)?;
    let limit = &answer.object;
    let bound = |bound: &Option<String>| match bound {
        Some(amount) => format!("{} {}", context.form.amount(amount), limit.unit),
        None => "no limit".to_owned(),
    };
    let whose = match (&limit.role, &limit.name) {
        (Some(role), _) => format!("role {role}"),
        (None, name) => name.clone().unwrap_or_default(),
    };
    let message = format!(
        "{whose}: {} per operation, {} per day",
        bound(&limit.per_operation),
        bound(&limit.per_day)
    );
    context.written(&answer, &message)
}

fn limits(rows: &[Limit]) -> Sheet {
    let columns = vec![
        column("role", "Role", Kind::Text),
        column("name", "Name", Kind::Text),
        column("per_operation", "Per operation", Kind::Amount),
        column("per_day", "Per day", Kind::Amount),
    ];
    Sheet::new(columns, rows, "no limits")
}
