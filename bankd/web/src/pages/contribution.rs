//! Subscription beside contribution: who used the machines, and who paid for them.

use bank_api::v1::{ContributionPeriod, ContributionReport, ContributionRow, ContributionTotal};
use bank_picture::Section;
use bank_picture::reports::contribution;
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::utilization::BASIS;
use crate::embedded::embedded;
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, is_zero, maybe};
use crate::parts::asked::{self, Asked, Words};
use crate::parts::period::{self, Choice};
use crate::parts::picture;
use crate::parts::table::{Table, amounts, figures, link, name, words};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The groupings.
const BY: Words = &[
    ("contributor", "contributor"),
    ("project", "project"),
    ("user", "user"),
];

pub(crate) fn rows() -> Vec<Page> {
    // A person without the right to the shares of all sees those of the own contributors.
    vec![
        Page::get("/contribution", show)
            .right(Right::SeeLedger)
            .below(&["/usage"])
            .takes_period()
            .takes(["every", "by", "basis"])
            .picture(picture_alone),
    ]
}

/// The picture for other sites.
async fn picture_alone(visit: Visit) -> Shown {
    let (asked, basis) = question(&visit)?;
    let report: ContributionReport = visit.get(route(&visit, &asked, basis, Target::api)).await?;
    let period = report.periods.first().filter(|period| !is_nothing(period));
    let sections = period.map(|period| sections(&report, period));
    let section = sections.as_ref().and_then(|sections| sections.first());
    embedded(&visit, "Usage and contributions", section)
}

/// What the address asks for, and of which measure. Contributors see their own rows, which are not grouped otherwise.
fn question(visit: &Visit) -> Result<(Asked, &'static str), Failed> {
    let sees_all = visit.may(Right::SeeShares);
    let by = BY.get(..if sees_all { BY.len() } else { 1 });
    Ok((
        Asked::of(visit, by.unwrap_or(BY))?,
        asked::word(visit, "basis", BASIS)?,
    ))
}

fn route(visit: &Visit, asked: &Asked, basis: &str, root: fn(&[&str]) -> Target) -> Target {
    root(&["report", "contribution"])
        .with("by", asked.by)
        .with("basis", basis)
        .with("buckets", "1")
        .with("tz", visit.zone().name())
        .with("from", &asked.from)
        .maybe("to", asked.to.as_deref())
}

/// The drawings. Utilisation has a page of its own.
fn sections(report: &ContributionReport, period: &ContributionPeriod) -> Vec<Section> {
    let alone = ContributionPeriod {
        utilisation: Vec::new(),
        ..period.clone()
    };
    let mut sections = contribution::sections(report, &alone);
    if period.all.usage.is_empty() {
        // Somebody who sees some of the rows sees no shares of the whole.
        sections.retain(|section| !section.is_pie());
    }
    sections
}

async fn show(visit: Visit) -> Shown {
    let (asked, basis) = question(&visit)?;
    let route = |root| route(&visit, &asked, basis, root);
    let report: ContributionReport = visit.get(route(Target::api)).await?;
    let choice = Choice {
        name: "basis",
        label: "Of",
        words: BASIS,
        chosen: basis,
    };
    let [by, _] = asked.choices(&visit);
    let data = || route(Target::data).with("part", "periods.rows");
    let content = html! {
        (period::with_choices(&visit, &[by, choice]))
        @for period in &report.periods {
            (drawings(&visit, &report, period)?)
            (listed(&visit, &asked, &report, period, data()))
        }
        p .small {
            "Subscription compares the shares of usage and of contributions among contributors that are not exempt. Over: usage \
             without a contribution. Under: a contribution without usage."
        }
        (asked::views(&visit, &asked, "contribution"))
    };
    Ok(visit.pictured("Usage and contributions", &[], &content))
}

fn drawings(
    visit: &Visit,
    report: &ContributionReport,
    period: &ContributionPeriod,
) -> Result<Markup, Failed> {
    if is_nothing(period) {
        return Ok(html! {});
    }
    let zone = picture::zone(visit)?;
    let sections = sections(report, period);
    Ok(html! {
        div .pictures {
            @for (number, section) in sections.iter().enumerate() {
                (picture::alone(section, &format!("share{number}"), zone))
            }
        }
    })
}

/// Whether a period has neither usage nor contributions.
fn is_nothing(period: &ContributionPeriod) -> bool {
    let is_zero = |row: &ContributionRow| is_zero(&row.usage) && is_zero(&row.contribution);
    period.rows.iter().all(is_zero)
}

fn listed(
    visit: &Visit,
    asked: &Asked,
    report: &ContributionReport,
    period: &ContributionPeriod,
    data: Target,
) -> Markup {
    let row = |row: &ContributionRow| {
        vec![
            group(visit, asked, row),
            amount(&row.usage),
            maybe(known(&row.usage_share)),
            amount(&row.contribution),
            maybe(known(&row.contribution_share)),
            html! { (known(&row.subscription).map_or_else(|| "–".to_owned(), contribution::spaced)) },
            maybe(row.cpu_efficiency.as_deref()),
        ]
    };
    let none = || html! { span .none { "–" } };
    let total = |label: &str, total: &ContributionTotal| {
        let (usage, given) = (known(&total.usage), known(&total.contribution));
        vec![
            html! { (label) },
            maybe(usage),
            none(),
            maybe(given),
            none(),
            none(),
            none(),
        ]
    };
    // Somebody who sees some rows gets no totals.
    let has_totals = !period.all.usage.is_empty();
    let rows = period.rows.iter().filter(|_| !is_nothing(period));
    let totals = [
        ("Total without exempt", &period.counted),
        ("Total", &period.all),
    ];
    let totals = totals.iter().filter(|_| has_totals);
    let totals: Vec<_> = totals.map(|(label, sums)| total(label, sums)).collect();
    Table {
        caption: &asked.caption(visit),
        columns: vec![
            words(asked.label()),
            amounts("Usage", &report.unit),
            figures("Share of usage (%)"),
            amounts("Contribution", "processors × factor"),
            figures("Share of contributions (%)"),
            figures("Subscription"),
            figures("CPU (%)"),
        ],
        rows: rows.map(row).collect(),
        empty: html! {
            p { "No usage and no contribution in this period." }
            p .small { "Record who paid for hardware with " code { "bank contribution add" } "." }
        },
        data: Some(data),
        next: None,
    }
    .with_totals(&totals)
}

/// The name of a row; that of a project or a user leads to its usage.
fn group(visit: &Visit, asked: &Asked, row: &ContributionRow) -> Markup {
    let own = &row.group;
    if asked.by == "contributor" || own.is_empty() || own == "unassigned" {
        return name(own);
    }
    let next = if asked.by == "project" {
        "user"
    } else {
        "project"
    };
    let page = Target::page(&["usage"]).maybe("zone", visit.parameter("zone"));
    link(&asked.over(page.with(asked.by, own).with("by", next)), own)
}

fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
