//! The tree of projects, with a search.

use bank_api::v1::{Balance, List};
use bankd_ledger::access::right::Right;
use maud::html;

use super::home;
use crate::page::Page;
use crate::parts::period;
use crate::parts::turn::{self, ONLY};
use crate::target::Target;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/projects", show)
            .right(Right::SeeRegistry)
            .takes(["at", "search", "after"])
            .nav("Projects"),
    ]
}

async fn show(visit: Visit) -> Shown {
    let at = visit.at()?;
    let route = |root: fn(&[&str]) -> Target| {
        let target = root(&["balances"]).maybe("at", at.as_deref());
        let target = target.maybe("burn", at.is_none().then_some("true"));
        target.maybe("search", visit.parameter("search"))
    };
    let route = |root| turn::asked(&visit, route(root), ONLY, home::SHOWN);
    let list: List<Balance> = visit.get(route(Target::api)).await?;
    let next = list.next.as_deref().map(|next| {
        let target = visit.link(&["projects"]);
        let target = target.maybe("search", visit.parameter("search"));
        target.with("after", next)
    });
    let content = html! {
        form .period method="get" action="/projects" role="search" {
            @for name in ["at", "zone"] {
                @if let Some(value) = visit.parameter(name) { input type="hidden" name=(name) value=(value); }
            }
            label { span { "Search" }
                input type="search" name="search" value=(visit.parameter("search").unwrap_or_default())
                    placeholder="a part of the name" autocomplete="off"; }
            button type="submit" { "Show" }
        }
        (period::instant(&visit))
        (home::balances(&visit, &list.items, Some(route(Target::data)), next))
    };
    Ok(visit.page("Projects", &[], &content))
}
