//! The members of a project: add, switch off and on, give a role, remove.

use axum::extract::Path;
use bank_api::v1::{List, Member, NewMember};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::project::people;
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::form::{Field, Kind, filled, key, keyed, refusal, token};
use crate::parts::message::message;
use crate::parts::sent;
use crate::parts::table::{Table, name};
use crate::target::Target;
use crate::visit::{Shown, Visit};

const ROLE: Kind = Kind::Choice(&[
    ("", "member"),
    ("pi", "principal investigator"),
    ("manager", "manager"),
]);

const FIELDS: [Field<'static>; 2] = [
    Field::needed(
        "user",
        "User",
        Kind::Words,
        "The login name of a user of the bank.",
    ),
    Field::optional("role", "Role", ROLE, "Operators give roles."),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/projects/{name}/members", show)
            .right(Right::ChangeMembers)
            .below(&["/projects", "/"])
            .takes(["after", "done", "of"]),
        Page::post("/projects/{name}/members", send)
            .right(Right::ChangeMembers)
            .of_form("Change a member", &FIELDS),
    ]
}

async fn show(visit: Visit, Path(project): Path<String>) -> Shown {
    page(&visit, &project, None).await
}

async fn page(visit: &Visit, project: &str, failed: Option<&Failed>) -> Shown {
    let after = visit.parameter("after");
    let route =
        |root: fn(&[&str]) -> Target| root(&["projects", project, "members"]).maybe("after", after);
    let list: List<Member> = visit.get(route(Target::api)).await?;
    let own = visit.link(&["projects", project, "members"]);
    let next = list.next.as_deref();
    let next = next.map(|next| own.clone().with("after", next));
    let is_adding = visit.field("step") == Some("add");
    let defaults = people::default_users(visit, project).await?;
    let may_set = visit.may(Right::ChangeReference);
    let defaults = defaults.as_ref().filter(|_| may_set);
    let value = |name: &str| {
        let typed = visit.field(name).filter(|_| is_adding);
        typed.unwrap_or_default()
    };
    let is_default = |member: &Member| defaults.map(|all| all.contains(&member.user));
    let user = |member: &Member| {
        html! {
            (name(&member.user))
            @if is_default(member) == Some(true) { " " span .small { "default project" } }
        }
    };
    let table = Table::of("Users and their roles", &list.items)
        .words("User", user)
        .words("Role", |member| html! { (member.role) })
        .words(
            "State",
            |member| html! { @if member.active { "active" } @else { strong .flag { "inactive" } } },
        )
        .buttons("Change", |member| {
            change_of(visit, &own, member, is_default(member))
        })
        .empty(html! {
            p { "No members yet. Only members may spend." }
            p .small .ways { a href="#add" { "Add the first one" } " below." }
        })
        .data(route(Target::data))
        .next(next)
        .show();
    let content = html! {
        @if let Some((done, of)) = sent::about(visit) { (changed(visit, project, done, of).await?) }
        (sent::unnamed(visit))
        @if let Some(failed) = failed {
            @if is_adding { (refusal(visit, &FIELDS, failed)) } @else { (message(failed)) }
        }
        (table)
        section .change {
            h2 #add { "Add a member" }
            form .entry method="post" action=(own) {
                (token(visit)) (keyed(&new_key()))
                (filled(visit, &FIELDS, value, failed.filter(|_| is_adding)))
                button type="submit" name="step" value="add" { "Add" }
            }
        }
    };
    let title = format!("Members of {project}");
    let trail = [(project, visit.link(&["projects", project]))];
    let page = visit.page(&title, &trail, &content);
    Ok(sent::refused(page, failed))
}

/// A member after a change.
async fn changed(visit: &Visit, project: &str, done: &str, user: &str) -> Result<Markup, Failed> {
    let target = Target::api(&["projects", project, "members"]).with("limit", "1000");
    let list: List<Member> = visit.get(target).await?;
    let found = list.items.iter().find(|member| member.user == user);
    let text = match found {
        Some(_) if done == "default" => {
            html! { (project) " is now the default project of " strong { (user) } "." }
        }
        Some(member) => html! {
            strong { (user) } " is now " @if !member.active { "an inactive " } (member.role) " of " (project) "."
        },
        None if list.next.is_some() => return Ok(html! {}),
        None => html! { strong { (user) } " is not a member of " (project) " now." },
    };
    Ok(sent::band(&text))
}

/// The ways to change a member. Whether this is the default project is known to a person who may set it.
fn change_of(visit: &Visit, action: &Target, member: &Member, is_default: Option<bool>) -> Markup {
    let switch = if member.active { "off" } else { "on" };
    html! {
        form method="post" action=(action) {
            (token(visit)) (keyed(&new_key()))
            input type="hidden" name="user" value=(member.user);
            button .plain type="submit" name="step" value=(switch) {
                @if member.active { "Switch off" } @else { "Switch on" }
            } " "
            button .plain type="submit" name="step" value="remove" { "Remove" } " "
            @if is_default == Some(false) {
                button .plain type="submit" name="step" value="default" { "Make default project" }
            }
        }
    }
}

fn new_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

async fn send(visit: Visit, Path(project): Path<String>) -> Shown {
    match change(&visit, &project).await {
        Ok(()) => {
            let target = Target::page(&["projects", &project, "members"]);
            let is_default = visit.field("step") == Some("default");
            let done = if is_default { "default" } else { "member" };
            Ok(sent::to_about(&target, done, &visit.needed("user")?))
        }
        Err(failed) => page(&visit, &project, Some(&failed)).await,
    }
}

async fn change(visit: &Visit, project: &str) -> Result<(), Failed> {
    let user = visit.field("user").map(str::trim).unwrap_or_default();
    if user.is_empty() {
        return Err(Failed::new("missing_field", "required").field("user"));
    }
    let all = Target::api(&["projects", project, "members"]);
    let body = |active: Option<bool>, role: Option<&str>| NewMember {
        user: user.to_owned(),
        active,
        role: role.map(str::to_owned),
    };
    let key = key(visit);
    let body = match visit.field("step") {
        Some("remove") => {
            let one = Target::api(&["projects", project, "members", user]);
            let nothing = serde_json::Map::new();
            let _: (u16, Value) = visit.send("DELETE", one, &key, &nothing).await?;
            return Ok(());
        }
        Some("default") => {
            let one = Target::api(&["users", user]);
            let set = json!({"default_project": project});
            let _: (u16, Value) = visit.send("PATCH", one, &key, &set).await?;
            return Ok(());
        }
        Some("off") => body(Some(false), None),
        Some("on") => body(Some(true), None),
        _ => body(Some(true), visit.field("role")),
    };
    let _: (u16, Value) = visit.send("POST", all, &key, &body).await?;
    Ok(())
}
