//! The forms that move money: deposit, withdrawal, transfer, refund, adjustment.

use bankd_ledger::access::right::Right;
use maud::{Markup, html};
use serde_json::Value;

use crate::order::{Order, nothing, transaction};
use crate::page::Page;
use crate::parts::amount::amount;
use crate::parts::form::{Field, Kind};
use crate::target::Target;
use crate::visit::{Shown, Visit};

const ACCOUNT: &str = "An account, or a project that has one account.";
const AMOUNT: &str = "Digits, with at most one point between them, such as 250000 or 12.5.";
const ALLOCATION: &str = "The number of one allocation. Empty: the account decides.";
const KEPT: &str = "Kept in the journal.";

const NOTE: Field<'static> = Field::optional("note", "Reason", Kind::Words, KEPT);

const DEPOSIT: &[Field<'static>] = &[
    Field::needed("name", "Account or project", Kind::Words, ACCOUNT),
    Field::needed("amount", "Amount", Kind::Amount, AMOUNT),
    Field::optional(
        "start",
        "Usable from",
        Kind::Time,
        "Such as 2026-10-01. Empty: at once.",
    ),
    Field::optional(
        "end",
        "Usable until (exclusive)",
        Kind::End,
        "Such as 2027-04-01. Empty: without end.",
    ),
    Field::optional(
        "allocation",
        "Allocation",
        Kind::Whole,
        "The number of one allocation, such as one with a debt, instead of a period. Empty: the period decides.",
    ),
    NOTE,
];

const WITHDRAW: &[Field<'static>] = &[
    Field::needed("name", "Account or project", Kind::Words, ACCOUNT),
    Field::needed("amount", "Amount", Kind::Amount, AMOUNT),
    Field::optional("allocation", "Allocation", Kind::Whole, ALLOCATION),
    NOTE,
];

const TRANSFER: &[Field<'static>] = &[
    Field::needed("from", "From account or project", Kind::Words, ACCOUNT),
    Field::needed("to", "To account or project", Kind::Words, ACCOUNT),
    Field::needed("amount", "Amount", Kind::Amount, AMOUNT),
    Field::optional("allocation", "Allocation", Kind::Whole, ALLOCATION),
    NOTE,
];

const REFUND: &[Field<'static>] = &[
    Field::needed("job", "Job", Kind::Words, "The id that the scheduler gave."),
    Field::either(
        "machine",
        "Machine",
        Kind::Words,
        "needed if several machines have a job of this id",
        "",
    ),
    Field::optional(
        "amount",
        "Amount",
        Kind::Amount,
        "Empty: everything that is left of the charge.",
    ),
    Field::optional(
        "reissue_until",
        "New allocation until (exclusive)",
        Kind::End,
        "For money of allocations that have ended. Empty: it goes back where it came from.",
    ),
    NOTE,
];

const ADJUST: &[Field<'static>] = &[
    Field::either(
        "account",
        "Account or project",
        Kind::Words,
        "this or an allocation",
        ACCOUNT,
    ),
    Field::either(
        "allocation",
        "Allocation",
        Kind::Whole,
        "this or an account",
        "The number of one allocation.",
    ),
    Field::needed(
        "amount",
        "Amount",
        Kind::SignOrWord,
        "With a minus sign to take away, such as -12.5.",
    ),
    Field::needed("note", "Reason", Kind::Words, KEPT),
];

/// One of the forms.
#[derive(Clone, Copy, Debug)]
struct Money {
    path: &'static str,
    title: &'static str,
    what: &'static str,
    lead: &'static str,
    route: &'static str,
    fields: &'static [Field<'static>],
    more: fn(&Visit, &Value) -> Markup,
    right: Right,
}

const ALL: [Money; 5] = [
    Money {
        path: "deposit",
        title: "Deposit",
        what: "the deposit",
        lead: "",
        route: "deposits",
        fields: DEPOSIT,
        more: window,
        right: Right::Deposit,
    },
    Money {
        path: "withdraw",
        title: "Withdraw",
        what: "the withdrawal",
        lead: "Takes money out of the bank, from the allocation that ends first.",
        route: "withdrawals",
        fields: WITHDRAW,
        more: nothing,
        right: Right::Withdraw,
    },
    Money {
        path: "transfer",
        title: "Transfer",
        what: "the transfer",
        lead: "Moves money to another account. It can be spent there in the same period as before.",
        route: "transfers",
        fields: TRANSFER,
        more: nothing,
        right: Right::Transfer,
    },
    Money {
        path: "refund",
        title: "Refund",
        what: "the refund",
        lead: "Gives back what a job was charged, to the allocations that paid.",
        route: "refunds",
        fields: REFUND,
        more: refunded,
        right: Right::Refund,
    },
    Money {
        path: "adjust",
        title: "Adjust",
        what: "the adjustment",
        lead: "Corrects an account by an amount with its sign.",
        route: "adjustments",
        fields: ADJUST,
        more: nothing,
        right: Right::Adjust,
    },
];

pub(crate) fn rows() -> Vec<Page> {
    let [deposit, withdraw, transfer, refund, adjust] = ALL;
    let of = |one: Money, path: &'static str| {
        [
            Page::get(path, async move |visit: Visit| one.order().show(&visit))
                .right(one.right)
                .below(&["/today", "/"])
                .takes_fields(one.fields),
            Page::post(path, move |visit: Visit| one.send(visit))
                .right(one.right)
                .of_form(one.title, one.fields),
        ]
    };
    let all = [
        of(deposit, "/deposit"),
        of(withdraw, "/withdraw"),
        of(transfer, "/transfer"),
        of(refund, "/refund"),
        of(adjust, "/adjust"),
    ];
    all.into_iter().flatten().collect()
}

/// Links to the forms that the roles of the person permit, filled in for an account.
pub(crate) fn links(visit: &Visit, account: Option<&str>) -> Markup {
    let may = ALL.into_iter().filter(|one| visit.may(one.right));
    let may = may.filter(|one| account.is_none() || one.path != "refund");
    html! {
        @for one in may {
            @let first = match one.path { "transfer" => "from", "adjust" => "account", _ => "name" };
            a .button href=(Target::page(&[one.path]).maybe(first, account)) { (one.title) } " "
        }
    }
}

/// The fields of the form that sends a kind of request.
pub(crate) fn fields(kind: &str) -> &'static [Field<'static>] {
    let own = ALL.iter().find(|one| one.path == kind);
    own.map_or(&[], |one| one.fields)
}

impl Money {
    fn order(&self) -> Order<'static> {
        Order {
            title: self.title,
            what: self.what,
            lead: self.lead,
            fields: self.fields,
            about: html! {},
            fixed: serde_json::Map::new(),
            action: Target::page(&[self.path]),
            route: Target::api(&[self.route]),
            trail: &[],
            is_proposed: true,
            more: self.more,
            after: |answer| transaction(answer, "money"),
        }
    }

    async fn send(self, visit: Visit) -> Shown {
        self.order().take(&visit).await
    }
}

/// Whether the money of a deposit can be spent now.
fn window(visit: &Visit, answer: &Value) -> Markup {
    let time = |name: &str| answer.get(name).and_then(Value::as_str);
    let day = |name: &str| time(name).map(|time| visit.zone().day(time));
    let is_active = answer.get("active").and_then(Value::as_bool);
    html! {
        @if is_active == Some(false) {
            div .message { p {
                "It cannot be spent now: its window is from " (day("start").as_deref().unwrap_or("the beginning"))
                @match day("until") {
                    Some(until) => { " until " (until) "." },
                    None => " without end.",
                }
            } }
        }
    }
}

/// What a refund would give back.
fn refunded(_: &Visit, answer: &Value) -> Markup {
    let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or("–");
    let unit = text("unit");
    html! {
        dl .facts {
            dt { "Given back (" (unit) ")" } dd { strong { (amount(text("amount"))) } }
            dt { "Left of the charge (" (unit) ")" } dd { (amount(text("left"))) }
        }
    }
}
