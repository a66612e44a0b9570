//! The checkpoints that the daemon made, compared with the bank.

use bank_api::v1::{KeptCheckpoint, List};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::amount::grouped;
use crate::parts::table::{Table, figures, link, name, words};
use crate::parts::turn::{self, ONLY};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Rows of a page: each file is read.
const SHOWN: &str = "100";

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/checkpoints", show)
            .right(Right::Verify)
            .below(&["/proof"])
            .takes(["after"]),
    ]
}

async fn show(visit: Visit) -> Shown {
    let route = |root: fn(&[&str]) -> Target| root(&["checkpoints"]);
    let route = |root| turn::asked(&visit, route(root), ONLY, SHOWN);
    let list: List<KeptCheckpoint> = visit.get(route(Target::api)).await?;
    let next = list.next.as_deref();
    let next = next.map(|next| visit.link(&["checkpoints"]).with("after", next));
    let wrong = list.items.iter().filter(|one| !one.holds).count();
    let content = html! {
        @if wrong > 0 {
            div .message.bad role="alert" { p { (wrong) " of these checkpoints do not agree with the bank." } }
        }
        p { "A checkpoint holds if its signature is valid and its last transaction has the same hash in the bank. If "
            a href=(visit.link(&["proof"])) { "the bank is verified" } ", all earlier transactions are then the same." }
        (table(&visit, &list.items, route(Target::data), next))
        p { "Compare with copies that are kept elsewhere: " code { "bankd verify --checkpoint FILE --public-key KEY" } }
    };
    Ok(visit.page("Checkpoints", &[], &content))
}

fn table(visit: &Visit, items: &[KeptCheckpoint], data: Target, next: Option<Target>) -> Markup {
    let count = |count: Option<i64>| {
        html! { @match count {
            Some(count) => (grouped(&count.to_string())),
            None => span .none { "–" },
        } }
    };
    let row = |one: &KeptCheckpoint| {
        let made = one.made.as_deref().map(|time| visit.zone().time(time));
        let last = one.transactions.map(|number| number.to_string());
        vec![
            name(&one.name),
            html! { (made.unwrap_or_else(|| "–".to_owned())) },
            html! { @match &last {
                Some(last) => (link(&visit.link(&["transactions", last]), last)),
                None => span .none { "–" },
            } },
            count(one.entries),
            html! { @if one.holds { "holds" } @else { strong .flag { "does not hold" } } },
            html! { span .prose { (one.error.as_deref().unwrap_or("–")) } },
        ]
    };
    Table {
        caption: "Checkpoints, the newest first",
        columns: vec![
            words("File"),
            words("Made"),
            figures("Last transaction"),
            figures("Last entry"),
            words("State"),
            words("Error"),
        ],
        rows: items.iter().map(row).collect(),
        empty: html! {
            p { "The daemon has made no checkpoint yet." }
            p .small { "Make a key with " code { "bankd checkpoint-key new" } ", and set " code { "checkpoint.every_s" } "." }
        },
        data: Some(data),
        next,
    }
    .show()
}
