//! Requests of people who may not do it themselves: the forms, and what became of them.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect};
use bank_api::v1::{List, NewDecision, Proposal};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use super::proposals::{facts, may_decide, subject};
use crate::failed::Failed;
use crate::layout::message;
use crate::order::{Order, nothing, proposed};
use crate::page::Page;
use crate::parts::amount::{amount, is_zero};
use crate::parts::form::{Field, Kind, key, keyed, token};
use crate::parts::table::{Table, amounts, link, name, or_none, words};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Requests on the first screen of a person.
const RECENT: &str = "5";

const REASON: Field<'static> = Field::needed(
    "reason",
    "Reason",
    Kind::Words,
    "What it is for. Kept in the journal, at most 1000 bytes.",
);
const AMOUNT: &str = "Digits and at most one point, such as 250000 or 12.5.";
const START: &str = "Such as 2026-10-01. Empty: at once.";
const END: &str = "Such as 2027-04-01. Empty: without end.";

const DEPOSIT: &[Field<'static>] = &[
    Field::needed(
        "name",
        "Account or project",
        Kind::Words,
        "A project stands for its only account.",
    ),
    Field::needed("amount", "Amount", Kind::Amount, AMOUNT),
    Field::optional("start", "Usable from", Kind::Time, START),
    Field::optional("end", "Usable until (exclusive)", Kind::Time, END),
    REASON,
];

const EXTENSION: &[Field<'static>] = &[
    Field::needed(
        "allocation",
        "Allocation",
        Kind::Whole,
        "Its number, from the page of the project.",
    ),
    Field::needed(
        "until",
        "Usable until (exclusive)",
        Kind::Time,
        "Such as 2027-04-01.",
    ),
    REASON,
];

const MEMBER: &[Field<'static>] = &[
    Field::needed("project", "Project", Kind::Words, ""),
    Field::needed("user", "User", Kind::Words, "The login name."),
    REASON,
];

const PROJECT: &[Field<'static>] = &[
    Field::needed("name", "Name", Kind::Words, "Short, such as laser-cooling."),
    Field::optional("parent", "Part of", Kind::Words, "A project of yours."),
    Field::optional("description", "Description", Kind::Words, ""),
    Field::optional(
        "pi",
        "Principal investigator",
        Kind::Words,
        "The login name. Empty: you.",
    ),
    Field::optional("amount", "First deposit", Kind::Amount, AMOUNT),
    Field::optional("start", "Usable from", Kind::Time, START),
    Field::optional("end", "Usable until (exclusive)", Kind::Time, END),
    REASON,
];

/// One of the forms.
#[derive(Clone, Copy, Debug)]
struct Ask {
    path: &'static str,
    title: &'static str,
    lead: &'static str,
    route: &'static str,
    fields: &'static [Field<'static>],
}

const ALL: [Ask; 4] = [
    Ask {
        path: "deposit",
        title: "Ask for a deposit",
        lead: "Somebody who may deposit there answers it.",
        route: "deposits",
        fields: DEPOSIT,
    },
    Ask {
        path: "extension",
        title: "Ask for an extension",
        lead: "The money of an allocation can be spent for longer.",
        route: "extensions",
        fields: EXTENSION,
    },
    Ask {
        path: "member",
        title: "Ask for a member",
        lead: "The principal investigator and the managers of a project ask for others, a member for themselves.",
        route: "members",
        fields: MEMBER,
    },
    Ask {
        path: "project",
        title: "Ask for a project",
        lead: "An administrator answers it.",
        route: "projects",
        fields: PROJECT,
    },
];

pub(crate) fn rows() -> Vec<Page> {
    let [deposit, extension, member, project] = ALL;
    let of = |one: Ask, path: &'static str| {
        [
            Page::get(path, async move |visit: Visit| one.order().show(&visit))
                .right(Right::Ask)
                .below(&["/requests"])
                .takes_fields(one.fields),
            Page::post(path, move |visit: Visit| one.send(visit)).right(Right::Ask),
        ]
    };
    let forms = [
        of(deposit, "/ask/deposit"),
        of(extension, "/ask/extension"),
        of(member, "/ask/member"),
        of(project, "/ask/project"),
    ];
    let own = [
        Page::get("/requests", list)
            .right(Right::Ask)
            .takes(["state", "after"])
            .nav("Requests"),
        Page::get("/requests/{id}", show)
            .right(Right::Ask)
            .takes(["done"]),
        Page::post("/requests/{id}/withdraw", withdraw).right(Right::Ask),
    ];
    own.into_iter().chain(forms.into_iter().flatten()).collect()
}

impl Ask {
    fn order(&self) -> Order<'static> {
        Order {
            title: self.title,
            what: "the request",
            lead: self.lead,
            fields: self.fields,
            fixed: serde_json::Map::new(),
            action: Target::page(&["ask", self.path]),
            route: Target::api(&["requests", self.route]),
            trail: &[],
            is_proposed: false,
            more: nothing,
            after: |answer| {
                let target = proposed(answer.clone());
                target.unwrap_or_else(|_| Target::page(&["requests"]))
            },
        }
    }

    async fn send(self, visit: Visit) -> Shown {
        self.order().take(&visit).await
    }
}

/// The fields of the form that asks for a kind of thing.
pub(crate) fn fields(kind: &str) -> &'static [Field<'static>] {
    let own = ALL.iter().find(|one| one.path == kind);
    own.map_or(&[], |one| one.fields)
}

/// The forms for a project that a person may not change.
pub(crate) fn links(visit: &Visit, project: &str) -> Markup {
    let ask = |path: &str, field: &str| Target::page(&["ask", path]).with(field, project);
    html! {
        @if visit.may(Right::Ask) {
            @if !visit.may(Right::Deposit) {
                a .button href=(ask("deposit", "name")) { "Ask for a deposit" } " "
            }
            @if !visit.may(Right::ChangeMembers) {
                a .button href=(ask("member", "project")) { "Ask for a member" } " "
            }
        }
    }
}

/// A link to the form for a later end of an allocation.
pub(crate) fn longer(visit: &Visit, allocation: i64) -> Markup {
    let target = Target::page(&["ask", "extension"]);
    html! {
        @if visit.may(Right::Ask) && !visit.may(Right::ChangeAllocations) {
            " " a .small href=(target.with("allocation", &allocation.to_string())) {
                "Ask for an extension"
            }
        }
    }
}

/// On the first screen: the newest requests of the person, and the form for a project.
pub(crate) async fn card(visit: &Visit) -> Result<Markup, Failed> {
    if !visit.may(Right::Ask) {
        return Ok(html! {});
    }
    let target = Target::api(&["requests"]).with("mine", "true");
    let list: List<Proposal> = visit.get(target.with("limit", RECENT)).await?;
    Ok(html! {
        @if !list.items.is_empty() { (table(visit, &list.items, "Your requests", None, None)) }
        p .actions {
            a .button href="/ask/project" { "Ask for a project" } " "
            @if !list.items.is_empty() { a href=(visit.link(&["requests"])) { "All requests" } }
        }
    })
}

async fn list(visit: Visit) -> Shown {
    let route = |root: fn(&[&str]) -> Target| {
        let target = root(&["requests"]).with("mine", "true");
        let target = target.maybe("state", visit.parameter("state"));
        target.maybe("after", visit.parameter("after"))
    };
    let list: List<Proposal> = visit.get(route(Target::api)).await?;
    let next = list.next.as_deref().map(|next| {
        let target = visit.link(&["requests"]).with("after", next);
        target.maybe("state", visit.parameter("state"))
    });
    let content = html! {
        p .actions {
            @for one in ALL { a .button href=(Target::page(&["ask", one.path])) { (one.title) } " " }
        }
        (table(&visit, &list.items, "Your requests", Some(route(Target::data)), next))
        @if visit.may(Right::DecideProposals) {
            p .ways { a href=(visit.link(&["proposals"])) { "Requests of others, and proposals" } }
        }
    };
    Ok(visit.page("Requests", &[], &content))
}

fn table(
    visit: &Visit,
    items: &[Proposal],
    caption: &str,
    data: Option<Target>,
    next: Option<Target>,
) -> Markup {
    let row = |row: &Proposal| {
        let number = row.id.to_string();
        vec![
            link(&visit.link(&["requests", &number]), &number),
            html! { (row.kind.replace('_', " ")) },
            name(&subject(row)),
            html! {
                @if is_zero(&row.amount) { span .none { "–" } } @else { (amount(&row.amount)) }
            },
            html! { (visit.zone().day(&row.at)) },
            html! { strong .flag[row.state == "declined"] { (row.state) } },
            or_none(row.reason.as_deref()),
        ]
    };
    Table {
        caption,
        columns: vec![
            words("Number"),
            words("What"),
            words("For"),
            amounts("Amount", &visit.unit()),
            words("Asked on"),
            words("State"),
            words("Answer"),
        ],
        rows: items.iter().map(row).collect(),
        empty: html! {
            p { "You have asked for nothing yet." }
            p .small { "A request goes to the people who may do what it asks for. Their answer appears here." }
        },
        data,
        next,
    }
    .show()
}

async fn show(visit: Visit, Path(id): Path<String>) -> Shown {
    page(&visit, &id, None).await
}

async fn page(visit: &Visit, id: &str, failed: Option<&Failed>) -> Shown {
    let one: Proposal = visit.get(Target::api(&["requests", id])).await?;
    let content = html! {
        @if visit.parameter("done") == Some("asked") {
            div .message.good role="status" { p { "Sent. It waits for an answer." } }
        }
        @if visit.parameter("done") == Some("withdrawn") && one.state != "open" {
            div .message.good role="status" { p { "Your request for " (subject(&one)) " is " (one.state) "." } }
        }
        @if let Some(failed) = failed { (message(failed)) }
        (facts(visit, &one).await)
        @if one.state == "open" && one.proposed_by == visit.session.name {
            form .entry method="post" action=(Target::page(&["requests", id, "withdraw"])) {
                (token(visit)) (keyed(&uuid::Uuid::new_v4().to_string()))
                button .plain type="submit" { "Withdraw the request" }
            }
        }
        @if may_decide(visit, &one) {
            p .actions { a .button href=(visit.link(&["proposals", id])) { "Answer it" } }
        }
    };
    let trail = [("Requests", visit.link(&["requests"]))];
    let mut page = visit.page(&format!("Request {}", one.id), &trail, &content);
    if let Some(failed) = failed {
        *page.status_mut() = failed.status();
    }
    Ok(page)
}

async fn withdraw(visit: Visit, Path(id): Path<String>) -> Shown {
    let target = Target::api(&["requests", &id, "withdraw"]);
    let body = NewDecision::default();
    let sent: Result<(u16, Value), Failed> = visit.send("POST", target, &key(&visit), &body).await;
    match sent {
        Ok(_) => {
            let target = Target::page(&["requests", &id]).with("done", "withdrawn");
            Ok(Redirect::to(target.as_str()).into_response())
        }
        Err(failed) => page(&visit, &id, Some(&failed)).await,
    }
}
