//! `bank user`.

use bank_api::v1::{List, NewUser, PatchUser, User, Written};
use ureq::http::Method;

use super::nothing_to_set;
use crate::{
    cli::{AddUser, SetUser, UserCommand},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: UserCommand) -> Result<String, Failure> {
    match command {
        UserCommand::Add(args) => add(context, args),
        UserCommand::Ls(then) => {
            let list: List<User> = context.all(&["users"], &context.past(&then)?)?;
            context.form.list(&list, &sheet(&list.items))
        }
        UserCommand::Show { name, then } => {
            let user: User = context.get(&["users", &name], &context.past(&then)?)?;
            context.form.one(&user, &sheet(std::slice::from_ref(&user)))
        }
        UserCommand::Set(args) => set(context, args),
        UserCommand::Import(args) => super::user_import::run(context, &args),
        UserCommand::Rm { name, remove } => {
            let what = format!("remove user {name:?}");
            let answer = context.remove(&["users", &name], &what, &remove)?;
            context.removed(&answer, &format!("user {name:?} removed"))
        }
    }
}

fn add(context: &Context, args: AddUser) -> Result<String, Failure> {
    let body = NewUser {
        name: args.name,
        common_name: args.common_name,
        email: args.email,
        default_project: args.default_project,
        organization: args.organization,
        phone: args.phone,
        description: args.description,
        aliases: args.aliases.map(given),
    };
    let answer: Written<User> = context.send(Method::POST, &["users"], &body, &args.write)?;
    context.written(&answer, &format!("user {:?} added", body.name))
}

fn set(context: &Context, args: SetUser) -> Result<String, Failure> {
    let body = PatchUser {
        active: args.active.map(bool::from),
        common_name: args.common_name,
        email: args.email,
        default_project: args.default_project,
        organization: args.organization,
        phone: args.phone,
        description: args.description,
        aliases: args.aliases.map(given),
    };
    if body == PatchUser::default() {
        return Err(nothing_to_set());
    }
    let answer: Written<User> =
        context.send(Method::PATCH, &["users", &args.name], &body, &args.write)?;
    context.written(&answer, &format!("user {:?} changed", args.name))
}

/// `''` is no name.
fn given(aliases: Vec<String>) -> Vec<String> {
    aliases
        .into_iter()
        .filter(|alias| !alias.is_empty())
        .collect()
}

fn sheet(users: &[User]) -> Sheet {
    let columns = vec![
        column("name", "Name", Kind::Text),
        column("active", "Active", Kind::Text),
        column("common_name", "Common name", Kind::Text),
        column("email", "Email", Kind::Text),
        column("default_project", "Default project", Kind::Text).secondary(),
        column("projects", "Projects", Kind::Text),
        column("organization", "Organization", Kind::Text)
            .secondary()
            .on_screen_if(users.iter().any(|u| u.organization.is_some())),
        column("phone", "Phone", Kind::Text)
            .secondary()
            .on_screen_if(users.iter().any(|u| u.phone.is_some())),
        column("description", "Description", Kind::Text)
            .on_screen_if(users.iter().any(|u| u.description.is_some())),
        column("aliases", "Other names", Kind::Text)
            .secondary()
            .on_screen_if(users.iter().any(|u| !u.aliases.is_empty())),
    ];
    Sheet::new(columns, users, "no users")
}
