//! The forms with which people ask for what they may not do themselves.

use bank_api::v1::Allocation;
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::order::{Order, nothing, proposed};
use crate::page::Page;
use crate::parts::amount::amount;
use crate::parts::form::{Field, Kind};
use crate::parts::table::name;
use crate::target::Target;
use crate::visit::{Shown, Visit};

const REASON: Field<'static> = Field::needed(
    "reason",
    "Reason",
    Kind::Words,
    "What it is for. Kept in the journal, at most 1000 bytes.",
);
const AMOUNT: &str = "Digits, with at most one point between them, such as 250000 or 12.5.";
const START: &str = "Such as 2026-10-01. Empty: at once.";
const END: &str = "Such as 2027-04-01. Empty: without end.";

const DEPOSIT: &[Field<'static>] = &[
    Field::needed(
        "name",
        "Account or project",
        Kind::Words,
        "An account, or a project that has one account.",
    ),
    Field::needed("amount", "Amount", Kind::Amount, AMOUNT),
    Field::optional("start", "Usable from", Kind::Time, START),
    Field::optional("end", "Usable until (exclusive)", Kind::End, END),
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
        Kind::End,
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
    Field::optional("end", "Usable until (exclusive)", Kind::End, END),
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
        lead: "A person who may deposit into the account approves or rejects the request.",
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
        lead: "An administrator approves or rejects the request.",
        route: "projects",
        fields: PROJECT,
    },
];

pub(crate) fn rows() -> Vec<Page> {
    let [deposit, extension, member, project] = ALL;
    let of = |one: Ask, path: &'static str| {
        [
            Page::get(path, async move |visit: Visit| one.show(visit).await)
                .right(Right::Ask)
                .below(&["/requests"])
                .takes_fields(one.fields),
            Page::post(path, move |visit: Visit| one.send(visit))
                .right(Right::Ask)
                .of_form(one.title, one.fields),
        ]
    };
    let forms = [
        of(deposit, "/ask/deposit"),
        of(extension, "/ask/extension"),
        of(member, "/ask/member"),
        of(project, "/ask/project"),
    ];
    forms.into_iter().flatten().collect()
}

impl Ask {
    fn order(&self, about: Markup) -> Order<'static> {
        Order {
            title: self.title,
            what: "the request",
            lead: self.lead,
            fields: self.fields,
            about,
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

    async fn show(self, visit: Visit) -> Shown {
        let about = self.about(&visit).await;
        Ok(self.order(about).show(&visit))
    }

    async fn send(self, visit: Visit) -> Shown {
        let about = self.about(&visit).await;
        self.order(about).take(&visit).await
    }

    /// The allocation that an extension is about, as it is now. One that nobody sees is refused with the form.
    async fn about(&self, visit: &Visit) -> Markup {
        let number = visit.field("allocation");
        let number = number.or_else(|| visit.parameter("allocation"));
        let number = number.filter(|_| self.path == "extension");
        let Some(number) = number.and_then(|number| number.trim().parse::<i64>().ok()) else {
            return html! {};
        };
        let found = visit.get::<Allocation>(Target::api(&["allocations", &number.to_string()]));
        let Ok(one) = found.await else {
            return html! {};
        };
        let until = one.until.as_deref().map(|until| visit.zone().exact(until));
        html! {
            dl .facts {
                dt { "Account" } dd { (name(&one.account)) }
                dt { "Left (" (one.unit) ")" } dd { (amount(&one.amount)) }
                dt { "Usable until now (exclusive)" } dd { (until.as_deref().unwrap_or("without end")) }
            }
        }
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

/// A button for each form.
pub(crate) fn buttons() -> Markup {
    html! { @for one in ALL { a .button href=(Target::page(&["ask", one.path])) { (one.title) } " " } }
}
