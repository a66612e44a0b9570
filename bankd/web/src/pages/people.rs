//! Who may do what: roles of people, and their grant and revocation.

use bank_api::v1::{List, NewRoleGrant, RoleGrant, Written};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::filter;
use crate::parts::form::{Field, Kind, key, refusal};
use crate::parts::sent;
use crate::parts::table::{Table, link, name};
use crate::target::Target;
use crate::visit::{Shown, Visit};

const ROLE: Kind = Kind::Choice(&[
    ("", "choose one"),
    ("operator", "operator"),
    ("manager", "manager"),
    ("pi", "principal investigator"),
    ("auditor", "auditor"),
    ("admin", "admin"),
    ("scheduler", "scheduler"),
    ("collector", "collector"),
]);

const FIELDS: [Field<'static>; 4] = [
    Field::needed(
        "name",
        "Login name",
        Kind::Words,
        "The person need not be a user of the bank yet.",
    ),
    Field::needed("role", "Role", ROLE, ""),
    Field::either(
        "project",
        "Project",
        Kind::Words,
        "needed for operator, manager and pi",
        "With the projects below it.",
    ),
    Field::optional(
        "until",
        "Until (exclusive)",
        Kind::Words,
        "Such as 2027-01-01. Empty: without end.",
    ),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/people", show)
            .right(Right::SeeAccess)
            .takes(["name", "after", "done", "of"])
            .nav("People"),
        Page::post("/people/grant", grant)
            .right(Right::ChangeAccess)
            .of_form("Grant a role", &FIELDS),
        Page::post("/people/revoke", revoke)
            .right(Right::ChangeAccess)
            .of_form("Revoke a role", &FIELDS),
    ]
}

async fn show(visit: Visit) -> Shown {
    page(&visit, None).await
}

async fn page(visit: &Visit, failed: Option<&Failed>) -> Shown {
    let person = visit.parameter("name");
    let route = |root: fn(&[&str]) -> Target| {
        root(&["roles"])
            .maybe("name", person)
            .maybe("after", visit.parameter("after"))
    };
    let list: List<RoleGrant> = visit.get(route(Target::api)).await?;
    let own = visit.link(&["people"]).maybe("name", person);
    let next = list.next.as_deref().map(|next| own.with("after", next));
    let content = html! {
        p .lead { "Who may do what?" }
        @if let Some((done, of)) = sent::about(visit) { (changed(visit, done, of).await?) }
        (sent::unnamed(visit))
        @if let Some(failed) = failed { (refusal(visit, &FIELDS, failed)) }
        form .period method="get" action="/people" {
            (filter::field(visit, "name", "Login name"))
            button type="submit" { "Show" }
        }
        (table(visit, &list.items, route(Target::data), next))
        p .small { "Everybody with a login has the role user. Settings give roles to local users and groups ("
            code { "access" } "), and to groups of the identity provider (" code { "web.oidc.groups" } ")." }
        @if visit.may(Right::ChangeAccess) { (sent::form(visit, ("grant", "Grant a role"), "/people/grant", &FIELDS, failed, "Grant")) }
    };
    Ok(visit.page("People", &[], &content))
}

/// The roles of a person after a grant or a revocation.
async fn changed(visit: &Visit, done: &str, person: &str) -> Result<Markup, Failed> {
    let target = Target::api(&["roles"]).with("name", person);
    let list: List<RoleGrant> = visit.get(target).await?;
    let over = |grant: &RoleGrant| {
        let over = grant.project.as_deref().unwrap_or("the bank");
        format!("{} over {over}", grant.role)
    };
    let roles: Vec<String> = list.items.iter().map(over).collect();
    Ok(match (done, roles.as_slice()) {
        ("grant", []) => html! {},
        (_, []) => sent::band(
            &html! { "Revoked. " strong { (person) } " has no role of a grant or of a membership now." },
        ),
        ("grant", roles) => {
            sent::band(&html! { "Granted. " strong { (person) } " is now " (roles.join(", ")) "." })
        }
        (_, roles) => sent::band(
            &html! { "Revoked. " strong { (person) } " is still " (roles.join(", ")) "." },
        ),
    })
}

fn table(visit: &Visit, items: &[RoleGrant], data: Target, next: Option<Target>) -> Markup {
    let may = visit.may(Right::ChangeAccess);
    let over = |grant: &RoleGrant| {
        html! {
            @if let Some(project) = &grant.project { (link(&visit.link(&["projects", project]), project)) }
            @else { "the bank" }
        }
    };
    let revoke = |grant: &RoleGrant| {
        let fields = [
            ("name", grant.name.as_str()),
            ("role", grant.role.as_str()),
            ("project", grant.project.as_deref().unwrap_or_default()),
        ];
        let may = may && grant.by == "grant";
        html! { @if may { (sent::button(visit, "/people/revoke", "Revoke", &fields)) } }
    };
    Table::of("Roles", items)
        .words("Person", |grant| name(&grant.name))
        .words("Role", |grant| html! { (grant.role) })
        .words("Over", over)
        .words(
            "Until (exclusive)",
            |grant| html! { (visit.zone().day_or(grant.until.as_deref(), "–")) },
        )
        .words(
            "From",
            |grant| html! { @if grant.by == "member" { "membership" } @else { "grant" } },
        )
        .buttons("Change", revoke)
        .empty(html! {
            @match visit.parameter("name") {
                Some(person) => p { (name(person)) " has no role of a grant or of a membership." },
                None => p { "Nobody has a granted role." },
            }
            @if may { p .small .ways { a href="#grant" { "Grant a role" } " below." } }
        })
        .data(data)
        .next(next)
        .show()
}

async fn grant(visit: Visit) -> Shown {
    match granted(&visit).await {
        Ok(()) => {
            let of = visit.needed("name")?;
            Ok(sent::to_about(&Target::page(&["people"]), "grant", &of))
        }
        Err(failed) => sent::again(page(&visit.on("/people"), Some(&failed)).await, failed),
    }
}

async fn granted(visit: &Visit) -> Result<(), Failed> {
    let until = visit.field("until").map(str::trim);
    let body = NewRoleGrant {
        name: visit.needed("name")?,
        role: visit.needed("role")?,
        project: visit.trimmed("project"),
        until: until
            .map(|until| visit.end_of("until", until))
            .transpose()?,
    };
    let target = Target::api(&["roles"]);
    let (_, _): (u16, Written<RoleGrant>) = visit.send("POST", target, &key(visit), &body).await?;
    Ok(())
}

async fn revoke(visit: Visit) -> Shown {
    let (person, role) = (visit.needed("name")?, visit.needed("role")?);
    let project = visit.trimmed("project");
    if !sent::is_confirmed(&visit) {
        let over = project.as_deref().unwrap_or("the bank");
        let question = format!("{person} loses the role {role} over {over} at once.");
        let fields = ["name", "role", "project"];
        let back = Target::page(&["people"]);
        return Ok(sent::confirm(&visit, &question, "Revoke", &fields, &back));
    }
    let target = Target::api(&["roles", &person, &role]).maybe("project", project.as_deref());
    match visit.remove(target, &key(&visit)).await {
        Ok(()) => Ok(sent::to_about(
            &Target::page(&["people"]),
            "revoke",
            &person,
        )),
        Err(failed) => sent::again(page(&visit.on("/people"), Some(&failed)).await, failed),
    }
}

/// The pages about access, for the first screen of an administrator.
pub(crate) fn card() -> Markup {
    let pages = [
        ("/people", "roles of people"),
        ("/keys", "signing keys"),
        ("/tokens", "API tokens"),
        ("/limits", "transaction limits"),
        ("/sessions/all", "sessions"),
        ("/settings", "settings"),
    ];
    html! {
        section .card {
            h2 { a href="/people" { "Who may do what?" } }
            p { @for (place, (target, word)) in pages.iter().enumerate() {
                @if place > 0 { " · " }
                a href=(target) { (word) }
            } }
        }
    }
}
