//! The tree of projects, with a search.

use bank_api::v1::{Balance, List};
use bankd_ledger::access::right::Right;
use maud::html;

use super::home;
use crate::page::Page;
use crate::parts::period;
use crate::target::Target;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/projects", show)
            .right(Right::SeeRegistry)
            .nav("Projects"),
    ]
}

async fn show(visit: Visit) -> Shown {
    let at = visit.at()?;
    let route = |root: fn(&[&str]) -> Target| root(&["balances"]).maybe("at", at.as_deref());
    let mut found: Vec<Balance> = Vec::new();
    let wanted = visit.parameter("search").map(str::to_lowercase);
    let mut after: Option<String> = visit.parameter("after").map(str::to_owned);
    // Without a search one page of the list; with one, all of it.
    let next = loop {
        let target = route(Target::api).maybe("after", after.as_deref());
        let list: List<Balance> = visit.get(target).await?;
        let fits = |row: &Balance| {
            let names = [row.project.as_deref(), Some(row.account.as_str())];
            let mut names = names.into_iter().flatten().map(str::to_lowercase);
            wanted
                .as_ref()
                .is_none_or(|wanted| names.any(|name| name.contains(wanted)))
        };
        found.extend(list.items.into_iter().filter(fits));
        if wanted.is_none() || list.next.is_none() {
            break list.next;
        }
        after = list.next;
    };
    let next = next.map(|next| visit.link(&["projects"]).with("after", &next));
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
        (home::balances(&visit, &found, Some(route(Target::data)), next))
    };
    Ok(visit.page("Projects", &[], &content))
}
