//! The settings in force, for administrators: values, sources, and what waits for a restart.

use bank_api::v1::{List, Setting};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::table::{Table, name, words};
use crate::parts::turn::{self, ONLY};
use crate::target::Target;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/settings", show)
            .right(Right::SeeKeys)
            .takes(["after"])
            .nav("Settings"),
    ]
}

async fn show(visit: Visit) -> Shown {
    let route = |root: fn(&[&str]) -> Target| root(&["settings"]);
    let route = |root| turn::asked(&visit, route(root), ONLY, "1000");
    let list: List<Setting> = visit.get(route(Target::api)).await?;
    let next = list.next.as_deref();
    let next = next.map(|next| visit.link(&["settings"]).with("after", next));
    let waiting = list.items.iter().filter(|one| one.pending.is_some());
    let content = html! {
        @match waiting.count() {
            0 => {},
            1 => div .message.bad { p { "One changed setting waits for a restart." } },
            count => div .message.bad { p { (count) " changed settings wait for a restart." } },
        }
        p { "Settings are in " code { "bankd.toml" } " or in the environment. A reload (SIGHUP) changes some; others
            need a restart. Secrets are files, and the list has their names only." }
        (table(&list.items, route(Target::data), next))
    };
    Ok(visit.page("Settings", &[("People", visit.link(&["people"]))], &content))
}

fn table(items: &[Setting], data: Target, next: Option<Target>) -> Markup {
    let value = |text: &Option<String>| {
        html! { @match text { Some(text) => (name(text)), None => span .none { "–" } } }
    };
    let row = |one: &Setting| {
        let is_default = one.origin == "default";
        vec![
            html! { code { (one.name) } },
            value(&one.value),
            html! { @match &one.pending { Some(text) => strong .flag { (name(text)) }, None => span .none { "–" } } },
            html! { @if is_default { "default" } @else { strong { (one.origin) } } },
            html! { @if one.reload { "reload" } @else { "restart" } },
            html! { @if is_default { span .none { "–" } } @else { (value(&one.default)) } },
        ]
    };
    Table {
        caption: "In force",
        columns: vec![
            words("Setting"),
            words("Value"),
            words("Waits for a restart"),
            words("From"),
            words("Changes with a"),
            words("Default"),
        ],
        rows: items.iter().map(row).collect(),
        empty: html! { p { "There are no settings to show." } },
        data: Some(data),
        next,
    }
    .show()
}
