//! Transaction limits, and amounts that need a second person.

use bank_api::v1::{Limit, List, NewLimit, Written};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{grouped, maybe};
use crate::parts::form::{Field, Kind, key, refusal};
use crate::parts::sent;
use crate::parts::table::{Table, link, name};
use crate::target::Target;
use crate::visit::{Shown, Visit};

const ROLE: Kind = Kind::Choice(&[
    ("", "none"),
    ("admin", "admin"),
    ("operator", "operator"),
    ("manager", "manager"),
    ("pi", "principal investigator"),
    ("auditor", "auditor"),
    ("scheduler", "scheduler"),
    ("collector", "collector"),
    ("partner", "partner"),
    ("user", "user"),
]);

const FIELDS: [Field<'static>; 4] = [
    Field::either(
        "role",
        "Role",
        ROLE,
        "a role or a name",
        "Each person with this role has the limit.",
    ),
    Field::either(
        "name",
        "Name",
        Kind::Words,
        "a role or a name",
        "A person, a client, or one key or token by its id.",
    ),
    Field::either(
        "per_operation",
        "Most in one operation",
        Kind::SignOrWord,
        "one of the two amounts, or both",
        "Such as 10000; none removes it. Empty: unchanged.",
    ),
    Field::either(
        "per_day",
        "Most in a day",
        Kind::SignOrWord,
        "one of the two amounts, or both",
        "Days of UTC. Such as 50000; none removes it. Empty: unchanged.",
    ),
];

/// What the removal of a limit is sent.
const GONE: [Field<'static>; 2] = [
    Field::needed("of", "Kind", Kind::Words, ""),
    Field::needed("who", "Of", Kind::Words, ""),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/limits", show)
            .right(Right::SeeAccess)
            .takes(["done", "of"])
            .nav("Limits"),
        Page::post("/limits/set", set)
            .right(Right::ChangeAccess)
            .of_form("Set a limit", &FIELDS),
        Page::post("/limits/remove", remove)
            .right(Right::ChangeAccess)
            .of_form("Remove a limit", &GONE),
    ]
}

async fn show(visit: Visit) -> Shown {
    page(&visit, None).await
}

async fn page(visit: &Visit, failed: Option<&Failed>) -> Shown {
    let list: List<Limit> = visit.get(Target::api(&["limits"])).await?;
    let content = html! {
        @if let Some((_, of)) = sent::about(visit) { (changed(&list.items, of)) }
        (sent::unnamed(visit))
        @if let Some(failed) = failed { (refusal(visit, &FIELDS, failed)) }
        p { "An operation above a limit is refused. All limits that match a person count, and the daily sum is of the
            client: a second key gives no second allowance." }
        (table(visit, &list.items))
        @if visit.may(Right::ChangeAccess) { (sent::form(visit, ("set", "Set a limit"), "/limits/set", &FIELDS, failed, "Set")) }
    };
    Ok(visit.page("Transaction limits", &[], &content))
}

/// The limit of a role or a name after a change.
fn changed(items: &[Limit], of: &str) -> Markup {
    let is_own = |limit: &&Limit| subject(limit).1 == of;
    let found = items.iter().find(is_own);
    let Some(limit) = found else {
        return sent::band(&html! { strong { (of) } " has no limit now." });
    };
    sent::band(&html! { "The limit of " strong { (of) } " is " (most(limit)) "." })
}

/// What a limit permits.
fn most(limit: &Limit) -> String {
    let most = |amount: &Option<String>, over: &str| {
        let most = amount.as_deref().map(grouped);
        most.map(|most| format!("{most} {} {over}", limit.unit))
    };
    let both = [
        most(&limit.per_operation, "in one operation"),
        most(&limit.per_day, "in a day"),
    ];
    let both: Vec<String> = both.into_iter().flatten().collect();
    both.join(" and ")
}

fn table(visit: &Visit, items: &[Limit]) -> Markup {
    let may = visit.may(Right::ChangeAccess);
    let unit = items.first().map_or("", |limit| limit.unit.as_str());
    let remove = |limit: &Limit| {
        let (of, who) = subject(limit);
        html! { @if may { (sent::button(visit, "/limits/remove", "Remove", &[("of", of), ("who", who)])) } }
    };
    let whose = |limit: &Limit| match subject(limit) {
        ("name", who) => link(&visit.link(&["journal"]).with("actor", who), who),
        (_, who) => name(who),
    };
    Table::of("In force", items)
        .words("Of", whose)
        .words("Kind", |limit| html! { (subject(limit).0) })
        .amounts("In one operation", unit, |limit| {
            maybe(limit.per_operation.as_deref())
        })
        .amounts("In a day", unit, |limit| maybe(limit.per_day.as_deref()))
        .buttons("Change", remove)
        .empty(html! {
            p { "There is no limit: everybody may move any amount that their role permits." }
            @if may { p .small .ways { a href="#set" { "Set the first one" } " below." } }
        })
        .data(Target::data(&["limits"]))
        .show()
}

/// Whether it is the limit of a role or of a name, and which.
fn subject(limit: &Limit) -> (&'static str, &str) {
    match (&limit.role, &limit.name) {
        (Some(role), _) => ("role", role),
        (None, who) => ("name", who.as_deref().unwrap_or_default()),
    }
}

async fn set(visit: Visit) -> Shown {
    let body = NewLimit {
        role: visit.trimmed("role"),
        name: visit.trimmed("name"),
        per_operation: visit.trimmed("per_operation"),
        per_day: visit.trimmed("per_day"),
    };
    let target = Target::api(&["limits"]);
    let sent: Result<(u16, Written<Limit>), Failed> =
        visit.send("POST", target, &key(&visit), &body).await;
    match sent {
        Ok(_) => {
            let of = body.role.or(body.name).unwrap_or_default();
            Ok(sent::to_about(&Target::page(&["limits"]), "set", &of))
        }
        Err(failed) => sent::again(page(&visit.on("/limits"), Some(&failed)).await, failed),
    }
}

async fn remove(visit: Visit) -> Shown {
    let (of, who) = (visit.needed("of")?, visit.needed("who")?);
    if !sent::is_confirmed(&visit) {
        let list: List<Limit> = visit.get(Target::api(&["limits"])).await?;
        let is_own = |limit: &&Limit| subject(limit) == (of.as_str(), who.as_str());
        let most = list.items.iter().find(is_own).map(most);
        let most = most.map_or_else(String::new, |most| format!(", {most},"));
        let question = format!("The limit of the {of} {who}{most} no longer counts.");
        let back = Target::page(&["limits"]);
        return Ok(sent::confirm(
            &visit,
            &question,
            "Remove",
            &["of", "who"],
            &back,
        ));
    }
    let target = Target::api(&["limits", &of, &who]);
    match visit.remove(target, &key(&visit)).await {
        Ok(()) => Ok(sent::to_about(&Target::page(&["limits"]), "remove", &who)),
        Err(failed) => sent::again(page(&visit.on("/limits"), Some(&failed)).await, failed),
    }
}
