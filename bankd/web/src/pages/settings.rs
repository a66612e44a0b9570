//! The settings in force, for administrators: values, sources, and what waits for a restart.

use bank_api::v1::{List, Setting};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::page::Page;
use crate::parts::table::{Table, name};
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
        (table("Not at their default", list.items.iter().filter(|one| is_own(one))))
        (sections(&list.items))
        p .below {
            @if let Some(next) = next { a href=(next) rel="next" { "Next rows" } " · " }
            a href=(route(Target::data).with("format", "csv")) { "CSV" } " · " a href=(route(Target::data)) { "JSON" }
        }
    };
    Ok(visit.page("Settings", &[], &content))
}

/// Whether somebody has set it.
fn is_own(one: &Setting) -> bool {
    one.origin != "default" || one.pending.is_some()
}

/// The part of a name before its first point.
fn section(one: &Setting) -> &str {
    one.name.split('.').next().unwrap_or_default()
}

/// All settings, those of each section of the file folded up.
fn sections(items: &[Setting]) -> Markup {
    let groups = items.chunk_by(|one, other| section(one) == section(other));
    html! {
        h2 { "All, by section" }
        @for group in groups {
            @let word = group.first().map_or("", section);
            @let own = group.iter().filter(|one| is_own(one)).count();
            details .more.section {
                summary {
                    code { (word) } " "
                    span .small { (group.len()) @if own > 0 { ", " (own) " not at the default" } }
                }
                (table(word, group.iter()))
            }
        }
    }
}

fn table<'s>(caption: &str, items: impl Iterator<Item = &'s Setting>) -> Markup {
    let value = |text: &Option<String>| {
        html! { @match text { Some(text) => (shown(text)), None => span .none { "–" } } }
    };
    let pending = |one: &Setting| {
        html! { @match &one.pending { Some(text) => strong .flag { (shown(text)) }, None => span .none { "–" } } }
    };
    let is_default = |one: &Setting| one.origin == "default";
    Table::of(caption, items)
        .words("Setting", |one| html! { code { (one.name) } })
        .words("Value", |one| value(&one.value))
        .words("Waits for a restart", pending)
        .words(
            "From",
            |one| html! { @if is_default(one) { "default" } @else { strong { (one.origin) } } },
        )
        .words(
            "Takes effect after a",
            |one| html! { @if one.reload { "reload" } @else { "restart" } },
        )
        .words("Default", |one| {
            value(if is_default(one) { &None } else { &one.default })
        })
        .empty(html! { p { "Every setting has its default." } })
        .show()
}

/// A value. An empty text and an empty list are words.
fn shown(text: &str) -> Markup {
    match text {
        "\"\"" | "" => html! { span .none { "(empty)" } },
        "[]" | "{}" => html! { span .none { "none" } },
        text => name(text),
    }
}
