//! The checkpoints that the daemon made, compared with the bank.

use bank_api::v1::{KeptCheckpoint, List};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::amount::grouped;
use crate::parts::table::{Table, link, name};
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
    let last = |one: &KeptCheckpoint| {
        let last = one.transactions.map(|number| number.to_string());
        html! { @match &last {
            Some(last) => (link(&visit.link(&["transactions", last]), last)),
            None => span .none { "–" },
        } }
    };
    let zone = visit.zone();
    Table::of("Checkpoints, the newest first", items)
        .words("File", |one| name(&one.name))
        .words("Made", |one| html! { (zone.time_or(one.made.as_deref(), "–")) })
        .figures("Last transaction", last)
        .figures("Last entry", |one| count(one.entries))
        .words("State", |one| html! { @if one.holds { "holds" } @else { strong .flag { "does not hold" } } })
        .words("Error", |one| html! { span .prose { (one.error.as_deref().unwrap_or("–")) } })
        .empty(html! {
            p { "The daemon has made no checkpoint yet." }
            p .small { "Make a key with " code { "bankd checkpoint-key new" } ", and set " code { "checkpoint.every_s" } "." }
        })
        .data(data)
        .next(next)
        .show()
}
