//! Notices of a person: alerts of their projects and answers to their requests, as a page and as a feed.

use axum::http::header;
use axum::response::IntoResponse as _;
use bank_api::v1::{Attention, List, Proposal};
use bankd_ledger::access::right::Right;
use bankd_services::links::DAYS_MAX;
use maud::html;

use crate::atom::{self, Entry};
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::sentence::sentence;
use crate::parts::share::{FEED, address};
use crate::parts::table::{Table, link, prose};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Entries of each kind in the feed.
const ENTRIES: &str = "50";

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/notices", show)
            .right(Right::SeeLedger)
            .takes(["all", "after"])
            .nav("Notices"),
    ]
}

/// What a kind of alert is called.
fn kind(word: &str) -> &str {
    match word {
        "used" => "Used",
        "expiring" => "Expires soon",
        "negative" => "Below zero",
        "fallback_used" => "Fallback account used",
        "lien_stuck" => "Lien without an end",
        "collector_silent" => "Collector silent",
        "partner_waiting" => "Partner bank waits",
        "job_unfunded" => "Running job without money",
        other => other,
    }
}

async fn show(visit: Visit) -> Shown {
    let all = visit.parameter("all").is_some();
    let route = |root: fn(&[&str]) -> Target| {
        let target = root(&["attention"]).maybe("all", all.then_some("true"));
        // An account that has used 95 percent has used 80.
        let target = target.with("highest", "true");
        target.maybe("after", visit.parameter("after"))
    };
    let list: List<Attention> = visit.get(route(Target::api)).await?;
    let here = || visit.link(&["notices"]);
    let next = list.next.as_deref();
    let next = next.map(|next| {
        here()
            .maybe("all", all.then_some("true"))
            .with("after", next)
    });
    let project = |row: &Attention| {
        let project = row.project.as_deref().filter(|name| !name.is_empty());
        html! {
            @if let Some(project) = project {
                (link(&visit.link(&["projects", project]), project))
            } @else { span .none { "–" } }
        }
    };
    let whose = if all { "All" } else { "Open" };
    let caption = format!("{whose}, the newest first");
    let table = Table::of(&caption, &list.items)
        .words("When", |row| html! { (visit.zone().time(&row.at)) })
        .words("Project", project)
        .words("Kind", |row| html! { (kind(&row.kind)) })
        .words("Notice", |row| prose(Some(&sentence(visit.zone(), &row.message))))
        .words("State", |row| html! { @if row.open { strong .flag { "open" } } @else { (row.turn) } })
        .empty(html! {
            p { "There is nothing to notice." }
            @if !visit.web.services.notices.attention.on {
                p { "This bank raises no alerts: " code { "attention.on" } " is not set."
                    @if visit.may(Right::SeeKeys) { " " a href=(visit.link(&["settings"])) { "Settings" } " lists what is in force." } }
            }
            p .small { "Notices appear here when the money of a project of yours runs low, ends soon or is overdrawn." }
        })
        .data(route(Target::data))
        .next(next);
    let content = html! {
        (table.show())
        p .ways { @if all { a href=(here()) { "Open notices only" } } @else { a href=(here().with("all", "true")) { "Earlier notices too" } } }
        @if let Some(feed) = address(&visit, FEED, DAYS_MAX) {
            section .change {
                h2 { "Feed" }
                p { "A program that reads feeds (Atom) shows new notices and answers to your requests. Copy this address into it. Whoever has it
                    can read them for a year." }
                p { a href=(feed) { "Address of your feed" } }
            }
        }
    };
    Ok(visit.page("Notices", &[], &content))
}

/// `GET /feed`: for a signed address.
pub(crate) async fn feed(visit: Visit) -> Shown {
    let target = Target::api(&["attention"]).with("all", "true");
    let target = target.with("highest", "true");
    let alerts: List<Attention> = visit.get(target.with("limit", ENTRIES)).await?;
    let mut entries: Vec<Entry> = alerts
        .items
        .iter()
        .map(|row| of_alert(&visit, row))
        .collect();
    if visit.may(Right::Ask) {
        let target = Target::api(&["requests"]).with("mine", "true");
        let requests: List<Proposal> = visit.get(target.with("limit", ENTRIES)).await?;
        entries.extend(requests.items.iter().map(|row| of_request(&visit, row)));
    }
    entries.sort_by(|a, b| b.at.cmp(&a.at));
    let origin = visit.web.services.sessions.url().unwrap_or_default();
    let text = atom::feed(origin, &visit.session.name, visit.present(), &entries);
    let text = text.map_err(|_| Failed::internal())?;
    let media = [(header::CONTENT_TYPE, "application/atom+xml; charset=utf-8")];
    Ok((media, text).into_response())
}

fn of_alert(visit: &Visit, row: &Attention) -> Entry {
    let project = row.project.as_deref().filter(|name| !name.is_empty());
    Entry {
        id: format!("notices/{}", row.id),
        title: match (project, row.turn.as_str()) {
            (Some(project), "raised") => format!("{project}: {}", kind(&row.kind)),
            (Some(project), turn) => format!("{project}: {} ({turn})", kind(&row.kind)),
            (None, _) => kind(&row.kind).to_owned(),
        },
        at: row.at.clone(),
        text: sentence(visit.zone(), &row.message),
        page: match project {
            Some(project) => visit.link(&["projects", project]),
            None => visit.link(&["notices"]),
        },
    }
}

fn of_request(visit: &Visit, row: &Proposal) -> Entry {
    let number = row.id.to_string();
    Entry {
        // A request that was answered is a new entry.
        id: format!("requests/{number}/{}", row.state),
        title: format!("Your request for {}: {}", row.subject(), row.state),
        at: row.decided_at.as_ref().unwrap_or(&row.at).clone(),
        text: row.reason.clone().unwrap_or_default(),
        page: visit.link(&["requests", &number]),
    }
}
