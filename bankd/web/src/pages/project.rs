//! One project: whether its money lasts, who spends it, what is held now, and what was corrected.

mod corrections;
mod money;
pub(super) mod people;

use axum::extract::Path;
use bank_api::v1::{Balance, List, Project};
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::{ask, burn, home};
use crate::page::Page;
use crate::parts::table::link;
use crate::parts::{period, turn};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// Rows of a table on this page; further rows are one click away, and the CSV has all.
const SHOWN: &str = "200";

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/projects/{name}", show)
            .right(Right::SeeLedger)
            .below(&["/projects", "/"])
            .takes_period()
            .takes(["at", "accounts-after", "members-after"])
            .takes(["allocations-after", "held-after"])
            .picture(burn::picture_alone),
    ]
}

/// A project at an instant, for the tables of its page.
struct Place<'a> {
    visit: &'a Visit,
    project: &'a str,
    /// None for now.
    at: Option<&'a str>,
}

impl Place<'_> {
    /// A route with the state of the instant.
    fn past(&self, target: Target) -> Target {
        target.maybe("at", self.at)
    }

    /// The page of a list that the address asks for. Each list of this page has a cursor of its own.
    fn turned(&self, target: Target, list: &str) -> Target {
        turn::asked(self.visit, target, list, SHOWN)
    }

    /// This page with the following rows of a list.
    fn next(&self, list: &str, next: Option<&str>) -> Option<Target> {
        let own = self.visit.link(&["projects", self.project]);
        turn::next(own, list, next)
    }
}

async fn show(visit: Visit, Path(project): Path<String>) -> Shown {
    let at = visit.at()?;
    let at = at.as_deref();
    let place = Place {
        visit: &visit,
        project: &project,
        at,
    };
    let one: Project = visit
        .get(place.past(Target::api(&["projects", &project])))
        .await?;
    let balances = |root: fn(&[&str]) -> Target| {
        let target = place.past(root(&["balances"]).with("project", &project));
        if at.is_none() {
            target.with("burn", "true")
        } else {
            target
        }
    };
    let balances = |root| place.turned(balances(root), "accounts");
    // Questions that do not depend on each other are asked at once.
    let (rows, burn, members, usage, allocations, liens, corrections) = tokio::try_join!(
        visit.get::<List<Balance>>(balances(Target::api)),
        burn::figure(&visit, &project),
        people::members(&place),
        people::usage(&place),
        money::allocations(&place),
        money::liens(&place),
        corrections::show(&place),
    )?;
    let next = place.next("accounts", rows.next.as_deref());
    let content = html! {
        @if let Some(description) = one.description.as_deref().filter(|text| !text.is_empty()) {
            p .lead { (description) }
        }
        (facts(&visit, &one, &rows.items))
        (period::instant(&visit))
        (home::balances(&visit, &rows.items, Some(balances(Target::data)), next))
        (burn) (members) (usage) (allocations) (liens) (corrections)
    };
    Ok(visit.pictured(&one.name, &[], &content))
}

fn facts(visit: &Visit, project: &Project, rows: &[Balance]) -> Markup {
    let statement = visit.link(&["projects", &project.name, "statement"]);
    let jobs = visit.link(&["jobs"]).with("project", &project.name);
    let is_below = |row: &&Balance| row.parent.as_ref() == Some(&project.name);
    let mut below: Vec<&str> = rows
        .iter()
        .filter(is_below)
        .filter_map(|row| row.project.as_deref())
        .collect();
    below.dedup();
    html! {
        dl .facts {
            dt { "State" } dd { @if project.active { "active" } @else { strong .flag { "inactive" } } }
            dt { "Mode" } dd { (project.mode) }
            @if let Some(parent) = &project.parent {
                dt { "Part of" } dd { (link(&visit.link(&["projects", parent]), parent)) }
            }
            @if !below.is_empty() {
                dt { "Sub-projects" }
                dd { @for (place, name) in below.iter().enumerate() {
                    @if place > 0 { ", " }
                    (link(&visit.link(&["projects", name]), name))
                } }
            }
            @if let Some(organization) = &project.organization {
                dt { "Organisation" } dd { (organization) }
            }
        }
        p .actions {
            a .button href=(statement) { "Statement" } " "
            a .button href=(jobs) { "Jobs" } " "
            @if visit.may(Right::ChangeMembers) {
                a .button href=(visit.link(&["projects", &project.name, "members"])) { "Change members" } " "
            }
            (super::money::links(visit, Some(&project.name)))
            (ask::links(visit, &project.name))
        }
    }
}
