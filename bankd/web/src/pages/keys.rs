//! Signing keys and API tokens: who has them, new ones (shown once), and their end.

use bank_api::v1::{List, Token};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::form::{self, Field, Kind, key};
use crate::parts::sent;
use crate::parts::table::{Table, name};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The two kinds have the same pages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Credential {
    Key,
    Token,
}

impl Credential {
    /// The route and the page.
    fn path(self) -> &'static str {
        match self {
            Credential::Key => "keys",
            Credential::Token => "tokens",
        }
    }

    fn page(self) -> &'static str {
        match self {
            Credential::Key => "/keys",
            Credential::Token => "/tokens",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Credential::Key => "signing key",
            Credential::Token => "API token",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Credential::Key => "Signing keys",
            Credential::Token => "API tokens",
        }
    }
}

const ID: Field<'static> = Field::needed(
    "id",
    "Id",
    Kind::Words,
    "Letters, digits, dots, hyphens and underscores.",
);
const CLIENT: Field<'static> = Field::optional(
    "client",
    "Client",
    Kind::Words,
    "The program or person that it is for. Empty: as the id.",
);
const ROLES: Field<'static> = Field::needed(
    "roles",
    "Roles",
    Kind::Words,
    "Such as auditor, or scheduler. Several with spaces between.",
);
const PROJECTS: Field<'static> = Field::optional(
    "projects",
    "Projects",
    Kind::Words,
    "Only these, with spaces between. Empty: all.",
);
const MACHINES: Field<'static> = Field::optional(
    "machines",
    "Machines",
    Kind::Words,
    "Only these, with spaces between. Empty: all.",
);

/// The fields of a new one. Every token ends.
fn fields(kind: Credential) -> [Field<'static>; 6] {
    let until = ("valid_until", "Valid until (exclusive)");
    let until = match kind {
        Credential::Key => Field::optional(
            until.0,
            until.1,
            Kind::Words,
            "Such as 2027-01-01. Empty: without end.",
        ),
        Credential::Token => Field::needed(until.0, until.1, Kind::Words, "Such as 2027-01-01."),
    };
    [ID, CLIENT, ROLES, PROJECTS, MACHINES, until]
}

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/keys", async |visit: Visit| {
            page(&visit, Credential::Key, None).await
        })
        .right(Right::SeeKeys)
        .takes(["after", "done", "of"])
        .nav("Keys"),
        Page::post("/keys/new", async |visit: Visit| {
            add(visit, Credential::Key).await
        })
        .right(Right::ChangeKeys)
        .of_form("New signing key", &fields(Credential::Key)),
        Page::post("/keys/end", async |visit: Visit| {
            end(visit, Credential::Key).await
        })
        .right(Right::ChangeKeys)
        .of_form("End a signing key", &[ID]),
        Page::get("/tokens", async |visit: Visit| {
            page(&visit, Credential::Token, None).await
        })
        .right(Right::SeeKeys)
        .takes(["after", "done", "of"])
        .nav("Tokens"),
        Page::post("/tokens/new", async |visit: Visit| {
            add(visit, Credential::Token).await
        })
        .right(Right::ChangeKeys)
        .of_form("New API token", &fields(Credential::Token)),
        Page::post("/tokens/end", async |visit: Visit| {
            end(visit, Credential::Token).await
        })
        .right(Right::ChangeKeys)
        .of_form("End an API token", &[ID]),
    ]
}

async fn page(visit: &Visit, kind: Credential, failed: Option<&Failed>) -> Shown {
    let path = kind.path();
    let after = visit.parameter("after");
    let route = |root: fn(&[&str]) -> Target| root(&[path]).maybe("after", after);
    // A key has the members of a token, and a fingerprint.
    let list: List<Token> = visit.get(route(Target::api)).await?;
    let next = list.next.as_deref();
    let next = next.map(|next| visit.link(&[path]).with("after", next));
    let content = html! {
        @if let Some((_, id)) = sent::about(visit) { (ended(visit, kind, id).await) }
        (sent::unnamed(visit))
        @if let Some(failed) = failed { (form::refusal(visit, &fields(kind), failed)) }
        (table(visit, kind, &list.items, route(Target::data), next))
        @if visit.may(Right::ChangeKeys) { (form(visit, kind, failed)) }
    };
    Ok(visit.page(kind.title(), &[], &content))
}

/// What became of one that was ended.
async fn ended(visit: &Visit, kind: Credential, id: &str) -> Markup {
    let found: Result<Token, Failed> = visit.get(Target::api(&[kind.path(), id])).await;
    match found {
        Ok(one) if one.state == "active" => html! {},
        _ => sent::band(
            &html! { "The " (kind.word()) " " strong { (id) } " is refused from now on." },
        ),
    }
}

fn table(
    visit: &Visit,
    kind: Credential,
    items: &[Token],
    data: Target,
    next: Option<Target>,
) -> Markup {
    let may = visit.may(Right::ChangeKeys);
    let action = format!("/{}/end", kind.path());
    let joined = |list: &[String]| {
        let text = if list.is_empty() {
            "all".to_owned()
        } else {
            list.join(", ")
        };
        name(&text)
    };
    let zone = visit.zone();
    Table::of("Existing", items)
        .words("Id", |one| name(&one.id))
        .words("Client", |one| name(&one.client))
        .words("Roles", |one| html! { (one.roles.join(", ")) })
        .words("Projects", |one| joined(&one.projects))
        .words("Machines", |one| joined(&one.machines))
        .words(
            "Valid until",
            |one| html! { (zone.time_or(one.valid_until.as_deref(), "–")) },
        )
        .words(
            "State",
            |one| html! { span .flag[one.state != "active"] { (one.state) } },
        )
        .words(
            "Last used",
            |one| html! { (zone.time_or(one.last_used.as_deref(), "–")) },
        )
        .buttons(
            "Change",
            |one| html! { @if may { (sent::button(visit, &action, "End", &[("id", &one.id)])) } },
        )
        .empty(html! {
            p { "There is no " (kind.word()) " yet." }
            p .small { "A program needs one to use the bank over a network." }
            @if may { p .small .ways { a href="#new" { "Create the first one" } " below." } }
        })
        .data(data)
        .next(next)
        .show()
}

fn form(visit: &Visit, kind: Credential, failed: Option<&Failed>) -> Markup {
    let title = format!("New {}", kind.word());
    let action = format!("/{}/new", kind.path());
    let fields = fields(kind);
    sent::form(visit, ("new", &title), &action, &fields, failed, "Create")
}

async fn add(visit: Visit, kind: Credential) -> Shown {
    match added(&visit, kind).await {
        Ok(answer) => Ok(created(&visit, kind, &answer)),
        Err(failed) => sent::again(
            page(&visit.on(kind.page()), kind, Some(&failed)).await,
            failed,
        ),
    }
}

async fn added(visit: &Visit, kind: Credential) -> Result<Value, Failed> {
    let id = visit.needed("id")?;
    let list = |field: &str| {
        let text = visit.field(field).unwrap_or_default();
        let items = text.split(|c: char| c.is_whitespace() || c == ',');
        let items = items.filter(|item| !item.is_empty());
        items.collect::<Value>()
    };
    visit.needed("roles")?;
    let mut body = Map::new();
    body.insert("id".to_owned(), id.into());
    for field in ["roles", "projects", "machines"] {
        body.insert(field.to_owned(), list(field));
    }
    if let Some(client) = visit.trimmed("client") {
        body.insert("client".to_owned(), client.into());
    }
    if kind == Credential::Token {
        visit.needed("valid_until")?;
    }
    if let Some(until) = visit.trimmed("valid_until") {
        let until = visit.end_of("valid_until", &until)?;
        body.insert("valid_until".to_owned(), until.into());
    }
    let target = Target::api(&[kind.path()]);
    let (_, answer): (u16, Value) = visit.send("POST", target, &key(visit), &body).await?;
    Ok(answer)
}

/// The secret, once: the bank stores a digest of a token only, and a repeat of the form has none.
fn created(visit: &Visit, kind: Credential, answer: &Value) -> axum::response::Response {
    let secret = answer.get("secret").and_then(Value::as_str);
    let id = visit.field("id").unwrap_or_default();
    let content = html! {
        @match secret {
            Some(secret) => {
                div .message.good role="status" { p { "Created. Copy the secret now: it is shown once." } }
                dl .facts { dt { "Id" } dd { (id) } dt { "Secret" } dd {
                    pre .secret tabindex="0" role="region" aria-label="Secret" { code { (secret) } }
                } }
            }
            None => div .message { p { "This form was sent before. The secret was shown then, and is not shown again." } },
        }
        p { a href={ "/" (kind.path()) } { (kind.title()) } }
    };
    let above = [(kind.title(), visit.link(&[kind.path()]))];
    visit.page(&format!("New {}", kind.word()), &above, &content)
}

async fn end(visit: Visit, kind: Credential) -> Shown {
    let id = visit.needed("id")?;
    if !sent::is_confirmed(&visit) {
        let question = format!(
            "The {} {id} is refused from now on. This cannot be undone.",
            kind.word()
        );
        let back = Target::page(&[kind.path()]);
        return Ok(sent::confirm(&visit, &question, "End", &["id"], &back));
    }
    let target = Target::api(&[kind.path(), &id]);
    match visit.remove(target, &key(&visit)).await {
        Ok(()) => Ok(sent::to_about(&Target::page(&[kind.path()]), "end", &id)),
        Err(failed) => sent::again(
            page(&visit.on(kind.page()), kind, Some(&failed)).await,
            failed,
        ),
    }
}
