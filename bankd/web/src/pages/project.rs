//! One project: whether its money lasts, who spends it, what is held now.

use axum::extract::Path;
use bank_api::v1::{Allocation, Balance, Lien, List, Member, Project};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::{burn, home, money, requests};
use crate::page::Page;
use crate::parts::amount::amount;
use crate::parts::period;
use crate::parts::table::{Table, amounts, link, name, words};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Rows of a table on this page; the CSV has all.
const SHOWN: &str = "200";

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/projects/{name}", show)
            .right(Right::SeeLedger)
            .picture(burn::picture_alone),
    ]
}

async fn show(visit: Visit, Path(project): Path<String>) -> Shown {
    let at = visit.at()?;
    let at = at.as_deref();
    let past = |target: Target| target.maybe("at", at);
    let one: Project = visit
        .get(past(Target::api(&["projects", &project])))
        .await?;
    let balances = |root: fn(&[&str]) -> Target| {
        let target = past(root(&["balances"]).with("project", &project));
        if at.is_none() {
            target.with("burn", "true")
        } else {
            target
        }
    };
    let rows: List<Balance> = visit.get(balances(Target::api)).await?;
    let members = |root: fn(&[&str]) -> Target| past(root(&["projects", &project, "members"]));
    let people: List<Member> = visit.get(members(Target::api)).await?;
    let mut allocations = Vec::new();
    for account in &one.accounts {
        let target = Target::api(&["allocations"]).with("account", account);
        let list: List<Allocation> = visit.get(past(target)).await?;
        allocations.extend(list.items);
    }
    let liens = |root: fn(&[&str]) -> Target| past(root(&["liens"]).with("project", &project));
    let held: List<Lien> = visit.get(liens(Target::api).with("limit", SHOWN)).await?;
    let burn = burn::figure(&visit, &project).await?;
    let content = html! {
        @if let Some(description) = one.description.as_deref().filter(|text| !text.is_empty()) {
            p .lead { (description) }
        }
        (facts(&visit, &one))
        (period::instant(&visit))
        (home::balances(&visit, &rows.items, Some(balances(Target::data)), None))
        (burn)
        (table_of_members(&visit, &project, &people.items, members(Target::data)))
        (table_of_allocations(&visit, &allocations))
        (table_of_liens(&visit, &held.items, liens(Target::data)))
    };
    Ok(visit.pictured(&one.name, &[("Balances", visit.link(&[]))], &content))
}

fn facts(visit: &Visit, project: &Project) -> Markup {
    let statement = visit.link(&["projects", &project.name, "statement"]);
    let jobs = visit.link(&["jobs"]).with("project", &project.name);
    html! {
        dl .facts {
            dt { "State" } dd { @if project.active { "active" } @else { strong .flag { "inactive" } } }
            dt { "Mode" } dd { (project.mode) }
            @if let Some(parent) = &project.parent {
                dt { "Part of" } dd { (link(&visit.link(&["projects", parent]), parent)) }
            }
            @if let Some(organization) = &project.organization {
                dt { "Organisation" } dd { (organization) }
            }
        }
        p .actions {
            a .button href=(statement) { "Statement" } " "
            a .button href=(jobs) { "Jobs" } " "
            @if visit.may(Right::ChangeMembers) {
                a .button href=(Target::page(&["projects", &project.name, "members"])) { "Change members" } " "
            }
            (money::links(visit, Some(&project.name)))
            (requests::links(visit, &project.name))
        }
    }
}

fn table_of_members(visit: &Visit, project: &str, items: &[Member], data: Target) -> Markup {
    let row = |member: &Member| {
        let jobs = visit
            .link(&["jobs"])
            .with("project", project)
            .with("user", &member.user);
        vec![
            link(&jobs, &member.user),
            html! { (member.role) },
            html! { @if member.active { "active" } @else { strong .flag { "inactive" } } },
        ]
    };
    Table {
        caption: "Members",
        columns: vec![words("User"), words("Role"), words("State")],
        rows: items.iter().map(row).collect(),
        empty: html! { p { "No members yet. Only members may spend." } },
        data: Some(data),
        next: None,
    }
    .show()
}

fn table_of_allocations(visit: &Visit, items: &[Allocation]) -> Markup {
    let unit = items.first().map_or("", |row| row.unit.as_str());
    let day = |time: &Option<String>| {
        time.as_deref()
            .map_or_else(|| "–".to_owned(), |time| visit.zone().day(time))
    };
    let row = |one: &Allocation| {
        vec![
            html! { (one.id) },
            name(&one.account),
            html! { (one.state) },
            html! { (day(&one.start)) },
            html! { (day(&one.until)) @if one.until.is_some() { (requests::longer(visit, one.id)) } },
            amount(&one.deposited),
            amount(&one.amount),
            amount(&one.held),
        ]
    };
    Table {
        caption: "Allocations",
        columns: vec![
            words("Number"),
            words("Account"),
            words("State"),
            words("From"),
            words("Until (exclusive)"),
            amounts("Deposited", unit),
            amounts("Left", unit),
            amounts("Held", unit),
        ],
        rows: items.iter().map(row).collect(),
        empty: html! { p { "No money was deposited yet." } },
        data: None,
        next: None,
    }
    .show()
}

fn table_of_liens(visit: &Visit, items: &[Lien], data: Target) -> Markup {
    let unit = items.first().map_or("", |row| row.unit.as_str());
    let row = |lien: &Lien| {
        let job = visit
            .link(&["jobs", &lien.job])
            .with("machine", &lien.machine);
        vec![
            link(&job, &lien.job),
            name(&lien.machine),
            name(lien.user.as_deref().unwrap_or("–")),
            html! { (visit.zone().time(&lien.placed)) },
            amount(&lien.amount),
        ]
    };
    html! {
        div #held {
            (Table {
                caption: "Held now",
                columns: vec![
                    words("Job"),
                    words("Machine"),
                    words("User"),
                    words("Since"),
                    amounts("Held", unit),
                ],
                rows: items.iter().map(row).collect(),
                empty: html! { p { "Nothing is held: no job of this project runs." } },
                data: Some(data),
                next: None,
            }.show())
        }
    }
}
