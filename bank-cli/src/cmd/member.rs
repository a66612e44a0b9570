//! `bank project members`.

use bank_api::v1::{List, Member, NewMember, Removed, Written};
use ureq::http::Method;

use super::confirm;
use crate::{
    cli::{MemberCommand, RemoveArgs, WriteArgs},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: MemberCommand) -> Result<String, Failure> {
    match command {
        MemberCommand::Add {
            project,
            users,
            write,
        } => {
            let mut out = String::new();
            for (user, write) in each(users, &write) {
                let body = NewMember {
                    user,
                    ..NewMember::default()
                };
                let path = ["projects", &project, "members"];
                let answer: Written<Member> = context.send(Method::POST, &path, &body, &write)?;
                let what = format!("{} is a member of {project}", body.user);
                out.push_str(&context.written(&answer, &what)?);
            }
            Ok(out)
        }
        MemberCommand::Role {
            project,
            user,
            role,
            write,
        } => place(context, &project, user, role, &write),
        MemberCommand::Ls { project, then } => {
            let query = context.past(&then)?;
            let list: List<Member> = context.all(&["projects", &project, "members"], &query)?;
            let columns = vec![
                column("user", "User", Kind::Text),
                column("active", "Active", Kind::Text),
                column("role", "Role", Kind::Text),
            ];
            context
                .form
                .list(&list, &Sheet::new(columns, &list.items, "no members"))
        }
        MemberCommand::Rm {
            project,
            users,
            remove,
        } => {
            if !(remove.yes || remove.write.dry_run) {
                confirm(&format!(
                    "remove {} from project {project:?}",
                    users.join(", ")
                ))?;
            }
            let mut out = String::new();
            for (user, write) in each(users, &remove.write) {
                let remove = RemoveArgs { write, yes: true };
                let path = ["projects", &project, "members", &user];
                let answer: Removed = context.remove(&path, "", &remove)?;
                let what = format!("{user} is no longer a member of {project}");
                out.push_str(&context.removed(&answer, &what)?);
            }
            Ok(out)
        }
    }
}

/// Says what a member is in a project.
fn place(
    context: &Context,
    project: &str,
    user: String,
    role: String,
    write: &WriteArgs,
) -> Result<String, Failure> {
    let body = NewMember {
        user,
        role: Some(role),
        ..NewMember::default()
    };
    let path = ["projects", project, "members"];
    let answer: Written<Member> = context.send(Method::POST, &path, &body, write)?;
    let what = format!("{} is {} of {project}", body.user, answer.object.role);
    context.written(&answer, &what)
}

/// The users with the arguments for each: one key serves several commands only with a suffix.
fn each(users: Vec<String>, write: &WriteArgs) -> Vec<(String, WriteArgs)> {
    let several = users.len() > 1;
    let with_key = |(at, user): (usize, String)| {
        let mut write = write.clone();
        if several {
            write.key = write.key.map(|key| format!("{key}.{}", at + 1));
        }
        (user, write)
    };
    users.into_iter().enumerate().map(with_key).collect()
}

/// A member in a list of names: `amy`, `(amy)` who may not spend.
pub(super) fn mark(member: &Member) -> String {
    let name = &member.user;
    if member.active {
        name.clone()
    } else {
        format!("({name})")
    }
}
