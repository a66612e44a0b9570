//! The first screen of a user: how much may be spent, and where.

use bank_api::v1::{Balance, List};
use bankd_ledger::access::Role;
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::{money, people, proof, requests};
use crate::page::Page;
use crate::parts::amount::{amount, is_zero, share};
use crate::parts::left;
use crate::parts::period;
use crate::parts::table::{Table, link, name};
use crate::parts::turn::{self, ONLY};
use crate::target::Target;
use crate::visit::{Shown, Visit};
use crate::zone::days;

/// Rows of one page: a telephone loads the first one in less than 60 kB.
pub(crate) const SHOWN: &str = "45";

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/", show)
            .right(Right::SeeLedger)
            .takes(["at", "after"])
            .nav("Balances"),
    ]
}

async fn show(visit: Visit) -> Shown {
    let at = visit.at()?;
    let route = |root: fn(&[&str]) -> Target| {
        let target = root(&["balances"]).maybe("at", at.as_deref());
        target.maybe("burn", at.is_none().then_some("true"))
    };
    let route = |root| turn::asked(&visit, route(root), ONLY, SHOWN);
    let list: List<Balance> = visit.get(route(Target::api)).await?;
    let next = list.next.as_deref();
    let next = next.map(|next| visit.link(&[]).with("after", next));
    let content = html! {
        @if visit.roles.has(Role::Auditor) && at.is_none() { (proof::card(&visit).await?) }
        @if visit.roles.has(Role::Admin) && at.is_none() { (people::card()) }
        (period::instant(&visit))
        (balances(&visit, &list.items, Some(route(Target::data)), next))
        @if at.is_none() { (requests::card(&visit).await?) }
        p .actions { (money::links(&visit, None)) }
    };
    Ok(visit.page("Balances", &[], &content))
}

/// A row for each account, a sub-project below its parent.
pub(crate) fn balances(
    visit: &Visit,
    items: &[Balance],
    data: Option<Target>,
    next: Option<Target>,
) -> Markup {
    let unit = items.first().map_or("", |row| row.unit.as_str());
    let has_days = items.iter().any(|row| days_left(visit, row).is_some());
    let held = |row: &Balance| match &row.project {
        Some(project) if !is_zero(&row.held) => {
            let page = visit.link(&["projects", project]);
            html! { a href=(page.as_str().to_owned() + "#held") { (amount(&row.held)) } }
        }
        _ => amount(&row.held),
    };
    let table = Table::of("Accounts", items)
        .words("Account", |row| account(visit, row))
        .amounts("Settled", unit, |row| amount(&row.amount))
        .amounts("Held", unit, held)
        .amounts("Free", unit, |row| html! { strong { (amount(&row.available)) } })
        .figures("Used", used)
        .figures("Days left", |row| left::show(days_left(visit, row)))
        .amounts("Expires unused", unit, |row| unused(visit, row))
        .empty(html! {
            @if visit.may(Right::Deposit) {
                p { "No account has money yet." }
                p .small {
                    a href="/ask/project" { "Ask for a project" } " with its first deposit: another person approves it. An
                    administrator adds one at once with " code { "bank project add NAME --members USERS" } ", and then makes a "
                    a href="/deposit" { "deposit" } "."
                }
            } @else {
                p { "You have no account with money yet." }
                p .small {
                    "An account is shared by the members of a project. "
                    a href="/ask/member" { "Ask to be a member" } " of one, or " a href="/ask/project" { "ask for a project" }
                    " of your own."
                }
            }
        })
        .data(data)
        .next(next);
    html! {
        (table.show())
        @if has_days { p .small {
            @if visit.parameter("at").is_some() {
                strong { "Days left: " }
                "from the shown instant until the first allocation with money ended, as it was known then."
            } @else {
                (left::explained())
            }
        } }
    }
}

fn account(visit: &Visit, row: &Balance) -> Markup {
    let title = match &row.project {
        Some(project) => link(&visit.link(&["projects", project]), project),
        None => name(&row.account),
    };
    let other = row
        .project
        .as_ref()
        .is_some_and(|project| *project != row.account);
    let depth = row.depth.min(6);
    html! {
        span data-depth=(depth) { (title) }
        @if other { " " span .small { (name(&row.account)) } }
        @if row.blocked { " " strong .flag { "blocked" } }
    }
}

/// The used share, with a bar that repeats it.
fn used(row: &Balance) -> Markup {
    html! {
        @match &row.used_percent {
            Some(percent) => {
                @let whole = percent.split('.').next().unwrap_or("0");
                meter min="0" max="100" high="80" optimum="0" value=(whole) aria-label="used" {}
                " " span .percent title={ (percent) " %" } { (share(percent)) " %" }
            }
            None => span .none { "–" }
        }
    }
}

/// Days in which the money can be spent. Of the past only the ends of allocations are known.
fn days_left(visit: &Visit, row: &Balance) -> Option<i64> {
    if visit.parameter("at").is_none() {
        return row.days_to_spend;
    }
    days(&row.at, row.until.as_deref()?)
}

fn unused(visit: &Visit, row: &Balance) -> Markup {
    html! {
        @match (&row.unused, &row.unused_at) {
            (Some(unused), Some(at)) if !is_zero(unused) => {
                (amount(unused)) " on " (visit.zone().day(at))
            }
            _ => span .none { "–" }
        }
    }
}
